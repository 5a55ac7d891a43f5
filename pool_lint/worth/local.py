"""Pools that are built inside the function that borrows from them, once, and die with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.walk import children, names_read, statement_parts, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pool_lint.typestate.file import FileAnalysis

# What may be called on such a pool without an object being borrowed behind it.
_NEUTRAL = frozenset(
    (
        "close", "closeall", "close_all", "aclose", "wait_closed", "wait_close", "terminate", "dispose", "disconnect",
        "clear", "open", "wait", "shutdown", "stop", "put", "put_nowait", "append", "check",
    )
)  # fmt: skip
# Called once in a program, so that nothing is built again; or a test of the pool itself.
_SIZES = re.compile(r"pool_|max_overflow$")
_ONCE = re.compile(r"^_*(?:a?main$|test|<lambda>|<module>)")


@dataclass(frozen=True, slots=True)
class LocalPool:
    """One such pool: where it is built, what it is called, in which function."""

    line: int
    col: int
    name: str
    function: str


def built_for_one_borrow(file: FileAnalysis) -> Iterator[LocalPool]:
    """Yield the pools of which no object is ever reused."""
    for function in file.tree.functions:
        if function.is_generator or _ONCE.match(function.name):
            continue
        for name, built in _built_here(file, function):
            if _is_for_one_borrow(file, function, name, built):
                yield LocalPool(built.line, built.col, name, function.name)


def _built_here(file: FileAnalysis, function: ir.Function) -> Iterator[tuple[str, ir.Call]]:
    """The local variables that are given a new pool, and its construction."""
    given: dict[str, list[ir.Expr]] = {}
    for name, values in file.containers.assigned(function).items():
        given.setdefault(name, []).extend(values)
    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.With):
            for item in stmt.items:
                if isinstance(item.target, ir.Name):
                    given.setdefault(item.target.id, []).append(item.context)
    for name, values in given.items():
        if len(values) != 1 or name in function.outer or file.types.is_param(name, function):
            continue
        call = values[0].value if isinstance(values[0], ir.Await) else values[0]
        if isinstance(call, ir.Call) and _builds_a_pool(file, call, function):
            yield name, call


def _builds_a_pool(file: FileAnalysis, call: ir.Call, function: ir.Function) -> bool:
    made = file.types.of(call, function)
    if made is not None and made.kind == "container":
        return not call.args or made.container is None or made.container.id.endswith("Queue")
    kind = file.types.of(call.func, function)
    if kind is None or kind.kind != "external":
        return False
    spec = file.catalog.by_class.get(kind.dotted) or file.catalog.by_factory.get(kind.dotted)
    if spec is None or spec.handle_is_pool or spec.only_if_released:
        return False
    # An engine lends connections, unless it is told to keep none; a client's own methods borrow and return.
    return not spec.client or (bool(spec.borrows) and not any(key in ("poolclass", None) for key, _ in call.keywords))


def _is_for_one_borrow(file: FileAnalysis, function: ir.Function, name: str, built: ir.Call) -> bool:
    if any(name in names_read(ir_expr) for inner in function.nested for ir_expr in walk_expressions(inner.body)):
        return False  # a nested function may run it often, or elsewhere
    allowed: set[int] = set()
    borrows: list[ir.Call] = []
    for expr in walk_expressions(function.body):
        if not isinstance(expr, ir.Call) or not isinstance(expr.func, ir.Attr) or not _is_name(expr.func.value, name):
            continue
        if expr.func.name == "dispose" and not any(key and _SIZES.match(key) for key, _ in built.keywords):
            return False  # an engine for one errand: SQLAlchemy has no other way to connect; nobody asked for a pool
        callee = file.resolver.callee(expr, function)
        if callee.kind == "borrow":
            borrows.append(expr)
        elif callee.kind != "release" and expr.func.name not in _NEUTRAL:
            return False
        allowed.add(id(expr.func.value))
    if len(borrows) != 1:
        return False
    for stmt in walk_statements(function.body):
        allowed |= _harmless(stmt, name)
    if any(_is_name(expr, name) and id(expr) not in allowed for expr in walk_expressions(function.body)):
        return False
    return not _repeats(function.body, built, borrows[0]) and not _is_returned(function, borrows[0])


def _is_name(expr: ir.Expr | None, name: str) -> bool:
    return isinstance(expr, ir.Name) and expr.id == name


def _harmless(stmt: ir.Stmt, name: str) -> set[int]:
    """Where a statement names the pool without handing it on: as target, in a test, as a context manager."""
    if isinstance(stmt, ir.Assign):
        return {id(target) for target in stmt.targets if _is_name(target, name)}
    if isinstance(stmt, (ir.If, ir.While)):
        parts = [stmt.test, *children(stmt.test)]
        return {id(part) for part in parts if _is_name(part, name)}
    if isinstance(stmt, ir.With):
        parts_of = [part for item in stmt.items for part in (item.context, item.target)]
        return {id(part) for part in parts_of if part is not None and _is_name(part, name)}
    if isinstance(stmt, ir.Del):
        return {id(target) for target in stmt.targets if _is_name(target, name)}
    return set()


def _repeats(body: Sequence[ir.Stmt], built: ir.Call, borrow: ir.Call) -> bool:
    """Whether a loop around the borrow does not also build the pool anew, or the borrow stands in a comprehension."""
    for stmt in walk_statements(body):
        parts, bodies = statement_parts(stmt)
        if isinstance(stmt, (ir.For, ir.While)):
            inside = [expr for inner in bodies for expr in walk_expressions(inner)]
            if isinstance(stmt, ir.While):
                inside += walk_expressions([ir.ExprStmt(0, 0, stmt.test)])
            if any(expr is borrow for expr in inside) and not any(expr is built for expr in inside):
                return True
        for part in parts:
            for expr in walk_expressions([ir.ExprStmt(0, 0, part)]):
                if isinstance(expr, (ir.Comp, ir.Lambda)) and any(
                    inner is borrow for inner in walk_expressions([ir.ExprStmt(0, 0, expr)])
                ):
                    return True
    return False


def _is_returned(function: ir.Function, borrow: ir.Call) -> bool:
    """Whether the borrowed object itself is handed to the caller."""
    names = {
        target.id
        for stmt in walk_statements(function.body)
        if isinstance(stmt, ir.Assign) and stmt.value is not None
        if any(expr is borrow for expr in walk_expressions([ir.ExprStmt(0, 0, stmt.value)]))
        for target in stmt.targets
        if isinstance(target, ir.Name)
    }
    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.Return) and stmt.value is not None:
            value = stmt.value.value if isinstance(stmt.value, ir.Await) else stmt.value
            parts = value.items if isinstance(value, ir.Seq) else [value]
            if any(part is borrow or (isinstance(part, ir.Name) and part.id in names) for part in parts):
                return True
    return False
