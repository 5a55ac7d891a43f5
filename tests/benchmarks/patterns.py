"""Whether some regular expression of pool_lint takes more than time in proportion to what it reads.

usage: patterns.py

Every pattern of the package is run, in the ways in which the package uses it, on long texts that are made of its own
words and signs and that it cannot match; printed is each whose time grows faster than the length.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from typing import TYPE_CHECKING

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


def slow(pattern: re.Pattern[str], method: str) -> str:
    """The beginning of a text that is slow for its length; "" where there is none."""
    for short, long in zip(texts(pattern.pattern, SHORT), texts(pattern.pattern, LONG), strict=True):
        if seconds(pattern, method, short, 1) > QUICK / MOST:
            taken = seconds(pattern, method, long)
            if taken >= max(QUICK, MOST * seconds(pattern, method, short)):
                return short[:40]
    return ""


def main() -> None:
    found = 0
    for (method, _), (name, pattern) in EVERY.items():
        text = slow(pattern, method)
        if text:
            found += 1
            print(f"{name}.{method}: {text!r} and so on")
    print(f"{len(EVERY)} uses of patterns, {found} of them slow for the length of their text")


if __name__ == "__main__":
    main()
