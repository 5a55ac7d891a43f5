"""Findings about pools that are not worth having: the rules 301 to 305 differ in their words only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.finding import Finding

if TYPE_CHECKING:
    from pool_lint.rules.base import Rule
    from pool_lint.worth.judge import Worth


def worth_finding(rule: Rule, worth: Worth) -> Finding:
    """The finding for a pool that is not worth having."""
    return Finding(worth.line, worth.col, rule.code, rule.message.format(**worth.parts))
