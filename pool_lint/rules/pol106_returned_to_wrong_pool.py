"""A borrowed object is returned to a pool other than the one it came from.

One pool loses a place for good, the other lends connections that lead elsewhere.

Bad:

    import asyncpg

    async def count(primary: asyncpg.Pool, replica: asyncpg.Pool):
        conn = await replica.acquire()
        try:
            return await conn.fetchval("SELECT count(*) FROM tickets")
        finally:
            await primary.release(conn)

Good:

    import asyncpg

    async def count(primary: asyncpg.Pool, replica: asyncpg.Pool):
        conn = await replica.acquire()
        try:
            return await conn.fetchval("SELECT count(*) FROM tickets")
        finally:
            await replica.release(conn)
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
    code="POL106",
    name="returned-to-wrong-pool",
    message="{item} borrowed from '{pool}' is returned to '{went}': return it to '{pool}'",
    cwe=763,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such place."""
    for fault in faults(module, ("wrong",)):
        yield fault_finding(RULE, fault)
