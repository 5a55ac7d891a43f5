"""Print findings as workflow commands, which GitHub Actions shows as annotations beside the lines of a change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.report import level_of
from pool_lint.rules import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pool_lint.report import Outcome, Reported

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def emit(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield one line for each finding and for each file that could not be checked."""
    names = {rule.code: rule.name for rule in load_rules()}
    for outcome in outcomes:
        file = Path(outcome.path).as_posix()
        for each in outcome.reported:
            title = f"{each.finding.code} {names.get(each.finding.code, '')}".rstrip()
            yield _command(_COMMANDS[level_of(each.finding.code)], _where(file, each) | {"title": title}, _text(each))
        if outcome.error:
            yield _command("error", {"file": file, "title": "not checked"}, outcome.error)


def _where(file: str, each: Reported) -> dict[str, object]:
    line, end = each.finding.line, each.anchor.end_line
    where: dict[str, object] = {"file": file, "line": line, "endLine": end}
    # GitHub refuses a column where the annotation covers several lines
    return where if end != line else where | {"col": each.finding.column + 1}


def _text(each: Reported) -> str:
    return "\n".join((each.finding.message, *(f"line {step.line}: {step.text}" for step in each.finding.witness)))


def _command(name: str, properties: dict[str, object], text: str) -> str:
    written = ",".join(f"{key}={_in_property(str(value))}" for key, value in properties.items())
    return f"::{name} {written}::{_in_text(text)}\n"


def _in_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _in_property(text: str) -> str:
    return _in_text(text).replace(":", "%3A").replace(",", "%2C")
