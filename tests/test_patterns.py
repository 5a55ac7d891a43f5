"""Regular expressions take time in proportion to what they read, whatever that is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from typing import TYPE_CHECKING

import pytest

import pool_lint
from pool_lint.prefilter.connections import _dropping, _memoized
from pool_lint.prefilter.loans import _given_back, _method

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT, LONG = 500, 4_000
QUICK = 0.004  # seconds that are not worth a second look
# Eight times the text may take this much longer: twice eight, and the noise of a busy machine; a square takes 64.
MOST = 28
# What a pattern's own words are joined with.
JOINS = ("", "_", " ", ".")
WORD = re.compile(r"[A-Za-z]{2,}|[^\w\s\\|?*+()\[\]{}^$.]")


NAMES = ("release", "give_back", "lru_cache")
# What is made where it is used, of words that are in the text.
MADE = (_method("acquire"), _given_back(frozenset(NAMES)), _memoized(NAMES), _dropping(NAMES))
METHODS = ("match", "search", "fullmatch", "finditer", "findall", "sub", "split")


def patterns() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Name, method and pattern of each way in which a module's constant is used."""
    names = [found.name for found in pkgutil.walk_packages(pool_lint.__path__, "pool_lint.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    sources = [inspect.getsource(module) for module in modules]
    for module, source in zip(modules, sources, strict=True):
        for name, value in vars(module).items():
            if re.search(rf"^{name}\b[^=\n]*=", source, re.MULTILINE):
                users = [source] if name.startswith("_") else sources
                used = re.compile(rf"\b{name}(?:\[[^]]+\])?\.({'|'.join(METHODS)})\(")
                methods = {match[1] for user in users for match in used.finditer(user)}
                yield from (
                    (f"{module.__name__}.{name}", method, pattern)
                    for pattern in _inside(value)
                    for method in sorted(methods) or METHODS[:4]
                )
    for pattern in MADE:
        yield "made where it is used", "finditer", pattern


def _inside(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, (tuple, list, frozenset)):
        for each in value:
            yield from _inside(each)
    elif isinstance(value, dict):
        yield from _inside(list(value.values()))


EVERY = {(method, pattern.pattern): (name, pattern) for name, method, pattern in patterns()}


def texts(pattern: str, length: int) -> Iterator[str]:
    """Long texts: of the pattern's own words and signs, after one of its words, with an end that makes it fail."""
    words = sorted(set(WORD.findall(pattern)))[:12]
    signs = ("a", "_", "1", " ", "\t", "\\", ".", "(", "'", '"', "{", "-", ",", "\n", "# ")
    for pump in (*signs, *(word + join for word in words for join in JOINS)):
        for start in ("", *words, *(word + " " for word in words), "(", "'", '"'):
            yield start + pump * (length // len(pump)) + "!"


def seconds(pattern: re.Pattern[str], method: str, text: str, times: int = 3) -> float:
    """The least time that a pattern takes with a text."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        if method == "finditer":
            for _match in pattern.finditer(text):
                pass
        elif method == "sub":
            pattern.sub("", text)
        else:
            getattr(pattern, method)(text)
        found.append(time.perf_counter() - start)
    return min(found)


@pytest.mark.parametrize("key", EVERY, ids=lambda key: f"{EVERY[key][0].removeprefix('pool_lint.')}-{key[0]}")
def test_time_grows_with_the_length(key: tuple[str, str]) -> None:
    method = key[0]
    pattern = EVERY[key][1]
    for short, long in zip(texts(pattern.pattern, SHORT), texts(pattern.pattern, LONG), strict=True):
        if seconds(pattern, method, short, 1) > QUICK / MOST:
            slow = seconds(pattern, method, long)
            assert slow < max(QUICK, MOST * seconds(pattern, method, short)), f"{short[:40]!r} and so on"
