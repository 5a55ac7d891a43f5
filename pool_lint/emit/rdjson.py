"""Print findings in reviewdog's diagnostic format, with the safe fixes as suggestions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.finding import merged
from pool_lint.report import level_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pool_lint.report import Outcome, Reported

_SEVERITY = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def emit(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the report."""
    diagnostics: list[dict[str, object]] = []
    for outcome in outcomes:
        lines = outcome.text.split("\n")
        diagnostics.extend(_diagnostic(outcome.path, lines, each) for each in outcome.reported)
    yield json.dumps({"source": {"name": "pool_lint"}, "diagnostics": diagnostics}, indent=2) + "\n"


def _diagnostic(path: str, lines: list[str], each: Reported) -> dict[str, object]:
    finding = each.finding
    steps = [f"line {step.line}: {step.text}" for step in finding.witness]
    diagnostic: dict[str, object] = {
        "message": "\n".join((finding.message, *steps)),
        "location": {
            "path": Path(path).as_posix(),
            "range": {"start": _position(lines, finding.line, finding.column)},
        },
        "severity": _SEVERITY[level_of(finding.code)],
        "code": {"value": finding.code},
    }
    if each.fix is not None and each.fix.safe:
        # several suggestions would be alternatives: a fix is one
        edit = merged(each.fix.edits, "\n".join(lines))
        start = _position(lines, edit.line, edit.column)
        end = _position(lines, edit.end_line, edit.end_column)
        diagnostic["suggestions"] = [{"range": {"start": start, "end": end}, "text": edit.text}]
    return diagnostic


def _position(lines: list[str], line: int, column: int) -> dict[str, int]:
    # reviewdog counts columns in bytes, from 1
    before = lines[line - 1][:column] if line <= len(lines) else ""
    return {"line": line, "column": len(before.encode("utf-8", "surrogatepass")) + 1}
