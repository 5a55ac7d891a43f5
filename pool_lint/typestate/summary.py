"""What a function of this file does for its callers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pool_lint.catalog.spec import PoolSpec
    from pool_lint.typestate.state import Place


@dataclass(frozen=True, slots=True, eq=False)
class Returned:
    """A borrowed object in what a function returns, or in what a context manager yields.

    ``where`` is the path to it in the value (``(0,)``: the first of a tuple), ``ways`` what the caller has to do
    before it is borrowed, ``path`` the pool as a place of the function that borrows, ``derived`` the paths to cursors
    and the like in the same value.  ``optional``: the function may also return None.  ``own``: the pool is a container
    of the class itself, so the class is the pool, and ``remedy`` is the cure in that class's own words.
    """

    where: Place
    spec: PoolSpec
    ways: frozenset[str]
    pool: str
    path: Place | None
    own: bool = False
    derived: tuple[Place, ...] = ()
    optional: bool = True
    remedy: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """``lends``: the borrows that a call gives its caller.  ``may_raise`` / ``never_returns``: how it can end.

    ``holds``: a generator that holds a borrow while it is suspended at a ``yield``.
    """

    lends: tuple[Returned, ...] = ()
    may_raise: bool = True
    never_returns: bool = False
    holds: bool = False

    def same(self, other: Summary) -> bool:
        """Whether a caller cannot tell the two apart: then the fixed point is reached."""
        return (
            [(each.where, each.spec.id, each.ways) for each in self.lends]
            == [(each.where, each.spec.id, each.ways) for each in other.lends]
            and self.may_raise == other.may_raise
            and self.never_returns == other.never_returns
            and self.holds == other.holds
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """What a function does with an object that it is given.

    ``outcomes``: what may have become of it when the function returns: ``held`` (nothing), ``returned``, ``stored``.
    ``pools``: where it was returned to, as places of the function.  ``results``: how its result reaches the object.
    ``unseen``: it is passed on to a function that cannot be seen.  ``uses``: it is used at all.
    ``raises``: it may raise before it has given the object back.
    """

    outcomes: frozenset[str] = frozenset(("held",))
    pools: tuple[Place, ...] = ()
    results: tuple[tuple[Place, str], ...] = ()
    unseen: bool = False
    uses: bool = True
    raises: bool = True
