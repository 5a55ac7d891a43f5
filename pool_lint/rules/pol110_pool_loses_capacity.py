"""A pool's own borrow method loses capacity.

It takes a permit, raises a count or pops an object, and then something fails before the object is handed out, with
nothing given back.  Nobody holds anything, and yet the pool has one place less.

Bad:

    import queue

    class Sessions:
        def __init__(self, connect, size):
            self._idle = queue.LifoQueue(maxsize=size)
            for _ in range(size):
                self._idle.put(connect())

        def acquire(self):
            session = self._idle.get(timeout=10)
            session.ping()
            return session

        def release(self, session):
            self._idle.put(session)

Good:

    import queue

    class Sessions:
        def __init__(self, connect, size):
            self._idle = queue.LifoQueue(maxsize=size)
            for _ in range(size):
                self._idle.put(connect())

        def acquire(self):
            session = self._idle.get(timeout=10)
            try:
                session.ping()
            except BaseException:
                self._idle.put(session)
                raise
            return session

        def release(self, session):
            self._idle.put(session)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.rules.base import Rule
from pool_lint.rules.losses import loss_finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL110",
    name="pool-loses-capacity",
    message="'{pool}' loses capacity if line {line} {verb}: give back what was taken before the error goes on",
    cwe=772,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such borrow."""
    for verdict in module.verdicts:
        if verdict.kind == "capacity":
            yield loss_finding(RULE, verdict)
