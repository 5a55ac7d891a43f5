"""The analysis of one file: its functions, what they do for each other, and what happens to what they borrow."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pool_lint import ir
from pool_lint.catalog.spec import Catalog, PoolSpec
from pool_lint.flow.build import build_cfg
from pool_lint.flow.cfg import RET, Cfg, Point, Root
from pool_lint.flow.live import live_roots
from pool_lint.pools.containers import Containers
from pool_lint.pools.duck import DuckPools
from pool_lint.pools.linked import Linked, plain
from pool_lint.pools.types import Types, decorator_names
from pool_lint.typestate.attributes import Attributes, AttrSite
from pool_lint.typestate.exceptions import Exceptions
from pool_lint.typestate.follow import ALL, LATER, OF_HANDLES, Follow, TooComplex, tested_paths
from pool_lint.typestate.identity import Identity, alternatives
from pool_lint.typestate.made import has_parts, is_plain
from pool_lint.typestate.permits import Permits
from pool_lint.typestate.resolve import Callee, Resolver
from pool_lint.typestate.state import (
    AWAITABLE,
    CLOSER,
    DERIVED,
    GROUND,
    GUARD,
    HELD,
    NONE,
    OBJECT,
    PART,
    RETURNED,
    Place,
    Site,
)
from pool_lint.typestate.summary import Effect, Returned, Summary
from pool_lint.walk import path_of, walk_expressions, walk_statements
from pool_lint.words import LENDING_NAME, RETURNING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pool_lint.config import Settings

_NOTHING = PoolSpec(id="anything", library="", classes=(), item="object", borrows=(), releases=(), remedy="")
_LENDERS = frozenset(("contextmanager", "asynccontextmanager"))
_ROUNDS = 3
_LOCK_NAME = re.compile(r"(^|_)(r?lock|mutex|cond|condition|sem|semaphore)s?$|lock$")
_BORROW_NAME = re.compile(
    r"^_*(acquire|borrow|check_?out|lease|allocate|obtain|rent|take|claim|get_?conn(ection)?|get_?client|get_?session|get_?object)$"
)
_RELEASE_NAME = re.compile(
    r"^_*(release|put_?conn|put_?back|give_?back|check_?in|return|recycle|free|close|dispose|put_nowait|put|push|finish|repool|discard)"
)


@dataclass(slots=True, eq=False)
class Outcome:
    """The finished analysis of one function."""

    function: ir.Function
    follow: Follow
    hands_out: bool = False


@dataclass(slots=True, eq=False)
class FileAnalysis:
    """All that the rules read of one file.

    ``gave_up`` lists the functions whose bound was hit.
    """

    tree: ir.ModuleTree
    catalog: Catalog
    settings: Settings
    linked: Linked = field(default_factory=Linked)
    types: Types = field(init=False)
    containers: Containers = field(init=False)
    resolver: Resolver = field(init=False)
    exceptions: Exceptions = field(init=False)
    attributes: Attributes = field(init=False)
    identity: Identity = field(init=False)
    permits: Permits = field(init=False)
    greenlets: bool = field(init=False)
    object_releases: frozenset[str] = field(init=False)
    gave_up: list[ir.Function] = field(default_factory=list)
    attr_sites: list[AttrSite] = field(default_factory=list)
    # what other modules of this package have worked out, by the question
    memo: dict[tuple[object, ...], Any] = field(default_factory=dict)
    _cfgs: dict[ir.Function, Cfg] = field(default_factory=dict)
    _outcomes: dict[ir.Function, Outcome | None] = field(default_factory=dict)
    _summaries: dict[ir.Function, Summary] = field(default_factory=dict)
    _effects: dict[tuple[ir.Function, Place, str], Effect] = field(default_factory=dict)
    _return_methods: dict[ir.Function, bool] = field(default_factory=dict)
    _borrowing: dict[ir.Function, bool] = field(default_factory=dict)
    _known: dict[Cfg, int] = field(default_factory=dict)
    _live: dict[Cfg, list[frozenset[Root]]] = field(default_factory=dict)
    _keys: dict[Cfg, frozenset[tuple[Root, ...]]] = field(default_factory=dict)
    _shapes: dict[ir.Function, tuple[Returned, ...]] = field(default_factory=dict)
    _parts: dict[int, bool] = field(default_factory=dict)
    _busy: set[object] = field(default_factory=set)
    _running: set[ir.Function] = field(default_factory=set)
    _recursive: set[object] = field(default_factory=set)
    _decorators: dict[ir.Function, frozenset[str]] = field(default_factory=dict)
    _mentions: dict[ir.Function, frozenset[str]] = field(default_factory=dict)
    _closures: dict[ir.Function, dict[Root, list[tuple[str, str]]]] = field(default_factory=dict)
    _looked_into: dict[ir.Function, frozenset[str]] = field(default_factory=dict)
    _built: dict[Cfg, tuple[frozenset[int], dict[int, Point]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tree.settle()
        self.types = Types(self.tree, self.catalog, self.linked)
        self.containers = Containers(self.tree, self.types, self.linked)
        duck = DuckPools(self.tree, self.types)
        self.resolver = Resolver(self.tree, self.types, self.containers, duck, self.catalog)
        self.resolver.lends = lambda function: bool(self.lent_by(function))
        self.attributes, self.identity, self.permits = Attributes(self), Identity(self), Permits(self)
        self.exceptions = Exceptions(self.types, self.catalog)
        self.greenlets = self.resolver.is_greenlet_module()
        self.object_releases = frozenset(
            form.method for spec in self.catalog.specs for form in spec.releases if form.on == "object"
        )

    # Running functions.

    def outcomes(self) -> list[Outcome]:
        """The analysis of every function that borrows something, in source order."""
        out = []
        for function in self.tree.functions:
            if self._borrows(function):
                outcome = self.outcome(function)
                if outcome is not None:
                    out.append(outcome)
        return out

    def scopes(self) -> list[tuple[ir.Function | None, list[ir.Stmt]]]:
        """Each function with its body, and None with that of the module; of linked modules too."""
        own = [(None, self.tree.body), (None, self.linked.body)]
        return [*own, *((function, function.body) for function in (*self.tree.functions, *self.linked.functions))]

    def live(self, cfg: Cfg) -> list[frozenset[Root]]:
        """The roots that are still read at or after each point of a graph."""
        found = self._live.get(cfg)
        if found is None:
            found = self._live[cfg] = live_roots(cfg)
        return found

    def keys(self, cfg: Cfg) -> frozenset[tuple[Root, ...]]:
        """The variables and conditions of a function of which it is worth knowing what a path has made of them."""
        found = self._keys.get(cfg)
        if found is None:
            names: set[tuple[Root, ...]] = {(name,) for name in self.handle_names(cfg.function)}
            for point in cfg.points:
                if point.kind == "call" and isinstance(point.node, ir.Call):
                    callee = self.resolver.callee(point.node, cfg.function)
                    returns = callee.kind == "release" or (
                        callee.function is not None and self.is_return_method(callee.function)
                    )
                    if returns:
                        names.update((root,) for root in point.srcs[1:] if isinstance(root, str))
            found = self._keys[cfg] = tested_paths(cfg) | names
        return found

    def cfg(self, function: ir.Function) -> Cfg:
        """The control-flow graph of a function, built when first asked for."""
        found = self._cfgs.get(function)
        if found is None:
            found = self._cfgs[function] = build_cfg(function)
        return found

    def calls(self, function: ir.Function) -> list[Callee]:
        """What each call of a function is resolved to."""
        return [
            self.resolver.callee(expr, function)
            for expr in walk_expressions(function.body)
            if isinstance(expr, ir.Call)
        ]

    def _borrows(self, function: ir.Function) -> bool:
        """Whether a function borrows, by itself or through others of this file."""
        found = self._borrowing.get(function)
        if found is None:
            self._borrowing[function] = False
            found = self._borrowing[function] = self._finds_borrow(function)
        return found

    def _finds_borrow(self, function: ir.Function) -> bool:
        for callee in self.calls(function):
            if callee.kind == "borrow":
                return True
            if callee.kind == "permit" and self.permits.permit_matters(function, callee.pool):
                return True
            if callee.kind == "function" and callee.function is not None and self.lent_by(callee.function):
                return True
        return any(
            isinstance(stmt, ir.AugAssign)
            and isinstance(stmt.target, ir.Attr)
            and stmt.op == "AddAssign"
            and self.permits.is_count(function, stmt.target.name)
            for stmt in walk_statements(function.body)
        )

    def outcome(self, function: ir.Function) -> Outcome | None:
        """The analysis of one function with its own borrows; None where the bound was hit."""
        if function in self._outcomes:
            return self._outcomes[function]
        self._outcomes[function] = None
        cfg = self.cfg(function)
        self._running.add(function)
        try:
            follow = self._followed(cfg)
        except TooComplex:
            if function not in self.linked.homes:
                self.gave_up.append(function)
            return None
        finally:
            self._running.discard(function)
        self._keep_attr_sites(follow)
        outcome = Outcome(function, follow, self._hands_out(follow))
        self._outcomes[function] = outcome
        return outcome

    def follow(
        self,
        cfg: Cfg,
        *,
        entries: Sequence[tuple[Place, PoolSpec]] = (),
        lenient: frozenset[int] = frozenset(),
        given: tuple[tuple[tuple[Root, ...], str], ...] = (),
        edges: bool = False,
    ) -> Follow:
        """Follow a function with all that tests tell or, where that is too much, with what they tell of handles.

        With less than that, paths that cannot be would be followed: then it is better to give up.
        """
        for known in range(self._known.get(cfg, ALL), OF_HANDLES + 1):
            follow = Follow(self, cfg, entries=entries, lenient=lenient, given=given, known=known)
            follow.edges = [] if edges else None
            try:
                follow.run()
            except TooComplex:
                self._known[cfg] = known + 1
            else:
                return follow
        raise TooComplex

    def _followed(self, cfg: Cfg) -> Follow:
        """Run a function; a second time where nothing is returned that unseen functions got."""
        follow = self.follow(cfg, edges=True)
        again = frozenset(
            site.point
            for site in follow.sites
            if not site.returned and site.kind == "borrow" and (site.unseen or follow.yields)
        )
        if again:
            follow = self.follow(cfg, lenient=again, edges=True)
        return follow

    def _keep_attr_sites(self, follow: Follow) -> None:
        stale = [kept for kept in self.attr_sites if kept.function is follow.function and kept.follow is not follow]
        for kept in stale:
            self.attr_sites.remove(kept)

    def _hands_out(self, follow: Follow) -> bool:
        """Whether a function gives its caller an object of its own container."""
        if LENDING_NAME.match(follow.function.name) and any(site.own and site.transferred for site in follow.sites):
            return True  # handed out in a wrapper
        return any(
            fact.site != GROUND
            and follow.sites[fact.site].own
            and fact.status == HELD
            and any(role in (OBJECT, PART) for _, role in fact.below(RET))
            for fact in follow.ends
        )

    # Summaries.

    def summary(self, function: ir.Function) -> Summary:
        """What a function does for its callers; recursion is iterated to a fixed point."""
        known = self._summaries.get(function)
        if known is not None:
            return known
        if function in self._busy:
            self._recursive.add(function)
            return Summary()
        if function in self._running:
            return Summary()  # unknown so far, and not to be remembered: it will be known once it has been run
        self._busy.add(function)
        result = self._summarize(function)
        rounds = 0
        while function in self._recursive and rounds < _ROUNDS:
            self._summaries[function] = result
            self._outcomes.pop(function, None)
            again = self._summarize(function)
            if again.same(result):
                break
            result, rounds = again, rounds + 1
        self._summaries[function] = result
        self._busy.discard(function)
        return result

    def _summarize(self, function: ir.Function) -> Summary:
        if not self._borrows(function):
            return self._plain_summary(function)
        outcome = self.outcome(function)
        if outcome is None:
            return Summary()
        follow = outcome.follow
        lender = self.is_lender(function)
        holds = (
            function.is_generator
            and not lender
            and (
                any(fact.site != GROUND and follow.sites[fact.site].kind == "borrow" for _, fact in follow.yields)
                or self._reyields(function)
            )
        )
        decorated = bool(self.decorators(function) - _PLAIN_DECORATORS)
        may_raise = decorated or any(True for _ in follow.fails)
        never = not follow.ends and not function.is_generator
        lends = self._lends_of(follow, lender=lender)
        return Summary(lends, may_raise, never, holds)

    def _plain_summary(self, function: ir.Function) -> Summary:
        """The summary of a function that borrows nothing: how it can end."""
        follow = Follow(self, self.cfg(function), plain=True)
        try:
            follow.run()
        except TooComplex:
            return Summary()
        may_raise = bool(self.decorators(function) - _PLAIN_DECORATORS) or bool(follow.fails)
        return Summary((), may_raise, not follow.ends and not function.is_generator, self._reyields(function))

    def _lends_of(self, follow: Follow, *, lender: bool) -> tuple[Returned, ...]:
        function = follow.function
        if function.is_generator and not lender:
            return ()
        found: dict[tuple[object, ...], Returned] = {}
        optional = self._may_return_none(follow)
        if lender:
            facts = [(follow.points[index].srcs[0], fact) for index, fact in follow.yields]
            ways = frozenset(("async with",) if function.is_async else ("with",))
        else:
            facts = [(RET, fact) for fact in follow.ends]
            facts += [(follow.points[index].srcs[0], fact) for index, fact in follow.awaits]
            ways = frozenset(("await",) if function.is_async else ("call",))
        for root, fact in facts:
            if fact.site == GROUND or root is None or follow.sites[fact.site].kind != "borrow":
                continue
            site = follow.sites[fact.site]
            parts = fact.below(root)
            derived = tuple(sorted((rest for rest, role in parts if role == DERIVED), key=repr))
            for rest, role in parts:
                if role in (OBJECT, PART) and (fact.status == HELD):
                    how = ways
                elif role == AWAITABLE and not lender:
                    how = site.ways
                else:
                    continue
                if role == AWAITABLE and function.is_async:
                    # Calling gives a coroutine, awaiting it what borrows.
                    rest = (LATER, *rest)  # noqa: PLW2901 - the same object, seen by the caller
                key = (rest, site.spec.id, how)
                if key not in found:
                    found[key] = Returned(rest, site.spec, how, site.pool, site.path, site.own, derived, optional)
        return tuple(found[key] for key in sorted(found, key=repr))

    @staticmethod
    def _may_return_none(follow: Follow) -> bool:
        reached = {index for index, _ in follow.parents}
        return any(
            point.kind == "ret" and point.name in ("none", "implicit") and index in reached
            for index, point in enumerate(follow.points)
        )

    def _reyields(self, function: ir.Function) -> bool:
        """Whether a generator passes on what another one yields that holds a borrow."""
        for stmt in walk_statements(function.body):
            if (
                isinstance(stmt, ir.For)
                and isinstance(stmt.iter, ir.Call)
                and self.generator_holds(stmt.iter, function)
            ) and any(isinstance(expr, ir.Yield) for expr in walk_expressions(stmt.body)):
                return True
        return any(
            isinstance(expr, ir.Yield) and expr.delegates and isinstance(expr.value, ir.Call)
            and self.generator_holds(expr.value, function)
            for expr in walk_expressions(function.body)
        )  # fmt: skip

    def generator_holds(self, call: ir.Call, scope: ir.Function | None) -> bool:
        """Whether a call makes a generator of this file that holds a borrow across its yields."""
        callee = self.resolver.callee(call, scope)
        return (
            callee.kind == "function"
            and callee.function is not None
            and callee.function.is_generator
            and not self.is_lender(callee.function)
            and self.summary(callee.function).holds
        )

    def lent_by(self, function: ir.Function) -> tuple[Returned, ...]:
        """The borrows that calling a function gives its caller."""
        if self._may_lend(function):
            found = self.summary(function).lends
            if found or self._hands_over(function):
                return found
        known = self._shapes.get(function)
        if known is None:
            self._shapes[function] = ()
            known = self._shapes[function] = self._lends_by_shape(function)
        return known

    def _hands_over(self, function: ir.Function) -> bool:
        """Whether what a function borrows is somebody else's when it ends (``return Lease(self, item)``)."""
        outcome = self.outcome(function) if function not in self._busy else None
        return outcome is not None and any(site.kind == "borrow" and site.transferred for site in outcome.follow.sites)

    def _lends_by_shape(self, function: ir.Function) -> tuple[Returned, ...]:
        """A borrow method that finds its object in a way that is not followed (through a generator, say).

        Its class has a method that puts what it is given into a container of the class, and this one, by its name a
        borrow method, touches the container and returns something.
        """
        klass = function.owner
        if klass is None or function.is_generator or not _BORROW_NAME.match(function.name):
            return ()
        if not self.returns_something(function):
            return ()
        for (owner, name), use in self.containers.uses.items():
            if (
                not isinstance(owner, ir.Klass)
                or owner not in self.types.bases_of(klass)
                or not self.mentions(function, name)
            ):
                continue
            own = function.params[0].name if function.params else "self"
            expr = ir.Attr(0, 0, ir.Name(0, 0, own), name)
            spec = self.containers.spec(expr, function)
            if spec is None or not any(put.what == "param" for put in use.puts):
                continue
            ways = frozenset(("await",) if function.is_async else ("call",))
            return (Returned((), spec, ways, f"{own}.{name}", (own, "." + name), own=True),)
        return ()

    def _may_lend(self, function: ir.Function) -> bool:
        if function in self._summaries:
            return True
        if not self._borrows(function):
            return False
        if function.is_generator:
            return self.is_lender(function)
        return any(
            isinstance(stmt, ir.Return) and stmt.value is not None and not isinstance(stmt.value, ir.Const)
            for stmt in walk_statements(function.body)
        )

    def may_raise(self, function: ir.Function) -> bool:
        """Whether calling a function may raise; making a generator runs nothing."""
        if function.is_generator:
            return False
        if function in self._busy:
            return True
        return self.summary(function).may_raise

    def never_returns(self, function: ir.Function) -> bool:
        """Whether a function always raises or leaves the process."""
        if function.is_generator or function.is_async:
            return False
        if function.returns is not None:
            last = self.types.dotted(function.returns).rpartition(".")[2]
            if last in ("NoReturn", "Never"):
                return True
        if any(isinstance(stmt, ir.Return) for stmt in walk_statements(function.body)) or not self._ends_in_raise(
            function.body
        ):
            return False
        return self.summary(function).never_returns

    def _ends_in_raise(self, body: list[ir.Stmt]) -> bool:
        return any(isinstance(stmt, (ir.Raise, ir.While)) for stmt in walk_statements(body)) or any(
            isinstance(stmt, ir.ExprStmt) and isinstance(stmt.value, ir.Call) for stmt in body[-1:]
        )

    def constructor_may_raise(self, klass: ir.Klass) -> bool:
        """Whether making an instance runs anything that may raise."""
        if self.types.unseen_bases(klass):
            return True
        methods = (self.types.method(klass, name) for name in ("__new__", "__init__", "__post_init__"))
        return any(method is not None and self.may_raise(method) for method in methods)

    # Effects.

    def effect(self, function: ir.Function, place: Place, spec: PoolSpec | None) -> Effect:
        """What a function does with an object that it finds at a place when it begins."""
        wanted = spec if spec is not None else _NOTHING
        key = (function, place, wanted.id)
        known = self._effects.get(key)
        if known is not None:
            return known
        if key in self._busy:
            self._recursive.add(key)
            return Effect(frozenset())
        self._busy.add(key)
        result = self._effect(function, place, wanted)
        rounds = 0
        while key in self._recursive and rounds < _ROUNDS:
            self._effects[key] = result
            again = self._effect(function, place, wanted)
            if again == result:
                break
            result, rounds = again, rounds + 1
        if not result.outcomes and key in self._recursive:
            result = Effect()
        self._effects[key] = result
        self._busy.discard(key)
        return result

    def _effect(self, function: ir.Function, place: Place, spec: PoolSpec) -> Effect:
        cfg = self.cfg(function)
        try:
            follow = self.follow(cfg, entries=[(place, spec)])
        except TooComplex:
            return Effect(unseen=True)
        outcomes: set[str] = set()
        results: set[tuple[Place, str]] = set()
        site = follow.sites[0]
        for fact in follow.ends:
            if fact.site == GROUND or follow.sites[fact.site].kind != "param":
                continue
            if fact.status == RETURNED:
                outcomes.add("returned")
                continue
            outcomes.add("held")
            results.update(part for part in fact.below(RET) if part[1] in (OBJECT, PART, DERIVED, CLOSER, GUARD))
        if site.transferred and not results:
            outcomes.add("stored")
        if site.returned and (not outcomes or "held" in outcomes):
            outcomes.add("returned")
        if not outcomes:
            outcomes.add("held" if not site.transferred else "stored")
        pools = tuple(sorted(site.released_to, key=repr))
        uses = self._uses(function, str(place[0]))
        raises = any(fact.site != GROUND and (fact.status == HELD or fact.via == "leaving") for fact in follow.fails)
        return Effect(frozenset(outcomes), pools, tuple(sorted(results, key=repr)), site.unseen, uses, raises)

    def _uses(self, function: ir.Function, name: str) -> bool:
        return any(isinstance(expr, ir.Name) and expr.id == name for expr in walk_expressions(function.body))

    def closes(self, function: ir.Function, place: Place, spec: PoolSpec) -> bool:
        """Whether calling a function returns the object that it finds at a place."""
        if len(place) == 1 and not self._may_close(function, str(place[0])):
            return False
        return "returned" in self.effect(function, place, spec).outcomes

    def named_closures(self, function: ir.Function) -> dict[Root, list[tuple[str, str]]]:
        """For each variable the nested functions that return what it holds."""
        found = self._closures.get(function)
        if found is None:
            found = self._closures[function] = {}
            names = {
                id(value.function): target
                for target, values in self.containers.assigned(function).items()
                for value in values
                if isinstance(value, ir.Lambda)
            }
            for inner in function.nested:
                called = names.get(id(inner)) if inner.name == "<lambda>" else inner.name
                if called is None:
                    continue
                for name in sorted(self._outer_names(inner) & function.assigned):
                    if self._may_close(inner, name) and self.closes(inner, (name,), _NOTHING):
                        found.setdefault(name, []).append((called, CLOSER))
        return found

    def _may_close(self, function: ir.Function, name: str) -> bool:
        """Whether a function calls anything that could return what a variable holds: a quick look before a long one."""
        for each in (function, *function.nested):
            for expr in walk_expressions(each.body):
                if not isinstance(expr, ir.Call):
                    continue
                if (
                    isinstance(expr.func, ir.Attr)
                    and isinstance(expr.func.value, ir.Name)
                    and expr.func.value.id == name
                ) and expr.func.name in self.object_releases:
                    return True
                if any(
                    isinstance(arg, ir.Name) and arg.id == name for arg in (*expr.args, *(v for _, v in expr.keywords))
                ) and self.resolver.callee(expr, each).kind in ("release", "function"):
                    return True
        return False

    def _outer_names(self, function: ir.Function) -> set[str]:
        own = function.assigned - function.outer
        return {expr.id for expr in walk_expressions(function.body) if isinstance(expr, ir.Name) and expr.id not in own}

    def releases_none(self, function: ir.Function, param: str) -> bool:
        """Whether a helper gives its parameter back even if that is None."""
        key = ("releases none", function, param)
        if key not in self.memo:
            self.memo[key] = False  # while it is asked: it may hand the parameter to one that calls it
            self.memo[key] = self._releases_none(function, param)
        return bool(self.memo[key])

    def _releases_none(self, function: ir.Function, param: str) -> bool:
        try:
            follow = self.follow(self.cfg(function), given=(((param,), NONE),))
        except TooComplex:
            return False
        return any(fault.what == "none" and fault.name == param for fault in follow.faults)

    # Questions about functions and calls.

    def decorators(self, function: ir.Function) -> frozenset[str]:
        """The last parts of the names of a function's decorators."""
        found = self._decorators.get(function)
        if found is None:
            found = self._decorators[function] = decorator_names(function)
        return found

    def is_lender(self, function: ir.Function) -> bool:
        """Whether a generator function is a context manager."""
        return bool(self.decorators(function) & _LENDERS)

    def function_of(self, expr: ir.Expr, scope: ir.Function | None) -> tuple[ir.Function, bool] | None:
        """The function of this file that an expression names, and whether it is bound."""
        kind = self.types.of(expr, scope)
        if kind is not None and kind.kind == "function" and kind.function is not None:
            bound = kind.klass is not None and "staticmethod" not in self.decorators(kind.function)
            return kind.function, bound
        return None

    def looks_like_release(self, name: str) -> bool:
        """Whether a function is named like one that gives something back."""
        return bool(_RELEASE_NAME.match(name))

    def mentions(self, function: ir.Function, name: str) -> bool:
        """Whether a method touches an attribute, itself or through other methods that it calls."""
        found = self._mentions.get(function)
        if found is None:
            names = {expr.name for expr in walk_expressions(function.body) if isinstance(expr, ir.Attr)}
            self._mentions[function] = frozenset(names)
            for callee in self.calls(function):
                if callee.kind == "function" and callee.function is not None and callee.bound:
                    if callee.function not in self._mentions:
                        self.mentions(callee.function, name)
                    names |= self._mentions[callee.function]
            found = self._mentions[function] = frozenset(names)
        return name in found

    def looked_into(self, function: ir.Function) -> frozenset[str]:
        """The variables of which a function reads an attribute or an item, or which it enters or iterates."""
        found = self._looked_into.get(function)
        if found is None:
            values = [expr.value for expr in walk_expressions(function.body) if isinstance(expr, (ir.Attr, ir.Sub))]
            for stmt in walk_statements(function.body):
                if isinstance(stmt, ir.For):
                    values.append(stmt.iter)
                elif isinstance(stmt, ir.With):
                    values.extend(item.context for item in stmt.items)
            found = frozenset(value.id for value in values if isinstance(value, ir.Name))
            self._looked_into[function] = found
        return found

    def built_temps(self, cfg: Cfg) -> frozenset[int]:
        """The temporaries that hold a tuple, list, set or dict that this function has just made."""
        return self._producers(cfg)[0]

    def _producers(self, cfg: Cfg) -> tuple[frozenset[int], dict[int, Point]]:
        """The temporaries that `built_temps` gives, and the point that gives each temporary its value."""
        found = self._built.get(cfg)
        if found is None:
            built = frozenset(point.dst for point in cfg.points if point.kind == "build" and isinstance(point.dst, int))
            makers = {point.dst: point for point in cfg.points if isinstance(point.dst, int)}
            found = self._built[cfg] = (built, makers)
        return found

    def release_receivers(self, cfg: Cfg) -> frozenset[Root]:
        """The temporaries that hold the pool of a return call: loading it (``pools[key]``) is part of the return."""
        return frozenset(
            point.srcs[0]
            for point in cfg.points
            if point.kind == "call"
            and isinstance(point.node, ir.Call)
            and isinstance(point.node.func, ir.Attr)
            and isinstance(point.node.func.value, ir.Sub)
            and isinstance(point.srcs[0], int)
            and self.resolver.callee(point.node, cfg.function).kind == "release"
        )

    def pool_names(self, function: ir.Function) -> frozenset[str]:
        """The local variables of a function that are given one of several pools."""
        out = set()
        for name, values in self.containers.assigned(function).items():
            if sum(len(alternatives(value)) for value in values) <= 1:
                continue
            kind = self.types.name_type(name, function)
            if (kind is not None and kind.kind == "pool") or (
                kind is not None
                and kind.kind == "instance"
                and kind.klass is not None
                and self._is_pool_class(kind.klass)
            ):
                out.add(name)
        return frozenset(out)

    def _is_pool_class(self, klass: ir.Klass) -> bool:
        return any(
            isinstance(owner, ir.Klass) and owner in self.types.bases_of(klass) for owner, _ in self.containers.uses
        )

    def pool_at(self, path: Place, function: ir.Function) -> bool:
        """Whether a path that stays what it is (a parameter, an attribute, a global) is a pool."""
        root = str(path[0])
        if len(path) == 1 and root in function.assigned and not self.types.is_param(root, function):
            return False
        expr: ir.Expr = ir.Name(0, 0, root)
        for part in path[1:]:
            expr = ir.Attr(0, 0, expr, str(part).lstrip("."))
        kind = self.types.of(expr, function)
        if kind is None:
            return False
        return kind.kind == "pool" or (
            kind.kind == "instance" and kind.klass is not None and self._is_pool_class(kind.klass)
        )

    def handle_names(self, function: ir.Function) -> frozenset[Root]:
        """The variables of a function that are given something borrowed."""
        return frozenset(
            name
            for name, values in self.containers.assigned(function).items()
            if any(self._is_borrow(value, function, 0) for value in values)
        )

    def handle_paths(self, function: ir.Function, names: frozenset[Root]) -> frozenset[Place]:
        """The variables and attributes that may stand in for something borrowed (``self.conn or pool.getconn()``).

        ``names`` are the variables that are given something borrowed.
        """
        if not names:
            return frozenset()
        paths = (
            path_of(each)
            for name, values in self.containers.assigned(function).items()
            if name in names
            for value in values
            for each in alternatives(value)
        )
        return frozenset(path for path in paths if path is not None)

    def is_borrow(self, value: ir.Expr, function: ir.Function) -> bool:
        """Whether an expression has a borrowed object as its value, once awaited or entered."""
        return self._is_borrow(value, function, 0)

    def _is_borrow(self, value: ir.Expr, function: ir.Function, depth: int) -> bool:
        if isinstance(value, (ir.Await, ir.Star)):
            return self._is_borrow(value.value, function, depth)
        if isinstance(value, ir.Cond):
            return self._is_borrow(value.body, function, depth) or self._is_borrow(value.orelse, function, depth)
        if isinstance(value, ir.Bool):
            return self._is_borrow(value.left, function, depth) or self._is_borrow(value.right, function, depth)
        if isinstance(value, ir.Call):
            callee = self.resolver.callee(value, function)
            if callee.kind == "std" and callee.name in ("asyncio.wait_for", "typing.cast", "asyncio.shield"):
                return any(self._is_borrow(arg, function, depth) for arg in value.args)
            if callee.kind == "function" and callee.function is not None and callee.function not in self._busy:
                return bool(self.lent_by(callee.function))
            return callee.kind == "borrow"
        return False

    def frees_place(self, function: ir.Function, depth: int = 1) -> bool:
        """Whether a method gives back a permit or lowers a count, so that what it destroys can be replaced."""
        for each in (function, *function.nested):
            for expr in walk_expressions(each.body):
                if not isinstance(expr, ir.Call):
                    continue
                callee = self.resolver.callee(expr, each)
                helper = callee.function if depth and callee.kind == "function" else None
                if callee.kind == "permit" or (helper is not None and self.frees_place(helper, depth - 1)):
                    return True
            for stmt in walk_statements(each.body):
                if isinstance(stmt, ir.AugAssign) and stmt.op == "SubtractAssign" and isinstance(stmt.target, ir.Attr):
                    return True
                if isinstance(stmt, ir.With) and any(self._is_semaphore(item.context, each) for item in stmt.items):
                    return True
        return False

    def _is_semaphore(self, expr: ir.Expr, function: ir.Function) -> bool:
        kind = self.types.of(expr, function)
        return kind is not None and kind.kind == "semaphore"

    def is_direct_unpack(self, cfg: Cfg, index: int) -> bool:
        """Whether what is unpacked has the right shape for sure: a borrow, a tuple of this file, ``items()``."""
        src = cfg.points[index].srcs[0]
        if not isinstance(src, int):
            return False
        maker = self._producers(cfg)[1].get(src)
        if maker is not None and maker.kind == "await" and isinstance(maker.srcs[0], int):
            maker = self._producers(cfg)[1].get(maker.srcs[0])
        if maker is None:
            return False
        if maker.kind == "build":
            return True
        if maker.kind == "step":
            node = maker.node
            if not isinstance(node, ir.Call):
                return False
            if isinstance(node.func, ir.Attr):
                return node.func.name == "items"
            return isinstance(node.func, ir.Name) and node.func.id in ("enumerate", "zip")
        if maker.kind != "call" or not isinstance(maker.node, ir.Call):
            return False
        callee = self.resolver.callee(maker.node, cfg.function)
        return callee.kind in ("borrow", "function")

    def is_known_reset(self, site: Site, function: ir.Function, name: str) -> bool:
        """Whether a method of a borrowed object is a reset that cannot fail: of a builtin, a stream, a simple class."""
        from pool_lint.typestate.homes import cannot_fail  # noqa: PLC0415 - it reads this module's results

        return cannot_fail(self, site, function, name)

    def is_return_method(self, function: ir.Function) -> bool:
        """Whether calling a function returns its first argument and nothing else can come of it."""
        found = self._return_methods.get(function)
        if found is None:
            self._return_methods[function] = False
            found = self._return_methods[function] = self._only_releases(function)
        return found

    def return_methods(self, klass: ir.Klass) -> list[ir.Function]:
        """The methods of a home-made pool that take an object back, and need nothing else."""
        return [
            method
            for each in self.types.bases_of(klass)
            for method in each.methods.values()
            if self._takes_back(method)
        ]

    def _takes_back(self, method: ir.Function) -> bool:
        positional = [param for param in method.params if param.kind == "positional"][1:]
        others = [
            param for param in method.params[2:] if param.kind in ("positional", "keyword") and param.default is None
        ]
        if not positional or others or not RETURNING.match(method.name) or method.is_generator:
            return False
        return "returned" in self.effect(method, (positional[0].name,), None).outcomes

    def remedy_of(self, klass: ir.Klass | None) -> str:
        """The cure in the words of a home-made pool; "" where it has no method that takes an object back."""
        methods = self.return_methods(klass) if klass is not None else []
        if not methods:
            return ""
        wait = "await " if methods[0].is_async else ""
        return f"use try/finally with '{wait}{{pool}}.{methods[0].name}(...)'"

    def is_release_call(self, call: ir.Call, scope: ir.Function | None) -> bool:
        """Whether a call is a plain return, which is taken not to fail."""
        callee = self.resolver.callee(call, scope)
        if callee.kind == "release":
            return True
        return callee.kind == "function" and callee.function is not None and self.is_return_method(callee.function)

    def _only_releases(self, function: ir.Function) -> bool:
        """Whether a function is a return method that nothing stops before the return."""
        if not RETURNING.match(function.name):
            return False
        if not self.may_raise(function):
            return True
        params = [param.name for param in function.params if param.kind == "positional"]
        params = (
            params[1:] if function.owner is not None and "staticmethod" not in self.decorators(function) else params
        )
        if not params or function.is_generator:
            return False
        effect = self.effect(function, (params[0],), None)
        return "returned" in effect.outcomes and "held" not in effect.outcomes and not effect.raises

    def is_lock(self, expr: ir.Expr, scope: ir.Function | None) -> bool:
        """Whether an expression is a lock or semaphore, by its type or, where that is unseen, by its name."""
        kind = self.types.of(expr, scope)
        path = path_of(expr)
        named = kind is None and path is not None and bool(_LOCK_NAME.search(plain(str(path[-1])).lower()))
        return named or (kind is not None and kind.kind in ("lock", "semaphore"))

    def is_quiet_with(self, expr: ir.Expr, scope: ir.Function | None) -> bool:
        """Whether entering a context manager cannot raise: a lock, ``suppress``, an ``ExitStack``."""
        kind = self.types.of(expr, scope)
        if kind is not None and kind.kind in ("lock", "semaphore"):
            return True
        if isinstance(expr, ir.Call):
            dotted = self.types.dotted(expr.func)
            return dotted in _QUIET_CONTEXTS
        path = path_of(expr)
        return kind is None and path is not None and bool(_LOCK_NAME.search(plain(str(path[-1])).lower()))

    def swallowed(self, expr: ir.Expr, scope: ir.Function | None) -> tuple[str, ...]:
        """The types of exceptions that a context manager may swallow."""
        if not isinstance(expr, ir.Call):
            return ()
        dotted = self.types.dotted(expr.func)
        last = expr.func.name if isinstance(expr.func, ir.Attr) else dotted.rpartition(".")[2]
        if dotted == "contextlib.suppress" or (last in ("raises", "assertRaises", "assertRaisesRegex") and expr.args):
            args = expr.args if dotted == "contextlib.suppress" else expr.args[:1]
            return tuple(name for arg in args for name in self.exceptions.names(arg, scope))
        if last in ("move_on_after", "move_on_at", "CancelScope"):
            return ("cancel scope",)
        callee = self.resolver.callee(expr, scope)
        if callee.kind == "class" and callee.klass is not None:
            return self._swallowed_by_class(callee.klass)
        if callee.kind == "function" and callee.function is not None and self.is_lender(callee.function):
            return self._swallowed_by_generator(callee.function)
        return ()

    def _swallowed_by_class(self, klass: ir.Klass) -> tuple[str, ...]:
        for name in ("__exit__", "__aexit__"):
            method = self.types.method(klass, name)
            if method is None:
                continue
            for stmt in walk_statements(method.body):
                if isinstance(stmt, ir.Return) and stmt.value is not None:
                    if isinstance(stmt.value, ir.Const):
                        if stmt.value.value is True:
                            return ("?",)
                    else:
                        return ("?",)
        return ()

    def _swallowed_by_generator(self, function: ir.Function) -> tuple[str, ...]:
        out: list[str] = []
        for stmt in walk_statements(function.body):
            if isinstance(stmt, ir.Try) and any(isinstance(expr, ir.Yield) for expr in walk_expressions(stmt.body)):
                for handler in stmt.handlers:
                    if not any(isinstance(inner, ir.Raise) for inner in walk_statements(handler.body)):
                        out.extend(self.exceptions.names(handler.type, function))
        return tuple(out)

    # Attributes of self.

    # Pools by name.

    # Permits.

    def returns_something(self, function: ir.Function) -> bool:
        """Whether a function returns more than constants."""
        return any(
            isinstance(stmt, ir.Return) and stmt.value is not None and not (isinstance(stmt.value, ir.Const))
            for stmt in walk_statements(function.body)
        )

    def has_parts(self, spec: PoolSpec) -> bool:
        """Whether a part of a borrowed object (``entry[1]``) stands for it: where home-made pools lend tuples."""
        if spec.library:
            return False
        if id(spec) not in self._parts:
            self._parts[id(spec)] = has_parts(self, spec)
        return self._parts[id(spec)]

    def is_plain(self, spec: PoolSpec) -> bool:
        """Whether the objects of a home-made pool are plain data, which may be dropped."""
        return not spec.library and is_plain(self, spec)

    # Exit methods.


_OF_SELF = 2  # the length of the place of an attribute of self: ("self", ".attr")
_PLAIN_DECORATORS = frozenset(
    ("staticmethod", "classmethod", "property", "override", "abstractmethod", "final", *_LENDERS)
)
_QUIET_CONTEXTS = frozenset(
    (
        "contextlib.suppress",
        "contextlib.nullcontext",
        "contextlib.ExitStack",
        "contextlib.AsyncExitStack",
        "contextlib.closing",
        "contextlib.aclosing",
    )
)
