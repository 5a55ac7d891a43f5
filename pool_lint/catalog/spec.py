"""The meaning of one catalog entry: how a pool lends objects and takes them back."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Way = Literal["call", "await", "with", "async with"]
On = Literal["pool", "object"]
WithObject = Literal["returns", "closes", "transaction", "none"]
GcReturns = Literal["yes", "no", "frees-slot"]
Exhausted = Literal["blocks", "raises", "creates"]
Limits = Literal["open", "kept", "switch"]
Transactions = Literal["none", "explicit", "implicit"]
WhenFull = Literal["grows", "blocks", "drops"]
Constant = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class BorrowForm:
    """One method that takes an object out of the pool.

    ``ways`` says what has to be done with the call before anything is borrowed:
    ``call`` (its value is the object), ``await`` (awaiting it gives the object),
    ``with`` and ``async with`` (entering it gives the object and leaving returns it to the pool).
    ``method`` is ``__call__`` where the pool itself is called (a ``sessionmaker``), and ``__init__``
    where constructing the class gives the object (a ``Session``).
    ``opt_out`` names parameters whose truthy constant switches the obligation off.
    ``nested_by`` names parameters that make a second borrow with the same argument give the same object
    (psycopg2's ``getconn(key)``).
    """

    method: str
    ways: frozenset[str]
    opt_out: tuple[str, ...] = ()
    nested_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionBorrow:
    """A module's function that borrows from a pool which it finds by its arguments.

    ``function`` is its dotted name (``mysql.connector.connect``).  It borrows only where one of the parameters
    ``when`` is given (``pool_name``); without any in ``when`` it always does.
    """

    function: str
    ways: frozenset[str]
    when: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReleaseForm:
    """One call that ends the obligation.

    With ``on = "pool"`` the object is argument number ``arg`` (or ``keyword``) of a method of the pool;
    with ``on = "object"`` the method is called on the object itself.
    ``arg = -1`` with ``on = "pool"``: the call takes no object and gives back what this thread or task holds.
    ``discards`` is true where the object is destroyed and its slot freed.
    ``awaited`` is true where the call does nothing before it is awaited.
    ``when`` names a parameter of the pool's constructor that has to be true for this call to be a return.
    """

    method: str
    on: On
    arg: int = 0
    keyword: str = ""
    discards: bool = False
    awaited: bool = False
    when: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """One parameter that limits a pool, and what its values mean.

    ``callables``: what takes the parameter, by keyword ``param`` or at ``position`` (-1: by keyword only); none
    listed stands for all classes of the pool.  One that is no class and no factory of the pool counts only where
    ``made_by`` of another bound names it.
    ``default`` is what leaving it out means to the library's own code (``required``: it cannot be left out);
    ``default_unbounded`` whether that is no limit.  ``unbounded_values`` are the constants that mean no limit (a
    dotted name stands for the constant of that name); a number below ``unbounded_below`` means none either.
    ``limits``: ``open`` for the objects that are out and idle together, ``kept`` for those only that are kept when
    they come back (any number may be opened), ``switch`` for a parameter that turns waiting or pooling on.
    ``only_with``: the bound counts only where this parameter is true; ``ignored_with``: it counts for nothing where
    one of these is given; ``also_in``: the text of this parameter (a URL) may hold the value instead;
    ``made_by``: the value is made by this callable, whose own bounds count.
    ``versions``: the versions of the distribution for which this holds, as in a requirement (``>=8.0``).
    """

    param: str
    callables: tuple[str, ...] = ()
    position: int = -1
    default: Constant = None
    required: bool = False
    default_unbounded: bool = False
    unbounded_values: tuple[Constant, ...] = ()
    unbounded_below: int | None = None
    limits: Limits = "open"
    only_with: str = ""
    ignored_with: tuple[str, ...] = ()
    also_in: str = ""
    made_by: str = ""
    versions: str = ""


@dataclass(frozen=True, slots=True)
class Timeout:
    """One parameter that limits how long a borrow waits.

    ``callables``: methods of the pool that borrow, or dotted names of what makes the pool; none listed stands for
    all its classes.
    ``default``: as in ``Bound``; ``default_waits``: whether leaving it out means to wait without end;
    ``waiting_values``: the constants that mean that.
    ``only_with``: the borrow waits at all only where this parameter is true (kombu's ``block``).
    """

    param: str
    callables: tuple[str, ...] = ()
    position: int = -1
    default: Constant = None
    default_waits: bool = False
    waiting_values: tuple[Constant, ...] = ()
    only_with: str = ""


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """One kind of pool of one library.

    ``classes``: dotted names under which programs import the pool; ``factories``: callables that return
    (or, awaited, give) one; ``client``: true where the pool is a client or engine whose own methods borrow
    and return inside; ``item``: what messages call the borrowed object; ``object_classes``: its types.
    ``with_object``: what ``with OBJECT:`` does at its end.  ``derives`` / ``rederives``: methods of the object,
    and of what is derived from it, whose result is only valid while the object is borrowed.
    ``gc_returns``: whether dropping the last reference gives the object (or its slot) back.
    ``second_release_ok``: a second return is harmless.  ``reconnects``: the object may be closed and still
    be put back, since it opens itself again.  ``only_if_released``: no obligation in functions that never
    return it (a SQLAlchemy session).  ``nested``: a second borrow of the same thread or task gives the same object.
    ``errors``: dotted names of the base errors that calls on the object raise.
    ``cleanup_raises``: methods of the object or of what is derived from it that may raise in a cleanup.
    ``remedy``: the cure in this pool's own words; ``{pool}`` stands for the pool as the user wrote it.
    ``handle_is_pool``: the pool itself is what is borrowed and returned (peewee's ``db.connect()``).
    ``registries``: dotted names of mappings whose items are such pools (``kombu.pools.producers[connection]``).
    ``members``: dotted names of attributes that hold such a pool (``celery.Celery.pool``).
    ``function_borrows``: functions that borrow without naming the pool.
    ``exhausted``: what a borrow does when nothing is left: ``blocks`` (with or without an end), ``raises``,
    ``creates`` (another one, without a limit).
    ``returns_itself``: methods of the object that return the object (SQLAlchemy's ``execution_options``).
    ``per_thread``: each thread has its own object, and every borrow of that thread gets it.
    ``resets``: kinds of state that a return resets.  ``reset_params``: constructor parameters that change this.
    ``transactions``: ``implicit`` where the first statement opens one that stays open until commit or rollback.
    ``bounds`` / ``timeouts``: the parameters that limit the pool and the waiting.
    ``pooling_off``: the class is there to switch pooling off, so that having no limit is meant.
    ``distributions``: the projects on PyPI that install it.
    """

    id: str
    library: str
    classes: tuple[str, ...]
    item: str
    borrows: tuple[BorrowForm, ...]
    releases: tuple[ReleaseForm, ...]
    remedy: str
    factories: tuple[str, ...] = ()
    object_classes: tuple[str, ...] = ()
    external: bool = True
    with_object: WithObject = "none"
    derives: frozenset[str] = frozenset()
    rederives: frozenset[str] = frozenset()
    gc_returns: GcReturns = "no"
    second_release_ok: bool = False
    reconnects: bool = False
    only_if_released: bool = False
    nested: bool = False
    errors: tuple[str, ...] = ()
    cleanup_raises: frozenset[str] = frozenset()
    client: bool = False
    handle_is_pool: bool = False
    registries: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    function_borrows: tuple[FunctionBorrow, ...] = ()
    exhausted: Exhausted = "blocks"
    returns_itself: frozenset[str] = frozenset()
    per_thread: bool = False
    resets: frozenset[str] = frozenset()
    reset_params: tuple[str, ...] = ()
    transactions: Transactions = "none"
    bounds: tuple[Bound, ...] = ()
    timeouts: tuple[Timeout, ...] = ()
    pooling_off: bool = False
    distributions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TakeForm:
    """One way to take an object out of a container.

    A dotted ``method`` is a function that gets the container as its first argument (``heapq.heappop``).
    ``keyed``: the caller names which object (``dict.pop(key)``), which alone is no evidence for a pool.
    ``blocks``: waits while the container is empty.
    """

    method: str
    ways: frozenset[str]
    keyed: bool = False
    blocks: bool = False


@dataclass(frozen=True, slots=True)
class PutForm:
    """One way to put an object into a container.

    The object is argument ``arg`` (or ``keyword``); a dotted ``method`` is a function as in ``TakeForm``.
    ``many``: the argument is an iterable of objects.  ``awaited``: nothing happens before the call is awaited.
    ``blocks``: waits while the container is full.  ``method`` is ``__setitem__`` for ``container[key] = object``.
    """

    method: str
    arg: int = 0
    keyword: str = ""
    many: bool = False
    awaited: bool = False
    blocks: bool = False


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """A container of the standard library that a program may use as a pool.

    ``literal``: the kind of display or comprehension that makes one (``list``, ``dict``, ``set``).
    ``bound``: the constructor's parameter that limits what it keeps; ``when_full``: what a put does then
    (``grows``: there is no limit).  ``empty_errors`` / ``full_errors``: what a take or put raises that finds it so.
    """

    id: str
    classes: tuple[str, ...]
    takes: tuple[TakeForm, ...]
    puts: tuple[PutForm, ...]
    literal: str = ""
    bound: Bound | None = None
    when_full: WhenFull = "grows"
    empty_errors: tuple[str, ...] = ()
    full_errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalog:
    """All pool kinds known, by the dotted names of their classes and factories.

    ``never_keep``: dotted names of functions that use a handle given to them and never keep it.
    ``never_keep_methods``: the same for methods of objects of unknown type.
    ``no_raise_methods`` / ``no_raise_functions``: calls that are taken not to raise.
    ``logger_factories`` / ``logger_names`` / ``logger_methods``: what makes a logger, what it is usually called, and
    its methods, which do not raise.
    ``connections``: callables that open or hold a connection; ``external``: callables that make another thing
    outside the process (a file, a thread, a lock on a file), or one that is costly to lose.
    ``connection_types``: types of connections that functions make; ``shareable``: connections that many tasks may
    use at once; ``dropping``: containers that drop what they hold without closing it; ``memoizers``: decorators that
    keep what a function returned, by its arguments.
    ``by_object``: the pool of a borrowed object's type, where several share it the last one.
    ``error_parents`` / ``error_aliases``: what derives from what, and other names of the same exception.
    """

    specs: tuple[PoolSpec, ...]
    by_class: dict[str, PoolSpec]
    by_factory: dict[str, PoolSpec]
    never_keep: frozenset[str]
    no_raise_methods: frozenset[str]
    no_raise_functions: frozenset[str]
    containers: tuple[ContainerSpec, ...] = ()
    by_container: dict[str, ContainerSpec] = field(default_factory=dict)
    by_registry: dict[str, PoolSpec] = field(default_factory=dict)
    by_member: dict[str, PoolSpec] = field(default_factory=dict)
    by_function: dict[str, PoolSpec] = field(default_factory=dict)
    by_object: dict[str, PoolSpec] = field(default_factory=dict)
    never_keep_methods: frozenset[str] = frozenset()
    connections: frozenset[str] = frozenset()
    external: frozenset[str] = frozenset()
    connection_types: frozenset[str] = frozenset()
    shareable: frozenset[str] = frozenset()
    dropping: frozenset[str] = frozenset()
    memoizers: frozenset[str] = frozenset()
    logger_factories: frozenset[str] = frozenset()
    logger_names: frozenset[str] = frozenset()
    logger_methods: frozenset[str] = frozenset()
    error_parents: dict[str, str] = field(default_factory=dict)
    error_aliases: dict[str, str] = field(default_factory=dict)

    def canonical_error(self, name: str) -> str:
        """Return the one name of an exception that its library exports under several."""
        return self.error_aliases.get(name, name)

    def catches(self, handler: str, raised: str) -> bool:
        """Return whether ``except HANDLER`` stops ``raised`` and all that derives from it."""
        wanted = self.canonical_error(handler)
        current = self.canonical_error(raised)
        while current and current != wanted:
            current = self.canonical_error(self.error_parents.get(current) or _builtin_base(current))
        return current == wanted

    def covers(self, handlers: Iterable[str], spec: PoolSpec) -> bool:
        """Return whether handlers of these types together stop all that calls on an object of this pool raise."""
        caught = tuple(handlers)
        return bool(spec.errors) and all(
            any(self.catches(handler, error) for handler in caught) for error in spec.errors
        )

    def extended_with(self, specs: Iterable[PoolSpec]) -> Catalog:
        """Return a catalog that also knows ``specs``, which win where both name a class."""
        return with_specs(self, tuple(specs))


def _builtin_base(name: str) -> str:
    found = getattr(builtins, name.removeprefix("builtins."), None)
    if not isinstance(found, type) or not issubclass(found, BaseException):
        return "Exception"  # somebody's own
    if found.__name__ != name:
        return found.__name__  # IOError and the like are OSError itself
    return (found.__base__ or object).__name__ if found is not BaseException else ""


def with_specs(catalog: Catalog, specs: tuple[PoolSpec, ...]) -> Catalog:
    """Return ``catalog`` and ``specs`` in one, with every table of names made anew."""
    every = (*catalog.specs, *specs)
    return replace(
        catalog,
        specs=every,
        by_class={name: spec for spec in every for name in spec.classes},
        by_factory={name: spec for spec in every for name in spec.factories},
        by_registry={name: spec for spec in every for name in spec.registries},
        by_member={name: spec for spec in every for name in spec.members},
        by_function={form.function: spec for spec in every for form in spec.function_borrows},
        by_object={name: spec for spec in every for name in spec.object_classes},
    )
