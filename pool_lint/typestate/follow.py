"""Carry facts along the graph of one function.

Every effect of an operation on an object is in `Follow._out`: it takes a point and a fact and gives the facts that
leave the point, each with the way it leaves by.  Facts travel alone and sets of facts are joined by union, so the
answer does not depend on the order of the work (a distributive analysis over finite sets, as in IFDS).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.catalog.spec import PoolSpec
from pool_lint.flow.cfg import NOWHERE, RET, Cfg, Point, Root, Test
from pool_lint.typestate.resolve import text_of
from pool_lint.typestate.state import (
    ANY,
    AWAITABLE,
    CANCELLED,
    CAPTURE,
    CLOSER,
    DERIVED,
    EXIT,
    FALSE,
    FALSY,
    GROUND,
    GUARD,
    HELD,
    LIBRARY,
    NONE,
    NOT_NONE,
    OBJECT,
    OWN,
    PART,
    PENDING,
    POOL,
    RESULT,
    RETURNED,
    THROWN,
    TRUE,
    TRUTHY,
    UNBOUND,
    Fact,
    Place,
    Site,
)
from pool_lint.walk import path_of, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pool_lint.typestate.file import FileAnalysis

Out = tuple[str, Fact]
LATER = ".later"
NEXT, ALT, EXC = "next", "alt", "exc"
USED = "+used"
# How many facts one run may meet: so many, and so many more at each point.  The largest function of the fixtures,
# where all that tests tell is followed, meets nine at a point.
_MOST_FACTS = 12_000
_MOST_AT_A_POINT = 20
ALL, OF_HANDLES = range(2)
_MOST_ENVIRONMENTS = 16
# Parts of an element that are told apart: of what is put into a container, longer paths are forgotten.
_DEEPEST = 3


def _flags(function: ir.Function) -> set[Root]:
    """The variables that are given nothing but True, False and None, and are no parameters."""
    flags: set[Root] = set()
    others: set[Root] = {param.name for param in function.params}
    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ir.Name):
            plain = isinstance(stmt.value, ir.Const) and (stmt.value.value is None or stmt.value.value in (True, False))
            (flags if plain else others).add(stmt.targets[0].id)
    return flags - others


class TooComplex(Exception):  # noqa: N818 - a signal, not an error of the user's
    """The bound on the facts of one function was hit."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An object that is lost on a path: ``how`` is "raise", "leave" (a return or the end) or "drop" (overwritten)."""

    site: int
    how: str
    kind: str
    point: int
    fact: Fact


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong at one point: "double", "use", "wrong", "stale", "unbound", "none"."""

    what: str
    site: int
    point: int
    fact: Fact
    name: Root = ""


class Follow:
    """The analysis of one function.

    ``entries`` are places that hold an object when the function begins (to learn what it does with them);
    ``lenient`` are the points whose objects are given up when an unseen function gets them.
    ``plain`` looks at no handle: enough to see how a function ends.  ``known`` says what is kept of what tests tell:
    ``ALL``, or what they tell ``OF_HANDLES`` and of flags.  ``given`` is what is known at the start.
    """

    def __init__(
        self,
        file: FileAnalysis,
        cfg: Cfg,
        entries: Iterable[tuple[Place, PoolSpec]] = (),
        lenient: frozenset[int] = frozenset(),
        *,
        plain: bool = False,
        known: int = ALL,
        given: tuple[tuple[tuple[Root, ...], str], ...] = (),
    ) -> None:
        self.file = file
        self.cfg = cfg
        self.function = cfg.function
        self.points = cfg.points
        self.sites: list[Site] = []
        self.losses: list[Loss] = []
        self.faults: list[Fault] = []
        self.ends: list[Fact] = []
        self.fails: list[Fact] = []
        self.yields: list[tuple[int, Fact]] = []
        self.awaits: list[tuple[int, Fact]] = []
        self.parents: dict[tuple[int, Fact], tuple[int, Fact, str] | None] = {}
        self.edges: list[tuple[int, Fact, str, int, Fact]] | None = None
        self.lenient = lenient
        self._site_keys: dict[tuple[object, ...], int] = {}
        self._live = file.live(cfg)
        self._entries = list(entries)
        self._entered = frozenset(place for place, _ in self._entries)
        self.keys = frozenset[tuple[Root, ...]]() if plain else file.keys(cfg) | {key for key, _ in given}
        if known != ALL:
            names = file.handle_names(self.function) | _flags(self.function)
            self.keys = frozenset((name,) for name in names)
        self._given = given
        self._environments: dict[int, int] = {}
        self._greenlets = file.greenlets
        self.setting = file.settings.may_raise
        self._decorators = file.decorators(self.function)
        has_own = self.function.owner is not None and self.function.params and "staticmethod" not in self._decorators
        self.own_name = self.function.params[0].name if has_own else ""
        self._closers = {} if plain else file.named_closures(self.function)
        self._recorded: set[object] = set()
        self._used = False
        self.pool_words: dict[str, Place] = {}
        self._pool_names = frozenset[str]() if plain else file.pool_names(self.function)
        self.keys |= {(name,) for name in self._pool_names} if self._pool_names else set()
        self._quiet_items = file.release_receivers(cfg)
        self.handles = file.handle_names(self.function)
        self._handle_paths = file.handle_paths(self.function, self.handles)

    # The work list.

    def run(self) -> None:
        """Follow everything from the entry to the ends."""
        work: deque[tuple[int, Fact]] = deque()
        start = Fact(GROUND, "", env=self._start_env())
        first = [start]
        for place, spec in self._entries:
            site = self.site_at(("entry", place), "param", spec, self.cfg.entry, None, frozenset(("call",)), "", None)
            first.append(start._replace(site=site, status=HELD).with_places({(place, OBJECT)}))
        for fact in first:
            self.parents[self.cfg.entry, fact] = None
            work.append((self.cfg.entry, fact))
        parents = self.parents
        points = self.points
        most = _MOST_FACTS + _MOST_AT_A_POINT * len(points)
        while work:
            index, fact = work.popleft()
            point = points[index]
            if point.kind == "end":
                self._at_end(index, fact)
                continue
            if point.kind == "fail":
                self._at_fail(index, fact)
                continue
            for target, way, after in self._leave(index, point, fact):
                settled = self._settle(target, index, after, fact)
                if self.edges is not None:
                    self.edges.append((index, fact, way, target, after if settled is None else settled))
                if settled is None:
                    continue
                key = (target, settled)
                if key not in parents:
                    parents[key] = (index, fact, way)
                    work.append(key)
            if len(parents) > most:
                raise TooComplex

    def _leave(self, index: int, point: Point, fact: Fact) -> Iterator[tuple[int, str, Fact]]:
        kind = point.kind
        if kind == "dispatch":
            yield from self._dispatch(point, fact)
            return
        if kind == "end_finally":
            label, pend = fact.pend[-1], fact.pend[:-1]
            fact = fact._replace(pend=pend)
            if label.startswith("exc:"):
                yield point.exc, EXC, fact._replace(exc=label[4:])
            elif label in point.table:
                yield point.table[label], NEXT, fact
            return
        for way, after in self._out(index, point, fact):
            target = point.next if way == NEXT else point.alt if way == ALT else point.exc
            if target != NOWHERE:
                yield target, way, after

    def _settle(self, target: int, source: int, fact: Fact, before: Fact) -> Fact | None:
        """Drop what no longer matters at a point; None where nothing is left to follow."""
        live = self._live[target]
        places = fact.places
        if places:
            held = fact.status in (HELD, PENDING)
            kept = tuple(
                entry
                for entry in places
                if entry[0][0] in live
                or (held and isinstance(entry[0][0], str))
                or (entry[0][0] == self.own_name and held)
            )
            if kept != places:
                fact = fact._replace(places=kept)
        if fact.env:
            env = tuple(entry for entry in fact.env if self._key_is_live(entry[0], live))
            if env != fact.env:
                fact = fact._replace(env=env)
        if fact.seen and not all(loop in live for loop in fact.seen):
            fact = fact._replace(seen=tuple(loop for loop in fact.seen if loop in live))
        if fact.site != GROUND:
            if (
                fact.status != HELD
                and not any(role != POOL for _, role in fact.places)
                and not (self._entries and fact.status == RETURNED)
            ):
                return None
            if (
                fact.status == HELD
                and not fact.holds()
                and self.sites[fact.site].kind != "permit"
                and not _is_leaving(fact)
            ):
                self._dropped(source, fact, before)
                return None
        elif fact.env:
            count = self._environments.get(target, 0)
            if (target, fact) not in self.parents:
                self._environments[target] = count + 1
                if count > _MOST_ENVIRONMENTS:
                    fact = fact._replace(env=())
        return fact

    def _key_is_live(self, key: tuple[Root, ...], live: frozenset[Root]) -> bool:
        if key[0] == "?":
            return key in self.keys
        return key[0] in live and (key in self.keys or isinstance(key[0], int))

    def _start_env(self) -> tuple[tuple[tuple[Root, ...], str], ...]:
        """Variables that are released somewhere are unbound when the function begins."""
        params = {param.name for param in self.function.params}
        names = sorted(
            key[0]
            for key in self.keys
            if len(key) == 1 and isinstance(key[0], str) and key[0] in self.function.assigned
            and key[0] not in params and key[0] not in self.function.outer
        )  # fmt: skip
        return tuple(sorted((*(((name,), UNBOUND) for name in names), *self._given), key=repr))

    # Sites.

    def site_at(  # noqa: PLR0913 - one argument per field
        self,
        key: tuple[object, ...],
        kind: str,
        spec: PoolSpec,
        index: int,
        call: ir.Call | None,
        ways: frozenset[str],
        pool: str,
        path: Place | None,
        *,
        own: bool = False,
    ) -> int:
        """The number of the site of a key, which is made the first time that a path comes to it."""
        found = self._site_keys.get(key)
        if found is None:
            point = self.points[index]
            found = len(self.sites)
            line, col = (call.line, call.col) if call is not None else (point.line, point.col)
            self.sites.append(Site(found, kind, spec, index, line, col, ways, pool, path, own, call))
            self._site_keys[key] = found
        return found

    def is_lenient(self, fact: Fact) -> bool:
        """Whether an unseen function that gets the object is taken to look after it."""
        return self.sites[fact.site].point in self.lenient

    # Ends.

    def _at_end(self, index: int, fact: Fact) -> None:
        self.ends.append(fact)
        if fact.site == GROUND:
            return
        site = self.sites[fact.site]
        returned = fact.below(RET)
        if fact.status == RETURNED:
            if any(role in (OBJECT, DERIVED) for _, role in returned) and USED not in fact.via:
                self.report("use", fact.ret, fact)
            return
        if fact.status != HELD:
            return
        if site.kind == "permit":
            self._permit_ends(index, fact)
            return
        if any(role in (OBJECT, PART, CLOSER, GUARD, CAPTURE) for _, role in returned):
            site.transferred = True
            return
        if any(role == DERIVED for _, role in returned) and not site.returned:
            # The caller can reach the object through what it gets.
            site.transferred = True
            return
        for place, role in fact.places:
            if place[0] == self.own_name and role in (OBJECT, PART, GUARD, DERIVED) and self._kept_by_class(place):
                # What was in that attribute when the method began has only stayed there.
                site.transferred = site.transferred or place not in self._entered
                return
        self._lost("leave", index, fact)

    def _permit_ends(self, index: int, fact: Fact) -> None:
        point = self.points[fact.ret] if fact.ret >= 0 else None
        if point is not None and point.name == "" and not self.function.is_generator:
            self.sites[fact.site].transferred = True
            return
        self._lost("leave", index, fact)

    def _kept_by_class(self, place: Place) -> bool:
        owner = self.function.owner
        if owner is None or len(place) == 1 or not isinstance(place[1], str):
            return False
        return self.file.attributes.attr_policy(owner, self.function, place[1].lstrip(".")) != "kept"

    def _at_fail(self, index: int, fact: Fact) -> None:
        self.fails.append(fact)
        if fact.site == GROUND or fact.status != HELD or fact.exc == EXIT or fact.exc.startswith(OWN):
            return
        self._lost("raise", index, fact)

    def _dropped(self, index: int, fact: Fact, before: Fact) -> None:
        """The last reference is gone; the object may come back by itself."""
        site = self.sites[fact.site]
        if site.spec.gc_returns != "no":
            return
        # The way to where it was still held; of a fact that was only born here there is none.
        self._lost("drop", index, fact, before if before.site == fact.site else fact)

    def _lost(self, how: str, index: int, fact: Fact, shown: Fact | None = None) -> None:
        site = self.sites[fact.site]
        if how == "leave" and site.spec.gc_returns != "no" and not site.spec.only_if_released and not site.own:
            return
        kind = fact.exc if how == "raise" and fact.via != CANCELLED else fact.via
        if how != "raise" and kind == "":
            # A `finally` that returns swallows what was on its way.
            kind = _cause(fact.pend)
        self.losses.append(Loss(fact.site, how, kind, index, shown or fact))

    def report(self, what: str, index: int, fact: Fact, name: Root = "") -> None:
        """Note that something is wrong at a point, once for each object."""
        if what == "use":
            self._used = True
        key = (what, fact.site, index)
        if key not in self._recorded:
            self._recorded.add(key)
            self.faults.append(Fault(what, fact.site, index, fact, name))

    def give_back(self, index: int, fact: Fact) -> Fact:
        """The object goes back to its pool here."""
        self.sites[fact.site].returned = True
        return fact._replace(status=RETURNED, done=index, via="leaving" if _is_leaving(fact) else "")

    def transfer(self, fact: Fact) -> None:
        """Somebody else looks after the object from here on."""
        self.sites[fact.site].transferred = True

    # Exceptions.

    def _dispatch(self, point: Point, fact: Fact) -> Iterator[tuple[int, str, Fact]]:
        pend, handling = point.depths
        fact = fact._replace(pend=fact.pend[:pend], handling=fact.handling[:handling])
        spec = self.sites[fact.site].spec if fact.site != GROUND else None
        before: set[str] = set()
        for handler, entry in point.handlers:
            names = self.file.exceptions.names(handler.type, self.function)
            match = self.file.exceptions.match(names, fact.exc, spec)
            if match == "no" or (match == "maybe" and before.issuperset(names)):
                continue
            before.update(names)
            kind = fact.exc
            if match == "maybe" and len(names) == 1 and kind in (ANY, LIBRARY):
                kind = names[0]
            via = fact.via
            if fact.status == HELD and fact.site != GROUND and via == "":
                via = CANCELLED if fact.exc == CANCELLED else ANY
            yield entry, NEXT, fact._replace(exc="", handling=(*fact.handling, kind), via=via)
            if match == "yes":
                return
        yield point.exc, EXC, fact

    def raising(self, fact: Fact, *, library: bool = False, waits: bool = False, thrown: bool = False) -> Iterator[Out]:
        """The exceptional ways out of an operation that may raise."""
        kind = ANY
        if fact.site == GROUND and waits:
            yield EXC, fact._replace(exc=CANCELLED)
        if fact.site != GROUND:
            if library and self.sites[fact.site].spec.errors:
                kind = LIBRARY
            if waits or (self._greenlets and not thrown):
                yield EXC, fact._replace(exc=CANCELLED)
            if thrown:
                yield EXC, fact._replace(exc=THROWN)
        yield EXC, fact._replace(exc=kind)

    # One operation.

    def _out(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        method = _OPERATIONS.get(point.kind)
        if method is None:
            return ((NEXT, fact),)
        self._used = False
        outs: Iterable[Out] = list(method(self, index, point, fact))
        if self.setting == "any" and point.kind in ("attr", "use"):
            outs = [*self.raising(fact), *outs]
        if self._used and not outs:
            # The first use after the return is told; what else happens on the path is still to be seen.
            outs = method(self, index, point, fact._replace(via=fact.via + USED))
        return outs

    def _move(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        assert point.dst is not None
        src = point.srcs[0] if point.srcs else None
        if src == point.dst:
            return ((NEXT, fact),)
        parts = fact.below(src) if src is not None else []
        known = fact.known((src,)) if src is not None and fact.env else ""
        if (
            not known
            and isinstance(src, str)
            and (point.dst in self._pool_names or (isinstance(point.dst, int) and self._pool_names))
        ):
            known = self._pool_word((src,))
        return ((NEXT, self.bind(index, point.dst, fact, parts, known)),)

    def bind(self, index: int, dst: Root, fact: Fact, parts: list[tuple[Place, str]], known: str = "") -> Fact:
        """Give a variable or temporary its value."""
        if (
            dst in self.function.outer
            and any(role in (OBJECT, PART, GUARD, CLOSER, CAPTURE) for _, role in parts)
            and fact.site != GROUND
            and fact.status == HELD
        ):
            # Stored in a global or in a variable of the function around: somebody else's from here on.
            self.transfer(fact)
            return fact._replace(status=RETURNED, places=())
        if not parts and not known and not fact.places and not fact.env:
            return fact
        fact = fact.bind(dst, parts)
        if known and ((dst,) in self.keys or isinstance(dst, int)):
            fact = fact.know((dst,), known)
        if isinstance(dst, str) and parts and fact.site != GROUND and ((), OBJECT) in parts:
            self.sites[fact.site].vars.add(dst)
            closers = self._closers.get(dst)
            if closers:
                places = set(fact.places)
                places.update(((name,), role) for name, role in closers)
                fact = fact.with_places(places)
        return fact

    def _pool_word(self, path: Place) -> str:
        """What is known of a variable that is given the pool at a path: which pool it is."""
        kind = self.file.pool_at(path, self.function)
        if not kind:
            return ""
        word = "@" + ".".join(str(part) for part in path)
        self.pool_words[word] = path
        return word

    def _const(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        assert point.dst is not None
        value = point.node
        known = (
            NONE
            if value is None
            else TRUE
            if value is True
            else FALSE
            if value is False
            else TRUTHY
            if value
            else FALSY
        )
        return ((NEXT, self.bind(index, point.dst, fact, [], known)),)

    def _delete(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        assert point.dst is not None
        return ((NEXT, self.bind(index, point.dst, fact, [], UNBOUND)),)

    def _attr(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        src, dst = point.srcs[0], point.dst
        assert dst is not None
        if fact.site == GROUND:
            known = ""
            if self._pool_names and isinstance(point.node, ir.Attr):
                path = path_of(point.node)
                known = self._pool_word(path) if path is not None else ""
            return (
                (NEXT, self.bind(index, dst, fact, [], known) if known else fact.forget(dst) if fact.env else fact),
            )
        selector = "." + point.name
        parts: list[tuple[Place, str]] = []
        for rest, role in fact.below(src) if src is not None else ():
            if rest and rest[0] == selector:
                parts.append((rest[1:], role))
            elif not rest and role == OBJECT and self.object_release(fact, point.name) is not None:
                parts.append(((), CLOSER))
            elif (
                not rest
                and role == OBJECT
                and fact.status == RETURNED
                and point.name.strip("_") not in _LASTING
                and self.is_use(fact, index)
            ):
                self.report("use", index, fact)
                return ()
        return ((NEXT, self.bind(index, dst, fact, parts)),)

    def is_use(self, fact: Fact, index: int) -> bool:
        """Whether touching an object that was returned is a fault, and the first on its path."""
        site = self.sites[fact.site]
        return site.kind == "borrow" and not site.spec.only_if_released and fact.done != index and USED not in fact.via

    def object_release(self, fact: Fact, name: str) -> bool | None:
        """Whether a method of the object returns it (True), discards it (False), or neither (None)."""
        for form in self.sites[fact.site].spec.releases:
            if form.on == "object" and form.method == name:
                return not form.discards
        return None

    def _store_attr(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        base, src = point.srcs
        selector = "." + point.name
        if fact.places and base is not None:
            kept = {
                entry
                for entry in fact.places
                if not (entry[0][0] == base and len(entry[0]) > 1 and entry[0][1] == selector)
            }
            if len(kept) != len(fact.places):
                fact = fact.with_places(kept)
        if fact.env and isinstance(base, str):
            path = (base, selector)
            if any(key[:2] == path for key, _ in fact.env):
                fact = fact._replace(env=tuple(entry for entry in fact.env if entry[0][:2] != path))
        if fact.site == GROUND:
            return ((NEXT, fact),)
        if fact.status == RETURNED and base is not None and OBJECT in fact.roles((base,)) and self.is_use(fact, index):
            self.report("use", index, fact)
            return ()
        parts = fact.below(src) if src is not None else []
        if not parts:
            return ((NEXT, fact),)
        if fact.status == RETURNED and any(role in (OBJECT, DERIVED) for _, role in parts) and self.is_use(fact, index):
            self.report("use", index, fact)
            return ()
        strong = [part for part in parts if part[1] in (OBJECT, PART, GUARD, CLOSER, CAPTURE)]
        if fact.status == HELD and strong:
            if base != self.own_name or not self.own_name:
                self.transfer(fact)
                return ()
            policy = self.file.attributes.attr_policy(self.function.owner, self.function, point.name)
            site = self.sites[fact.site]
            self.file.attributes.note_attr_site(self.function, point.name, self, site)
            if (
                self.function.name in _ENTERING
                and not self.file.attributes.has_finalizer(self.function.owner, point.name)
            ) or policy == "kept":
                site.vars.add(selector)
            else:
                self.transfer(fact)
                return ()
        if base is None:
            return ((NEXT, fact),)
        places = set(fact.places)
        places.update(((base, selector, *rest), role) for rest, role in parts)
        return ((NEXT, fact.with_places(places)),)

    def _item(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        src, dst = point.srcs[0], point.dst
        assert dst is not None
        outs: list[Out] = []
        if self.setting != "handle" and dst not in self._quiet_items:
            local = fact.site != GROUND and src is not None and any(rest for rest, _ in fact.below(src))
            if not local:
                outs.extend(self.raising(fact))
        if fact.site == GROUND:
            return [*outs, (NEXT, fact.forget(dst) if fact.env else fact)]
        key = point.node.value if isinstance(point.node, ir.Const) and isinstance(point.node.value, int) else None
        parts: list[tuple[Place, str]] = []
        for rest, role in fact.below(src) if src is not None else ():
            if (rest and (rest[0] == "*" or rest[0] == key or (key is None and isinstance(rest[0], int)))) or (
                rest and isinstance(key, int) and key < 0 and isinstance(rest[0], int)
            ):
                parts.append((rest[1:], role))
            elif not rest and role in (OBJECT, DERIVED) and fact.status == RETURNED and self.is_use(fact, index):
                self.report("use", index, fact)
                return ()
            elif not rest and role == DERIVED and isinstance(point.node, ir.Op) and point.node.kind == "slice":
                parts.append(((), DERIVED))
            elif not rest and role == OBJECT and self.file.has_parts(self.sites[fact.site].spec):
                # Part of a tuple that stands for the object (``entry[1]``).
                parts.append(((), OBJECT))
        outs.append((NEXT, self.bind(index, dst, fact, parts)))
        return outs

    def _store_item(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        from pool_lint.typestate.calls import put_by_key  # noqa: PLC0415 - the two modules are one machine

        base, src = point.srcs
        found = put_by_key(self, index, point, fact)
        if found is not None:
            return found
        if fact.site == GROUND or src is None:
            return ((NEXT, fact),)
        return self.put_into(index, point, fact, base, fact.below(src))

    def put_into(
        self, index: int, point: Point, fact: Fact, base: Root | None, parts: list[tuple[Place, str]]
    ) -> Iterable[Out]:
        """Something that holds the object becomes an element of a container."""
        parts = [part for part in parts if part[1] not in (RESULT, POOL)]
        if not parts:
            return ((NEXT, fact),)
        if fact.status == RETURNED:
            if any(role in (OBJECT, DERIVED) for _, role in parts) and self.is_use(fact, index):
                self.report("use", index, fact)
                return ()
            return ((NEXT, fact),)
        if (
            self.sites[fact.site].own
            and isinstance(point.node, ir.Call)
            and isinstance(point.node.func, ir.Attr)
            and (self.file.permits.is_own_container(point.node.func.value, self.function))
        ):
            # A pool notes what it has lent (`self._busy.add(x)`): bookkeeping, not a transfer.
            # In a handler it sets aside what is broken (`self._broken.append(x)`): there it stays.
            if any(region == "handler" for _, region in point.tries):
                self.transfer(fact)
                return ()
            return ((NEXT, fact),)
        if base is None or not (isinstance(base, int) or self.is_local(base)):
            self.transfer(fact)
            return ()
        if isinstance(base, int) and not any(place[0] == base for place, _ in fact.places) and not self._is_built(base):
            self.transfer(fact)
            return ()
        places = set(fact.places)
        places.update(((base, "*", *rest), role) for rest, role in parts if len(rest) < _DEEPEST)
        return ((NEXT, fact.with_places(places)),)

    def _is_built(self, temp: int) -> bool:
        return temp in self.file.built_temps(self.cfg)

    def is_local(self, name: Root | None) -> bool:
        """Whether a name is a variable of this function that nobody else can see (no parameter, no global)."""
        if not isinstance(name, str):
            return False
        function = self.function
        params = any(param.name == name for param in function.params)
        return not params and (name in function.assigned or "'" in name) and name not in function.outer

    def _build(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        assert point.dst is not None
        if fact.site == GROUND:
            return ((NEXT, fact),)
        parts: list[tuple[Place, str]] = []
        for position, root in enumerate(point.srcs):
            if root is None:
                continue
            for rest, role in fact.below(root):
                if point.name == "spread":
                    parts.append((rest or ("*",), role))
                else:
                    parts.append(((position if point.name == "tuple" else "*", *rest), role))
        if not parts:
            return ((NEXT, fact),)
        return ((NEXT, fact.bind(point.dst, parts)),)

    def _add(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        base, src = point.srcs
        if fact.site == GROUND or src is None:
            return ((NEXT, fact),)
        parts = fact.below(src)
        if not parts:
            return ((NEXT, fact),)
        places = set(fact.places)
        places.update(((base, "*", *rest), role) for rest, role in parts if base is not None and len(rest) < _DEEPEST)
        return ((NEXT, fact.with_places(places)),)

    def _aug(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        assert point.dst is not None
        if fact.site == GROUND:
            return ((NEXT, fact.forget(point.dst)),)
        src = point.srcs[1]
        places = set(fact.places)
        for rest, role in fact.below(src) if src is not None else ():
            if rest:
                places.add(((point.dst, *rest), role))
        return ((NEXT, fact.forget(point.dst).with_places(places)),)

    def _aug_attr(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        outs: list[Out] = []
        base = point.srcs[0]
        node = point.node
        assert isinstance(node, ir.AugAssign)
        path: Place = (base if base is not None else "", "." + point.name)
        if fact.site == GROUND:
            if (
                node.op == "AddAssign"
                and base == self.own_name
                and self.file.permits.is_count(self.function, point.name)
            ):
                site = self.site_at(
                    ("count", index), "permit", PERMIT, index, None, frozenset(), text_of(node.target), path, own=True
                )
                outs.append((NEXT, fact._replace(site=site, status=HELD)))
            outs.append((NEXT, fact))
            return outs
        site_ = self.sites[fact.site]
        if site_.kind == "permit" and fact.status == HELD and node.op == "SubtractAssign" and site_.path == path:
            site_.returned = True
            return ()
        return ((NEXT, fact),)

    def _unpack(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        src = point.srcs[0]
        outs: list[Out] = []
        parts = fact.below(src) if src is not None and fact.site != GROUND else []
        direct = self.file.is_direct_unpack(self.cfg, index)
        if (not direct and not any(rest for rest, _ in parts) and self.setting != "handle" and fact.status != "") or (
            fact.site == GROUND and not direct
        ):
            outs.extend(self.raising(fact))
        after = fact
        for position, dst in enumerate(point.dsts):
            if dst is None:
                continue
            mine: list[tuple[Place, str]] = []
            for rest, role in parts:
                if not rest:
                    if role == OBJECT:
                        mine.append(((), PART if self._is_plain_part(point, dst) else OBJECT))
                elif rest[0] == "*":
                    mine.append(((rest if position == point.starred else rest[1:]), role))
                elif isinstance(rest[0], int):
                    at = rest[0]
                    if point.starred >= 0 and position >= point.starred:
                        if position == point.starred and at >= position:
                            mine.append((("*", *rest[1:]), role))
                        elif at >= position:
                            mine.append((rest[1:], role))
                    elif at == position:
                        mine.append((rest[1:], role))
            after = self.bind(index, dst, after, mine)
        outs.append((NEXT, after))
        return outs

    def _is_plain_part(self, point: Point, dst: Root) -> bool:
        """Whether a part of an entry (``number, link = free.get()``) is a number or a name: nobody looks into it."""
        return len(point.dsts) > 1 and isinstance(dst, str) and dst not in self.file.looked_into(self.function)

    # Calls: see calls.py for what each kind of callee does.

    def _call(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        from pool_lint.typestate.calls import call_effects  # noqa: PLC0415 - the two modules are one machine

        return call_effects(self, index, point, fact)

    def _await(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        src, dst = point.srcs[0], point.dst
        assert dst is not None
        if fact.site == GROUND:
            outs = [] if self._ends_here(point, fact, index) else list(self.raising(fact, waits=True))
            after = fact.forget(dst) if fact.env else fact
            if ((dst,) in self.keys and dst in self.handles) or (
                isinstance(dst, int)
                and isinstance(point.node, ir.Await)
                and self.file.is_borrow(point.node, self.function)
            ):
                after = after.know((dst,), TRUTHY)
            return [*outs, (NEXT, after)]
        parts = fact.below(src) if src is not None else []
        if fact.status == PENDING:
            if any(role == AWAITABLE for _, role in parts):
                if any(rest[:1] == (LATER,) for rest, _ in parts):
                    # A coroutine whose result is awaited or entered in its turn.
                    later = [(rest[1:], role) for rest, role in parts if rest[:1] == (LATER,)]
                    return [*self.raising(fact), (NEXT, self.bind(index, dst, fact, later))]
                held = fact._replace(status=HELD)
                roles = [(rest, OBJECT if role == AWAITABLE else role) for rest, role in parts]
                places = {entry for entry in held.places if entry[1] != AWAITABLE}
                held = held.with_places(places)
                return ((NEXT, self.bind(index, dst, held, roles, TRUTHY)),)
            return [*self.raising(fact), (NEXT, self.bind(index, dst, fact, []))]
        outs = []
        if not self._ends_here(point, fact, index):
            library = any(role in (RESULT, DERIVED) and not rest for rest, role in parts)
            outs.extend(self.raising(fact, library=library, waits=True))
        if (
            fact.status == RETURNED
            and any(role == DERIVED and not rest for rest, role in parts)
            and self.is_use(fact, index)
        ):
            self.report("use", index, fact)
            return ()
        kept = [part for part in parts if part[1] != RESULT]
        outs.append((NEXT, self.bind(index, dst, fact, kept)))
        return outs

    def _ends_here(self, point: Point, fact: Fact, index: int) -> bool:
        """Whether what is awaited is the release of this object, just called.

        That ends the obligation even if it raises.
        """
        node = point.node
        if not isinstance(node, ir.Await):
            return False
        call: ir.Expr = node.value
        while (
            isinstance(call, ir.Call)
            and self.file.types.dotted(call.func) in ("asyncio.shield", "asyncio.wait_for")
            and call.args
        ):
            call = call.args[0]
        if not isinstance(call, ir.Call):
            return False
        if fact.status == RETURNED and fact.done >= 0 and self.points[fact.done].node is call:
            return True
        return self.file.is_release_call(call, self.function)

    def _yield(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        src, dst = point.srcs[0], point.dst
        assert dst is not None
        managed = bool(self._decorators & _LENDERS)
        resumed = "fixture" in self._decorators
        if fact.site == GROUND:
            outs: list[Out] = [] if resumed else list(self.raising(fact))
            outs.append((NEXT, fact.forget(dst) if fact.env else fact))
            return outs
        parts = fact.below(src) if src is not None else []
        if fact.status == RETURNED:
            if any(role in (OBJECT, DERIVED) for _, role in parts) and self.is_use(fact, index):
                self.report("use", index, fact)
                return ()
        elif fact.status == HELD:
            self.yields.append((index, fact))
            if any(role in (OBJECT, PART, CLOSER, CAPTURE) for _, role in parts) and self.is_lenient(fact):
                self.transfer(fact)
                return ()
        outs = []
        if not resumed:
            if managed or point.name == "from":
                outs.extend(self.raising(fact, thrown=True))
            else:
                outs.append((EXC, fact._replace(exc=THROWN)))
        outs.append((NEXT, self.bind(index, dst, fact, [])))
        return outs

    def _use(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        if fact.status == RETURNED:
            for root in point.srcs:
                if root is not None and any(not rest and role == DERIVED for rest, role in fact.below(root)):
                    self.report("use", index, fact)
                    return ()
        return ((NEXT, fact),)

    # Branches.

    def _branch(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        test = point.test
        assert test is not None
        if test.kind == "opaque":
            return ((NEXT, fact), (ALT, fact))
        if test.kind == "predicate":
            return self._predicate(test, point, fact)
        if test.kind == "same":
            return self._same(test, point, fact)
        if test.kind == "bound":
            known = fact.known(test.path)
            if self._held_at(fact, test.path, point):
                return ((NEXT, fact),)
            return ((ALT, fact),) if known == UNBOUND else ((NEXT, fact), (ALT, fact))
        path = test.path
        held = self._held_at(fact, path, point)
        if held is not None:
            yes = held if test.kind == "truth" else not held
            return ((NEXT if yes else ALT, fact),)
        known = fact.known(path) if point.name != "while" or len(path) == 1 else ""
        if test.kind == "truth":
            if known in (TRUE, TRUTHY) or known.startswith("@"):
                return ((NEXT, fact),)
            if known in (FALSE, FALSY, NONE):
                return ((ALT, fact),)
            if known == UNBOUND:
                return ()  # a NameError
            return (
                (NEXT, self._learn(fact, path, TRUTHY)),
                (ALT, self._learn(fact, path, FALSY)),
            )
        if known == NONE:
            return ((NEXT, fact),)
        if known in (TRUE, FALSE, TRUTHY, NOT_NONE) or known.startswith("@"):
            return ((ALT, fact),)
        if known == FALSY:
            return ((NEXT, fact),) if self._is_handle(path) else ((NEXT, fact), (ALT, fact))
        if known == UNBOUND:
            return ()
        # A variable for a handle is not None or false for any other reason.
        other = TRUTHY if self._is_handle(path) else NOT_NONE
        return ((NEXT, self._learn(fact, path, NONE)), (ALT, self._learn(fact, path, other)))

    def _is_handle(self, path: Place) -> bool:
        return path[0] in self.handles or path in self._handle_paths

    def _learn(self, fact: Fact, path: tuple[Root, ...], value: str) -> Fact:
        return fact.know(path, value) if path in self.keys else fact

    def _held_at(self, fact: Fact, path: Place, point: Point) -> bool | None:
        """Whether the tested path is the object (then it is true), or a container with it."""
        if fact.site == GROUND:
            return None
        roots: list[Place] = [path]
        if point.srcs and point.srcs[0] is not None:
            roots.append((point.srcs[0],))
        for place, role in fact.places:
            for root in roots:
                if place == root and (
                    role in (OBJECT, GUARD, CLOSER, AWAITABLE)
                    or (role == CAPTURE and self.sites[fact.site].kind == "permit")
                ):
                    return True
                if place[: len(root)] == root and len(place) > len(root) and place[len(root)] == "*" and role == OBJECT:
                    return True
        return None

    def _same(self, test: Test, point: Point, fact: Fact) -> Iterable[Out]:
        """``a is b``: an object that was borrowed here is no other object."""
        if fact.site != GROUND and self.sites[fact.site].kind == "borrow":
            first = any(place == test.path and role == OBJECT for place, role in fact.places)
            second = any(place == test.other and role == OBJECT for place, role in fact.places)
            if first and second:
                return ((NEXT, fact),)
            if first or second:
                return ((ALT, fact),)
        return self._predicate(test, point, fact)

    def _predicate(self, test: Test, point: Point, fact: Fact) -> Iterable[Out]:
        key: tuple[Root, ...] = ("?", test.text, *sorted(test.reads))
        # The body of a loop is there to change what its test asks of an object: `while len(taken) < 2`.
        again = point.name == "while" and any(sign in test.text for sign in _MUTABLE)
        known = fact.known(key) if not again else ""
        if known == TRUE:
            return ((NEXT, fact),)
        if known == FALSE:
            return ((ALT, fact),)
        if key not in self.keys:
            return ((NEXT, fact), (ALT, fact))
        return ((NEXT, fact.know(key, TRUE)), (ALT, fact.know(key, FALSE)))

    # Loops.

    def _iter(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        src, dst = point.srcs[0], point.dst
        assert dst is not None
        if fact.site == GROUND:
            outs = [] if self._iterates_safely(point) else list(self.raising(fact))
            return [*outs, (NEXT, fact)]
        parts = fact.below(src) if src is not None else []
        inside = [part for part in parts if part[0]]
        outs = []
        if (
            fact.status == RETURNED
            and any(not rest and role == DERIVED for rest, role in parts)
            and self.is_use(fact, index)
        ):
            self.report("use", index, fact)
            return ()
        if not inside and not self._iterates_safely(point) and self.setting != "handle":
            library = any(role in (DERIVED, OBJECT) for _, role in parts)
            outs.extend(self.raising(fact, library=library, waits=point.name == "async"))
        if fact.seen and dst in fact.seen:
            fact = fact._replace(seen=tuple(loop for loop in fact.seen if loop != dst))
        outs.append((NEXT, self.bind(index, dst, fact, parts)))
        return outs

    def _iterates_safely(self, point: Point) -> bool:
        node = point.node
        if isinstance(node, (ir.Seq, ir.Const, ir.DictLit)):
            return True
        return isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == "range"

    def _step(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        src, dst = point.srcs[0], point.dst
        assert dst is not None
        assert src is not None
        if fact.site == GROUND:
            outs = [] if self._iterates_safely(point) else list(self.raising(fact))
            return [*outs, (NEXT, fact.forget(dst) if fact.env else fact), (ALT, fact)]
        parts = fact.below(src)
        elements = [(rest[1:], role) for rest, role in parts if rest and (rest[0] == "*" or isinstance(rest[0], int))]
        if elements and any(role in (OBJECT, GUARD, CLOSER) for _, role in elements):
            # One of the elements is the object: the loop comes to it, and does not end before.
            if src in fact.seen:
                return ((NEXT, self.bind(index, dst, fact, [])), (ALT, fact))
            seen = fact._replace(seen=tuple(sorted((*fact.seen, src), key=str)))
            return ((NEXT, self.bind(index, dst, seen, elements)),)
        outs = []
        derived = any(not rest and role == DERIVED for rest, role in parts)
        if fact.status == RETURNED and derived and self.is_use(fact, index):
            self.report("use", index, fact)
            return ()
        if not self._iterates_safely(point) and self.setting != "handle":
            outs.extend(self.raising(fact, library=derived, waits=point.name == "async"))
        outs.append((NEXT, self.bind(index, dst, fact, elements)))
        outs.append((ALT, fact))
        return outs

    # With.

    def _enter(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        context, dst = point.srcs[0], point.dst
        item = point.node
        assert context is not None
        assert dst is not None
        assert isinstance(item, ir.WithItem)
        waits = point.name == "async"
        quiet = self.file.is_quiet_with(item.context, self.function)
        if fact.site == GROUND:
            outs = [] if quiet else list(self.raising(fact))
            after = fact.forget(dst) if fact.env else fact
            if (dst,) in self.keys and self.file.is_borrow(item.context, self.function):
                after = after.know((dst,), TRUTHY)
            return [*outs, (NEXT, after)]
        site = self.sites[fact.site]
        parts = fact.below(context)
        if fact.status == PENDING and any(role == AWAITABLE for _, role in parts):
            held = fact._replace(status=HELD)
            places = {entry for entry in held.places if entry[1] != AWAITABLE} | {((context,), GUARD)}
            bound = [(rest, OBJECT) for rest, role in parts if role == AWAITABLE]
            return ((NEXT, self.bind(index, dst, held.with_places(places), bound, TRUTHY)),)
        if (
            fact.status == RETURNED
            and self.is_use(fact, index)
            and any(role in (OBJECT, DERIVED) and not rest for rest, role in parts)
        ):
            self.report("use", index, fact)
            return ()
        bound = []
        guard = False
        library = False
        for rest, role in parts:
            if rest and rest[0] == ".it":
                bound.append((rest[1:], role))
            elif not rest and role == OBJECT:
                if site.spec.id == "unseen" and fact.status == HELD:
                    # Nobody knows what `with` on this object does.
                    site.unseen = True
                    if self.is_lenient(fact):
                        self.transfer(fact)
                        return ()
                bound.append(((), OBJECT))
                library = True
                guard = guard or site.spec.with_object == "returns"
            elif not rest and role == DERIVED:
                bound.append(((), DERIVED))
                library = True
            elif not rest and role == CAPTURE:
                bound.append(((), CAPTURE))
        outs = []
        if guard:
            pass  # an object whose own `with` returns it: what could fail is its exit
        elif not quiet and self.setting != "handle":
            outs.extend(self.raising(fact, library=library, waits=waits))
        elif quiet and waits and self.file.is_lock(item.context, self.function):
            outs.append((EXC, fact._replace(exc=CANCELLED)))
        if guard:
            fact = fact.with_places(set(fact.places) | {((context,), GUARD)})
        outs.append((NEXT, self.bind(index, dst, fact, bound)))
        return outs

    def _exit(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        item = point.node
        assert isinstance(item, ir.WithItem)
        outs: list[Out] = []
        if fact.site != GROUND:
            roots = {point.srcs[0]}
            if isinstance(item.target, ir.Name):
                roots.add(item.target.id)
            if any(role == GUARD and len(place) == 1 and place[0] in roots for place, role in fact.places):
                places = {entry for entry in fact.places if not (entry[1] == GUARD and entry[0][0] in roots)}
                if fact.status == HELD:
                    fact = self.give_back(index, fact.with_places(places))
                elif fact.status == RETURNED:
                    if not self.sites[fact.site].spec.second_release_ok:
                        self.report("double", index, fact)
                    fact = fact.with_places(places)
        label = fact.pend[-1] if fact.pend else ""
        if label.startswith("exc:"):
            names = self.file.swallowed(item.context, self.function)
            if names:
                spec = self.sites[fact.site].spec if fact.site != GROUND else None
                match = self.file.exceptions.match(names, label[4:], spec)
                if match != "no":
                    via = fact.via
                    if fact.site != GROUND and fact.status == HELD and via == "":
                        via = CANCELLED if label[4:] == CANCELLED else ANY
                    outs.append((NEXT, fact._replace(pend=(*fact.pend[:-1], "fall"), via=via)))
                    if match == "yes":
                        return outs
        outs.append((NEXT, fact))
        return outs

    def _closure(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        dst = point.dst
        assert dst is not None
        if fact.site == GROUND:
            return ((NEXT, fact.forget(dst) if fact.env else fact),)
        parts: list[tuple[Place, str]] = []
        for name in point.srcs:
            if name is None:
                continue
            for rest, role in fact.below(name):
                if point.name == "generator":
                    if role in (OBJECT, DERIVED) and not rest:
                        parts.append(((), DERIVED))
                elif role in (OBJECT, PART, DERIVED, CLOSER, GUARD) and isinstance(point.node, ir.Function):
                    closes = role in (OBJECT, PART, CLOSER) and self.file.closes(
                        point.node, (name, *rest), self.sites[fact.site].spec
                    )
                    parts.append(((), CLOSER if closes else CAPTURE))
        return ((NEXT, self.bind(index, dst, fact, sorted(set(parts), key=str))),)

    # Leaving.

    def _ret(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        src = point.srcs[0] if point.srcs else None
        fact = fact._replace(ret=index) if fact.site != GROUND else fact
        if fact.site == GROUND or src is None:
            places = tuple(entry for entry in fact.places if entry[0][0] != RET)
            return ((NEXT, fact._replace(places=places) if places != fact.places else fact),)
        parts = fact.below(src) if src != self.own_name else []
        if fact.status == RETURNED and any(role in (OBJECT, DERIVED) for _, role in parts) and self.is_use(fact, index):
            self.report("use", index, fact)
            return ()
        if fact.status == PENDING and any(role == AWAITABLE for _, role in parts):
            self.awaits.append((index, fact))
        return ((NEXT, fact.bind(RET, parts)),)

    def _raise(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        name = point.name
        if name == "*" or (name in self.function.assigned and not self._names_class(name)):
            kind = fact.handling[-1] if fact.handling else ANY
        else:
            expr = name.split(".")[0]
            dotted = self.file.types.imports.get(expr, expr) + name[len(expr) :]
            kind = self.file.exceptions.kind_of(dotted) if name else ANY
        return ((EXC, fact._replace(exc=kind)),)

    def _names_class(self, name: str) -> bool:
        kind = self.file.types.name_type(name, self.function)
        return kind is not None and kind.kind in ("class", "external")

    def _import(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        if self.setting == "handle":
            return ((NEXT, fact),)
        return [*self.raising(fact), (NEXT, fact)]

    def _caught(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        if point.dst is None:
            return ((NEXT, fact),)
        return ((NEXT, self.bind(index, point.dst, fact, [])),)

    def _uncaught(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        return ((NEXT, fact._replace(handling=fact.handling[:-1])),)

    def _catch(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        pend, handling = point.depths
        label = "exc:" + fact.exc
        if fact.exc == CANCELLED and fact.status == HELD and fact.via == "":
            # Whatever the finally body does from here on happens to a cancelled task.
            fact = fact._replace(via=CANCELLED)
        return ((NEXT, fact._replace(pend=(*fact.pend[:pend], label), handling=fact.handling[:handling], exc="")),)

    def _push(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        pend, handling = point.depths
        fact = _swallowed(fact, pend)
        return ((NEXT, fact._replace(pend=(*fact.pend[:pend], point.name), handling=fact.handling[:handling])),)

    def _trim(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        pend, handling = point.depths
        fact = _swallowed(fact, pend)
        return ((NEXT, fact._replace(pend=fact.pend[:pend], handling=fact.handling[:handling])),)

    def _try(self, index: int, point: Point, fact: Fact) -> Iterable[Out]:
        if fact.site == GROUND or fact.status != RETURNED or fact.via.startswith("stale"):
            return ((NEXT, fact),)
        if (int(point.name), "body") in self.points[self.sites[fact.site].point].tries:
            # The try statement that borrowed it begins again.
            return ((NEXT, fact._replace(via="stale" + (USED if USED in fact.via else ""))),)
        return ((NEXT, fact),)


def tested_paths(cfg: Cfg) -> frozenset[tuple[Root, ...]]:
    """What is worth knowing: what branches ask for more than once, or ask of something that is given a constant."""
    counts: dict[tuple[Root, ...], int] = {}
    fixed: set[Root] = set()
    for point in cfg.points:
        test = point.test
        if test is not None:
            if test.kind in ("truth", "none"):
                counts[test.path] = counts.get(test.path, 0) + 1 + point.repeats
            elif test.kind == "bound":
                counts[test.path] = 2
            elif test.kind in ("predicate", "same"):
                key = ("?", test.text, *sorted(test.reads))
                counts[key] = counts.get(key, 0) + 1 + point.repeats
        elif (point.kind == "const" and isinstance(point.dst, str)) or (
            point.kind == "move" and isinstance(point.dst, str) and point.srcs and isinstance(point.srcs[0], int)
        ):
            fixed.add(point.dst)
    return frozenset(key for key, count in counts.items() if count > 1 or (len(key) == 1 and key[0] in fixed))


def _cause(labels: Iterable[str]) -> str:
    """The kind of the first exception among the reasons for which finally bodies were entered."""
    for label in labels:
        if label.startswith("exc:"):
            return CANCELLED if label[4:] == CANCELLED else ANY
    return ""


def _swallowed(fact: Fact, depth: int) -> Fact:
    """The fact after a jump out of finally bodies: an exception that they were entered for is gone."""
    if len(fact.pend) > depth and fact.status == HELD and fact.via == "":
        cause = _cause(fact.pend[depth:])
        return fact._replace(via=cause) if cause else fact
    return fact


def _is_leaving(fact: Fact) -> bool:
    """Whether an exception is on its way: a dead name is then no loss of its own."""
    return bool(fact.exc) or any(label.startswith("exc:") for label in fact.pend)


PERMIT = PoolSpec(id="permit", library="", classes=(), item="permit", borrows=(), releases=(), remedy="")
# What in the text of a condition reads a part of an object, which a call may change.
_MUTABLE = (".", "len ", "[ ")
# Attributes that stay what they are, whoever has the object, and those that say what has become of it: reading them
# after the return is no use of it.
_LASTING = frozenset(
    (
        "active", "address", "alive", "class", "closed", "connected", "is_active", "is_alive", "is_closed",
        "is_connected", "dsn", "host", "hostname", "id", "ident", "index", "key", "label", "name",
        "number", "path", "pid", "port", "serial", "server_version", "uid", "url", "uuid", "version",
    )
)  # fmt: skip
_ENTERING = frozenset(("__init__", "__enter__", "__aenter__", "__post_init__"))
_LENDERS = frozenset(("contextmanager", "asynccontextmanager"))

_OPERATIONS = {
    "move": Follow._move,
    "const": Follow._const,
    "delete": Follow._delete,
    "attr": Follow._attr,
    "store_attr": Follow._store_attr,
    "item": Follow._item,
    "store_item": Follow._store_item,
    "build": Follow._build,
    "add": Follow._add,
    "aug": Follow._aug,
    "aug_attr": Follow._aug_attr,
    "unpack": Follow._unpack,
    "call": Follow._call,
    "await": Follow._await,
    "yield": Follow._yield,
    "use": Follow._use,
    "branch": Follow._branch,
    "iter": Follow._iter,
    "step": Follow._step,
    "enter": Follow._enter,
    "exit": Follow._exit,
    "closure": Follow._closure,
    "ret": Follow._ret,
    "raise": Follow._raise,
    "import": Follow._import,
    "caught": Follow._caught,
    "uncaught": Follow._uncaught,
    "catch": Follow._catch,
    "push": Follow._push,
    "trim": Follow._trim,
    "try": Follow._try,
}
