"""What an importer may get from a statement: the values that it gives on, and their types."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Chain = tuple[str, ...]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
# The names of methods whose result may be something borrowed, or a view of it.
BORROWISH = re.compile(
    r"^_*(?:try_?)?(?:acquire|borrow|check_?out|lease|alloc|obtain|rent|take|claim|reserve|lend|grab|hire|get|pop|open|"
    r"connect|connection|client|session|begin|cursor|raw_connection|pubsub|monitor|pipeline|item|fetch_?conn)"
)
_CALL = "()"
_THROUGH = frozenset(("cast", "wait_for", "shield", "closing", "aclosing", "enter_context", "enter_async_context"))


def flows_of(stmt: ast.stmt, *, stores_globals: bool) -> tuple[tuple[Chain, ...], frozenset[str]]:
    """Return the paths that flow out of a statement, and the methods of a class that give something."""
    flows: set[Chain] = set()
    givers: set[str] = set()
    for inner in _definitions(stmt):
        if isinstance(inner, _FUNCTIONS):
            flows |= _function(inner, _inside(inner))
        elif isinstance(inner, ast.ClassDef):
            of_class, given = _class(inner)
            flows |= of_class
            givers |= given
        elif isinstance(inner, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            flows.update(_carried(inner.value))
            if isinstance(inner, ast.AnnAssign):
                flows.update(annotated(inner.annotation))
        elif isinstance(inner, (ast.With, ast.AsyncWith)):
            flows.update(chain for item in inner.items for chain in _carried(item.context_expr))
    if stores_globals:
        # What a function stores in a global is what that name is.
        flows.update(chain for each in ast.walk(stmt) if isinstance(each, ast.Assign) for chain in _carried(each.value))
    return tuple(sorted(each[1:] if each[0] == _CALL else each for each in flows)), frozenset(givers)


def annotated(node: ast.expr | None) -> Iterator[Chain]:
    """Yield the paths of an annotation, those in quotes too."""
    if node is None:
        return
    for part in ast.walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)):
            chain = _path(part)
            if chain is not None:
                yield chain
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from (tuple(path.split(".")) for path in _PATH.findall(part.value))


def _definitions(stmt: ast.stmt) -> Iterator[ast.AST]:
    """The statement itself, or those of its blocks, at the level of the module."""
    stack: list[ast.AST] = [stmt]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.expr)):
            stack.extend(ast.iter_child_nodes(node))


def _class(node: ast.ClassDef) -> tuple[set[Chain], set[str]]:
    flows = {chain for base in node.bases for chain in _carried(base)}
    givers: set[str] = set()
    for stmt in node.body:
        if isinstance(stmt, _FUNCTIONS):
            inside = _inside(stmt)
            given = _function(stmt, inside)
            flows |= given
            flows |= _kept(stmt, inside)
            if any(chain[0].startswith(".") for chain in given):
                givers.add(stmt.name)
        elif isinstance(stmt, (ast.Assign, ast.AnnAssign)):
            flows.update(_carried(stmt.value))
            if isinstance(stmt, ast.AnnAssign):
                flows.update(annotated(stmt.annotation))
    return flows, givers


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, inside: list[ast.AST]) -> set[Chain]:
    """What a call of a function may give, by its annotation and its ``return`` and ``yield``."""
    given: list[ast.expr | None] = []
    for inner in inside:
        if isinstance(inner, ast.Return):
            given.append(inner.value)
        elif isinstance(inner, (ast.Expr, ast.Assign)) and isinstance(inner.value, (ast.Yield, ast.YieldFrom)):
            given.append(inner.value.value)
    return _followed(node, given, inside) | set(annotated(node.returns))


def _kept(node: ast.FunctionDef | ast.AsyncFunctionDef, inside: list[ast.AST]) -> set[Chain]:
    """What a method stores in attributes."""
    stored = [
        inner.value
        for inner in inside
        if isinstance(inner, (ast.Assign, ast.AnnAssign))
        and any(
            isinstance(target, ast.Attribute)
            for target in (inner.targets if isinstance(inner, ast.Assign) else [inner.target])
        )
    ]
    args = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    named = {value.id for value in stored if isinstance(value, ast.Name)}
    out = _followed(node, stored, inside)
    for arg in args:
        if arg.arg in named:
            out.update(annotated(arg.annotation))
    for inner in inside:
        if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Attribute):
            out.update(annotated(inner.annotation))
    return out


def _followed(
    node: ast.FunctionDef | ast.AsyncFunctionDef, values: Iterable[ast.expr | None], inside: list[ast.AST]
) -> set[Chain]:
    """The paths that values of a function come from, through its own variables."""
    if not any(value is not None and not isinstance(value, ast.Constant) for value in values):
        return set()
    args = node.args
    params = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    given: dict[str, list[ast.expr | None]] = {param.arg: [] for param in params if param is not None}
    for inner in inside:
        for name, value in _bindings(inner):
            given.setdefault(name, []).append(value)
    out: set[Chain] = set()
    seen: set[str] = set()
    todo = [chain for value in values for chain in _carried(value)]
    while todo:
        chain = todo.pop()
        if chain[0] == _CALL:
            if chain[1] not in given:
                out.add(chain[1:])
        elif chain[0] in given:
            if chain[0] not in seen:
                seen.add(chain[0])
                todo.extend(each for value in given[chain[0]] for each in _carried(value))
        else:
            out.add(chain)
    return out


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a statement gives a value."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from ((name, node.value) for name in _names(target))
    elif isinstance(node, ast.AnnAssign):
        yield from ((name, node.value) for name in _names(node.target))
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield from ((name, node.iter) for name in _names(node.target))
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from ((name, node.context_expr) for name in _names(node.optional_vars))


def _names(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for each in target.elts for name in _names(each)]
    return _names(target.value) if isinstance(target, ast.Starred) else []


def _inside(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """The statements of a function, and its ``with`` items; not those of functions and classes in it."""
    out: list[ast.AST] = []
    stack: list[ast.AST] = list(node.body)
    while stack:
        each = stack.pop()
        out.append(each)
        if not isinstance(each, (*_FUNCTIONS, ast.ClassDef)):
            for name in _BLOCKS:
                stack.extend(getattr(each, name, ()))
    return out


_BLOCKS = ("items", "body", "orelse", "handlers", "finalbody", "cases")


def _carried(node: ast.expr | None) -> Iterator[Chain]:
    """The paths whose values, or what they give when called, an expression may have as its own."""
    stack = [node]
    while stack:
        expr = stack.pop()
        if isinstance(expr, (ast.Name, ast.Attribute)):
            chain = _path(expr)
            if chain is not None:
                yield chain
            elif isinstance(expr, ast.Attribute):
                stack.append(expr.value)
        elif isinstance(expr, ast.Call):
            yield from _called(expr, stack)
        elif isinstance(expr, (ast.Await, ast.Starred, ast.Subscript, ast.NamedExpr)):
            stack.append(expr.value)
        elif isinstance(expr, (ast.Tuple, ast.List, ast.Set)):
            stack.extend(expr.elts)
        elif isinstance(expr, ast.Dict):
            stack.extend(expr.values)
        elif isinstance(expr, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            stack.append(expr.elt)
        elif isinstance(expr, ast.IfExp):
            stack += [expr.body, expr.orelse]
        elif isinstance(expr, ast.BoolOp):
            stack += expr.values


def _called(call: ast.Call, stack: list[ast.expr | None]) -> Iterator[Chain]:
    func = call.func
    last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    if last[:1].isupper() or last in _THROUGH:
        stack += [*call.args, *(keyword.value for keyword in call.keywords)]
    if not isinstance(func, ast.Attribute):
        stack.append(func)
    elif BORROWISH.match(last):
        yield (f".{last}",)
        stack += [func, func.value]
    else:
        chain = _path(func)
        if chain is not None and len(chain) > 1:
            # `db.make()` may call a function of a module; a method of a variable by such a name gives no object.
            yield (_CALL, *chain)


def _path(node: ast.expr) -> Chain | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else None
