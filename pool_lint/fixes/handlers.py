"""Handlers that return the object: catch cancellation too, or add one where the object is handed on at the end."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes import give_back
from pool_lint.fixes.candidate import Candidate
from pool_lint.fixes.code import Block, line_of, mentions, walk, walk_here
from pool_lint.fixes.quiet import Quiet
from pool_lint.fixes.tidy import is_bare_raise, leading, with_leading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.fixes.case import Borrow, Case
    from pool_lint.fixes.code import Code

_MOST = 6
_LEAVES_OTHERWISE = (cst.Return, cst.Continue, cst.Break)


def widened(case: Case) -> Iterator[Candidate]:
    """``except BaseException`` for ``except Exception`` in handlers that return the object and raise again."""
    borrow = case.borrow()
    if borrow is None:
        return
    for handler in _handlers(case.code, borrow):
        if case.code.within(borrow.statement, case.code.parents[handler]):
            continue  # it would run for a borrow that failed, too
        name = next((node for node in walk(handler.type) if _is_exception(node)), None) if handler.type else None
        if name is None:
            continue
        again = _raises_again(handler)
        text = case.code.replaced(name, cst.Name("BaseException")).code
        doubt = "" if again else "the handler does not raise the cancellation again, so the task would go on"
        yield Candidate(
            "catch BaseException, which cancellation is",
            text,
            safe=again,
            reason=doubt or "the handler raises again what it catches, and now cancellation too",
        )


def _is_exception(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "Exception"


def _handlers(code: Code, borrow: Borrow) -> Iterator[cst.ExceptHandler]:
    """The handlers that return the object, each once."""
    seen: set[int] = set()
    for release in borrow.releases:
        for node in code.ancestors(release.unit):
            if isinstance(node, cst.ExceptHandler) and id(node) not in seen and code.within(node, borrow.function):
                seen.add(id(node))
                yield node
    for node in walk_here(borrow.function.body):
        if isinstance(node, cst.ExceptHandler) and id(node) not in seen and mentions(node.body, borrow.handle):
            yield node


def _raises_again(handler: cst.ExceptHandler) -> bool:
    """Whether a handler ends in a bare ``raise`` on all its ways."""
    body = handler.body
    if not isinstance(body, cst.IndentedBlock) or not is_bare_raise(body.body[-1]):
        return False
    return not any(
        isinstance(node, _LEAVES_OTHERWISE) or (isinstance(node, cst.Raise) and node.exc is not None)
        for node in walk_here(body)
    )


def added(case: Case) -> Iterator[Candidate]:
    """A last handler for a ``try`` whose other handlers are too narrow; the rest stays as it is."""
    borrow = case.borrow()
    back = give_back.plain(case, borrow) if borrow is not None else None
    if borrow is None or back is None:
        return
    for node in walk_here(borrow.function.body):
        if not isinstance(node, cst.Try) or not node.handlers or not mentions(node, borrow.handle):
            continue
        if case.code.within(borrow.statement, node):
            continue  # it would run for a borrow that failed, too
        if any(handler.type is None or "BaseException" in case.code.text(handler.type) for handler in node.handlers):
            continue
        new = node.with_changes(handlers=[*node.handlers, _handler(back.text)])
        yield Candidate(
            "return it in a handler for every other exception",
            case.code.replaced(node, new).code,
            safe=back.sure,
            reason="only paths on which the object was lost change" if back.sure else give_back.GUESS,
        )


def _handler(text: str) -> cst.ExceptHandler:
    return cst.ExceptHandler(
        type=cst.Name("BaseException"),
        body=cst.IndentedBlock(body=[line_of(text), line_of("raise")]),
    )


def guarded(case: Case) -> Iterator[Candidate]:
    """``try`` with a handler that returns the object, from after the borrow to where it is handed on or returned."""
    borrow = case.borrow()
    back = give_back.plain(case, borrow) if borrow is not None else None
    block = case.code.block(borrow.statement) if borrow is not None else None
    if borrow is None or back is None or block is None or (case.verdict is not None and case.verdict.where):
        return
    start = next(i for i, each in enumerate(block.body) if each is borrow.statement) + 1
    windows = [each for each in _windows(case, borrow, block, start) if each[0] < each[1]]
    for window in windows:
        yield _guard(case, block, [window], back)
    if len(windows) > 1 and borrow.releases:
        yield _guard(case, block, windows, back)


def _windows(case: Case, borrow: Borrow, block: Block, start: int) -> list[tuple[int, int]]:
    """The statements that may be guarded: runs that return nothing, up to where the object is handed on or returned."""
    units = [each.guard or each.unit for each in borrow.releases]
    used = [i for i in range(start, len(block.body)) if mentions(block.body[i], borrow.handle)]
    quiet = Quiet(case.module.file.catalog)
    if "." in borrow.handle:
        # Once the method is over, the object is reached through ``self``.
        ends = [i for i in range(start, len(block.body)) if not quiet.statement(block.body[i])]
        return [(start, ends[-1] + 1)] if ends and borrow.site.transferred and not units else []
    if not used:
        return []
    last = used[-1]
    if not units and not borrow.site.transferred:
        # Something else returns it from some statement on: which one, the analysis tells.
        return [(start, stop) for stop in range(start + 1, min(last + 1, start + _MOST))]
    if not units:
        statement = block.body[last]
        if not isinstance(statement, cst.SimpleStatementLine):
            return []
        plain = isinstance(statement.body[0], cst.Return) and quiet.statement(statement)
        return [*([(start, last)] if plain else []), (start, last + 1)]
    returning = [i for i in range(start, last + 1) if any(case.code.within(unit, block.body[i]) for unit in units)]
    bounds = [start - 1, *returning, last + 1]
    return [(low + 1, high) for low, high in pairwise(bounds)] + (
        [(start, last + 1)] if borrow.site.transferred else []
    )


def _guard(case: Case, block: Block, windows: list[tuple[int, int]], back: give_back.GiveBack) -> Candidate:
    body: list[cst.BaseStatement] = list(block.body)
    for start, stop in sorted(windows, reverse=True):
        statements = body[start:stop]
        blanks = [line for line in leading(statements[0]) if line.comment is None]
        rest = [line for line in leading(statements[0]) if line.comment is not None]
        statements[0] = with_leading(statements[0], rest)
        body[start:stop] = [
            cst.Try(body=cst.IndentedBlock(body=statements), handlers=[_handler(back.text)], leading_lines=blanks)
        ]
    text = case.code.replaced(block, block.with_changes(body=body)).code
    reason = "only paths on which the object was lost change"
    doubt = "" if back.sure else give_back.GUESS
    return Candidate("return it in a handler before the error goes on", text, safe=not doubt, reason=doubt or reason)
