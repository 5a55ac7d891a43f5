"""What a function does where there may be no object: it asks for None, leaves, or sets the name to None before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes.code import is_handle, walk
from pool_lint.fixes.quiet import block_leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.fixes.case import Borrow


def may_be_none(borrow: Borrow) -> bool:
    """Whether the function takes it that there may be no object."""
    if isinstance(borrow.value, (cst.IfExp, cst.BooleanOperation)):
        return True
    return asks_for(borrow.function, borrow.handle, set())


def sets_none(statement: cst.CSTNode, handle: str) -> bool:
    """Whether a statement is ``handle = None``."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        target, value = small.targets[0].target, small.value
    elif isinstance(small, cst.AnnAssign) and small.value is not None:
        target, value = small.target, small.value
    else:
        return False
    return is_handle(target, handle) and isinstance(value, cst.Name) and value.value == "None"


def is_refusal(statement: cst.CSTNode, handle: str) -> bool:
    """Whether a statement leaves where there is no object: ``if conn is None: return``."""
    if not isinstance(statement, cst.If) or statement.orelse is not None or not block_leaves(statement.body):
        return False
    test = statement.test
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return is_handle(test.expression, handle)
    return (
        _compares_none(test, handle)
        and isinstance(test, cst.Comparison)
        and isinstance(test.comparisons[0].operator, cst.Is)
    )


def _compares_none(test: cst.CSTNode, handle: str) -> bool:
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not is_handle(test.left, handle):
        return False
    target = test.comparisons[0].comparator
    return isinstance(target, cst.Name) and target.value == "None"


def asks_for(statement: cst.CSTNode, handle: str, own: set[int]) -> bool:
    """Whether a statement asks anywhere whether there is an object, other than to return it."""
    for node in walk(statement):
        if isinstance(node, (cst.If, cst.IfExp, cst.While)):
            body = node.body
            alone = isinstance(body, cst.IndentedBlock) and len(body.body) == 1 and id(body.body[0]) in own
            if alone:
                continue
            if any(is_handle(part, handle) or _compares_none(part, handle) for part in _conjuncts(node.test)):
                return True
    return False


def _conjuncts(test: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(test, cst.BooleanOperation):
        yield from _conjuncts(test.left)
        yield from _conjuncts(test.right)
    elif isinstance(test, cst.UnaryOperation):
        yield from _conjuncts(test.expression)
    else:
        yield test
