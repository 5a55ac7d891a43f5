"""A borrowed object is lost when the task is cancelled.

`except Exception` does not stop asyncio.CancelledError (nor trio's and anyio's): a task that is cancelled at an
`await` in between never reaches the return.

Bad:

    import asyncpg

    async def total(pool: asyncpg.Pool):
        conn = await pool.acquire()
        try:
            value = await conn.fetchval("SELECT sum(cents) FROM bills")
        except Exception:
            await pool.release(conn)
            raise
        await pool.release(conn)
        return value

Good:

    import asyncpg

    async def total(pool: asyncpg.Pool):
        conn = await pool.acquire()
        try:
            return await conn.fetchval("SELECT sum(cents) FROM bills")
        finally:
            await pool.release(conn)
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
    code="POL107",
    name="not-returned-on-cancellation",
    message="{item} borrowed from '{pool}' is not returned if the task is cancelled on line {line}: {remedy}",
    cwe=772,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such borrow."""
    for verdict in module.verdicts:
        if verdict.kind == "cancelled":
            yield loss_finding(RULE, verdict)
