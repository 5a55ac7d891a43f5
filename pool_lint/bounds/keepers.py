"""The containers of one file that may keep connections, and what the file does with each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint import ir

if TYPE_CHECKING:
    from pool_lint.bounds.connections import Connections
    from pool_lint.bounds.scan import Body, Scope
    from pool_lint.bounds.values import Values
    from pool_lint.catalog.spec import Catalog
    from pool_lint.pools.containers import Containers, Key
    from pool_lint.pools.types import Binding, Type, Types

_TAKES = frozenset(("get", "get_nowait", "pop", "popleft", "popitem"))
_PUTS = {"put": 0, "put_nowait": 0, "append": 0, "appendleft": 0, "add": 0, "insert": 1}
_ALIASES = frozenset(("get", "setdefault", "values"))
_DEEPEST = 6


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """An object taken out without naming it; ``waits`` until there is one, or else raises."""

    call: ir.Call
    body: Body
    waits: bool


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """An object put in: under ``key``, or (None) without one."""

    node: ir.Expr | ir.Stmt
    key: ir.Expr | None
    value: ir.Expr
    body: Body


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """An object taken out of a mapping by key, or thrown out.

    ``key`` is None where the container chooses which one, or all go; ``what`` names the operation.
    """

    node: ir.Expr
    key: ir.Expr | None
    body: Body
    what: str


@dataclass(slots=True, eq=False)
class Keeper:
    """One container; ``made`` is what constructs it, ``dotted`` its class where it drops what it holds."""

    key: Key
    made: ir.Expr
    made_in: Scope
    kind: str
    dotted: str
    takes: list[Take] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    reads: list[tuple[ir.Expr, ir.Expr, Body]] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)

    @property
    def owner(self) -> ir.Klass | None:
        """The class that a container is an attribute of."""
        return self.key[0] if isinstance(self.key[0], ir.Klass) else None

    @property
    def name(self) -> str:
        """The container as the user calls it."""
        return f"self.{self.key[1]}" if self.owner is not None else self.key[1]


class Keepers:
    """Finds the containers of one file."""

    def __init__(
        self,
        types: Types,
        containers: Containers,
        catalog: Catalog,
        values: Values,
        connections: Connections,
        bodies: dict[Scope, Body],
    ) -> None:
        self._types = types
        self._containers = containers
        self._catalog = catalog
        self._values = values
        self._connections = connections
        self._found: dict[Key, Keeper | None] = {}
        for body in bodies.values():
            self._read(body)
        # a container is found under every local name that stands for it
        self.all = list(dict.fromkeys(keeper for keeper in self._found.values() if keeper is not None))

    def at(self, expr: ir.Expr, scope: Scope, depth: int = 0) -> Keeper | None:
        """The container that an expression is, or is a part of (``idle[host]``, or a variable for it)."""
        if depth > _DEEPEST:
            return None
        if isinstance(expr, ir.Sub):
            return self.at(expr.value, scope, depth + 1)
        if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr) and expr.func.name in _ALIASES:
            holder = self.at(expr.func.value, scope, depth + 1)
            # what a queue's `get` gives is what the queue holds, and has methods of its own
            return holder if holder is not None and holder.kind == "mapping" else None
        key = self._containers.key(expr, scope)
        if key is None:
            return None
        if key not in self._found:
            self._found[key] = self._make(key, scope, depth)
        return self._found[key]

    def _make(self, key: Key, scope: Scope, depth: int) -> Keeper | None:
        if self._containers.is_linked(key):
            return None
        owner, name = key
        if isinstance(owner, ir.Klass):
            bindings = self._types.attrs_of(owner).get(name, [])
        else:
            bindings = self._types.bindings(name, owner if isinstance(owner, ir.Function) else scope)[0]
        for binding in bindings:
            if binding.how != "value" or binding.expr is None:
                continue
            found = self._constructed(binding)
            if found is not None:
                kind, dotted = found
                return Keeper(key, binding.expr, binding.scope, kind, dotted)
        for binding in bindings:
            if (
                isinstance(owner, ir.Function)
                and binding.how == "value"
                and isinstance(binding.expr, (ir.Sub, ir.Call))
            ):
                return self.at(binding.expr, owner, depth + 1)
        return None

    def _constructed(self, binding: Binding) -> tuple[str, str] | None:
        expr = binding.expr
        assert expr is not None
        if isinstance(expr, ir.Call):
            name = self._connections.called(expr.func, binding.scope)
            if name.rpartition(".")[2] == "field":
                factory = next((value for given, value in expr.keywords if given == "default_factory"), None)
                if factory is None:
                    return None
                return self._kind(self._types.of(ir.Call(0, 0, factory, [], []), binding.scope))
            if isinstance(expr.func, ir.Sub):  # dict[str, Connection]()
                return self._kind(
                    self._types.of(ir.Call(0, 0, expr.func.value, expr.args, expr.keywords), binding.scope)
                )
            if name in self._catalog.dropping:
                return "mapping", name
        return self._kind(self._types.of(expr, binding.scope))

    def _kind(self, kind: Type | None) -> tuple[str, str] | None:
        if kind is None:
            return None
        if kind.kind == "external_instance" and kind.dotted in self._catalog.dropping:
            return "mapping", kind.dotted
        if kind.kind == "instance" and kind.klass is not None:
            # A class of this file that is a dropping container and does not close what it drops.
            base = next((each for each in self._types.unseen_bases(kind.klass) if each in self._catalog.dropping), "")
            closes = any(name in kind.klass.methods for name in ("popitem", "__delitem__", "pop"))
            return ("mapping", base) if base and not closes else None
        if kind.kind == "container" and kind.container is not None:
            return ("mapping" if kind.container.id == "dict" else kind.container.id), ""
        return None

    def _read(self, body: Body) -> None:
        for call in body.calls:
            if isinstance(call.func, ir.Attr):
                self._read_call(call, call.func, body)
            elif isinstance(call.func, ir.Name) and call.func.id in ("heappop", "heappush") and call.args:
                self._read_heap(call, call.func.id, body)
        for target, stmt in body.stores:
            keeper = self.at(target.value, body.scope)
            if keeper is not None and stmt.value is not None:
                keeper.stores.append(Store(stmt, target.index, stmt.value, body))
        for target in body.deletes:
            keeper = self.at(target.value, body.scope)
            if keeper is not None:
                keeper.removals.append(Removal(target, target.index, body, "del"))
        reads: list[tuple[ir.Expr, ir.Expr, ir.Expr]] = [(sub.value, sub.index, sub) for sub in body.subs]
        reads += [
            (right, compare.left, compare)
            for compare in body.compares
            for op, right in compare.rights
            if op in ("in", "not in")
        ]  # fmt: skip
        for container, key, expr in reads:
            keeper = self.at(container, body.scope)
            if keeper is not None:
                keeper.reads.append((expr, key, body))

    def _read_heap(self, call: ir.Call, name: str, body: Body) -> None:
        keeper = self.at(call.args[0], body.scope)
        if keeper is not None and name == "heappop":
            keeper.takes.append(Take(call, body, waits=False))
        elif keeper is not None and len(call.args) > 1:
            keeper.stores.append(Store(call, None, call.args[1], body))

    def _read_call(self, call: ir.Call, func: ir.Attr, body: Body) -> None:  # noqa: C901 - one case per method
        name = func.name
        if name not in _TAKES and name not in _PUTS and name not in ("setdefault", "clear", "remove", "discard"):
            return
        keeper = self.at(func.value, body.scope)
        if keeper is None:
            return
        whole = self._containers.key(func.value, body.scope) == keeper.key
        if name == "clear":
            keeper.removals.append(Removal(call, None, body, "clear"))
        elif name == "setdefault":
            if len(call.args) > 1:
                keeper.stores.append(Store(call, call.args[0], call.args[1], body))
                keeper.reads.append((call, call.args[0], body))
        elif name in _PUTS:
            place = _PUTS[name]
            if len(call.args) > place:
                keeper.stores.append(Store(call, None, call.args[place], body))
        elif name in ("remove", "discard"):
            keeper.removals.append(Removal(call, call.args[0] if call.args else None, body, "remove"))
        elif keeper.kind == "mapping" and whole and name in ("get", "pop", "popitem"):
            self._read_mapping(keeper, call, name, body)
        elif name != "popitem" and (whole or name != "get"):
            # what a mapping holds may be a client with a `get` of its own
            keeper.takes.append(Take(call, body, self._waits(call, name, keeper, body.scope)))

    @staticmethod
    def _read_mapping(keeper: Keeper, call: ir.Call, name: str, body: Body) -> None:
        if name == "get" and call.args:
            keeper.reads.append((call, call.args[0], body))
        elif name == "pop" and call.args:
            keeper.removals.append(Removal(call, call.args[0], body, "pop"))
        elif name == "pop":
            keeper.takes.append(Take(call, body, waits=False))  # a set
        elif name == "popitem":
            keeper.removals.append(Removal(call, None, body, "popitem"))
            if id(call) not in body.thrown:
                keeper.takes.append(Take(call, body, waits=False))

    def _waits(self, call: ir.Call, name: str, keeper: Keeper, scope: Scope) -> bool:
        if name != "get" or keeper.kind in ("list", "set", "collections.deque"):
            return False
        block = self._values.argument(call, "block", 0, scope)
        if block.how == "given" and self._values.of(block.expr, block.scope) is False:
            return False
        return self._values.argument(call, "timeout", 1, scope).how == "absent"
