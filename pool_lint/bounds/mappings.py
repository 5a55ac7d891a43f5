"""Mappings that keep one connection for each key: with any number of keys, or dropping some without closing them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.bounds.faults import Dropped, Unbounded
from pool_lint.bounds.scan import contains, inside
from pool_lint.pools.containers import DESTROYING
from pool_lint.walk import names_read, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.bounds.connections import Connections
    from pool_lint.bounds.keepers import Keeper, Keepers, Removal, Store
    from pool_lint.bounds.keys import Keys
    from pool_lint.bounds.lending import Lending
    from pool_lint.bounds.limits import Limits
    from pool_lint.bounds.scan import Body

_CLOSING = frozenset(DESTROYING) | {
    "close_all", "aclose", "wait_closed", "finish", "callback", "enter_context", "release", "logout",
}  # fmt: skip
_TIMES = re.compile(r"(?:^|_)(?:(?:time|monotonic|now|perf_counter|ttl|age|deadline|max_age)$|expir|idle_\w|last_\w)")
_WITH_TIME = frozenset(("TTLCache", "TLRUCache", "ExpiringDict"))
_FINALIZERS = frozenset(("weakref.finalize", "atexit.register"))
_LOGGING = frozenset(("pop", "debug", "info", "warning", "error", "exception", "log"))


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A store of a new connection under a key, in a function that looked for one first; ``call`` opens it."""

    store: Store
    call: ir.Call
    opens: str


class Mappings:
    """Judges the mappings of one file."""

    def __init__(
        self, connections: Connections, keepers: Keepers, limits: Limits, keys: Keys, lending: Lending
    ) -> None:
        self._connections = connections
        self._keepers = keepers
        self._limits = limits
        self._keys = keys
        self._lending = lending

    def kept(self, keeper: Keeper) -> list[Kept]:
        """The connections that a file makes and keeps by key."""
        readers = {body for _, _, body in keeper.reads}
        readers |= {removal.body for removal in keeper.removals if removal.what == "pop"}
        out = []
        for store in keeper.stores:
            if store.key is None or store.body.scope is None or store.body not in readers:
                continue
            opens = self._connections.opened(store.value, store.body.scope)
            call = self._creating_call(store.value, store.body) if opens else None
            if call is not None:
                out.append(Kept(store, call, opens))
        return out

    def fault(self, keeper: Keeper, kept: list[Kept]) -> Unbounded | Dropped | None:
        """The fault of a plain mapping."""
        if not any(self._keys.is_open(keeper, each.store.key, each.store.body) for each in kept):
            return None
        bodies = {each.store.body for each in kept}
        evictions = list(self._evictions(keeper, bodies))
        if evictions:
            unclosed = next((each for each in evictions if not self._is_closed(each, keeper)), None)
            if unclosed is None:
                return None
            what = f"'{keeper.name}', on line {unclosed.node.line}, drops"
            return Dropped(keeper.made.line, keeper.made.col, what, kept[-1].opens)
        if _ends_elsewhere(keeper, bodies):
            return None
        around = [each for body in bodies for each in self._limits.around(body)]
        if any(self._limits.counts(body) or self._limits.has_permits(body, ()) for body in around):
            return None
        last = max(kept, key=lambda each: (each.call.line, each.call.col))
        at: ir.Expr = last.call if keeper.owner is not None else keeper.made
        return Unbounded(at.line, at.col, "keys", keeper.name, last.opens)

    def dropping(self, keeper: Keeper, kept: list[Kept]) -> Dropped | None:
        """The fault of a container that drops by itself: a cache, or weak references."""
        kind = keeper.dotted.rpartition(".")[2]
        weak = keeper.dotted.startswith("weakref.")
        found = list(self._lent_weakly(keeper)) if kind == "WeakSet" else [(each.store, each.opens) for each in kept]
        for store, opens in found:
            drops = (
                not self._is_held_elsewhere(keeper, store)
                if weak
                else kind in _WITH_TIME or self._keys.is_open(keeper, store.key, store.body)
            )
            if drops:
                what = f"'{keeper.name}' is a {kind}, which drops"
                return Dropped(keeper.made.line, keeper.made.col, what, opens)
        return None

    def _lent_weakly(self, keeper: Keeper) -> Iterator[tuple[Store, str]]:
        """The stores of a weak set out of which connections are lent; one that only observes lends none."""
        if keeper.takes:
            opened = [opens for body in self._lending.borrowers(keeper)
                      for _, opens in self._lending.created_when_empty(keeper, body)]  # fmt: skip
            for store in keeper.stores if opened else ():
                yield store, opened[0]

    def _creating_call(self, value: ir.Expr, body: Body) -> ir.Call | None:
        """The call in a function that opens what an expression of it gives."""
        found = self._opening(value, body)
        if found is not None:
            return found
        names = set(names_read(value))
        for stmt in body.statements:
            if isinstance(stmt, ir.Assign) and stmt.value is not None:
                targets = (target for target in stmt.targets if not isinstance(target, ir.Sub))
                if names & {name for target in targets for name in names_read(target)}:
                    found = self._opening(stmt.value, body) or found
            elif isinstance(stmt, ir.With):
                for item in stmt.items:
                    if isinstance(item.target, ir.Name) and item.target.id in names:
                        found = self._opening(item.context, body) or found
        return found

    def _opening(self, value: ir.Expr, body: Body) -> ir.Call | None:
        return next(
            (
                expr
                for expr in inside(value)
                if isinstance(expr, ir.Call) and self._connections.opened(expr, body.scope)
            ),
            None,
        )

    # What goes out again.

    def _evictions(self, keeper: Keeper, bodies: set[Body]) -> Iterator[Removal]:
        """Removals that the container's size or the age of an entry decides."""
        near = bodies | {callee for body in bodies for callee in self._limits.callees(body.scope)}
        for removal in keeper.removals:
            if removal.what == "popitem":
                if not self._is_drain(removal, keeper):
                    yield removal
            elif removal.body in near or any(
                _mentions_time(compare, removal.body) for compare in removal.body.compares
            ):
                guard = _guard_of(removal.node, removal.body)
                if guard is not None and (
                    self._is_sized(guard, keeper, removal.body) or _mentions_time(guard, removal.body)
                ):
                    yield removal

    def _is_drain(self, removal: Removal, keeper: Keeper) -> bool:
        """Whether everything goes: ``while clients: clients.popitem()``."""
        guard = _guard_of(removal.node, removal.body)
        return isinstance(guard, (ir.Name, ir.Attr)) and self._keepers.at(guard, removal.body.scope) is keeper

    def _is_sized(self, guard: ir.Expr, keeper: Keeper, body: Body) -> bool:
        return any(
            isinstance(expr, ir.Call)
            and isinstance(expr.func, ir.Name)
            and expr.func.id == "len"
            and bool(expr.args)
            and self._keepers.at(expr.args[0], body.scope) is keeper
            for expr in inside(guard)
        )

    def _is_closed(self, removal: Removal, keeper: Keeper) -> bool:
        """Whether a function that throws an entry out also closes it, or hands it on to somebody who may."""
        body = removal.body
        for call in body.calls:
            if isinstance(call.func, ir.Attr) and call.func.name in _CLOSING:
                target = call.func.value
                if isinstance(target, ir.Sub) or self._keepers.at(target, body.scope) is not keeper:
                    return True
        if removal.what not in ("popitem", "pop") or id(removal.node) in body.thrown:
            return False
        names = {
            name
            for stmt in body.statements
            if isinstance(stmt, ir.Assign) and stmt.value is not None and contains(stmt.value, removal.node)
            for target in stmt.targets
            for name in names_read(target)
        }
        return not names or _is_handed_on(names, body)

    def _is_held_elsewhere(self, keeper: Keeper, store: Store) -> bool:
        """Whether something else holds the connection too, or closes it when it goes."""
        body = store.body
        names = set(names_read(store.value)) if isinstance(store.value, (ir.Name, ir.Seq)) else set()
        for other in self._keepers.all:
            if other is not keeper and not other.dotted:
                same = (each for each in other.stores if each.body is body)
                if any(names & set(names_read(each.value)) for each in same):
                    return True
        for stmt in body.statements:
            if isinstance(stmt, ir.Assign) and any(isinstance(target, ir.Attr) for target in stmt.targets):
                value = stmt.value
                if value is store.value or (isinstance(value, ir.Name) and value.id in names):
                    return True
        return any(self._connections.called(call.func, body.scope) in _FINALIZERS for call in body.calls)


def _ends_elsewhere(keeper: Keeper, bodies: set[Body]) -> bool:
    """Whether entries are removed by key in another function: their users say when they end."""
    return any(
        removal.key is not None
        and removal.body not in bodies
        and removal.body.scope is not None
        and not _in_handler(removal.node, removal.body.scope)
        for removal in keeper.removals
    )


def _is_handed_on(names: set[str], body: Body) -> bool:
    """Whether a function gives one of some variables to a call, or returns it."""
    for call in body.calls:
        logs = isinstance(call.func, ir.Attr) and call.func.name in _LOGGING
        if not logs and any(names & set(names_read(part)) for part in (*call.args, call.func)):
            return True
    return any(
        isinstance(stmt, ir.Return) and stmt.value is not None and bool(names & set(names_read(stmt.value)))
        for stmt in body.statements
    )


def _mentions_time(guard: ir.Expr, body: Body) -> bool:
    """Whether a test is about a time: by a name in it, or by the name of what a variable in it was made by."""
    if not isinstance(guard, (ir.Compare, ir.Bool)):
        return False
    names = set(names_read(guard))
    made = (
        stmt.value.func
        for stmt in body.statements
        if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Call)
        if any(isinstance(target, ir.Name) and target.id in names for target in stmt.targets)
    )
    return any(_names_time(expr) for part in (guard, *made) for expr in inside(part))


def _names_time(expr: ir.Expr) -> bool:
    name = expr.id if isinstance(expr, ir.Name) else expr.name if isinstance(expr, ir.Attr) else ""
    return bool(name) and _TIMES.search(name.lower()) is not None


def _guard_of(node: ir.Expr, body: Body) -> ir.Expr | None:
    """The test of the innermost ``if`` or ``while`` around an expression."""
    found: ir.Expr | None = None
    for stmt in body.statements:
        if isinstance(stmt, (ir.If, ir.While)) and any(expr is node for expr in walk_expressions(stmt.body)):
            found = stmt.test
    return found


def _in_handler(node: ir.Expr, function: ir.Function) -> bool:
    return any(
        expr is node
        for stmt in walk_statements(function.body)
        if isinstance(stmt, ir.Try)
        for handler in stmt.handlers
        for expr in walk_expressions(handler.body)
    )
