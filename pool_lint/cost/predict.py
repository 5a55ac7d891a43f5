"""Predict from source what constructing an object of a class costs, or abstain.

The model adds up calibrated parts (an attribute store, a call, a loop step ...) and measured constructors of the
standard library along the statements of ``__init__`` and what it calls, with constants propagated.  It abstains on all
that makes such a sum wrong: exceptions as control flow, bases written in C that are not in the table, dynamic
dispatch, loops of unknown length, recursion, and calls of anything that is not seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.cost.model import NOTHING, Interval
from pool_lint.walk import walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pool_lint.cost.profile import Profile
    from pool_lint.pools.types import Types


class UnknownCostError(Exception):
    """The cost cannot be told; the text says why."""


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a value.

    ``kind`` is ``const`` (``const`` is it), ``str``, ``int``, ``list``, ``dict``, ``set``, ``tuple``, ``bytearray``,
    ``instance`` (of ``klass``), ``function`` (``function``) or "" for nothing; ``size`` is its length, -1 if unknown.
    """

    kind: str = ""
    const: object = None
    size: int = -1
    klass: ir.Klass | None = None
    function: ir.Function | None = None


NO_VALUE = Value()
Env = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Term:
    """One line of the sum: what, and what that costs; ``depth`` above 0 for a part of the line before it."""

    what: str
    line: int
    cost: Interval
    depth: int = 0


@dataclass(slots=True, eq=False)
class _Frame:
    """One function that is being added up: its variables, its class, what it returned."""

    function: ir.Function | None
    env: Env
    klass: ir.Klass | None = None
    own: ir.Klass | None = None
    returned: Value = NO_VALUE
    done: bool = False
    slots: bool = False


@dataclass(slots=True, eq=False)
class Predictor:
    """Adds up the costs of one file's expressions by one profile.

    ``alive`` asks for objects that are kept: a measured buffer then costs what it does with 64 of them alive.
    """

    types: Types
    profile: Profile
    alive: bool = False
    terms: list[Term] = field(default_factory=list)
    _stack: list[object] = field(default_factory=list)
    _budget: int = 4000
    _attrs: dict[tuple[int, str], Value] = field(default_factory=dict)

    def new(self, expr: ir.Expr, scope: ir.Function | None) -> Interval:
        """C_new of what an expression constructs; raises UnknownCostError."""
        return self.valued(expr, scope)[0]

    def valued(self, expr: ir.Expr, scope: ir.Function | None) -> tuple[Interval, Value]:
        """C_new and what is known of the object."""
        frame = _Frame(scope, {}, own=scope.owner if scope is not None else None)
        cost, value = self._expr(expr, frame)
        return cost.widened(_MODEL) if not isinstance(value.const, _Exact) else cost, value

    def statement(self, stmt: ir.Stmt, scope: ir.Function, known: dict[str, Value]) -> Interval:
        """What one statement of a function costs, where these of its variables are known."""
        frame = _Frame(scope, dict(known), own=scope.owner)
        return self._stmt(stmt, frame).widened(_MODEL)

    # Parts.

    def part(self, name: str, times: float = 1.0) -> Interval:
        """What so many of one part cost."""
        cost = self.profile.get(f"part/{name}")
        if cost is None:
            raise UnknownCostError(f"the profile has no part '{name}'")
        return cost.times(times) if times != 1.0 else cost

    def measured(self, call: str) -> Interval | None:
        """The measured cost of a standard-library constructor."""
        if self.alive:
            kept = self.profile.get(f"alive/{call}")
            if kept is not None:
                return kept
            cost = self.profile.get(f"new/{call}")
            return Interval(cost.low, cost.mid * 1.07, cost.high * 1.2) if cost is not None else None
        return self.profile.get(f"new/{call}")

    def _spend(self, node: object) -> None:
        self._budget -= 1
        if self._budget < 0:
            raise UnknownCostError("its constructor does too much to follow")
        del node

    # Classes.

    def construct(self, klass: ir.Klass, call: ir.Call | None, args: list[Value], names: dict[str, Value]) -> Interval:
        """What ``klass(...)`` costs inside; the arguments themselves are the caller's."""
        if klass in self._stack or len(self._stack) > _DEEPEST:
            raise UnknownCostError(f"'{klass.name}' is constructed recursively")
        line = call.line if call is not None else klass.line
        self._stack.append(klass)
        try:
            return self._construct(klass, line, args, names)
        finally:
            self._stack.pop()

    def _construct(self, klass: ir.Klass, line: int, args: list[Value], names: dict[str, Value]) -> Interval:
        types = self.types
        mro = types.bases_of(klass)
        self._check_class(mro)
        bases = [_plain_base(name) for name in types.unseen_bases(klass)]
        if any(_is_named_tuple(each, types) for each in mro):
            return self.part("named_tuple")
        fields = self._fields(mro)
        init = types.method(klass, "__init__")
        if init is None and fields is not None:
            return self._dataclass(klass, mro, fields, args, names)
        new = types.method(klass, "__new__")
        start = self._start(klass, mro, bases, has_init=init is not None)
        slots = _all_slots(mro)
        if new is not None:
            if init is not None:
                raise UnknownCostError(f"'{klass.name}' has both __new__ and __init__")
            inner, _ = self._run(new, [NO_VALUE, *args], names, klass, line, slots=slots)
            return inner.less(self.part("call")) + self.part("new_plain")
        self._note(f"an instance of '{klass.name}'", line, start, len(self.terms))
        if init is None:
            # object.__init__, or the base's own
            return start
        inner, _ = self._run(init, [Value("instance", klass=klass), *args], names, klass, line, slots=slots)
        extra = self.part("new_init_args", len(args)) + self.part("new_init_keywords", len(names))
        if args or names:
            self._note("its arguments", line, extra, len(self.terms))
        return start + inner.less(self.part("call")) + extra

    def _note(self, what: str, line: int, cost: Interval, before: int) -> None:
        """Add a term in front of those that are parts of it."""
        self.terms.insert(before, Term(what, line, cost, max(len(self._stack) - 1, 0)))

    def _check_class(self, mro: Sequence[ir.Klass]) -> None:
        for each in mro:
            for decorator in each.decorators:
                dotted = self.types.dotted(decorator.func if isinstance(decorator, ir.Call) else decorator)
                if dotted.rpartition(".")[2] not in _NEUTRAL_DECORATORS:
                    raise UnknownCostError(f"a decorator of '{each.name}' may change how it is constructed")
            if any(self.types.dotted(base).startswith("enum.") for base in each.bases):
                raise UnknownCostError(f"'{each.name}' is an enumeration, which is looked up")
            if each.metaclass is not None and not self._constructs_plainly(each.metaclass, each):
                raise UnknownCostError(f"the metaclass of '{each.name}' may change how it is constructed")
            if "__setattr__" in each.methods or "__getattribute__" in each.methods:
                raise UnknownCostError(f"'{each.name}' intercepts its attributes")
            if any(name in each.methods for name in ("__del__", "__init_subclass__")) and "__del__" in each.methods:
                raise UnknownCostError(f"'{each.name}' has a finalizer")

    def _constructs_plainly(self, metaclass: ir.Expr, klass: ir.Klass) -> bool:
        """Whether a metaclass leaves ``C()`` to ``type.__call__``."""
        kind = self.types.of(metaclass, klass.parent)
        if kind is not None and kind.kind == "class" and kind.klass is not None:
            unseen = self.types.unseen_bases(kind.klass)
            return self.types.method(kind.klass, "__call__") is None and set(unseen) <= _PLAIN_METACLASSES
        return self.types.dotted(metaclass) in _PLAIN_METACLASSES

    def _start(self, klass: ir.Klass, mro: Sequence[ir.Klass], bases: Sequence[str], *, has_init: bool) -> Interval:
        known = [base for base in bases if base not in _FREE_BASES]
        for base in known:
            if base in _CHOOSING_EXCEPTIONS:
                raise UnknownCostError(f"'{klass.name}' is an OSError, which chooses its class when it is made")
            if base not in _C_BASES and base not in _EXCEPTIONS:
                raise UnknownCostError(f"'{klass.name}' has a base that is not seen: {base or 'an expression'}")
        if any(base in _EXCEPTIONS for base in known) or any(
            _plain_base(self.types.dotted(base)) in _EXCEPTIONS for each in mro for base in each.bases
        ):
            return self.part("exception") + (self.part("call") if has_init else NOTHING)
        for base in known:
            return self.part(_C_BASES[base]) + (self.part("call") if has_init else NOTHING)
        if _all_slots(mro) and has_init:
            return self.part("new_slots")
        return self.part("new_init" if has_init else "new_plain")

    def _fields(self, mro: Sequence[ir.Klass]) -> list[tuple[str, ir.Expr | None, ir.Klass]] | None:
        """The fields of a dataclass or attrs class, base classes first; None for another class."""
        if not any(_is_data(each, self.types) for each in mro):
            return None
        found: dict[str, tuple[str, ir.Expr | None, ir.Klass]] = {}
        for each in reversed(mro):
            if not _is_data(each, self.types):
                continue
            for stmt in each.body:
                if isinstance(stmt, ir.Assign) and stmt.annotation is not None and isinstance(stmt.targets[0], ir.Name):
                    text = self.types.dotted(
                        stmt.annotation.value if isinstance(stmt.annotation, ir.Sub) else stmt.annotation
                    )
                    if text.rpartition(".")[2] in ("ClassVar", "InitVar"):
                        continue
                    found[stmt.targets[0].id] = (stmt.targets[0].id, stmt.value, each)
                elif (
                    isinstance(stmt, ir.Assign)
                    and isinstance(stmt.value, ir.Call)
                    and isinstance(stmt.targets[0], ir.Name)
                    and self.types.dotted(stmt.value.func) in _ATTRS_FIELDS
                ):
                    found[stmt.targets[0].id] = (stmt.targets[0].id, stmt.value, each)
        return list(found.values())

    def _dataclass(
        self,
        klass: ir.Klass,
        mro: Sequence[ir.Klass],
        fields: Sequence[tuple[str, ir.Expr | None, ir.Klass]],
        args: Sequence[Value],
        names: dict[str, Value],
    ) -> Interval:
        frozen = any(_option(each, "frozen") for each in mro)
        slots = any(_option(each, "slots") for each in mro)
        bases = [_plain_base(name) for name in self.types.unseen_bases(klass)]
        cost = self._start(klass, mro, bases, has_init=True)
        cost += self.part("new_init_args", len(args)) + self.part("new_init_keywords", len(names))
        store = "frozen_store" if frozen else "slot_store" if slots else _store(len(fields))
        for position, (name, default, owner) in enumerate(fields):
            cost += self.part(store)
            if position < len(args) or name in names or default is None:
                continue
            cost += self._default(default, owner)
        post = self.types.method(klass, "__post_init__")
        if post is not None:
            inner, _ = self._run(post, [Value("instance", klass=klass)], {}, klass, klass.line)
            cost += inner
        return cost

    def _default(self, default: ir.Expr, owner: ir.Klass) -> Interval:
        if not isinstance(default, ir.Call):
            return NOTHING
        scope = owner.parent
        for name, value in default.keywords:
            if name in ("default_factory", "factory"):
                frame = _Frame(scope, {})
                if isinstance(value, ir.Lambda):
                    return self._run(value.function, [], {}, None, default.line)[0]
                return self._call_value(ir.Call(default.line, default.col, value, [], []), frame)[0] + self.part(
                    "global"
                )
        return NOTHING

    # Functions.

    def _run(
        self,
        function: ir.Function,
        args: list[Value],
        names: dict[str, Value],
        klass: ir.Klass | None,
        line: int,
        *,
        slots: bool = False,
    ) -> tuple[Interval, Value]:
        """What calling a function costs, from inside, and what it returns."""
        if function in self._stack or len(self._stack) > _DEEPEST:
            raise UnknownCostError(f"'{function.name}' calls itself")
        if function.is_generator or function.is_async:
            raise UnknownCostError(f"'{function.name}' is a generator or coroutine")
        if any(not _is_plain(decorator) for decorator in function.decorators):
            raise UnknownCostError(f"'{function.name}' is decorated")
        env: Env = {}
        left = list(args)
        for param in function.params:
            if param.kind == "star":
                env[param.name] = Value("tuple", size=len(left))
                left = []
            elif param.kind == "kwargs":
                env[param.name] = Value("dict", size=0)
            elif left and param.kind == "positional":
                env[param.name] = left.pop(0)
            elif param.name in names:
                env[param.name] = names[param.name]
            elif param.default is not None:
                env[param.name] = self._constant(param.default, function.parent)
            else:
                env[param.name] = NO_VALUE
        frame = _Frame(function, env, klass, function.owner, slots=slots)
        before = len(self.terms)
        self._stack.append(function)
        try:
            cost = self._body(function.body, frame)
        finally:
            self._stack.pop()
        total = self.part("call") + cost
        # what makes an instance has called its constructor already
        self._note(f"{function.qualname}()", line, cost if function.name == "__init__" else total, before)
        return total, frame.returned

    def _constant(self, expr: ir.Expr, scope: ir.Function | None) -> Value:
        """What is known of a default or a module constant, without its cost."""
        if isinstance(expr, ir.Const):
            return _of_const(expr.value)
        if isinstance(expr, ir.Seq):
            return Value(expr.kind, size=len(expr.items))
        if isinstance(expr, ir.DictLit):
            return Value("dict", size=len(expr.items))
        if isinstance(expr, ir.Op):
            parts = [self._constant(part, scope) for part in expr.parts]
            return _folded(expr, parts)
        if isinstance(expr, ir.Name):
            return self._global(expr.id, scope)
        return NO_VALUE

    def _global(self, name: str, scope: ir.Function | None) -> Value:
        bindings, owner = self.types.bindings(name, scope)
        values = [binding for binding in bindings if binding.how == "value"]
        if owner is None and len(values) == 1 and values[0].expr is not None and name not in self._stack:
            self._stack.append(name)
            try:
                return self._constant(values[0].expr, None)
            finally:
                self._stack.pop()
        return NO_VALUE

    def _body(self, body: Sequence[ir.Stmt], frame: _Frame) -> Interval:
        cost = NOTHING
        for stmt in body:
            if frame.done:
                break
            cost += self._stmt(stmt, frame)
        return cost

    def _stmt(self, stmt: ir.Stmt, frame: _Frame) -> Interval:
        self._spend(stmt)
        if isinstance(stmt, ir.ExprStmt):
            return NOTHING if isinstance(stmt.value, ir.Const) else self._expr(stmt.value, frame)[0]
        if isinstance(stmt, ir.Assign):
            if stmt.value is None:
                return NOTHING
            cost, value = self._expr(stmt.value, frame)
            overwriting = self._overwriting(stmt, value)
            if overwriting is not None:
                return overwriting
            for target in stmt.targets:
                cost += self._store(target, value, stmt.value, frame)
            return cost
        if isinstance(stmt, ir.AugAssign):
            cost, _ = self._expr(stmt.value, frame)
            if isinstance(stmt.target, ir.Name):
                frame.env[stmt.target.id] = NO_VALUE
                return cost + self.part("binary")
            return cost + self._expr(stmt.target, frame)[0] + self._store(stmt.target, NO_VALUE, stmt.value, frame)
        if isinstance(stmt, ir.Return):
            cost, value = self._expr(stmt.value, frame) if stmt.value is not None else (NOTHING, NO_VALUE)
            frame.returned, frame.done = value, True
            return cost
        if isinstance(stmt, ir.If):
            return self._if(stmt, frame)
        if isinstance(stmt, ir.For):
            return self._for(stmt, frame)
        if isinstance(stmt, ir.Assert):
            return self._expr(stmt.test, frame)[0] + self.part("branch")
        if isinstance(stmt, (ir.Pass, ir.Global)):
            return NOTHING
        if isinstance(stmt, ir.Import):
            return self.part("import", len(stmt.names))
        if isinstance(stmt, ir.FuncDef):
            frame.env[stmt.function.name] = Value("function", function=stmt.function)
            return self.part("lambda")
        if isinstance(stmt, ir.Try) and not stmt.handlers:
            return self.part("try") + self._body([*stmt.body, *stmt.final], frame)
        if isinstance(stmt, ir.With) and len(stmt.items) == 1 and not stmt.is_async:
            kind = self.types.of(stmt.items[0].context, frame.function)
            if kind is not None and kind.kind == "lock":
                return self.part("with_lock") + self._body(stmt.body, frame)
        if isinstance(stmt, ir.Del) and all(isinstance(target, ir.Name) for target in stmt.targets):
            return NOTHING
        if isinstance(stmt, ir.Raise):
            raise UnknownCostError(f"line {stmt.line} raises")
        raise UnknownCostError(f"line {stmt.line}: {_STATEMENTS.get(type(stmt).__name__, type(stmt).__name__)}")

    def _if(self, stmt: ir.If, frame: _Frame) -> Interval:
        cost, _ = self._expr(stmt.test, frame)
        cost += self.part("branch")
        truth = self._truth(stmt.test, frame)
        if truth is not None:
            return cost + self._body(stmt.body if truth else stmt.orelse, frame)
        ways = []
        for body in (stmt.body, stmt.orelse):
            if any(isinstance(each, ir.Raise) for each in body):
                continue  # a constructor that refuses constructs nothing
            branch = _Frame(frame.function, dict(frame.env), frame.klass, frame.own, slots=frame.slots)
            ways.append((self._body(body, branch), branch))
        if not ways:
            raise UnknownCostError(f"line {stmt.line} always raises")
        frame.env = {
            name: value for name, value in ways[0][1].env.items() if all(way.env.get(name) == value for _, way in ways)
        }
        if any(way.done for _, way in ways):
            if not all(way.done for _, way in ways):
                raise UnknownCostError(f"line {stmt.line} may end it early")
            frame.done = True
        found = ways[0][0]
        for each, _ in ways[1:]:
            found = found.joined(each)
        if found.high > max(found.low, 20.0) * _APART and len(ways) > 1 and found.high > cost.mid + _LITTLE:
            raise UnknownCostError(f"what it does depends on line {stmt.line}")
        return cost + found

    def _truth(self, test: ir.Expr, frame: _Frame) -> bool | None:
        """Whether a test is known to hold."""
        value = self._known(test, frame)
        if value.kind == "const":
            return bool(value.const)
        if value.size >= 0 and value.kind in ("list", "dict", "set", "tuple", "str", "bytearray"):
            return value.size > 0
        return None

    def _known(self, expr: ir.Expr, frame: _Frame) -> Value:
        if isinstance(expr, ir.Const):
            return _of_const(expr.value)
        if isinstance(expr, ir.Name):
            return frame.env[expr.id] if expr.id in frame.env else self._global(expr.id, frame.function)
        if isinstance(expr, ir.Not):
            truth = self._truth(expr.value, frame)
            return NO_VALUE if truth is None else _of_const(not truth)
        if isinstance(expr, ir.Bool):
            left, right = self._truth(expr.left, frame), self._truth(expr.right, frame)
            stops = expr.op == "or"
            if stops in (left, right) and (left is stops or left is not None):
                return _of_const(stops)
            return _of_const(not stops) if left is not None and right is not None else NO_VALUE
        if isinstance(expr, ir.Compare) and len(expr.rights) == 1:
            op, other = expr.rights[0]
            return _compared(op, self._known(expr.left, frame), self._known(other, frame))
        if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Name) and expr.func.id == "isinstance":
            value = self._known(expr.args[0], frame) if expr.args else NO_VALUE
            if value.kind == "const" and value.const is None and "NoneType" not in str(expr.args[1:]):
                return _of_const(value=False)
        if isinstance(expr, ir.Attr) and isinstance(expr.value, ir.Name) and frame.klass is not None:
            base = frame.env.get(expr.value.id)
            if base is not None and base.kind == "instance":
                return self._attribute(frame.klass, expr.name)
        return NO_VALUE

    def _attribute(self, klass: ir.Klass, name: str) -> Value:
        found = self._attrs.get((id(klass), name))
        if found is not None:
            return found
        for each in self.types.bases_of(klass):
            for stmt in each.body:
                if (
                    isinstance(stmt, ir.Assign)
                    and stmt.value is not None
                    and any(isinstance(target, ir.Name) and target.id == name for target in stmt.targets)
                ):
                    return self._constant(stmt.value, each.parent)
        return NO_VALUE

    def _for(self, stmt: ir.For, frame: _Frame) -> Interval:
        cost, value = self._expr(stmt.iter, frame)
        if value.size < 0 or stmt.is_async or stmt.orelse:
            raise UnknownCostError(f"the loop on line {stmt.line} is of unknown length")
        if value.size == 0:
            return cost
        if any(isinstance(each, (ir.Break, ir.Return)) for each in walk_statements(stmt.body)):
            raise UnknownCostError(f"the loop on line {stmt.line} may end early")
        store = _byte_store(stmt, frame)
        if store:
            return cost + self.part("bytes_store", value.size)
        once = self._loop_body(stmt, frame)
        turn = self.part("loop") + once
        return cost + turn.times(value.size)

    def _loop_body(self, stmt: ir.For, frame: _Frame) -> Interval:
        inner = _Frame(frame.function, dict(frame.env), frame.klass, frame.own, slots=frame.slots)
        for name in (expr.id for expr in walk_expressions(stmt.body) if isinstance(expr, ir.Name)):
            if name in _assigned(stmt.body):
                inner.env.pop(name, None)
        if isinstance(stmt.target, ir.Name):
            inner.env[stmt.target.id] = NO_VALUE
        body = [each for each in stmt.body if not isinstance(each, ir.Continue)]
        cost = self._body(body, inner)
        for name in _assigned(stmt.body):
            frame.env[name] = NO_VALUE
        return cost

    def _overwriting(self, stmt: ir.Assign, value: Value) -> Interval | None:
        """``row[:] = bytes(n)``: the zeros are made and then copied, which was measured as one."""
        target = stmt.targets[0]
        whole = isinstance(target, ir.Sub) and isinstance(target.index, ir.Op) and not target.index.parts
        if not whole or len(stmt.targets) > 1 or value.kind not in ("bytes", "bytearray") or value.size < 0:
            return None
        points = _points(self.profile, "reset/bytearray_slice/")
        return interpolated(points, value.size) if points else None

    def _store(self, target: ir.Expr, value: Value, source: ir.Expr, frame: _Frame) -> Interval:
        if isinstance(target, ir.Name):
            frame.env[target.id] = value
            return NOTHING
        if isinstance(target, ir.Attr):
            base = self._expr(target.value, frame)[0] if not isinstance(target.value, ir.Name) else NOTHING
            own = frame.env.get(target.value.id) if isinstance(target.value, ir.Name) else None
            if own is not None and own.kind == "instance" and own.klass is not None:
                if self._is_property(own.klass, target.name):
                    raise UnknownCostError(f"'{target.name}' is a property or descriptor")
                self._attrs[id(own.klass), target.name] = value
            if frame.slots:
                return base + self.part("slot_store")
            if own is None and self._is_class(target.value, frame):
                # the interpreter's caches of the class are void then: every construction is as slow as the first
                raise UnknownCostError(f"line {target.line}: it changes a class while it constructs")
            many = frame.klass is not None and len(self.types.attrs_of(frame.klass)) > _MANY_ATTRIBUTES
            return base + self.part("attr_store_many" if many else "attr_store")
        if isinstance(target, ir.Sub):
            return (
                self._expr(target.value, frame)[0] + self._expr(target.index, frame)[0] + self.part("subscript_store")
            )
        if isinstance(target, ir.Seq):
            cost = NOTHING
            for item in target.items:
                cost += self._store(item, NO_VALUE, source, frame)
            return cost
        raise UnknownCostError(f"line {target.line}: an assignment that is not followed")

    def _is_class(self, expr: ir.Expr, frame: _Frame) -> bool:
        if isinstance(expr, ir.Attr) and expr.name == "__class__":
            return True
        if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Name) and expr.func.id == "type":
            return True
        kind = self.types.of(expr, frame.function)
        return kind is not None and kind.kind == "class"

    def _is_property(self, klass: ir.Klass, name: str) -> bool:
        return self.types.method(klass, name) is not None

    # Expressions.

    def _exprs(self, parts: Iterable[ir.Expr], frame: _Frame) -> Interval:
        cost = NOTHING
        for part in parts:
            cost += self._expr(part, frame)[0]
        return cost

    def _expr(self, expr: ir.Expr, frame: _Frame) -> tuple[Interval, Value]:
        self._spend(expr)
        if isinstance(expr, ir.Const):
            return NOTHING, _of_const(expr.value)
        if isinstance(expr, ir.Name):
            if expr.id in frame.env:
                return NOTHING, frame.env[expr.id]
            return self.part("global"), self._global(expr.id, frame.function)
        if isinstance(expr, ir.Attr):
            return self._load(expr, frame)
        if isinstance(expr, ir.Call):
            return self._call_value(expr, frame)
        if isinstance(expr, ir.Seq):
            cost = self._exprs((item.value if isinstance(item, ir.Star) else item for item in expr.items), frame)
            size = -1 if any(isinstance(item, ir.Star) for item in expr.items) else len(expr.items)
            return cost + self._display(expr), Value(expr.kind, size=size)
        if isinstance(expr, ir.DictLit):
            if any(key is None for key, _ in expr.items):
                raise UnknownCostError(f"line {expr.line}: a dictionary made of others")
            cost = self._exprs((part for key, value in expr.items for part in (key, value) if part is not None), frame)
            return cost + self.part("dict") + self.part("dict_item", len(expr.items)), Value(
                "dict", size=len(expr.items)
            )
        if isinstance(expr, ir.Op):
            cost = self._exprs(expr.parts, frame)
            known = _folded(expr, [self._known(part, frame) for part in expr.parts])
            if expr.kind == "fstring":
                return cost + self.part("fstring", max(len(expr.parts), 1)), Value("str")
            if expr.op == "Modulo" and expr.parts and self._known(expr.parts[0], frame).kind in ("str", "const"):
                return cost + self.part("format"), known
            return (cost if known.kind == "const" else cost + self.part("binary")), known
        if isinstance(expr, ir.Compare):
            cost = self._exprs((expr.left, *(right for _, right in expr.rights)), frame)
            return cost + self.part("compare", len(expr.rights)), self._known(expr, frame)
        if isinstance(expr, ir.Not):
            return self._expr(expr.value, frame)[0] + self.part("branch"), self._known(expr, frame)
        if isinstance(expr, ir.Bool):
            truth = self._truth(expr.left, frame)
            left, left_value = self._expr(expr.left, frame)
            if truth is not None and truth is (expr.op == "or"):
                return left + self.part("branch"), left_value
            right, right_value = self._expr(expr.right, frame)
            if truth is None:
                right = Interval(0.0, right.mid / 2, right.high)
                right_value = right_value if right_value.kind == left_value.kind else NO_VALUE
            return left + self.part("branch") + right, right_value
        if isinstance(expr, ir.Cond):
            truth = self._truth(expr.test, frame)
            cost = self._expr(expr.test, frame)[0] + self.part("branch")
            if truth is not None:
                chosen, value = self._expr(expr.body if truth else expr.orelse, frame)
                return cost + chosen, value
            one, value = self._expr(expr.body, frame)
            two, other = self._expr(expr.orelse, frame)
            joined = one.joined(two)
            if joined.high > joined.low * _APART and joined.high > _LITTLE:
                raise UnknownCostError(f"what it does depends on line {expr.line}")
            return cost + joined, value if value == other else NO_VALUE
        if isinstance(expr, ir.Sub):
            cost = self._expr(expr.value, frame)[0] + self._expr(expr.index, frame)[0]
            return cost + self.part("subscript"), NO_VALUE
        if isinstance(expr, ir.Comp):
            return self._comprehension(expr, frame)
        if isinstance(expr, ir.Lambda):
            return self.part("lambda"), Value("function", function=expr.function)
        raise UnknownCostError(f"line {expr.line}: {type(expr).__name__.lower()} is not followed")

    def _display(self, expr: ir.Seq) -> Interval:
        if expr.kind == "tuple":
            return NOTHING if all(isinstance(item, ir.Const) for item in expr.items) else self.part("tuple")
        if expr.kind == "list":
            return self.part("list") + self.part("list_item", len(expr.items))
        return self.part("list") + self.part("set_item", len(expr.items))

    def _load(self, expr: ir.Attr, frame: _Frame) -> tuple[Interval, Value]:
        dotted = self.types.dotted(expr)
        if isinstance(expr.value, ir.Name) and expr.value.id in self.types.imports and expr.value.id not in frame.env:
            return self.part("global") + self.part("attr_load"), NO_VALUE
        cost, base = self._expr(expr.value, frame)
        if base.kind == "instance" and base.klass is not None:
            method = self.types.method(base.klass, expr.name)
            if method is not None:
                names = {str(d.name if isinstance(d, ir.Attr) else getattr(d, "id", "")) for d in method.decorators}
                if names & {"property", "cached_property"}:
                    bare = ir.Function(**{slot: getattr(method, slot) for slot in _FUNCTION_FIELDS})
                    bare.decorators = []
                    inner, value = self._run(bare, [base], {}, base.klass, expr.line)
                    return cost + inner, value
                return cost + self.part("bound_method"), NO_VALUE
            return cost + self.part("attr_load"), self._attribute(base.klass, expr.name)
        del dotted
        return cost + self.part("attr_load"), NO_VALUE

    def _comprehension(self, expr: ir.Comp, frame: _Frame) -> tuple[Interval, Value]:
        if len(expr.fors) != 1 or expr.fors[0].is_async or expr.kind == "generator":
            raise UnknownCostError(f"the comprehension on line {expr.line} is not followed")
        loop = expr.fors[0]
        cost, value = self._expr(loop.iter, frame)
        if value.size < 0:
            raise UnknownCostError(f"the comprehension on line {expr.line} is of unknown length")
        inner = _Frame(frame.function, dict(frame.env), frame.klass, frame.own)
        for name in (
            part.id for part in walk_expressions([ir.ExprStmt(0, 0, loop.target)]) if isinstance(part, ir.Name)
        ):
            inner.env[name] = NO_VALUE
        once = self._exprs((*loop.ifs, *((expr.key,) if expr.key is not None else ()), expr.elt), inner)
        cost += self.part("comprehension_made") + (self.part("comprehension") + once).times(value.size)
        size = value.size if not loop.ifs else -1
        return cost, Value(expr.kind, size=size)

    # Calls.

    def _call_value(self, call: ir.Call, frame: _Frame) -> tuple[Interval, Value]:
        starred = any(name is None for name, _ in call.keywords) or any(isinstance(arg, ir.Star) for arg in call.args)
        if starred and not self._is_empty_star(call, frame):
            raise UnknownCostError(f"line {call.line}: arguments that are not seen")
        args: list[Value] = []
        cost = NOTHING
        for arg in call.args:
            if isinstance(arg, ir.Star):
                continue
            part, value = self._expr(arg, frame)
            cost += part
            args.append(value)
        names: dict[str, Value] = {}
        for name, expr in call.keywords:
            if name is not None:
                part, value = self._expr(expr, frame)
                cost += part
                names[name] = value
        func = call.func
        if isinstance(func, ir.Name) and func.id in frame.env:
            value = frame.env[func.id]
            if value.kind == "function" and value.function is not None:
                inner, result = self._run(value.function, args, names, None, call.line)
                return cost + inner, result
            raise UnknownCostError(f"line {call.line}: '{func.id}' may be anything")
        if isinstance(func, ir.Attr):
            found = self._method(call, func, args, names, frame)
            if found is not None:
                return cost + found[0], found[1]
        kind = self.types.of(func, frame.function)
        if kind is not None and kind.kind == "class" and kind.klass is not None:
            inner = self.construct(kind.klass, call, args, names)
            return cost + inner + self.part("global"), Value("instance", klass=kind.klass)
        if kind is not None and kind.kind == "function" and kind.function is not None:
            if kind.klass is not None:
                args = [Value("instance", klass=kind.klass), *args]
            inner, result = self._run(kind.function, args, names, kind.klass, call.line)
            return cost + inner, result
        dotted = self.types.dotted(func)
        if kind is not None and kind.kind == "external" and kind.dotted:
            dotted = kind.dotted
        found = self._library(dotted, call, args, names)
        if found is not None:
            return cost + found[0], found[1]
        raise UnknownCostError(f"line {call.line}: what '{dotted or 'a call'}' costs is not known")

    def _is_empty_star(self, call: ir.Call, frame: _Frame) -> bool:
        """Whether all that is unpacked into a call is known to be empty (``*args`` of a call without more)."""
        parts = [arg.value for arg in call.args if isinstance(arg, ir.Star)]
        parts += [value for name, value in call.keywords if name is None]
        return all(isinstance(part, ir.Name) and frame.env.get(part.id, NO_VALUE).size == 0 for part in parts)

    def _method(
        self, call: ir.Call, func: ir.Attr, args: list[Value], names: dict[str, Value], frame: _Frame
    ) -> tuple[Interval, Value] | None:
        receiver = func.value
        if isinstance(receiver, ir.Call) and isinstance(receiver.func, ir.Name) and receiver.func.id == "super":
            return self._super(func.name, args, names, frame, call.line)
        if isinstance(receiver, ir.Name) and receiver.id in self.types.imports and receiver.id not in frame.env:
            return None
        if isinstance(receiver, ir.Name) and receiver.id == "object" and func.name == "__setattr__":
            return self.part("frozen_store"), NO_VALUE
        kind = self.types.of(receiver, frame.function)
        if kind is not None and kind.kind == "class" and kind.klass is not None:
            method = self.types.method(kind.klass, func.name)
            if method is not None and func.name == "__init__":
                inner, value = self._run(method, args, names, frame.klass, call.line, slots=frame.slots)
                return inner, value
            if func.name == "__init__" and not self.types.unseen_bases(kind.klass):
                return self.part("object_init"), NO_VALUE
        if isinstance(receiver, ir.Name) and func.name == "__init__" and receiver.id in (*_C_BASES, *_EXCEPTIONS):
            return self.part("object_init"), NO_VALUE
        cost, base = self._expr(receiver, frame)
        if base.kind == "instance" and base.klass is not None:
            method = self.types.method(base.klass, func.name)
            if method is not None:
                plain = [base, *args]
                decorators = {getattr(each, "id", "") for each in method.decorators}
                if "staticmethod" in decorators:
                    plain = args
                inner, value = self._run(method, plain, names, base.klass, call.line, slots=frame.slots)
                return cost + inner, value
            held = self._attribute(base.klass, func.name)
            if held.kind == "function" and held.function is not None:
                inner, value = self._run(held.function, args, names, None, call.line)
                return cost + inner, value
            if func.name in ("update", "append", "add", "setdefault", "extend"):
                raise UnknownCostError(f"line {call.line}: a method of a base that is not seen")
            return None
        if base.kind in ("list", "dict", "set", "tuple", "str", "bytearray") or (
            base.kind == "const" and isinstance(base.const, (str, bytes))
        ):
            return cost + self._builtin_method(func.name, call, args), Value(
                "str" if base.kind in ("str", "const") else ""
            )
        if func.name in _CHEAP_METHODS and kind is None and base.kind != "function":
            found = self.part("str_method")
            return cost + Interval(found.low / 2, found.mid, found.high * 2), NO_VALUE
        return None

    def _builtin_method(self, name: str, call: ir.Call, args: Sequence[Value]) -> Interval:
        if name in ("append", "add", "get", "pop", "clear", "keys", "values", "items", "setdefault"):
            return self.part("list_method")
        if name in ("update", "extend", "join") and args and args[0].size >= 0:
            return self.part("str_method") + self.part("dict_item", args[0].size)
        if name in _CHEAP_METHODS:
            return self.part("str_method")
        if name == "format":
            return self.part("format", 2)
        raise UnknownCostError(f"line {call.line}: what .{name}() costs is not known")

    def _super(
        self, name: str, args: list[Value], names: dict[str, Value], frame: _Frame, line: int
    ) -> tuple[Interval, Value]:
        if frame.klass is None or frame.own is None:
            raise UnknownCostError(f"line {line}: super() outside a class")
        mro = self.types.bases_of(frame.klass)
        after = mro[mro.index(frame.own) + 1 :] if frame.own in mro else []
        for each in after:
            if name in each.methods:
                own = Value("instance", klass=frame.klass)
                inner, value = self._run(each.methods[name], [own, *args], names, frame.klass, line, slots=frame.slots)
                return self.part("super_init") + inner.less(self.part("call")), value
            if name == "__init__" and _is_data(each, self.types):
                raise UnknownCostError(f"line {line}: the base is a dataclass")
        if name in ("__init__", "__init_subclass__", "__post_init__"):
            return self.part("object_init"), NO_VALUE
        if name == "__new__":
            return self.part("new_custom").less(self.part("new_plain")), Value("instance", klass=frame.klass)
        raise UnknownCostError(f"line {line}: super().{name}() is not seen")

    def _library(
        self, dotted: str, call: ir.Call, args: Sequence[Value], names: dict[str, Value]
    ) -> tuple[Interval, Value] | None:
        """What a call of the standard library costs."""
        name = dotted.removeprefix("builtins.")
        if name in ("bytearray", "bytes") and len(args) == 1 and not names:
            return self._buffer(name, args[0])
        written = f"{name}({', '.join(_text(arg) for arg in args)})" if not names else ""
        if written:
            cost = self.measured(written)
            if cost is not None:
                return cost, Value(_RESULTS.get(name, ""), size=0)
        if name == "threading.Condition" and args:
            # until 3.12 a lock given to it was probed by an exception
            name = "threading.Condition(threading.Lock())"
            cost = self.measured(name)
            return (cost, NO_VALUE) if cost is not None else None
        if name in _SAME_BY_ARGUMENT:
            cost = self.measured(f"{name}()") or self.measured(_SAME_BY_ARGUMENT[name])
            if cost is not None and all(_is_small(arg) for arg in (*args, *names.values())):
                return cost.widened(1.15), Value(_RESULTS.get(name, ""))
        if name in _BUILTINS:
            return self.part(_BUILTINS[name]), _builtin_value(name, args)
        if name in ("list", "tuple", "set", "frozenset", "dict") and len(args) == 1 and args[0].size >= 0:
            cost = self.measured("list()") or self.part("list")
            return cost + self.part("dict_item", args[0].size), Value(name, size=args[0].size)
        if name == "super":
            return self.part("builtin"), NO_VALUE
        del call
        return None

    def _buffer(self, name: str, size: Value) -> tuple[Interval, Value] | None:
        """``bytearray(N)`` between the measured sizes."""
        if size.kind != "const" or not isinstance(size.const, int) or isinstance(size.const, bool) or size.const < 0:
            return None
        found = buffer_cost(self.profile, name, size.const, alive=self.alive)
        return (found, Value(name, _Exact(), size.const)) if found is not None else None


class _Exact:
    """Marks a value whose cost was measured, not added up."""


def buffer_cost(profile: Profile, name: str, size: int, *, alive: bool) -> Interval | None:
    """What a buffer of ``size`` bytes costs, interpolated between the measured sizes."""
    points = _points(profile, f"{'alive' if alive else 'new'}/{name}(") or _points(profile, f"new/{name}(")
    if not points:
        return None
    return interpolated(points, size)


def interpolated(points: Sequence[tuple[int, Interval]], size: int) -> Interval:
    """The cost at a size between (or beyond) measured ones, per byte."""
    below = [point for point in points if point[0] <= size]
    above = [point for point in points if point[0] > size]
    if not below:
        return points[0][1]
    if not above:
        last, cost = below[-1]
        return cost.times(size / last) if last else cost
    (small, cheap), (large, dear) = below[-1], above[0]
    share = (size - small) / (large - small)
    return cheap.times(1 - share) + dear.times(share)


def _points(profile: Profile, prefix: str) -> list[tuple[int, Interval]]:
    found = []
    for key, cost in profile.costs.items():
        if key.startswith(prefix) and (match := re.fullmatch(r"(\d+)\)?", key[len(prefix) :])):
            found.append((int(match[1]), cost))
    return sorted(found, key=lambda point: point[0])


def _text(value: Value) -> str:
    return repr(value.const) if value.kind == "const" else "?"


def _is_small(value: Value) -> bool:
    return value.kind in ("const", "") or 0 <= value.size < _FEW


def _of_const(value: object) -> Value:
    size = len(value) if isinstance(value, (str, bytes)) else -1
    return Value("const", value, size)


def _folded(expr: ir.Op, parts: Sequence[Value]) -> Value:
    """The value of arithmetic on constants (sizes are written ``48 * 1024``)."""
    if expr.kind == "fstring":
        return Value("str")
    values = [part.const for part in parts if part.kind == "const"]
    if len(values) != len(parts) or not all(type(value) is int for value in values):
        return NO_VALUE
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == 1 and expr.kind == "unary" and expr.op in ("Minus", "USub"):
        return _of_const(-numbers[0])
    if len(numbers) != 2:  # noqa: PLR2004 - a binary operator
        return NO_VALUE
    one, two = numbers
    results: dict[str, int] = {"Add": one + two, "Subtract": one - two, "Multiply": one * two}
    if expr.op in ("LeftShift", "Power") and 0 <= two <= 64:  # noqa: PLR2004 - no size is larger
        results |= {"LeftShift": one << two, "Power": one**two}
    if expr.op == "FloorDivide" and two:
        results["FloorDivide"] = one // two
    return _of_const(results[expr.op]) if expr.op in results else NO_VALUE


def _compared(op: str, left: Value, right: Value) -> Value:
    if left.kind == "instance" and right.kind == "const" and right.const is None:
        return _of_const(op in ("IsNot", "NotEqual", "is not", "!="))
    if left.kind not in ("", "const") and right.kind == "const" and right.const is None:
        return _of_const(op in ("IsNot", "NotEqual", "is not", "!="))
    if left.kind != "const" or right.kind != "const":
        return NO_VALUE
    one, two = left.const, right.const
    if op in ("Is", "is", "Equal", "=="):
        return _of_const(one == two and type(one) is type(two))
    if op in ("IsNot", "is not", "NotEqual", "!="):
        return _of_const(not (one == two and type(one) is type(two)))
    if isinstance(one, (int, float)) and isinstance(two, (int, float)):
        results = {
            "LessThan": one < two,
            "GreaterThan": one > two,
            "LessThanEqual": one <= two,
            "GreaterThanEqual": one >= two,
        }
        results |= {"<": one < two, ">": one > two, "<=": one <= two, ">=": one >= two}
        return _of_const(results[op]) if op in results else NO_VALUE
    return NO_VALUE


def _builtin_value(name: str, args: Sequence[Value]) -> Value:
    if name == "len" and args and args[0].size >= 0:
        return _of_const(args[0].size)
    if name == "range" and len(args) == 1 and args[0].kind == "const" and isinstance(args[0].const, int):
        return Value("range", size=max(args[0].const, 0))
    if name in ("str", "repr"):
        return Value("str")
    if name in ("enumerate", "reversed", "iter") and args:
        return Value("range", size=args[0].size)
    return Value("int") if name in ("int", "len", "id", "hash") else NO_VALUE


def _byte_store(stmt: ir.For, frame: _Frame) -> bool:
    """Whether a loop body stores a constant into each place of a buffer: the usual slow way to blank one."""
    if len(stmt.body) != 1 or not isinstance(stmt.body[0], ir.Assign):
        return False
    target = stmt.body[0].targets[0]
    return (
        isinstance(target, ir.Sub)
        and isinstance(target.value, ir.Name)
        and frame.env.get(target.value.id, NO_VALUE).kind == "bytearray"
        and isinstance(stmt.body[0].value, ir.Const)
    )


def _assigned(body: Sequence[ir.Stmt]) -> set[str]:
    return {
        target.id
        for stmt in walk_statements(body)
        if isinstance(stmt, ir.Assign)
        for target in stmt.targets
        if isinstance(target, ir.Name)
    } | {
        stmt.target.id
        for stmt in walk_statements(body)
        if isinstance(stmt, ir.AugAssign) and isinstance(stmt.target, ir.Name)
    }


def _store(count: int) -> str:
    return "attr_store_many" if count > _MANY_ATTRIBUTES else "attr_store"


def _plain_base(name: str) -> str:
    return name.removeprefix("builtins.")


def _is_plain(decorator: ir.Expr) -> bool:
    name = decorator.name if isinstance(decorator, ir.Attr) else getattr(decorator, "id", "")
    return name in ("staticmethod", "classmethod", "override", "abstractmethod", "final")


def _is_data(klass: ir.Klass, types: Types) -> bool:
    """Whether a class is a dataclass or an attrs class."""
    for decorator in klass.decorators:
        dotted = types.dotted(decorator.func if isinstance(decorator, ir.Call) else decorator)
        if dotted in _DATA_DECORATORS:
            return True
    return False


def _option(klass: ir.Klass, name: str) -> bool:
    return any(
        isinstance(decorator, ir.Call)
        and any(key == name and isinstance(value, ir.Const) and bool(value.value) for key, value in decorator.keywords)
        for decorator in klass.decorators
    )


def _is_named_tuple(klass: ir.Klass, types: Types) -> bool:
    return any(types.dotted(base).rpartition(".")[2] == "NamedTuple" for base in klass.bases)


def _all_slots(mro: Sequence[ir.Klass]) -> bool:
    """Whether no class on the way gives its objects a ``__dict__``."""
    return bool(mro) and all(
        _option(each, "slots")
        or any(
            isinstance(stmt, ir.Assign)
            and any(isinstance(target, ir.Name) and target.id == "__slots__" for target in stmt.targets)
            for stmt in each.body
        )
        for each in mro
    )


_MODEL = 1.35
_DEEPEST = 12
_APART = 3.0
_LITTLE = 150.0
_FEW = 17
_MANY_ATTRIBUTES = 30
_STATEMENTS = {"Try": "exceptions as control flow", "While": "a loop of unknown length", "With": "a context manager"}
_NEUTRAL_DECORATORS = frozenset(
    ("dataclass", "define", "s", "attrs", "frozen", "mutable", "total_ordering", "final", "runtime_checkable", "attr")
)
_DATA_DECORATORS = frozenset(
    (
        "dataclasses.dataclass", "dataclass", "attr.s", "attr.attrs", "attr.dataclass", "attr.define", "attrs.define",
        "attrs.frozen", "attrs.mutable", "attr.frozen", "attr.mutable",
    )
)  # fmt: skip
_ATTRS_FIELDS = frozenset(("attr.ib", "attr.attrib", "attrs.field", "attr.field"))
_FREE_BASES = frozenset(("object", "abc.ABC", "typing.Protocol", "typing.Generic", "collections.abc.Hashable"))
_C_BASES = {
    "dict": "new_dict", "list": "new_list", "set": "new_list", "str": "new_str", "int": "new_int", "tuple": "new_str",
    "threading.local": "new_local", "object": "new_init",
}  # fmt: skip
_EXCEPTIONS = frozenset(
    (
        "Exception", "BaseException", "ValueError", "TypeError", "RuntimeError", "KeyError", "LookupError",
        "AttributeError", "NotImplementedError", "ArithmeticError", "AssertionError", "IndexError", "StopIteration",
        "ImportError", "EOFError", "Warning", "UserWarning", "DeprecationWarning", "RuntimeWarning", "SyntaxError",
        "NameError", "FutureWarning", "PendingDeprecationWarning", "ImportWarning", "ResourceWarning",
        "BytesWarning", "UnicodeError", "MemoryError", "BufferError",
    )
)  # fmt: skip
_CHOOSING_EXCEPTIONS = frozenset(
    (
        "OSError", "IOError", "EnvironmentError", "ConnectionError", "TimeoutError", "BlockingIOError",
        "BrokenPipeError", "ChildProcessError", "ConnectionAbortedError", "ConnectionRefusedError",
        "ConnectionResetError", "FileExistsError", "FileNotFoundError", "InterruptedError", "IsADirectoryError",
        "NotADirectoryError", "PermissionError", "ProcessLookupError", "socket.error", "socket.timeout",
    )
)  # fmt: skip
_PLAIN_METACLASSES = frozenset(("type", "abc.ABCMeta"))
_BUILTINS = {
    "len": "builtin", "isinstance": "isinstance", "issubclass": "isinstance", "hasattr": "getattr",
    "getattr": "getattr", "callable": "builtin", "id": "builtin", "type": "builtin", "bool": "builtin",
    "range": "range", "iter": "builtin", "int": "str_of_int", "float": "str_of_int", "str": "str_of_int",
    "repr": "str_of_int", "abs": "builtin", "min": "getattr", "max": "getattr", "hash": "builtin",
    "enumerate": "str_of_int", "reversed": "str_of_int", "ord": "builtin", "chr": "builtin", "setattr": "frozen_store",
    "typing.cast": "call", "cast": "call",
}  # fmt: skip
_CHEAP_METHODS = frozenset(
    (
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "startswith",
        "endswith",
        "casefold",
        "isdigit",
        "partition",
        "copy",
    )
)
_SAME_BY_ARGUMENT = {
    "queue.Queue": "queue.Queue()",
    "queue.LifoQueue": "queue.LifoQueue()",
    "threading.Semaphore": "threading.Semaphore()",
    "threading.BoundedSemaphore": "threading.Semaphore()",
    "collections.deque": "collections.deque(maxlen=64)",
    "collections.defaultdict": "collections.defaultdict(list)",
    "asyncio.Queue": "asyncio.Queue()",
    "weakref.WeakKeyDictionary": "weakref.WeakKeyDictionary()",
    "weakref.WeakValueDictionary": "weakref.WeakValueDictionary()",
    "weakref.WeakSet": "weakref.WeakSet()",
    "io.StringIO": "io.StringIO()",
    "io.BytesIO": "io.BytesIO()",
    "json.JSONEncoder": "json.JSONEncoder()",
    "itertools.count": "itertools.count()",
    "decimal.Decimal": "decimal.Decimal(0)",
    "collections.OrderedDict": "collections.OrderedDict()",
    "types.SimpleNamespace": "types.SimpleNamespace()",
    "logging.getLogger": "logging.getLogger('a')",
    "datetime.timedelta": "datetime.timedelta(1)",
    "datetime.date": "datetime.date(2020, 1, 1)",
    "collections.Counter": "collections.Counter()",
}
_RESULTS = {"list": "list", "dict": "dict", "set": "set", "bytearray": "bytearray"}
_FUNCTION_FIELDS = (
    "name", "qualname", "line", "col", "params", "returns", "body", "decorators", "is_async", "owner", "parent",
    "is_generator", "assigned", "outer", "nested",
)  # fmt: skip
