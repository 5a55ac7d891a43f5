"""Why somebody should look at a fix before it is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes import give_back
from pool_lint.fixes.case import borrow_of
from pool_lint.fixes.code import NESTED, Statement, is_handle, mentions, walk
from pool_lint.fixes.quiet import Quiet, leaves

if TYPE_CHECKING:
    from pool_lint.fixes.case import Borrow, Case
    from pool_lint.fixes.code import Code
    from pool_lint.fixes.give_back import GiveBack
    from pool_lint.fixes.region import Region


def doubt_of(case: Case, borrow: Borrow, region: Region, back: GiveBack) -> str:
    """Why somebody should look before the fix is applied; "" where the normal path keeps its meaning."""
    code = case.code
    if not back.sure:
        return give_back.GUESS
    skipped = _returns_of_all(case, borrow)
    quiet = Quiet(case.module.file.catalog)
    for release in borrow.releases:
        unit = release.guard or release.unit
        if release is region.last or not code.within(unit, region.block):
            continue
        late = quiet.after(code, unit, region.block, skipped)
        if late is not None and code.within(late, region.block):
            return f"the object is kept longer: what begins on line {code.line(late)} now runs before it is returned"
        if release.guard is None and _is_conditional(code, unit, region):
            return f"the return on line {code.line(unit)} depended on a condition; now the object is always returned"
    for statement in region.statements:
        for node in walk(statement):
            if isinstance(node, NESTED) and mentions(node, borrow.handle):
                return "a function or class made meanwhile refers to the object and may outlive the return"
            if _closes(node, borrow) and not any(code.within(node, each.unit) for each in borrow.releases):
                return "the object is closed before it is returned; whether the pool takes it so must be known"
    return ""


def _returns_of_all(case: Case, borrow: Borrow) -> set[int]:
    """The statements that return this object or another one of the function."""
    skipped = {id(node) for each in borrow.releases for node in (each.unit, each.guard or each.unit)}
    for site in borrow.follow.sites:
        other = borrow_of(case.code, borrow.follow, site) if site.call is not None else None
        for each in other.releases if other is not None else ():
            skipped.update((id(each.unit), id(each.guard or each.unit)))
    return skipped


def _closes(node: cst.CSTNode, borrow: Borrow) -> bool:
    """Whether a node closes the object, so that what goes back is not what came."""
    spec = borrow.site.spec
    if isinstance(node, cst.WithItem):
        return spec.with_object == "closes" and is_handle(node.item, borrow.handle)
    func = node.func if isinstance(node, cst.Call) else None
    return (
        isinstance(func, cst.Attribute)
        and is_handle(func.value, borrow.handle)
        and func.attr.value in ("close", "disconnect", "terminate", "aclose", "shutdown", "quit")
        and not spec.reconnects
    )


def _is_conditional(code: Code, unit: Statement, region: Region) -> bool:
    """Whether the region goes on after a branch that returned the object."""
    current: cst.CSTNode = unit
    branched = False
    for parent in code.ancestors(unit):
        if parent is region.block:
            return branched
        if isinstance(parent, cst.IndentedBlock):
            position = next(i for i, each in enumerate(parent.body) if each is current)
            if any(leaves(each) for each in parent.body[position + 1 :]):
                return False
        branched = branched or isinstance(parent, (cst.If, cst.MatchCase, cst.For, cst.While))
        current = parent
    return False
