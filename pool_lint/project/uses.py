"""What a statement reads from outside itself, and the names that it uses of what it reads."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pool_lint.project.flows import annotated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Chain = tuple[str, ...]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
STORES = "[]="  # among the attributes: an item is stored


class Uses:
    """Collects what a statement reads.

    ``chains``: dotted paths rooted at names that are not its own.  ``attributes``: the attributes that it reads, and
    ``STORES``.  ``inside``: the functions and classes in it, and their decorators.  ``shared``: names that functions
    in it declare global.
    """

    def __init__(self) -> None:
        self.chains: set[Chain] = set()
        self.attributes: set[str] = set()
        self.inside: set[str] = set()
        self.shared: set[str] = set()

    def visit(self, node: ast.AST, local: frozenset[str]) -> None:
        """Read a node, in which ``local`` are the names of the functions around it."""
        kind = type(node)
        if kind is ast.Name or kind is ast.Attribute:
            self._path(node, local)  # type: ignore[arg-type]  # told by its type just now
            return
        if kind is ast.Constant:
            return
        special = _SPECIAL.get(kind)
        if special is not None:
            local = special(self, node, local)
            if local is _DONE:
                return
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                for each in value:
                    if isinstance(each, ast.AST):
                        self.visit(each, local)
            elif isinstance(value, ast.AST):
                self.visit(value, local)

    def _class(self, node: ast.ClassDef, local: frozenset[str]) -> frozenset[str]:
        self._decorated(node)
        return local

    def _store(self, node: ast.Subscript, local: frozenset[str]) -> frozenset[str]:
        if isinstance(node.ctx, ast.Store):
            self.attributes.add(STORES)
        return local

    def _annotated(self, node: ast.AnnAssign, local: frozenset[str]) -> frozenset[str]:
        self._annotation(node.annotation, local)
        return local

    def _comprehension(self, node: ast.AST, local: frozenset[str]) -> frozenset[str]:
        return local | _stored(node)

    def _shared(self, node: ast.Global, local: frozenset[str]) -> frozenset[str]:
        self.shared.update(node.names)
        return local

    def _path(self, node: ast.expr, local: frozenset[str]) -> None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            self.attributes.add(node.attr)
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            self.visit(node, local)
        elif node.id not in local and (parts or isinstance(node.ctx, ast.Load)):
            self.chains.add((node.id, *reversed(parts)))

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, local: frozenset[str]
    ) -> frozenset[str]:
        args = node.args
        params = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        params += [each for each in (args.vararg, args.kwarg) if each is not None]
        for default in (*args.defaults, *(each for each in args.kw_defaults if each is not None)):
            self.visit(default, local)
        for param in params:
            self._annotation(param.annotation, local)
        if isinstance(node, ast.Lambda):
            self.visit(node.body, local | {param.arg for param in params})
            return _DONE
        self._decorated(node)
        for decorator in node.decorator_list:
            self.visit(decorator, local)
        self._annotation(node.returns, local)
        inner = local | {param.arg for param in params} | _stored(node)
        for stmt in node.body:
            self.visit(stmt, inner)
        return _DONE

    def _decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.inside.add(node.name)
        for each in node.decorator_list:
            expr = each.func if isinstance(each, ast.Call) else each
            self.inside.add(
                "@" + (expr.attr if isinstance(expr, ast.Attribute) else expr.id if isinstance(expr, ast.Name) else "")
            )

    def _annotation(self, node: ast.expr | None, local: frozenset[str]) -> None:
        if node is None:
            return
        self.visit(node, local)
        self.chains.update(annotated(node))


def _stored(scope: ast.AST) -> frozenset[str]:
    """The names that a function or comprehension gives a value itself; what it imports is found by its import."""
    stored: set[str] = set()
    outer: set[str] = set()
    body: Iterable[ast.AST] = scope.body if isinstance(scope, _FUNCTIONS) else (scope,)
    for stmt in body:
        for node in own_nodes(stmt) if not isinstance(stmt, (*_FUNCTIONS, ast.ClassDef)) else (stmt,):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stored.add(node.id)
            elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                stored.add(node.name)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                outer.update(node.names)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                stored.add(node.name)
    return frozenset(stored - outer)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes under one that are of its own scope; a function or class itself, and nothing inside it."""
    stack = [node]
    while stack:
        each = stack.pop()
        yield each
        if each is not node and isinstance(each, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            continue
        stack.extend(ast.iter_child_nodes(each))


_DONE: frozenset[str] = frozenset(("a name that is none",))
_SPECIAL: dict[type, Callable[[Uses, Any, frozenset[str]], frozenset[str]]] = {
    ast.FunctionDef: Uses._function,
    ast.AsyncFunctionDef: Uses._function,
    ast.Lambda: Uses._function,
    ast.ClassDef: Uses._class,
    ast.Subscript: Uses._store,
    ast.AnnAssign: Uses._annotated,
    ast.ListComp: Uses._comprehension,
    ast.SetComp: Uses._comprehension,
    ast.DictComp: Uses._comprehension,
    ast.GeneratorExp: Uses._comprehension,
    ast.Global: Uses._shared,
}
