"""The pooled objects are immutable.

Nobody can change them, so nobody needs one of their own: all can share one, without borrowing it.

Bad:

    import queue

    _words: queue.Queue[frozenset[str]] = queue.Queue()
    for _ in range(4):
        _words.put(frozenset(("a", "an", "the")))

    def without_articles(text):
        words = _words.get()
        try:
            return [word for word in text.split() if word not in words]
        finally:
            _words.put(words)

Good:

    _WORDS = frozenset(("a", "an", "the"))

    def without_articles(text):
        return [word for word in text.split() if word not in _WORDS]
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
    code="POL304",
    name="immutable-pooled",
    message="the objects of '{pool}' are immutable ({kind}): let all share one instead of borrowing it",
    cwe=1176,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such pool."""
    for worth in module.worth(RULE.code):
        yield worth_finding(RULE, worth)
