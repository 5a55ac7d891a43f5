"""Resetting a pooled object costs more than creating a new one.

The reset alone takes longer than the construction that the pool is there to save.

Bad:

    from collections import deque

    _rows = deque()

    def _give_back(row):
        for i in range(len(row)):
            row[i] = 0
        _rows.append(row)

    def draw(shapes):
        row = _rows.pop() if _rows else bytearray(4096)
        try:
            for shape in shapes:
                shape.draw(row)
            return bytes(row)
        finally:
            _give_back(row)

Good:

    def draw(shapes):
        row = bytearray(4096)
        for shape in shapes:
            shape.draw(row)
        return bytes(row)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.rules.base import Rule
from pool_lint.rules.worths import worth_finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL303",
    name="reset-dearer",
    message=(
        "resetting an object of '{pool}' ({reset}) costs more than creating a new one ({new}; borrow and return "
        "{borrow} with n = {n}, {many} with n = 8, by profile {profile}): create it where it is needed"
    ),
    cwe=1176,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such pool."""
    for worth in module.worth(RULE.code):
        yield worth_finding(RULE, worth)
