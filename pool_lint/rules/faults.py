"""Findings about objects that are returned or used wrongly: the rules 104, 105, 106 and 108."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.typestate.resolve import text_of
from pool_lint.typestate.state import GROUND
from pool_lint.typestate.verdict import fault_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding
    from pool_lint.rules.base import Rule
    from pool_lint.typestate.follow import Fault, Follow
    from pool_lint.typestate.state import Site

_STATES = {"unbound": "unbound", "none": "None", "stale": "that of the previous turn"}
_LAST = {"double": "returned again", "use": "used", "wrong": "returned to another pool"}


class Placed:
    """A fault in its function, with the borrow that it concerns."""

    def __init__(self, follow: Follow, fault: Fault, site: Site) -> None:
        self.follow = follow
        self.fault = fault
        self.site = site


def faults(module: ModuleAnalysis, kinds: tuple[str, ...]) -> Iterator[Placed]:
    """The faults of some kinds in all functions."""
    for outcome in module.outcomes:
        follow = outcome.follow
        first: set[tuple[int, str]] = set()
        for fault in sorted(follow.faults, key=lambda each: (follow.points[each.point].line, each.point)):
            if fault.what == "stale" and _borrow_in_try(follow, fault) is None:
                # Not the previous turn's object: simply returned twice.
                fault = replace(fault, what="double")  # noqa: PLW2901
                if follow.sites[fault.site].spec.second_release_ok:
                    continue
            if fault.what not in kinds:
                continue
            if fault.what in _STATES:
                site = _borrow_in_try(follow, fault)
                if site is None or (site.index, "stale") in first:
                    continue
                first.add((site.index, "stale"))
            else:
                site = follow.sites[fault.site]
                if site.wrong_pool and fault.what != "wrong":
                    continue
                if fault.what == "use" and fault.fact.via.startswith("stale"):
                    # The previous turn's object: where it is returned once more, that is POL108.
                    continue
            yield Placed(follow, fault, site)


def _borrow_in_try(follow: Follow, fault: Fault) -> Site | None:
    """The borrow whose try statement runs this return in its finally or handler."""
    point = follow.points[fault.point]
    cleanups = {number for number, region in point.tries if region in ("final", "handler")}
    for site in follow.sites:
        if site.kind != "borrow" or (fault.site not in (GROUND, site.index)):
            continue
        bodies = {number for number, region in follow.points[site.point].tries if region == "body"}
        if not cleanups & bodies:
            continue
        if fault.site != GROUND or fault.name in site.vars:
            return site
    return None


def fault_finding(rule: Rule, placed: Placed) -> Finding:
    """The finding for one fault."""
    follow, fault, site = placed.follow, placed.fault, placed.site
    point = follow.points[fault.point]
    node = point.node
    line, column = point.line, point.col
    if isinstance(node, ir.Call):
        line, column = node.line, node.col
    before = follow.points[fault.fact.done].line if fault.fact.done >= 0 else site.line
    went = ""
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attr):
        went = text_of(node.func.value)
    name = str(fault.name)
    if fault.what == "stale":
        name = min(str(each) for each in site.vars) if site.vars else site.spec.item
    pool = site.pool or "the pool"
    return rule.at(
        line,
        column,
        path=fault_path(follow, site, fault.point, fault.fact, _LAST.get(fault.what, "returned")),
        function=follow.function.qualname,
        item=site.spec.item,
        pool=pool,
        before=before,
        went=went or "another pool",
        name=name,
        borrow=site.line,
        state=_STATES.get(fault.what, ""),
    )
