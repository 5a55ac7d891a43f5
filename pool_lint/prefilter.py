"""Whether a text can have findings at all: asked before libcst is imported.

The words asked for come from the catalog, from the user's models and from the recognisers themselves, so that a new
library or pair of methods cannot be forgotten.  Each test is of words in the text, so it costs a few microseconds.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pool_lint.catalog.load import load_catalog
from pool_lint.words import LENDING, PAIRS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pool_lint.catalog.spec import PoolSpec
    from pool_lint.config import Settings


def may_have_findings(text: str, settings: Settings) -> bool:
    """Whether every word that some rule's finding needs stands in the text."""
    return (
        _library(settings).search(text) is not None
        or _uses_container(text)
        or _uses_pair(text)
        or _counts(text)
        or _keeps_connections(text, settings)
    )


def _specs(settings: Settings) -> tuple[PoolSpec, ...]:
    return (*load_catalog().specs, *settings.models)


@cache
def _library(settings: Settings) -> re.Pattern[str]:
    """The packages that the catalog's and the user's pools are imported from."""
    names: set[str] = set()
    for spec in _specs(settings):
        dotted = (*spec.classes, *spec.factories, *spec.registries, *spec.members, *spec.object_classes)
        names.update(name.partition(".")[0] for name in dotted)
        names.update(form.function.partition(".")[0] for form in spec.function_borrows)
        names.update(name.partition(".")[0] for bound in spec.bounds for name in bound.callables)
    return _any_of(names - {""})


_POPS = re.compile(r"\.pop(?:left|item)?\b|heappop")
_PUSHES = re.compile(
    r"\.(?:append|appendleft|add|insert|extend|extendleft|setdefault|update)\b|heappush|\]\s*(?::[^=\n]+)?="
)


def _uses_container(text: str) -> bool:
    """Whether something is taken out of a queue, list, deque, set or dict, and something put into one."""
    if _queues().search(text) is not None and ".get" in text and ".put" in text:
        return True
    return _POPS.search(text) is not None and _PUSHES.search(text) is not None


@cache
def _queues() -> re.Pattern[str]:
    names = {
        name.rpartition(".")[2]
        for container in load_catalog().containers
        if any(take.blocks for take in container.takes)
        for name in container.classes
    }
    return _any_of(names)


def _uses_pair(text: str) -> bool:
    """Whether a borrow method of a pool of unseen type stands in the text with a return method of its own."""
    found = set(_pair_words().findall(text))
    return any(borrow in found and not found.isdisjoint(releases) for borrow, releases in PAIRS.items())


@cache
def _pair_words() -> re.Pattern[str]:
    return _any_of({*PAIRS, *(release for releases in PAIRS.values() for release in releases)})


_LENDER = re.compile(r"contextmanager|\bdef " + LENDING)
_PERMITS = re.compile(r"Semaphore|CapacityLimiter")


def _counts(text: str) -> bool:
    """Whether a method that lends, by its name or as a context manager, may take a permit or raise a count."""
    if _LENDER.search(text) is None:
        return False
    return _PERMITS.search(text) is not None or ("+=" in text and ("-=" in text or _POPS.search(text) is not None))


# What a home-made pool keeps its connections in, or looks for them with.
_KEEPS = re.compile(r"[cC]ache|\b(?:get\w*|pop\w*|setdefault|KeyError|memoi[sz]e\w*|Weak\w+)\b|\bnot\s+in\b")
_THREADS = re.compile(r"\b(?:local|scoped_session|get_ident|current_thread)\b")


def _keeps_connections(text: str, settings: Settings) -> bool:
    """Whether connections may be kept somewhere, or an object for each thread."""
    if _THREADS.search(text) is not None:
        return True
    if _KEEPS.search(text) is None:
        return False
    opened = _connections(settings)
    found = set(_connection_words(settings).findall(text))
    return any(module in text for word in found for module in opened[word])


@cache
def _connections(settings: Settings) -> dict[str, frozenset[str]]:
    """The names of what opens a connection, each with the packages that have it."""
    names = set(load_catalog().connections | load_catalog().connection_types)
    names.update(name for spec in settings.models for name in (*spec.classes, *spec.factories))
    found: dict[str, set[str]] = {}
    for name in names:
        found.setdefault(name.rpartition(".")[2], set()).add(name.partition(".")[0])
    return {word: frozenset(modules) for word, modules in found.items()}


@cache
def _connection_words(settings: Settings) -> re.Pattern[str]:
    return _any_of(_connections(settings))


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(sorted(re.escape(name) for name in names)) + r")\b")
