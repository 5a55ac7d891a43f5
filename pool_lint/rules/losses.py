"""Findings about objects that are lost: the rules 101, 102, 103, 107 and 110 differ in their words only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pool_lint.finding import Finding
    from pool_lint.rules.base import Rule
    from pool_lint.typestate.verdict import Verdict


def loss_finding(rule: Rule, verdict: Verdict) -> Finding:
    """The finding for a borrow that is lost."""
    site = verdict.site
    pool = site.pool or "the pool"
    return rule.at(
        site.line,
        site.col,
        path=verdict.path,
        function=verdict.function.qualname,
        item=site.spec.item,
        pool=pool,
        line=verdict.line,
        verb="raises" if verdict.how == "raise" else "leaves",
        remedy=(site.remedy or site.spec.remedy).replace("{pool}", pool),
    )
