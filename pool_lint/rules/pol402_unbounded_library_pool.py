"""A library's connection pool is made without a limit.

The limit is left at a default that has none, or a value is given that means none.  Under load the pool then opens as
many connections as there are requests, and the server refuses everybody.  A pool that is meant to have no limit says
so with ``# noqa: POL402``.

Bad:

    import httpx

    client = httpx.Client(limits=httpx.Limits(max_keepalive_connections=40))

Good:

    import httpx

    client = httpx.Client(limits=httpx.Limits(max_connections=80, max_keepalive_connections=40))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.rules.base import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL402",
    name="unbounded-library-pool",
    message="{pool} opens any number of connections, as {why}: set '{param}' to the most that the server should see",
    cwe=770,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such constructor call."""
    for fault in module.bounds.unlimited:
        yield RULE.at(
            fault.call.line,
            fault.call.col,
            function=fault.scope.qualname if fault.scope is not None else "",
            pool=fault.name,
            why=fault.why,
            param=fault.param,
        )
