"""A way to mend a finding that has not been tried yet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """The whole text after a fix, what it does, whether it may be applied unseen and why."""

    title: str
    text: str
    safe: bool
    reason: str
