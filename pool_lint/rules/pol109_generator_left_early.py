"""A loop leaves a generator that holds a borrowed object.

An async generator that is left early is not closed at once: its `finally` runs when the garbage collector or the
event loop gets to it, and until then the object stays out.  CPython closes an unnamed synchronous generator at once;
one that a name or attribute keeps stays open with it.

Bad:

    import asyncpg

    async def rows(pool: asyncpg.Pool):
        async with pool.acquire() as conn:
            for row in await conn.fetch("SELECT * FROM events"):
                yield row

    async def first(pool: asyncpg.Pool):
        async for row in rows(pool):
            return row

Good:

    from contextlib import aclosing

    import asyncpg

    async def rows(pool: asyncpg.Pool):
        async with pool.acquire() as conn:
            for row in await conn.fetch("SELECT * FROM events"):
                yield row

    async def first(pool: asyncpg.Pool):
        async with aclosing(rows(pool)) as found:
            async for row in found:
                return row
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.rules.base import Rule
from pool_lint.typestate.resolve import text_of
from pool_lint.walk import path_of, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL109",
    name="generator-left-early",
    message="'{generator}' holds a borrowed object and line {line} leaves it without closing it: {remedy}",
    cwe=772,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each loop that may leave such a generator early."""
    for function in module.tree.functions:
        for stmt in walk_statements(function.body):
            if not isinstance(stmt, ir.For):
                continue
            call = _generator(module, function, stmt)
            if call is None:
                continue
            leaving = _leaves_early(stmt.body)
            if leaving is None:
                continue
            closing = "'async with aclosing(...)'" if stmt.is_async else "'with closing(...)'"
            yield RULE.at(
                stmt.line,
                stmt.col,
                path=((stmt.line, "the generator starts"), (leaving.line, "leaves it")),
                function=function.qualname,
                generator=text_of(call.func),
                line=leaving.line,
                remedy=f"wrap it in {closing}",
            )


def _generator(module: ModuleAnalysis, function: ir.Function, loop: ir.For) -> ir.Call | None:
    """The call that made the generator a loop runs over, if it holds a borrow and nobody closes it."""
    file = module.file
    if isinstance(loop.iter, ir.Call):
        return loop.iter if loop.is_async and file.generator_holds(loop.iter, function) else None
    path = path_of(loop.iter)
    if path is None:
        return None
    for value in _values(module, function, loop.iter):
        if isinstance(value, ir.Call) and file.generator_holds(value, function):
            return None if _is_closed(function, path) else value
    return None


def _is_closed(function: ir.Function, path: tuple[str, ...]) -> bool:
    return any(
        isinstance(expr, ir.Call)
        and isinstance(expr.func, ir.Attr)
        and expr.func.name in ("close", "aclose")
        and path_of(expr.func.value) == path
        for expr in walk_expressions(function.body)
    )


def _values(module: ModuleAnalysis, function: ir.Function, expr: ir.Expr) -> list[ir.Expr]:
    if isinstance(expr, ir.Name):
        return module.file.containers.assigned(function).get(expr.id, [])
    if isinstance(expr, ir.Attr) and function.owner is not None:
        bindings = module.file.types.attrs_of(function.owner).get(expr.name, [])
        return [binding.expr for binding in bindings if binding.how == "value" and binding.expr is not None]
    return []


def _leaves_early(body: Sequence[ir.Stmt]) -> ir.Stmt | None:
    """The first statement that leaves a loop before its generator is exhausted."""
    for stmt in body:
        if isinstance(stmt, (ir.Break, ir.Return, ir.Raise)):
            return stmt
        if isinstance(stmt, (ir.For, ir.While)):
            found = _leaves_function([*stmt.body, *stmt.orelse])
        elif isinstance(stmt, ir.Try):
            inner = _leaves_early(stmt.body)
            if isinstance(inner, ir.Raise) and stmt.handlers:
                inner = None
            found = inner or _first(stmt.orelse, *(handler.body for handler in stmt.handlers), stmt.final)
        elif isinstance(stmt, ir.If):
            never = isinstance(stmt.test, ir.Const) and not stmt.test.value
            found = _first([] if never else stmt.body, stmt.orelse)
        elif isinstance(stmt, ir.With):
            found = _leaves_early(stmt.body)
        elif isinstance(stmt, ir.Match):
            found = _first(*(case.body for case in stmt.cases))
        else:
            found = None
        if found is not None:
            return found
    return None


def _first(*bodies: Sequence[ir.Stmt]) -> ir.Stmt | None:
    for body in bodies:
        found = _leaves_early(body)
        if found is not None:
            return found
    return None


def _leaves_function(body: Sequence[ir.Stmt]) -> ir.Stmt | None:
    for stmt in walk_statements(body):
        if isinstance(stmt, (ir.Return, ir.Raise)):
            return stmt
    return None
