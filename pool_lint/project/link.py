"""Link a file with what matters to it of the project's other modules."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.catalog.load import load_catalog
from pool_lint.pools.linked import MARK, Linked
from pool_lint.project.entry import roots_of
from pool_lint.project.index import Index, Module
from pool_lint.project.outline import parse_quietly
from pool_lint.project.rename import BUILTINS, Meaning, Renamer
from pool_lint.project.slices import Slice, Slices
from pool_lint.project.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pool_lint.catalog.spec import Catalog
    from pool_lint.config import Settings
    from pool_lint.project.outline import Chain, Piece

_Parsed = tuple[list[ir.Stmt], list[ir.Function], list[ir.Klass]]


class Project:
    """The project around the files that are checked, as far as their imports lead into it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._index = Index(roots_of(settings.src), Store(_cache_folder(settings)))
        self._slices: dict[Index, Slices] = {}
        self._reaches: dict[str, bool] = {}
        self._parsed: dict[tuple[str, Piece, frozenset[str]], _Parsed] = {}

    def lends_to(self, text: str, path: str) -> bool:
        """Whether a file imports something of the project that may be, hold or lend from a pool.

        The first question is of words, so that a project without a pool costs little.
        """
        index, module = self._index.with_text(path, text)
        slices = self._slices_of(index)
        return any(self._reaches_pool(each, slices) for each in index.imported_by(module)) and slices.may_lend(module)

    def linked(self, text: str, path: str, tree: ir.ModuleTree) -> Linked | None:
        """What the project adds to a file; its own tree gets the same names for the same things."""
        index, module = self._index.with_text(path, text)
        slices = self._slices_of(index)
        reached = any(self._reaches_pool(each, slices) for each in index.imported_by(module))
        if not reached and not slices.borrows(module):
            return None
        found = slices.of(module)
        if not found.names:
            return None
        linked = Linked()
        shadowed = _shadowed(module)
        for key in sorted(found.pieces, key=lambda each: found.modules[each].key):
            self._add(linked, index, found.modules[key], found.pieces[key], shadowed)
        linked.body = ir.Body(linked.body)
        linked.own = {f"{name}{MARK}{module.key}": name for name in sorted(found.own)}
        Renamer(lambda chain: _own_meaning(index, module, found, chain), None).statements(tree.body)
        return linked

    def _slices_of(self, index: Index) -> Slices:
        if index is not self._index:
            return Slices(index, _catalog(self._settings), self._settings)
        if index not in self._slices:
            self._slices[index] = Slices(index, _catalog(self._settings), self._settings)
        return self._slices[index]

    # What is asked first.

    def _reaches_pool(self, start: Module, slices: Slices) -> bool:
        """Whether there is a pool in a module, or in one that it leads to, whatever is imported of it."""
        if start.path in self._reaches:
            return self._reaches[start.path]
        seen: set[str] = set()
        todo = [start]
        while todo:
            module = todo.pop()
            if module.path in seen:
                continue
            seen.add(module.path)
            if self._reaches.get(module.path) or slices.has_pool(module):
                self._reaches[start.path] = True
                return True
            if module.path not in self._reaches:
                todo.extend(self._index.imported_by(module))
        self._reaches.update(dict.fromkeys(seen, False))
        return False

    # Linking.

    def _add(
        self, linked: Linked, index: Index, module: Module, pieces: Iterable[Piece], shadowed: frozenset[str]
    ) -> None:
        used: set[str] = set()
        for piece in sorted(pieces, key=lambda each: each.first):
            body, functions, classes = self._statements(index, module, piece, shadowed)
            linked.body += body
            linked.functions += functions
            linked.classes += classes
            linked.homes.update(dict.fromkeys((*functions, *classes), f"{MARK}{module.key}"))
            used.update(chain[0] for chain in piece.uses)
            if module.stub:
                linked.stubs.update(functions)
        linked.body.append(_imports(module, used))

    def _statements(self, index: Index, module: Module, piece: Piece, shadowed: frozenset[str]) -> _Parsed:
        key = (module.path, piece, shadowed)
        found = self._parsed.get(key)
        if found is None:
            from pool_lint.lower_ast import lower_ast  # noqa: PLC0415 - not where nothing is linked

            text = module.text_of(piece)
            try:
                tree = lower_ast(parse_quietly(text), text)
            except (SyntaxError, ValueError):
                return [], [], []  # as if it were not there
            Renamer(lambda chain: _meaning(index, module, chain), module.key, shadowed).statements(tree.body)
            tree.settle()
            found = tree.body, tree.functions, tree.classes
            if index is self._index:
                self._parsed[key] = found
        return found


def _meaning(index: Index, module: Module, chain: Chain) -> Meaning:
    """What a path read in a module stands for: a name of the project, or one that the module imports."""
    target = index.target(module, chain)
    if target is not None:
        return f"{target[1]}{MARK}{target[0].key}", target[2]
    if module.outline is not None and chain[0] in module.outline.imports:
        return f"{chain[0]}{MARK}{module.key}", 1
    return None


def _own_meaning(index: Index, module: Module, found: Slice, chain: Chain) -> Meaning:
    """What a path read in the checked file itself stands for, if it is one of the names that are linked."""
    target = index.target(module, chain)
    if target is None or target[0] is module or (target[0].path, target[1]) not in found.names:
        return None
    return f"{target[1]}{MARK}{target[0].key}", target[2]


def _shadowed(module: Module) -> frozenset[str]:
    """The builtins that a module gives a meaning of its own."""
    if module.outline is None:
        return frozenset()
    return BUILTINS.intersection((*module.outline.imports, *(n for each in module.outline.pieces for n in each.names)))


def _imports(module: Module, used: set[str]) -> ir.Stmt:
    """The imports of a module, under the names that its statements now read."""
    imports = module.outline.imports if module.outline is not None else {}
    return ir.Import(0, 0, [(imports[name], f"{name}{MARK}{module.key}") for name in sorted(used & imports.keys())])


def _cache_folder(settings: Settings) -> Path | None:
    if settings.cache_dir:
        return Path(settings.cache_dir) / "outlines"
    import platformdirs  # noqa: PLC0415 - not where a folder is named

    try:
        return Path(platformdirs.user_cache_dir("pool_lint", appauthor=False)) / "outlines"
    except (OSError, RuntimeError, KeyError):
        return None  # no home


def _catalog(settings: Settings) -> Catalog:
    catalog = load_catalog()
    return catalog.extended_with(settings.models) if settings.models else catalog


@cache
def project_of(settings: Settings) -> Project:
    """The project under some settings; its files are read once."""
    return Project(settings)


def forget_projects() -> None:
    """Forget what was read, so that changed files are seen."""
    project_of.cache_clear()
    roots_of.cache_clear()
