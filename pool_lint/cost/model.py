"""The arithmetic of break-even: intervals of nanoseconds, and whether two of them are apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Interval:
    """What something costs, in nanoseconds: at least ``low``, most likely ``mid``, at most ``high``."""

    low: float
    mid: float
    high: float

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.mid + other.mid, self.high + other.high)

    def times(self, factor: float) -> Interval:
        """The cost of ``factor`` of them."""
        return Interval(self.low * factor, self.mid * factor, self.high * factor)

    def widened(self, factor: float) -> Interval:
        """The interval with both ends moved away from the middle by a factor."""
        return Interval(self.low / factor, self.mid, self.high * factor)

    def joined(self, other: Interval) -> Interval:
        """The interval that covers both."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Interval(low, math.sqrt(max(self.mid, 0.1) * max(other.mid, 0.1)), high)

    def less(self, other: Interval) -> Interval:
        """What is left when ``other`` is taken off; never less than nothing."""
        return Interval(
            max(self.low - other.high, 0.0), max(self.mid - other.mid, 0.0), max(self.high - other.low, 0.0)
        )


NOTHING = Interval(0.0, 0.0, 0.0)


def total(parts: Iterable[Interval]) -> Interval:
    """The sum of intervals."""
    found = NOTHING
    for part in parts:
        found += part
    return found


def is_below(cheap: Interval, dear: Interval, margin: float) -> bool:
    """Whether one cost is below another: the intervals are apart, and the middles by the margin."""
    return cheap.high < dear.low and cheap.mid * margin <= dear.mid


def written(ns: float) -> str:
    """A duration of ``ns`` nanoseconds as a person reads it, rounded to two significant digits."""
    if ns <= 0:
        return "0 ns"
    exponent = math.floor(math.log10(ns))
    rounded = round(ns, 1 - exponent)
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if rounded >= size:
            value = rounded / size
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"  # noqa: PLR2004 - two digits
    return f"{rounded:.0f} ns" if rounded >= 10 else f"{rounded:.1f} ns"  # noqa: PLR2004 - two digits
