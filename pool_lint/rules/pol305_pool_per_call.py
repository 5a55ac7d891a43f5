"""The pool is built inside the function that borrows from it once, and dies with it.

No object is ever borrowed a second time: each call pays for the pool and gets nothing back for it.

Bad:

    from psycopg2.pool import SimpleConnectionPool

    def count(dsn):
        pool = SimpleConnectionPool(1, 4, dsn)
        conn = pool.getconn()
        try:
            with conn.cursor() as cur:
                cur.execute("SELECT count(*) FROM boats")
                return cur.fetchone()[0]
        finally:
            pool.putconn(conn)
            pool.closeall()

Good:

    from psycopg2.pool import SimpleConnectionPool

    pool = SimpleConnectionPool(1, 4, "dbname=harbour")

    def count():
        conn = pool.getconn()
        try:
            with conn.cursor() as cur:
                cur.execute("SELECT count(*) FROM boats")
                return cur.fetchone()[0]
        finally:
            pool.putconn(conn)
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
    code="POL305",
    name="pool-per-call",
    message="'{pool}' is built in each call of {caller}() for one borrow: build it once outside, or do without a pool",
    cwe=1176,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such pool."""
    for worth in module.worth(RULE.code):
        yield worth_finding(RULE, worth)
