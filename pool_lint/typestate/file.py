"""The analysis of one file: its functions, what they do for each other, and what happens to what they borrow."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pool_lint import ir
from pool_lint.catalog.spec import Catalog, PoolSpec
from pool_lint.flow.build import build_cfg
from pool_lint.flow.cfg import RET, Cfg, Point, Root
from pool_lint.flow.live import live_roots
from pool_lint.pools.containers import Containers
from pool_lint.pools.duck import DuckPools
from pool_lint.pools.linked import MARK, Linked, plain
from pool_lint.pools.types import Types, decorator_names
from pool_lint.typestate.exceptions import Exceptions
from pool_lint.typestate.follow import ALL, LATER, OF_HANDLES, Follow, TooComplex, tested_paths
from pool_lint.typestate.made import has_parts, is_plain
from pool_lint.typestate.resolve import Callee, Resolver
from pool_lint.typestate.state import (
    AWAITABLE,
    CLOSER,
    DERIVED,
    EXIT,
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
from pool_lint.walk import names_read, path_of, walk_expressions, walk_statements
from pool_lint.words import LENDING_NAME, RETURNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
class AttrSite:
    """A borrow that a method keeps in an attribute of ``self``."""

    klass: ir.Klass
    attr: str
    function: ir.Function
    follow: Follow
    site: Site


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
    _counts: dict[tuple[ir.Function, str], bool] = field(default_factory=dict)
    _busy: set[object] = field(default_factory=set)
    _running: set[ir.Function] = field(default_factory=set)
    _recursive: set[object] = field(default_factory=set)
    _policies: dict[tuple[ir.Klass, ir.Function | None, str], str] = field(default_factory=dict)
    _decorators: dict[ir.Function, frozenset[str]] = field(default_factory=dict)
    _mentions: dict[ir.Function, frozenset[str]] = field(default_factory=dict)
    _closures: dict[ir.Function, dict[Root, list[tuple[str, str]]]] = field(default_factory=dict)
    _looked_into: dict[ir.Function, frozenset[str]] = field(default_factory=dict)
    _built: dict[Cfg, tuple[frozenset[int], dict[int, Point]]] = field(default_factory=dict)
    _aliases: dict[ir.Function, dict[Place, set[Place]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tree.settle()
        self.types = Types(self.tree, self.catalog, self.linked)
        self.containers = Containers(self.tree, self.types, self.linked)
        duck = DuckPools(self.tree, self.types)
        self.resolver = Resolver(self.tree, self.types, self.containers, duck, self.catalog)
        self.resolver.lends = lambda function: bool(self.lent_by(function))
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

    def _calls(self, function: ir.Function) -> list[Callee]:
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
        for callee in self._calls(function):
            if callee.kind == "borrow":
                return True
            if callee.kind == "permit" and self.permit_matters(function, callee.pool):
                return True
            if callee.kind == "function" and callee.function is not None and self.lent_by(callee.function):
                return True
        return any(
            isinstance(stmt, ir.AugAssign)
            and isinstance(stmt.target, ir.Attr)
            and stmt.op == "AddAssign"
            and self.is_count(function, stmt.target.name)
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
        if not self._returns_something(function):
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
            for callee in self._calls(function):
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
            if sum(len(_alternatives(value)) for value in values) <= 1:
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
            for each in _alternatives(value)
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

    def note_attr_site(self, function: ir.Function, attr: str, follow: Follow, site: Site) -> None:
        """Remember that a method keeps what it borrows in an attribute; its closing methods are looked at later."""
        owner = function.owner
        if (
            owner is not None
            and site.kind == "borrow"
            and not any(kept.follow is follow and kept.site is site and kept.attr == attr for kept in self.attr_sites)
        ):
            self.attr_sites.append(AttrSite(owner, attr, function, follow, site))

    def family(self, klass: ir.Klass) -> list[ir.Klass]:
        """A class with its bases and subclasses in this file."""
        out = list(self.types.bases_of(klass))
        out.extend(each for each in self.tree.classes if each not in out and klass in self.types.bases_of(each))
        return out

    def attr_policy(self, klass: ir.Klass | None, function: ir.Function | None, name: str) -> str:
        """Who looks after an object in ``self.name``: some other method ("given"), nobody ("kept"), or "unseen"."""
        if klass is None:
            return "unseen"
        key = (klass, function, name)
        found = self._policies.get(key)
        if found is None:
            found = self._policies[key] = self._attr_policy(klass, function, name)
        return found

    def _attr_policy(self, klass: ir.Klass, function: ir.Function | None, name: str) -> str:
        family = self.family(klass)
        inside: set[ir.Function] = set()
        for each in family:
            for method in each.methods.values():
                inside.add(method)
                if method is function and not method.nested:
                    continue
                functions = list(method.nested) if method is function else [method, *method.nested]
                for inner in functions:
                    if self._looks_after(inner, name):
                        return "given"
        for other in self.tree.functions:
            if other in inside or other is function or (other.parent is not None and other.parent in inside):
                continue
            own = other.params[0].name if other.owner is not None and other.params else ""
            if self._releases_attr(other, name, not_of=own):
                return "given"
        # Of a class of another module, not everything that looks after its objects need be in view.
        if self.types.unseen_bases(klass) or klass in self.linked.homes:
            return "unseen"
        return "kept"

    def has_finalizer(self, klass: ir.Klass | None, name: str) -> bool:
        """Whether the class's ``__del__`` gives ``self.name`` back, even if its constructor failed."""
        closer = klass.methods.get("__del__") if klass is not None else None
        return closer is not None and self._looks_after(closer, name)

    def _looks_after(self, function: ir.Function, name: str, depth: int = 1) -> bool:
        """Whether a method returns ``self.name`` to its pool, or shows it to the outside."""
        if function.name == "__init__" and not function.nested:
            return False
        if not self.mentions(function, name):
            return False
        for stmt in walk_statements(function.body):
            value = stmt.value if isinstance(stmt, (ir.Return, ir.ExprStmt)) else None
            if isinstance(value, ir.Yield):
                value = value.value
            elif isinstance(stmt, ir.ExprStmt):
                continue
            if value is not None and self._shows(value, name):
                return True
        if self._releases_attr(function, name):
            return True
        if depth == 0:
            return False
        return any(
            callee.kind == "function"
            and callee.function is not None
            and callee.bound
            and callee.function is not function
            and self._looks_after(callee.function, name, depth - 1)
            for callee in self._calls(function)
        )

    def _shows(self, value: ir.Expr, name: str) -> bool:
        if isinstance(value, ir.Attr):
            return value.name == name
        if isinstance(value, ir.Seq):
            return any(self._shows(item, name) for item in value.items)
        if isinstance(value, (ir.Await, ir.Star)):
            return self._shows(value.value, name)
        if isinstance(value, ir.Bool):
            return self._shows(value.left, name) or self._shows(value.right, name)
        if isinstance(value, ir.Cond):
            return self._shows(value.body, name) or self._shows(value.orelse, name)
        return False

    def _releases_attr(self, function: ir.Function, name: str, not_of: str = "") -> bool:
        """Whether a function gives ``x.name`` to a return call, or calls its ``close()``, directly or by an alias.

        ``not_of``: the ``self`` of an unrelated class, whose attribute of that name is another.
        """

        def is_attr(expr: ir.Expr) -> bool:
            if not isinstance(expr, ir.Attr):
                return False
            return expr.name == name and not (isinstance(expr.value, ir.Name) and expr.value.id == not_of)

        aliases = _given(function, is_attr)

        def is_it(expr: ir.Expr) -> bool:
            return is_attr(expr) or (isinstance(expr, ir.Name) and expr.id in aliases)

        return any(
            isinstance(expr, ir.Call) and self._gives_back(expr, function, is_it)
            for expr in walk_expressions(function.body)
        )

    def _gives_back(self, call: ir.Call, function: ir.Function, is_it: Callable[[ir.Expr], bool]) -> bool:
        """Whether a call gives an object to a function that returns or may return it, or is its own ``close()``."""
        callee = self.resolver.callee(call, function)
        if any(is_it(arg) for arg in (*call.args, *(value for _, value in call.keywords))):
            if callee.kind == "release" or (callee.kind == "function" and callee.function is not None):
                return True
            last = call.func.name if isinstance(call.func, ir.Attr) else self.types.dotted(call.func)
            if _RELEASE_NAME.match(last) or RETURNING.match(last.rpartition(".")[2]):
                return True
        return (
            isinstance(call.func, ir.Attr)
            and is_it(call.func.value)
            and (call.func.name in self.object_releases or call.func.name in _ENDING)
        )

    def constructor_attrs(self, klass: ir.Klass, where: int | str | None) -> list[str]:
        """The attributes that an argument of a class's constructor ends up in."""
        init = self.types.method(klass, "__init__")
        if init is not None:
            params = [param.name for param in init.params][1:]
            name = (
                where
                if isinstance(where, str)
                else params[where]
                if isinstance(where, int) and where < len(params)
                else None
            )
            if name is None:
                return []
            own = init.params[0].name
            return [
                target.name
                for stmt in walk_statements(init.body)
                if isinstance(stmt, ir.Assign) and stmt.value is not None and name in names_read(stmt.value)
                for target in stmt.targets
                if isinstance(target, ir.Attr) and isinstance(target.value, ir.Name) and target.value.id == own
            ]
        fields = [
            target.id
            for stmt in klass.body
            if isinstance(stmt, ir.Assign) and stmt.annotation is not None
            for target in stmt.targets
            if isinstance(target, ir.Name)
        ]
        if isinstance(where, str):
            return [where] if where in fields else []
        return [fields[where]] if isinstance(where, int) and where < len(fields) else []

    # Pools by name.

    def aliases(self, path: Place, function: ir.Function) -> set[Place]:
        """A pool's place and the others in this function that are plainly the same."""
        table = self._aliases.get(function)
        if table is None:
            table = self._aliases[function] = _alias_table(function)
        found = {path}
        stack = [path]
        while stack:
            current = stack.pop()
            for length in range(1, len(current) + 1):
                for other in table.get(current[:length], ()):
                    renamed = (*other, *current[length:])
                    if renamed not in found and len(renamed) <= _LONGEST:
                        found.add(renamed)
                        stack.append(renamed)
        return found

    def gets_another_pool(self, path: Place, function: ir.Function) -> bool:
        """Whether a name or attribute that held a pool is given something else in this function."""
        count = 0
        for stmt in walk_statements(function.body):
            if isinstance(stmt, ir.Assign) and stmt.value is not None:
                count += sum(1 for target in stmt.targets if path_of(target) == path[: len(path_of(target) or ()) or 1])
            elif isinstance(stmt, ir.For) and isinstance(stmt.target, ir.Name) and stmt.target.id == path[0]:
                return False
        return count > 0

    def other_pool(self, came: Place, went: Place, function: ir.Function) -> bool:
        """Whether two pools named in a function are plainly different ones, on some path."""
        if MARK in str(came[0]) or MARK in str(went[0]):
            return came != went and self._is_made_once(came) and self._is_made_once(went)
        while len(came) > 1 and len(went) > 1 and came[-1] == went[-1] and came[:-1] != went[:-1]:
            came, went = came[:-1], went[:-1]
        if went in self.aliases(came, function):
            return False
        if str(came[-1]).startswith("[") or str(went[-1]).startswith("["):
            return self._other_item(came, went, function)
        ends_came, ends_went = self._meanings(came, function), self._meanings(went, function)
        if ends_came is None or ends_went is None:
            return False
        if ends_came & ends_went:
            return len(ends_came) > 1 and ends_came != ends_went
        if all(place[0] == "?" for place in ends_came) or all(place[0] == "?" for place in ends_went):
            return False
        return not self._same_attr(ends_came, ends_went, function)

    def _is_made_once(self, place: Place) -> bool:
        """Whether a place is a global name of another module that is given a new pool, and nothing else."""
        bindings = self.types.bindings(str(place[0]), None)[0] if len(place) == 1 and MARK in str(place[0]) else []
        return len(bindings) == 1 and bindings[0].how == "value" and isinstance(bindings[0].expr, ir.Call)

    def _other_item(self, came: Place, went: Place, function: ir.Function) -> bool:
        """Whether two items of a mapping of pools, or an item and a loop's variable, are different pools."""
        params = {param.name for param in function.params}

        def is_fixed(selector: str) -> bool:
            head, _, attr = selector[1:-1].partition(".")
            return (head in params and not self._stores_attr(function, attr)) or selector[1:2] in "'\"0123456789"

        first, second = str(came[-1]), str(went[-1])
        if first.startswith("[") and second.startswith("["):
            return came[:-1] == went[:-1] and first != second and is_fixed(first) and is_fixed(second)
        if len(came) == 1 and second.startswith("[") and second[1:2] in "'\"":
            values = self.containers.assigned(function).get(str(came[0]), [])
            return any(
                isinstance(value, ir.Star)
                and isinstance(value.value, ir.Call)
                and isinstance(value.value.func, ir.Attr)
                and value.value.func.name in ("items", "values")
                and path_of(value.value.func.value) == went[:-1]
                for value in values
            )
        return False

    def _stores_attr(self, function: ir.Function, dotted: str) -> bool:
        """Whether a function gives an attribute of a dotted path a value ("": there is none)."""
        names = frozenset(dotted.split("."))
        return any(
            isinstance(target, ir.Attr) and target.name in names
            for stmt in walk_statements(function.body)
            if isinstance(stmt, ir.Assign)
            for target in stmt.targets
        )

    def _meanings(self, path: Place, function: ir.Function) -> set[Place] | None:
        """The stable places that a path may stand for; None where it may be anything."""
        root = str(path[0])
        params = {param.name for param in function.params}
        if len(path) == 1 and root in function.assigned and root not in params:
            out: set[Place] = set()
            for value in self.containers.assigned(function).get(root, []):
                options = _alternatives(value)
                for each in options:
                    place = path_of(each)
                    if place is None and len(options) > 1:
                        place = ("?", str(each.line), str(each.col))
                    if place is None:
                        return None
                    if len(place) == 1 and place[0] in function.assigned and place[0] not in params:
                        return None
                    out.add(place)
            return out or None
        if root in function.assigned and root not in params:
            return None
        return {path}

    def _same_attr(self, came: set[Place], went: set[Place], function: ir.Function) -> bool:
        """Whether attributes of self that differ in name are given the same value somewhere."""
        owner = function.owner
        if owner is None:
            return False
        return any(self._values_of(first, owner) & self._values_of(second, owner) for first in came for second in went)

    def _values_of(self, place: Place, owner: ir.Klass) -> set[Place]:
        """A place and, if it is an attribute of self, the paths that the class gives it."""
        values = {place}
        if len(place) == _OF_SELF and isinstance(place[1], str):
            for binding in self.types.attrs_of(owner).get(place[1].lstrip("."), []):
                value = path_of(binding.expr) if binding.expr is not None and binding.how == "value" else None
                if value is not None:
                    values.add(value)
        return values

    # Permits.

    def permit_matters(self, function: ir.Function, pool: ir.Expr | None) -> bool:
        """Whether a semaphore's permit goes out with what a method lends."""
        path = path_of(pool) if pool is not None else None
        if path is None or function.owner is None or len(path) != _OF_SELF:
            return False
        if self.is_lender(function):
            return True
        if function.is_generator or not self._returns_something(function) or not LENDING_NAME.match(function.name):
            return False
        return any(
            self.releases_permit(method, path)
            for klass in self.family(function.owner)
            for method in klass.methods.values()
            if method is not function
        )

    def _returns_something(self, function: ir.Function) -> bool:
        return any(
            isinstance(stmt, ir.Return) and stmt.value is not None and not (isinstance(stmt.value, ir.Const))
            for stmt in walk_statements(function.body)
        )

    def releases_permit(self, function: ir.Function, path: Place | None) -> bool:
        """Whether a function releases the semaphore, or lowers the count, that a path names."""
        if path is None:
            return False
        for each in (function, *function.nested):
            for expr in walk_expressions(each.body):
                if (
                    isinstance(expr, ir.Call)
                    and isinstance(expr.func, ir.Attr)
                    and expr.func.name == "release"
                    and path_of(expr.func.value) == path
                ):
                    return True
            if len(path) == _OF_SELF:
                for stmt in walk_statements(each.body):
                    if isinstance(stmt, ir.AugAssign) and stmt.op == "SubtractAssign" and path_of(stmt.target) == path:
                        return True
        return False

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

    def is_count(self, function: ir.Function, attr: str) -> bool:
        """Whether an attribute counts what a pool has lent, against a limit."""
        key = (function, attr)
        if key not in self._counts:
            self._counts[key] = self._is_count(function, attr)
        return self._counts[key]

    def _is_count(self, function: ir.Function, attr: str) -> bool:
        owner = function.owner
        if owner is None or not (
            self.is_lender(function) or (self._returns_something(function) and not function.is_generator)
        ):
            return False
        lowered = compared = here = False
        for klass in self.family(owner):
            for method in klass.methods.values():
                for stmt in walk_statements(method.body):
                    if isinstance(stmt, ir.AugAssign) and isinstance(stmt.target, ir.Attr) and stmt.target.name == attr:
                        lowered = lowered or stmt.op == "SubtractAssign"
                for expr in _decisions(method):
                    if isinstance(expr, ir.Compare) and any(operator in _ORDERING for operator, _ in expr.rights):
                        parts = (expr.left, *(right for _, right in expr.rights))
                        if any(isinstance(part, ir.Attr) and part.name == attr for part in parts):
                            compared = True
                            here = here or method is function
        if self.is_lender(function):
            return lowered and compared
        # Plenty of things are counted; a pool's borrow method is known by its name.
        lends = bool(LENDING_NAME.match(function.name)) and compared
        return lends and (lowered or (here and self.owns_container(owner)))

    def owns_container(self, klass: ir.Klass) -> bool:
        """Whether a class keeps objects in a container that methods take them from."""
        family = self.family(klass)
        return any(
            isinstance(owner, ir.Klass) and owner in family and use.takes
            for (owner, _), use in self.containers.uses.items()
        )

    def is_own_container(self, expr: ir.Expr, function: ir.Function) -> bool:
        """Whether an expression is a container of the class that a function belongs to, or of its module."""
        kind = self.types.of(expr, function)
        return kind is not None and kind.kind == "container" and self.resolver.is_own(expr, function)

    # Exit methods.

    def closing_losses(self, kept: AttrSite) -> list[tuple[ir.Function, Follow]]:
        """For a borrow kept in an attribute: the closing methods that may raise before they return it."""
        out = []
        for klass in self.family(kept.klass):
            for name in sorted(_CLOSING & klass.methods.keys()):
                method = klass.methods[name]
                if method is kept.function or not method.params or not self._releases_attr(method, kept.attr):
                    continue
                place: Place = (method.params[0].name, "." + kept.attr)
                try:
                    follow = self.follow(self.cfg(method), entries=[(place, kept.site.spec)])
                except TooComplex:
                    continue
                # A method that first asserts its own state is not taken to fail there.
                follow.losses = [loss for loss in follow.losses if loss.kind not in ("AssertionError", EXIT)]
                if follow.sites[0].returned and follow.losses:
                    out.append((method, follow))
        return out


def _alias_table(function: ir.Function) -> dict[Place, set[Place]]:
    """The places that assignments make plainly the same: where names are concerned, names assigned only once."""
    counts: Counter[str] = Counter()
    pairs: list[tuple[Place, Place]] = []
    for stmt in walk_statements(function.body):
        if not isinstance(stmt, ir.Assign) or stmt.value is None:
            continue
        value = path_of(stmt.value)
        for place in map(path_of, stmt.targets):
            if place is not None and len(place) == 1:
                counts[place[0]] += 1
            if place is not None and value is not None:
                pairs.append((place, value))
    params = {param.name for param in function.params}
    table: dict[Place, set[Place]] = {}
    for first, second in pairs:
        if all(len(each) > 1 or str(each[0]) in params or counts[str(each[0])] <= 1 for each in (first, second)):
            table.setdefault(first, set()).add(second)
            table.setdefault(second, set()).add(first)
    return table


def _given(function: ir.Function, is_it: Callable[[ir.Expr], bool]) -> set[str]:
    """The variables of a function that are given a certain value."""
    out: set[str] = set()
    for stmt in walk_statements(function.body):
        if not isinstance(stmt, ir.Assign) or stmt.value is None:
            continue
        for target in stmt.targets:
            pairs = [(target, stmt.value)]
            if (
                isinstance(target, ir.Seq)
                and isinstance(stmt.value, ir.Seq)
                and len(target.items) == len(stmt.value.items)
            ):
                pairs = list(zip(target.items, stmt.value.items, strict=True))
            out.update(each.id for each, what in pairs if isinstance(each, ir.Name) and is_it(what))
    return out


def _alternatives(value: ir.Expr) -> list[ir.Expr]:
    """The expressions that an expression may have the value of."""
    if isinstance(value, ir.Cond):
        return [*_alternatives(value.body), *_alternatives(value.orelse)]
    if isinstance(value, ir.Bool):
        return [*_alternatives(value.left), *_alternatives(value.right)]
    if (
        isinstance(value, ir.Call)
        and isinstance(value.func, ir.Attr)
        and value.func.name == "get"
        and len(value.args) == _WITH_DEFAULT
    ):
        return [value.args[1], ir.Sub(value.line, value.col, value.func.value, value.args[0])]
    return [value]


def _decisions(function: ir.Function) -> Iterator[ir.Expr]:
    """The expressions of a function but those that it asserts, which limit nothing."""
    asserted = {
        id(expr)
        for stmt in walk_statements(function.body)
        if isinstance(stmt, ir.Assert)
        for expr in walk_expressions([stmt])
    }
    return (expr for expr in walk_expressions(function.body) if id(expr) not in asserted)


_LONGEST = 6
_OF_SELF = 2  # the length of the place of an attribute of self: ("self", ".attr")
_WITH_DEFAULT = 2  # the arguments of get(key, default)
_ORDERING = frozenset(("<", "<=", ">", ">="))
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
_ENDING = frozenset(("close", "aclose", "release", "__exit__", "__aexit__"))
_CLOSING = frozenset(
    ("__exit__", "__aexit__", "close", "aclose", "disconnect", "release", "dispose", "shutdown", "__del__")
)
