"""Objects of a thread that a coroutine holds while it waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.bounds.scan import inside
from pool_lint.pools.types import decorator_names
from pool_lint.walk import path_of, statement_parts, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pool_lint.bounds.file import FileBounds
    from pool_lint.bounds.scan import Scope

_LOCAL = frozenset(("threading.local", "_threading_local.local"))
_IDENT = frozenset(("threading.get_ident", "threading.current_thread", "threading.get_native_id", "_thread.get_ident"))
_IMMUTABLE = frozenset(("str", "int", "float", "bool", "bytes", "tuple", "frozenset", "uuid.uuid4", "uuid.UUID", "len"))
_SAFE_ITSELF = frozenset(("aiohttp.ClientSession", "asyncio.Lock", "asyncio.new_event_loop", "asyncio.Semaphore"))

Position = tuple[int, int]
_END: Position = (10**9, 0)


@dataclass(frozen=True, slots=True, eq=False)
class HeldAcross:
    """A thread's object in a coroutine: where it is obtained, the line of the await, and how the user calls it."""

    function: ir.Function
    at: ir.Expr
    name: str
    await_line: int


class ThreadLocals:
    """The thread-local storage of one file, and the functions that give what is in it."""

    def __init__(self, bounds: FileBounds) -> None:
        self._bounds = bounds
        self._types = bounds.types
        self._stored: dict[tuple[str, str], list[tuple[ir.Expr, Scope]]] = {}
        self._givers: dict[ir.Function, bool] = {}
        for body in bounds.bodies.values():
            for stmt in body.statements:
                if isinstance(stmt, ir.Assign) and stmt.value is not None:
                    for target in stmt.targets:
                        if isinstance(target, ir.Attr) and self._is_storage(target.value, body.scope):
                            self._stored.setdefault(self._place(target), []).append((stmt.value, body.scope))

    def held_across(self) -> Iterator[HeldAcross]:
        """Yield the places where a coroutine holds such an object across an await."""
        for function in self._bounds.bodies:
            if function is not None and function.is_async:
                yield from self._in(function)

    def _in(self, function: ir.Function) -> Iterator[HeldAcross]:
        obtained = list(self._obtained(function))
        for name, expr, after in obtained:
            line = _await_while_held(function, name, after, [each[2] for each in obtained if each[0] == name])
            if line:
                yield HeldAcross(function, expr, name, line)

    def _obtained(self, function: ir.Function) -> Iterator[tuple[str, ir.Expr, Position]]:
        """The variables that are given a thread's object, with the expression and where it stands."""
        for stmt in walk_statements(function.body):
            if isinstance(stmt, ir.Assign) and stmt.value is not None and self._gives(stmt.value, function):
                for target in stmt.targets:
                    if isinstance(target, ir.Name):
                        yield target.id, _unawaited(stmt.value), (stmt.line, stmt.col)
            elif isinstance(stmt, ir.With):
                for item in stmt.items:
                    if isinstance(item.target, ir.Name) and self._gives(item.context, function):
                        yield item.target.id, item.context, (stmt.line, stmt.col)

    def _gives(self, expr: ir.Expr, scope: Scope) -> bool:
        """Whether an expression is an object of a thread-local storage."""
        expr = _unawaited(expr)
        if isinstance(expr, ir.Bool):
            return self._gives(expr.left, scope) or self._gives(expr.right, scope)
        if isinstance(expr, ir.Cond):
            return self._gives(expr.body, scope) or self._gives(expr.orelse, scope)
        if isinstance(expr, ir.Attr):
            return self._is_from_property(expr, scope) or (
                self._is_storage(expr.value, scope) and self._is_object(self._place(expr))
            )
        if isinstance(expr, ir.Sub):
            return self._is_by_thread(expr.index, scope) and self._keeps_objects(expr.value, scope)
        if not isinstance(expr, ir.Call):
            return False
        if isinstance(expr.func, ir.Name) and expr.func.id == "getattr" and len(expr.args) > 1:
            name = expr.args[1]
            return (
                self._is_storage(expr.args[0], scope)
                and isinstance(name, ir.Const)
                and self._is_object((_last(expr.args[0]), str(name.value)))
            )
        if (
            isinstance(expr.func, ir.Attr)
            and expr.func.name == "get"
            and expr.args
            and self._is_by_thread(expr.args[0], scope)
        ):
            return self._keeps_objects(expr.func.value, scope)
        kind = self._types.of(expr.func, scope)
        if kind is not None and kind.kind == "function" and kind.function is not None:
            return self._is_giver(kind.function)
        return self._is_scoped(expr, scope)

    def _is_from_property(self, expr: ir.Attr, scope: Scope) -> bool:
        base = self._types.of(expr.value, scope)
        if base is None or base.kind != "instance" or base.klass is None:
            return False
        method = self._types.method(base.klass, expr.name)
        return method is not None and "property" in decorator_names(method) and self._is_giver(method)

    def _is_scoped(self, call: ir.Call, scope: Scope) -> bool:
        """Whether a call takes the session of the thread out of a ``scoped_session`` without a scope of its own."""
        kind = self._types.of(call.func, scope)
        if kind is None or kind.kind != "pool" or kind.spec is None or not kind.spec.per_thread:
            return False
        if not any(form.method == "__call__" for form in kind.spec.borrows):
            return False
        made = self._bounds.values.call_behind(call.func, scope)
        if made is None:
            return False
        return self._bounds.values.argument(made[0], "scopefunc", 1, made[1]).how == "absent"

    def _is_giver(self, function: ir.Function) -> bool:
        """Whether a helper returns (or lends) a thread's object."""
        known = self._givers.get(function)
        if known is not None:
            return known
        self._givers[function] = False
        body = self._bounds.bodies.get(function)
        if body is None:
            return False
        lends = function.is_generator and bool(decorator_names(function) & {"contextmanager", "asynccontextmanager"})
        if function.is_generator and not lends:
            return False
        given = [stmt.value for stmt in body.statements if isinstance(stmt, ir.Return) and stmt.value is not None]
        if lends:
            given = [
                expr.value
                for expr in walk_expressions(function.body)
                if isinstance(expr, ir.Yield) and expr.value is not None
            ]
        found = any(self._gives_inside(value, function) for value in given)
        self._givers[function] = found
        return found

    def _gives_inside(self, value: ir.Expr, function: ir.Function) -> bool:
        if self._gives(value, function):
            return True
        if not isinstance(value, ir.Name):
            return False
        for stmt in self._bounds.bodies[function].statements:
            if isinstance(stmt, ir.Assign) and stmt.value is not None:
                named = any(isinstance(target, ir.Name) and target.id == value.id for target in stmt.targets)
                if named and self._gives(stmt.value, function):
                    return True
                stored = any(
                    isinstance(target, ir.Attr) and self._is_storage(target.value, function)
                    and self._is_object(self._place(target))
                    for target in stmt.targets
                )  # fmt: skip
                if stored and (named or (isinstance(stmt.value, ir.Name) and stmt.value.id == value.id)):
                    return True
        return False

    # Storage.

    def _is_storage(self, expr: ir.Expr, scope: Scope) -> bool:
        kind = self._types.of(expr, scope)
        if kind is None:
            return False
        if kind.kind == "external_instance":
            return kind.dotted in _LOCAL
        return kind.kind == "instance" and kind.klass is not None and any(
            base in _LOCAL for base in self._types.unseen_bases(kind.klass)
        )  # fmt: skip

    def _place(self, expr: ir.Attr) -> tuple[str, str]:
        return _last(expr.value), expr.name

    def _is_object(self, place: tuple[str, str]) -> bool:
        """Whether what a storage holds under a name is an object that two tasks must not use at once."""
        return any(self._is_made(value, scope) for value, scope in self._stored.get(place, ()))

    def _is_made(self, value: ir.Expr, scope: Scope) -> bool:
        value = _unawaited(value)
        if isinstance(value, ir.Name):
            bindings, owner = self._types.bindings(value.id, scope)
            return any(
                each.how == "value" and each.expr is not None and not isinstance(each.expr, ir.Name)
                and self._is_made(each.expr, owner)
                for each in bindings
            )  # fmt: skip
        if isinstance(value, (ir.DictLit, ir.Comp)):
            return True
        if isinstance(value, ir.Seq):
            return value.kind != "tuple"
        if not isinstance(value, ir.Call):
            return False
        connections = self._bounds.connections
        opened = connections.opened(value, scope)
        dotted = connections.called(value.func, scope)
        catalog = self._bounds.catalog
        if {opened, dotted} & (catalog.shareable | _SAFE_ITSELF) or dotted in _IMMUTABLE:
            return False
        if isinstance(value.func, ir.Attr) and not opened and not dotted:
            return self._types.of(value.func, scope) is not None  # a method of the file's own, or nothing that is known
        return True

    def _is_by_thread(self, index: ir.Expr, scope: Scope) -> bool:
        if isinstance(index, ir.Name):
            made = self._bounds.values.call_behind(index, scope)
            return made is not None and self._bounds.connections.called(made[0].func, made[1]) in _IDENT
        if isinstance(index, ir.Attr):
            return isinstance(index.value, ir.Call) and self._is_by_thread(index.value, scope)
        return isinstance(index, ir.Call) and self._bounds.connections.called(index.func, scope) in _IDENT

    def _keeps_objects(self, expr: ir.Expr, scope: Scope) -> bool:
        keeper = self._bounds.keepers.at(expr, scope)
        return keeper is not None and any(self._is_made(store.value, store.body.scope) for store in keeper.stores)


def _await_while_held(function: ir.Function, name: str, start: Position, starts: list[Position]) -> int:
    """The line of an await between where a variable is given its object and a later use of it; 0 for none."""
    stop = min((each for each in starts if each > start), default=_END)
    span = [stmt for stmt in walk_statements(function.body) if start <= (stmt.line, stmt.col) < stop]
    first = next((stmt for stmt in span if (stmt.line, stmt.col) == start), None)
    if isinstance(first, ir.With):
        # The end of the block uses it.
        return next((each.line for each in walk_expressions(first.body) if isinstance(each, ir.Await)), 0)
    awaits: list[tuple[Position, bool]] = []
    uses: list[Position] = []
    for stmt in span:
        here = (stmt.line, stmt.col)
        if here != start:
            awaits += _awaits_of(stmt, name)
        parts = (each for part in statement_parts(stmt)[0] for each in inside(part))
        uses += [(each.line, each.col) for each in parts if isinstance(each, ir.Name) and each.id == name]
    uses = [use for use in uses if use > start]
    loops = [_span([stmt]) for stmt in walk_statements(function.body) if isinstance(stmt, (ir.For, ir.While))]
    leaving = [_span(body) for body in _leaving_bodies(function)]
    for where, is_inside in awaits:
        # From inside a branch that returns, nothing after the branch is reached.
        last = min((high for low, high in leaving if low <= where <= high), default=_END)
        if is_inside or any(where < use <= last for use in uses):
            return where[0]
        if last != _END:
            continue
        around = [(low, high) for low, high in loops if start < low <= where <= high]
        if any(low <= use <= high for low, high in around for use in uses):
            return where[0]
    return 0


def _awaits_of(stmt: ir.Stmt, name: str) -> list[tuple[Position, bool]]:
    """Where a statement waits, and whether a variable is part of what it waits for."""
    out: list[tuple[Position, bool]] = []
    for part in statement_parts(stmt)[0]:
        for expr in inside(part):
            if isinstance(expr, ir.Await):
                is_part = any(isinstance(each, ir.Name) and each.id == name for each in inside(expr))
                if is_part or not isinstance(stmt, (ir.Return, ir.Raise)):
                    out.append(((expr.line, expr.col), is_part))
    if isinstance(stmt, (ir.With, ir.For)) and stmt.is_async:
        out.append(((stmt.line, stmt.col), False))
    return out


def _leaving_bodies(function: ir.Function) -> Iterator[list[ir.Stmt]]:
    """The branches that a ``return`` or ``raise`` ends, whatever stands behind it."""
    for stmt in walk_statements(function.body):
        if isinstance(stmt, (ir.If, ir.Match)):
            for body in statement_parts(stmt)[1]:
                if any(isinstance(each, (ir.Return, ir.Raise)) for each in body):
                    yield body


def _span(body: Sequence[ir.Stmt]) -> tuple[Position, Position]:
    last = first = (body[0].line, body[0].col)
    for stmt in walk_statements(body):
        last = max(last, (stmt.line, stmt.col))
        for part in statement_parts(stmt)[0]:
            for expr in inside(part):
                last = max(last, (expr.line, expr.col))
    return first, last


def _unawaited(expr: ir.Expr) -> ir.Expr:
    return expr.value if isinstance(expr, ir.Await) else expr


def _last(expr: ir.Expr) -> str:
    path = path_of(expr)
    return str(path[-1]).lstrip(".") if path else ""
