"""Walk the small tree of `ir.py`: parts of expressions and statements, names that are read, dotted paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pool_lint import ir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


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
    """Like `path_of`, but ``pools[key]`` counts too, where the key is a dotted path or a constant."""
    names: list[str] = []
    while True:
        if isinstance(expr, ir.Attr):
            names.append("." + expr.name)
            expr = expr.value
        elif isinstance(expr, ir.Sub) and (key := path_of(expr.index)) is not None:
            names.append(f"[{''.join(key)}]")
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


def children(expr: ir.Expr) -> list[ir.Expr]:
    """The direct parts of an expression (not the body of a lambda)."""
    parts = _CHILDREN.get(expr.__class__)
    return parts(expr) if parts is not None else []


def statement_parts(stmt: ir.Stmt) -> tuple[list[ir.Expr], list[list[ir.Stmt]]]:
    """The expressions that a statement evaluates itself, and the bodies under it (not of nested functions)."""
    parts = _PARTS.get(stmt.__class__)
    return parts(stmt) if parts is not None else ([], [])


def _comprehension(expr: ir.Comp) -> list[ir.Expr]:
    out = [part for loop in expr.fors for part in (loop.iter, loop.target, *loop.ifs)]
    return [*out, *((expr.key,) if expr.key is not None else ()), expr.elt]


def _given(*parts: ir.Expr | None) -> list[ir.Expr]:
    return [part for part in parts if part is not None]


def _with(stmt: ir.With) -> tuple[list[ir.Expr], list[list[ir.Stmt]]]:
    return _given(*(part for item in stmt.items for part in (item.context, item.target))), [stmt.body]


def _try(stmt: ir.Try) -> tuple[list[ir.Expr], list[list[ir.Stmt]]]:
    types = _given(*(handler.type for handler in stmt.handlers))
    return types, [stmt.body, *(handler.body for handler in stmt.handlers), stmt.orelse, stmt.final]


def _match(stmt: ir.Match) -> tuple[list[ir.Expr], list[list[ir.Stmt]]]:
    values = _given(*(part for case in stmt.cases for part in (*case.values, case.guard)))
    return [stmt.subject, *values], [case.body for case in stmt.cases]


# By the kind of node: a chain of isinstance takes most of the time of a walk.
_CHILDREN: dict[type[ir.Expr], Callable[[Any], list[ir.Expr]]] = {
    ir.Call: lambda expr: [expr.func, *expr.args, *[value for _, value in expr.keywords]],
    **dict.fromkeys((ir.Attr, ir.Star, ir.Await, ir.Not, ir.Walrus), lambda expr: [expr.value]),
    ir.Sub: lambda expr: [expr.value, expr.index],
    ir.Yield: lambda expr: _given(expr.value),
    ir.Op: lambda expr: expr.parts,
    ir.Compare: lambda expr: [expr.left, *[right for _, right in expr.rights]],
    ir.Bool: lambda expr: [expr.left, expr.right],
    ir.Cond: lambda expr: [expr.test, expr.body, expr.orelse],
    ir.Seq: lambda expr: expr.items,
    ir.DictLit: lambda expr: _given(*(part for pair in expr.items for part in pair)),
    ir.Comp: _comprehension,
}
_PARTS: dict[type[ir.Stmt], Callable[[Any], tuple[list[ir.Expr], list[list[ir.Stmt]]]]] = {
    ir.ExprStmt: lambda stmt: ([stmt.value], []),
    ir.Assign: lambda stmt: ([*_given(stmt.value), *stmt.targets], []),
    ir.AugAssign: lambda stmt: ([stmt.target, stmt.value], []),
    ir.Return: lambda stmt: (_given(stmt.value), []),
    ir.Raise: lambda stmt: (_given(stmt.exc, stmt.cause), []),
    ir.Assert: lambda stmt: (_given(stmt.test, stmt.msg), []),
    ir.Del: lambda stmt: (stmt.targets, []),
    **dict.fromkeys((ir.If, ir.While), lambda stmt: ([stmt.test], [stmt.body, stmt.orelse])),
    ir.For: lambda stmt: ([stmt.iter, stmt.target], [stmt.body, stmt.orelse]),
    ir.With: _with,
    ir.Try: _try,
    ir.Match: _match,
    ir.FuncDef: lambda stmt: (list(stmt.function.decorators), []),
    ir.ClassDef: lambda stmt: ([*stmt.klass.bases, *stmt.klass.decorators], []),
}


def walk_statements(body: Sequence[ir.Stmt]) -> Iterable[ir.Stmt]:
    """Every statement of a body and of the bodies under it, in source order; not those of nested functions."""
    if body.__class__ is not ir.Body:
        return _statements(body)
    assert isinstance(body, ir.Body)
    if body.statements is None:
        body.statements = list(_statements(body))
    return body.statements


def walk_expressions(body: Sequence[ir.Stmt]) -> Iterable[ir.Expr]:
    """Every expression of a body, parents before parts; not those of nested functions and lambdas."""
    if body.__class__ is not ir.Body:
        return _expressions(body)
    assert isinstance(body, ir.Body)
    if body.expressions is None:
        body.expressions = list(_expressions(body))
    return body.expressions


def _statements(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    stack = list(reversed(body))
    while stack:
        stmt = stack.pop()
        yield stmt
        for inner in reversed(statement_parts(stmt)[1]):
            stack.extend(reversed(inner))


def _expressions(body: Sequence[ir.Stmt]) -> Iterator[ir.Expr]:
    for stmt in walk_statements(body):
        stack = list(reversed(statement_parts(stmt)[0]))
        while stack:
            expr = stack.pop()
            yield expr
            parts = _CHILDREN.get(expr.__class__)
            if parts is not None:
                stack.extend(reversed(parts(expr)))
