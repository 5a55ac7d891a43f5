"""A blocking borrow from a bounded pool has no timeout (opt-in).

When every object is out, the borrower waits for ever, and with it whoever waits for the borrower.  A timeout turns a
hang into an error that names its cause.

Bad:

    import queue
    import sqlite3

    _pool = queue.Queue(maxsize=4)
    for _ in range(4):
        _pool.put(sqlite3.connect("orders.db", check_same_thread=False))

    def orders():
        conn = _pool.get()
        try:
            return conn.execute("SELECT * FROM orders").fetchall()
        finally:
            conn.rollback()
            _pool.put(conn)

Good:

    import queue
    import sqlite3

    _pool = queue.Queue(maxsize=4)
    for _ in range(4):
        _pool.put(sqlite3.connect("orders.db", check_same_thread=False))

    def orders():
        conn = _pool.get(timeout=10)
        try:
            rows = conn.execute("SELECT * FROM orders").fetchall()
        except BaseException:
            conn.close()
            _pool.put(sqlite3.connect("orders.db", check_same_thread=False))
            raise
        _pool.put(conn)
        return rows
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.bounds.waiting import waiting
from pool_lint.rules.base import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL405",
    name="borrow-without-timeout",
    message="the borrow from '{pool}' waits without end when all are out: {remedy}",
    cwe=833,
    opt_in=True,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such borrow."""
    for each in waiting(module.bounds, module.outcomes):
        remedy = f"give it '{each.param}'" if each.param else "put it under asyncio.timeout or asyncio.wait_for"
        yield RULE.at(each.site.line, each.site.col, pool=each.site.pool or "the pool", remedy=remedy)
