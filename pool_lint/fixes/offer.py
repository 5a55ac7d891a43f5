"""Which fix a finding has: the first candidate that mends it, breaks nothing and, if there is one, is safe."""

from __future__ import annotations

import ast
import logging
import warnings
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.analysis import analyse
from pool_lint.codes import INTERNAL_ERROR, OFF_BY_DEFAULT
from pool_lint.engine import check_text, crashes_are_raised, is_too_long
from pool_lint.finding import Finding, Fix
from pool_lint.fixes.case import Case, case_of
from pool_lint.fixes.code import Code
from pool_lint.fixes.edits import applied, edits_between
from pool_lint.fixes.enclose import enclosed
from pool_lint.fixes.entered import entered, thrown_away
from pool_lint.fixes.handlers import added, guarded, widened
from pool_lint.fixes.leaving import returned_before_leaving, returned_once, returned_to_its_pool
from pool_lint.fixes.limits import limited, timed
from pool_lint.fixes.resets import made_whole, moved_to_finally, reset_before_return
from pool_lint.project.entry import linked_with
from pool_lint.rules import load_rules
from pool_lint.source import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.config import Settings
    from pool_lint.fixes.candidate import Candidate

    Way = Callable[[Case], Iterator[Candidate]]

_WAYS: dict[str, tuple[Way, ...]] = {
    "POL101": (enclosed, guarded, added),
    "POL102": (enclosed, returned_before_leaving),
    "POL103": (enclosed, entered, thrown_away),
    "POL104": (returned_once,),
    "POL105": (enclosed,),
    "POL106": (returned_to_its_pool,),
    "POL107": (widened, enclosed, added, guarded),
    "POL108": (enclosed,),
    "POL201": (reset_before_return,),
    "POL202": (made_whole,),
    "POL203": (moved_to_finally,),
    "POL402": (limited,),
    "POL405": (timed,),
}
FIXABLE = frozenset(_WAYS)
# Without a handler of anybody's, errors go to standard error.
_LOG = logging.getLogger("pool_lint")
# What these write in is a guess: a placeholder, or which of two pools is meant.
NEVER_SAFE = frozenset(("POL106", "POL402", "POL405"))


def fixes_of(
    text: str,
    path: str,
    settings: Settings,
    findings: Iterable[Finding],
    reports: Callable[[str], bool] = lambda code: code not in OFF_BY_DEFAULT,
) -> dict[Finding, Fix]:
    """Return a fix for each of the findings that has one; ``reports`` says of which codes a fix must add none."""
    wanted = [finding for finding in findings if finding.code in FIXABLE]
    if not wanted:
        return {}
    offers = Offers(text, path, settings, check_text(text, path, settings), reports)
    found = {finding: offers.fix(finding) for finding in wanted}
    return {finding: fix for finding, fix in found.items() if fix is not None}


class Offers:
    """The fixes of one text; its analysis is made when the first is asked for."""

    def __init__(
        self,
        text: str,
        path: str,
        settings: Settings,
        findings: Sequence[Finding],
        reports: Callable[[str], bool],
    ) -> None:
        self._text = text
        self._path = path
        self._settings = settings
        self._reports = reports
        self._before = _kinds(findings)
        self._rules = {rule.code: rule for rule in load_rules()}

    @cached_property
    def _code(self) -> Code | None:
        """The tree to edit; None where libcst cannot parse the text."""
        try:
            return None if is_too_long(ast.parse(self._text), self._text) else Code(self._text)
        except (SyntaxError, RecursionError, cst.ParserSyntaxError):
            return None

    @cached_property
    def _module(self) -> ModuleAnalysis:
        tree = parse(self._text).tree
        linked = linked_with(self._text, self._path, self._settings, tree)
        return analyse(tree, self._settings, self._path, linked)

    def applied(self, fix: Fix) -> str:
        """The text after a fix."""
        return applied(self._text, fix.edits)

    def fix(self, finding: Finding) -> Fix | None:
        """The first safe candidate that passes, else the first unsafe one."""
        if finding.code not in _WAYS or self._code is None:
            return None
        try:
            return self._fix(finding)
        except Exception as error:
            if crashes_are_raised():
                raise
            where = f"{self._path}:{finding.line}"
            _LOG.error("pool-lint: %s: no fix of %s, %s: %s", where, finding.code, type(error).__name__, error)
            return None

    def _fix(self, finding: Finding) -> Fix | None:
        second: Fix | None = None
        assert self._code is not None
        case = case_of(finding, self._module, self._code, self._rules)
        for way in _WAYS[finding.code]:
            for candidate in way(case):
                if (second is None or candidate.safe) and self._passes(finding, candidate):
                    edits = edits_between(self._text, candidate.text)
                    fix = Fix(candidate.title, edits, candidate.safe, candidate.reason)
                    if fix.safe:
                        return fix
                    second = fix
        return second

    def _passes(self, finding: Finding, candidate: Candidate) -> bool:
        if candidate.text == self._text or not _parses(candidate.text):
            return False
        after = _kinds(check_text(candidate.text, self._path, self._settings))
        kind = (finding.code, finding.function)
        added = [code for code, _ in after - self._before if code == INTERNAL_ERROR or self._reports(code)]
        return after[kind] < self._before[kind] and not added


def _kinds(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    """How often each code is found in each function: what moves to another line stays the same finding."""
    return Counter((finding.code, finding.function) for finding in findings)


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
        cst.parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, cst.ParserSyntaxError):
        return False
    return True
