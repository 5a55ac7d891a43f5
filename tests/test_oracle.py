"""A fixed sample of generated functions: what leaks when they run is what the analysis reports."""

from __future__ import annotations

import pytest
from oracle.compare import compare, engine_check, shown

PARTS = 6
PART = 50
FIRST = 1

# Seeds on which the two still differ, each with the shape that the analysis does not follow.
NONE_TESTED_BY_HELPER = "a helper that returns the object tests it for None itself"
COROUTINE_THAT_RETURNS = "awaiting a helper that only returns the object is taken to raise"
DISCARD = "destroying an object is taken to raise"
RETURN_AFTER_USE = "a second return after a use that is reported"
KNOWN = {
    45: NONE_TESTED_BY_HELPER,
    118: NONE_TESTED_BY_HELPER,
    150: NONE_TESTED_BY_HELPER,
    179: NONE_TESTED_BY_HELPER,
    105: COROUTINE_THAT_RETURNS,
    299: COROUTINE_THAT_RETURNS,
    169: DISCARD,
    174: RETURN_AFTER_USE,
}


@pytest.mark.parametrize("part", range(PARTS))
def test_runs_and_reports_agree(part: int) -> None:
    first = FIRST + part * PART
    tally = compare(range(first, first + PART), engine_check)
    differ = [shown(outcome) for outcome in tally.outcomes if outcome.seed not in KNOWN]
    assert not differ, "\n\n".join(differ)
    assert tally.borrows > PART / 2
    assert tally.skipped < PART / 10
