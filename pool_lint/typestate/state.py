"""What is known of one borrowed object on one path (a fact), and of the place it was borrowed at (a site)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pool_lint.flow.cfg import Root

if TYPE_CHECKING:
    from pool_lint import ir
    from pool_lint.catalog.spec import PoolSpec

# An access path: a root, then selectors.  ("self", "._conn") is self._conn, ("pairs", "*", 1) the second part of any
# element of pairs.
Place = tuple[Root | int, ...]

GROUND = -1
PENDING, HELD, RETURNED = "pending", "held", "returned"

# How a place relates to the object.
OBJECT = "o"  # it is the object
PART = "e"  # a part of an entry that nobody looks into (a number): it stands for the object, but using it is no use
DERIVED = "d"  # a cursor, stream or view that is valid only while the object is borrowed
RESULT = "r"  # what a call on the object gave: awaiting it may raise the library's error
AWAITABLE = "a"  # awaiting or entering it borrows
GUARD = "g"  # a context manager whose exit returns the object
CLOSER = "c"  # a callable that returns it
CAPTURE = "k"  # a callable or generator that merely refers to it
POOL = "p"  # the pool it came from

# Kinds of exceptions that travel: unknown, the library's own, cancellation, GeneratorExit, leaving the process;
# or the dotted name that a raise statement gives.
ANY, LIBRARY, CANCELLED, THROWN, EXIT = "E", "L", "C", "G", "X"
# What a pool's own container raises when it is empty: it may be caught, but it is no loss.
OWN = "own!"

# What is known of a variable: unbound, None, true or false constant, true or false, not None.
UNBOUND, NONE, TRUE, FALSE, TRUTHY, FALSY, NOT_NONE = "U", "N", "1", "0", "t", "f", "n"


class Fact(NamedTuple):
    """One object (or, with ``site`` = GROUND, none) and what holds it on one path.

    ``env`` holds what is known of the variables that tests ask about.  ``pend`` says why each finally body that the
    path is in was entered, ``handling`` which exceptions the handlers that it is in have caught, ``exc`` which
    exception is on its way.  ``via`` is the kind of an exception that was caught while the object was held
    ("stale": the object was returned and its try statement is entered again).  ``done`` is the point that returned
    it, ``seen`` the loops that have visited it, ``ret`` the return statement that the path has passed.
    """

    site: int
    status: str
    places: tuple[tuple[Place, str], ...] = ()
    env: tuple[tuple[tuple[Root, ...], str], ...] = ()
    pend: tuple[str, ...] = ()
    handling: tuple[str, ...] = ()
    exc: str = ""
    via: str = ""
    done: int = -1
    seen: tuple[Root, ...] = ()
    ret: int = -1

    def roles(self, place: Place) -> set[str]:
        """How a place relates to the object; empty where it does not reach it."""
        return {role for where, role in self.places if where == place}

    def below(self, root: Root) -> list[tuple[Place, str]]:
        """The places at and under a root, with the root taken off."""
        return [(place[1:], role) for place, role in self.places if place[0] == root]

    def holds(self) -> bool:
        """Whether anything can still give the object back."""
        return any(role in _HOLDING for _, role in self.places)

    def with_places(self, places: set[tuple[Place, str]]) -> Fact:
        """The fact with other places, in the order that makes equal facts equal."""
        return self._replace(places=tuple(sorted(places, key=_order)))

    def bind(self, dst: Root, parts: list[tuple[Place, str]]) -> Fact:
        """The fact after ``dst`` was given a new value, which reaches the object by ``parts``."""
        places = {entry for entry in self.places if entry[0][0] != dst}
        places.update(((dst, *rest), role) for rest, role in parts if len(rest) < _DEEPEST)
        fact = self if places == set(self.places) else self.with_places(places)
        return fact.forget(dst) if fact.env else fact

    def forget(self, root: Root) -> Fact:
        """The fact without what was known of a variable."""
        if any(root in key for key, _ in self.env):
            return self._replace(env=tuple(entry for entry in self.env if root not in entry[0]))
        return self

    def known(self, path: tuple[Root, ...]) -> str:
        """What is known of a variable or dotted path (UNBOUND ... NOT_NONE); "" for nothing."""
        for key, value in self.env:
            if key == path:
                return value
        return ""

    def know(self, path: tuple[Root, ...], value: str) -> Fact:
        """The fact with this as all that is known of a path; "" forgets it."""
        env = dict(self.env)
        if value:
            env[path] = value
        else:
            env.pop(path, None)
        return self._replace(env=tuple(sorted(env.items(), key=_order)))


_HOLDING = frozenset((OBJECT, PART, AWAITABLE, GUARD, CLOSER, CAPTURE))
_DEEPEST = 4


def _order(entry: tuple[tuple[Root, ...], str]) -> tuple[str, str]:
    return repr(entry[0]), entry[1]


@dataclass(slots=True, eq=False)
class Site:
    """One place where an object is borrowed.

    ``kind``: ``borrow``, or ``param`` for an object that a function is given (to see what it does with it).
    ``ways`` says what borrows (as in the catalog); ``pool`` is the pool as the user wrote it, ``path`` the place it
    is in, where it has one.  ``own`` is true where the pool is a container of the class that the function belongs to.
    """

    index: int
    kind: str
    spec: PoolSpec
    point: int
    line: int
    col: int
    ways: frozenset[str]
    pool: str
    path: Place | None = None
    own: bool = False
    call: ir.Call | None = None
    returned: bool = False
    transferred: bool = False
    unseen: bool = False
    wrong_pool: bool = False
    remedy: str = ""
    vars: set[Root] = field(default_factory=set)
    released_to: set[Place] = field(default_factory=set)


class Step(NamedTuple):
    """One arrow of a path: from a point with a fact, by ``next``, ``alt`` or ``exc``."""

    point: int
    fact: Fact
    way: str
