"""The home-made pools of one file, each with the one fault that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.bounds.keys import Keys
from pool_lint.bounds.lending import Lending
from pool_lint.bounds.limits import Limits
from pool_lint.bounds.mappings import Mappings
from pool_lint.bounds.memoised import Memoised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.bounds.connections import Connections
    from pool_lint.bounds.faults import Dropped, Unbounded
    from pool_lint.bounds.keepers import Keepers
    from pool_lint.bounds.scan import Body, Scope
    from pool_lint.bounds.values import Values
    from pool_lint.pools.types import Types


def homemade_faults(
    types: Types, connections: Connections, keepers: Keepers, values: Values, bodies: dict[Scope, Body]
) -> Iterator[Unbounded | Dropped]:
    """Yield the faults of all containers and decorated functions; a container has one at most."""
    limits = Limits(types, keepers, bodies)
    keys = Keys(types, connections, keepers, values, limits)
    lending = Lending(types, connections, values, limits)
    mappings = Mappings(connections, keepers, limits, keys, lending)
    for keeper in keepers.all:
        kept = mappings.kept(keeper)
        if keeper.dotted:
            fault: Unbounded | Dropped | None = mappings.dropping(keeper, kept)
        elif kept:
            fault = mappings.fault(keeper, kept)
        else:
            fault = lending.fault(keeper)
        if fault is not None:
            yield fault
    yield from Memoised(types.catalog, connections, values, keys).faults(bodies)
