"""What the two front ends share: which names are bound where, and how functions, classes and their parts are made.

`lower.py` reads libcst's tree and `lower_ast.py` Python's own; they must make the same tree.  So whatever does not
depend on how a node spells its parts is here, and a change to it is a change to both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from pool_lint import ir

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Node = TypeVar("Node")
Suite = TypeVar("Suite")
if TYPE_CHECKING:
    ParamKind = Literal["positional", "star", "keyword", "kwargs"]
    # A parameter before it is lowered: name, annotation, default and kind.
    ParamSource = tuple[str, Node | None, Node | None, ParamKind]
    # A loop of a comprehension: target, iterable, conditions, whether it is asynchronous.
    LoopSource = tuple[Node, Node, Sequence[Node], bool]


class Lowering(ABC, Generic[Node, Suite]):
    """The scopes around the node that is being lowered; a front end adds how its nodes are read."""

    def __init__(self) -> None:
        self._functions: list[ir.Function] = []
        self._classes: list[ir.Klass] = []
        self._function: ir.Function | None = None
        self._klass: ir.Klass | None = None
        self._prefix = ""
        # What the targets of the comprehensions around are called, so that none is taken for a variable outside.
        self._renamed: dict[str, str] = {}
        self._comprehensions = 0

    @abstractmethod
    def expr(self, node: Node) -> ir.Expr:
        """Return the lowered expression."""

    @abstractmethod
    def _suite(self, node: Suite) -> list[ir.Stmt]:
        """Return the lowered statements of a body."""

    @abstractmethod
    def _target_names(self, node: Node) -> list[str]:
        """Return the plain names that a target binds."""

    # Names.

    def _bind(self, *names: str) -> None:
        if self._function is not None and self._klass is None:
            self._function.assigned.update(names)

    def _target(self, node: Node) -> ir.Expr:
        target = self.expr(node)
        self._bind_target(target)
        return target

    def _bind_target(self, target: ir.Expr) -> None:
        if isinstance(target, ir.Name):
            self._bind(target.id)
        elif isinstance(target, ir.Seq):
            for item in target.items:
                self._bind_target(item)
        elif isinstance(target, ir.Star):
            self._bind_target(target.value)

    # Statements.

    def _import_of(self, line: int, col: int, aliases: Iterable[tuple[str, str | None]]) -> ir.Stmt:
        names = []
        for dotted, local in aliases:
            top = dotted.split(".")[0]
            names.append((dotted, local) if local is not None else (top, top))
        self._bind(*(local for _, local in names))
        return ir.Import(line, col, names)

    def _import_from_of(self, line: int, col: int, base: str, aliases: Iterable[tuple[str, str | None]]) -> ir.Stmt:
        joint = "" if base.endswith(".") else "."
        names = [(f"{base}{joint}{name}", local if local is not None else name) for name, local in aliases]
        self._bind(*(local for _, local in names))
        return ir.Import(line, col, names)

    def _global_of(self, line: int, col: int, names: list[str], *, nonlocal_: bool) -> ir.Stmt:
        if self._function is not None:
            self._function.outer.update(names)
        return ir.Global(line, col, names, nonlocal_)

    def _if_of(self, links: list[tuple[int, int, Node, Suite]], last: Suite | None) -> ir.Stmt:
        """An ``if`` and its ``elif``, each with its place.

        A long chain is a deep tree; it is made from its end so that depth costs no recursion.
        """
        lowered = [(line, col, self.expr(test), self._suite(body)) for line, col, test, body in links]
        orelse = self._suite(last) if last is not None else []
        line, col, test, body = lowered.pop()
        made = ir.If(line, col, test, body, orelse)
        for line, col, test, body in reversed(lowered):
            made = ir.If(line, col, test, body, [made])
        return made

    def _handler_of(self, line: int, col: int, kind: Node | None, name: str | None, body: Suite) -> ir.Handler:
        lowered = self.expr(kind) if kind is not None else None
        if name is not None:
            self._bind(name)
        return ir.Handler(line, col, lowered, name, self._suite(body))

    def _function_of(
        self,
        line: int,
        col: int,
        name: str,
        params: list[ParamSource[Node]],
        returns: Node | None,
        decorators: Iterable[Node],
        body: Suite,
        *,
        is_async: bool,
    ) -> ir.Stmt:
        lowered = [self.expr(decorator) for decorator in decorators]
        self._bind(name)
        function = self._open_function(line, col, name, params, returns, lowered, is_async=is_async)
        saved = self._enter(function)
        function.body = self._suite(body)
        self._leave(saved)
        if function.owner is not None:
            function.owner.methods[name] = function
        return ir.FuncDef(line, col, function)

    def _class_of(
        self,
        line: int,
        col: int,
        name: str,
        bases: Iterable[Node],
        decorators: Iterable[Node],
        metaclasses: Iterable[Node],
        body: Suite,
    ) -> ir.Stmt:
        self._bind(name)
        lowered_bases = [self.expr(base) for base in bases]
        lowered = [self.expr(decorator) for decorator in decorators]
        klass = ir.Klass(name, self._prefix + name, line, col, lowered_bases, lowered, [], self._function)
        for metaclass in metaclasses:
            klass.metaclass = self.expr(metaclass)
        self._classes.append(klass)
        saved = self._klass, self._prefix
        self._klass, self._prefix = klass, klass.qualname + "."
        klass.body = self._suite(body)
        self._klass, self._prefix = saved
        return ir.ClassDef(line, col, klass)

    # Functions.

    def _open_function(
        self,
        line: int,
        col: int,
        name: str,
        params: list[ParamSource[Node]],
        returns: Node | None,
        decorators: list[ir.Expr],
        *,
        is_async: bool,
    ) -> ir.Function:
        lowered = [
            ir.Param(
                param,
                self.expr(annotation) if annotation is not None else None,
                self.expr(default) if default is not None else None,
                kind,
            )
            for param, annotation, default, kind in params
        ]
        function = ir.Function(
            name,
            self._prefix + name,
            line,
            col,
            lowered,
            self.expr(returns) if returns is not None else None,
            [],
            decorators,
            is_async,
            self._klass,
            self._function,
        )
        function.assigned.update(param.name for param in lowered)
        self._functions.append(function)
        if self._function is not None:
            self._function.nested.append(function)
        return function

    def _enter(self, function: ir.Function) -> _Scope:
        """Make a function the one whose body is lowered; `_leave` takes what this returns."""
        saved = _Scope(self._function, self._klass, self._prefix, self._renamed)
        self._function, self._klass, self._prefix = function, None, function.qualname + "."
        if self._renamed:
            own = {param.name for param in function.params}
            self._renamed = {name: new for name, new in self._renamed.items() if name not in own}
        return saved

    def _leave(self, saved: _Scope) -> None:
        self._function, self._klass, self._prefix, self._renamed = saved

    # Expressions.

    def _lambda_of(self, line: int, col: int, params: list[ParamSource[Node]], body: Node) -> ir.Expr:
        klass = self._klass
        self._klass = None
        function = self._open_function(line, col, "<lambda>", params, None, [], is_async=False)
        self._klass = klass
        saved = self._enter(function)
        value = self.expr(body)
        function.body = [ir.Return(value.line, value.col, value)]
        self._leave(saved)
        return ir.Lambda(line, col, function)

    def _comprehension_of(
        self,
        line: int,
        col: int,
        kind: Literal["list", "set", "dict", "generator"],
        key: Node | None,
        elt: Node,
        loops: Iterable[LoopSource[Node]],
    ) -> ir.Expr:
        self._comprehensions += 1
        saved = self._renamed
        fors: list[ir.CompFor] = []
        for target, iterable, tests, is_async in loops:
            lowered = self.expr(iterable)
            if not fors:  # the first iterable is still evaluated outside
                self._renamed = dict(saved)
            for name in self._target_names(target):
                self._renamed[name] = f"{name}'{self._comprehensions}"
            lowered_target = self._target(target)
            fors.append(ir.CompFor(lowered_target, lowered, [self.expr(test) for test in tests], is_async))
        lowered_key = self.expr(key) if key is not None else None
        made = ir.Comp(line, col, kind, lowered_key, self.expr(elt), fors)
        self._renamed = saved
        return made

    def _boolean_of(
        self, line: int, col: int, first: Node, rest: Iterable[tuple[Literal["and", "or"], Node]]
    ) -> ir.Expr:
        """Return a chain of ``and`` and ``or``, nested to the left."""
        result = self.expr(first)
        for op, right in rest:
            result = ir.Bool(line, col, op, result, self.expr(right))
        return result

    def _unary_of(self, line: int, col: int, op: str, operand: Node) -> ir.Expr:
        value = self.expr(operand)
        if op == "Not":
            return ir.Not(line, col, value)
        if op == "Minus" and isinstance(value, ir.Const) and isinstance(value.value, (int, float)):
            return ir.Const(line, col, -value.value)
        return ir.Op(line, col, [value], "unary", op)

    def _binary_of(self, line: int, col: int, op: str, operands: list[Node]) -> ir.Expr:
        """Return a chain of arithmetic as one operator; the operands are given last first."""
        parts = [self.expr(operand) for operand in operands]
        parts.reverse()
        return ir.Op(line, col, parts, "binary", op)

    def _compare_of(self, line: int, col: int, left: Node, rights: Iterable[tuple[str, Node]]) -> ir.Expr:
        lowered = [(op, self.expr(right)) for op, right in rights]
        return ir.Compare(line, col, self.expr(left), lowered)

    def _yield_of(self, line: int, col: int, value: Node | None, *, delegates: bool) -> ir.Expr:
        if self._function is not None:
            self._function.is_generator = True
        return ir.Yield(line, col, self.expr(value) if value is not None else None, delegates)

    def _walrus_of(self, line: int, col: int, name: str, value: Node) -> ir.Expr:
        self._bind(name)
        return ir.Walrus(line, col, name, self.expr(value))


class _Scope(NamedTuple):
    function: ir.Function | None
    klass: ir.Klass | None
    prefix: str
    renamed: dict[str, str]
