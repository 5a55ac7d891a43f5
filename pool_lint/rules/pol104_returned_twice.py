"""A borrowed object is returned twice.

After the first return somebody else may hold it: the second one puts it into the pool while it is in use, and two
threads get the same object.

Bad:

    from psycopg2.pool import ThreadedConnectionPool

    def rename(pool: ThreadedConnectionPool, query):
        conn = pool.getconn()
        try:
            conn.cursor().execute(query)
            pool.putconn(conn)
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
    code="POL104",
    name="returned-twice",
    message="{item} borrowed from '{pool}' is returned again, after line {before}: return it once",
    cwe=675,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such place."""
    for fault in faults(module, ("double",)):
        yield fault_finding(RULE, fault)
