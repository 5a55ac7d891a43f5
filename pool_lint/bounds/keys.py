"""Whether the keys of a mapping may have any number of values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.walk import names_read, path_of

if TYPE_CHECKING:
    from pool_lint.bounds.connections import Connections
    from pool_lint.bounds.keepers import Keeper, Keepers
    from pool_lint.bounds.limits import Limits
    from pool_lint.bounds.scan import Body, Scope
    from pool_lint.bounds.values import Values
    from pool_lint.pools.types import Types

_PER_THREAD = frozenset(
    (
        "threading.get_ident", "threading.get_native_id", "threading.current_thread", "_thread.get_ident", "os.getpid",
        "asyncio.get_running_loop", "asyncio.get_event_loop", "multiprocessing.current_process", "greenlet.getcurrent",
        "gevent.getcurrent", "eventlet.getcurrent", "eventlet.corolocal.get_ident",
    )
)  # fmt: skip
# Parameters whose values are few by what they mean, though their type does not say so.
_FEW = re.compile(
    r"(^|_)(region|alias|using|env|environment|mode|kind|backend|driver|role|level|stage|loop|pid|thread|thread_id|tid|"
    r"replica|shard|service|service_name|protocol|scheme|async|version|cls|klass|type|provider|settings|config|conf)$"
)
_MANY_ATTRS = re.compile(
    r"(^|_)(id|uid|uuid|key|token|host|hostname|address|addr|ip|url|uri|dsn|user|username|name|tenant)$"
)
_OPEN_TYPES = frozenset(
    ("str", "int", "bytes", "object", "Any", "Hashable", "UUID", "Path", "IPv4Address", "IPv6Address")
)
_OPEN_TEXT = re.compile(r"(str|int|bytes|tuple)\b")
_SEQUENCES = frozenset(("tuple", "Tuple", "Sequence", "list", "List"))
_CHOICES = frozenset(("Optional", "Union", "Annotated"))
_ENUMS = frozenset(
    ("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag", "Enum", "IntEnum", "StrEnum")
)
_DEEPEST = 4


class Keys:
    """The keys of the mappings of one file."""

    def __init__(
        self, types: Types, connections: Connections, keepers: Keepers, values: Values, limits: Limits
    ) -> None:
        self._types = types
        self._connections = connections
        self._keepers = keepers
        self._values = values
        self._limits = limits

    def is_open(self, keeper: Keeper, key: ir.Expr | None, body: Body, depth: int = 0) -> bool:
        """Whether a key of a container may have any number of values; what cannot be told is taken to have few."""
        scope = body.scope
        if key is None or scope is None or depth > _DEEPEST:
            return False
        if isinstance(key, ir.Name):
            return self._is_open_name(keeper, key.id, body, depth)
        if isinstance(key, ir.Attr):
            root = key.value
            if isinstance(root, ir.Name) and self._types.is_param(root.id, scope) and not is_self(root.id, scope):
                many = bool(_MANY_ATTRS.search(key.name))
                return many and self.is_open_param(keeper, root.id, body, whole=False)
            return False
        if isinstance(key, ir.Seq):
            return any(self.is_open(keeper, item, body, depth + 1) for item in key.items)
        if isinstance(key, ir.Op):
            return any(self.is_open(keeper, part, body, depth + 1) for part in key.parts)
        if isinstance(key, ir.Call):
            return self._is_open_call(keeper, key, body, depth)
        return isinstance(key, ir.Bool) and self.is_open(keeper, key.left, body, depth + 1)

    def is_open_param(self, keeper: Keeper | None, name: str, body: Body, *, whole: bool = True) -> bool:
        """Whether a parameter may be given any number of values; ``whole`` where it is the key itself."""
        scope = body.scope
        assert scope is not None
        if is_self(name, scope) or _FEW.search(name.lower()):
            return False
        param = next(each for each in scope.params if each.name == name)
        if param.kind in ("star", "kwargs"):
            return True
        if whole and param.annotation is not None and not self._is_open_type(param.annotation, scope):
            return False
        return not (self._is_checked(keeper, name, body) or self._is_given_constants(name, scope))

    def _is_open_name(self, keeper: Keeper, name: str, body: Body, depth: int) -> bool:
        if self._types.is_param(name, body.scope):
            return self.is_open_param(keeper, name, body)
        bindings, owner = self._types.bindings(name, body.scope)
        return (
            owner is body.scope
            and bool(bindings)
            and all(each.how == "value" and self.is_open(keeper, each.expr, body, depth + 1) for each in bindings)
        )

    def _is_open_call(self, keeper: Keeper, key: ir.Call, body: Body, depth: int) -> bool:
        dotted = self._connections.called(key.func, body.scope)
        if dotted in _PER_THREAD or dotted in ("id", "type") or self._is_enum(key.func, body.scope):
            return False
        parts = [*key.args, *(value for _, value in key.keywords)]
        if isinstance(key.func, ir.Attr) and not dotted and self._limits.target(key, body.scope) is None:
            parts.append(key.func.value)
        return any(self.is_open(keeper, part, body, depth + 1) for part in parts)

    # Types.

    def _is_open_type(self, annotation: ir.Expr, scope: Scope) -> bool:
        if isinstance(annotation, ir.Const):
            return isinstance(annotation.value, str) and _OPEN_TEXT.match(annotation.value) is not None
        if isinstance(annotation, ir.Op) and annotation.op == "BitOr":
            return any(self._is_open_type(part, scope) for part in annotation.parts)
        if isinstance(annotation, ir.Sub):
            last = self._types.dotted(annotation.value).rpartition(".")[2]
            index = annotation.index
            items = index.items if isinstance(index, ir.Seq) else [index]
            return last in _SEQUENCES | _CHOICES and any(self._is_open_type(item, scope) for item in items)
        last = self._types.dotted(annotation).rpartition(".")[2]
        if last in _OPEN_TYPES or last in _SEQUENCES:
            return True
        made = self._values.call_behind(annotation, None)
        if made is not None and self._types.dotted(made[0].func).endswith("NewType"):
            return len(made[0].args) > 1 and self._is_open_type(made[0].args[1], scope)
        kind = self._types.of(annotation, scope.parent if scope is not None else None)
        return kind is not None and kind.kind == "class" and kind.klass is not None and self._is_record(kind.klass)

    def _is_record(self, klass: ir.Klass) -> bool:
        """A dataclass or named tuple of this file with a field that may have any value."""
        names = {_last(each.func if isinstance(each, ir.Call) else each) for each in (*klass.decorators, *klass.bases)}
        return bool(names & {"dataclass", "NamedTuple", "define", "frozen"}) and any(
            isinstance(stmt, ir.Assign) and stmt.annotation is not None and self._is_open_type(stmt.annotation, None)
            for stmt in klass.body
        )

    def _is_enum(self, func: ir.Expr, scope: Scope) -> bool:
        kind = self._types.of(func, scope)
        if kind is None or kind.kind != "class" or kind.klass is None:
            return False
        return any(
            self._types.dotted(base) in _ENUMS for each in self._types.bases_of(kind.klass) for base in each.bases
        )

    # Checks.

    def _is_checked(self, keeper: Keeper | None, name: str, body: Body) -> bool:
        """Whether a function refuses values of a parameter that a fixed collection does not have."""
        return self._looks_up(keeper, name, body) or any(
            self._is_check(keeper, name, call, body)
            for call in body.calls
            if any(name in names_read(arg) for arg in call.args)
        )

    def _looks_up(self, keeper: Keeper | None, name: str, body: Body) -> bool:
        """Whether a function takes a parameter as the key or the member of another collection."""
        for compare in body.compares:
            for op, right in compare.rights:
                asked = op in ("in", "not in") and name in names_read(compare.left)
                if asked and not self._is_same(keeper, right, body) and not isinstance(right, ir.Const):
                    return True
        for sub in body.subs:
            if name in names_read(sub.index) and not self._is_same(keeper, sub.value, body):
                kind = self._types.of(sub.value, body.scope)
                is_slice = isinstance(sub.index, ir.Op) and sub.index.kind == "slice"
                if not is_slice and (kind is None or kind.kind != "external"):  # not list[str]
                    return True
        return False

    def _is_check(self, keeper: Keeper | None, name: str, call: ir.Call, body: Body) -> bool:
        """Whether a call that is given a parameter looks it up: an enum, ``known.get(name)``, a helper that does."""
        if self._is_enum(call.func, body.scope):
            return True
        if (
            isinstance(call.func, ir.Attr)
            and call.func.name == "get"
            and name in names_read(call.args[0])
            and not self._is_same(keeper, call.func.value, body)
        ):
            return any(isinstance(stmt, ir.Raise) for stmt in body.statements)
        target = self._limits.target(call, body.scope)
        if target is None or target is body.scope:
            return False
        offset = 1 if target.owner is not None and isinstance(call.func, ir.Attr) else 0
        inner = next((each for each in self._limits.callees(body.scope) if each.scope is target), body)
        return inner is not body and any(
            isinstance(arg, ir.Name)
            and arg.id == name
            and index + offset < len(target.params)
            and self._looks_up(keeper, target.params[index + offset].name, inner)
            for index, arg in enumerate(call.args)
        )

    def _is_same(self, keeper: Keeper | None, expr: ir.Expr, body: Body) -> bool:
        return keeper is not None and self._keepers.at(expr, body.scope) is keeper

    def _is_given_constants(self, name: str, scope: ir.Function) -> bool:
        """Whether a function of the file's own is only ever called with constants."""
        callers = self._limits.callers(scope)
        if not callers or not scope.name.startswith("_"):
            return False
        position = next(index for index, param in enumerate(scope.params) if param.name == name)
        position -= 1 if scope.owner is not None else 0
        calls = [(call, body.scope) for body in callers for call in body.calls]
        for call, where in calls:
            if self._limits.target(call, where) is scope:
                given = self._values.argument(call, name, position, where)
                constant = self._values.of(given.expr, given.scope)
                if given.how == "unseen" or (given.how == "given" and not isinstance(constant, (str, int, bytes))):
                    return False
        return True


def is_self(name: str, scope: ir.Function) -> bool:
    """Whether a name is the first parameter of a method."""
    return scope.owner is not None and bool(scope.params) and scope.params[0].name == name


def _last(expr: ir.Expr) -> str:
    path = path_of(expr)
    return str(path[-1]).lstrip(".") if path else ""
