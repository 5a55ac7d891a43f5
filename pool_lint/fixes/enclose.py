"""Put what is done with an object into ``try``/``finally``, or into ``with`` where leaving that returns it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes import give_back
from pool_lint.fixes.candidate import Candidate
from pool_lint.fixes.code import Block, Statement, line_of, mentions, walk
from pool_lint.fixes.doubt import doubt_of
from pool_lint.fixes.region import anchor_of, derived_names, is_steady, region_of, until_next
from pool_lint.fixes.tidy import Tidy, leading, with_leading
from pool_lint.fixes.withs import fits_with, keyword_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.fixes.case import Borrow, Case
    from pool_lint.fixes.give_back import GiveBack
    from pool_lint.fixes.region import Region


def enclosed(case: Case) -> Iterator[Candidate]:
    """Candidates that return the object at one place, which every path passes."""
    borrow = case.borrow()
    if borrow is None or borrow.site.transferred or "." in borrow.handle:
        return
    borrow = until_next(case.code, borrow)
    if borrow.exits:
        return
    back = give_back.written(case, borrow) if borrow.releases else give_back.known(case, borrow)
    found = anchor_of(case.code, borrow) if back is not None else None
    if back is None or found is None:
        return
    if not borrow.releases and not any(mentions(each, borrow.handle) for each in found[0].body[found[1] + 1 :]):
        yield _at_once(case, found, back)
        return
    seen: set[int] = set()
    for names in ({borrow.handle}, derived_names(borrow, *found)):
        region = region_of(case.code, borrow, *found, names)
        if region.stop in seen or not (region.statements and is_steady(case.code, borrow, region, back)):
            continue
        seen.add(region.stop)
        doubt = doubt_of(case, borrow, region, back)
        if fits_with(case, borrow, region, back):
            yield _with(case, borrow, region, doubt)
        yield _finally(case, borrow, region, back, doubt)


def _at_once(case: Case, place: tuple[Block, int], back: GiveBack) -> Candidate:
    """The return right after the borrow of an object that nothing is done with."""
    block, index = place
    text = case.code.with_statements(block, index + 1, index + 1, [line_of(back.text)]).code
    doubt = "" if back.sure else give_back.GUESS
    return _candidate("return it at once, since it is not used", text, doubt)


def _finally(case: Case, borrow: Borrow, region: Region, back: GiveBack, doubt: str) -> Candidate:
    final = line_of(back.text)
    region = _past_inert(region)
    last = region.last
    whole: cst.BaseStatement = final
    if last is not None:
        whole = last.unit.deep_clone()
        whole = whole.with_changes(leading_lines=[line for line in leading(whole) if line.comment is not None])
    elif borrow.releases and not isinstance(borrow.releases[0].unit, cst.SimpleStatementLine):
        whole = borrow.releases[0].unit.deep_clone().with_changes(leading_lines=[])
    if region.guarded:
        test = cst.parse_expression(f"{borrow.handle} is not None")
        whole = cst.If(test=test, body=cst.IndentedBlock(body=[whole]))
    enclosure = cst.Try(
        leading_lines=[line for line in leading(region.statements[0]) if line.comment is None],
        body=_body(borrow, region),
        finalbody=cst.Finally(body=cst.IndentedBlock(body=[whole])),
    )
    text = _rendered(case, borrow, region, enclosure)
    return _candidate(f"return the {borrow.site.spec.item} in a finally", text, doubt)


def _past_inert(region: Region) -> Region:
    """The region without the assignments of literals that it begins with: they cannot fail."""
    start = region.start
    while start < region.stop - 1 and _is_inert(region.block.body[start]):
        start += 1
    return replace(region, start=start)


def _is_inert(statement: Statement) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return all(
        isinstance(small, (cst.Assign, cst.AnnAssign)) and all(isinstance(part, _LITERAL) for part in walk(small))
        if not isinstance(small, cst.AnnAssign)
        else isinstance(small.target, cst.Name)
        and small.value is not None
        and all(isinstance(part, _LITERAL) for part in walk(small.value))
        for small in statement.body
    )


_LITERAL = (
    cst.Assign, cst.AssignTarget, cst.Name, cst.Tuple, cst.List, cst.Dict, cst.Element, cst.DictElement, cst.Integer,
    cst.Float, cst.SimpleString, cst.Comma, cst.LeftParen, cst.RightParen, cst.LeftSquareBracket,
    cst.RightSquareBracket, cst.LeftCurlyBrace, cst.RightCurlyBrace, cst.BaseParenthesizableWhitespace, cst.Semicolon,
    cst.MaybeSentinel, cst.AssignEqual,
)  # fmt: skip


def _with(case: Case, borrow: Borrow, region: Region, doubt: str) -> Candidate:
    callee = case.module.file.resolver.callee(borrow.site.call, borrow.follow.function) if borrow.site.call else None
    form = callee.borrow if callee is not None else None
    keyword = keyword_of(borrow, form) if form is not None else "with"
    item = cst.WithItem(
        item=borrow.call if form is not None and keyword in form.ways else borrow.value,
        asname=cst.AsName(name=cst.Name(borrow.handle)),
    )
    entered = cst.With(
        items=[item],
        # the comment behind the borrow stands behind the ``with`` then
        body=_body(borrow, region).with_changes(header=borrow.statement.trailing_whitespace),
        asynchronous=cst.Asynchronous() if keyword == "async with" else None,
        leading_lines=borrow.statement.leading_lines,
    )
    text = _rendered(case, borrow, replace(region, start=region.borrow), entered)
    return _candidate(f"borrow the {borrow.site.spec.item} in '{keyword}'", text, doubt)


def _rendered(case: Case, borrow: Borrow, region: Region, enclosure: cst.Try | cst.With) -> str:
    stop = region.stop + (1 if region.last is not None else 0)
    module = case.code.with_statements(region.block, region.start, stop, [enclosure])
    removed = [*(each.unit for each in borrow.releases), *region.dropped]
    return module.visit(Tidy(removed, enclosure)).code


def _body(borrow: Borrow, region: Region) -> cst.IndentedBlock:
    """The statements of a region as a block that does not begin with a blank line."""
    first, *others = region.statements
    if not any(first is each for release in borrow.releases for each in (release.unit, release.guard)):
        first = with_leading(first, [line for line in leading(first) if line.comment is not None])
    return cst.IndentedBlock(body=[first, *others])


def _candidate(title: str, text: str, doubt: str) -> Candidate:
    kept = "the normal path does the same, and the object is returned on every path"
    return Candidate(title, text, safe=not doubt, reason=doubt or kept)
