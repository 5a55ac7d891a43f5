"""What the analysis believes of each borrowed object at each line of a function, for people to read."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint.typestate.follow import EXC, Follow
from pool_lint.typestate.state import CANCELLED, GROUND, HELD, NONE, RETURNED, UNBOUND, Fact

if TYPE_CHECKING:
    from pool_lint import ir
    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.typestate.state import Site

Node = tuple[int, Fact]

# What may be true of an object once a line has run, the worst first.
LOST, BORROWED, HANDED_ON, GIVEN_BACK, NOT_BORROWED = "lost", "borrowed", "handed on", "returned", "not borrowed"
STATES = (LOST, BORROWED, HANDED_ON, GIVEN_BACK, NOT_BORROWED)
# Points that run nothing of the user's.
_LABELS = frozenset(
    ("nop", "try", "dispatch", "caught", "uncaught", "catch", "push", "end_finally", "trim", "end", "fail")
)


@dataclass(frozen=True, slots=True)
class Handle:
    """One borrow: the names through which its object is reached, where it was borrowed, and from what."""

    names: str
    line: int
    item: str
    pool: str


@dataclass(frozen=True, slots=True)
class Belief:
    """What may be true of one object once a line has run: one of the states, or, where paths differ, several.

    ``raising`` says on which ways out of the line by an exception the object may be lost: "raises", "is cancelled".
    """

    handle: Handle
    states: tuple[str, ...]
    raising: tuple[str, ...] = ()


def beliefs(module: ModuleAnalysis, function: ir.Function) -> dict[int, list[Belief]] | None:
    """Return what is believed at each line of a function; None where its bound was hit."""
    outcome = module.file.outcome(function)
    if outcome is None:
        return None
    return _Reading(outcome.follow).by_line()


class _Reading:
    """One followed function, read line by line."""

    def __init__(self, follow: Follow) -> None:
        self._follow = follow
        self._points = follow.points
        self._states: dict[tuple[int, int], set[str]] = defaultdict(set)
        self._raising: dict[tuple[int, int], set[str]] = defaultdict(set)
        self._returning: set[tuple[int, int]] = set()
        self._edges = [edge for edge in follow.edges or () if self._points[edge[0]].kind not in _LABELS]
        self._doomed = _doomed(follow)

    def by_line(self) -> dict[int, list[Belief]]:
        for index, fact, way, target, after in self._edges:
            self._read_edge(index, fact, way, target, after)
        self._read_ends()
        for loss in self._follow.losses:
            if loss.how != "raise":
                self._states[self._line_of_end(loss.point, loss.fact), loss.site].add(LOST)
        self._read_absence()
        handles = self._handles()
        found: dict[int, list[Belief]] = {}
        for line, site in sorted(self._states.keys() | self._raising.keys()):
            if site in handles:
                believed = self._states[line, site]
                if (line, site) in self._returning and believed & {LOST, HANDED_ON}:
                    # a return statement leaves with the object still out: what then becomes of it is told
                    believed.discard(BORROWED)
                states = tuple(state for state in STATES if state in believed)
                raising = tuple(sorted(self._raising[line, site], reverse=True))
                found.setdefault(line, []).append(Belief(handles[site], states, raising))
        return found

    def _read_edge(self, index: int, fact: Fact, way: str, target: int, after: Fact) -> None:
        if after.site == GROUND:
            return
        line = self._points[index].line
        if way == EXC:
            if after.status == HELD and (target, after) in self._doomed:
                self._raising[line, after.site].add("is cancelled" if after.exc == CANCELLED else "raises")
            return
        state = _state(after)
        ended = fact.status == HELD and after.status == RETURNED
        if state and (ended or self._leaves(line, target)):
            self._states[line, after.site].add(state)
            if self._points[index].kind == "ret" and state == BORROWED:
                self._returning.add((line, after.site))

    def _leaves(self, line: int, target: int) -> bool:
        return self._points[target].line != line or self._points[target].kind in _LABELS

    def _read_ends(self) -> None:
        """Where an object is handed on, its facts end without a loss."""
        going = {(index, fact) for index, fact, _, _, _ in self._follow.edges or ()}
        lost = {(loss.point, loss.fact) for loss in self._follow.losses}
        for index, fact in self._follow.parents:
            if fact.site == GROUND or fact.status != HELD or (index, fact) in lost:
                continue
            kind = self._points[index].kind
            if kind == "end" or (kind != "fail" and (index, fact) not in going):
                self._states[self._line_of_end(index, fact), fact.site].add(HANDED_ON)

    def _read_absence(self) -> None:
        """Beside what else may be true of an object: that it was not borrowed at all, or is None."""
        for index, _, way, target, after in self._edges:
            line = self._points[index].line
            if after.site != GROUND or not after.env or way == EXC or not self._leaves(line, target):
                continue
            for site in self._follow.sites:
                if self._states.get((line, site.index)) and any(
                    after.known((name,)) in (UNBOUND, NONE) for name in site.vars
                ):
                    self._states[line, site.index].add(NOT_BORROWED)

    def _line_of_end(self, index: int, fact: Fact) -> int:
        if self._points[index].kind == "end" and fact.ret >= 0 and self._points[fact.ret].name != "implicit":
            return self._points[fact.ret].line
        if self._points[index].kind == "end":
            return max(point.line for point in self._points)
        return self._points[index].line

    def _handles(self) -> dict[int, Handle]:
        return {site.index: _handle(site) for site in self._follow.sites if site.kind in ("borrow", "permit")}


def _doomed(follow: Follow) -> set[Node]:
    """The facts, each at its point, from which some path loses the object by an exception."""
    before: dict[Node, list[Node]] = defaultdict(list)
    for index, fact, _, target, after in follow.edges or ():
        before[target, after].append((index, fact))
    work = [(loss.point, loss.fact) for loss in follow.losses if loss.how == "raise"]
    found = set(work)
    while work:
        for node in before[work.pop()]:
            if node not in found:
                found.add(node)
                work.append(node)
    return found


def _handle(site: Site) -> Handle:
    names = ", ".join(sorted(str(name) for name in site.vars if isinstance(name, str)))
    return Handle(names, site.line, "permit" if site.kind == "permit" else site.spec.item, site.pool)


def _state(fact: Fact) -> str:
    if fact.status == HELD:
        return BORROWED
    if fact.status != RETURNED:
        return ""
    # what is given to somebody else leaves as if returned, but nothing returned it
    return GIVEN_BACK if fact.done >= 0 else HANDED_ON
