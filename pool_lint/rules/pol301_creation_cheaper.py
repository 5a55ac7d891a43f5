"""Creating an object costs less than borrowing it from the pool and returning it.

By the profile in force, which `pool-lint calibrate` measures: the pool makes every use slower, and adds the faults
that pools have.  Reported only where the measured intervals are apart, by the setting `margin`.

Bad:

    import queue

    class Token:
        __slots__ = ("kind", "text")

        def __init__(self):
            self.kind = ""
            self.text = ""

    _spare: queue.Queue[Token] = queue.Queue()

    def token(kind, text):
        try:
            new = _spare.get_nowait()
        except queue.Empty:
            new = Token()
        new.kind = kind
        new.text = text
        return new

    def recycle(token):
        _spare.put(token)

Good:

    class Token:
        __slots__ = ("kind", "text")

        def __init__(self, kind, text):
            self.kind = kind
            self.text = text

    def token(kind, text):
        return Token(kind, text)
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
    code="POL301",
    name="creation-cheaper",
    message=(
        "creating an object ({new}) costs less than borrowing it from '{pool}' and returning it "
        "({borrow}{resetting} with n = {n}, {many} with n = 8, by profile {profile}): create it where it is needed"
    ),
    cwe=1176,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such pool."""
    for worth in module.worth(RULE.code):
        yield worth_finding(RULE, worth)
