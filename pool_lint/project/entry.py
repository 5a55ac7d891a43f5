"""The way into a file's project: asked of every file, so it loads nothing before an import leads there."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

from pool_lint.project.roots import Roots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.config import Settings
    from pool_lint.ir import ModuleTree
    from pool_lint.pools.linked import Linked

# Nothing in them can be matched in two ways: a text must not be able to make them slow.
_IMPORT = re.compile(r"[ \t]*(?:from(?=[ \t.])([\w. \t]+?)\bimport\b[ \t]*(\([^)]*|[^\n#;]+)|import[ \t]+([^\n#;]+))")
_NAME = re.compile(r"(?:^|[(,])\s*(?:#[^\n]*\n\s*)*(\w+)")


def lends_to(text: str, path: str, settings: Settings) -> bool:
    """Whether a file imports something of its project that may be, hold or lend from a pool."""
    place = _place(text, path, settings)
    if place is None:
        return False
    from pool_lint.project.link import project_of  # noqa: PLC0415 - not for files that import nothing of a project

    return project_of(settings).lends_to(text, place)


def linked_with(text: str, path: str, settings: Settings, tree: ModuleTree) -> Linked | None:
    """Return what the project adds to a file; its own tree gets the same names for the same things."""
    place = _place(text, path, settings)
    if place is None:
        return None
    from pool_lint.project.link import project_of  # noqa: PLC0415 - as above

    return project_of(settings).linked(text, place, tree)


@cache
def roots_of(src: tuple[str, ...]) -> Roots:
    """The folders in which imports are looked up."""
    return Roots(src)


def _place(text: str, path: str, settings: Settings) -> str | None:
    """Where a file lies that imports something of its project; None for others, and for what has no place."""
    if not settings.across_files or not path.endswith((".py", ".pyi")):
        return None
    place = os.path.abspath(path)  # noqa: PTH100 - Path.absolute keeps the dots
    roots = roots_of(settings.src)
    if any(roots.locate(place, level, parts) for level, parts in imports_in(text)):
        return place
    return None


def imports_in(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield what a text imports, told from the words alone: rather too much than too little."""
    for match in _import_lines(text):
        base, names, plain = match[1], match[2], match[3]
        if plain:
            for part in plain.split(","):
                words = part.split()
                if words:
                    yield 0, tuple(words[0].split("."))
            continue
        stem = base.replace(" ", "").replace("\t", "")
        parts = tuple(part for part in stem.split(".") if part)
        level = len(stem) - len(stem.lstrip("."))
        yield level, parts
        for name in _NAME.findall(names):
            yield level, (*parts, name)


def _import_lines(text: str) -> Iterator[re.Match[str]]:
    """Yield the import statements that begin a line: looked for only where the word stands."""
    at = text.find("import")
    while at >= 0:
        match = _IMPORT.match(text, text.rfind("\n", 0, at) + 1)
        if match is not None:
            yield match
        at = text.find("import", max(at + 1, match.end() if match is not None else 0))
