"""A borrowed object is not returned when a statement between borrow and return raises.

Each object that stays out makes the pool smaller by one.  The error that lost it is logged and forgotten; hours
later the pool is empty, far from the line that emptied it.

Bad:

    from psycopg2.pool import ThreadedConnectionPool

    def names(pool: ThreadedConnectionPool):
        conn = pool.getconn()
        cur = conn.cursor()
        cur.execute("SELECT name FROM species")
        rows = cur.fetchall()
        pool.putconn(conn)
        return rows

Good:

    from psycopg2.pool import ThreadedConnectionPool

    def names(pool: ThreadedConnectionPool):
        conn = pool.getconn()
        try:
            cur = conn.cursor()
            cur.execute("SELECT name FROM species")
            return cur.fetchall()
        finally:
            pool.putconn(conn)
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
    code="POL101",
    name="not-returned-on-error",
    message="{item} borrowed from '{pool}' is not returned if line {line} raises: {remedy}",
    cwe=772,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such borrow."""
    for verdict in module.verdicts:
        if verdict.kind == "raises":
            yield loss_finding(RULE, verdict)
