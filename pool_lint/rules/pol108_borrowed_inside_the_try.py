"""The borrow stands inside the `try` whose `finally` or handler returns it.

When the borrow itself fails, the cleanup runs all the same: with a name that was never assigned, with None, or with
the object of the previous turn, which somebody else may hold by then.

Bad:

    from psycopg2.pool import ThreadedConnectionPool

    def rename(pool: ThreadedConnectionPool, query):
        try:
            conn = pool.getconn()
            conn.cursor().execute(query)
        finally:
            pool.putconn(conn)

Good:

    from psycopg2.pool import ThreadedConnectionPool

    def rename(pool: ThreadedConnectionPool, query):
        conn = pool.getconn()
        try:
            conn.cursor().execute(query)
        finally:
            pool.putconn(conn)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.rules.base import Rule
from pool_lint.rules.faults import fault_finding, faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL108",
    name="borrowed-inside-the-try",
    message="'{name}' is returned here even if the borrow on line {borrow} fails, when it is {state}: "
    "borrow before the try",
    cwe=457,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such place."""
    for fault in faults(module, ("unbound", "none", "stale")):
        yield fault_finding(RULE, fault)
