"""Limits that are missing: a parameter with a placeholder, which somebody has to think about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.bounds.waiting import waiting
from pool_lint.fixes.candidate import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.fixes.case import Case

MOST = "10"
SECONDS = "30"


def limited(case: Case) -> Iterator[Candidate]:
    """The parameter that limits a library's pool, with a placeholder."""
    for fault in case.module.bounds.unlimited:
        call = case.code.call(fault.call)
        if call is None or (fault.call.line, fault.call.col) != (case.finding.line, case.finding.column):
            continue
        yield from _with_argument(case, call, fault.param, MOST, "is a placeholder: how many may the server see?")


def timed(case: Case) -> Iterator[Candidate]:
    """The parameter that limits the waiting, with a placeholder."""
    for each in waiting(case.module.bounds, case.module.outcomes):
        place = (each.site.line, each.site.col)
        call = case.code.call(each.site.call) if each.site.call is not None else None
        if call is not None and each.param and place == (case.finding.line, case.finding.column):
            yield from _with_argument(case, call, each.param, SECONDS, "is a placeholder: how long may a caller wait?")


def _with_argument(case: Case, call: cst.Call, name: str, value: str, why: str) -> Iterator[Candidate]:
    new = cst.Arg(
        keyword=cst.Name(name),
        value=cst.parse_expression(value),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    given = next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)
    if given is not None:
        changed = call.with_changes(
            args=[new.with_changes(comma=arg.comma) if arg is given else arg for arg in call.args]
        )
    else:
        args = list(call.args)
        if args and isinstance(args[-1].comma, cst.MaybeSentinel):
            args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        elif args and isinstance(args[-1].comma, cst.Comma):
            # A trailing comma stays one, on a line of its own where it was.
            last = args[-1].comma
            args[-1] = args[-1].with_changes(comma=_inner(call, last))
            new = new.with_changes(comma=last)
        changed = call.with_changes(args=[*args, new])
    text = case.code.replaced(call, changed).code
    yield Candidate(f"set '{name}'", text, safe=False, reason=f"{name}={value} {why}")


def _inner(call: cst.Call, last: cst.Comma) -> cst.Comma:
    """The comma between two arguments, written as those before it."""
    if len(call.args) > 1 and isinstance(call.args[-2].comma, cst.Comma):
        return call.args[-2].comma
    space = call.whitespace_before_args
    return last.with_changes(
        whitespace_after=space if isinstance(space, cst.ParenthesizedWhitespace) else cst.SimpleWhitespace(" ")
    )
