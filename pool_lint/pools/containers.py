"""Queues, deques, lists, sets and dicts that a file uses as pools, by the evidence that they are.

A container is a pool only where objects that were made for it are taken out and given back.  What looks the same and
is not (work queues, run queues, undo stacks, round robins, registries) differs in who puts what into it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.catalog.spec import BorrowForm, ContainerSpec, PoolSpec, PutForm, ReleaseForm, TakeForm
from pool_lint.pools.linked import MARK, Linked
from pool_lint.pools.state import driver
from pool_lint.walk import names_read, statement_parts, walk_expressions, walk_statements
from pool_lint.words import BORROWING, FILLING, LENDING_METHOD, READING, RETURNING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pool_lint.pools.types import Types

Key = tuple[object, str]


@dataclass(slots=True, eq=False)
class Take:
    """One place where an object is taken out."""

    function: ir.Function | None
    call: ir.Call
    form: TakeForm
    name: str = ""


@dataclass(slots=True, eq=False)
class Put:
    """One place where an object is put in; ``what`` tells what is known of it."""

    function: ir.Function | None
    node: ir.Expr | ir.Stmt
    form: PutForm
    value: ir.Expr
    what: str = "unknown"


@dataclass(slots=True, eq=False)
class ContainerUse:
    """All that a file does with one container."""

    key: Key
    container: ContainerSpec
    takes: list[Take] = field(default_factory=list)
    puts: list[Put] = field(default_factory=list)
    filled: bool = False
    given: bool = False
    escapes: bool = False


class Containers:
    """The containers of one file, and which of them are pools."""

    def __init__(self, tree: ir.ModuleTree, types: Types, linked: Linked | None = None) -> None:
        self._types = types
        self._linked = linked or Linked()
        self._body = [*tree.body, *self._linked.body]
        self._functions = [*tree.functions, *self._linked.functions]
        self.uses: dict[Key, ContainerUse] = {}
        self._specs: dict[Key, PoolSpec | None] = {}
        self._assigned: dict[ir.Function | None, dict[str, list[ir.Expr]]] = {}
        self._thrown_away: set[int] = set()
        self._scan()

    def key(self, expr: ir.Expr, scope: ir.Function | None) -> Key | None:
        """The container that an expression names, whatever the file calls it."""
        if isinstance(expr, ir.Attr):
            base = self._types.of(expr.value, scope)
            if base is None or base.klass is None or base.kind not in ("instance", "class", "pool"):
                return None
            for klass in self._types.bases_of(base.klass):
                if expr.name in self._types.attrs_of(klass):
                    return klass, expr.name
            return None
        if isinstance(expr, ir.Name):
            bindings, owner = self._types.bindings(expr.id, scope)
            return (owner, expr.id) if bindings else None
        return None

    def spec(self, expr: ir.Expr, scope: ir.Function | None) -> PoolSpec | None:
        """The pool that an expression names, if it names a container with the evidence for one."""
        key = self.key(expr, scope)
        if key is None or key not in self.uses:
            return None
        if key not in self._specs:
            use = self.uses[key]
            self._specs[key] = self._make_spec(use) if self._is_pool(use) else None
        return self._specs[key]

    def known_spec(self, key: Key) -> PoolSpec | None:
        """The pool that a container was found to be, where anybody has asked."""
        return self._specs.get(key)

    def opens_when_empty(self, spec: PoolSpec) -> bool:
        """Whether a pool is a container of which a borrow makes a new object when there is none."""
        return any(found is spec and self._made_when_empty(self.uses[key]) for key, found in self._specs.items())

    def reopens(self, spec: PoolSpec) -> bool:
        """Whether the objects of a container open themselves again: one that was closed may go back."""
        return any(
            found is spec and not _REOPENING.isdisjoint(self._object_names(self.uses[key]))
            for key, found in self._specs.items()
        )

    def pools(self) -> list[ContainerUse]:
        """The containers of the file itself with the evidence for a pool."""
        return [use for use in self.own_uses() if self._is_pool(use)]

    def own_uses(self) -> list[ContainerUse]:
        """The containers that are no other module's."""
        return [use for use in self.uses.values() if not self.is_linked(use.key)]

    def is_linked(self, key: Key) -> bool:
        """Whether a container is another module's, so that not everything done with it need be in view."""
        owner, name = key
        return MARK in name or (isinstance(owner, (ir.Klass, ir.Function)) and owner in self._linked.homes)

    def made_when_empty(self, use: ContainerUse) -> list[tuple[ir.Expr, ir.Function]]:
        """What the functions that take an object construct where there is none."""
        found: list[tuple[ir.Expr, ir.Function]] = []
        for take in use.takes:
            function = take.function
            if function is None:
                continue
            returned = [
                _unawaited(stmt.value)
                for stmt in walk_statements(function.body)
                if isinstance(stmt, ir.Return) and stmt.value is not None
            ]
            groups = [[arm for value in returned for arm in _arms(value)]]
            named = self.assigned(function).values()
            groups += [[arm for value in values for arm in _arms(_unawaited(value))] for values in named]
            for group in groups:
                taken = [self._takes_from(arm, function, use) or self._is_held(arm, function, use) for arm in group]
                if any(taken):
                    found += [
                        (arm, function)
                        for arm, took in zip(group, taken, strict=True)
                        if isinstance(arm, ir.Call) and not took and not self._is_given(arm, function, use)
                    ]
        return found

    def _is_held(self, value: ir.Expr, function: ir.Function, use: ContainerUse) -> bool:
        return isinstance(value, ir.Name) and self._is_taken(value.id, function, use)

    # Collecting.

    def _container(self, expr: ir.Expr, scope: ir.Function | None) -> ContainerUse | None:
        key = self.key(expr, scope)
        if key is None:
            return None
        if key in self.uses:
            return self.uses[key]
        kind = self._types.of(expr, scope)
        if kind is None or kind.kind != "container" or kind.container is None:
            return None
        use = ContainerUse(key, kind.container)
        use.filled = self._filled_at_birth(key)
        self.uses[key] = use
        return use

    def _scan(self) -> None:
        scopes: list[ir.Function | None] = [None, *self._functions]
        for scope in scopes:
            self._scan_uses(self._body if scope is None else scope.body, scope)
        for scope in scopes:
            self._scan_escapes(self._body if scope is None else scope.body, scope)
        for use in self.uses.values():
            for put in use.puts:
                put.what = self._what(put, use)
            use.given = any(put.what == "given" for put in use.puts)
            use.filled = use.filled or any(put.what == "made" for put in use.puts)

    def _scan_uses(self, body: list[ir.Stmt], scope: ir.Function | None) -> None:
        """Note what a body takes from containers and puts into them."""
        self._thrown_away.update(id(stmt.value) for stmt in walk_statements(body) if isinstance(stmt, ir.ExprStmt))
        for expr in walk_expressions(body):
            if isinstance(expr, ir.Call):
                self._scan_call(expr, scope)
        for stmt in walk_statements(body):
            if isinstance(stmt, ir.Assign) and stmt.value is not None:
                for target in stmt.targets:
                    if isinstance(target, ir.Sub):
                        self._scan_store(target, stmt, scope)

    def _scan_escapes(self, body: list[ir.Stmt], scope: ir.Function | None) -> None:
        """Note the containers that are given to a function, which may put anything into them."""
        if not self.uses:
            return
        names = {name for _, name in self.uses}
        for call in walk_expressions(body):
            if not isinstance(call, ir.Call):
                continue
            for arg in (*call.args, *(value for _, value in call.keywords)):
                name = arg.id if isinstance(arg, ir.Name) else arg.name if isinstance(arg, ir.Attr) else ""
                if name not in names or self._types.dotted(call.func) in _HARMLESS:
                    continue
                passed = self.uses.get(self.key(arg, scope) or ("", ""))
                if passed is not None:
                    passed.escapes = True

    def _scan_call(self, call: ir.Call, scope: ir.Function | None) -> None:
        if isinstance(call.func, ir.Attr):
            name, receiver, args = call.func.name, call.func.value, call.args
            if name in _TAKE_NAMES or name in _PUT_NAMES:
                use = self._container(receiver, scope)
                if use is not None:
                    self._add_call(use, name, call, args, scope)
                    return
        dotted = self._types.dotted(call.func)
        if dotted in ("heapq.heappop", "heapq.heappush") and call.args:
            use = self._container(call.args[0], scope)
            if use is not None:
                if dotted == "heapq.heappop":
                    use.takes.append(Take(scope, call, TakeForm(dotted, frozenset(("call",)))))
                elif len(call.args) > 1:
                    use.puts.append(Put(scope, call, PutForm(dotted, arg=1), call.args[1]))

    def _add_call(
        self, use: ContainerUse, name: str, call: ir.Call, args: list[ir.Expr], scope: ir.Function | None
    ) -> None:
        for take in use.container.takes:
            if take.method == name:
                if name != "get" and id(call) in self._thrown_away:
                    return  # an eviction, or the end of a look at what stands first
                use.takes.append(Take(scope, call, take))
                return
        for put in use.container.puts:
            if put.method == name:
                value = (
                    args[put.arg]
                    if len(args) > put.arg
                    else next((v for k, v in call.keywords if k == put.keyword), None)
                )
                if value is not None:
                    use.puts.append(Put(scope, call, put, value))
                return

    def _scan_store(self, target: ir.Sub, stmt: ir.Assign, scope: ir.Function | None) -> None:
        kind = self._types.of(target.value, scope)
        if kind is None or kind.kind != "container" or kind.container is None or kind.container.id != "dict":
            return
        use = self._container(target.value, scope)
        if use is not None and stmt.value is not None:
            use.puts.append(Put(scope, stmt, PutForm("__setitem__", arg=1), stmt.value))

    def is_thrown_away(self, call: ir.Call) -> bool:
        """Whether nobody takes the value of a call."""
        return id(call) in self._thrown_away

    def is_replenished(self, expr: ir.Expr, scope: ir.Function | None) -> bool:
        """Whether what is lost from a container is made anew: on demand, and no count or permit says how many."""
        key = self.key(expr, scope)
        use = self.uses.get(key) if key is not None else None
        if use is None or (self._is_counted(use) and not self._counts(scope)):
            return False
        if self._made_when_empty(use) or any(put.what == "new" for put in use.puts):
            return True
        # The borrow method calls the one that fills: `await self._fill_free_pool()`.
        makers = {put.function for put in use.puts if put.what == "made"}
        return scope is not None and any(
            isinstance(expr, ir.Call)
            and (kind := self._types.of(expr.func, scope)) is not None
            and kind.function in makers
            for expr in walk_expressions(scope.body)
        )

    @staticmethod
    def _counts(scope: ir.Function | None) -> bool:
        """Whether a borrow method itself raises the count: what is lost before that was never counted."""
        return scope is not None and any(
            isinstance(stmt, ir.AugAssign) and isinstance(stmt.target, ir.Attr) and stmt.op == "AddAssign"
            for stmt in walk_statements(scope.body)
        )

    # Judging.

    def assigned(self, scope: ir.Function | None) -> dict[str, list[ir.Expr]]:
        """The values that each name of a function is given, in order."""
        found = self._assigned.get(scope)
        if found is None:
            found = {}
            for stmt in walk_statements(self._body if scope is None else scope.body):
                if isinstance(stmt, ir.Assign) and stmt.value is not None:
                    for target in stmt.targets:
                        for name, value in _pairs(target, stmt.value):
                            found.setdefault(name, []).append(value)
                elif isinstance(stmt, ir.For):
                    for name in _target_names(stmt.target):
                        found.setdefault(name, []).append(ir.Star(0, 0, stmt.iter))
            for expr in walk_expressions(self._body if scope is None else scope.body):
                if isinstance(expr, ir.Walrus):
                    found.setdefault(expr.name, []).append(expr.value)
            self._assigned[scope] = found
        return found

    def _what(self, put: Put, use: ContainerUse) -> str:
        """What a put puts: an object ``made`` there, one ``given`` back, a ``param``, something ``unknown``."""
        value, scope = put.value, put.function
        if put.form.many or isinstance(value, ir.Const):
            return "unknown"
        names = set(names_read(value)) if isinstance(value, (ir.Name, ir.Seq, ir.Cond, ir.Star)) else set()
        taken = {name for name in names if self._is_taken(name, scope, use)}
        if taken and names - taken and isinstance(value, ir.Seq):
            return "unknown"  # a new entry made with the help of the old one, as in a work list
        if taken:
            if self._in_work_loop(put, use) or any(self._is_read(name, scope) for name in taken):
                return "unknown"
            return "given" if self._used_between(put, use) else "turned"
        if scope is not None:
            params = {param.name for param in scope.params[1 if scope.owner is not None else 0 :]}
            if names & params or (
                isinstance(value, ir.Call) and params & set(names_read(value)) and RETURNING.match(scope.name)
            ):
                return "param"
            captured = names - scope.assigned
            if captured and self._captured_taken(captured, scope, use):
                return "given"
        if self._is_made(value, scope):
            return "made" if scope is None or FILLING.match(scope.name) or self._builds(scope, use) else "new"
        return "unknown"

    def _captured_taken(self, names: set[str], scope: ir.Function, use: ContainerUse) -> bool:
        outer = scope.parent
        while outer is not None:
            if any(self._is_taken(name, outer, use) for name in names & outer.assigned):
                return True
            outer = outer.parent
        return False

    def _is_taken(self, name: str, scope: ir.Function | None, use: ContainerUse) -> bool:
        return any(self._takes_from(value, scope, use) for value in self.assigned(scope).get(name, ()))

    def _is_read(self, name: str, scope: ir.Function | None) -> bool:
        """Whether a name is also given what is read from a stream: then the container holds what was pushed back."""
        arms = [arm for value in self.assigned(scope).get(name, ()) for arm in _arms(_unawaited(value))]
        return any(
            isinstance(arm, ir.Call) and isinstance(arm.func, ir.Attr) and READING.match(arm.func.name) for arm in arms
        )

    def _takes_from(self, value: ir.Expr, scope: ir.Function | None, use: ContainerUse) -> bool:
        if isinstance(value, ir.Await):
            return self._takes_from(value.value, scope, use)
        if isinstance(value, ir.Cond):
            return self._takes_from(value.body, scope, use) or self._takes_from(value.orelse, scope, use)
        if isinstance(value, ir.Bool):
            return self._takes_from(value.left, scope, use) or self._takes_from(value.right, scope, use)
        if isinstance(value, ir.Call):
            if any(take.call is value and not take.form.keyed for take in use.takes):
                return True
            if value.args and self._types.dotted(value.func) in ("asyncio.wait_for", "typing.cast"):
                return any(self._takes_from(arg, scope, use) for arg in value.args)
            callee = self._types.of(value.func, scope)
            if callee is not None and callee.function is not None:
                return any(take.function is callee.function for take in use.takes)
        return False

    def _in_work_loop(self, put: Put, use: ContainerUse) -> bool:
        """Whether an object goes back inside ``while CONTAINER:``: a work list, in which something is put again."""
        body = self._body if put.function is None else put.function.body
        for stmt in walk_statements(body):
            if isinstance(stmt, ir.While) and any(
                self.key(expr, put.function) == use.key
                for expr in _walk(stmt.test)
                if isinstance(expr, (ir.Name, ir.Attr))
            ):
                for expr in walk_expressions(stmt.body):
                    if expr is put.node:
                        return True
        return False

    def _used_between(self, put: Put, use: ContainerUse) -> bool:
        """Whether the object is used before it goes back: a give-back at once is a turn, not a loan.

        A put-back that stands only in a handler is a retry.
        """
        scope = put.function
        body = self._body if scope is None else scope.body
        if _only_in_handler(body, put.node):
            return False
        seen_take = False
        for stmt in walk_statements(body):
            parts = list(statement_parts(stmt)[0])
            inside = {id(expr) for part in parts for expr in _walk(part)} | {id(stmt)}
            if id(put.node) in inside:
                return False
            if any(id(take.call) in inside for take in use.takes) or any(
                isinstance(expr, ir.Call) and self._takes_from(expr, scope, use)
                for part in parts
                for expr in _walk(part)
            ):
                seen_take = True
                continue
            if seen_take:
                return True
        return True

    def _is_made(self, value: ir.Expr, scope: ir.Function | None, depth: int = 0) -> bool:
        if isinstance(value, ir.Await):
            return self._is_made(value.value, scope, depth)
        if isinstance(value, ir.Call):
            return True
        if isinstance(value, ir.Name):
            values = self.assigned(scope).get(value.id, ())
            return any(
                isinstance(each, ir.Star) or (depth < _DEEPEST and self._is_made(each, scope, depth + 1))
                for each in values
            )
        if isinstance(value, ir.Seq) and any(self._is_made(item, scope, depth) for item in value.items):
            return True
        return is_display(value)

    def _builds(self, scope: ir.Function, use: ContainerUse) -> bool:
        """Whether a function also constructs the container (a module function that sets everything up)."""
        return use.key[0] is scope

    def _filled_at_birth(self, key: Key) -> bool:
        owner, name = key
        if isinstance(owner, ir.Klass):
            bindings = self._types.attrs_of(owner).get(name, [])
        else:
            bindings, _ = self._types.bindings(name, owner if isinstance(owner, ir.Function) else None)
        return any(
            binding.how == "value" and binding.expr is not None and self._is_filling(binding.expr)
            for binding in bindings
        )

    def _is_filling(self, value: ir.Expr) -> bool:
        """``[make() for ...]``, ``list(boards)``, ``deque(make() for ...)``."""
        if isinstance(value, ir.Comp):
            return not isinstance(value.elt, ir.Const)
        if isinstance(value, ir.Call):
            filled_from = value.args and not isinstance(value.args[0], (ir.Const, ir.Seq))
            return bool(filled_from) and self._types.dotted(value.func) in _COPYING
        return isinstance(value, ir.Seq) and any(isinstance(item, (ir.Call, ir.Star)) for item in value.items)

    def _is_pool(self, use: ContainerUse) -> bool:
        if not self._could_be_pool(use):
            return False
        made = use.filled or self._made_when_empty(use)
        returns = [put for put in use.puts if put.what == "param" and put.function is not None]
        named = [put for put in returns if put.function is not None and RETURNING.match(put.function.name)]
        public = [
            put
            for put in returns
            if put not in named and put.function is not None and not put.function.name.startswith("_")
        ]
        new = [put for put in use.puts if put.what == "new"]
        if made:
            if use.given:
                return not new or not public
            lends = any(take.function is not None and LENDING_METHOD.match(take.function.name) for take in use.takes)
            return bool(named) or (not new and bool(returns) and (lends or self._is_called_pool(use)))
        if new or public or use.escapes:
            return False
        if use.given and isinstance(use.key[0], ir.Function):
            return False  # a local list into which something is put again
        if use.given:
            return not any(put.what == "param" for put in use.puts if put not in named)
        return bool(named) and self._has_borrow_method(use)

    def _could_be_pool(self, use: ContainerUse) -> bool:
        """Whether objects are taken out and put back at all, in a way that no table, ring or work list does."""
        if not use.takes or all(take.form.keyed for take in use.takes):
            return False
        if not any(put.what in ("given", "param") for put in use.puts):
            return False
        if use.container.id == "dict" and any(self._is_container(put.value, put.function) for put in use.puts):
            return False  # a table of buckets
        if any(put.what == "turned" for put in use.puts) and not use.given:
            return False
        # A local list is a work list, unless what is taken comes back in a finally or from a function of its own.
        local = isinstance(use.key[0], ir.Function) and not _is_queue(use.container)
        return not local or self._given_for_good(use)

    def _has_borrow_method(self, use: ContainerUse) -> bool:
        """Whether a function that takes from the container is named as one that lends."""
        takers = {take.function.name for take in use.takes if take.function is not None}
        if isinstance(use.key[0], ir.Klass):
            takers.update(name for name in use.key[0].methods if LENDING_METHOD.match(name))
        return any(BORROWING.match(name) for name in takers)

    def _given_for_good(self, use: ContainerUse) -> bool:
        """Whether objects go back in a ``finally`` or from a nested function."""
        for put in use.puts:
            if put.what != "given" or put.function is None:
                continue
            if put.function is not use.key[0]:
                return True
            for stmt in walk_statements(put.function.body):
                if isinstance(stmt, ir.Try) and any(expr is put.node for expr in walk_expressions(stmt.final)):
                    return True
        return False

    def _is_container(self, value: ir.Expr, scope: ir.Function | None) -> bool:
        kind = self._types.of(value, scope)
        return kind is not None and kind.kind == "container"

    def _is_called_pool(self, use: ContainerUse) -> bool:
        """Whether a class with methods of neutral names (get, put) is a pool by its own name."""
        owner = use.key[0]
        return isinstance(owner, ir.Klass) and "pool" in owner.name.lower()

    def _made_when_empty(self, use: ContainerUse) -> bool:
        """Whether a function that takes an object also makes one: ``idle.pop() if idle else make()``."""
        for take in use.takes:
            function = take.function
            if function is None:
                continue
            for stmt in walk_statements(function.body):
                if (
                    isinstance(stmt, (ir.Return, ir.Assign))
                    and stmt.value is not None
                    and self._alternative(stmt.value, function, use)
                ):
                    return True
            for name, values in self.assigned(function).items():
                if any(self._takes_from(value, function, use) for value in values) and any(
                    isinstance(_unawaited(value), ir.Call)
                    and not self._takes_from(value, function, use)
                    and not self._is_given(value, function, use)
                    for value in self._when_empty(function, name, use)
                ):
                    return True
            returned = [
                _unawaited(stmt.value)
                for stmt in walk_statements(function.body)
                if isinstance(stmt, ir.Return) and stmt.value is not None
            ]
            if any(self._takes_from(value, function, use) for value in returned) and any(
                isinstance(value, ir.Call) and not self._takes_from(value, function, use)
                for each in returned
                for value in self._values_of(each, function)
            ):
                return True
        return False

    def _values_of(self, value: ir.Expr, function: ir.Function) -> list[ir.Expr]:
        """An expression, or what the variable that it is was given."""
        if not isinstance(value, ir.Name):
            return [value]
        return [_unawaited(each) for each in self.assigned(function).get(value.id, ())]

    def _is_given(self, value: ir.Expr, function: ir.Function, use: ContainerUse) -> bool:
        """Whether a call gets the container itself (``heappushpop(items, item)``): it makes nothing."""
        call = _unawaited(value)
        return isinstance(call, ir.Call) and any(
            isinstance(arg, (ir.Name, ir.Attr)) and self.key(arg, function) == use.key for arg in call.args
        )

    def _when_empty(self, function: ir.Function, name: str, use: ContainerUse) -> Iterable[ir.Expr]:
        """What a name is given under an ``if``, in a handler for an empty container, after a loop over all of it."""
        bodies: list[list[ir.Stmt]] = []
        for position, stmt in enumerate(function.body):
            if isinstance(stmt, ir.While) and self.key(stmt.test, function) == use.key:
                after = function.body[position + 1 :]
                yield from (
                    each.value
                    for each in after
                    if isinstance(each, ir.Assign) and each.value is not None
                    if any(name in _target_names(target) for target in each.targets)
                )
        for stmt in walk_statements(function.body):
            bodies = []
            if isinstance(stmt, ir.If):
                bodies = [stmt.body, stmt.orelse]
            elif isinstance(stmt, ir.Try):
                bodies = [handler.body for handler in stmt.handlers if self._is_empty_error(handler.type)]
            for body in bodies:
                for inner in walk_statements(body):
                    if (
                        isinstance(inner, ir.Assign)
                        and inner.value is not None
                        and any(isinstance(target, ir.Name) and target.id == name for target in inner.targets)
                    ):
                        yield inner.value

    def _is_empty_error(self, expr: ir.Expr | None) -> bool:
        if expr is None:
            return True
        if isinstance(expr, ir.Seq):
            return any(self._is_empty_error(item) for item in expr.items)
        last = self._types.dotted(expr).rpartition(".")[2]
        return last in ("Empty", "QueueEmpty", "IndexError", "KeyError", "LookupError", "Exception")

    def _alternative(self, value: ir.Expr, function: ir.Function, use: ContainerUse) -> bool:
        value = _unawaited(value)
        if isinstance(value, ir.Cond):
            arms = (_unawaited(value.body), _unawaited(value.orelse))
        elif isinstance(value, ir.Bool) and value.op == "or":
            arms = (_unawaited(value.left), _unawaited(value.right))
        else:
            return False
        taken = [self._takes_from(arm, function, use) for arm in arms]
        return any(taken) and any(isinstance(arm, ir.Call) and not took for arm, took in zip(arms, taken, strict=True))

    def _make_spec(self, use: ContainerUse) -> PoolSpec:
        back = next((put for put in use.puts if put.what == "given"), None)
        back = back or next((put for put in use.puts if put.what == "param"), use.puts[0])
        method = back.form.method
        awaited = "await " if back.form.awaited else ""
        if method == "__setitem__":
            remedy = "put it back in a finally"
        elif "." in method:
            remedy = f"use try/finally with '{method}({{pool}}, ...)'"
        else:
            remedy = f"use try/finally with '{awaited}{{pool}}.{method}(...)'"
        discards: tuple[ReleaseForm, ...] = ()
        if self._made_when_empty(use) and not self._is_counted(use):
            # The pool makes a new object when it has none: destroying one costs it nothing.
            discards = tuple(ReleaseForm(name, "object", discards=True) for name in DESTROYING)
        return PoolSpec(
            id=use.container.id,
            errors=self._errors(use),
            derives=self._derives(use),
            library="",
            classes=(),
            item="object",
            borrows=tuple(BorrowForm(take.method, take.ways) for take in use.container.takes if not take.keyed),
            releases=(
                *(ReleaseForm(put.method, "pool", put.arg, put.keyword) for put in use.container.puts),
                *discards,
            ),
            remedy=remedy,
        )

    def _is_counted(self, use: ContainerUse) -> bool:
        """Whether the class of a container also keeps permits or a count of what is out."""
        owner = use.key[0]
        if not isinstance(owner, ir.Klass):
            return False
        for name in self._types.attrs_of(owner):
            kind = self._types.attr_type(owner, name)
            if kind is not None and kind.kind == "semaphore":
                return True
        changed: dict[str, set[str]] = {}
        for method in owner.methods.values():
            for stmt in walk_statements(method.body):
                if isinstance(stmt, ir.AugAssign) and isinstance(stmt.target, ir.Attr):
                    changed.setdefault(stmt.target.name, set()).add(stmt.op)
        compared = {
            part.name
            for method in owner.methods.values()
            for expr in walk_expressions(method.body)
            if isinstance(expr, ir.Compare)
            for part in (expr.left, *(right for _, right in expr.rights))
            if isinstance(part, ir.Attr)
        }
        return any({"AddAssign", "SubtractAssign"} <= ops and name in compared for name, ops in changed.items())

    def _object_names(self, use: ContainerUse) -> Iterable[str]:
        """The dotted names of what the objects are, as the annotation or what makes them says."""
        owner, name = use.key
        bindings = (
            self._types.attrs_of(owner).get(name, [])
            if isinstance(owner, ir.Klass)
            else self._types.bindings(name, owner if isinstance(owner, ir.Function) else None)[0]
        )
        for binding in bindings:
            if binding.how == "annotation" and isinstance(binding.expr, ir.Sub):
                args = binding.expr.index.items if isinstance(binding.expr.index, ir.Seq) else [binding.expr.index]
                yield self._types.dotted(args[-1])
        for put in use.puts:
            if put.what in ("made", "new") and isinstance(put.value, ir.Call):
                yield self._types.dotted(put.value.func)
        for made, _ in self.made_when_empty(use):
            if isinstance(made, ir.Call):
                yield self._types.dotted(made.func)

    def _errors(self, use: ContainerUse) -> tuple[str, ...]:
        """What calls on the objects raise, where the container says what they are."""
        for dotted in self._object_names(use):
            if dotted in self._types.catalog.by_object:
                return self._types.catalog.by_object[dotted].errors
            if dotted in _ERRORS:
                return _ERRORS[dotted]
        return ()

    def _derives(self, use: ContainerUse) -> frozenset[str]:
        """The methods of the objects whose result is of use only while the object is borrowed."""
        for dotted in self._object_names(use):
            if dotted in self._types.catalog.by_object:
                return self._types.catalog.by_object[dotted].derives
            if dotted in _DERIVES:
                return _DERIVES[dotted]
            if driver(dotted):
                return frozenset(("cursor",))
        return frozenset()


def is_display(expr: ir.Expr) -> bool:
    """``[]``, ``{}``, ``[0] * 64``: a list, dict or set of data, made anew."""
    if isinstance(expr, ir.Op):
        return any(is_display(part) for part in expr.parts)
    if isinstance(expr, ir.Seq):
        return expr.kind != "tuple" and all(isinstance(item, ir.Const) for item in expr.items)
    return isinstance(expr, ir.DictLit) and not expr.items


def _is_queue(container: ContainerSpec) -> bool:
    return any(take.blocks for take in container.takes)


def _arms(value: ir.Expr) -> list[ir.Expr]:
    """What an expression may have as its value: both arms of a choice."""
    if isinstance(value, ir.Cond):
        return [*_arms(_unawaited(value.body)), *_arms(_unawaited(value.orelse))]
    if isinstance(value, ir.Bool) and value.op == "or":
        return [*_arms(_unawaited(value.left)), *_arms(_unawaited(value.right))]
    return [value]


def _unawaited(value: ir.Expr) -> ir.Expr:
    return value.value if isinstance(value, ir.Await) else value


def _walk(expr: ir.Expr) -> Iterable[ir.Expr]:
    return walk_expressions([ir.ExprStmt(0, 0, expr)])


def _target_names(target: ir.Expr) -> list[str]:
    if isinstance(target, ir.Name):
        return [target.id]
    if isinstance(target, ir.Seq):
        return [name for item in target.items for name in _target_names(item)]
    if isinstance(target, ir.Star):
        return _target_names(target.value)
    return []


def _pairs(target: ir.Expr, value: ir.Expr) -> list[tuple[str, ir.Expr]]:
    """The names of a target with what each is given; where that cannot be told, the whole value."""
    if isinstance(target, ir.Seq) and isinstance(value, ir.Seq) and len(target.items) == len(value.items):
        return [pair for item, part in zip(target.items, value.items, strict=True) for pair in _pairs(item, part)]
    return [(name, value) for name in _target_names(target)]


def _only_in_handler(body: list[ir.Stmt], node: ir.Expr | ir.Stmt) -> bool:
    """Whether a node stands in an except clause."""
    for stmt in walk_statements(body):
        if isinstance(stmt, ir.Try):
            for handler in stmt.handlers:
                for inner in walk_statements(handler.body):
                    if inner is node:
                        return True
                    if any(expr is node for part in statement_parts(inner)[0] for expr in _walk(part)):
                        return True
    return False


_DEEPEST = 4
_COPYING = frozenset(("list", "collections.deque", "deque", "set"))
_HARMLESS = frozenset(
    (
        "len",
        "bool",
        "list",
        "tuple",
        "sorted",
        "iter",
        "str",
        "repr",
        "print",
        "heapq.heapify",
        "heapq.heappop",
        "heapq.heappush",
    )
)
DESTROYING = (
    "close", "aclose", "terminate", "disconnect", "shutdown", "kill", "stop", "quit", "dispose", "destroy", "abort",
)  # fmt: skip
_REOPENING = frozenset(
    (
        "http.client.HTTPConnection", "http.client.HTTPSConnection", "requests.Session", "requests.session",
        "redis.Redis", "redis.StrictRedis", "redis.asyncio.Redis", "valkey.Valkey", "pymemcache.Client",
        "pymemcache.client.base.Client", "urllib3.PoolManager", "urllib3.HTTPConnectionPool",
        "urllib3.HTTPSConnectionPool",
    )
)  # fmt: skip
_ERRORS: dict[str, tuple[str, ...]] = {
    "socket.socket": ("OSError",),
    "socket.create_connection": ("OSError",),
    "ssl.SSLSocket": ("OSError",),
    "smtplib.SMTP": ("OSError",),
    "smtplib.SMTP_SSL": ("OSError",),
}
_SQLITE = frozenset(("blobopen", "cursor", "execute", "executemany", "iterdump"))
_DERIVES: dict[str, frozenset[str]] = {
    "io.BytesIO": frozenset(("getbuffer",)),
    "socket.create_connection": frozenset(("makefile",)),
    "socket.socket": frozenset(("makefile",)),
    "sqlite3.Connection": _SQLITE,
    "sqlite3.connect": _SQLITE,
}
_TAKE_NAMES = frozenset(("get", "get_nowait", "pop", "popleft", "popitem"))
_PUT_NAMES = frozenset(
    ("put", "put_nowait", "append", "appendleft", "insert", "add", "extend", "extendleft", "update", "setdefault")
)
