"""Print findings as JSON of pool_lint's own, with all that is known of each; the README describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint import __version__
from pool_lint.report import level_of
from pool_lint.rules import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pool_lint.finding import Fix
    from pool_lint.report import Outcome, Reported

SCHEMA = 1


def emit(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the report."""
    names = {rule.code: rule.name for rule in load_rules()}
    findings: list[dict[str, object]] = []
    errors: list[dict[str, str]] = []
    for outcome in outcomes:
        path = Path(outcome.path).as_posix()
        findings.extend({"path": path, **_record(each, names)} for each in outcome.reported)
        if outcome.error:
            errors.append({"path": path, "message": outcome.error})
    report = {"schema": SCHEMA, "version": __version__, "findings": findings, "errors": errors}
    yield json.dumps(report, indent=2) + "\n"


def _record(each: Reported, names: dict[str, str]) -> dict[str, object]:
    finding = each.finding
    return {
        "line": finding.line,
        "column": finding.column + 1,
        "code": finding.code,
        "name": names.get(finding.code, ""),
        "level": level_of(finding.code),
        "message": finding.message,
        "function": each.anchor.function,
        "statement": each.anchor.statement,
        "fingerprint": each.anchor.fingerprint,
        "steps": [{"line": step.line, "text": step.text} for step in finding.witness],
        "fix": _fix(each.fix) if each.fix is not None else None,
    }


def _fix(fix: Fix) -> dict[str, object]:
    return {
        "title": fix.title,
        "safe": fix.safe,
        "reason": fix.reason,
        "edits": [
            {
                "line": edit.line,
                "column": edit.column + 1,
                "end_line": edit.end_line,
                "end_column": edit.end_column + 1,
                "text": edit.text,
            }
            for edit in fix.edits
        ],
    }
