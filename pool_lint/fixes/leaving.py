"""Returns that are missing on a way out, stand twice, or go to another pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes import give_back
from pool_lint.fixes.candidate import Candidate
from pool_lint.fixes.case import release_at
from pool_lint.fixes.code import Statement, dotted, mentions, walk, walk_here
from pool_lint.fixes.nothing import may_be_none
from pool_lint.fixes.quiet import Quiet
from pool_lint.fixes.tidy import Tidy, leading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.fixes.case import Borrow, Case, Release
    from pool_lint.fixes.code import Code

_MOST = 8


def returned_before_leaving(case: Case) -> Iterator[Candidate]:
    """The return of the object right before the statement that leaves without it."""
    borrow = case.borrow()
    back = give_back.plain(case, borrow) if borrow is not None and borrow.releases else None
    if borrow is None or back is None:
        return
    units = [each.guard or each.unit for each in borrow.releases]
    places = [
        each
        for each in walk_here(borrow.function.body)
        if isinstance(each, cst.SimpleStatementLine)
        and isinstance(each.body[0], (cst.Return, cst.Continue, cst.Break))
        and case.code.line(each) > case.code.line(borrow.statement)
        and case.code.block(each) is not None
        and _may_follow(case, borrow, each)
        and not _follows_one(case.code, each, units)
    ][:_MOST]
    always = not may_be_none(borrow)
    for chosen in [[place] for place in places] + ([places] if len(places) > 1 else []):
        text = _with_before(case, chosen, back.text if always else f"if {borrow.handle} is not None:\n    {back.text}")
        safe = back.sure
        yield Candidate(
            "return it before leaving",
            text,
            safe=safe,
            reason="only the path on which the object was lost changes"
            if safe
            else "the object goes back in several ways; this is one of them",
        )


def _may_follow(case: Case, borrow: Borrow, statement: cst.SimpleStatementLine) -> bool:
    small = statement.body[0]
    if not isinstance(small, cst.Return) or small.value is None:
        return True
    return Quiet(case.module.file.catalog).expression(small.value) and not mentions(small.value, borrow.handle)


def _follows_one(code: Code, statement: Statement, units: list[Statement]) -> bool:
    block = code.block(statement)
    return block is not None and any(each is unit for each in block.body for unit in units)


def _with_before(case: Case, places: list[cst.SimpleStatementLine], text: str) -> str:
    module = case.code.module
    wanted = {id(place) for place in places}
    return module.visit(_Before(wanted, text)).code


class _Before(cst.CSTTransformer):
    """Puts a statement before others."""

    def __init__(self, wanted: set[int], text: str) -> None:
        super().__init__()
        self._wanted = wanted
        self._text = text

    def leave_SimpleStatementLine(  # noqa: N802 - named for the node
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Flatten a place into two statements."""
        if id(original_node) not in self._wanted:
            return updated_node
        new = cst.parse_statement(self._text).with_changes(leading_lines=leading(updated_node))
        return cst.FlattenSentinel([new, updated_node.with_changes(leading_lines=[])])


def returned_once(case: Case) -> Iterator[Candidate]:
    """One of two returns taken out: the first where a ``finally`` has the second, else the second."""
    second = release_on(case, case.finding.line, case.finding.column)
    if second is None:
        return
    in_finally = any(isinstance(each, cst.Finally) for each in case.code.ancestors(second.unit))
    firsts = [first for first in _releases_on(case, case.first) if first.statement is not second.statement]
    order = [*firsts, second] if in_finally else [second, *firsts]
    quiet = Quiet(case.module.file.catalog)
    for release in order:
        function = case.code.function(release.unit)
        late = None
        if release is not second and function is not None:
            late = quiet.after(case.code, release.unit, function.body, {id(second.unit)})
        if late is not None and case.code.within(second.unit, late):
            late = None
        doubt = _LOST if _is_lost_elsewhere(case) else ""
        doubt = (
            doubt if late is None else f"the object is kept longer: line {case.code.line(late)} runs before its return"
        )
        other = next((each for each in order if each is not release), release)
        if not doubt and case.code.text(release.value) != case.code.text(other.value):
            doubt = "the two returns are not the same call; the one that stays may be the wrong one"
        if (
            not doubt
            and release is second
            and function is not None
            and _is_used_between(case, function, firsts, second)
        ):
            doubt = "the object is used after the first return, so that may be the one that is wrong"
        yield Candidate(
            "return it once",
            case.code.module.visit(Tidy([release.unit])).code,
            safe=not doubt,
            reason=doubt or "the other return stays and every path passes it",
        )


_LOST = "the object is also lost on another path of the function"


def _is_lost_elsewhere(case: Case) -> bool:
    """Whether a borrow of the function is lost on some path: then a return too many may be the one that is needed."""
    return any(each.function is case.follow.function for each in case.module.verdicts if case.follow is not None)


def _is_used_between(case: Case, function: cst.FunctionDef, firsts: list[Release], second: Release) -> bool:
    returns = [*firsts, second]
    names = {name for node in walk(second.value) if isinstance(node, cst.Call) for name in _handles(node)}
    roots = {name for name in names if "." not in name}
    for name in sorted(roots):
        for node in mentions(function.body, name):
            inside = any(case.code.within(node, each.guard or each.unit) for each in returns)
            uses = isinstance(case.code.parents[node], (cst.Attribute, cst.Arg))
            if uses and not inside and case.first < case.code.line(node) < case.finding.line:
                return True
    return False


def release_on(case: Case, line: int, column: int) -> Release | None:
    """The return that begins at a place."""
    for call in case.code.calls_at(line, column):
        for name in _handles(call):
            release = release_at(case.code, call, name)
            if release is not None:
                return release
    return None


def _releases_on(case: Case, line: int) -> Iterator[Release]:
    for node in walk(case.code.module):
        if isinstance(node, cst.Call) and case.code.line(node) == line:
            for name in _handles(node):
                release = release_at(case.code, node, name)
                if release is not None:
                    yield release
                    return


def _handles(call: cst.Call) -> list[str]:
    names = [dotted(arg.value) for arg in call.args]
    if isinstance(call.func, cst.Attribute):
        names.append(dotted(call.func.value))
    return [name for name in names if name]


def returned_to_its_pool(case: Case) -> Iterator[Candidate]:
    """The pool that the object was borrowed from, in place of another one."""
    borrow = case.borrow()
    calls = case.code.calls_at(case.finding.line, case.finding.column)
    own = dotted(borrow.receiver) if borrow is not None and borrow.receiver is not None else ""
    for call in calls:
        func = call.func
        if not isinstance(func, cst.Attribute) or not dotted(func.value) or not own or dotted(func.value) == own:
            continue
        yield Candidate(
            "return it to the pool it came from",
            case.code.replaced(func.value, cst.parse_expression(own)).code,
            safe=False,
            reason="the borrow may name the wrong pool, and not the return",
        )
