"""Give the names of a module's statements the marks of their module, so that they can stand beside a file's own."""

from __future__ import annotations

import builtins
import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any

from pool_lint import ir
from pool_lint.pools.linked import MARK
from pool_lint.walk import path_of, walk_statements

if TYPE_CHECKING:
    from collections.abc import Callable

    from pool_lint.project.outline import Chain

BUILTINS = frozenset(dir(builtins))
# What a dotted path means: the name that takes its place, and how many of its parts that stands for.
Meaning = tuple[str, int] | None


class Renamer:
    """Renames in place what ``meaning`` knows.

    ``mark``: the module whose statements they are, all of whose global names get a mark; None for the checked file,
    whose other names stay.  ``shadowed``: the builtins that the checked file gives a meaning of its own.
    """

    def __init__(
        self, meaning: Callable[[Chain], Meaning], mark: str | None, shadowed: frozenset[str] = frozenset()
    ) -> None:
        self._meaning = meaning
        self._mark = mark
        self._untouched = BUILTINS - shadowed

    def statements(self, body: list[ir.Stmt]) -> None:
        """Rename in the statements of a module's top level."""
        self._parts(body, frozenset(), None)

    def _visit(self, node: Any, local: frozenset[str], scope: ir.Function | None) -> Any:  # noqa: ANN401 - any node
        """Rename in a node, and return it or what takes its place."""
        if isinstance(node, (ir.Name, ir.Attr)):
            return self._path(node, local, scope)
        if isinstance(node, (ir.FuncDef, ir.Lambda)):
            self._function(node.function, local, scope)
        elif isinstance(node, ir.ClassDef):
            self._class(node.klass, local, scope)
        elif isinstance(node, ir.Import):
            # Its names mean the same everywhere in the module: they are bound once, for all of it.
            node.names = node.names if self._mark is None else []
        elif isinstance(node, ir.Global):
            if not node.nonlocal_:
                node.names = [self._global(name) for name in node.names]
        elif isinstance(node, (list, tuple)):
            return self._parts(node, local, scope)
        elif dataclasses.is_dataclass(node):
            if isinstance(node, ir.Walrus) and node.name not in local:
                node.name = self._global(node.name)
            for name in _fields(node.__class__):
                value = getattr(node, name)
                if name in ("target", "targets"):
                    setattr(node, name, self._target(value, local, scope))
                elif isinstance(value, (list, tuple)) or dataclasses.is_dataclass(value):
                    setattr(node, name, self._visit(value, local, scope))
        return node

    def _target(self, node: Any, local: frozenset[str], scope: ir.Function | None) -> Any:  # noqa: ANN401 - any node
        """Rename in what is assigned to: ``db.pool = ...`` sets an attribute of a module, and is no name of its own."""
        if isinstance(node, list):
            return [self._target(each, local, scope) for each in node]
        if isinstance(node, ir.Seq):
            node.items = self._target(node.items, local, scope)
            return node
        path = path_of(node) if isinstance(node, ir.Attr) else None
        if path is None:
            return self._visit(node, local, scope)
        if self._mark is None or path[0] in local:
            return node
        return _with_root(node, f"{path[0]}{MARK}{self._mark}")

    def _parts(self, value: Any, local: frozenset[str], scope: ir.Function | None) -> Any:  # noqa: ANN401 - any node
        if isinstance(value, tuple):
            return tuple(self._visit(each, local, scope) for each in value)
        value[:] = [self._visit(each, local, scope) for each in value]
        return value

    def _path(self, node: ir.Name | ir.Attr, local: frozenset[str], scope: ir.Function | None) -> ir.Expr:
        path = path_of(node)
        if path is None:
            assert isinstance(node, ir.Attr)
            node.value = self._visit(node.value, local, scope)
            return node
        root, quote, number = str(path[0]).partition("'")
        if quote and scope is None and self._mark is not None:
            return _with_root(node, f"{root}{MARK}{self._mark}'{number}")
        if quote or root in local:
            return node
        chain = (root, *(str(part).lstrip(".") for part in path[1:]))
        meaning = self._meaning(chain)
        if meaning is None:
            return _with_root(node, self._global(root)) if self._mark is not None else node
        name, used = meaning
        inner: ir.Expr = node
        over: list[ir.Attr] = []
        for _ in range(len(chain) - used):
            assert isinstance(inner, ir.Attr)
            over.append(inner)
            inner = inner.value
        new = ir.Name(inner.line, inner.col, name, ".".join(chain[:used]))
        if not over:
            return new
        over[-1].value = new
        return node

    def _global(self, name: str) -> str:
        if self._mark is None:
            return name
        meaning = self._meaning((name,))
        if meaning is not None:
            return meaning[0]
        return name if name in self._untouched else f"{name}{MARK}"

    def _function(self, function: ir.Function, local: frozenset[str], scope: ir.Function | None) -> None:
        for param in function.params:
            param.annotation = self._visit(param.annotation, local, scope)
            param.default = self._visit(param.default, local, scope)
        function.returns = self._visit(function.returns, local, scope)
        function.decorators = [self._visit(each, local, scope) for each in function.decorators]
        imported = {
            name for stmt in walk_statements(function.body) if isinstance(stmt, ir.Import) for _, name in stmt.names
        }
        imported -= {param.name for param in function.params}
        named = {name for stmt in walk_statements(function.body) if isinstance(stmt, ir.Global) for name in stmt.names}
        inner = (local | function.assigned) - imported - named | (named & local)
        if self._mark is not None:
            outer = {self._global(name) if name not in local else name for name in function.outer}
            function.assigned = function.assigned - imported - function.outer | outer
            function.outer = outer
        self._parts(function.body, inner, function)

    def _class(self, klass: ir.Klass, local: frozenset[str], scope: ir.Function | None) -> None:
        klass.bases = [self._visit(each, local, scope) for each in klass.bases]
        klass.metaclass = self._visit(klass.metaclass, local, scope)
        klass.decorators = [self._visit(each, local, scope) for each in klass.decorators]
        for stmt in klass.body:
            # What a class body binds are attributes: they keep their names.
            if isinstance(stmt, ir.Assign):
                stmt.value = self._visit(stmt.value, local, scope)
                stmt.annotation = self._visit(stmt.annotation, local, scope)
            elif isinstance(stmt, (ir.FuncDef, ir.ClassDef)):
                self._visit(stmt, local, scope)


def _with_root(node: ir.Name | ir.Attr, name: str) -> ir.Expr:
    inner: ir.Expr = node
    while isinstance(inner, ir.Attr):
        inner = inner.value
    assert isinstance(inner, ir.Name)
    inner.id = name
    return node


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind) if field.name not in ("line", "col"))
