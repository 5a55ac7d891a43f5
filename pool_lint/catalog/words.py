"""The words of the catalog that a file must have to be worth a look; kept in ``words.json``, which loads in no time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pool_lint.catalog.spec import Catalog, PoolSpec

# Written by ``python -m pool_lint.catalog``; reading it takes a hundredth of the time that the catalog takes.
WORDS = Path(__file__).parent / "words.json"


def words_of(catalog: Catalog) -> dict[str, object]:
    """What ``words.json`` holds, from the catalog."""
    queues = {
        name.rpartition(".")[2]
        for container in catalog.containers
        if any(take.blocks for take in container.takes)
        for name in container.classes
    }
    opening: dict[str, set[str]] = {}
    for name in catalog.connections | catalog.connection_types:
        opening.setdefault(name.partition(".")[0], set()).add(name.rpartition(".")[2])
    return {
        "packages": sorted(packages_of(catalog.specs)),
        "queues": sorted(queues),
        "opening": {package: sorted(names) for package, names in sorted(opening.items())},
        "memoizers": _last(catalog.memoizers),
        "dropping": _last(catalog.dropping),
    }


def packages_of(specs: Iterable[PoolSpec]) -> frozenset[str]:
    """The packages that pools are imported from."""
    names: set[str] = set()
    for spec in specs:
        names.update((*spec.classes, *spec.factories, *spec.registries, *spec.members, *spec.object_classes))
        names.update(form.function for form in spec.function_borrows)
        names.update(name for bound in spec.bounds for name in bound.callables)
    return frozenset(name.partition(".")[0] for name in names if name)


def _last(names: Iterable[str]) -> list[str]:
    return sorted({name.rpartition(".")[2] for name in names})
