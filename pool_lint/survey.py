"""Every pool that a file builds or borrows from: what it is, who borrows, how it is bounded, whether it pays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.cost.model import is_below, written
from pool_lint.typestate.made import is_external
from pool_lint.typestate.resolve import text_of
from pool_lint.worth.judge import account_of, borrows_from, code_of
from pool_lint.worth.kept import kept_pools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.catalog.spec import PoolSpec
    from pool_lint.pools.containers import ContainerUse
    from pool_lint.typestate.state import Site
    from pool_lint.worth.kept import KeptPool

Scope = ir.Function | None

LIBRARY, HOME_MADE, CONTAINER, PAIR = "library pool", "home-made class", "container", "method pair"
# What is said of how a home-made pool of connections grows (see `bounds.faults`).
_GROWS = {
    "empty": "no limit: opens a connection ({opens}) whenever none is idle",
    "kept": "no limit: keeps a number of connections ({opens}), opens any",
    "keys": "no limit: keeps a connection ({opens}) for every key",
    "arguments": "no limit: keeps a connection ({opens}) for every argument",
}
_WORTH_CODES = ("POL301", "POL302", "POL303", "POL304", "POL305")


@dataclass(slots=True)
class FoundPool:
    """One pool.

    ``what`` is its class, or the pair of methods by which it is known; ``line`` where it is built, or first borrowed
    from where that is not in the file.  ``borrows`` are the lines of each function that borrows.  ``worth`` says
    whether it pays, with ``pays`` None where that is not known.
    """

    kind: str
    name: str
    what: str
    line: int
    column: int
    bound: str = ""
    pays: bool | None = None
    worth: str = ""
    borrows: dict[str, list[int]] = field(default_factory=dict)


def survey(module: ModuleAnalysis) -> list[FoundPool]:
    """Return the pools of a file in the order of their lines."""
    return _Survey(module).pools()


class _Survey:
    """The pools of one file, gathered."""

    def __init__(self, module: ModuleAnalysis) -> None:
        self._module = module
        self._file = module.file
        self._built: dict[int, FoundPool] = {}
        self._containers: list[tuple[ContainerUse, FoundPool]] = []
        self._unseen: dict[tuple[str, str], FoundPool] = {}

    def pools(self) -> list[FoundPool]:
        names = self._names()
        for body in self._module.bounds.bodies.values():
            for call in body.calls:
                self._add_library(call, body.scope, names.get(id(call), ""))
        kept = {pool.use.key: pool for pool in kept_pools(self._file)}
        uses = [*self._file.containers.pools(), *(pool.use for pool in kept.values())]
        for use in dict.fromkeys(uses):
            self._add_container(use, kept.get(use.key))
        for outcome in self._module.outcomes:
            for site in outcome.follow.sites:
                if site.kind == "borrow":
                    self._add_borrow(outcome.function, site)
        found = [*self._built.values(), *(pool for _, pool in self._containers), *self._unseen.values()]
        return sorted(found, key=lambda pool: (pool.line, pool.column, pool.name))

    def _names(self) -> dict[int, str]:
        """What each call of the file is assigned to, as the user wrote it."""
        found: dict[int, str] = {}
        for body in self._module.bounds.bodies.values():
            for stmt in body.statements:
                if isinstance(stmt, ir.Assign) and stmt.targets:
                    found[id(_unawaited(stmt.value))] = text_of(stmt.targets[0])
            for stmt in body.withs:
                for item in stmt.items:
                    if item.target is not None:
                        found[id(_unawaited(item.context))] = text_of(item.target)
        return found

    # Pools of libraries.

    def _add_library(self, call: ir.Call, scope: Scope, name: str) -> None:
        dotted, spec = self._module.bounds.library.spec_of(call, scope)
        if spec is None:
            spec = self._subclassed(call, scope)
            dotted = text_of(call.func)
        if spec is None:
            return
        bound = self._module.bounds.library.described(call, scope) or "not known"
        pool = FoundPool(LIBRARY, name or text_of(call.func), dotted, call.line, call.col, bound)
        pool.worth = _library_worth(spec)
        self._built[id(call)] = pool

    def _subclassed(self, call: ir.Call, scope: Scope) -> PoolSpec | None:
        """The library pool that a class of this file derives from, where the call makes one."""
        kind = self._file.types.of(call.func, scope)
        made = self._file.types.of(call, scope)
        is_class = kind is not None and kind.kind == "class"
        return made.spec if is_class and made is not None and made.kind == "pool" else None

    # Pools of this file.

    def _add_container(self, use: ContainerUse, kept: KeptPool | None) -> None:
        owner, name = use.key
        first = kept.built if kept is not None else min((take.call for take in use.takes), key=_place)
        is_attribute = isinstance(owner, ir.Klass)
        kind = HOME_MADE if is_attribute and self._hands_out(use) else CONTAINER
        called = kept.name if kept is not None else f"self.{name}" if is_attribute else name
        what = f"{owner.qualname}, kept in {use.container.id}" if isinstance(owner, ir.Klass) else use.container.id
        pool = FoundPool(kind, called, what, first.line, first.col, self._bound_of(use, first, kept))
        self._judge(pool, kept)
        self._containers.append((use, pool))

    def _hands_out(self, use: ContainerUse) -> bool:
        """Whether methods of its class lend what a container holds."""
        lenders = {outcome.function for outcome in self._module.outcomes if outcome.hands_out}
        return any(
            take.function is not None and (take.function in lenders or self._file.is_lender(take.function))
            for take in use.takes
        )

    def _bound_of(self, use: ContainerUse, first: ir.Expr, kept: KeptPool | None) -> str:
        owner = use.key[0] if isinstance(use.key[0], ir.Klass) else None
        for fault in self._module.bounds.unbounded:
            place = (fault.line, fault.col)
            if place == _place(first) or (
                use.key[1] == fault.pool.rpartition(".")[2] and self._owner_at(place) is owner
            ):
                return _GROWS[fault.how].format(opens=fault.opens)
        makes = self._file.containers.made_when_empty(use)
        said = "an object is made whenever none is idle" if makes else "borrowers make none: filled elsewhere"
        bound = use.container.bound
        if bound is None or kept is None or not isinstance(kept.built, ir.Call):
            return said
        values, scope = self._module.bounds.values, self._scope_of(kept.built)
        given = values.argument(kept.built, bound.param, bound.position, scope)
        if given.how != "given":
            return said
        value = values.of(given.expr, given.scope)
        return f"{said}; keeps at most {bound.param}={value if isinstance(value, int) else text_of(given.expr)}"

    def _owner_at(self, place: tuple[int, int]) -> ir.Klass | None:
        """The class in one of whose methods a call stands."""
        for body in self._module.bounds.bodies.values():
            if any(_place(call) == place for call in body.calls):
                function = body.scope
                while function is not None and function.owner is None:
                    function = function.parent
                return function.owner if function is not None else None
        return None

    def _scope_of(self, call: ir.Call) -> Scope:
        return next((body.scope for body in self._module.bounds.bodies.values() if call in body.calls), None)

    def _judge(self, pool: FoundPool, kept: KeptPool | None) -> None:
        module = self._module
        for code in _WORTH_CODES:
            if any((each.line, each.col) == (pool.line, pool.column) for each in module.worth(code)):
                pool.pays, pool.worth = False, f"no, {code}"
        if kept is None:
            pool.worth = pool.worth or "unknown: where it is built is not seen"
            return
        if kept.made is not None and is_external(module.file, kept.made):
            pool.worth = (
                pool.worth or "not judged: its objects hold, or may come to hold, something outside the process"
            )
            return
        account = account_of(module.file, module.outcomes, kept)
        if account.why_not or account.kept is None or account.borrow is None or account.new is None:
            pool.worth = pool.worth or f"unknown: {account.why_not}"
            return
        cost = account.borrow + account.reset
        numbers = f"an object costs {written(account.kept.mid)}, borrowing and resetting {written(cost.mid)}"
        if pool.pays is None and code_of(account, 1.0) is None:
            pool.pays = True if is_below(cost, account.kept, 1.0) else None
        verdict = pool.worth or {True: "yes", None: "unknown: too close to tell"}.get(pool.pays, "")
        pool.worth = f"{verdict}: {numbers}, by profile {account.profile}"

    # Borrowers.

    def _add_borrow(self, function: ir.Function, site: Site) -> None:
        for use, pool in self._containers:
            if borrows_from(self._file, function, site, use):
                if not site.own or pool.kind == CONTAINER:
                    pool.borrows.setdefault(function.qualname, []).append(site.line)
                return
        found = next(self._built_by(function, site), None)
        if found is None:
            found = self._unseen_pool(site)
        found.borrows.setdefault(function.qualname, []).append(site.line)

    def _built_by(self, function: ir.Function, site: Site) -> Iterator[FoundPool]:
        """The pool of this file that a borrow's receiver was given, where that is seen."""
        callee = self._file.resolver.callee(site.call, function) if site.call is not None else None
        receiver = callee.pool if callee is not None else None
        if site.call is not None and id(site.call) in self._built:
            yield self._built[id(site.call)]
        if isinstance(receiver, ir.Name):
            bindings, _ = self._file.types.bindings(receiver.id, function)
        elif isinstance(receiver, ir.Attr):
            base = self._file.types.of(receiver.value, function)
            klass = base.klass if base is not None else None
            bindings = self._file.types.attrs_of(klass).get(receiver.name, []) if klass is not None else []
        else:
            return
        for binding in bindings:
            made = self._built.get(id(_unawaited(binding.expr)))
            if made is not None:
                yield made

    def _unseen_pool(self, site: Site) -> FoundPool:
        """A pool that is built elsewhere: a parameter, an import."""
        key = (site.spec.id, site.pool)
        found = self._unseen.get(key)
        if found is None:
            if site.spec.id == "unseen":
                pair = (site.spec.borrows[0].method, site.spec.releases[0].method)
                kind, what, worth = PAIR, " and ".join(pair), "unknown: its type is not seen"
            elif not site.spec.library and not site.spec.classes:
                kind, what, worth = CONTAINER, site.spec.id, "unknown: it is built elsewhere"
            else:
                kind, what, worth = LIBRARY, next(iter(site.spec.classes), site.spec.id), _library_worth(site.spec)
            found = FoundPool(
                kind, site.pool, what, site.line, site.col, "not seen: it is built elsewhere", None, worth
            )
            self._unseen[key] = found
        return found


def _library_worth(spec: PoolSpec) -> str:
    return f"not judged: each {spec.item} is outside the process" if spec.external else "not judged"


def _place(expr: ir.Expr) -> tuple[int, int]:
    return expr.line, expr.col


def _unawaited(expr: ir.Expr | None) -> ir.Expr | None:
    return _unawaited(expr.value) if isinstance(expr, ir.Await) else expr
