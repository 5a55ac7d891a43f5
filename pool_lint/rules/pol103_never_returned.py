"""A borrowed object is never returned.

No path gives it back or hands it on: it is forgotten, its only name is overwritten, the call's result is thrown
away, or it is closed in a way that keeps its slot in the pool taken.

Bad:

    from contextlib import closing

    from psycopg2.pool import ThreadedConnectionPool

    def names(pool: ThreadedConnectionPool):
        with closing(pool.getconn()) as conn:
            cur = conn.cursor()
            cur.execute("SELECT name FROM species")
            return cur.fetchall()

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
    code="POL103",
    name="never-returned",
    message="{item} borrowed from '{pool}' is never returned: {remedy}",
    cwe=772,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such borrow."""
    for verdict in module.verdicts:
        if verdict.kind == "never":
            yield loss_finding(RULE, verdict)
