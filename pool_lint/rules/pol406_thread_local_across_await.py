"""An object of a thread-local pool is held across an await.

All tasks of an event loop run on one thread.  While this one waits, another gets the very same object, and their
transactions, cursors or buffers mix.

Bad:

    import sqlite3
    import threading

    _local = threading.local()

    def connection():
        if not hasattr(_local, "conn"):
            _local.conn = sqlite3.connect("orders.db")
        return _local.conn

    async def pay(order, charge):
        conn = connection()
        receipt = await charge(order)
        conn.execute("UPDATE orders SET receipt = ? WHERE id = ?", (receipt, order))
        conn.commit()

Good:

    import sqlite3
    import threading

    _local = threading.local()

    def connection():
        if not hasattr(_local, "conn"):
            _local.conn = sqlite3.connect("orders.db")
        return _local.conn

    async def pay(order, charge):
        receipt = await charge(order)
        conn = connection()
        conn.execute("UPDATE orders SET receipt = ? WHERE id = ?", (receipt, order))
        conn.commit()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.bounds.locals import ThreadLocals
from pool_lint.rules.base import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL406",
    name="thread-local-across-await",
    message="'{name}' belongs to the thread and is held across the await on line {line}, where another task gets it: "
    "take one for each task, or take it after the await",
    cwe=362,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such borrow."""
    for each in ThreadLocals(module.bounds).held_across():
        yield RULE.at(each.at.line, each.at.col, function=each.function.qualname, name=each.name, line=each.await_line)
