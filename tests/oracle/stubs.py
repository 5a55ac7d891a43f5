"""The objects that a generated function works with: pools, handles, parameters, exit stacks."""

# The methods are named for those of the libraries and take what comes.
# ruff: noqa: ANN401, D102, PYI034
from __future__ import annotations

import contextlib
import functools
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from .flavours import Flavour
    from .observed import Loan
    from .world import World


class Awaited:
    """Something that does its work when it is awaited."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call

    def __await__(self) -> Generator[None, None, object]:
        return self.call()
        yield


class Value:
    """The result of an opaque call: true or false, and equal to one literal or none, the same each time."""

    __slots__ = ("literals", "truth", "world")

    def __init__(self, world: World) -> None:
        self.world = world
        self.truth: bool | None = None
        self.literals: dict[object, bool] = {}

    def __bool__(self) -> bool:
        if self.truth is None:
            self.truth = self.world.choose(2) == 0
        return self.truth

    def __len__(self) -> int:
        return int(bool(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int):
            return self is other
        if other not in self.literals:
            self.literals[other] = True not in self.literals.values() and self.world.choose(2) == 0
        return self.literals[other]

    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __add__(self, other: object) -> Value:
        return self

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.world.on_nothing

    def __await__(self) -> Generator[None, None, object]:
        self.world.pick(1, self.world.await_faults)
        return Value(self.world)
        yield

    def terminate(self) -> None:
        self.world.give_back(None, None)

    def __enter__(self) -> Value:
        return self

    def __exit__(self, *_exc: object) -> None:
        return

    async def __aenter__(self) -> Value:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        return


class Unbound(Value):
    """What a local name holds before it is bound."""

    __slots__ = ()


class Items:
    """An iterable parameter: a few values, and a step may raise."""

    __slots__ = ("world",)

    def __init__(self, world: World) -> None:
        self.world = world

    def __iter__(self) -> Iterator[object]:
        for _ in range(self.world.max_turns):
            if self.world.pick(2, self.world.opaque_faults) == 1:
                return
            yield Value(self.world)


class Holder:
    """An object that outlives the call."""

    def __init__(self, world: World) -> None:
        self.__dict__["world"] = world

    def __setattr__(self, name: str, value: object) -> None:
        self.world.keep(value)

    world: World


class CallerList(list[object]):
    """A list of the caller."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    def append(self, value: object) -> None:
        self.world.keep(value)


class Future:
    """An object that calls back later."""

    def __init__(self, world: World) -> None:
        self.world = world

    def add_done_callback(self, callback: object) -> None:
        self.world.register(callback)


class Logger:
    """A logger: its methods never raise."""

    def _ignore(self, *_values: object, **_options: object) -> None:
        return

    debug = info = warning = error = exception = _ignore


class Cursor:
    """Something derived from a borrowed object."""

    __slots__ = ("loan", "world")

    def __init__(self, world: World, loan: Loan | None) -> None:
        self.world = world
        self.loan = loan

    def execute(self, *values: object) -> object:
        return self.world.on_handle(self.loan, values)

    fetchall = fetchone = execute

    def close(self) -> None:
        self.world.alive()
        self.world.use(self.loan)

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_exc: object) -> None:
        return


class AsyncCursor(Cursor):
    """A cursor whose methods are awaited."""

    __slots__ = ()

    def execute(self, *values: object) -> object:
        return Awaited(lambda: self.world.on_handle(self.loan, values, awaited=True))

    fetchall = fetchone = execute

    async def __aenter__(self) -> AsyncCursor:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        return


class Handle:
    """A borrowed object; it tells when its last reference goes."""

    __slots__ = ("loan", "world")

    def __init__(self, world: World, loan: Loan | None) -> None:
        self.world = world
        self.loan = loan

    def __del__(self) -> None:
        if self.loan is not None and not self.loan.over and self.loan.lost < 0 and not self.world.pruned:
            self.loan.lost = len(self.world.raises)

    def execute(self, *values: object) -> object:
        return self.world.on_handle(self.loan, values)

    ping = commit = rollback = execute

    def cursor(self) -> Cursor:
        self.world.on_handle(self.loan, ())
        return Cursor(self.world, self.loan)

    def close(self) -> None:
        self.world.alive()
        self.world.use(self.loan)
        if self.loan is not None:
            self.loan.closed = True

    def __enter__(self) -> Handle:
        self.world.on_handle(self.loan, ())
        return self

    def __exit__(self, *_exc: object) -> None:
        return


class AsyncHandle(Handle):
    """A borrowed object whose methods are awaited."""

    __slots__ = ()

    def execute(self, *values: object) -> object:
        return Awaited(lambda: self.world.on_handle(self.loan, values, awaited=True))

    ping = commit = rollback = execute

    def cursor(self) -> Cursor:
        self.world.on_handle(self.loan, ())
        return AsyncCursor(self.world, self.loan)

    def terminate(self) -> None:
        self.world.give_back(None, self)

    async def __aenter__(self) -> AsyncHandle:
        self.world.on_handle(self.loan, (), awaited=True)
        return self

    async def __aexit__(self, *_exc: object) -> None:
        return


class PoolStub:
    """An instrumented pool, under the names of every library."""

    def __init__(self, world: World, flavour: Flavour) -> None:
        self.world = world
        self.flavour = flavour

    def getconn(self) -> object:
        if self.flavour.is_async:
            return AsyncBorrow(self)
        return self.world.borrow(self)

    acquire = getconn

    def putconn(self, conn: object, *, close: bool = False) -> object:  # noqa: ARG002
        if self.flavour.awaited_release:
            return Awaited(lambda: self.world.give_back(self, conn))
        self.world.give_back(self, conn)
        return None

    release = putconn

    def connection(self) -> object:
        return AsyncBorrow(self) if self.flavour.is_async else Borrow(self)

    lend = connection


class Borrow:
    """A borrow by ``with``."""

    def __init__(self, pool: PoolStub) -> None:
        self.pool = pool
        self.handle: Handle | None = None

    def __enter__(self) -> Handle:
        self.handle = self.pool.world.borrow(self.pool, managed=True)
        return self.handle

    def __exit__(self, *_exc: object) -> None:
        handle, self.handle = self.handle, None
        self.pool.world.give_back(self.pool, handle)


class AsyncBorrow:
    """A borrow by ``await`` or by ``async with``."""

    def __init__(self, pool: PoolStub) -> None:
        self.pool = pool
        self.handle: Handle | None = None

    def __await__(self) -> Generator[None, None, Handle]:
        return self.pool.world.borrow(self.pool)
        yield

    async def __aenter__(self) -> Handle:
        self.handle = self.pool.world.borrow(self.pool, managed=True)
        return self.handle

    async def __aexit__(self, *_exc: object) -> None:
        handle, self.handle = self.handle, None
        self.pool.world.give_back(self.pool, handle)


class Watch:
    """What both exit stacks do: they tell which objects they will return."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.left = False

    def note(self, *values: object) -> None:
        """A callback was registered."""
        self.world.register(*values)
        if self.left:
            self.world.odd = "a callback on a stack that has been left"


class Stack(Watch, contextlib.ExitStack):
    """An exit stack."""

    def callback(self, callback: Any, /, *values: Any, **options: Any) -> Any:
        self.note(callback, *values)
        return super().callback(callback, *values, **options)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None, /
    ) -> bool:
        self.left = True
        return bool(super().__exit__(kind, error, traceback))


class AsyncStack(Watch, contextlib.AsyncExitStack):
    """An asynchronous exit stack."""

    def callback(self, callback: Any, /, *values: Any, **options: Any) -> Any:
        self.note(callback, *values)
        return super().callback(callback, *values, **options)

    def push_async_callback(self, callback: Any, /, *values: Any, **options: Any) -> Any:
        self.note(callback, *values)

        async def give() -> None:
            await callback(*values, **options)

        return super().push_async_callback(give)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None, /
    ) -> bool:
        self.left = True
        return bool(await super().__aexit__(kind, error, traceback))


def reach(value: object, depth: int = 0) -> list[Loan]:
    """The loans whose objects can be reached from a value."""
    if isinstance(value, Handle):
        return [value.loan] if value.loan is not None else []
    if depth > 3 or value is None:
        return []
    parts: list[object] = []
    if isinstance(value, (list, tuple, set)):
        parts = list(value)
    elif isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, functools.partial):
        parts = [*value.args, *value.keywords.values()]
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            with contextlib.suppress(ValueError):
                parts.append(cell.cell_contents)
        parts.extend(value.__defaults__ or ())
    elif isinstance(value, types.MethodType):
        parts = [value.__self__]
    return [loan for part in parts for loan in reach(part, depth + 1)]
