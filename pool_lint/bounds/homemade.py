"""Home-made pools of connections: those that open any number, and those that drop what they keep without closing it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.bounds.empty import EmptyPaths, How
from pool_lint.pools.containers import DESTROYING
from pool_lint.walk import names_read, path_of, walk_expressions, walk_statements

if TYPE_CHECKING:
    from pool_lint.bounds.connections import Connections
    from pool_lint.bounds.keepers import Keeper, Keepers, Removal, Store
    from pool_lint.bounds.scan import Body, Scope
    from pool_lint.bounds.values import Values
    from pool_lint.pools.types import Types

_ORDERING = frozenset(("<", "<=", ">", ">=", "==", "!="))
_PER_THREAD = frozenset(
    (
        "threading.get_ident", "threading.get_native_id", "threading.current_thread", "_thread.get_ident", "os.getpid",
        "asyncio.get_running_loop", "asyncio.get_event_loop", "multiprocessing.current_process", "greenlet.getcurrent",
        "gevent.getcurrent", "eventlet.getcurrent", "eventlet.corolocal.get_ident",
    )
)  # fmt: skip
# Parameters whose values are few by what they mean, though their type does not say so.
_FEW = re.compile(
    r"(^|_)(region|alias|using|env|environment|mode|kind|backend|driver|role|level|stage|loop|pid|thread|thread_id|tid|"
    r"replica|shard|service|service_name|protocol|scheme|async|version|cls|klass|type|provider|settings|config|conf)$"
)
_MANY_ATTRS = re.compile(r"(^|_)(id|uid|uuid|key|token|host|hostname|address|addr|ip|url|uri|dsn|user|username|name|tenant)$")
_OPEN_TYPES = frozenset(("str", "int", "bytes", "object", "Any", "Hashable", "UUID", "Path", "IPv4Address", "IPv6Address"))
_SEQUENCES = frozenset(("tuple", "Tuple", "Sequence", "list", "List"))
_ENUMS = frozenset(("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag", "Enum", "IntEnum", "StrEnum"))
_CLOSING = frozenset(DESTROYING) | {"close_all", "aclose", "wait_closed", "finish", "callback", "enter_context", "release"}
_TIMES = re.compile(r"(^|_)(time|monotonic|now|perf_counter|ttl|age|expir\w*|deadline|max_age|idle_\w+|last_\w+)$")


@dataclass(frozen=True, slots=True, eq=False)
class Unbounded:
    """A pool without a limit: where it is reported, ``how`` it grows (``empty``, ``keys``), and what it opens."""

    line: int
    col: int
    how: str
    pool: str
    opens: str
    kept: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Dropped:
    """A container of connections that drops them without closing: ``what`` says which, and when."""

    line: int
    col: int
    what: str
    opens: str


class Homemade:
    """The home-made pools of one file."""

    def __init__(
        self, types: Types, connections: Connections, keepers: Keepers, values: Values, bodies: dict[Scope, Body]
    ) -> None:
        self._types = types
        self._connections = connections
        self._keepers = keepers
        self._values = values
        self._bodies = bodies
        self._counted: set[str] = set()
        self._callers: dict[ir.Function, list[Body]] = {}
        self._callees: dict[ir.Function | None, list[ir.Function]] = {}
        for body in bodies.values():
            self._counted |= body.counted
            for call in body.calls:
                target = self._target(call, body.scope)
                if target is not None:
                    self._callers.setdefault(target, []).append(body)
                    self._callees.setdefault(body.scope, []).append(target)

    def faults(self) -> Iterator[Unbounded | Dropped]:
        """The faults of every container, one each at most."""
        for keeper in self._keepers.all:
            fault = self._judge(keeper)
            if fault is not None:
                yield fault
        yield from self._memoized()

    def _judge(self, keeper: Keeper) -> Unbounded | Dropped | None:
        if keeper.dotted.startswith("weakref."):
            return self._weak(keeper)
        stored = self._get_or_create(keeper)
        if keeper.dotted:
            return self._cache(keeper, stored)
        if stored:
            return self._keyed(keeper, stored)
        return self._on_empty(keeper)

    # Pools that make one when they have none.

    def _on_empty(self, keeper: Keeper) -> Unbounded | Dropped | None:
        if not keeper.takes or not any(not self._connections.opened(store.value, store.body.scope) or _is_name(store.value)
                                       for store in keeper.stores):  # fmt: skip
            return None
        created: list[tuple[ir.Call, Body]] = []
        for body in self._borrowers(keeper):
            found = self._created_when_empty(keeper, body)
            if found and not self._is_bounded(keeper, body, found):
                created += [(call, body) for call in found]
        if not created:
            return None
        call, body = max(created, key=lambda each: (each[0].line, each[0].col))
        opens = self._connections.opened(call, body.scope)
        drops = self._drops_when_full(keeper)
        if drops:
            return Dropped(keeper.made.line, keeper.made.col, f"'{keeper.name}' is a deque with maxlen, which drops", opens)
        at: ir.Expr = call if keeper.owner is not None else keeper.made
        return Unbounded(at.line, at.col, "empty", keeper.name, opens, kept=self._limits_kept(keeper))

    def _borrowers(self, keeper: Keeper) -> list[Body]:
        """The functions that take from a container, and those that call a helper which does."""
        direct = list(dict.fromkeys(take.body for take in keeper.takes))
        out = list(direct)
        for body in direct:
            if body.scope is not None and not body.scope.is_generator:
                out += [each for each in self._callers.get(body.scope, ()) if each not in out]
        return [body for body in out if body.scope is not None]

    def _created_when_empty(self, keeper: Keeper, body: Body) -> list[ir.Call]:
        assert body.scope is not None
        takes: dict[int, How] = {
            id(take.call): "waits" if take.waits else "raises" for take in keeper.takes if take.body is body
        }
        takers = {take.body.scope: take.waits for take in keeper.takes}
        creates = set()
        for call in body.calls:
            target = self._target(call, body.scope)
            if target is not None and target in takers and target is not body.scope:
                takes[id(call)] = "waits" if takers[target] else "none"
            elif id(call) not in takes and self._connections.opened(call, body.scope):
                creates.add(id(call))
        if not creates or not takes:
            return []
        reached = EmptyPaths(body.scope.body, takes, frozenset(creates)).reached
        return [call for call in reached if self._is_lent(keeper, call, body, takes)]

    def _is_lent(self, keeper: Keeper, call: ir.Call, body: Body, takes: dict[int, How]) -> bool:
        """Whether what a call opens takes the place of a taken object: it is returned, put in, or has the same name."""
        lent: set[str] = set()
        for store in keeper.stores:
            if store.body is body:
                if _within(call, store.value):
                    return True
                lent.update(names_read(store.value))
        named: set[str] = set()
        for stmt in body.statements:
            if isinstance(stmt, ir.Return) and stmt.value is not None:
                if _within(call, stmt.value):
                    return True
                lent.update(names_read(stmt.value))
            elif isinstance(stmt, ir.Assign) and stmt.value is not None:
                names = {name for target in stmt.targets for name in names_read(target)}
                if any(id(expr) in takes for expr in walk_expressions([ir.ExprStmt(0, 0, stmt.value)])):
                    lent |= names
                if _within(call, stmt.value):
                    named |= names
        for expr in walk_expressions(body.scope.body if body.scope is not None else []):
            if isinstance(expr, ir.Yield) and expr.value is not None:
                lent.update(names_read(expr.value))
            elif isinstance(expr, ir.Walrus) and _within(call, expr.value):
                named.add(expr.name)
        return bool(named & lent - {"self", "cls"})

    def _is_bounded(self, keeper: Keeper, body: Body, created: list[ir.Call]) -> bool:
        """Whether a count, a semaphore or a second queue limits how many are made."""
        around = [body]
        assert body.scope is not None
        around += self._callers.get(body.scope, ())
        for target in self._callees.get(body.scope, ()):
            around.append(self._bodies[target])
        for call in created:
            target = self._target(call, body.scope)
            if target is not None:
                around.append(self._bodies[target])
        around = list(dict.fromkeys(around))
        if any(self._counts(each) or self._waits_elsewhere(each, keeper) for each in around):
            return True
        family = [each for each in self._bodies.values() if self._same_family(each, keeper, body)]
        return any(self._has_permits(each, created) for each in {*around, *family})

    def _same_family(self, body: Body, keeper: Keeper, taker: Body) -> bool:
        scope = body.scope
        while scope is not None and scope.owner is None:
            scope = scope.parent
        owner = scope.owner if scope is not None else None
        if owner is None:
            return keeper.owner is None and body.scope is not None and body.scope.owner is None
        return keeper.owner is not None and (owner is keeper.owner or owner is (taker.scope and taker.scope.owner))

    def _counts(self, body: Body) -> bool:
        for compare in body.compares:
            sides = [compare.left, *(right for _, right in compare.rights)]
            if any(op in _ORDERING for op, _ in compare.rights) and any(self._is_count(side) for side in sides):
                if not any(isinstance(side, ir.Const) and side.value in (0, None) for side in sides):
                    return True
        for call in body.calls:
            if isinstance(call.func, ir.Attr) and call.func.name in ("wait", "wait_for", "full"):
                path = path_of(call.func.value)
                if path is not None and str(path[0]) != "asyncio":
                    return True
        return False

    def _is_count(self, expr: ir.Expr) -> bool:
        if isinstance(expr, ir.Call):
            name = expr.func.id if isinstance(expr.func, ir.Name) else expr.func.name if isinstance(expr.func, ir.Attr) else ""
            return name in ("len", "qsize", "sum", "size", "count")
        if isinstance(expr, ir.Name):
            return expr.id in self._counted
        if isinstance(expr, ir.Attr):
            return expr.name in self._counted or bool(re.search(r"(count|size|total|open|num|n_\w+|created)$", expr.name))
        return isinstance(expr, ir.Op) and any(self._is_count(part) for part in expr.parts)

    def _waits_elsewhere(self, body: Body, keeper: Keeper) -> bool:
        """Whether a function waits for something out of another container: a queue of permits."""
        return any(
            take.waits and take.body is body
            for other in self._keepers.all
            if other is not keeper
            for take in other.takes
        )

    def _has_permits(self, body: Body, created: list[ir.Call]) -> bool:
        for call in body.calls:
            if isinstance(call.func, ir.Attr) and call.func.name in ("acquire", "acquire_nowait"):
                if self._is_semaphore(call.func.value, body.scope):
                    return True
        for stmt in body.withs:
            if any(self._is_semaphore(item.context, body.scope) for item in stmt.items):
                inside = list(walk_expressions(stmt.body))
                opens_only = any(expr in created for expr in inside) and not any(
                    isinstance(expr, ir.Yield) for expr in inside
                )
                if not opens_only or any(self._is_use(expr, created) for expr in inside):
                    return True
        return False

    def _is_use(self, expr: ir.Expr, created: list[ir.Call]) -> bool:
        """Whether a call puts something back: then the whole of the use is inside."""
        return isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr) and expr.func.name in (
            "put", "put_nowait", "append", "appendleft", "release", "_release", "give_back",
        )  # fmt: skip

    def _is_semaphore(self, expr: ir.Expr, scope: Scope) -> bool:
        kind = self._types.of(expr, scope)
        if kind is not None:
            return kind.kind == "semaphore"
        path = path_of(expr)
        return path is not None and bool(re.search(r"sem|slots|permits|limiter|tokens|tickets|capacity", str(path[-1]).lower()))

    def _limits_kept(self, keeper: Keeper) -> bool:
        if keeper.kind.endswith("Queue") and isinstance(keeper.made, ir.Call):
            given = self._values.argument(keeper.made, "maxsize", 0, keeper.made_in)
            return given.how == "given" and self._values.of(given.expr, given.scope) != 0
        return any(self._counts(store.body) for store in keeper.stores)

    def _drops_when_full(self, keeper: Keeper) -> bool:
        if keeper.kind != "collections.deque" or not isinstance(keeper.made, ir.Call):
            return False
        given = self._values.argument(keeper.made, "maxlen", 1, keeper.made_in)
        if given.how != "given" or self._values.of(given.expr, given.scope) is None:
            return False
        return not any(self._counts(store.body) for store in keeper.stores)

    # Mappings that keep one for each key.

    def _get_or_create(self, keeper: Keeper) -> list[tuple[Store, ir.Expr, str]]:
        """The stores of new connections in functions that look for one first."""
        out = []
        readers = {body for _, _, body in keeper.reads} | {each.body for each in keeper.removals if each.what == "pop"}
        for store in keeper.stores:
            if store.key is None or store.body.scope is None or store.body not in readers:
                continue
            opens = self._connections.opened(store.value, store.body.scope)
            call = self._creating_call(store.value, store.body)
            if opens and call is not None:
                out.append((store, call, opens))
        return out

    def _creating_call(self, value: ir.Expr, body: Body) -> ir.Call | None:
        """The call in a function that opens what an expression of it gives."""
        for expr in walk_expressions([ir.ExprStmt(0, 0, value)]):
            if isinstance(expr, ir.Call) and self._connections.opened(expr, body.scope):
                return expr
        names = set(names_read(value))
        found = None
        for stmt in body.statements:
            if isinstance(stmt, ir.Assign) and stmt.value is not None:
                targets = {name for target in stmt.targets for name in names_read(target) if not isinstance(target, ir.Sub)}
                if targets & names:
                    for expr in walk_expressions([ir.ExprStmt(0, 0, stmt.value)]):
                        if isinstance(expr, ir.Call) and self._connections.opened(expr, body.scope):
                            found = expr
                            break
            elif isinstance(stmt, ir.With):
                for item in stmt.items:
                    if isinstance(item.target, ir.Name) and item.target.id in names and isinstance(item.context, ir.Call):
                        found = item.context
        return found

    def _keyed(self, keeper: Keeper, stored: list[tuple[Store, ir.Expr, str]]) -> Unbounded | Dropped | None:
        if not any(self._is_open_key(keeper, store.key, store.body) for store, _, _ in stored):
            return None
        store_bodies = {store.body for store, _, _ in stored}
        evicts = self._evictions(keeper, store_bodies)
        if evicts:
            unclosed = [each for each in evicts if not self._is_closed(each, keeper)]
            if unclosed:
                opens = stored[-1][2]
                return Dropped(keeper.made.line, keeper.made.col, f"'{keeper.name}' drops entries on line {unclosed[0].node.line}", opens)
            return None
        if self._ends_elsewhere(keeper, store_bodies):
            return None
        for store, _, _ in stored:
            around = [store.body, *self._callers.get(store.body.scope, ())] if store.body.scope is not None else [store.body]
            around += [self._bodies[each] for each in self._callees.get(store.body.scope, ())]
            if any(self._counts(body) for body in around) or any(self._has_permits(body, []) for body in around):
                return None
        store, call, opens = max(stored, key=lambda each: (each[1].line, each[1].col))
        at = call if keeper.owner is not None else keeper.made
        return Unbounded(at.line, at.col, "keys", keeper.name, opens)

    def _evictions(self, keeper: Keeper, store_bodies: set[Body]) -> list[Removal]:
        """Removals that the container's size or the age of an entry decides."""
        out = []
        helpers = {self._bodies[each] for body in store_bodies for each in self._callees.get(body.scope, ())}
        for removal in keeper.removals:
            if removal.what == "popitem":
                out.append(removal)
            elif removal.body in store_bodies | helpers or self._is_timed(removal.body):
                guard = _guard_of(removal.node, removal.body)
                if guard is not None and (self._is_sized(guard, keeper, removal.body) or self._mentions_time(guard)):
                    out.append(removal)
        return out

    def _is_sized(self, guard: ir.Expr, keeper: Keeper, body: Body) -> bool:
        return any(
            isinstance(expr, ir.Call)
            and isinstance(expr.func, ir.Name)
            and expr.func.id == "len"
            and expr.args
            and self._keepers.at(expr.args[0], body.scope) is keeper
            for expr in walk_expressions([ir.ExprStmt(0, 0, guard)])
        )

    @staticmethod
    def _mentions_time(guard: ir.Expr) -> bool:
        if not isinstance(guard, (ir.Compare, ir.Bool)):
            return False
        for expr in walk_expressions([ir.ExprStmt(0, 0, guard)]):
            name = expr.id if isinstance(expr, ir.Name) else expr.name if isinstance(expr, ir.Attr) else ""
            if name and _TIMES.search(name.lower()):
                return True
        return False

    def _is_timed(self, body: Body) -> bool:
        return any(self._mentions_time(compare) for compare in body.compares)

    def _is_closed(self, removal: Removal, keeper: Keeper) -> bool:
        """Whether a function that throws an entry out also closes it."""
        body = removal.body
        for call in body.calls:
            if isinstance(call.func, ir.Attr) and call.func.name in _CLOSING:
                if self._keepers.at(call.func.value, body.scope) is not keeper or isinstance(call.func.value, ir.Sub):
                    return True
        if removal.what in ("popitem", "pop") and id(removal.node) not in body.thrown:
            # handed on: to a variable that a call gets, or to the caller
            names = {
                name for stmt in body.statements
                if isinstance(stmt, ir.Assign) and stmt.value is not None
                and any(expr is removal.node for expr in walk_expressions([ir.ExprStmt(0, 0, stmt.value)]))
                for target in stmt.targets for name in names_read(target)
            }  # fmt: skip
            if not names:
                return True
            return any(
                names & set(names_read(arg)) for call in body.calls for arg in (*call.args, call.func)
                if not (isinstance(call.func, ir.Attr) and call.func.name in ("pop", "info", "debug", "warning"))
            ) or any(
                isinstance(stmt, ir.Return) and stmt.value is not None and names & set(names_read(stmt.value))
                for stmt in body.statements
            )  # fmt: skip
        return False

    def _ends_elsewhere(self, keeper: Keeper, store_bodies: set[Body]) -> bool:
        """Whether entries are removed by key in another function: their users say when they end."""
        for removal in keeper.removals:
            if removal.key is None or removal.body in store_bodies or removal.body.scope is None:
                continue
            if not _in_handler(removal.node, removal.body.scope):
                return True
        return False

    # Keys.

    def _is_open_key(self, keeper: Keeper, key: ir.Expr | None, body: Body) -> bool:
        return key is not None and self._is_open(keeper, key, body, 0)

    def _is_open(self, keeper: Keeper, key: ir.Expr, body: Body, depth: int) -> bool:
        """Whether a key may have any number of values."""
        scope = body.scope
        if depth > 4 or scope is None:  # noqa: PLR2004 - deep enough
            return False
        if isinstance(key, ir.Name):
            if self._types.is_param(key.id, scope):
                return self._is_open_param(keeper, key.id, body)
            bindings, owner = self._types.bindings(key.id, scope)
            if owner is not scope or not bindings:
                return False
            return all(
                each.how == "value" and each.expr is not None and self._is_open(keeper, each.expr, body, depth + 1)
                for each in bindings
            )
        if isinstance(key, ir.Attr):
            root = key.value
            if isinstance(root, ir.Name) and self._types.is_param(root.id, scope) and not self._is_self(root.id, scope):
                return bool(_MANY_ATTRS.search(key.name)) and self._is_open_param(keeper, root.id, body, whole=False)
            return False
        if isinstance(key, ir.Seq):
            return any(self._is_open(keeper, item, body, depth + 1) for item in key.items)
        if isinstance(key, ir.Op):
            return any(self._is_open(keeper, part, body, depth + 1) for part in key.parts)
        if isinstance(key, ir.Call):
            return self._is_open_call(keeper, key, body, depth)
        if isinstance(key, ir.Bool):
            return self._is_open(keeper, key.left, body, depth + 1)
        return False

    def _is_open_call(self, keeper: Keeper, key: ir.Call, body: Body, depth: int) -> bool:
        dotted = self._connections.called(key.func, body.scope)
        if dotted in _PER_THREAD or self._is_enum(key.func, body.scope):
            return False
        parts = [*key.args, *(value for _, value in key.keywords)]
        if isinstance(key.func, ir.Attr):
            if not dotted and self._target(key, body.scope) is None:
                parts.append(key.func.value)
        return any(self._is_open(keeper, part, body, depth + 1) for part in parts)

    def _is_self(self, name: str, scope: ir.Function) -> bool:
        return scope.owner is not None and bool(scope.params) and scope.params[0].name == name

    def _is_open_param(self, keeper: Keeper, name: str, body: Body, *, whole: bool = True) -> bool:
        scope = body.scope
        assert scope is not None
        if self._is_self(name, scope) or _FEW.search(name.lower()):
            return False
        param = next(each for each in scope.params if each.name == name)
        if param.kind in ("star", "kwargs"):
            return True
        if whole and param.annotation is not None and not self._is_open_type(param.annotation, scope):
            return False
        if self._is_checked(keeper, name, body) or self._is_given_constants(name, scope):
            return False
        return True

    def _is_open_type(self, annotation: ir.Expr, scope: Scope) -> bool:
        if isinstance(annotation, ir.Const):
            return isinstance(annotation.value, str) and bool(re.match(r"(str|int|bytes|tuple)\b", annotation.value))
        if isinstance(annotation, ir.Op) and annotation.op == "BitOr":
            return any(self._is_open_type(part, scope) for part in annotation.parts)
        if isinstance(annotation, ir.Sub):
            last = self._types.dotted(annotation.value).rpartition(".")[2]
            if last in _SEQUENCES or last in ("Optional", "Union", "Annotated"):
                index = annotation.index
                items = index.items if isinstance(index, ir.Seq) else [index]
                return any(self._is_open_type(item, scope) for item in items)
            return False
        dotted = self._types.dotted(annotation)
        last = dotted.rpartition(".")[2]
        if last in _OPEN_TYPES or last in _SEQUENCES:
            return True
        kind = self._types.of(annotation, scope.parent if scope is not None else None)
        # NewType("TenantId", str)
        made = self._values.call_behind(annotation, None)
        if made is not None and self._types.dotted(made[0].func).endswith("NewType") and len(made[0].args) > 1:
            return self._is_open_type(made[0].args[1], scope)
        return kind is not None and kind.kind == "class" and kind.klass is not None and self._is_plain_record(kind.klass)

    def _is_plain_record(self, klass: ir.Klass) -> bool:
        """A dataclass or named tuple of this file with an open field."""
        names = {str((path_of(each.func if isinstance(each, ir.Call) else each) or ("",))[-1]).lstrip(".") for each in klass.decorators}
        bases = {str((path_of(each) or ("",))[-1]).lstrip(".") for each in klass.bases}
        if "dataclass" not in names and "NamedTuple" not in bases:
            return False
        return any(
            isinstance(stmt, ir.Assign) and stmt.annotation is not None and self._is_open_type(stmt.annotation, None)
            for stmt in klass.body
        )

    def _is_enum(self, func: ir.Expr, scope: Scope) -> bool:
        kind = self._types.of(func, scope)
        if kind is None or kind.kind != "class" or kind.klass is None:
            return False
        return any(base in _ENUMS for base in self._types.unseen_bases(kind.klass)) or any(
            self._types.dotted(base) in _ENUMS for each in self._types.bases_of(kind.klass) for base in each.bases
        )

    def _is_checked(self, keeper: Keeper, name: str, body: Body) -> bool:
        """Whether a function refuses values of a parameter that a fixed collection does not have."""
        scope = body.scope
        for compare in body.compares:
            for op, right in compare.rights:
                if op in ("in", "not in") and name in names_read(compare.left):
                    if self._keepers.at(right, scope) is not keeper and not isinstance(right, ir.Const):
                        return True
        for sub in body.subs:
            if name in names_read(sub.index) and self._keepers.at(sub.value, scope) is not keeper:
                kind = self._types.of(sub.value, scope)
                if not (isinstance(sub.index, ir.Op) and sub.index.kind == "slice") and (kind is None or kind.kind != "external"):
                    return True
        for call in body.calls:
            uses = any(name in names_read(arg) for arg in call.args)
            if uses and self._is_enum(call.func, scope):
                return True
            if uses and isinstance(call.func, ir.Attr) and call.func.name == "get" and call.args and name in names_read(call.args[0]):
                other = self._keepers.at(call.func.value, scope)
                if other is not keeper and any(isinstance(stmt, ir.Raise) for stmt in body.statements):
                    return True
            target = self._target(call, scope)
            if uses and target is not None and target is not scope and len(call.args) <= len(target.params):
                offset = 1 if target.owner is not None and isinstance(call.func, ir.Attr) else 0
                for index, arg in enumerate(call.args):
                    if isinstance(arg, ir.Name) and arg.id == name and index + offset < len(target.params):
                        inner = self._bodies[target]
                        if inner is not body and self._looks_up(keeper, target.params[index + offset].name, inner):
                            return True
        return False

    def _looks_up(self, keeper: Keeper, name: str, body: Body) -> bool:
        """Whether a helper takes its parameter as the key of a fixed collection."""
        if any(
            name in names_read(sub.index) and self._keepers.at(sub.value, body.scope) is not keeper
            and not (isinstance(sub.index, ir.Op) and sub.index.kind == "slice")
            for sub in body.subs
        ):  # fmt: skip
            return True
        return any(
            op in ("in", "not in") and name in names_read(compare.left) and not isinstance(right, ir.Const)
            for compare in body.compares
            for op, right in compare.rights
        )

    def _is_given_constants(self, name: str, scope: ir.Function) -> bool:
        """Whether every call in the file gives a constant, and the function is the file's own."""
        callers = self._callers.get(scope, ())
        if not callers or not scope.name.startswith("_"):
            return False
        position = next(index for index, param in enumerate(scope.params) if param.name == name)
        if scope.owner is not None:
            position -= 1
        for body in callers:
            for call in body.calls:
                if self._target(call, body.scope) is scope:
                    given = self._values.argument(call, name, position, body.scope)
                    if given.how == "absent":
                        continue
                    if given.how == "unseen" or not isinstance(self._values.of(given.expr, given.scope), (str, int, bytes)):
                        return False
        return True

    # Weak references, caches, memoised functions.

    def _weak(self, keeper: Keeper) -> Dropped | None:
        """A weak container drops what nobody else holds; one that observes objects held elsewhere is no pool."""
        last = keeper.dotted.rpartition(".")[2]
        found = self._get_or_create(keeper)
        if keeper.dotted == "weakref.WeakSet":
            found = []
            if keeper.takes:
                for store in keeper.stores:
                    for body in self._borrowers(keeper):
                        created = self._created_when_empty(keeper, body)
                        if created:
                            found.append((store, created[0], self._connections.opened(created[0], body.scope)))
        for store, _, opens in found:
            if not self._held_elsewhere(keeper, store):
                return Dropped(keeper.made.line, keeper.made.col, f"'{keeper.name}' is a {last}, which drops", opens)
        return None

    def _held_elsewhere(self, keeper: Keeper, store: Store) -> bool:
        names = set(names_read(store.value)) if _is_name(store.value) else set()
        body = store.body
        for other in self._keepers.all:
            if other is not keeper and not other.dotted:
                if any(each.body is body and names & set(names_read(each.value)) for each in other.stores):
                    return True
        for stmt in body.statements:
            if isinstance(stmt, ir.Assign) and stmt.value is not None:
                if any(isinstance(target, ir.Attr) for target in stmt.targets) and (
                    names & set(names_read(stmt.value)) if isinstance(stmt.value, ir.Name) else stmt.value is store.value
                ):
                    return True
        return any(
            self._connections.called(call.func, body.scope) in ("weakref.finalize", "atexit.register") for call in body.calls
        )

    def _cache(self, keeper: Keeper, stored: list[tuple[Store, ir.Expr, str]]) -> Dropped | None:
        last = keeper.dotted.rpartition(".")[2]
        in_time = last in ("TTLCache", "TLRUCache", "ExpiringDict")
        for store, _, opens in stored:
            if in_time or self._is_open_key(keeper, store.key, store.body):
                return Dropped(keeper.made.line, keeper.made.col, f"'{keeper.name}' is a {last}, which drops", opens)
        return None

    def _memoized(self) -> Iterator[Unbounded | Dropped]:
        for function, body in self._bodies.items():
            if function is None:
                continue
            for decorator in function.decorators:
                call = decorator if isinstance(decorator, ir.Call) else None
                dotted = self._connections.called(call.func if call is not None else decorator, function.parent)
                if dotted in self._types.catalog.memoizers:
                    fault = self._memoizer(function, body, decorator, dotted)
                    if fault is not None:
                        yield fault

    def _memoizer(self, function: ir.Function, body: Body, decorator: ir.Expr, dotted: str) -> Unbounded | Dropped | None:
        opens = self._opens(function)
        if not opens:
            return None
        if not any(self._is_open_argument(param, function, body) for param in function.params):
            return None
        call = decorator if isinstance(decorator, ir.Call) else None
        last = dotted.rpartition(".")[2]
        keeps_all = dotted == "functools.cache"
        if dotted in ("cachetools.cached", "cachetools.cachedmethod"):
            cache = self._values.argument(call, "cache", 0, function.parent) if call is not None else None
            made = self._values.call_behind(cache.expr, cache.scope) if cache is not None and cache.how == "given" else None
            if made is None:
                is_dict = cache is not None and isinstance(cache.expr, ir.DictLit)
                if not is_dict:
                    return None
                keeps_all = True
            elif self._connections.called(made[0].func, made[1]) not in self._types.catalog.dropping:
                return None
            else:
                last = self._connections.called(made[0].func, made[1]).rpartition(".")[2]
        elif call is not None:
            size = self._values.argument(call, "maxsize", 0, function.parent)
            if size.how == "given" and self._values.of(size.expr, size.scope) is None:
                keeps_all = "ttl" not in last
        if keeps_all:
            return Unbounded(decorator.line, decorator.col, "arguments", function.name, opens)
        return Dropped(decorator.line, decorator.col, f"'{function.name}' is under {last}, which drops", opens)

    def _opens(self, function: ir.Function) -> str:
        call = ir.Call(0, 0, ir.Name(0, 0, function.name), [], [])
        if function.owner is not None:
            call = ir.Call(0, 0, ir.Attr(0, 0, ir.Name(0, 0, function.params[0].name if function.params else "self"), function.name), [], [])
            return self._connections.opened(call, function)
        return self._connections.opened(call, function.parent)

    def _is_open_argument(self, param: ir.Param, function: ir.Function, body: Body) -> bool:
        if self._is_self(param.name, function):
            return False
        nobody = Nobody
        return self._is_open_param(nobody, param.name, body)  # type: ignore[arg-type]

    def _target(self, call: ir.Call, scope: Scope) -> ir.Function | None:
        kind = self._types.of(call.func, scope)
        return kind.function if kind is not None and kind.kind == "function" else None


class Nobody:
    """Stands for the container of a function that has none."""


def _within(call: ir.Call, expr: ir.Expr) -> bool:
    return any(each is call for each in walk_expressions([ir.ExprStmt(0, 0, expr)]))


def _is_name(value: ir.Expr) -> bool:
    return isinstance(value, (ir.Name, ir.Seq))


def _guard_of(node: ir.Expr, body: Body) -> ir.Expr | None:
    """The test of the innermost ``if`` or ``while`` around an expression."""
    found: ir.Expr | None = None
    for stmt in body.statements:
        if isinstance(stmt, (ir.If, ir.While)):
            inside: Iterable[ir.Stmt] = stmt.body
            if any(expr is node for expr in walk_expressions(list(inside))):
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
