"""The libcst tree of a file as fixes need it: where nodes stand, what is around them, new trees with a node changed."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from pool_lint import ir

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from libcst.metadata import CodeRange

Statement = cst.BaseStatement
Block = cst.IndentedBlock
NESTED = (cst.FunctionDef, cst.Lambda, cst.ClassDef)


class Code:
    """One parsed file; nodes are told apart by identity, so that parts of the old tree can stand in a new one."""

    def __init__(self, text: str) -> None:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self._positions: Mapping[cst.CSTNode, CodeRange] = wrapper.resolve(PositionProvider)
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._calls: dict[tuple[int, int], list[cst.Call]] = {}
        for node in walk(self.module):
            for child in node.children:
                self.parents[child] = node
            if isinstance(node, cst.Call):
                start = self._positions[node].start
                self._calls.setdefault((start.line, start.column), []).append(node)

    def line(self, node: cst.CSTNode) -> int:
        """The line on which a node begins."""
        return self._positions[node].start.line

    def text(self, node: cst.CSTNode) -> str:
        """The source of a node, without what is around it."""
        return self.module.code_for_node(node)

    def call(self, wanted: ir.Call) -> cst.Call | None:
        """The call that the analysis names: of several that begin at one place, the one with the same chain."""
        depth = _depth(wanted)
        for call in self._calls.get((wanted.line, wanted.col), ()):
            if _cst_depth(call) == depth:
                return call
        return None

    def calls_at(self, line: int, column: int) -> list[cst.Call]:
        """The calls that begin at one place, the longest first."""
        return self._calls.get((line, column), [])

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What is around a node, from the inside."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def statement(self, node: cst.CSTNode) -> Statement | None:
        """The innermost statement that a node belongs to and that is a line or a compound of its own."""
        for each in (node, *self.ancestors(node)):
            if isinstance(each, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
                return each
            if isinstance(each, (cst.SimpleStatementSuite, cst.Lambda)):
                return None
        return None

    def block(self, statement: Statement) -> Block | None:
        """The indented block that a statement stands in."""
        parent = self.parents.get(statement)
        return parent if isinstance(parent, cst.IndentedBlock) else None

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """The innermost ``def`` around a node."""
        return next((each for each in self.ancestors(node) if isinstance(each, cst.FunctionDef)), None)

    def within(self, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
        """Whether a node is or stands in another."""
        return node is outer or any(each is outer for each in self.ancestors(node))

    def replaced(self, old: cst.CSTNode, new: cst.CSTNode) -> cst.Module:
        """The module with one node exchanged; all nodes that are not around it stay the same ones."""
        for parent in self.ancestors(old):
            old, new = parent, _with_child(parent, old, new)
        if not isinstance(new, cst.Module):
            raise TypeError("the node is not in the module")
        return new

    def with_statements(self, block: Block, start: int, stop: int, new: Sequence[Statement]) -> cst.Module:
        """The module with some statements of a block exchanged."""
        body = [*block.body[:start], *new, *block.body[stop:]]
        return self.replaced(block, block.with_changes(body=body))


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all below it, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def walk_here(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Like `walk`, without what is below functions and classes."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if not isinstance(current, NESTED) or current is node:
            stack.extend(reversed(current.children))


def is_handle(node: cst.CSTNode, handle: str) -> bool:
    """Whether an expression is the handle: a name, or an attribute of a name."""
    if isinstance(node, cst.Name):
        return node.value == handle
    return isinstance(node, cst.Attribute) and dotted(node) == handle


def dotted(node: cst.CSTNode) -> str:
    """``a.b.c`` as text, "" for what is no dotted path."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr.value}" if base else ""
    return ""


def mentions(node: cst.CSTNode, handle: str) -> list[cst.CSTNode]:
    """Where a node reads, binds or deletes the handle."""
    found: list[cst.CSTNode] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if is_handle(current, handle):
            found.append(current)
        elif isinstance(current, (cst.Attribute, cst.Arg)):
            # neither an attribute's name nor a keyword is the handle
            stack.append(current.value)
        else:
            stack.extend(reversed(current.children))
    return found


def bound_names(node: cst.CSTNode) -> set[str]:
    """The names and attributes that a node and what is below it bind."""
    return {name for part in walk(node) for name in binds(part)}


def binds(node: cst.CSTNode) -> Iterator[str]:
    """The names and attributes that a node binds itself."""
    targets: list[cst.CSTNode] = []
    if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr, cst.CompFor)):
        targets = [node.target]
    elif isinstance(node, cst.AsName):
        targets = [node.name]
    elif isinstance(node, cst.Del):
        targets = [node.target]
    elif isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.MatchAs, cst.MatchStar, cst.ImportAlias)):
        targets = [node.name] if node.name is not None else []
    for target in targets:
        yield from _targets(target)


def _targets(target: cst.CSTNode) -> Iterator[str]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _targets(element.value)
    elif isinstance(target, (cst.Name, cst.Attribute)):
        yield dotted(target)


def unawaited(text: str) -> str:
    """A call without the ``await`` before it."""
    return text.removeprefix("await ")


def line_of(text: str) -> cst.SimpleStatementLine:
    """Parse one simple statement."""
    parsed = cst.parse_statement(text)
    if not isinstance(parsed, cst.SimpleStatementLine):
        raise TypeError("not a simple statement")
    return parsed


def _with_child(parent: cst.CSTNode, old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
    for each in fields(parent):
        value = getattr(parent, each.name)
        if value is old:
            return parent.with_changes(**{each.name: new})
        if isinstance(value, (list, tuple)) and any(part is old for part in value):
            return parent.with_changes(**{each.name: [new if part is old else part for part in value]})
    raise ValueError("not a child")


def _depth(expr: ir.Expr) -> tuple[str, ...]:
    """The names and calls from the beginning of an expression: what tells ``a.b()`` from ``a.b().c()``."""
    if isinstance(expr, ir.Call):
        return (*_depth(expr.func), "()")
    if isinstance(expr, ir.Attr):
        return (*_depth(expr.value), expr.name)
    if isinstance(expr, ir.Sub):
        return (*_depth(expr.value), "[]")
    # A name of another module is written as a path.
    return tuple((expr.text or expr.id).split(".")) if isinstance(expr, ir.Name) else ("?",)


def _cst_depth(expr: cst.CSTNode) -> tuple[str, ...]:
    if isinstance(expr, cst.Call):
        return (*_cst_depth(expr.func), "()")
    if isinstance(expr, cst.Attribute):
        return (*_cst_depth(expr.value), expr.attr.value)
    if isinstance(expr, cst.Subscript):
        return (*_cst_depth(expr.value), "[]")
    return (expr.value,) if isinstance(expr, cst.Name) else ("?",)
