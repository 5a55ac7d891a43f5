"""Run one function of a real file by itself: every name outside it is a stand-in, each call of which may raise.

The borrow and its returns, whose places the analysis knows, are counted; all else only writes down that it was
called.  A run follows a list of choices (which way a test goes, how often a loop turns, which call raises), and the
next run changes the last one that has another value.
"""

# What is run is the function of a file, and it may do anything.
# ruff: noqa: ANN401, BLE001, D102, PYI034, S102
from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import dis
import sys
import types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pool_lint.analysis import analyse
from pool_lint.config import Settings
from pool_lint.fixes.case import borrow_of, returning
from pool_lint.fixes.code import Code
from pool_lint.source import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint import ir
    from pool_lint.typestate.follow import Follow
    from pool_lint.typestate.state import Site

MAX_RUNS = 250
TURNS = 2
LOGGERS = frozenset(("log", "logger", "logging", "_log", "LOG"))
REAL = {"contextlib": contextlib, "suppress": contextlib.suppress, "contextmanager": lambda function: function}
Place = tuple[int, int]


class BoomError(Exception):
    """What a call raises."""


class NeverBorrowedError(Exception):
    """None or an unset name was returned to the pool."""


class UnsupportedError(Exception):
    """The function needs more than stand-ins."""


@dataclass(slots=True)
class Run:
    """What one run did."""

    faults: int = 0
    raised: bool = False
    trace: list[str] = field(default_factory=list)
    loans: list[Loan] = field(default_factory=list)
    cut: bool = False
    unbound: bool = False


class World:
    """The choices of the runs of one function."""

    def __init__(self, kinds: list[type[BaseException]]) -> None:
        self.kinds = kinds
        self.trail: list[list[int]] = []
        self.position = 0
        self.run = Run()
        self.with_faults = True

    def begin(self) -> None:
        self.position = 0
        self.run = Run()

    def choose(self, arity: int) -> int:
        at, self.position = self.position, self.position + 1
        if at < len(self.trail):
            return self.trail[at][0]
        self.trail.append([0, arity])
        return 0

    def advance(self) -> bool:
        del self.trail[self.position :]
        while self.trail and self.trail[-1][0] + 1 >= self.trail[-1][1]:
            self.trail.pop()
        if not self.trail:
            return False
        self.trail[-1][0] += 1
        return True

    def event(self, name: str) -> None:
        """Something that may raise is done."""
        if name.partition(".")[0].strip("_") in LOGGERS or ".log." in name or "._log." in name:
            return
        self.run.trace.append(name)
        if self.with_faults and not self.run.faults:
            choice = self.choose(1 + len(self.kinds))
            if choice:
                self.run.faults += 1
                raise self.kinds[choice - 1]


class Stand:
    """A stand-in for anything."""

    def __init__(self, world: World, path: str) -> None:
        self.__dict__.update(world=world, path=path, known={}, turns=0)

    world: World
    path: str
    known: dict[str, Any]

    def made(self, suffix: str) -> Stand:
        return Stand(self.world, f"{self.path}{suffix}")

    def __getattr__(self, name: str) -> Any:
        if name in ("__name__", "__qualname__"):
            return self.path
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name not in self.known:
            self.known[name] = self.made(f".{name}")
        return self.known[name]

    def __setattr__(self, name: str, value: object) -> None:
        keep(value)
        self.known[name] = value

    def __call__(self, *values: Any, **named: Any) -> Any:
        self.world.event(f"{self.path}()")
        for value in (*values, *named.values()):
            if isinstance(value, Loan):
                value.given = True
        return self.made("()")

    def __getitem__(self, key: object) -> Stand:
        self.world.event(f"{self.path}[]")
        return self.made("[]")

    def __setitem__(self, key: object, value: object) -> None:
        self.world.event(f"{self.path}[]=")
        keep(value)

    def __delitem__(self, key: object) -> None:
        self.world.event(f"del {self.path}[]")

    def __bool__(self) -> bool:
        return self.world.choose(2) == 0

    def __iter__(self) -> Iterator[Stand]:
        frame = sys._getframe(1)  # noqa: SLF001 - who asks decides how many
        wanted = unpacked(frame.f_code, frame.f_lasti)
        if wanted:
            return iter([self.made(f"[{at}]") for at in range(wanted)])
        return self.turn()

    def turn(self) -> Iterator[Stand]:
        for _ in range(TURNS):
            self.world.event(f"next {self.path}")
            if self.world.choose(2):
                return
            yield self.made("[*]")

    def __aiter__(self) -> Any:
        return self._steps()

    async def _steps(self) -> Any:
        for each in self:
            yield each

    def __await__(self) -> Any:
        self.world.event(f"await {self.path}")
        return self
        yield

    def __enter__(self) -> Stand:
        # a lock is entered without fail
        if "lock" not in self.path:
            self.world.event(f"enter {self.path}")
        return self

    def __exit__(self, *_exc: object) -> None:
        return

    async def __aenter__(self) -> Stand:
        self.world.event(f"enter {self.path}")
        return self

    async def __aexit__(self, *_exc: object) -> None:
        return

    def __index__(self) -> int:
        return 1

    def __instancecheck__(self, _value: object) -> bool:
        return bool(self)

    def __contains__(self, _value: object) -> bool:
        return bool(self)

    def __len__(self) -> int:
        return int(bool(self))

    def __eq__(self, _other: object) -> bool:
        return bool(self)

    def __hash__(self) -> int:
        return id(self)

    def compare(self, _other: object) -> bool:
        return bool(self)

    def combine(self, _other: object = None) -> Stand:
        return self.made("+")

    __lt__ = __le__ = __gt__ = __ge__ = compare
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = combine
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __or__ = __and__ = __pow__ = __rpow__ = combine
    __neg__ = combine
    __int__ = __index__

    def __float__(self) -> float:
        return 1.0


def unpacked(code: types.CodeType, instruction: int) -> int:
    """How many parts the instruction at hand takes a value apart into; 0 for any other."""
    for each in dis.get_instructions(code):
        if each.offset == instruction:
            return cast("int", each.arg) if each.opname == "UNPACK_SEQUENCE" else 0
    return 0


class Loan(Stand):
    """What was borrowed."""

    def __init__(self, world: World, methods: frozenset[str], *, managed: bool) -> None:
        super().__init__(world, "loan")
        self.__dict__.update(methods=methods, managed=managed, returns=0, given=False, kept=False)

    methods: frozenset[str]
    managed: bool
    returns: int
    given: bool
    kept: bool

    def __getattr__(self, name: str) -> Any:
        if name in self.methods:
            return lambda *_values, **_named: give_back(self)
        return super().__getattr__(name)

    def __await__(self) -> Any:
        return self
        yield

    def __exit__(self, *_exc: object) -> None:
        if self.managed:
            give_back(self)

    async def __aexit__(self, *_exc: object) -> None:
        self.__exit__()

    def __enter__(self) -> Stand:
        if not self.managed:
            self.world.event("enter loan")
        return self

    async def __aenter__(self) -> Stand:
        return self.__enter__()

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("returns", "given", "kept"):
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = Stand.__hash__


def keep(value: object) -> None:
    """What outlives the call holds a value now."""
    if isinstance(value, Loan):
        value.kept = True
    elif isinstance(value, (tuple, list)):
        for each in value:
            keep(each)


class Done(Stand):
    """What a return gives: it may be awaited."""

    def __await__(self) -> Any:
        return None
        yield


def give_back(value: object) -> Any:
    """A return."""
    if not isinstance(value, Loan):
        raise NeverBorrowedError
    value.returns += 1
    return Done(value.world, "done")


class Mark(ast.NodeTransformer):
    """Puts counting calls in place of the borrow and its returns."""

    def __init__(self, borrows: dict[Place, str], releases: dict[Place, str]) -> None:
        self.borrows = borrows
        self.releases = releases
        self.entered: set[int] = set()

    def visit_With(self, node: ast.With) -> Any:
        self.entered.update(id(item.context_expr) for item in node.items)
        return self.generic_visit(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> Any:
        self.entered.update(id(item.context_expr) for item in node.items)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        entered = id(node) in self.entered
        self.generic_visit(node)
        place = (node.lineno, node.col_offset)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if self.borrows.get(place) == name:
            new = ast.Call(ast.Name("__borrow__", ast.Load()), [ast.Constant(entered)], [])
            return ast.copy_location(new, node)
        if place in self.releases and self.releases[place].partition(" ")[0] == name:
            handle = ast.parse(self.releases[place].partition(" ")[2], mode="eval").body
            new = ast.Call(ast.Name("__release__", ast.Load()), [handle], [])
            return ast.copy_location(new, node)
        return node


@dataclass(slots=True)
class Isolated:
    """A function ready to run."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    transferred: bool
    methods: frozenset[str]
    repeatable: bool
    managed: bool


def isolate(text: str, path: str, qualname: str, number: int) -> Isolated | None:
    """A function of a file with one of its borrows; None where it has not so many."""
    found = borrows_of(text, path, qualname)
    return _marked(text, *found[number]) if number < len(found) else None


def borrows_of(text: str, path: str, qualname: str) -> list[tuple[Follow, Site]]:
    """The borrows of one function of a file."""
    module = analyse(parse(text).tree, Settings(), path)
    follows = [outcome.follow for outcome in module.outcomes if outcome.function.qualname == qualname]
    return [
        (follow, site) for follow in follows for site in follow.sites if site.kind == "borrow" and site.call is not None
    ]


def _marked(text: str, follow: Follow, site: Site) -> Isolated | None:
    call = cast("ir.Call", site.call)
    borrows = {(call.line, call.col): last_name(call)}
    on_object = frozenset(form.method for form in site.spec.releases if form.on == "object")
    releases: dict[Place, str] = {}
    borrow = borrow_of(Code(text), follow, site)
    handles = {str(each) for each in site.vars} | ({borrow.handle} if borrow is not None else set())
    for handle in sorted(handles):
        for each in returning(follow, site, handle):
            if last_name(each) not in on_object:
                releases[each.line, each.col] = f"{last_name(each)} {handle}"
    tree = ast.parse(text)
    owner = next(
        (
            node
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name == follow.function.name
            and any((part.lineno, part.col_offset) in borrows for part in ast.walk(node) if isinstance(part, ast.Call))
        ),
        None,
    )
    if owner is None:
        return None
    owner.decorator_list = []
    owner.returns = None
    for arg in (*owner.args.posonlyargs, *owner.args.args, *owner.args.kwonlyargs):
        arg.annotation = None
    Mark(borrows, releases).visit(owner)
    ast.fix_missing_locations(owner)
    managed = site.spec.with_object in ("returns", "closes") or (
        bool(site.spec.borrows) and any({"with", "async with"} & form.ways for form in site.spec.borrows)
    )
    repeatable = site.spec.second_release_ok
    return Isolated(owner, site.transferred, on_object, repeatable, managed)


def last_name(call: ir.Call) -> str:
    """The last word of what a call calls."""
    return str(getattr(call.func, "name", "") or getattr(call.func, "id", ""))


def exceptions_in(node: ast.AST) -> list[ast.expr]:
    """The expressions that must be exception types."""
    found: list[ast.expr] = []
    for part in ast.walk(node):
        if isinstance(part, ast.ExceptHandler) and part.type is not None:
            found += part.type.elts if isinstance(part.type, ast.Tuple) else [part.type]
        elif isinstance(part, ast.Raise) and part.exc is not None:
            found.append(part.exc.func if isinstance(part.exc, ast.Call) else part.exc)
        elif isinstance(part, ast.Call) and ast.unparse(part.func).endswith("suppress"):
            found += part.args
    return found


def runs(isolated: Isolated, *, faults: bool) -> list[Run]:
    """All runs of a function, as far as there are not too many."""
    node = isolated.node
    world = World([BoomError])
    world.with_faults = faults
    scope = _scope(isolated, world)
    if isinstance(node, ast.AsyncFunctionDef):
        world.kinds.append(asyncio.CancelledError)
    code = compile(ast.Module([node], []), "<isolated>", "exec")
    exec(code, scope)
    function = scope[node.name]
    found: list[Run] = []
    while len(found) < MAX_RUNS:
        world.begin()
        _once(function, node, world)
        found.append(world.run)
        if not world.advance():
            break
    return found


def _scope(isolated: Isolated, world: World) -> dict[str, Any]:
    node = isolated.node
    bound = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - set(dir(builtins))
    scope: dict[str, Any] = {name: REAL.get(name, Stand(world, name)) for name in sorted(bound)}
    local = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    local |= {part.name for part in ast.walk(node) if isinstance(part, ast.ExceptHandler) and part.name}
    for expression in exceptions_in(node):
        _give_type(expression, scope, local, world)

    def borrow(entered: bool) -> Loan:  # noqa: FBT001
        world.event("borrow")
        loan = Loan(world, isolated.methods, managed=entered and isolated.managed)
        world.run.loans.append(loan)
        return loan

    return {**scope, "__borrow__": borrow, "__release__": give_back, "range": lambda *_: range(TURNS)}


def _give_type(expression: ast.expr, scope: dict[str, Any], local: set[str], world: World) -> None:
    text = ast.unparse(expression)
    root, *rest = text.split(".")
    if root in local or hasattr(builtins, root):
        return
    kind = type(text.rpartition(".")[2], (Exception,), {"__init__": lambda *_values, **_named: None})
    if not rest:
        scope[root] = kind
    else:
        holder = scope.get(root)
        for name in rest[:-1]:
            holder = getattr(holder, name)
        if isinstance(holder, Stand):
            holder.known.setdefault(rest[-1], kind)
            kind = holder.known[rest[-1]]
        else:
            return
    if isinstance(kind, type) and issubclass(kind, Exception) and kind not in world.kinds:
        world.kinds.append(kind)


def _once(function: Any, node: ast.FunctionDef | ast.AsyncFunctionDef, world: World) -> None:
    names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
    positional = [Stand(world, name) for name in names]
    named = {arg.arg: Stand(world, arg.arg) for arg in node.args.kwonlyargs}
    run = world.run
    try:
        keep(_outcome(function(*positional, **named), world))
        run.trace.append("returns")
    except (BoomError, asyncio.CancelledError) as error:
        run.raised = True
        run.trace.append(f"raises {type(error).__name__}")
    except UnsupportedError:
        raise
    except (UnboundLocalError, NeverBorrowedError):
        run.raised = run.unbound = True
        run.trace.append("unbound")
    except (TypeError, AttributeError, NameError, ValueError) as error:
        raise UnsupportedError(f"{type(error).__name__}: {error}") from error
    except BaseException as error:
        run.raised = True
        run.trace.append(f"raises {type(error).__name__}")


def _outcome(result: Any, world: World) -> object:
    """What a call comes to when it is awaited or consumed."""
    if isinstance(result, types.GeneratorType):
        return _drained(result, world)
    if isinstance(result, types.AsyncGeneratorType):
        return _drained_async(result, world)
    if not isinstance(result, types.CoroutineType):
        return cast("object", result)
    try:
        result.send(None)
    except StopIteration as stop:
        return cast("object", stop.value)
    raise UnsupportedError("waits")


def _drained(generator: types.GeneratorType[Any, Any, Any], world: World) -> object:
    try:
        value = next(generator)
        for _ in range(TURNS * 3):
            world.run.trace.append("yields")
            try:
                world.event("resume")
            except BaseException as error:
                value = generator.throw(error)
            else:
                value = next(generator)
        del value
        world.run.cut = True
        generator.close()
    except StopIteration as stop:
        return stop.value
    return None


def _drained_async(generator: types.AsyncGeneratorType[Any, Any], world: World) -> object:
    def step(awaitable: Any) -> bool:
        try:
            awaitable.send(None)
        except StopIteration:
            return True
        except StopAsyncIteration:
            return False
        raise UnsupportedError("waits")

    going = step(generator.__anext__())
    for _ in range(TURNS * 3):
        if not going:
            return None
        world.run.trace.append("yields")
        try:
            world.event("resume")
        except BaseException as error:
            going = step(generator.athrow(error))
        else:
            going = step(generator.__anext__())
    world.run.cut = True
    with contextlib.suppress(BaseException):
        step(generator.aclose())
    return None


def leaks(isolated: Isolated) -> list[str]:
    """What is wrong in some run with faults: an object that is not returned exactly once."""
    found: dict[str, None] = {}
    for run in runs(isolated, faults=True):
        if run.unbound:
            found[f"returned before it was borrowed: {' '.join(run.trace[-6:])}"] = None
        for loan in run.loans:
            handed = loan.kept or (isolated.transferred and loan.given)
            if loan.returns == 0 and (run.raised or not handed):
                found[f"not returned: {' '.join(run.trace[-6:])}"] = None
            if loan.returns > 1 and not isolated.repeatable:
                found[f"returned {loan.returns} times: {' '.join(run.trace[-6:])}"] = None
    return list(found)


def behaviour(isolated: Isolated) -> set[tuple[str, ...]]:
    """What may be done without faults."""
    return {tuple(run.trace) for run in runs(isolated, faults=False)}
