"""Pooled buffers that keep the largest size that they ever had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.walk import names_read, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pool_lint.bounds.file import FileBounds
    from pool_lint.bounds.keepers import Keeper, Store
    from pool_lint.bounds.scan import Body

_SIZES = frozenset(("size", "nbytes", "capacity", "length", "shape", "_capacity", "_size"))
_GROWS = frozenset(("extend", "resize", "append", "frombytes", "fromlist"))
_SHRINKS = frozenset(("clear", "truncate", "pop", "shrink", "trim", "release", "__init__"))
_ORDERING = frozenset(("<", "<=", ">", ">=", "=="))
_ALLOCATES = frozenset(
    (
        "bytearray", "bytes", "array.array", "array", "numpy.empty", "numpy.zeros", "numpy.ones", "numpy.full",
        "numpy.resize", "numpy.empty_like", "ctypes.create_string_buffer", "memoryview", "torch.empty", "torch.zeros",
        "mmap.mmap",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Growing:
    """A return of a grown buffer: ``what`` grew, on which line."""

    function: ir.Function | None
    call: ir.Call
    pool: str
    what: str
    grown: int


class GrowingBuffers:
    """The buffers of one file that are pooled, grow, and are never cut back."""

    def __init__(self, bounds: FileBounds) -> None:
        self._bounds = bounds
        self._types = bounds.types
        self._classes: dict[ir.Klass, int] = {}

    def faults(self) -> Iterator[Growing]:
        """Yield the returns of buffers that grow without a cap."""
        for keeper in self._bounds.keepers.all:
            if not keeper.takes or not any(isinstance(store.node, ir.Call) for store in keeper.stores):
                continue
            yield from self._of(keeper)

    def _of(self, keeper: Keeper) -> Iterator[Growing]:
        pooled = self._pooled_classes(keeper)
        grown = next(((klass.name, line) for klass in pooled if (line := self._grows(klass))), None)
        reported: set[int] = set()
        for store in keeper.stores:
            body = store.body
            if store.key is not None or not isinstance(store.node, ir.Call) or not isinstance(store.value, ir.Name):
                continue
            if body.scope is None or not self._gives_back(keeper, store) or self._is_capped(store.value.id, body):
                continue
            what = grown
            if what is None:
                what = self._grown_here(keeper, store.value.id, body)
            if what is None:
                continue
            for call, function in self._return_calls(store):
                if id(call) not in reported:
                    reported.add(id(call))
                    yield Growing(function, call, keeper.name, what[0], what[1])

    def _pooled_classes(self, keeper: Keeper) -> list[ir.Klass]:
        """The classes of this file whose instances a container holds."""
        out: list[ir.Klass] = []
        exprs: list[tuple[ir.Expr, ir.Function | None]] = [(keeper.made, keeper.made_in)]
        exprs += [(store.value, store.body.scope) for store in keeper.stores]
        for take in keeper.takes:
            for stmt in take.body.statements:
                if isinstance(stmt, (ir.Assign, ir.Return)) and stmt.value is not None:
                    exprs.append((stmt.value, take.body.scope))
        for expr, scope in exprs:
            for each in walk_expressions([ir.ExprStmt(0, 0, expr)]):
                if isinstance(each, ir.Call):
                    kind = self._types.of(each.func, scope)
                    if kind is not None and kind.kind == "class" and kind.klass is not None and kind.klass not in out:
                        out.append(kind.klass)
        return out

    def _gives_back(self, keeper: Keeper, store: Store) -> bool:
        """Whether a put gives back what was borrowed: a parameter, or what the function took."""
        scope = store.body.scope
        assert scope is not None
        assert isinstance(store.value, ir.Name)
        if self._types.is_param(store.value.id, scope):
            return True
        return any(
            take.body is store.body or scope in _outer(take.body.scope) or take.body.scope in _outer(scope)
            for take in keeper.takes
        ) or any(
            isinstance(expr, ir.Call) and (kind := self._types.of(expr.func, scope)) is not None
            and any(kind.function is take.body.scope for take in keeper.takes if take.body.scope is not None)
            for value in self._bounds.file.containers.assigned(scope).get(store.value.id, ())
            for expr in walk_expressions([ir.ExprStmt(0, 0, value)])
        )  # fmt: skip

    def _return_calls(self, store: Store) -> Iterator[tuple[ir.Call, ir.Function | None]]:
        """The calls that give a buffer back: those of the pool's return method, where the file has some."""
        function = store.body.scope
        assert isinstance(store.node, ir.Call)
        assert isinstance(store.value, ir.Name)
        if function is not None and self._types.is_param(store.value.id, function):
            found = False
            for body in self._bounds.bodies.values():
                for call in body.calls:
                    kind = self._types.of(call.func, body.scope)
                    if kind is not None and kind.kind == "function" and kind.function is function:
                        found = True
                        yield call, body.scope
            if found:
                return
        yield store.node, function

    # Growth.

    def _grows(self, klass: ir.Klass) -> int:
        """The line on which a method makes an attribute larger than it was, where nothing ever makes it smaller."""
        known = self._classes.get(klass)
        if known is None:
            known = self._classes[klass] = self._growth_of(klass)
        return known

    def _growth_of(self, klass: ir.Klass) -> int:
        for method in klass.methods.values():
            if method.name == "__init__":
                continue
            for stmt in walk_statements(method.body):
                if isinstance(stmt, ir.If):
                    attr, line = self._grown_attr(stmt, method)
                    if attr and not self._is_limited(stmt, method) and not self._shrinks(klass, attr, stmt):
                        return line
        return 0

    def _grown_attr(self, stmt: ir.If, method: ir.Function) -> tuple[str, int]:
        """The attribute that an ``if`` compares by size and makes larger, and the line."""
        own = method.params[0].name if method.params else "self"
        sized = _sized(stmt.test)
        for inner in walk_statements(stmt.body):
            for target in self._enlarged(inner):
                if (
                    isinstance(target, ir.Attr)
                    and isinstance(target.value, ir.Name)
                    and target.value.id == own
                    and f"{own}.{target.name}" in sized
                ):
                    return target.name, inner.line
        return "", 0

    def _enlarged(self, stmt: ir.Stmt) -> Iterator[ir.Expr]:
        """What a statement makes larger: given a new buffer, added to, extended."""
        if isinstance(stmt, ir.Assign) and stmt.value is not None and self._allocates(stmt.value):
            yield from stmt.targets
        elif isinstance(stmt, ir.AugAssign) and stmt.op == "AddAssign":
            yield stmt.target
        for expr in walk_expressions([stmt]):
            if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr) and expr.func.name in _GROWS:
                yield expr.func.value

    def _allocates(self, value: ir.Expr) -> bool:
        for expr in walk_expressions([ir.ExprStmt(0, 0, value)]):
            if isinstance(expr, ir.Call) and self._types.dotted(expr.func) in _ALLOCATES:
                return True
            if (
                isinstance(expr, ir.Op)
                and expr.op == "Multiply"
                and any(isinstance(part, ir.Seq) for part in expr.parts)
            ):
                return True
        return False

    @staticmethod
    def _is_limited(stmt: ir.If, function: ir.Function) -> bool:
        """Whether the function refuses sizes above a limit."""
        wanted = set(names_read(stmt.test))
        for other in walk_statements(function.body):
            if not isinstance(other, ir.If) or other is stmt or not wanted & set(names_read(other.test)) - {"self"}:
                continue
            if any(isinstance(each, (ir.Raise, ir.Return)) for each in walk_statements(other.body)):
                return True
        return any(
            isinstance(expr, ir.Call) and isinstance(expr.func, ir.Name) and expr.func.id == "min"
            for expr in walk_expressions(function.body)
        )

    @staticmethod
    def _shrinks(klass: ir.Klass, attr: str, growth: ir.If) -> bool:
        """Whether a method of a class gives an attribute another value or cuts it, apart from growing it."""
        inside = {id(inner) for inner in walk_statements(growth.body)}
        return any(
            _changes(stmt, attr)
            for method in klass.methods.values()
            if method.name != "__init__"
            for stmt in walk_statements(method.body)
            if id(stmt) not in inside
        )

    def _grown_here(self, keeper: Keeper, name: str, body: Body) -> tuple[str, int] | None:
        """What a function does to a buffer that it borrowed: regrown under a test of its size, or written over."""
        assert body.scope is not None
        if self._types.is_param(name, body.scope):
            return None
        for stmt in body.statements:
            if isinstance(stmt, ir.If) and name in _sized(stmt.test) and not self._is_limited(stmt, body.scope):
                for inner in walk_statements(stmt.body):
                    grown = (target for target in self._enlarged(inner) if isinstance(target, ir.Name))
                    if any(target.id == name for target in grown) and not _cuts(body.statements, name):
                        return f"'{name}'", inner.line
        return self._overwritten(keeper, name, body)

    def _overwritten(self, keeper: Keeper, name: str, body: Body) -> tuple[str, int] | None:
        """A BytesIO that is written from its start, never truncated, and read only up to the length in use."""
        is_stream = any(
            isinstance(expr, ir.Call) and self._types.dotted(expr.func) in ("io.BytesIO", "io.StringIO")
            for source in (keeper.made, *(store.value for store in keeper.stores), *(
                stmt.value for take in keeper.takes for stmt in take.body.statements
                if isinstance(stmt, (ir.Assign, ir.Return)) and stmt.value is not None
            ))
            for expr in walk_expressions([ir.ExprStmt(0, 0, source)])
        )  # fmt: skip
        if not is_stream or any(_is_call_on(call, name, frozenset(("truncate", "close"))) for call in body.calls):
            return None
        seeks = [call for call in body.calls if _is_call_on(call, name, frozenset(("seek",)))]
        writes = any(_is_call_on(call, name, frozenset(("write", "writelines"))) for call in body.calls) or any(
            isinstance(arg, ir.Name) and arg.id == name for call in body.calls for arg in call.args
        )
        tracked = any(isinstance(sub.index, ir.Op) and sub.index.kind == "slice" for sub in body.subs) or any(
            _is_call_on(call, name, frozenset(("tell",))) for call in body.calls
        )
        if seeks and writes and tracked:
            return f"'{name}'", seeks[0].line
        return None

    def _is_capped(self, name: str, body: Body) -> bool:
        """Whether a function compares the size of what it gives back with a limit, or cuts it."""
        for compare in body.compares:
            sides = [compare.left, *(right for _, right in compare.rights)]
            ordered = any(op in _ORDERING for op, _ in compare.rights)
            measured = ordered and any(_measures(side, name) for side in sides)
            if measured and not self._is_growth_test(compare, name, body):
                return True
        return _cuts(body.statements, name)

    def _is_growth_test(self, compare: ir.Compare, name: str, body: Body) -> bool:
        """Whether a comparison decides about growing, not about giving back."""
        for stmt in body.statements:
            if isinstance(stmt, ir.If) and any(
                expr is compare for expr in walk_expressions([ir.ExprStmt(0, 0, stmt.test)])
            ):
                return any(
                    _is_call_on(expr, name, _GROWS) for expr in walk_expressions(stmt.body)
                ) or any(
                    isinstance(inner, (ir.Assign, ir.AugAssign)) and inner.value is not None
                    and (isinstance(inner, ir.AugAssign) or self._allocates(inner.value))
                    and _has_target(inner, name) and not _is_smaller(compare, name)
                    for inner in walk_statements(stmt.body)
                )  # fmt: skip
        return False


def _has_target(stmt: ir.Assign | ir.AugAssign, name: str) -> bool:
    targets = stmt.targets if isinstance(stmt, ir.Assign) else [stmt.target]
    return any(isinstance(target, ir.Name) and target.id == name for target in targets)


def _is_smaller(compare: ir.Compare, name: str) -> bool:
    """Whether a comparison holds for large buffers: ``len(buf) > MAX``."""
    return _measures(compare.left, name) == (compare.rights[0][0] in (">", ">="))


def _measures(expr: ir.Expr, name: str) -> bool:
    if isinstance(expr, ir.Call):
        if isinstance(expr.func, ir.Name) and expr.func.id in ("len", "sizeof"):
            return any(name in names_read(arg) for arg in expr.args)
        if isinstance(expr.func, ir.Attr):
            return name in names_read(expr.func.value)
    return isinstance(expr, (ir.Attr, ir.Sub)) and name in names_read(expr)


def _sized(test: ir.Expr) -> set[str]:
    """The variables and attributes whose size a test compares: ``len(buf) < n``, ``self.samples.size < n``."""
    out: set[str] = set()
    for expr in walk_expressions([ir.ExprStmt(0, 0, test)]):
        if isinstance(expr, ir.Compare) and any(op in _ORDERING for op, _ in expr.rights):
            for side in (expr.left, *(right for _, right in expr.rights)):
                for part in walk_expressions([ir.ExprStmt(0, 0, side)]):
                    target: ir.Expr | None = None
                    if (
                        isinstance(part, ir.Call)
                        and isinstance(part.func, ir.Name)
                        and part.func.id == "len"
                        and part.args
                    ):
                        target = part.args[0]
                    elif isinstance(part, ir.Attr) and part.name in _SIZES:
                        target = part.value
                    if isinstance(target, ir.Name):
                        out.add(target.id)
                    elif isinstance(target, ir.Attr) and isinstance(target.value, ir.Name):
                        out.add(f"{target.value.id}.{target.name}")
    return out


def _is_call_on(expr: ir.Expr, name: str, methods: frozenset[str]) -> bool:
    return (
        isinstance(expr, ir.Call)
        and isinstance(expr.func, ir.Attr)
        and expr.func.name in methods
        and isinstance(expr.func.value, ir.Name)
        and expr.func.value.id == name
    )


def _cuts(statements: Sequence[ir.Stmt], name: str) -> bool:
    """Whether a function gives a buffer's memory back."""
    for stmt in statements:
        if isinstance(stmt, ir.Del) and any(
            isinstance(target, ir.Sub) and name in names_read(target.value) for target in stmt.targets
        ):
            return True
        if isinstance(stmt, ir.ExprStmt) and _is_call_on(stmt.value, name, _SHRINKS):
            return True
    return False


def _changes(stmt: ir.Stmt, attr: str) -> bool:
    if isinstance(stmt, ir.Assign) and any(isinstance(each, ir.Attr) and each.name == attr for each in stmt.targets):
        return True
    if isinstance(stmt, ir.Del) and any(attr in _attrs(target) for target in stmt.targets):
        return True
    return any(
        isinstance(part, ir.Call)
        and isinstance(part.func, ir.Attr)
        and part.func.name in _SHRINKS
        and attr in _attrs(part.func.value)
        for part in walk_expressions([stmt])
    )


def _attrs(expr: ir.Expr) -> set[str]:
    return {each.name for each in walk_expressions([ir.ExprStmt(0, 0, expr)]) if isinstance(each, ir.Attr)}


def _outer(function: ir.Function | None) -> list[ir.Function]:
    out = []
    current = function.parent if function is not None else None
    while current is not None:
        out.append(current)
        current = current.parent
    return out
