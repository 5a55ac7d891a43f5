"""A borrowed object is not returned on a path that leaves without an exception.

A return, break or branch, the end of the function or the next turn of a loop is reached with the object still out,
while another path does return it.

Bad:

    from psycopg2.pool import ThreadedConnectionPool

    def first(pool: ThreadedConnectionPool, query):
        conn = pool.getconn()
        try:
            cur = conn.cursor()
            cur.execute(query)
            row = cur.fetchone()
        except BaseException:
            pool.putconn(conn)
            raise
        if row is None:
            return None
        pool.putconn(conn)
        return row[0]

Good:

    from psycopg2.pool import ThreadedConnectionPool

    def first(pool: ThreadedConnectionPool, query):
        conn = pool.getconn()
        try:
            cur = conn.cursor()
            cur.execute(query)
            row = cur.fetchone()
            return None if row is None else row[0]
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
    code="POL102",
    name="not-returned-on-a-path",
    message="{item} borrowed from '{pool}' is not returned when line {line} leaves: {remedy}",
    cwe=772,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such borrow."""
    for verdict in module.verdicts:
        if verdict.kind == "leaves":
            yield loss_finding(RULE, verdict)
