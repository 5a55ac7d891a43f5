"""Walk the small tree of `ir.py`: parts of expressions and statements, names that are read, dotted paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint import ir

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def path_of(expr: ir.Expr) -> tuple[str, ...] | None:
    """``a.b.c`` as the place ``("a", ".b", ".c")``; None for anything that is not a dotted path."""
    names: list[str] = []
    while isinstance(expr, ir.Attr):
        names.append("." + expr.name)
        expr = expr.value
    if not isinstance(expr, ir.Name):
        return None
    return (expr.id, *reversed(names))


def pool_path(expr: ir.Expr | None) -> tuple[str, ...] | None:
    """Like `path_of`, but ``pools[key]`` counts too, where the key is a name or a constant."""
    names: list[str] = []
    while True:
        if isinstance(expr, ir.Attr):
            names.append("." + expr.name)
            expr = expr.value
        elif isinstance(expr, ir.Sub) and isinstance(expr.index, ir.Name):
            names.append(f"[{expr.index.id}]")
            expr = expr.value
        elif isinstance(expr, ir.Sub) and isinstance(expr.index, ir.Const):
            names.append(f"[{expr.index.value!r}]")
            expr = expr.value
        elif isinstance(expr, ir.Name):
            return (expr.id, *reversed(names))
        else:
            return None


def names_read(expr: ir.Expr) -> list[str]:
    """The variables an expression reads, in order of appearance."""
    out: list[str] = []
    stack: list[ir.Expr] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Name):
            out.append(node.id)
        stack.extend(reversed(children(node)))
    return out


def children(expr: ir.Expr) -> list[ir.Expr]:  # noqa: C901 - one flat case per kind of expression
    """The direct parts of an expression (not the body of a lambda)."""
    if isinstance(expr, (ir.Name, ir.Const)):
        return []
    if isinstance(expr, ir.Call):
        return [expr.func, *expr.args, *(value for _, value in expr.keywords)]
    if isinstance(expr, (ir.Attr, ir.Star, ir.Await, ir.Not, ir.Walrus)):
        return [expr.value]
    if isinstance(expr, ir.Sub):
        return [expr.value, expr.index]
    if isinstance(expr, ir.Yield):
        return [expr.value] if expr.value is not None else []
    if isinstance(expr, ir.Op):
        return expr.parts
    if isinstance(expr, ir.Compare):
        return [expr.left, *(right for _, right in expr.rights)]
    if isinstance(expr, ir.Bool):
        return [expr.left, expr.right]
    if isinstance(expr, ir.Cond):
        return [expr.test, expr.body, expr.orelse]
    if isinstance(expr, ir.Seq):
        return expr.items
    if isinstance(expr, ir.DictLit):
        return [part for key, value in expr.items for part in (key, value) if part is not None]
    if isinstance(expr, ir.Comp):
        out = [part for loop in expr.fors for part in (loop.iter, loop.target, *loop.ifs)]
        return [*out, *((expr.key,) if expr.key is not None else ()), expr.elt]
    return []


def statement_parts(  # noqa: C901, PLR0912 - one flat case per kind of statement
    stmt: ir.Stmt,
) -> tuple[list[ir.Expr], list[list[ir.Stmt]]]:
    """The expressions that a statement evaluates itself, and the bodies under it (not of nested functions)."""
    if isinstance(stmt, ir.ExprStmt):
        return [stmt.value], []
    if isinstance(stmt, ir.Assign):
        return [*([stmt.value] if stmt.value is not None else []), *stmt.targets], []
    if isinstance(stmt, ir.AugAssign):
        return [stmt.target, stmt.value], []
    if isinstance(stmt, ir.Return):
        return [stmt.value] if stmt.value is not None else [], []
    if isinstance(stmt, ir.Raise):
        return [part for part in (stmt.exc, stmt.cause) if part is not None], []
    if isinstance(stmt, ir.Assert):
        return [part for part in (stmt.test, stmt.msg) if part is not None], []
    if isinstance(stmt, ir.Del):
        return stmt.targets, []
    if isinstance(stmt, (ir.If, ir.While)):
        return [stmt.test], [stmt.body, stmt.orelse]
    if isinstance(stmt, ir.For):
        return [stmt.iter, stmt.target], [stmt.body, stmt.orelse]
    if isinstance(stmt, ir.With):
        parts = [part for item in stmt.items for part in (item.context, item.target) if part is not None]
        return parts, [stmt.body]
    if isinstance(stmt, ir.Try):
        types = [handler.type for handler in stmt.handlers if handler.type is not None]
        return types, [stmt.body, *(handler.body for handler in stmt.handlers), stmt.orelse, stmt.final]
    if isinstance(stmt, ir.Match):
        values = [part for case in stmt.cases for part in (*case.values, case.guard) if part is not None]
        return [stmt.subject, *values], [case.body for case in stmt.cases]
    if isinstance(stmt, ir.FuncDef):
        return list(stmt.function.decorators), []
    if isinstance(stmt, ir.ClassDef):
        return [*stmt.klass.bases, *stmt.klass.decorators], []
    return [], []


def walk_statements(body: Sequence[ir.Stmt]) -> Iterable[ir.Stmt]:
    """Every statement of a body and of the bodies under it, in source order; not those of nested functions."""
    stack = list(reversed(body))
    while stack:
        stmt = stack.pop()
        yield stmt
        for inner in reversed(statement_parts(stmt)[1]):
            stack.extend(reversed(inner))


def walk_expressions(body: Sequence[ir.Stmt]) -> Iterable[ir.Expr]:
    """Every expression of a body, parents before parts; not those of nested functions and lambdas."""
    for stmt in walk_statements(body):
        stack = list(reversed(statement_parts(stmt)[0]))
        while stack:
            expr = stack.pop()
            yield expr
            stack.extend(reversed(children(expr)))
