"""Run a function on every path against an instrumented pool and record what happens to what it borrows.

The text is a module.  Every module-level function with a parameter annotated as a pool, and every method of a
class `Service` that keeps its pools in `self._pool` and `self._other`, is run by itself (a *target*); the others
are helpers.  Parameters are filled in by annotation and name:

* ``ThreadedConnectionPool``, ``ConnectionPool``, ``AsyncConnectionPool``, ``asyncpg.Pool``, ``Pool`` and
  ``AsyncPool`` (the last two: a class of the same file) get an instrumented pool;
* ``conn`` is an object that somebody else borrowed, or ``None`` where that is its default;
  ``items`` yields a few values; ``flag…`` and ``owned…`` are booleans with one value per run;
  ``mode…`` is compared with literals; ``holder`` outlives the call, ``out`` is a list of the caller,
  ``fut`` takes callbacks.

Names imported from ``app`` are opaque calls; those named in ``ASYNC_CALLS`` must be awaited.
A run follows a list of choices, and the next run changes the last one that still has another value, so that
the runs of one target are all its paths: every opaque condition both ways, every call that may raise raising.
"""

# Generated functions take, return and raise anything.
# ruff: noqa: ANN401, BLE001, N802, S102
from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import types
from typing import TYPE_CHECKING, Any, cast

from .flavours import FLAVOURS, Boom, Cancelled, InterfaceError, PostgresError, Prune, Psycopg2Error, PsycopgError
from .instrument import FEWER_TURNS, MAX_TURNS, SERVICE, Module
from .stubs import (
    AsyncHandle,
    AsyncStack,
    CallerList,
    Future,
    Handle,
    Holder,
    Items,
    Logger,
    PoolStub,
    Stack,
    Value,
    reach,
)
from .world import Fault, World

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Generator

    from .observed import Seen

MAX_PATHS = 4000
FEW_PATHS = 600
TOO_MANY = "too many paths"
CLOSINGS = 4
ASYNC_CALLS = frozenset({"fetch", "send"})


def environment(world: World) -> dict[str, Any]:
    """The globals of one execution of the module: stubs in place of every import."""
    opaque: dict[str, object] = dict.fromkeys(("work", "step", "check"), world.work)
    opaque.update(dict.fromkeys(ASYNC_CALLS, world.fetch))
    opaque["cond"] = world.cond
    opaque["register"] = world.work

    def getLogger(_name: str) -> Logger:
        return Logger()

    def finalize(_target: object, *callback: object) -> None:
        world.register(*callback)

    def register(*callback: object, **_options: object) -> None:
        world.register(*callback)

    def see_through(awaitable: object, *_timeout: object, **_options: object) -> object:
        return awaitable

    modules: dict[str, object] = {
        "app": types.SimpleNamespace(**opaque),
        "psycopg2": types.SimpleNamespace(Error=Psycopg2Error),
        "psycopg2.pool": types.SimpleNamespace(ThreadedConnectionPool=PoolStub),
        "psycopg": types.SimpleNamespace(Error=PsycopgError),
        "psycopg_pool": types.SimpleNamespace(ConnectionPool=PoolStub, AsyncConnectionPool=PoolStub),
        "asyncpg": types.SimpleNamespace(PostgresError=PostgresError, InterfaceError=InterfaceError, Pool=PoolStub),
        "asyncio": types.SimpleNamespace(CancelledError=Cancelled, shield=see_through, wait_for=see_through),
        "logging": types.SimpleNamespace(getLogger=getLogger),
        "weakref": types.SimpleNamespace(finalize=finalize),
        "atexit": types.SimpleNamespace(register=register),
        "contextlib": types.SimpleNamespace(
            contextmanager=contextlib.contextmanager,
            asynccontextmanager=contextlib.asynccontextmanager,
            suppress=contextlib.suppress,
            closing=contextlib.closing,
            ExitStack=functools.partial(Stack, world),
            AsyncExitStack=functools.partial(AsyncStack, world),
        ),
    }

    def bring(name: str, *details: Any) -> Any:
        return modules[name] if name in modules else __import__(name, *details)

    return {
        "__builtins__": {**vars(builtins), "__import__": bring},
        "__name__": "generated",
        "__raise__": world.hook_raise,
        "__loop__": world.hook_loop,
        "__loop_start__": world.hook_loop_start,
        "__try__": world.hook_try,
        "__caught__": world.hook_caught,
        "__return__": world.hook_return,
        "__yield__": world.hook_yield,
        "__store__": world.hook_store,
        "__test__": world.hook_test,
        "__receiver__": world.hook_receiver,
        "__unbound__": world.unbound,
    }


def watched(world: World, function: Any, *, is_async: bool) -> Any:
    """A helper whose own losses are not charged to its caller."""
    # that a visible function raises what its body does not is left open by the rules
    returns = function.__name__.startswith("give_back")
    faults: list[Fault] = [] if returns or len(world.opaque_faults) == 1 else [(Boom, "error", True)]

    def settle(first: int, result: object) -> None:
        world.helpers -= 1
        kept = reach(result)
        for loan in world.loans[first:]:
            loan.inner = world.helpers > 0
            if not any(loan is other for other in kept):
                loan.orphan = True

    def call(*values: object) -> object:
        world.pick(1, faults)
        first = len(world.loans)
        world.helpers += 1
        result = None
        try:
            result = function(*values)
            return result
        finally:
            settle(first, result)

    async def wait(*values: object) -> object:
        world.pick(1, faults)
        first = len(world.loans)
        world.helpers += 1
        result = None
        try:
            result = await function(*values)
            return result
        finally:
            settle(first, result)

    return wait if is_async else call


def handled_types(node: ast.AST, scope: dict[str, Any]) -> list[type[BaseException]]:
    """The narrow exception types that handlers and `suppress` of a function name."""
    found: list[type[BaseException]] = []
    for part in ast.walk(node):
        named: list[ast.expr] = []
        if isinstance(part, ast.ExceptHandler) and part.type is not None:
            named = list(part.type.elts) if isinstance(part.type, ast.Tuple) else [part.type]
        elif isinstance(part, ast.Call) and ast.unparse(part.func).endswith("suppress"):
            named = list(part.args)
        for expression in named:
            kind = scope_value(expression, scope)
            if isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception and kind not in found:
                found.append(kind)
    return found


def scope_value(expression: ast.expr, scope: dict[str, Any]) -> object:
    """The value of a dotted name."""
    if isinstance(expression, ast.Attribute):
        return getattr(scope_value(expression.value, scope), expression.attr, None)
    if isinstance(expression, ast.Name):
        return scope.get(expression.id, getattr(builtins, expression.id, None))
    return None


def observe(module: Module, target: str, parameters: dict[str, str], *, max_paths: int = MAX_PATHS) -> Seen:
    """Run one target on all its paths: loops three times, or twice where that makes too many paths."""
    seen = explore(module, target, parameters, turns=MAX_TURNS, max_paths=min(max_paths, FEW_PATHS))
    if seen.skipped == TOO_MANY:
        return explore(module, target, parameters, turns=FEWER_TURNS, max_paths=max_paths)
    return seen


def explore(module: Module, target: str, parameters: dict[str, str], *, turns: int, max_paths: int) -> Seen:
    """Run one target on all its paths whose loops turn so often."""
    world = World(module, target, run.__code__)
    world.max_turns = turns
    scope = environment(world)
    exec(module.code, scope)
    node = next(node for node in module.functions if node.name == target)
    world.is_async = isinstance(node, ast.AsyncFunctionDef)
    world.flavour = next(FLAVOURS[text] for text in parameters.values() if text in FLAVOURS)
    world.seen.closures = any(
        isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and part is not node
        for part in ast.walk(node)
    )
    set_faults(world, node, scope)
    for helper in module.functions:
        if helper.name not in {target, *module.managers} and helper.name in scope:
            scope[helper.name] = watched(world, scope[helper.name], is_async=isinstance(helper, ast.AsyncFunctionDef))
    function = scope[target] if target in scope else getattr(scope[SERVICE], target)
    function = getattr(function, "__wrapped__", function)
    while True:
        world.reset()
        world.seen.paths += 1
        run(world, function, parameters)
        if world.odd:
            world.seen.skipped = world.odd
            break
        if world.seen.paths >= max_paths:
            world.seen.skipped = TOO_MANY
            break
        if not world.advance():
            break
    return world.seen


def set_faults(world: World, node: ast.AST, scope: dict[str, Any]) -> None:
    """Which exceptions each kind of statement raises.

    An opaque call raises anything: a type that nobody names, and each type that a handler names.
    A call on the object raises the library's base error; that it raises another named type, or that a borrow
    raises anything but the base error, is left open by the rules.
    """
    error = world.flavour.error
    named = handled_types(node, scope)
    opaque: list[Fault] = [(Boom, "error", False), *((kind, "error", False) for kind in named)]
    cancel: list[Fault] = [(Cancelled, "cancel", False)]
    if error is None:
        handle = opaque
        borrow = [opaque[0], *((kind, "error", True) for kind in named)]
    else:
        others = dict.fromkeys([*named, *([world.flavour.second_error] if world.flavour.second_error else [])])
        handle = [(error, "error", False), *((kind, "error", True) for kind in others if not issubclass(kind, error))]
        borrow = [*handle, (Boom, "error", True)] if named else handle
    world.opaque_faults = opaque
    world.await_faults = opaque + cancel
    world.handle_faults = handle
    world.handle_await_faults = handle + cancel
    world.borrow_faults = borrow + cancel if world.is_async else borrow
    if world.target in world.module.managers:
        world.yield_faults = [*opaque, (GeneratorExit, "error", True)]
        if world.is_async:
            world.yield_faults = [*world.yield_faults, (Cancelled, "cancel", True)]
    else:
        world.yield_faults = [(GeneratorExit, "error", False), *((kind, name, True) for kind, name, _ in opaque)]


PARAMETERS: dict[str, Callable[[World], object]] = {
    "items": Items,
    "holder": Holder,
    "out": CallerList,
    "fut": Future,
}


def argument(world: World, name: str, annotation: str) -> object:
    """What is passed for a parameter in one run."""
    if name == "self":
        pool, other = (PoolStub(world, FLAVOURS[annotation]) for _ in range(2))
        return types.SimpleNamespace(_pool=pool, _other=other)
    if annotation in FLAVOURS:
        return PoolStub(world, FLAVOURS[annotation])
    if name == "conn":
        kind = AsyncHandle if world.flavour.is_async else Handle
        return None if annotation == "None" and world.choose(2) == 0 else kind(world, None)
    return PARAMETERS.get(name, Value)(world)


def run(world: World, function: Callable[..., Any], parameters: dict[str, str]) -> None:
    """One run of the target, from the call to the end."""
    arguments = [argument(world, name, annotation) for name, annotation in parameters.items()]
    result: object = None
    outcome = "return"
    try:
        started = function(*arguments)
        if isinstance(started, types.CoroutineType):
            try:
                started.send(None)
            except StopIteration as stop:
                result = stop.value
        elif isinstance(started, types.GeneratorType):
            try:
                result = drive(world, started)
            finally:
                finish(world, lambda: started.throw(Prune()))
        elif isinstance(started, types.AsyncGeneratorType):
            try:
                result = drive_async(world, started)
            finally:
                finish(world, lambda: advanced(started, Prune()))
        else:
            result = started
    except Prune:
        pass
    except BaseException as error:
        outcome = "raise"
        if isinstance(error, (NameError, TypeError, AttributeError)) and not world.pruned:
            world.odd = repr(error)
        error.__traceback__ = None
    if world.pruned:
        world.settle_losses()
    else:
        world.settle(result, outcome)


def finish(world: World, close: Callable[[], object]) -> None:
    """Bring a generator to its end, even one that goes on after `GeneratorExit`; nothing of that is recorded."""
    world.closing = True
    for _ in range(CLOSINGS):
        with contextlib.suppress(BaseException):
            close()


def drive(world: World, generator: Generator[object, object, object]) -> object:
    """Consume a generator: at each of its yields go on, or throw something in."""
    fault: BaseException | None = None
    for turn in range(world.max_turns**2 + 1):
        try:
            if fault is None:
                next(generator)
            else:
                generator.throw(fault)
        except StopIteration as stop:
            return stop.value
        fault = resume(world, turn, fault)
    world.pruned = True
    raise Prune


def drive_async(world: World, generator: AsyncGenerator[object, object]) -> object:
    """Consume an asynchronous generator in the same way."""
    fault: BaseException | None = None
    for turn in range(world.max_turns**2 + 1):
        if not advanced(generator, fault):
            return None
        fault = resume(world, turn, fault)
    world.pruned = True
    raise Prune


def advanced(generator: AsyncGenerator[object, object], fault: BaseException | None) -> bool:
    """Whether an asynchronous generator comes to another yield."""
    step = generator.__anext__() if fault is None else generator.athrow(fault)
    try:
        cast("Coroutine[None, None, object]", step).send(None)
    except StopIteration:
        return True
    except StopAsyncIteration:
        return False
    raise AssertionError  # nothing here waits


def resume(world: World, turn: int, before: BaseException | None) -> BaseException | None:
    """What is thrown in at a yield, or ``None`` to go on."""
    if turn and world.target in world.module.managers:
        world.odd = "yields twice"
    if isinstance(before, GeneratorExit) or world.odd:
        world.pruned = True  # a generator that goes on when it must end
        raise Prune
    try:
        world.pick(1, world.yield_faults)
    except Prune:
        raise
    except BaseException as fault:
        return fault
    return None
