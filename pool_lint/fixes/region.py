"""Which statements come under the ``finally``: from the borrow to the last use, in the block where both are seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes.case import assignments
from pool_lint.fixes.code import Block, Statement, binds, dotted, is_handle, mentions, unawaited, walk
from pool_lint.fixes.nothing import asks_for, is_refusal, sets_none
from pool_lint.fixes.quiet import block_leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.fixes.case import Borrow, Release
    from pool_lint.fixes.code import Code
    from pool_lint.fixes.give_back import GiveBack


@dataclass(frozen=True, slots=True)
class Region:
    """The statements of a block that come under the ``finally``: from ``start`` up to before ``stop``.

    ``last`` is the plain return that ends it and becomes the ``finally``; ``borrow`` the index of what borrows.
    """

    block: Block
    borrow: int
    start: int
    stop: int
    last: Release | None
    guarded: bool
    dropped: tuple[Statement, ...] = ()

    @property
    def statements(self) -> list[Statement]:
        """What comes under the ``finally``."""
        return list(self.block.body[self.start : self.stop])


def until_next(code: Code, borrow: Borrow) -> Borrow:
    """The borrow with only the returns up to where its block assigns something else to the handle."""
    end = _end(code, borrow)
    if end is None:
        return borrow
    line = code.line(end)
    block = code.block(end)
    later = block.body[next(i for i, each in enumerate(block.body) if each is end) :] if block is not None else ()
    releases = [each for each in borrow.releases if not any(code.within(each.unit, other) for other in later)]
    return replace(borrow, releases=tuple(releases), exits=tuple(each for each in borrow.exits if each < line))


def _end(code: Code, borrow: Borrow) -> Statement | None:
    """The first statement after the borrow, in its block, that assigns something else to the handle."""
    block = code.block(borrow.statement)
    if block is None:
        return None
    for each in block.body[next(i for i, each in enumerate(block.body) if each is borrow.statement) + 1 :]:
        if isinstance(each, cst.SimpleStatementLine) and len(each.body) == 1:
            for handle, value in assignments(each.body[0]):
                if handle == borrow.handle and not mentions(value, handle):
                    return each
    return None


def derived_names(borrow: Borrow, block: Block, index: int) -> set[str]:
    """The handle and the names given to what its methods return, such as a cursor."""
    names = {borrow.handle}
    for statement in block.body[index + 1 :]:
        for node in walk(statement):
            target = node.targets[0].target if isinstance(node, cst.Assign) and len(node.targets) == 1 else None
            if not isinstance(node, cst.Assign) or not isinstance(target, cst.Name):
                continue
            if any(_calls_method(part, borrow.handle) for part in walk(node.value)):
                names.add(target.value)
    return names


def _calls_method(node: cst.CSTNode, handle: str) -> bool:
    func = node.func if isinstance(node, cst.Call) else None
    return isinstance(func, cst.Attribute) and is_handle(func.value, handle)


def region_of(code: Code, borrow: Borrow, block: Block, index: int, names: set[str]) -> Region:
    """The statements from after the borrow to the last that mentions one of the names."""
    own = {id(each.unit) for each in borrow.releases}
    last_use = index
    end = _end(code, borrow)
    for position in range(index + 1, len(block.body)):
        if block.body[position] is end:
            break
        if any(mentions(block.body[position], name) for name in sorted(names)):
            last_use = position
    start = index + 1
    last: Release | None = None
    stop = last_use + 1
    for release in borrow.releases:
        top = release.guard if release.guard is not None else release.unit
        if last_use > index and block.body[last_use] is top:
            last, stop = release, last_use
    if start < stop and is_refusal(block.body[start], borrow.handle):
        start += 1
    asked = any(asks_for(each, borrow.handle, own) for each in block.body[start:stop])
    choice = isinstance(borrow.value, (cst.IfExp, cst.BooleanOperation))
    guarded = asked or (choice and any(each.guard is not None for each in borrow.releases))
    return Region(block, index, start, stop, last, guarded, tuple(_dropped(code, borrow, block, index)))


def _dropped(code: Code, borrow: Borrow, block: Block, index: int) -> Iterator[Statement]:
    """What loses its meaning: ``del`` of the handle after the borrow, ``handle = None`` before it."""
    other = False
    presets = []
    gone = {id(node) for each in borrow.releases for node in walk(each.guard or each.unit)}
    after = {id(node) for each in block.body[index + 1 :] for node in walk(each)}
    for node in mentions(borrow.function, borrow.handle):
        line = code.statement(node)
        if line is None or id(node) in gone or code.within(node, borrow.statement):
            continue
        if id(node) in after:
            if _is_del(line, borrow.handle):
                yield line
        elif (
            sets_none(line, borrow.handle)
            and code.block(line) is not None
            and code.line(line) < code.line(borrow.statement)
        ):
            presets.append(line)
        else:
            other = True
    if not other:
        yield from presets


def _is_del(statement: cst.CSTNode, handle: str) -> bool:
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    return isinstance(small, cst.Del) and is_handle(small.target, handle)


def anchor_of(code: Code, borrow: Borrow) -> tuple[Block, int] | None:
    """The block in which the object is used, and the index of the statement in it that borrows."""
    current: Statement = borrow.statement
    while True:
        block = code.block(current)
        if block is None:
            return None
        index = next(i for i, each in enumerate(block.body) if each is current)
        around = code.parents[block]
        if not _used_elsewhere(code, borrow, block, index):
            return block, index
        if isinstance(around, (cst.With, cst.Try)) and index == len(block.body) - 1 and around.body is block:
            if isinstance(around, cst.Try):
                if around.finalbody is not None or not all(block_leaves(each.body) for each in around.handlers):
                    return None
                if around.orelse is not None:
                    body = around.orelse.body
                    used = isinstance(body, cst.IndentedBlock) and not _used_elsewhere(code, borrow, body, -1)
                    return (body, -1) if used and isinstance(body, cst.IndentedBlock) else None
            current = around
            continue
        return None


def _used_elsewhere(code: Code, borrow: Borrow, block: Block, index: int) -> bool:
    """Whether the object is used where a ``finally`` at the end of the block would have returned it already."""
    gone = {id(node) for each in borrow.releases for node in walk(each.guard or each.unit)}
    inside = {id(node) for each in block.body[index + 1 :] for node in walk(each)}
    for node in mentions(borrow.function.body, borrow.handle):
        if id(node) in gone or id(node) in inside or code.within(node, borrow.statement):
            continue
        line = code.statement(node)
        if line is not None and sets_none(line, borrow.handle):
            continue
        return True
    return False


def is_steady(code: Code, borrow: Borrow, region: Region, back: GiveBack) -> bool:
    """Whether the names in the return mean the same at the end of the region as at its beginning."""
    names = {part.value for part in walk(cst.parse_expression(unawaited(back.text))) if isinstance(part, cst.Name)}
    paths = {dotted(part) for part in walk(cst.parse_expression(unawaited(back.text)))} - {""}
    for statement in region.statements:
        for node in walk(statement):
            if isinstance(node, (cst.Global, cst.Nonlocal)):
                return False
            if isinstance(node, cst.Del) and is_handle(node.target, borrow.handle):
                continue  # taken out
            for target in binds(node):
                if target in names or target in paths:
                    return False
    removed = [each.unit for each in borrow.releases]
    return all(code.function(unit) is borrow.function for unit in removed)
