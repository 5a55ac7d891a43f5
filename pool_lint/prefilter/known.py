"""The words that the catalog and the user's models make worth looking for."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pool_lint.catalog.words import WORDS, packages_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pool_lint.config import Settings


class Words(NamedTuple):
    """``packages``: what pools are imported from.  ``queues``: last names of the containers that block.

    ``opening``: by package, the last names of what opens a connection.
    ``memoizers``: last names of decorators that keep what a function returned.  ``dropping``: of containers that drop
    what they hold: caches, weak mappings.
    """

    packages: frozenset[str]
    queues: tuple[str, ...]
    opening: Mapping[str, frozenset[str]]
    memoizers: tuple[str, ...]
    dropping: tuple[str, ...]


@cache
def known(settings: Settings) -> Words:
    """The words for these settings."""
    data = json.loads(WORDS.read_text(encoding="utf-8"))
    words = Words(
        frozenset(data["packages"]),
        tuple(data["queues"]),
        {package: frozenset(names) for package, names in data["opening"].items()},
        tuple(data["memoizers"]),
        tuple(data["dropping"]),
    )
    if not settings.models:
        return words
    opening = dict(words.opening)
    for name in (name for spec in settings.models for name in (*spec.classes, *spec.factories)):
        package = name.partition(".")[0]
        opening[package] = opening.get(package, frozenset()) | {name.rpartition(".")[2]}
    return words._replace(packages=words.packages | packages_of(settings.models), opening=opening)
