"""Print findings as a GitLab Code Quality report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.report import level_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pool_lint.report import Outcome, Reported

_SEVERITY = {"error": "major", "warning": "minor", "note": "info"}


def emit(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the report."""
    issues = [_issue(outcome.path, each) for outcome in outcomes for each in outcome.reported]
    yield json.dumps(issues, indent=2) + "\n"


def _issue(path: str, each: Reported) -> dict[str, object]:
    finding = each.finding
    return {
        "description": f"{finding.code} {finding.message}",
        "check_name": finding.code,
        "fingerprint": each.anchor.fingerprint,
        "severity": _SEVERITY[level_of(finding.code)],
        "location": {
            "path": Path(path).as_posix(),
            "lines": {"begin": finding.line, "end": max(finding.line, each.anchor.end_line)},
        },
    }
