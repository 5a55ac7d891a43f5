"""Borrows that wait without end for a bounded pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.bounds.values import Unseen
from pool_lint.walk import walk_expressions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.bounds.file import FileBounds
    from pool_lint.catalog.spec import PoolSpec, Timeout
    from pool_lint.typestate.file import Outcome
    from pool_lint.typestate.resolve import Callee
    from pool_lint.typestate.state import Site

_TIMED = frozenset(
    (
        "asyncio.timeout", "asyncio.timeout_at", "async_timeout.timeout", "anyio.fail_after", "anyio.move_on_after",
        "trio.fail_after", "trio.move_on_after", "trio.move_on_at", "trio.fail_at", "gevent.Timeout",
        "gevent.timeout.Timeout", "eventlet.Timeout", "eventlet.timeout.Timeout",
    )
)  # fmt: skip
_LIMITED = frozenset(("asyncio.wait_for", "gevent.with_timeout", "eventlet.with_timeout"))


@dataclass(frozen=True, slots=True)
class Waiting:
    """A borrow that waits; ``param`` limits the waiting, "" where the call knows no such parameter."""

    site: Site
    param: str


def waiting(bounds: FileBounds, outcomes: list[Outcome]) -> Iterator[Waiting]:
    """Yield the borrows of a file that have no timeout."""
    for outcome in outcomes:
        limited = _limited_calls(bounds, outcome.function) | _never_empty(bounds, outcome.function)
        seen: set[int] = set()
        for site in outcome.follow.sites:
            call = site.call
            if site.kind != "borrow" or call is None or id(call) in limited or id(call) in seen:
                continue
            seen.add(id(call))
            if not site.returned and not site.transferred:
                continue  # a drain, or POL103
            callee = bounds.file.resolver.callee(call, outcome.function)
            param = _waits(bounds, callee, call, outcome.function)
            if param is not None:
                yield Waiting(site, param)


def _limited_calls(bounds: FileBounds, function: ir.Function) -> set[int]:
    body = bounds.bodies[function]
    out: set[int] = set()
    for stmt in body.withs:
        if any(_called(bounds, item.context, function) in _TIMED for item in stmt.items):
            out.update(id(expr) for expr in walk_expressions([stmt]))
    for call in body.calls:
        if bounds.connections.called(call.func, function) in _LIMITED:
            out.update(id(expr) for arg in call.args for expr in walk_expressions([ir.ExprStmt(0, 0, arg)]))
    return out


def _never_empty(bounds: FileBounds, function: ir.Function) -> set[int]:
    """Calls of a coroutine under a test that its queue is not empty: nobody can take the last one in between."""
    out: set[int] = set()
    for stmt in bounds.bodies[function].statements if function.is_async else ():
        if isinstance(stmt, ir.If):
            filled = _filled_branch(stmt)
            out.update(id(expr) for expr in walk_expressions(filled))
    return out


def _filled_branch(stmt: ir.If) -> list[ir.Stmt]:
    """The branch of an ``if`` that runs only where a queue has something in it."""
    test, holds = stmt.test, True
    if isinstance(test, ir.Not):
        test, holds = test.value, False
    if isinstance(test, ir.Compare) and isinstance(test.rights[0][1], ir.Const) and test.rights[0][1].value == 0:
        holds = holds == (test.rights[0][0] in (">", "!="))
        test = test.left
    name = test.func.name if isinstance(test, ir.Call) and isinstance(test.func, ir.Attr) else ""
    if name not in ("empty", "qsize"):
        return []
    return stmt.body if holds == (name == "qsize") else stmt.orelse


def _called(bounds: FileBounds, expr: ir.Expr, function: ir.Function) -> str:
    return bounds.connections.called(expr.func, function) if isinstance(expr, ir.Call) else ""


def _waits(bounds: FileBounds, callee: Callee, call: ir.Call, function: ir.Function) -> str | None:
    """The parameter that would limit the waiting of a borrow; None where it does not wait without end."""
    if callee.kind != "borrow" or callee.spec is None or callee.borrow is None or callee.pool is None:
        return None
    kind = bounds.types.of(callee.pool, function)
    if kind is not None and kind.kind == "container":
        form = (
            next((each for each in kind.container.takes if each.method == callee.borrow.method), None)
            if kind.container
            else None
        )
        if form is None or not form.blocks:
            return None
        if "await" in form.ways:
            return ""
        return _container_waits(bounds, call, function)
    # Of pools that raise when all are out, some classes wait: those have a constructor's timeout.
    if not callee.spec.library or (
        callee.spec.exhausted != "blocks" and not any(timeout.callables for timeout in callee.spec.timeouts)
    ):
        return None
    return _library_waits(bounds, callee.spec, callee, call, function)


def _container_waits(bounds: FileBounds, call: ir.Call, function: ir.Function) -> str | None:
    values = bounds.values
    block = values.argument(call, "block", 0, function)
    if block.how == "unseen" or (block.how == "given" and values.of(block.expr, function) is not True):
        return None
    timeout = values.argument(call, "timeout", 1, function)
    if timeout.how == "absent" or (timeout.how == "given" and values.of(timeout.expr, function) is None):
        return "timeout"
    return None


def _library_waits(
    bounds: FileBounds, spec: PoolSpec, callee: Callee, call: ir.Call, function: ir.Function
) -> str | None:
    assert callee.borrow is not None
    made = bounds.values.call_behind(callee.pool, function)
    made_name = bounds.connections.called(made[0].func, made[1]) if made is not None else ""
    if made is not None and bounds.library.unlimited(*made) is not None:
        return None
    found: str | None = None
    known = False
    for timeout in spec.timeouts:
        if callee.borrow.method in timeout.callables:
            known = True
            verdict = _says(bounds, timeout, call, function)
        elif made is not None and (
            made_name in timeout.callables or (not timeout.callables and made_name in (*spec.classes, *spec.factories))
        ):
            known = True
            verdict = _says(bounds, timeout, *made)
        else:
            known = True
            continue
        if verdict == "limited":
            return None
        if verdict == "waits":
            found = timeout.param
    if found is not None:
        return found
    # A library without such a parameter: the pool has to be seen to be bounded.
    return "" if not known and made is not None and spec.bounds and bounds.library.blocks(*made) else None


def _says(bounds: FileBounds, timeout: Timeout, call: ir.Call, scope: ir.Function | None) -> str:
    values = bounds.values
    if timeout.only_with:
        switch = values.argument(call, timeout.only_with, -1, scope)
        value = values.of(switch.expr, switch.scope) if switch.how == "given" else None
        if isinstance(value, Unseen) or not value:
            return "limited"
    given = values.argument(call, timeout.param, timeout.position, scope)
    if given.how == "unseen":
        return "limited"
    if given.how == "absent":
        return "waits" if timeout.default_waits else ""
    value = values.of(given.expr, given.scope)
    if isinstance(value, Unseen):
        return "limited"
    return "waits" if any(type(each) is type(value) and each == value for each in timeout.waiting_values) else "limited"
