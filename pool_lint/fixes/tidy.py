"""Take statements out of a tree, and with them the ``try``, ``if`` and handlers that have lost their purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PURE = (
    cst.Name, cst.Attribute, cst.Comparison, cst.ComparisonTarget, cst.UnaryOperation, cst.Not, cst.Is, cst.IsNot,
    cst.BooleanOperation, cst.And, cst.Or, cst.NotEqual, cst.Equal, cst.BaseParenthesizableWhitespace, cst.LeftParen,
    cst.RightParen, cst.Integer, cst.EmptyLine, cst.TrailingWhitespace, cst.Newline, cst.Comment,
)  # fmt: skip


_WATCHED = (cst.ExceptHandler, cst.ExceptStarHandler, cst.Try, cst.TryStar, cst.If)


class Tidy(cst.CSTTransformer):
    """Removes nodes by identity; ``enclosure`` is a new ``try`` that may become one with the only one in its body."""

    def __init__(self, removed: Iterable[cst.CSTNode], enclosure: cst.CSTNode | None = None) -> None:
        super().__init__()
        self._removed = {id(node) for node in removed}
        self._enclosure = enclosure
        self._taken = 0  # how many were removed so far
        self._before: list[int] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Leave what is removed unseen."""
        if isinstance(node, _WATCHED):
            self._before.append(self._taken)
        return id(node) not in self._removed

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Decide what becomes of a node whose parts are done."""
        changed = False
        if isinstance(original_node, _WATCHED):
            changed = self._taken > self._before.pop()
        if id(original_node) in self._removed:
            self._taken += 1
            return cst.RemoveFromParent()
        if isinstance(updated_node, (cst.Try, cst.TryStar)):
            return self._try(original_node, updated_node, changed=changed)
        if not changed:
            return updated_node
        if isinstance(updated_node, cst.If):
            if isinstance(updated_node.orelse, cst.Else) and is_empty(updated_node.orelse.body):
                updated_node = updated_node.with_changes(orelse=None)
            gone = is_empty(updated_node.body) and updated_node.orelse is None and is_pure(updated_node.test)
            return cst.RemoveFromParent() if gone else updated_node
        if isinstance(updated_node, cst.ExceptHandler) and only_reraises(updated_node):
            # Kept with a mark: whether it may go is known when the handlers after it are.
            return updated_node.with_changes(leading_lines=_MARK)
        return updated_node

    def _try(
        self, original: cst.CSTNode, updated: cst.Try | cst.TryStar, *, changed: bool
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        if original is self._enclosure:
            return _merged(updated) if isinstance(updated, cst.Try) else updated
        if not changed:
            return updated
        handlers = list(updated.handlers)
        while handlers and _is_marked(handlers[-1]):
            handlers.pop()
        handlers = [each.with_changes(leading_lines=()) if _is_marked(each) else each for each in handlers]
        if updated.finalbody is not None and is_empty(updated.finalbody.body):
            # A ``try`` needs one or the other at all times.
            stand_in = [cst.ExceptHandler(body=cst.IndentedBlock(body=[]))]
            updated = updated.with_changes(handlers=handlers or stand_in, finalbody=None)
        if updated.orelse is not None and is_empty(updated.orelse.body):
            updated = updated.with_changes(orelse=None)
        if handlers or updated.finalbody is not None:
            if not handlers and updated.orelse is not None and isinstance(updated.orelse.body, cst.IndentedBlock):
                body = [*_statements(updated.body), *_statements(updated.orelse.body)]
                return updated.with_changes(handlers=(), orelse=None, body=cst.IndentedBlock(body=body))
            return updated.with_changes(handlers=handlers)
        body = [*_statements(updated.body), *(_statements(updated.orelse.body) if updated.orelse is not None else ())]
        if not body:
            return updated.with_changes(finalbody=cst.Finally(body=cst.IndentedBlock(body=[])))
        body[0] = with_leading(body[0], [*updated.leading_lines, *leading(body[0])])
        return cst.FlattenSentinel(body)


def with_leading(statement: cst.BaseStatement, lines: Sequence[cst.EmptyLine]) -> cst.BaseStatement:
    """A statement with other lines before it."""
    return statement.with_changes(leading_lines=list(lines))


def leading(statement: cst.BaseStatement) -> Sequence[cst.EmptyLine]:
    """The blank lines and comments before a statement."""
    found: Sequence[cst.EmptyLine] = getattr(statement, "leading_lines", ())
    return found


def is_empty(suite: cst.BaseSuite) -> bool:
    """Whether a block has no statement left."""
    return isinstance(suite, cst.IndentedBlock) and not suite.body


def only_reraises(handler: cst.ExceptHandler) -> bool:
    """Whether a handler is nothing but a bare ``raise``."""
    statements = handler.body.body
    if not isinstance(handler.body, cst.IndentedBlock) or len(statements) != 1 or leading_comments(statements[0]):
        return False
    return is_bare_raise(statements[0])


def is_bare_raise(statement: cst.CSTNode) -> bool:
    """Whether a statement is ``raise`` and nothing else."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    return isinstance(small, cst.Raise) and small.exc is None


def leading_comments(statement: cst.CSTNode) -> list[cst.EmptyLine]:
    """The comment lines right before a statement."""
    return [line for line in getattr(statement, "leading_lines", ()) if line.comment is not None]


def is_pure(test: cst.CSTNode) -> bool:
    """Whether evaluating a test has no effect: names, constants and what compares them."""
    return isinstance(test, _PURE) and all(is_pure(child) for child in test.children)


_MARK = (cst.EmptyLine(comment=cst.Comment("# re-raises")),)


def _is_marked(handler: cst.CSTNode) -> bool:
    return tuple(getattr(handler, "leading_lines", ())) == _MARK


def _statements(suite: cst.BaseSuite) -> list[cst.BaseStatement]:
    return list(suite.body) if isinstance(suite, cst.IndentedBlock) else []


def _merged(enclosure: cst.Try) -> cst.Try | cst.TryStar:
    """An enclosing ``try`` as the ``finally`` of the ``try`` that is all of its body."""
    statements = _statements(enclosure.body)
    if len(statements) == 1:
        inner = statements[0]
        if isinstance(inner, (cst.Try, cst.TryStar)) and inner.finalbody is None:
            lines = [*enclosure.leading_lines, *inner.leading_lines]
            return inner.with_changes(finalbody=enclosure.finalbody, leading_lines=lines)
    return enclosure
