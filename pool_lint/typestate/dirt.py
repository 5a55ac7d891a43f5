"""Objects that go back dirty: which state a return leaves behind, and on which paths.

Each borrow's part of the graph is walked once more with a set of items, each a state that was changed (or reset) and
where.  A call of a function of this file is walked into, with the items that its caller has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pool_lint import ir
from pool_lint.pools import state as known
from pool_lint.typestate.changes import CONTENT, ITEMS, POSITION, TRANSACTION, Change, Home, Path, Reader
from pool_lint.typestate.follow import EXC, NEXT, Follow, TooComplex
from pool_lint.typestate.homes import home_of
from pool_lint.typestate.state import GROUND, HELD, OBJECT, RETURNED, Fact, Place
from pool_lint.walk import names_read, walk_expressions, walk_statements
from pool_lint.words import RETURNING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pool_lint.catalog.spec import PoolSpec
    from pool_lint.flow.cfg import Point
    from pool_lint.typestate.file import FileAnalysis, Outcome
    from pool_lint.typestate.state import Site

DIRTY, SOFT, PENDING, EVIDENCE, RESET, STALE, READ, SHIELD = (
    "dirty", "soft", "pending", "evidence", "reset", "stale", "read", "shield",
)  # fmt: skip


class Item(NamedTuple):
    """One state that a path has changed, reset, or found: ``role`` tells which.

    ``exc``: an exception has been raised since.  ``call``: the reset was a call that clears a whole container.
    """

    path: Path
    line: int
    text: str
    kind: str
    role: str
    value: str = ""
    exc: bool = False
    call: bool = False


State = frozenset[Item]
Node = tuple[int, Fact]


class Unknown(Exception):  # noqa: N818 - a signal: nothing can be said
    """The paths of one function are too many to follow."""


@dataclass(slots=True, eq=False)
class Graph:
    """The steps that the objects of one function can take."""

    follow: Follow
    after: dict[Node, list[tuple[str, Node]]]
    begun: dict[int, list[Node]] = field(default_factory=dict)

    def starts(self, sites: Iterable[int]) -> list[Node]:
        """Where the objects of some sites are first held."""
        if not self.begun:
            for node, steps in self.after.items():
                for _, (index, fact) in steps:
                    before = node[1]
                    if fact.status == HELD and not (before.site == fact.site and before.status == HELD):
                        self.begun.setdefault(fact.site, []).append((index, fact))
        return [node for site in sites for node in self.begun.get(site, ())]


@dataclass(slots=True, eq=False)
class Result:
    """The states at the ends of a walk: normal, by exception, at each return of the object, at each ``yield``."""

    ends: set[State] = field(default_factory=set)
    fails: set[State] = field(default_factory=set)
    releases: dict[Node, set[State]] = field(default_factory=dict)
    yields: dict[Node, set[State]] = field(default_factory=dict)
    discards: bool = False

    def released(self) -> set[State]:
        """The states at all returns."""
        return {state for states in self.releases.values() for state in states}


@dataclass(frozen=True, slots=True, eq=False)
class Leftover:
    """A fault: ``code`` is "dirty" (POL201), "partial" (POL202) or "skipped" (POL203)."""

    code: str
    function: ir.Function
    line: int
    col: int
    item: str
    pool: str
    states: tuple[Item, ...]
    reset: str = ""
    borrowed: int = 0


@dataclass(slots=True, eq=False)
class Dirt:
    """The leftovers of one file."""

    file: FileAnalysis
    outcomes: list[Outcome]
    _graphs: dict[object, Graph | None] = field(default_factory=dict)
    _homes: dict[int, tuple[PoolSpec, Home]] = field(default_factory=dict)
    _readers: dict[tuple[ir.Function, int], Reader] = field(default_factory=dict)
    _memo: dict[object, Result] = field(default_factory=dict)
    _busy: set[object] = field(default_factory=set)
    _own_called: dict[ir.Klass, list[ir.Function]] = field(default_factory=dict)
    _changed: dict[ir.Klass, dict[str, Item]] = field(default_factory=dict)
    _steps: int = 0
    _sql: bool | None = None

    # The borrows of a file.

    def leftovers(self) -> list[Leftover]:
        """One fault at most for each return call."""
        found: dict[tuple[int, int], Leftover] = {}
        faulty: set[ir.Function] = set()
        order = sorted(self.outcomes, key=lambda each: not each.function.is_generator)
        for outcome in order:
            if not self._may_matter(outcome) or self._makes_pool(outcome.function):
                continue
            for site in outcome.follow.sites:
                if site.kind != "borrow" or site.spec.handle_is_pool:
                    continue
                if self._lender_of(site, outcome.function) in faulty:
                    continue
                try:
                    faults = list(self._of_site(outcome, site))
                except Unknown:
                    continue
                for fault in faults:
                    before = found.get((fault.line, fault.col))
                    if before is None or _RANK[fault.code] > _RANK[before.code]:
                        found[fault.line, fault.col] = fault
                    faulty.add(outcome.function)
        for fault in self._kept():
            found.setdefault((fault.line, fault.col), fault)
        for fault in self._own_resets():
            found[fault.line, fault.col] = fault
        return sorted(found.values(), key=lambda each: (each.line, each.col))

    def _kept(self) -> Iterator[Leftover]:
        """Of objects that one method keeps in an attribute and another returns."""
        for kept in self.file.attr_sites:
            outcome = self.file.outcome(kept.function)
            if outcome is None or kept.follow is not outcome.follow or not kept.function.params:
                continue
            try:
                yield from self._of_attribute(outcome, kept.site, kept.klass, kept.attr)
            except Unknown:
                continue

    def _of_attribute(self, outcome: Outcome, site: Site, klass: ir.Klass, attr: str) -> Iterator[Leftover]:
        graph = self._graph(outcome.function, None, None)
        if graph is None:
            return
        home = self.home(site.spec, site, outcome.function)
        begun = (
            Walk(self, graph, home, evidence=False).run({n: {frozenset()} for n in graph.starts((site.index,))}).ends
        )
        methods = [
            method
            for each in self.file.attributes.family(klass)
            for method in each.methods.values()
            if method is not outcome.function and method.params and self.file.mentions(method, attr)
        ]
        states: set[State] = set(begun) or {frozenset()}
        for method in methods:
            place = (method.params[0].name, "." + attr)
            states |= self.into(method, place, home, site.spec, frozenset()).ends
        merged = frozenset(item for state in states for item in state if item.role in (DIRTY, PENDING))
        if not merged or len(states) > _MOST_STATES:
            return
        for method in methods:
            inner = self._graph(method, (method.params[0].name, "." + attr), site.spec)
            if inner is None or not inner.follow.sites or not inner.follow.sites[0].returned:
                continue
            result = self.into(method, (method.params[0].name, "." + attr), home, site.spec, merged)
            for (index, _), after in sorted(result.releases.items(), key=lambda each: each[0][0]):
                anchor = _anchor(inner.follow.points[index], inner.follow)
                fault = self._judge(outcome, site, home, anchor, after)
                if fault is not None:
                    yield fault

    def _may_matter(self, outcome: Outcome) -> bool:
        """Whether a function, or one that it calls, does anything that changes or resets state: a quick look."""
        sites = [site for site in outcome.follow.sites if site.kind == "borrow" and site.returned]
        if not sites:
            return False
        if not all(site.spec.library for site in sites):
            return True
        statements = any("transaction" not in site.spec.resets and site.spec.transactions != "none" for site in sites)
        return self._changes_something(outcome.function, statements or self._speaks(), set())

    def _speaks(self) -> bool:
        """Whether any text of this file may be an SQL statement that changes its session."""
        if self._sql is None:
            bodies = [self.file.tree.body, *(function.body for function in self.file.tree.functions)]
            self._sql = any(
                isinstance(expr, ir.Const) and isinstance(expr.value, str) and _SESSION.match(expr.value) is not None
                for body in bodies
                for expr in walk_expressions(body)
            )
        return self._sql

    def _changes_something(self, function: ir.Function, statements: bool, seen: set[ir.Function]) -> bool:  # noqa: FBT001
        if function in seen:
            return False
        seen.add(function)
        for stmt in walk_statements(function.body):
            targets = stmt.targets if isinstance(stmt, (ir.Assign, ir.Del)) else []
            if isinstance(stmt, ir.AugAssign) or any(
                isinstance(target, (ir.Attr, ir.Sub, ir.Seq)) for target in targets
            ):
                return True
        for expr in walk_expressions(function.body):
            if not isinstance(expr, ir.Call):
                continue
            callee = self.file.resolver.callee(expr, function)
            name = (
                expr.func.name
                if isinstance(expr.func, ir.Attr)
                else self.file.types.dotted(expr.func).rpartition(".")[2]
            )
            if name in _TELLING or known.is_resetting(name) or (statements and name in known.EXECUTES):
                return True
            if callee.kind == "function" and callee.function is not None:
                if self._changes_something(callee.function, statements, seen):
                    return True
            elif isinstance(expr.func, ir.Attr) and any(
                expr.func.name in klass.methods
                and self._changes_something(klass.methods[expr.func.name], statements, seen)
                for klass in self.file.tree.classes
            ):
                return True
        return False

    def _makes_pool(self, function: ir.Function) -> bool:
        """Whether a function makes a pool: what it sets on a connection at once is part of setting it up."""
        for expr in walk_expressions(function.body):
            if isinstance(expr, ir.Call):
                kind = self.file.types.of(expr, function)
                if kind is not None and kind.kind == "pool" and kind.origin is expr:
                    return True
                if isinstance(expr.func, ir.Attr) and expr.func.name == "create_pool":
                    return True
        return False

    def _lender_of(self, site: Site, function: ir.Function) -> ir.Function | None:
        if site.call is None:
            return None
        return self.function_called(site.call, function)

    def function_called(self, call: ir.Call, scope: ir.Function) -> ir.Function | None:
        """The function of this file that a call runs, though it may lend or take back what a library's does."""
        callee = self.file.resolver.callee(call, scope)
        if callee.kind == "function":
            return callee.function
        if callee.kind not in ("borrow", "release") or not isinstance(call.func, ir.Attr):
            return None
        kind = self.file.types.of(call.func.value, scope)
        if kind is None or kind.klass is None or kind.kind != "pool":
            return None
        return self.file.types.method(kind.klass, call.func.name)

    def home(self, spec: PoolSpec, site: Site, function: ir.Function) -> Home:
        """What the objects of a pool are."""
        # Pools that are alike in everything are still two.
        found = self._homes.get(id(spec))
        if found is None:
            found = self._homes[id(spec)] = (spec, home_of(self.file, spec, site, function))
        return found[1]

    def reader(self, function: ir.Function, home: Home) -> Reader:
        """The reader of one function's operations."""
        key = (function, id(home))
        found = self._readers.get(key)
        if found is None or found.home is not home:
            found = self._readers[key] = Reader(self.file, function, home)
        return found

    def _of_site(self, outcome: Outcome, site: Site) -> Iterator[Leftover]:
        graph = self._graph(outcome.function, None, None)
        if graph is None:
            return
        home = self.home(site.spec, site, outcome.function)
        result = Walk(self, graph, home, evidence=True).run(
            {node: {frozenset()} for node in graph.starts((site.index,))}
        )
        anchors: dict[tuple[int, int], set[State]] = {}
        for (index, _), states in result.releases.items():
            anchors.setdefault(_anchor(graph.follow.points[index], graph.follow), set()).update(states)
        for (line, col), states in sorted(anchors.items()):
            fault = self._judge(outcome, site, home, (line, col), states)
            if fault is not None:
                yield fault

    # Judging.

    def _judge(
        self, outcome: Outcome, site: Site, home: Home, anchor: tuple[int, int], states: set[State]
    ) -> Leftover | None:
        states = {frozenset(item for item in state) for state in states if not any(i.role == SHIELD for i in state)}
        if not states:
            return None
        left = self._left(outcome, site, home, states)
        pool = site.pool or "the pool"
        partial = self._partial(states, left)
        if partial is not None:
            begun, items = partial
            return Leftover(
                "partial", outcome.function, begun.line, 0, site.spec.item, pool, items, begun.text, site.line
            )
        plain = [item for item in left if not item.exc and item.role == DIRTY]
        raised = [item for item in left if item.exc and item.role in (DIRTY, EVIDENCE)]
        if plain:
            return Leftover("dirty", outcome.function, *anchor, site.spec.item, pool, _told(plain), "", site.line)
        skipped = [(item, reset) for item in raised if (reset := _reset_normally(item, states)) is not None]
        if skipped:
            reset = min((reset for _, reset in skipped), key=lambda each: each.line)
            told = _told([item for item, _ in skipped if item.role == DIRTY])
            return Leftover(
                "skipped", outcome.function, *anchor, site.spec.item, pool, told, str(reset.line), site.line
            )
        only_raised = [item for item in raised if item.role == DIRTY and item.path != TRANSACTION]
        if only_raised and not any(_is_normal(state) for state in states):
            return Leftover("dirty", outcome.function, *anchor, site.spec.item, pool, _told(only_raised), "", site.line)
        return None

    def _left(self, outcome: Outcome, site: Site, home: Home, states: set[State]) -> list[Item]:
        """The items that somebody may find: neither reset by the library nor overwritten by whoever comes next."""
        found = {item for state in states for item in state if item.role in (DIRTY, EVIDENCE, SOFT)}
        out = []
        verdicts: dict[Path, bool] = {}
        # What a library's own objects have for attributes is the library's affair; objects of a user's are not.
        foreign = bool(site.spec.library) and (home.database or bool(site.spec.object_classes))
        for item in sorted(found):
            if item.kind in home.resets or "*" in home.resets:
                continue
            if foreign and item.path[:1] != ("db",) and item.role == DIRTY:
                continue
            if item.role == EVIDENCE and item.path[0].endswith(".rollback") and "transaction" in home.resets:
                continue
            if item.path == TRANSACTION and item.exc:
                continue
            if home.word in known.BUFFERS and item.path[0].startswith("[") and not self._read_whole(site.spec):
                continue
            if item.path[1:] == (ITEMS,) and not self._attribute_read_whole(outcome, home, item.path):
                continue
            key = item.path
            if key not in verdicts:
                verdicts[key] = self._protected(site.spec, site, outcome, home, item)
            if not verdicts[key]:
                out.append(item)
        return out

    def _partial(self, states: set[State], left: list[Item]) -> tuple[Item, tuple[Item, ...]] | None:
        """A reset that leaves a part: seek without truncate, truncate without seek, one of two containers."""
        for state in states:
            resets = [item for item in state if item.role == RESET and not item.exc and item.call]
            mine = [item for item in state if not item.exc and (item.role in (DIRTY, SOFT)) and item in left]
            for item in sorted(mine):
                if item.path[-1:] in ((CONTENT,), (POSITION,)):
                    other = POSITION if item.path[-1] == CONTENT else CONTENT
                    done = [reset for reset in resets if reset.path == (*item.path[:-1], other)]
                    if done:
                        return done[0], (item,)
                elif item.role == DIRTY and item.path[-1].startswith("[") and item.path[0] != "db":
                    done = [
                        reset for reset in resets
                        if reset.path and reset.path[0].startswith(".") and len(reset.path) == 1
                        and reset.path != item.path[: len(reset.path)] and reset.line > item.line
                    ]  # fmt: skip
                    if done:
                        return max(done, key=lambda each: each.line), (item,)
        return None

    # Overwritten before it is read?

    def _protected(self, spec: PoolSpec, site: Site, outcome: Outcome, home: Home, item: Item) -> bool:
        """Whether every borrow in view overwrites or resets a state before anybody can read it."""
        if spec.library and not self._made_here(site, outcome.function):
            return False
        sites = [
            (other, each)
            for other in self.outcomes
            for each in other.follow.sites
            if each.kind == "borrow" and each.spec is spec and not (each.own and other.hands_out)
            and (not spec.library or each.pool.rpartition(".")[2] == site.pool.rpartition(".")[2])
        ]  # fmt: skip
        return bool(sites) and all(self._overwrites(other, each, home, item) for other, each in sites)

    def _made_here(self, site: Site, function: ir.Function) -> bool:
        if site.call is None or not isinstance(site.call.func, ir.Attr):
            return False
        kind = self.file.types.of(site.call.func.value, function)
        return kind is not None and kind.origin is not None

    def _overwrites(self, outcome: Outcome, site: Site, home: Home, item: Item) -> bool:
        stale = frozenset((item._replace(role=STALE, exc=False),))
        states = {stale}
        lender = self._lender_of(site, outcome.function)
        if lender is not None:
            states = self._after_borrow(lender, site.spec, home, stale)
            if not any(each.role == STALE for state in states for each in state):
                return True
            states = {stale}
        graph = self._graph(outcome.function, None, None)
        if graph is None:
            return False
        result = Walk(self, graph, home, evidence=False).run(
            {node: set(states) for node in graph.starts((site.index,))}
        )
        every = [*result.ends, *result.fails, *result.released(), *(s for each in result.yields.values() for s in each)]
        return not any(each.role == READ for state in every for each in state)

    def _after_borrow(self, lender: ir.Function, spec: PoolSpec, home: Home, stale: State) -> set[State]:
        """What a borrow method of this file leaves of a state that it finds."""
        key = ("borrow", lender, spec.id, stale)
        if key in self._busy:
            return {stale}
        outcome = self.file.outcome(lender)
        graph = self._graph(lender, None, None)
        if outcome is None or graph is None:
            return {stale}
        self._busy.add(key)
        sites = [site for site in outcome.follow.sites if site.kind == "borrow" and site.spec is spec]
        states: set[State] = set()
        for site in sites:
            begin = {stale}
            inner = self._lender_of(site, lender)
            if inner is not None:
                begin = self._after_borrow(inner, spec, home, stale)
            result = Walk(self, graph, home, evidence=False).run(
                {node: set(begin) for node in graph.starts((site.index,))}
            )
            states |= (
                {state for each in result.yields.values() for state in each} if lender.is_generator else result.ends
            )
        self._busy.discard(key)
        return states or {stale}

    def _read_whole(self, spec: PoolSpec) -> bool:
        """Whether some borrower reads a buffer otherwise than through a slice."""
        for outcome in self.outcomes:
            for site in outcome.follow.sites:
                if site.spec is spec and site.kind == "borrow":
                    names = {str(name) for name in site.vars}
                    if _reads_whole(outcome.function, names):
                        return True
        return False

    def _attribute_read_whole(self, outcome: Outcome, home: Home, path: Path) -> bool:
        """Whether a buffer that is an attribute is read otherwise than through a slice (or is no buffer at all)."""
        if self.reader(outcome.function, home).word_at(path[:1]) not in known.BUFFERS:
            return True
        return any(_reads_whole(function, {path[0]}) for function in self.file.tree.functions)

    # Graphs.

    def _graph(self, function: ir.Function, place: Place | None, spec: PoolSpec | None) -> Graph | None:
        key = (function, place, spec.id if spec is not None else "")
        if key not in self._graphs:
            self._graphs[key] = self._make_graph(function, place, spec)
        return self._graphs[key]

    def _make_graph(self, function: ir.Function, place: Place | None, spec: PoolSpec | None) -> Graph | None:
        cfg = self.file.cfg(function)
        try:
            if place is None or spec is None:
                outcome = self.file.outcome(function)
                if outcome is None:
                    return None
                follow = outcome.follow
            else:
                follow = self.file.follow(cfg, entries=[(place, spec)], edges=True)
        except TooComplex:
            return None
        assert follow.edges is not None
        after: dict[Node, list[tuple[str, Node]]] = {}
        for index, fact, way, target, settled in follow.edges:
            after.setdefault((index, fact), []).append((way, (target, settled)))
        return Graph(follow, after)

    def into(self, function: ir.Function, place: Place, home: Home, spec: PoolSpec, state: State) -> Result:
        """What becomes of a state in a function that finds the object at a place."""
        key = ("into", function, place, id(home), state)
        found = self._memo.get(key)
        if found is not None:
            return found
        busy = ("into", function, place)
        graph = self._graph(function, place, spec) if busy not in self._busy else None
        if graph is None:
            return Result({state}, {state})
        self._busy.add(busy)
        begin = [node for node in graph.after if node[0] == graph.follow.cfg.entry and node[1].site != GROUND]
        try:
            result = Walk(self, graph, home, evidence=False).run({node: {state} for node in begin})
        finally:
            self._busy.discard(busy)
        self._memo[key] = result
        return result

    def resumed(
        self, function: ir.Function, place: Place | None, home: Home, spec: PoolSpec, state: State, *, raised: bool
    ) -> Result:
        """What becomes of a state in a context manager of this file after its ``yield``."""
        graph = self._graph(function, place, spec if place is not None else None)
        busy = ("resumed", function, place)
        if graph is None or busy in self._busy:
            return Result({state}, {state})
        starts: dict[Node, set[State]] = {}
        mine = {site.index for site in graph.follow.sites if site.spec is spec or place is not None}
        for node, steps in graph.after.items():
            if graph.follow.points[node[0]].kind != "yield" or node[1].site not in mine or node[1].status != HELD:
                continue
            for way, target in steps:
                if (way == EXC) == raised:
                    starts.setdefault(target, set()).add(state)
        self._busy.add(busy)
        try:
            return Walk(self, graph, home, evidence=False).run(starts)
        finally:
            self._busy.discard(busy)

    def note_reset(self, klass: ir.Klass, method: ir.Function) -> None:
        """An object's own reset is called."""
        called = self._own_called.setdefault(klass, [])
        if method not in called:
            called.append(method)

    def note_change(self, home: Home, change: Change, function: ir.Function) -> None:
        """A borrower changes an attribute."""
        klass = home.klass
        if klass is None or not change.path or not change.path[0].startswith(".") or function.is_generator:
            return
        if function.owner is not None and klass in self.file.types.bases_of(function.owner):
            return
        item = Item(change.path[:1], change.line, change.path[0][1:], "", DIRTY)
        table = self._changed.setdefault(klass, {})
        before = table.get(change.path[0][1:])
        if before is None or before.line > change.line:
            table[change.path[0][1:]] = item

    def _own_resets(self) -> Iterator[Leftover]:
        """The resets of pooled classes that miss something."""
        from pool_lint.typestate.own_resets import own_resets  # noqa: PLC0415 - the two modules are one machine

        for klass, called in self._own_called.items():
            spec, home = next(
                ((spec, home) for spec, home in self._homes.values() if home.klass is klass), (None, None)
            )
            if spec is None or home is None or klass in self.file.linked.homes:
                continue
            changed = self._changed.get(klass, {})
            where = next((o, s) for o in self.outcomes for s in o.follow.sites if s.spec is spec)
            lines = {
                name: item.line
                for name, item in changed.items()
                if not self._protected(spec, where[1], where[0], home, item)
            }
            for fault in own_resets(self.file, klass, called, lines):
                items = tuple(Item(("." + name,), line, name, "", DIRTY, "set") for name, line in fault.missed)
                if fault.partial and not items:
                    items = (Item(("." + fault.partial,), fault.line, fault.partial, "", DIRTY, ""),)
                method = fault.method
                if method in self.file.linked.homes:
                    continue
                yield Leftover(
                    "partial", method, method.line, method.col, klass.name, where[1].pool, items, method.name
                )

    def count(self) -> None:
        """One more step, of which there is a bound."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise Unknown


@dataclass(slots=True, eq=False)
class Walk:
    """One walk through a graph."""

    dirt: Dirt
    graph: Graph
    home: Home
    evidence: bool
    reader: Reader = field(init=False)
    _resets: frozenset[str] | None = None
    _changes: dict[Node, list[Change]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reader = self.dirt.reader(self.graph.follow.function, self.home)

    def run(self, starts: dict[Node, set[State]]) -> Result:
        """Carry states from some nodes to the ends."""
        result = Result()
        seen: dict[Node, set[State]] = {}
        work = [(node, state) for node, states in starts.items() for state in states]
        points = self.graph.follow.points
        while work:
            node, state = work.pop()
            known_states = seen.setdefault(node, set())
            if state in known_states:
                continue
            known_states.add(state)
            if len(known_states) > _MOST_STATES:
                raise Unknown
            self.dirt.count()
            index, fact = node
            kind = points[index].kind
            if kind in ("end", "fail"):
                (result.ends if kind == "end" else result.fails).add(state)
                continue
            if kind == "yield":
                result.yields.setdefault(node, set()).add(state)
            steps = self.graph.after.get(node, ())
            if not steps and kind == "ret":
                result.ends.add(state)
            for way, target in steps:
                if target[1].site != fact.site:
                    continue
                if target[1].status == RETURNED and target[1].done == index and self._discards(points[index], fact):
                    result.discards = True
                    continue
                for after in self._step(node, way, target, state):
                    if target[1].status == RETURNED:
                        if target[1].done == index:
                            result.releases.setdefault(node, set()).add(after)
                    elif target[1].status == HELD:
                        work.append((target, after))
        return result

    def _step(self, node: Node, way: str, target: Node, state: State) -> set[State]:
        index, fact = node
        point = self.graph.follow.points[index]
        released = target[1].status == RETURNED and target[1].done == index
        states = {state}
        if point.kind == "call":
            states = self._call(index, point, fact, way, state, released=released)
        elif point.kind in ("enter", "exit"):
            states = self._with(point, fact, state, released=released)
        else:
            states = {self._apply(node, point, fact, state, way)}
        if way == EXC and point.kind == "await":
            states = {self._not_awaited(point, fact, each) for each in states}
        if way == EXC and point.kind not in ("dispatch", "end_finally"):
            states = {_raised(each) for each in states}
            if self._breaks(point, fact):
                states = {apply(each, Change("shield", (), point.line), self.home) for each in states}
        return states

    def _breaks(self, point: Point, fact: Fact) -> bool:
        """Whether a reset of the object itself has failed: it is broken, and what else was to be reset is no matter."""
        call = point.node.value if isinstance(point.node, ir.Await) else point.node
        return (
            point.kind in ("call", "await")
            and isinstance(call, ir.Call)
            and isinstance(call.func, ir.Attr)
            and (call.func.name == "rollback" or known.is_resetting(call.func.name))
            and self.reader.chain(call.func.value, fact) == ()
        )

    def _apply(self, node: Node, point: Point, fact: Fact, state: State, way: str) -> State:
        changes = self._changes.get(node)
        if changes is None:
            changes = self._changes[node] = self.reader.changes(point, fact)
        for change in changes:
            if way == EXC and not change.sure:
                continue
            state = apply(state, change, self.home)
            if self.evidence and change.what in ("set", "mutate") and not change.clean:
                self.dirt.note_change(self.home, change, self.graph.follow.function)
            if self.evidence and change.what in ("use", "mutate", "set") and change.path[:1] != ("?none",):
                state = self._with_evidence(state, change.line)
        return state

    def _not_awaited(self, point: Point, fact: Fact, state: State) -> State:
        """The state after an awaited call that has failed: what it was to set, it has not set."""
        call = point.node.value if isinstance(point.node, ir.Await) else None
        if not isinstance(call, ir.Call) or not isinstance(call.func, ir.Attr):
            return state
        path = self.reader.chain(call.func.value, fact)
        if path is None:
            return state
        unsure = {(change.path, change.line) for change in self.reader.of_call(call, fact) if not change.sure}
        return frozenset(item for item in state if (item.path, item.line) not in unsure or item.role == RESET)

    def _with_evidence(self, state: State, line: int) -> State:
        """The object was used: what its function resets later may be there from now on."""
        missing = {
            Item((text,), line, text, "", EVIDENCE)
            for text in self._resetting_calls()
            if not any(item.path == (text,) and item.role == EVIDENCE for item in state)
        }
        if not missing:
            return state
        names = {item.path for item in missing}
        return frozenset(item for item in state if not (item.role == RESET and item.path in names)) | missing

    def _resetting_calls(self) -> frozenset[str]:
        if self._resets is None:
            found = set()
            for (index, fact), steps in self.graph.after.items():
                point = self.graph.follow.points[index]
                if point.kind == "call" and steps and fact.status == HELD:
                    for change in self.reader.changes(point, fact):
                        if change.what == "reset" and change.path and change.path[0].startswith("?."):
                            found.add(change.path[0])
            self._resets = frozenset(found)
        return self._resets

    # Calls of functions of this file.

    def _call(self, index: int, point: Point, fact: Fact, way: str, state: State, *, released: bool) -> set[State]:
        call = point.node
        assert isinstance(call, ir.Call)
        found = self._visible(call, fact)
        if found is None:
            return {state if released else self._apply((index, fact), point, fact, state, way)}
        function, place, own_reset = found
        if own_reset:
            if self.home.klass is not None:
                self.dirt.note_reset(self.home.klass, function)
            changes = [Change("reset", ("?." + own_reset,), call.line), Change("reset", (), call.line)]
            for change in changes:
                state = apply(state, change, self.home)
            return {state}
        if self.evidence and not released:
            state = self._with_evidence(state, call.line)
        result = self.dirt.into(function, place, self.home, self.graph.follow.sites[fact.site].spec, state)
        if released:
            states = result.released()
            if not states and not result.discards:
                states = result.ends or {state}
        elif way == EXC:
            states = result.fails or {state}
        else:
            states = result.ends or {state}
        states = self._seen_here(function, state, states, call.line)
        if released and self.dirt.reader(function, self.home).calls_hook():
            # Called only where there is one, and nobody can see what it does.
            return {apply(state, Change("reset", (), call.line), self.home)}
        if released and self._is_mechanism(function):
            # What the pool notes on the object when it comes back is the pool's own.
            states = {
                frozenset(i for i in each if i.role not in (DIRTY, SOFT) or _known_before(i, state)) for each in states
            }
        if place[0] == _own_name(function) and self.home.klass is not None:
            states = {self._own_changes(state, each) for each in states}
        return states

    def _seen_here(self, function: ir.Function, before: State, after: set[State], line: int) -> set[State]:
        """What a function of another module has made of a state: in this file, that happens where it is called."""
        if function not in self.dirt.file.linked.homes:
            return after
        return {frozenset(item if item in before else item._replace(line=line) for item in each) for each in after}

    def _is_mechanism(self, function: ir.Function) -> bool:
        """Whether a function is a method of the class that keeps the objects."""
        owner = function.owner
        return owner is not None and any(
            each in self.dirt.file.types.bases_of(owner)
            for each, _ in self.dirt.file.containers.uses
            if isinstance(each, ir.Klass)
        )

    def _discards(self, point: Point, fact: Fact) -> bool:
        """Whether a return destroys the object, or puts another one in its place."""
        call = point.node
        if point.kind != "call" or not isinstance(call, ir.Call):
            return False
        if any(
            name in ("close", "discard", "invalidate", "destroy") and isinstance(value, ir.Const) and bool(value.value)
            for name, value in call.keywords
        ):
            return True
        scope = self.graph.follow.function
        callee = self.dirt.file.resolver.callee(call, scope)
        if isinstance(call.func, ir.Attr) and self.reader.chain(call.func.value, fact) == ():
            spec = self.graph.follow.sites[fact.site].spec
            forms = [form for form in spec.releases if form.on == "object" and form.method == call.func.name]
            return any(form.discards for form in forms) or (not forms and callee.kind != "function")
        if callee.kind != "release":
            return False
        parts = [*call.args, *(value for _, value in call.keywords)]
        names = {place[0] for place, role in fact.places if role == OBJECT and isinstance(place[0], str)}
        reads = {name for part in parts for name in names_read(part)}
        return bool(parts) and not reads & names

    def _own_changes(self, before: State, after: State) -> State:
        """What a method of the object's own class has changed, as far as that is state of its user."""
        from pool_lint.typestate.own_resets import is_state  # noqa: PLC0415 - the two modules are one machine

        klass = self.home.klass
        assert klass is not None
        return frozenset(
            item
            for item in after
            if item in before or item.role not in (DIRTY, SOFT) or not item.path
            or is_state(self.dirt.file, klass, item.path[0].lstrip("."))
        )  # fmt: skip

    def _visible(self, call: ir.Call, fact: Fact) -> tuple[ir.Function, Place, str] | None:
        """The function of this file that a call runs with the object, and where it finds it there."""
        file = self.dirt.file
        scope = self.graph.follow.function
        callee = file.resolver.callee(call, scope)
        function = self.dirt.function_called(call, scope)
        bound = callee.bound or (function is not None and callee.kind != "function")
        if isinstance(call.func, ir.Attr) and self.reader.chain(call.func.value, fact) == ():
            klass = self.home.klass
            method = file.types.method(klass, call.func.name) if klass is not None else None
            if method is None and function is None:
                return None
            function = method if method is not None else function
            if function is None or not function.params or function.is_generator:
                return None
            if known.resets_all(function.name):
                return function, (function.params[0].name,), function.name
            return function, (function.params[0].name,), ""
        if function is None or function.is_generator:
            return None
        params = [param.name for param in function.params if param.kind in ("positional", "keyword")]
        offset = 1 if bound else 0
        for position, arg in enumerate(call.args):
            if self.reader.chain(arg, fact) == () and position + offset < len(params):
                return function, (params[position + offset],), ""
        for name, value in call.keywords:
            if name in params and name is not None and self.reader.chain(value, fact) == ():
                return function, (name,), ""
        if function.parent is scope:
            for place, role in fact.places:
                root, rest = place[0], place[1:]
                free = role == OBJECT and not rest and isinstance(root, str) and root not in function.assigned
                if free and any(isinstance(e, ir.Name) and e.id == root for e in _names(function)):
                    return function, (root,), ""
        return None

    # With.

    def _with(self, point: Point, fact: Fact, state: State, *, released: bool) -> set[State]:
        item = point.node
        assert isinstance(item, ir.WithItem)
        context = item.context
        leaving = fact.pend[-1].startswith("exc:") if fact.pend else False
        entering = point.kind == "enter"
        if isinstance(context, ir.Await):
            context = context.value
        if isinstance(context, ir.Call):
            callee = self.dirt.file.resolver.callee(context, self.graph.follow.function)
            function = callee.function if callee.kind == "function" else None
            spec = self.graph.follow.sites[fact.site].spec
            if function is not None and function.is_generator:
                passed = self._passed(context, function, fact, bound=callee.bound)
                if passed is not None:
                    if entering:
                        result = self.dirt.into(function, passed, self.home, spec, state)
                        states = {each for states in result.yields.values() for each in states} or {state}
                        return self._seen_here(function, state, states, point.line)
                    result = self.dirt.resumed(function, passed, self.home, spec, state, raised=leaving)
                    return self._seen_here(function, state, result.ends | result.fails or {state}, point.line)
                if released:
                    result = self.dirt.resumed(function, None, self.home, spec, state, raised=leaving)
                    return self._seen_here(function, state, result.released() or {state}, point.line)
                return {state}
            if not entering and not released and self._may_undo(context, fact):
                return {apply(state, Change("reset", (), point.line), self.home)}
        if not entering and self.home.database:
            return {self._transaction_ends(context, point, fact, state, raised=leaving, released=released)}
        if entering and self.evidence and not self.reader.chain(context, fact):
            state = self._with_evidence(state, point.line) if self.reader.chain(context, fact) == () else state
        return {state}

    def _passed(self, call: ir.Call, function: ir.Function, fact: Fact, *, bound: bool) -> Place | None:
        params = [param.name for param in function.params]
        for position, arg in enumerate(call.args):
            if self.reader.chain(arg, fact) == () and position + bound < len(params):
                return (params[position + bound],)
        for name, value in call.keywords:
            if name in params and name is not None and self.reader.chain(value, fact) == ():
                return (name,)
        if bound and isinstance(call.func, ir.Attr) and self.reader.chain(call.func.value, fact) == ():
            return (params[0],)
        return None

    def _may_undo(self, call: ir.Call, fact: Fact) -> bool:
        """Whether a context manager that cannot be seen may put back what is changed inside it."""
        dotted = self.dirt.file.types.dotted(call.func)
        if dotted in ("contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext", "memoryview"):
            return False
        parts = [*call.args, *(value for _, value in call.keywords)]
        if any(self.reader.chain(part, fact) is not None for part in parts):
            return not self.home.database
        if isinstance(call.func, ir.Attr) and self.reader.chain(call.func.value, fact) is not None:
            return bool(known.UNDOING.search(call.func.name))
        return False

    def _transaction_ends(
        self, context: ir.Expr, point: Point, fact: Fact, state: State, *, raised: bool, released: bool
    ) -> State:
        """Leaving ``with connection:`` or ``with connection.transaction():``, or the block that returns it."""
        path = self.reader.chain(context, fact)
        what = Change("rollback" if raised else "commit", (), point.line)
        if released:
            site = self.graph.follow.sites[fact.site]
            name = site.call.func.name if site.call is not None and isinstance(site.call.func, ir.Attr) else ""
            commits = site.spec.library == "psycopg_pool" or name == "begin"
            return apply(state, what, self.home) if commits else state
        if path == () or (path and path[-1] in (".transaction()", ".begin()", ".begin_nested()")):
            return apply(state, what, self.home)
        return state


def apply(state: State, change: Change, home: Home) -> State:
    """A state after one change."""
    what, path, line = change.what, change.path, change.line
    if what == "use":
        if not any(item.role == STALE for item in state):
            return state
        read = {item._replace(role=READ) for item in state if item.role == STALE and _related(_owner(item.path), path)}
        return state | read
    if what == "shield":
        return state | {Item(path, line, "", "", SHIELD)}
    if what == "commit":
        kept = {
            item._replace(role=DIRTY) if item.role == PENDING else item for item in state if item.path != TRANSACTION
        }
        return frozenset(kept)
    if what == "rollback":
        return frozenset(item for item in state if item.path != TRANSACTION and item.role != PENDING)
    if what == "truncate":
        return _truncated(state, path, line)
    covered = {item for item in state if item.path[: len(path)] == path and item.role not in (SHIELD, READ)}
    if what == "reset":
        return (state - covered) | {Item(path, line, change.text, change.kind, RESET, call=change.call)}
    if what == "erase":
        return state - covered
    if what == "mutate":
        gone = {item for item in state if item.role == RESET and _related(item.path, path)}
        role = SOFT if change.soft else DIRTY
        if any(item.path == path and item.role == role for item in state):
            return state - gone
        return (state - gone) | {Item(path, line, change.text, change.kind, role)}
    assert what == "set"
    before = [item for item in covered if item.path == path and item.role in (DIRTY, PENDING)]
    clean = change.clean or bool(change.value and before and any(item.value != change.value for item in before))
    if clean:
        return (state - covered) | {Item(path, line, change.text, change.kind, RESET)}
    role = PENDING if change.kind in _DEFERRED and _deferred(state, home) else DIRTY
    gone = {item for item in state if item.role == RESET and _related(item.path, path)}
    return (state - covered - gone) | {Item(path, line, change.text, change.kind, role, change.value)}


def _deferred(state: State, home: Home) -> bool:
    return not home.at_once and not any(item.path == ("db", "autocommit") and item.role == DIRTY for item in state)


def _truncated(state: State, path: Path, line: int) -> State:
    content, position = (*path, CONTENT), (*path, POSITION)
    moved = {item for item in state if item.path == position and item.role in (DIRTY, SOFT, STALE)}
    if any(item.role == STALE for item in moved):
        return state
    gone = {item for item in state if item.path == content and (not moved or item.role == STALE)}
    if moved:
        return state - gone
    return (state - gone) | {Item(content, line, "truncate()", "", RESET, call=True)}


def _owner(path: Path) -> Path:
    """What has to be read to see a state: of contents whatever holds them, of what only a reset tells of anything."""
    if path[0].startswith("?"):
        return ()
    return path[:-1] if path[-1:] == (ITEMS,) else path


def _related(one: Path, other: Path) -> bool:
    size = min(len(one), len(other))
    return one[:size] == other[:size]


def _raised(state: State) -> State:
    return frozenset(item if item.exc else item._replace(exc=True) for item in state)


def _is_normal(state: State) -> bool:
    return not any(item.exc for item in state if item.role in (DIRTY, RESET))


def _reset_normally(item: Item, states: set[State]) -> Item | None:
    """The reset of a state on a path without an exception, at the same return."""
    for state in sorted(states, key=sorted):
        if any(_same(each, item) and each.role == item.role and not each.exc for each in state):
            continue
        for each in sorted(state):
            if each.role == RESET and not each.exc and item.path[: len(each.path)] == each.path:
                return each
    return None


def _same(one: Item, other: Item) -> bool:
    return one.path == other.path


def _known_before(item: Item, state: State) -> bool:
    return any(each.path == item.path and each.line == item.line for each in state)


def _told(items: list[Item]) -> tuple[Item, ...]:
    """The items that a message names: the first of each state, in the order of their lines."""
    first: dict[str, Item] = {}
    for item in sorted(items, key=lambda each: (each.line, each.path)):
        first.setdefault(item.text, item)
    return tuple(first.values())


def _anchor(point: Point, follow: Follow) -> tuple[int, int]:
    node = point.node
    if isinstance(node, ir.Call):
        return node.line, node.col
    if point.kind == "exit":
        for each in follow.points:
            if each.kind == "enter" and each.node is node:
                return each.line, each.col
    return point.line, point.col


def _own_name(function: ir.Function) -> str:
    return function.params[0].name if function.owner is not None and function.params else ""


def _names(function: ir.Function) -> Iterator[ir.Expr]:
    for each in (function, *function.nested):
        yield from walk_expressions(each.body)


def _reads_whole(function: ir.Function, names: set[str]) -> bool:
    """Whether a buffer is read otherwise than through slices, its length and calls that fill it."""
    bounded: set[int] = set()
    for expr in walk_expressions(function.body):
        if isinstance(expr, ir.Sub):
            bounded.add(id(expr.value))
        elif isinstance(expr, ir.Call):
            name = (
                expr.func.name
                if isinstance(expr.func, ir.Attr)
                else expr.func.id
                if isinstance(expr.func, ir.Name)
                else ""
            )
            if isinstance(expr.func, ir.Attr) and name in known.MUTATORS["bytearray"] | known.MUTATORS["array"] | {
                "clear"
            }:
                bounded.add(id(expr.func.value))
            if name in _BOUNDED or known.is_resetting(name) or RETURNING.match(name):
                bounded.update(id(arg) for arg in expr.args)
        elif isinstance(expr, ir.Compare):
            bounded.add(id(expr.left))
    stored = {id(target) for stmt in _statements(function) for target in stmt}
    return any(
        isinstance(expr, (ir.Name, ir.Attr))
        and (expr.id if isinstance(expr, ir.Name) else "." + expr.name) in names
        and id(expr) not in bounded
        and id(expr) not in stored
        for expr in walk_expressions(function.body)
    )


def _statements(function: ir.Function) -> Iterator[list[ir.Expr]]:
    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.Assign):
            yield stmt.targets
        elif isinstance(stmt, ir.AugAssign):
            yield [stmt.target]
        elif isinstance(stmt, ir.With):
            yield [item.target for item in stmt.items if item.target is not None]


_BOUNDED = frozenset(
    ("len", "memoryview", "recv_into", "readinto", "pack_into", "readinto1", "recvfrom_into", "put", "put_nowait",
     "append", "appendleft")
)  # fmt: skip
_SESSION = re.compile(r"\s*(?:SET|LISTEN|USE)\s", re.IGNORECASE)
_TELLING = (
    frozenset().union(*known.MUTATORS.values())
    | known.MESSAGE_MUTATORS
    | known.MESSAGE_RESETS
    | known.WRITES
    | frozenset(
        (
            "seek", "truncate", "rollback", "setattr", "fill", "autocommit", "select_db", "set_session", "callback",
            "set_isolation_level", "set_autocommit", "execution_options",
        )
    )
) - frozenset(("append", "appendleft", "pop", "popleft", "get"))  # fmt: skip
_DEFERRED = frozenset(("session_variables", "role", "listen"))
_RANK = {"skipped": 0, "dirty": 1, "partial": 2}
_MOST_STATES = 48
_MOST_STEPS = 200_000

_ = NEXT
