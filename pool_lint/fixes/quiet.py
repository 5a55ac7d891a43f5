"""What runs between the place of an old return and the place of the new one, and whether that matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes.code import NESTED, Statement, walk_here

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pool_lint.catalog.spec import Catalog
    from pool_lint.fixes.code import Code

_LEAVING = (cst.Return, cst.Raise, cst.Continue, cst.Break)
_BUILTINS = frozenset(
    (
        "str", "int", "float", "bool", "bytes", "len", "list", "dict", "tuple", "set", "frozenset", "sorted", "sum",
        "min", "max", "round", "abs", "repr", "isinstance",
    )
)  # fmt: skip
_METHODS = frozenset(["decode", "encode", "join", "strip", "split", "format", "append", "add", "clear"])


def leaves(statement: cst.CSTNode) -> bool:
    """Whether control never goes on to the next statement."""
    if isinstance(statement, cst.SimpleStatementLine):
        return any(isinstance(small, _LEAVING) for small in statement.body)
    if isinstance(statement, cst.If):
        other = statement.orelse
        branch = other.body if isinstance(other, cst.Else) else other
        return block_leaves(statement.body) and branch is not None and _either_leaves(branch)
    if isinstance(statement, cst.With):
        return block_leaves(statement.body)
    if isinstance(statement, (cst.Try, cst.TryStar)):
        if statement.finalbody is not None and block_leaves(statement.finalbody.body):
            return True
        body = block_leaves(statement.orelse.body if statement.orelse is not None else statement.body)
        return (body or block_leaves(statement.body)) and all(block_leaves(each.body) for each in statement.handlers)
    return False


def _either_leaves(branch: cst.CSTNode) -> bool:
    return leaves(branch) if isinstance(branch, cst.If) else block_leaves(branch)


def block_leaves(block: cst.CSTNode) -> bool:
    """Whether control never reaches the end of a block."""
    return isinstance(block, (cst.IndentedBlock, cst.SimpleStatementSuite)) and (
        any(leaves(each) for each in block.body)
        if isinstance(block, cst.IndentedBlock)
        else any(isinstance(small, _LEAVING) for small in block.body)
    )


class Quiet:
    """Tells statements that take no time and want nothing: literals, names, logging, leaving."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def expression(self, node: cst.CSTNode | None) -> bool:
        """Whether evaluating an expression is quick and needs no pool."""
        if node is None:
            return True
        for each in walk_here(node):
            if isinstance(each, (cst.Await, cst.Yield, *NESTED)):
                return False
            if isinstance(each, cst.Call) and not self._is_quick(each):
                return False
        return True

    def _is_quick(self, call: cst.Call) -> bool:
        func = call.func
        if isinstance(func, cst.Name):
            return func.value in _BUILTINS or func.value in self._catalog.no_raise_functions
        if not isinstance(func, cst.Attribute):
            return False
        name = func.attr.value
        if name in self._catalog.logger_methods:
            last = func.value.value if isinstance(func.value, cst.Name) else ""
            last = func.value.attr.value if isinstance(func.value, cst.Attribute) else last
            return last.strip("._") in self._catalog.logger_names
        return name in _METHODS or name in self._catalog.no_raise_methods

    def statement(self, node: cst.CSTNode) -> bool:
        """Whether a statement is quick and needs no pool."""
        if isinstance(node, cst.SimpleStatementLine):
            return all(self._small(small) for small in node.body)
        if isinstance(node, cst.If):
            other = node.orelse
            rest = other is None or (self.block(other.body) if isinstance(other, cst.Else) else self.statement(other))
            return self.expression(node.test) and self.block(node.body) and rest
        return False

    def block(self, node: cst.CSTNode) -> bool:
        """Whether all statements of a block are quick."""
        return isinstance(node, cst.IndentedBlock) and all(self.statement(each) for each in node.body)

    def _small(self, small: cst.CSTNode) -> bool:
        if isinstance(small, cst.Raise):
            # An exception that is made on the way out is no work.
            exc = small.exc
            return exc is None or all(
                self.expression(arg.value) for arg in (exc.args if isinstance(exc, cst.Call) else ())
            )
        if isinstance(small, (cst.Assert, cst.Import, cst.ImportFrom)):
            return False
        return all(self.expression(child) for child in small.children)

    def after(self, code: Code, unit: Statement, limit: cst.CSTNode, skipped: Collection[int]) -> Statement | None:
        """The first statement between a removed return and the end of ``limit`` (a block) that is not quiet."""
        for each in _following(code, unit, limit):
            if isinstance(each, _Again):
                return each.loop
            if id(each) not in skipped and not self.statement(each):
                return each
        return None


class _Again:
    """The loop that goes on to its next turn."""

    def __init__(self, loop: Statement) -> None:
        self.loop = loop


def _following(code: Code, unit: Statement, limit: cst.CSTNode) -> Iterator[Statement | _Again]:
    """What runs after a statement until control leaves a block, as far as the text tells."""
    current: cst.CSTNode = unit
    way = ""  # how control has left what is looked at: "", "return", "raise", "break", "continue"
    while True:
        parent = code.parents.get(current)
        if isinstance(parent, cst.IndentedBlock) and not way:
            for each in parent.body[next(i for i, other in enumerate(parent.body) if other is current) + 1 :]:
                yield each
                if leaves(each):
                    way = _way(each)
                    break
        if parent is limit or parent is None or isinstance(parent, cst.FunctionDef):
            return
        if isinstance(parent, (cst.For, cst.While)):
            if way in ("", "continue"):
                yield _Again(parent)
            way = "" if way == "break" else way
        if isinstance(parent, (cst.Try, cst.TryStar)):
            yield from _clauses(parent, current, way)
        current = parent


def _clauses(parent: cst.Try | cst.TryStar, current: cst.CSTNode, way: str) -> Iterator[Statement]:
    """What the other clauses of a ``try`` run after one of them was left."""
    if current is parent.body:
        if not way and parent.orelse is not None:
            yield from _lines(parent.orelse.body)
        if way == "raise":
            for handler in parent.handlers:
                yield from _lines(handler.body)
    if parent.finalbody is not None and current is not parent.finalbody:
        yield from _lines(parent.finalbody.body)


def _way(statement: cst.CSTNode) -> str:
    if isinstance(statement, cst.SimpleStatementLine):
        for small in statement.body:
            if isinstance(small, _LEAVING):
                return type(small).__name__.lower()
    return "raise"  # by several ways: the one after which most may run


def _lines(block: cst.CSTNode) -> list[Statement]:
    return list(block.body) if isinstance(block, cst.IndentedBlock) else []
