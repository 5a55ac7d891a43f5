"""One walk over a file: its calls and stores, each with the function that it stands in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.walk import children, statement_parts, walk_expressions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Scope = ir.Function | None


@dataclass(slots=True, eq=False)
class Body:
    """What one function (or, with ``scope`` None, the module and its class bodies) does, in source order.

    ``thrown`` are the expressions whose value is thrown away; ``counted`` the names that are counted up or down.
    """

    scope: Scope
    calls: list[ir.Call] = field(default_factory=list)
    stores: list[tuple[ir.Sub, ir.Assign]] = field(default_factory=list)
    deletes: list[ir.Sub] = field(default_factory=list)
    compares: list[ir.Compare] = field(default_factory=list)
    subs: list[ir.Sub] = field(default_factory=list)
    counted: set[str] = field(default_factory=set)
    thrown: set[int] = field(default_factory=set)
    statements: list[ir.Stmt] = field(default_factory=list)
    withs: list[ir.With] = field(default_factory=list)


def inside(expr: ir.Expr) -> Iterable[ir.Expr]:
    """An expression and all its parts."""
    return walk_expressions([ir.ExprStmt(0, 0, expr)])


def contains(expr: ir.Expr, part: ir.Expr) -> bool:
    """Whether an expression is, or has as a part, another one."""
    return any(each is part for each in inside(expr))


def scan(tree: ir.ModuleTree) -> dict[Scope, Body]:
    """Return the bodies of a file."""
    found: dict[Scope, Body] = {None: Body(None)}
    _read(tree.body, found[None])
    for klass in tree.classes:
        _read(klass.body, found[None])
    for function in tree.functions:
        found[function] = body_of(function)
    return found


def body_of(function: ir.Function) -> Body:
    """Return the body of one function, which may be of another module."""
    found = Body(function)
    _read(function.body, found)
    return found


def _read(body: Sequence[ir.Stmt], into: Body) -> None:
    stack = list(reversed(body))
    while stack:
        stmt = stack.pop()
        into.statements.append(stmt)
        if isinstance(stmt, ir.ExprStmt):
            into.thrown.add(id(stmt.value))
        elif isinstance(stmt, ir.Assign):
            into.stores.extend((target, stmt) for target in stmt.targets if isinstance(target, ir.Sub))
        elif isinstance(stmt, ir.Del):
            into.deletes.extend(target for target in stmt.targets if isinstance(target, ir.Sub))
        elif isinstance(stmt, ir.AugAssign):
            name = _last(stmt.target)
            if name:
                into.counted.add(name)
        elif isinstance(stmt, ir.With):
            into.withs.append(stmt)
        parts, bodies = statement_parts(stmt)
        for part in parts:
            _expressions(part, into)
        for inner in reversed(bodies):
            stack.extend(reversed(inner))


def _expressions(expr: ir.Expr, into: Body) -> None:
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Call):
            into.calls.append(node)
        elif isinstance(node, ir.Compare):
            into.compares.append(node)
        elif isinstance(node, ir.Sub):
            into.subs.append(node)
        stack.extend(reversed(children(node)))


def _last(expr: ir.Expr) -> str:
    if isinstance(expr, ir.Name):
        return expr.id
    if isinstance(expr, ir.Attr):
        return expr.name
    return _last(expr.value) if isinstance(expr, ir.Sub) else ""
