"""Connections that go back after an error without anybody looking at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.bounds.scan import body_of
from pool_lint.typestate.state import CANCELLED, HELD, LIBRARY, OWN
from pool_lint.walk import names_read, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.bounds.file import FileBounds
    from pool_lint.bounds.keepers import Keeper
    from pool_lint.typestate.file import Outcome
    from pool_lint.typestate.follow import Follow
    from pool_lint.typestate.state import Fact, Site


@dataclass(frozen=True, slots=True, eq=False)
class Broken:
    """A return of a connection on a path after an error."""

    function: ir.Function
    site: Site
    call: ir.Call


def broken(bounds: FileBounds, outcomes: list[Outcome]) -> Iterator[Broken]:
    """Yield the returns of a file that put back what an error may have broken."""
    for outcome in outcomes:
        follow = outcome.follow
        for site in follow.sites:
            if site.kind != "borrow" or not site.returned or site.spec.library:
                continue
            call = _return_after_error(bounds, follow, site)
            if call is not None:
                yield Broken(outcome.function, site, call)


def _return_after_error(bounds: FileBounds, follow: Follow, site: Site) -> ir.Call | None:
    function = follow.function
    found: list[ir.Call] = []
    for index, fact in follow.parents:
        point = follow.points[index]
        if fact.site != site.index or fact.status != HELD or point.kind != "call" or not _after_error(fact):
            continue
        if isinstance(point.node, ir.Call) and _gives_back(bounds, point.node, follow, site):
            found.append(point.node)
    if not found:
        return None
    call = min(found, key=lambda each: (each.line, each.col))
    if not _is_connection(bounds, call, function) or _is_looked_at(bounds, site, call, function):
        return None
    return call


def _after_error(fact: Fact) -> bool:
    if fact.via and fact.via != CANCELLED and not fact.via.startswith(OWN):
        return True
    return any(label.startswith("exc:") and label[4:] != CANCELLED for label in fact.pend) or LIBRARY in fact.handling


def _gives_back(bounds: FileBounds, call: ir.Call, follow: Follow, site: Site) -> bool:
    callee = bounds.file.resolver.callee(call, follow.function)
    given = {name for arg in call.args for name in names_read(arg)}
    if not given & {str(name) for name in site.vars}:
        return False
    if callee.kind == "release" and callee.release is not None:
        return not callee.release.discards
    if callee.kind == "function" and callee.function is not None:
        return bounds.file.is_return_method(callee.function) and _only_puts(bounds, callee.function)
    return False


def _only_puts(bounds: FileBounds, function: ir.Function) -> bool:
    """Whether a return method does nothing with the object but put it away."""
    body = bounds.bodies.get(function) or body_of(function)
    if any(isinstance(stmt, ir.Try) or _is_test(stmt) for stmt in body.statements):
        return False
    params = {param.name for param in function.params[1 if function.owner is not None else 0 :]}
    for call in body.calls:
        if isinstance(call.func, ir.Attr) and isinstance(call.func.value, ir.Name) and call.func.value.id in params:
            return False
        if bounds.file.resolver.callee(call, function).kind != "release" and any(
            params & set(names_read(arg)) for arg in call.args
        ):
            return False
    return True


def _is_test(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.If) and not isinstance(stmt.test, ir.Const)


def _keepers_of(bounds: FileBounds, call: ir.Call, function: ir.Function) -> list[Keeper]:
    callee = bounds.file.resolver.callee(call, function)
    if callee.kind == "release" and callee.pool is not None:
        keeper = bounds.keepers.at(callee.pool, function)
        return [keeper] if keeper is not None else []
    owner = callee.function.owner if callee.function is not None else None
    return [each for each in bounds.keepers.all if owner is not None and each.owner in bounds.types.bases_of(owner)]


def _is_connection(bounds: FileBounds, call: ir.Call, function: ir.Function) -> bool:
    """Whether the pool holds connections that do not reconnect by themselves."""
    names = set()
    for keeper in _keepers_of(bounds, call, function):
        for store in keeper.stores:
            names.add(bounds.connections.opened(store.value, store.body.scope))
        for take in keeper.takes:
            names.update(bounds.connections.opened(each, take.body.scope) for each in take.body.calls)
        for expr in walk_expressions([ir.ExprStmt(0, 0, keeper.made)]):
            if isinstance(expr, ir.Call):
                names.add(bounds.connections.opened(expr, keeper.made_in))
    names.discard("")
    catalog = bounds.catalog
    return bool(names) and not any(
        name in catalog.shareable or name.startswith(("requests.", "urllib3.")) for name in names
    )


def _is_looked_at(bounds: FileBounds, site: Site, call: ir.Call, function: ir.Function) -> bool:
    """Whether the function, or the pool's own borrow method, checks the connection or puts it right."""
    names = {str(name) for name in site.vars}
    return (
        _handled(names, call, function)
        or _guarded(names, call, function)
        or any(_checked_on_borrow(keeper) for keeper in _keepers_of(bounds, call, function))
    )


def _handled(names: set[str], call: ir.Call, function: ir.Function) -> bool:
    """Whether a handler, a ``finally`` or a transaction does something about the object."""
    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.Try):
            cleanups = (*(handler.body for handler in stmt.handlers), stmt.final)
            if any(_puts_right(names, call, body) for body in cleanups):
                return True
        elif isinstance(stmt, ir.With) and any(_is_transaction(item.context, names) for item in stmt.items):
            return True
    return False


def _puts_right(names: set[str], call: ir.Call, body: list[ir.Stmt]) -> bool:
    """Whether a cleanup calls a method of the object, hands it on, or puts another in its place."""
    if any(isinstance(expr, ir.Call) and expr is not call and _touches(expr, names) for expr in walk_expressions(body)):
        return True
    return any(
        isinstance(stmt, ir.Assign) and any(isinstance(each, ir.Name) and each.id in names for each in stmt.targets)
        for stmt in walk_statements(body)
    )


def _is_transaction(context: ir.Expr, names: set[str]) -> bool:
    """Whether a ``with`` is on the object itself (or closes it), or on a transaction of its."""
    parts = [context, *(context.args if isinstance(context, ir.Call) else ())]
    if any(isinstance(part, ir.Name) and part.id in names for part in parts):
        return True
    return (
        isinstance(context, ir.Call)
        and isinstance(context.func, ir.Attr)
        and context.func.name in ("transaction", "begin", "atomic")
        and _touches(context, names)
    )


def _touches(call: ir.Call, names: set[str]) -> bool:
    if isinstance(call.func, ir.Attr) and names & set(names_read(call.func.value)):
        return True
    if isinstance(call.func, ir.Attr) and call.func.name in ("debug", "info", "warning", "error", "exception", "log"):
        return False
    return any(names & set(names_read(arg)) for arg in call.args)


def _guarded(names: set[str], call: ir.Call, function: ir.Function) -> bool:
    """Whether the return stands under a test of more than whether there is an object."""
    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.If) and any(expr is call for expr in walk_expressions([*stmt.body, *stmt.orelse])):
            test = stmt.test
            plain = (isinstance(test, ir.Name) and test.id in names) or (
                isinstance(test, ir.Compare)
                and isinstance(test.left, ir.Name)
                and test.left.id in names
                and test.rights[0][0] in ("is", "is not")
            )
            if not plain:
                return True
    return False


def _checked_on_borrow(keeper: Keeper) -> bool:
    """Whether a function that takes an object out tests it, or makes another in its place."""
    for take in keeper.takes:
        scope = take.body.scope
        if scope is None:
            continue
        names = {
            target.id
            for stmt in take.body.statements
            if isinstance(stmt, ir.Assign) and stmt.value is not None
            and any(expr is take.call for expr in walk_expressions([ir.ExprStmt(0, 0, stmt.value)]))
            for target in stmt.targets if isinstance(target, ir.Name)
        }  # fmt: skip
        if not _hands_on(scope, names):
            continue  # a borrower: what it does with this object says nothing of the others
        for stmt in take.body.statements:
            if isinstance(stmt, (ir.If, ir.While)) and any(
                isinstance(expr, (ir.Call, ir.Attr)) and names & set(names_read(expr))
                for expr in walk_expressions([ir.ExprStmt(0, 0, stmt.test)])
            ):
                return True
            func = stmt.value.func if isinstance(stmt, ir.ExprStmt) and isinstance(stmt.value, ir.Call) else None
            if isinstance(func, ir.Attr) and func.name in _CHECKS and names & set(names_read(func.value)):
                return True
    return False


def _hands_on(function: ir.Function, names: set[str]) -> bool:
    """Whether a function returns or yields what it took."""
    return any(
        isinstance(stmt, ir.Return) and stmt.value is not None and names & set(names_read(stmt.value))
        for stmt in walk_statements(function.body)
    ) or any(
        isinstance(expr, ir.Yield) and expr.value is not None and names & set(names_read(expr.value))
        for expr in walk_expressions(function.body)
    )


_CHECKS = frozenset(
    ("ping", "check", "reset", "reconnect", "ensure_connected", "is_alive", "noop", "rollback", "validate")
)
