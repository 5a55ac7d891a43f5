"""Pools that open a connection when they have none to lend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.bounds.empty import EmptyPaths, How
from pool_lint.bounds.faults import Dropped, Unbounded
from pool_lint.bounds.scan import contains, inside
from pool_lint.walk import names_read, walk_expressions

if TYPE_CHECKING:
    from pool_lint.bounds.connections import Connections
    from pool_lint.bounds.keepers import Keeper
    from pool_lint.bounds.limits import Limits
    from pool_lint.bounds.scan import Body
    from pool_lint.bounds.values import Values
    from pool_lint.pools.types import Types

_SELF = frozenset(("self", "cls"))


class Lending:
    """Judges the containers out of which a file lends connections."""

    def __init__(self, types: Types, connections: Connections, values: Values, limits: Limits) -> None:
        self._types = types
        self._connections = connections
        self._values = values
        self._limits = limits

    def fault(self, keeper: Keeper) -> Unbounded | Dropped | None:
        """The fault of a container that opens any number of connections, or drops those that it has no room for."""
        if _is_of_one_call(keeper) or not self._takes_back(keeper):
            return None
        created: list[tuple[ir.Call, str]] = []
        for body in self.borrowers(keeper):
            found = self.created_when_empty(keeper, body)
            if found and not self._limits.limits_opening(keeper, body, [call for call, _ in found]):
                created += found
        if not created:
            return None
        call, opens = max(created, key=lambda each: (each[0].line, each[0].col))
        if self._drops_when_full(keeper):
            what = f"'{keeper.name}' is a deque with maxlen, which drops"
            return Dropped(keeper.made.line, keeper.made.col, what, opens)
        at: ir.Expr = call if keeper.owner is not None else keeper.made
        return Unbounded(at.line, at.col, "kept" if self._limits_kept(keeper) else "empty", keeper.name, opens)

    def borrowers(self, keeper: Keeper) -> list[Body]:
        """The functions that take from a container, and those that call a helper which does."""
        direct = list(dict.fromkeys(take.body for take in keeper.takes))
        helped = [
            caller
            for body in direct
            if body.scope is not None and not body.scope.is_generator
            for caller in self._limits.callers(body.scope)
        ]
        return [body for body in dict.fromkeys((*direct, *helped)) if body.scope is not None]

    def created_when_empty(self, keeper: Keeper, body: Body) -> list[tuple[ir.Call, str]]:
        """The calls that open a connection on a path on which none was taken, with what they open."""
        assert body.scope is not None
        takes: dict[int, How] = {
            id(take.call): "waits" if take.waits else "raises" for take in keeper.takes if take.body is body
        }
        takers = {take.body.scope: take.waits for take in keeper.takes}
        declared = self._declared(keeper, body.scope)
        creates: dict[int, str] = {}
        for call in body.calls:
            target = self._limits.target(call, body.scope)
            if target is not None and target in takers and target is not body.scope:
                takes[id(call)] = "waits" if takers[target] else "none"
            elif id(call) not in takes:
                opens = self._connections.opened(call, body.scope)
                if opens or (declared and self._is_opaque(call, body)):
                    creates[id(call)] = opens or declared
        if not creates or not takes:
            return []
        reached = EmptyPaths(body.scope.body, takes, frozenset(creates)).reached
        lent = [call for call in reached if self._is_lent(keeper, call, body, takes)]
        return [(call, creates[id(call)]) for call in lent]

    def _takes_back(self, keeper: Keeper) -> bool:
        """Whether what was lent is put in again: not only what a function has just made."""
        if not keeper.takes:
            return False
        takers = {take.body.scope for take in keeper.takes}
        calls = {id(take.call) for take in keeper.takes}
        for store in keeper.stores:
            if not self._connections.opened(store.value, store.body.scope):
                return True
            names = set(names_read(store.value))
            for stmt in store.body.statements:
                if isinstance(stmt, ir.Assign) and stmt.value is not None and _gives(stmt, names):
                    for expr in inside(stmt.value):
                        if id(expr) in calls:
                            return True
                        if isinstance(expr, ir.Call) and self._limits.target(expr, store.body.scope) in takers - {None}:
                            return True
            params = {param.name for param in store.body.scope.params} if store.body.scope is not None else set()
            if names & params - _SELF:
                return True
        return False

    def _declared(self, keeper: Keeper, function: ir.Function) -> str:
        """The connection that annotations say a container holds, or a borrow method returns."""
        if function.returns is not None and not function.is_generator:
            found = self._connections.is_type(self._types.annotation(function.returns, function.parent))
            if found:
                return found
        owner, name = keeper.key
        if isinstance(owner, ir.Klass):
            bindings = self._types.attrs_of(owner).get(name, [])
        else:
            bindings = self._types.bindings(name, owner if isinstance(owner, ir.Function) else None)[0]
        for binding in bindings:
            if binding.how == "annotation" and isinstance(binding.expr, ir.Sub):
                index = binding.expr.index
                item = index.items[-1] if isinstance(index, ir.Seq) and index.items else index
                found = self._connections.is_type(self._types.annotation(item, binding.scope))
                if found:
                    return found
        return ""

    def _is_opaque(self, call: ir.Call, body: Body) -> bool:
        """Whether a call runs a factory that the program was given."""
        kind = self._types.of(call.func, body.scope)
        if kind is not None:
            return False
        if isinstance(call.func, ir.Name):
            return self._types.is_param(call.func.id, body.scope)
        return isinstance(call.func, ir.Attr) and isinstance(call.func.value, ir.Name) and call.func.value.id in _SELF

    def _is_lent(self, keeper: Keeper, call: ir.Call, body: Body, takes: dict[int, How]) -> bool:
        """Whether what a call opens takes the place of a taken object: it is returned, put in, or has the same name."""
        values = [store.value for store in keeper.stores if store.body is body]
        values += [stmt.value for stmt in body.statements if isinstance(stmt, ir.Return) and stmt.value is not None]
        assert body.scope is not None
        expressions = list(walk_expressions(body.scope.body))
        values += [expr.value for expr in expressions if isinstance(expr, ir.Yield) and expr.value is not None]
        if any(contains(value, call) for value in values):
            return True
        lent = {name for value in values for name in names_read(value)}
        named = {expr.name for expr in expressions if isinstance(expr, ir.Walrus) and contains(expr.value, call)}
        for stmt in body.statements:
            if isinstance(stmt, ir.Assign) and stmt.value is not None:
                names = {name for target in stmt.targets for name in names_read(target)}
                if any(id(expr) in takes for expr in inside(stmt.value)):
                    lent |= names
                if contains(stmt.value, call):
                    named |= names
        return bool(named & lent - _SELF)

    def _limits_kept(self, keeper: Keeper) -> bool:
        if keeper.kind.endswith("Queue") and isinstance(keeper.made, ir.Call):
            given = self._values.argument(keeper.made, "maxsize", 0, keeper.made_in)
            return given.how == "given" and self._values.of(given.expr, given.scope) != 0
        return any(self._limits.counts(store.body) for store in keeper.stores)

    def _drops_when_full(self, keeper: Keeper) -> bool:
        if keeper.kind != "collections.deque" or not isinstance(keeper.made, ir.Call):
            return False
        given = self._values.argument(keeper.made, "maxlen", 1, keeper.made_in)
        if given.how != "given" or self._values.of(given.expr, given.scope) is None:
            return False
        return not any(self._limits.counts(store.body) for store in keeper.stores)


def _is_of_one_call(keeper: Keeper) -> bool:
    """Whether a container is a variable that only its own function uses: it is empty again in each call."""
    owner = keeper.key[0]
    return isinstance(owner, ir.Function) and all(
        body.scope is owner
        for body in (*(take.body for take in keeper.takes), *(store.body for store in keeper.stores))
    )


def _gives(stmt: ir.Assign, names: set[str]) -> bool:
    return any(names & set(names_read(target)) for target in stmt.targets)
