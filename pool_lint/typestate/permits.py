"""Permits of semaphores and counts of what is out: what a pool loses when a borrow fails half way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.walk import path_of, walk_expressions, walk_statements
from pool_lint.words import LENDING_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.typestate.file import FileAnalysis
    from pool_lint.typestate.state import Place

_OF_SELF = 2  # the length of the place of an attribute of self: ("self", ".attr")
_ORDERING = frozenset(("<", "<=", ">", ">="))


class Permits:
    """Permits of semaphores and counts of what is out: what a pool loses when a borrow fails half way."""

    def __init__(self, file: FileAnalysis) -> None:
        self._file = file
        self._counts: dict[tuple[ir.Function, str], bool] = {}

    def permit_matters(self, function: ir.Function, pool: ir.Expr | None) -> bool:
        """Whether a semaphore's permit goes out with what a method lends."""
        path = path_of(pool) if pool is not None else None
        if path is None or function.owner is None or len(path) != _OF_SELF:
            return False
        if self._file.is_lender(function):
            return True
        if function.is_generator or not self._file.returns_something(function) or not LENDING_NAME.match(function.name):
            return False
        return any(
            self.releases_permit(method, path)
            for klass in self._file.attributes.family(function.owner)
            for method in klass.methods.values()
            if method is not function
        )

    def releases_permit(self, function: ir.Function, path: Place | None) -> bool:
        """Whether a function releases the semaphore, or lowers the count, that a path names."""
        if path is None:
            return False
        for each in (function, *function.nested):
            for expr in walk_expressions(each.body):
                if (
                    isinstance(expr, ir.Call)
                    and isinstance(expr.func, ir.Attr)
                    and expr.func.name == "release"
                    and path_of(expr.func.value) == path
                ):
                    return True
            if len(path) == _OF_SELF:
                for stmt in walk_statements(each.body):
                    if isinstance(stmt, ir.AugAssign) and stmt.op == "SubtractAssign" and path_of(stmt.target) == path:
                        return True
        return False

    def is_count(self, function: ir.Function, attr: str) -> bool:
        """Whether an attribute counts what a pool has lent, against a limit."""
        key = (function, attr)
        if key not in self._counts:
            self._counts[key] = self._is_count(function, attr)
        return self._counts[key]

    def _is_count(self, function: ir.Function, attr: str) -> bool:
        owner = function.owner
        if owner is None or not (
            self._file.is_lender(function) or (self._file.returns_something(function) and not function.is_generator)
        ):
            return False
        lowered = compared = here = False
        for klass in self._file.attributes.family(owner):
            for method in klass.methods.values():
                for stmt in walk_statements(method.body):
                    if isinstance(stmt, ir.AugAssign) and isinstance(stmt.target, ir.Attr) and stmt.target.name == attr:
                        lowered = lowered or stmt.op == "SubtractAssign"
                for expr in _decisions(method):
                    if isinstance(expr, ir.Compare) and any(operator in _ORDERING for operator, _ in expr.rights):
                        parts = (expr.left, *(right for _, right in expr.rights))
                        if any(isinstance(part, ir.Attr) and part.name == attr for part in parts):
                            compared = True
                            here = here or method is function
        if self._file.is_lender(function):
            return lowered and compared
        # Plenty of things are counted; a pool's borrow method is known by its name.
        lends = bool(LENDING_NAME.match(function.name)) and compared
        return lends and (lowered or (here and self.owns_container(owner)))

    def owns_container(self, klass: ir.Klass) -> bool:
        """Whether a class keeps objects in a container that methods take them from."""
        family = self._file.attributes.family(klass)
        return any(
            isinstance(owner, ir.Klass) and owner in family and use.takes
            for (owner, _), use in self._file.containers.uses.items()
        )

    def is_own_container(self, expr: ir.Expr, function: ir.Function) -> bool:
        """Whether an expression is a container of the class that a function belongs to, or of its module."""
        kind = self._file.types.of(expr, function)
        return kind is not None and kind.kind == "container" and self._file.resolver.is_own(expr, function)


def _decisions(function: ir.Function) -> Iterator[ir.Expr]:
    """The expressions of a function but those that it asserts, which limit nothing."""
    asserted = {
        id(expr)
        for stmt in walk_statements(function.body)
        if isinstance(stmt, ir.Assert)
        for expr in walk_expressions([stmt])
    }
    return (expr for expr in walk_expressions(function.body) if id(expr) not in asserted)
