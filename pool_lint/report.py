"""What came of a run: the values that commands give and emitters print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pool_lint.codes import INTERNAL_ERROR, OFF_BY_DEFAULT

if TYPE_CHECKING:
    from pool_lint.finding import Finding, Fix
    from pool_lint.fingerprint import Anchor

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Reported:
    """A finding that is reported, where it stands, and its fix where there is one and somebody asked for it."""

    finding: Finding
    anchor: Anchor
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file: its findings and, where it has any, its text; or what kept it from being checked."""

    path: str
    reported: tuple[Reported, ...] = ()
    text: str = ""
    error: str = ""


def level_of(code: str) -> Level:
    """Return how much a code weighs: what is lost or misused is an error, what is opt-in a note, the rest a warning."""
    if code == INTERNAL_ERROR or code in OFF_BY_DEFAULT:
        return "note"
    return "error" if code.startswith("POL1") else "warning"
