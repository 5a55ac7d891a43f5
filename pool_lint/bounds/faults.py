"""The faults of home-made pools of connections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, eq=False)
class Unbounded:
    """A pool without a limit.

    ``how`` it grows: it opens one whenever none is idle (``empty``; ``kept`` where only those are limited that it
    keeps), for every new key of a mapping (``keys``) or argument of a function (``arguments``).  ``opens`` names what
    is opened.
    """

    line: int
    col: int
    how: Literal["empty", "kept", "keys", "arguments"]
    pool: str
    opens: str


@dataclass(frozen=True, slots=True, eq=False)
class Dropped:
    """A container of connections that drops them without closing; ``what`` says which, up to the word for dropping."""

    line: int
    col: int
    what: str
    opens: str
