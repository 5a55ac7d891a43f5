"""The modules of a project, read when asked for and once: what they bind, and what an imported name leads to."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.files import PoolLintError, read_source
from pool_lint.project.entry import imports_in
from pool_lint.project.outline import Chain, Outline, Piece, outline_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.project.roots import Roots
    from pool_lint.project.store import Store

_LONGEST_ROUTE = 40  # re-exports from module to module


@dataclass(slots=True)
class _Lazy:
    outline: Outline | None = None
    read: bool = False


@dataclass(eq=False)
class Module:
    """One file of the project.  ``key`` names it among the others of a run; it is no path that anybody sees."""

    path: str
    key: str
    text: str
    stub: bool
    _store: Store
    _outline: _Lazy = field(default_factory=_Lazy)

    @property
    def outline(self) -> Outline | None:
        """The outline, from the cache or made now; None where the module cannot be parsed."""
        if not self._outline.read:
            self._outline.read = True
            found = self._store.load(self.text)
            if found is None:
                found = outline_of(self.text)
                if found is not None:
                    self._store.save(self.text, found)
            self._outline.outline = found
        return self._outline.outline

    def text_of(self, piece: Piece) -> str:
        """The lines of a statement."""
        return "\n".join(self._lines[piece.first - 1 : piece.last]) + "\n"

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def imported(self) -> tuple[tuple[int, Chain], ...]:
        """What the text may import: the dots and the parts of each module, and of each name taken from it."""
        return tuple(dict.fromkeys(imports_in(self.text)))

    def pieces_of(self, name: str) -> tuple[Piece, ...]:
        """The statements that give a name its value."""
        return self._bound.get(name, ())

    def users_of(self, name: str) -> tuple[Piece, ...]:
        """The statements that read a name."""
        return self._users.get(name, ())

    @cached_property
    def _bound(self) -> dict[str, tuple[Piece, ...]]:
        found: dict[str, tuple[Piece, ...]] = {}
        for piece in self.outline.pieces if self.outline is not None else ():
            for name in piece.names:
                found[name] = (*found.get(name, ()), piece)
        return found

    @cached_property
    def _users(self) -> dict[str, tuple[Piece, ...]]:
        found: dict[str, tuple[Piece, ...]] = {}
        for piece in self.outline.pieces if self.outline is not None else ():
            for name in sorted({chain[0] for chain in piece.uses}):
                found[name] = (*found.get(name, ()), piece)
        return found


class Index:
    """The modules of one project, by their files."""

    def __init__(self, roots: Roots, store: Store) -> None:
        self.roots = roots
        self._store = store
        self._modules: dict[str, Module | None] = {}
        self._routes: dict[tuple[str, Chain], tuple[Module, str, int] | None] = {}

    def with_text(self, path: str, text: str) -> tuple[Index, Module]:
        """Return this index and the module in a file; another index where the text is not what the disk has."""
        known = self.module(path)
        if known is not None and known.text == text:
            return self, known
        other = Index(self.roots, self._store)
        module = other._module(path, text)
        other._modules = {**self._modules, path: module}
        return other, module

    def module(self, path: str) -> Module | None:
        """The module in a file; None where the file cannot be read."""
        if path not in self._modules:
            try:
                text = read_source(Path(path))
            except PoolLintError:
                self._modules[path] = None
            else:
                self._modules[path] = self._module(path, text)
        return self._modules[path]

    def _module(self, path: str, text: str) -> Module:
        # Code that reads names takes dots and quotes for what they are in Python.
        key = self.roots.relative(path).rpartition(".")[0].replace(os.sep, "/").replace(".", ":").replace("'", ":")
        return Module(path, key, text, path.endswith(".pyi"), self._store)

    def imported_by(self, module: Module) -> Iterator[Module]:
        """The modules of the project that a module may import, its packages included."""
        seen: set[str] = set()
        for level, parts in module.imported:
            for path in self.roots.locate(module.path, level, parts) or ():
                if path is not None and path not in seen and path != module.path:
                    seen.add(path)
                    found = self.module(path)
                    if found is not None:
                        yield found

    def target(self, module: Module, chain: Chain) -> tuple[Module, str, int] | None:
        """What a dotted path read in a module leads to: a module, a name bound there, the parts of the path used.

        None where it leads out of the project, or to no name.
        """
        route = (module.path, chain)
        if route not in self._routes:
            found = self._follow(module, chain, set())
            self._routes[route] = (found[0], found[1], len(chain) - len(found[2])) if found is not None else None
        return self._routes[route]

    def _follow(self, module: Module, chain: Chain, visited: set[tuple[str, str]]) -> tuple[Module, str, Chain] | None:
        """Follow a path from its root; the last part of what is returned is the rest of it."""
        head, rest = chain[0], chain[1:]
        if (module.path, head) in visited or len(visited) > _LONGEST_ROUTE or module.outline is None:
            return None
        visited.add((module.path, head))
        if module.pieces_of(head):
            return module, head, rest
        dotted = module.outline.imports.get(head)
        if dotted is not None:
            level = len(dotted) - len(dotted.lstrip("."))
            return self._import(module, level, tuple(dotted[level:].split(".")), rest, visited)
        for star in module.outline.stars if not head.startswith("_") else ():
            level = len(star) - len(star.lstrip("."))
            parts = tuple(part for part in star[level:].split(".") if part)
            found = self._import(module, level, (*parts, head), rest, visited)
            if found is not None:
                return found
        return None

    def _import(
        self, module: Module, level: int, parts: Chain, rest: Chain, visited: set[tuple[str, str]]
    ) -> tuple[Module, str, Chain] | None:
        whole = (*parts, *rest)
        files = self.roots.locate(module.path, level, whole)
        if files is None:
            return None
        offset = 1 if level else 0  # a relative import starts in a package of its own
        for number, path in enumerate(files):
            position = number + 1 - offset
            if position >= len(whole) or path is None:
                continue
            if position < len(parts) - 1 and number + 1 < len(files):
                continue  # `import a.b.c` and `from a.b import c` pass through modules
            inner = self.module(path)
            found = self._follow(inner, whole[position:], visited) if inner is not None else None
            if found is not None and len(found[2]) <= len(rest):
                return found
        return None
