"""A fixed sample of generated functions: what leaks when they run is what the analysis reports."""

from __future__ import annotations

import pytest
from oracle.compare import compare, engine_check, shown

PARTS = 6
PART = 50
FIRST = 1


@pytest.mark.parametrize("part", range(PARTS))
def test_runs_and_reports_agree(part: int) -> None:
    first = FIRST + part * PART
    tally = compare(range(first, first + PART), engine_check)
    assert not tally.outcomes, "\n\n".join(map(shown, tally.outcomes))
    assert tally.borrows > PART / 2
    assert tally.skipped < PART / 10
