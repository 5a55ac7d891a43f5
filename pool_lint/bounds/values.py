"""The constants that a file gives to parameters: literals, names, settings with a default, keyword dictionaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pool_lint import ir
from pool_lint.walk import walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pool_lint.pools.types import Binding, Types

_DEEPEST = 12
_CONVERTERS = {"int": int, "float": float, "str": str, "bool": bool}
_READERS = frozenset(
    ("get", "getenv", "getint", "getfloat", "getboolean", "int", "float", "str", "bool", "config", "env", "cast",
     "get_int", "as_int", "setdefault", "get_config", "get_setting", "env_int", "getattr")
)  # fmt: skip
_FIELDS = frozenset(("Field", "field", "attrib", "ib", "Factory"))


class Unseen:
    """The value of what cannot be told."""


UNSEEN = Unseen()


@dataclass(frozen=True, slots=True)
class Named:
    """A constant of another module, by its dotted name."""

    dotted: str


Value = object


@dataclass(frozen=True, slots=True)
class Argument:
    """What a call gives to one parameter: ``given`` as ``expr`` in ``scope``, ``absent``, ``unseen`` (``**more``)."""

    how: Literal["given", "absent", "unseen"]
    expr: ir.Expr | None = None
    scope: ir.Function | None = None


_ABSENT = Argument("absent")
_UNSEEN = Argument("unseen")


class Values:
    """The constants of one file; what cannot be seen is UNSEEN."""

    def __init__(self, types: Types, tree: ir.ModuleTree) -> None:
        self._types = types
        self._tree = tree
        self._busy: set[object] = set()
        self._calls: dict[ir.Function, list[tuple[ir.Call, ir.Function | None]]] | None = None
        self._stores: dict[tuple[int, str], list[tuple[ir.Expr, ir.Expr | None, ir.Function | None]]] | None = None

    def of(self, expr: ir.Expr | None, scope: ir.Function | None, depth: int = 0) -> Value:  # noqa: C901
        """The constant that an expression is."""
        if expr is None or depth > _DEEPEST:
            return UNSEEN
        if isinstance(expr, ir.Const):
            return expr.value
        if isinstance(expr, ir.Name):
            return self._name(expr.id, scope, depth)
        if isinstance(expr, ir.Attr):
            return self._attribute(expr, scope, depth)
        if isinstance(expr, ir.Call):
            return self._call(expr, scope, depth)
        if isinstance(expr, ir.Sub):
            return self._item(expr, scope, depth)
        if isinstance(expr, ir.Bool):
            left = self.of(expr.left, scope, depth + 1)
            if isinstance(left, (Unseen, Named)):
                return UNSEEN
            return left if bool(left) == (expr.op == "or") else self.of(expr.right, scope, depth + 1)
        if isinstance(expr, ir.Cond):
            body, orelse = self.of(expr.body, scope, depth + 1), self.of(expr.orelse, scope, depth + 1)
            return body if _same(body, orelse) else UNSEEN
        if isinstance(expr, ir.Op) and expr.kind == "binary":
            return self._arithmetic(expr, scope, depth)
        return UNSEEN

    def argument(self, call: ir.Call, param: str, position: int, scope: ir.Function | None) -> Argument:
        """What a call gives to a parameter."""
        for name, value in call.keywords:
            if name == param:
                return Argument("given", value, scope)
        star = next((index for index, arg in enumerate(call.args) if isinstance(arg, ir.Star)), len(call.args))
        if 0 <= position < star:
            return Argument("given", call.args[position], scope)
        if star < len(call.args) and position >= star:
            return _UNSEEN
        found = [self._entry(value, param, scope, 0) for name, value in call.keywords if name is None]
        given = next((each for each in found if each.how == "given"), None)
        return given or next((each for each in found if each.how == "unseen"), _ABSENT)

    def call_behind(
        self, expr: ir.Expr | None, scope: ir.Function | None, depth: int = 0
    ) -> tuple[ir.Call, ir.Function | None] | None:
        """The one call that gives an expression its value, through names and attributes."""
        if depth > _DEEPEST:
            return None
        if isinstance(expr, ir.Await):
            return self.call_behind(expr.value, scope, depth + 1)
        if isinstance(expr, ir.Call):
            return expr, scope
        binding = self._single(expr, scope)
        if binding is None or binding.expr is None:
            return None
        return self.call_behind(binding.expr, binding.scope, depth + 1)

    # Names and attributes.

    def _bindings(self, expr: ir.Expr | None, scope: ir.Function | None) -> list[Binding]:
        if isinstance(expr, ir.Name):
            found, owner = self._types.bindings(expr.id, scope)
            if owner is not None and self._types.is_param(expr.id, owner):
                return []
            return found
        if isinstance(expr, ir.Attr):
            base = self._types.of(expr.value, scope)
            if base is not None and base.klass is not None:
                for klass in self._types.bases_of(base.klass):
                    found = self._types.attrs_of(klass).get(expr.name, [])
                    if found:
                        return found
        return []

    def _single(self, expr: ir.Expr | None, scope: ir.Function | None) -> Binding | None:
        bindings = [each for each in self._bindings(expr, scope) if each.how != "annotation"]
        return bindings[0] if len(bindings) == 1 and bindings[0].how == "value" else None

    def _name(self, name: str, scope: ir.Function | None, depth: int) -> Value:
        bindings, owner = self._types.bindings(name, scope)
        if owner is not None and self._types.is_param(name, owner):
            return self._param(name, owner, depth) if not bindings or _only_annotations(bindings) else UNSEEN
        imported = next((each for each in bindings if each.how == "import"), None)
        if imported is not None:
            return Named(imported.dotted) if len(bindings) == 1 else UNSEEN
        return self._agreed(bindings, depth)

    def _attribute(self, expr: ir.Attr, scope: ir.Function | None, depth: int) -> Value:
        bindings = self._bindings(expr, scope)
        if bindings:
            return self._agreed(bindings, depth)
        kind = self._types.of(expr, scope)
        if kind is not None and kind.kind == "external":
            return float("inf") if kind.dotted == "math.inf" else Named(kind.dotted)
        return UNSEEN

    def _agreed(self, bindings: Iterable[Binding], depth: int) -> Value:
        values = []
        for binding in bindings:
            if binding.how == "annotation":
                continue
            if binding.how != "value" or binding.expr in self._busy:
                return UNSEEN
            self._busy.add(binding.expr)
            values.append(self.of(binding.expr, binding.scope, depth + 1))
            self._busy.discard(binding.expr)
        if not values or any(not _same(values[0], each) for each in values[1:]):
            return UNSEEN
        return values[0]

    def _param(self, name: str, function: ir.Function, depth: int) -> Value:
        """A parameter has its default where a call in this file leaves it out, and none gives something else."""
        position = next(index for index, param in enumerate(function.params) if param.name == name)
        param = function.params[position]
        if param.default is None or param.kind in ("star", "kwargs"):
            return UNSEEN
        bound = function.owner is not None
        calls = self._calls_of(function)
        if not calls:
            return UNSEEN
        for call, scope in calls:
            place = position - 1 if bound else position
            given = self.argument(call, name, place if param.kind == "positional" else -1, scope)
            if given.how != "absent":
                return UNSEEN
        return self.of(param.default, function.parent, depth + 1)

    def _calls_of(self, function: ir.Function) -> list[tuple[ir.Call, ir.Function | None]]:
        """The calls of a function of this file; those of a class count for its constructor."""
        if self._calls is None:
            self._calls = {}
            for scope in (None, *self._tree.functions):
                for expr in walk_expressions(self._tree.body if scope is None else scope.body):
                    if not isinstance(expr, ir.Call):
                        continue
                    kind = self._types.of(expr.func, scope)
                    target = None
                    if kind is not None and kind.kind == "function":
                        target = kind.function
                    elif kind is not None and kind.kind == "class" and kind.klass is not None:
                        target = self._types.method(kind.klass, "__init__")
                    if target is not None:
                        self._calls.setdefault(target, []).append((expr, scope))
        return self._calls.get(function, [])

    # Calls and operators.

    def _call(self, call: ir.Call, scope: ir.Function | None, depth: int) -> Value:
        name = (
            call.func.id if isinstance(call.func, ir.Name) else call.func.name if isinstance(call.func, ir.Attr) else ""
        )
        dotted = self._types.dotted(call.func)
        if name in _CONVERTERS and dotted == name and len(call.args) == 1 and not call.keywords:
            return _converted(name, self.of(call.args[0], scope, depth + 1))
        if name in _FIELDS:
            default = self._default(call, 0)
            return self.of(default, scope, depth + 1)
        if dotted == "typing.cast" and len(call.args) > 1:
            return self.of(call.args[1], scope, depth + 1)
        if name in _READERS:
            first = call.args[0] if call.args else None
            key = call.args[1] if name == "getattr" and len(call.args) > 1 else first
            if not (isinstance(key, ir.Const) and isinstance(key.value, str)):
                return UNSEEN
            default = self._default(call, 2 if name == "getattr" else 1)
            if default is None:
                return None if dotted in ("os.environ.get", "os.getenv") else UNSEEN
            return self.of(default, scope, depth + 1)
        return UNSEEN

    @staticmethod
    def _default(call: ir.Call, position: int) -> ir.Expr | None:
        for name, value in call.keywords:
            if name in ("default", "fallback"):
                return value
        return call.args[position] if len(call.args) > position else None

    def _item(self, expr: ir.Sub, scope: ir.Function | None, depth: int) -> Value:
        if isinstance(expr.index, ir.Const) and isinstance(expr.index.value, str):
            found = self._entry(expr.value, expr.index.value, scope, depth)
            if found.how == "given":
                return self.of(found.expr, found.scope, depth + 1)
        return UNSEEN

    def _arithmetic(self, expr: ir.Op, scope: ir.Function | None, depth: int) -> Value:
        parts = [self.of(part, scope, depth + 1) for part in expr.parts]
        if len(parts) != 2 or not all(isinstance(part, (int, float)) for part in parts):  # noqa: PLR2004
            return UNSEEN
        left, right = parts
        assert isinstance(left, (int, float))
        assert isinstance(right, (int, float))
        if expr.op == "Multiply":
            return left * right
        if expr.op == "Add":
            return left + right
        if expr.op == "Subtract":
            return left - right
        if expr.op == "FloorDivide" and right:
            return left // right
        return UNSEEN

    # Keyword dictionaries.

    def _entry(self, expr: ir.Expr, key: str, scope: ir.Function | None, depth: int) -> Argument:
        """What a dictionary of this file holds under a key."""
        if depth > _DEEPEST:
            return _UNSEEN
        if isinstance(expr, ir.DictLit):
            return self._in_items([(k, v) for k, v in expr.items], key, scope, depth)
        if isinstance(expr, ir.Call) and self._types.dotted(expr.func) == "dict" and len(expr.args) <= 1:
            items: list[tuple[ir.Expr | None, ir.Expr]] = [(None, arg) for arg in expr.args]
            items += [(ir.Const(0, 0, name) if name is not None else None, value) for name, value in expr.keywords]
            return self._in_items(items, key, scope, depth)
        if isinstance(expr, ir.Op) and expr.op == "BitOr":
            return self._in_items([(None, part) for part in expr.parts], key, scope, depth)
        binding = self._single(expr, scope)
        if binding is None or binding.expr is None or isinstance(binding.expr, (ir.Const, ir.Name)):
            return _UNSEEN
        later = self._stored(expr, key, scope)
        return later or self._entry(binding.expr, key, binding.scope, depth + 1)

    def _in_items(
        self, items: list[tuple[ir.Expr | None, ir.Expr]], key: str, scope: ir.Function | None, depth: int
    ) -> Argument:
        for name, value in reversed(items):
            if name is None:
                inside = self._entry(value, key, scope, depth + 1)
                if inside.how != "absent":
                    return inside
            elif isinstance(name, ir.Const):
                if name.value == key:
                    return Argument("given", value, scope)
            else:
                return _UNSEEN
        return _ABSENT

    def _stored(self, expr: ir.Expr, key: str, scope: ir.Function | None) -> Argument | None:
        """What is stored in a dictionary later, under any key that may be this one."""
        name = _last(expr)
        owner = self._owner(expr, scope)
        for each in (None, *self._tree.functions):
            if self._owner(expr, each) is not owner:
                continue  # another variable of that name
            body = self._tree.body if each is None else each.body
            for target, value in _stores(body, name):
                if not isinstance(target.index, ir.Const):
                    return _UNSEEN
                if target.index.value == key:
                    return Argument("given", value, each)
            if _is_changed(body, name):
                return _UNSEEN
        return None

    def _owner(self, expr: ir.Expr, scope: ir.Function | None) -> ir.Function | None:
        """The function whose variable a name is in a scope; None for what belongs to the module, and attributes."""
        return self._types.bindings(expr.id, scope)[1] if isinstance(expr, ir.Name) else None


def _stores(body: Sequence[ir.Stmt], name: str) -> Iterator[tuple[ir.Sub, ir.Expr]]:
    """The ``name[key] = value`` of a body."""
    for stmt in walk_statements(body):
        if isinstance(stmt, ir.Assign) and stmt.value is not None:
            for target in stmt.targets:
                if isinstance(target, ir.Sub) and _last(target.value) == name:
                    yield target, stmt.value


def _is_changed(body: Sequence[ir.Stmt], name: str) -> bool:
    return any(
        isinstance(expr, ir.Call)
        and isinstance(expr.func, ir.Attr)
        and expr.func.name in ("update", "setdefault", "pop")
        and _last(expr.func.value) == name
        for expr in walk_expressions(body)
    )


def _last(expr: ir.Expr) -> str:
    return expr.id if isinstance(expr, ir.Name) else expr.name if isinstance(expr, ir.Attr) else ""


def _only_annotations(bindings: Iterable[Binding]) -> bool:
    return all(binding.how == "annotation" for binding in bindings)


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, Unseen) or isinstance(other, Unseen):
        return False
    return type(one) is type(other) and one == other


def _converted(name: str, value: Value) -> Value:
    if not isinstance(value, (int, float, str, bool)):
        return UNSEEN
    try:
        return _CONVERTERS[name](value)
    except ValueError:
        return UNSEEN
