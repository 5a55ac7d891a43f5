"""A borrowed object, or something made from it, is used after its return.

By then another borrower may use the same connection: results mix, or the cursor reads from a closed connection.
Fetch what is needed before the return.

Bad:

    import happybase

    def keys(pool: happybase.ConnectionPool):
        with pool.connection() as connection:
            rows = connection.table("events").scan(limit=10)
        return [key for key, _ in rows]

Good:

    import happybase

    def keys(pool: happybase.ConnectionPool):
        with pool.connection() as connection:
            rows = connection.table("events").scan(limit=10)
            return [key for key, _ in rows]
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
    code="POL105",
    name="used-after-return",
    message="{item} borrowed from '{pool}', or what was made from it, is used after its return on line {before}: "
    "use it before",
    cwe=416,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such place."""
    for fault in faults(module, ("use",)):
        yield fault_finding(RULE, fault)
