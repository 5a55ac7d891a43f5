"""Cut from the modules of a project what may matter to a file: what lends, takes back or is a pool, and what it needs.

What a file imports is followed statement by statement, never module by module: a program's models import its database
and its views import its models, so that whole modules would soon be the whole program.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint.prefilter import may_have_findings
from pool_lint.prefilter.known import known
from pool_lint.prefilter.loans import uses_pair
from pool_lint.prefilter.text import imported_words
from pool_lint.project.outline import DISPLAY, Chain, Piece
from pool_lint.project.uses import STORES
from pool_lint.words import BORROWING, PAIRS, RETURNING

if TYPE_CHECKING:
    from pool_lint.catalog.spec import Catalog, PoolSpec
    from pool_lint.config import Settings
    from pool_lint.project.index import Index, Module

Where = tuple[str, str]  # a module's file and a name bound in it

_LENDERS = frozenset(("@contextmanager", "@asynccontextmanager", "__enter__", "__aenter__"))
# What is taken by one of the first is given back by one of the second.
_QUEUES = frozenset(("get", "get_nowait")), frozenset(("put", "put_nowait"))
_LISTS = (
    frozenset(("pop", "popleft", "popitem", "heappop")),
    frozenset(("append", "appendleft", "add", "insert", "heappush", "setdefault", STORES)),
)
_TAKES = _QUEUES[0] | _LISTS[0]
_RELEASES = frozenset((*(each for releases in PAIRS.values() for each in releases), "close", "aclose"))
_NEAR = 2  # calls between a file and what gives an object back for it
_MOST_PIECES = 300
_MOST_LINES = 6_000
_NESTED = 2  # classes
# How many names a search may meet before it is given up: in generated code everything leads to everything.
_MOST_NAMES = 4_000
_MOST_OF_A_CLASS = 400  # lines
_SHORT = 80  # lines of a helper beside what matters


@dataclass(frozen=True, slots=True)
class Interest:
    """What a name leads to: ``words`` by which one borrows from it, and whether calling it borrows ``directly``."""

    words: frozenset[str]
    directly: bool


@dataclass(slots=True, eq=False)
class Slice:
    """Pieces of modules, in the order of their lines; ``names``: what they bind; ``own``: names of the file itself."""

    pieces: dict[str, set[Piece]] = field(default_factory=dict)
    modules: dict[str, Module] = field(default_factory=dict)
    names: set[Where] = field(default_factory=set)
    own: set[str] = field(default_factory=set)


class Slices:
    """Slices of one index under one catalog; what has been found out of a name is remembered."""

    def __init__(self, index: Index, catalog: Catalog, settings: Settings) -> None:
        self._index = index
        self._settings = settings
        self._passed: dict[Module, bool] = {}
        tables = (catalog.by_class, catalog.by_factory, catalog.by_registry, catalog.by_member, catalog.by_function)
        self._specs = {name: spec for table in tables for name, spec in table.items()}
        self._containers = frozenset((DISPLAY, *(name.rpartition(".")[2] for name in catalog.by_container)))
        self._pairs: dict[str, bool] = {}
        self._interests: dict[Where, Interest | None] = {}
        self._barren: set[Where] = set()
        self._steps: dict[Where, tuple[Interest | None, list[tuple[Where, bool]]]] = {}

    def may_lend(self, module: Module) -> bool:
        """Whether a module may borrow from something that it imports from the project."""
        used = frozenset[str]().union(
            *(piece.attributes for piece in module.outline.pieces) if module.outline is not None else ()
        )
        found = (self._interest(where) for where in self._imported_names(module))
        return any(each is not None and (each.directly or bool(each.words & used)) for each in found)

    def has_pool(self, module: Module) -> bool:
        """Whether some statement of a module makes a pool or lends from one."""
        return (
            self._has_words(module.text)
            and module.outline is not None
            and any(self._lends(module, piece) is not None for piece in module.outline.pieces)
        )

    def of(self, module: Module) -> Slice:
        """What matters to a module of all that it imports, in a fixed order and up to a fixed size."""
        found = Slice()
        if not self.borrows(module) and not self.may_lend(module):
            return found
        todo = [where for where in self._imported_names(module) if self._matters(where)]
        todo += [where for where in self._pooled(module) if where not in todo]
        lines = count = 0
        while todo:
            path, name = todo.pop(0)
            if path == module.path:
                found.own.add(name)
                continue
            if (path, name) in found.names:
                continue
            inner = self._index.module(path)
            if inner is None:
                continue
            new = [piece for piece in self._needed(inner, name) if piece not in found.pieces.get(path, ())]
            lines += sum(piece.last - piece.first + 1 for piece in new)
            count += len(new)
            if lines > _MOST_LINES or count > _MOST_PIECES:
                break
            found.names.add((path, name))
            found.modules[path] = inner
            for piece in new:
                found.pieces.setdefault(path, set()).add(piece)
                found.names.update((path, each) for each in piece.names)
                todo.extend((path, each) for each in piece.names if each != name and len(inner.pieces_of(each)) > 1)
                todo.extend(self._uses(inner, piece))
        return found

    def _imported_names(self, module: Module) -> list[Where]:
        if module.outline is None:
            return []
        out: dict[Where, None] = {}
        for chain in sorted({chain for piece in module.outline.pieces for chain in piece.uses}):
            target = self._index.target(module, chain)
            if target is not None and target[0].path != module.path and not self._known(module, chain):
                out[target[0].path, target[1]] = None
        return list(out)

    def _needed(self, module: Module, name: str) -> list[Piece]:
        """The statements that bind a name and, of a container, those that use it: they are the evidence of a pool."""
        pieces = list(module.pieces_of(name))
        if any(piece.makes in self._containers for piece in pieces):
            pieces += [piece for piece in module.users_of(name) if piece not in pieces]
        return pieces

    def _uses(self, module: Module, piece: Piece) -> list[Where]:
        """What a statement needs: what matters, and what is short of its own module."""
        out: dict[Where, None] = {}
        for chain in piece.uses:
            target = self._index.target(module, chain)
            if target is None or self._known(module, chain):
                continue
            where = target[0].path, target[1]
            near = target[0] is module and all(each.last - each.first < _SHORT for each in module.pieces_of(target[1]))
            if near or self._matters(where) or (self._is_homemade(module, piece) and self._is_class(where)):
                out[where] = None
        return list(out)

    def _pooled(self, module: Module) -> list[Where]:
        """The classes of other modules that the pools of a module may be made of."""
        out: dict[Where, None] = {}
        for piece in module.outline.pieces if module.outline is not None else ():
            for chain in piece.uses if self._is_homemade(module, piece) else ():
                target = self._index.target(module, chain)
                if target is not None and target[0] is not module and self._is_class((target[0].path, target[1])):
                    out[target[0].path, target[1]] = None
        return list(out)

    def _is_class(self, where: Where) -> bool:
        module = self._index.module(where[0])
        pieces = module.pieces_of(where[1]) if module is not None else ()
        return any(piece.is_class and piece.last - piece.first < _MOST_OF_A_CLASS for piece in pieces)

    def _matters(self, where: Where) -> bool:
        return self._interest(where) is not None or self._takes_back(where, _NEAR)

    def _takes_back(self, where: Where, depth: int) -> bool:
        """Whether a name is, near by, a function that ends a loan or something that has the same words."""
        module = self._index.module(where[0])
        for piece in module.pieces_of(where[1]) if module is not None and depth > 0 else ():
            assert module is not None
            if not piece.inside or piece.last - piece.first >= _SHORT:
                continue
            if piece.attributes & _RELEASES:
                return True
            targets = (self._index.target(module, chain) for chain in piece.uses)
            if any(self._takes_back((each[0].path, each[1]), depth - 1) for each in targets if each is not None):
                return True
        return False

    # Where a name leads to.

    def _interest(self, where: Where) -> Interest | None:
        """What can be borrowed by a name; it does not depend on what was asked before.

        A pool is looked for a few classes deep, each of which keeps the next in an attribute.
        """
        if where not in self._interests:
            self._interests[where] = self._look(where)
        return self._interests[where]

    def _is_barren(self, start: Where) -> bool:
        """Whether no pool is reached from a name, however deep: then none is from any name on the way either."""
        met = {start}
        todo = [start]
        while todo:
            where = todo.pop()
            found, ways = self._step(where)
            if found is not None:
                return False
            for inner, _ in ways:
                if inner not in met and inner not in self._barren:
                    met.add(inner)
                    todo.append(inner)
        self._barren |= met
        return True

    def _look(self, start: Where) -> Interest | None:
        if start in self._barren or self._is_barren(start):
            return None
        reached: dict[Where, int] = {}
        leads: dict[Where, set[Where]] = {}
        own: dict[Where, Interest] = {}
        todo = [(start, _NESTED)]
        while todo and len(reached) <= _MOST_NAMES:
            where, left = todo.pop()
            if reached.get(where, -1) >= left:
                continue
            reached[where] = left
            found, ways = self._step(where)
            if found is not None:
                own[where] = found
            for inner, nested in ways:
                after = left - 1 if nested else left
                if after >= 0 and inner not in self._barren:
                    leads.setdefault(inner, set()).add(where)
                    if reached.get(inner, -1) < after:
                        todo.append((inner, after))
        return self._gathered(start, own, leads)

    def _step(self, where: Where) -> tuple[Interest | None, list[tuple[Where, bool]]]:
        """What a name lends by itself, and where it leads to: each with whether that is out of a class."""
        known = self._steps.get(where)
        if known is not None:
            return known
        found: Interest | None = None
        ways: dict[tuple[Where, bool], None] = {}
        module = self._index.module(where[0])
        for piece in self._needed(module, where[1]) if module is not None else ():
            assert module is not None
            lent = self._lends(module, piece)
            if lent is not None:
                found = _joined(found, lent)
            for chain in piece.flows:
                target = self._index.target(module, chain) if not chain[0].startswith(".") else None
                if target is not None:
                    ways[(target[0].path, target[1]), piece.is_class] = None
        self._steps[where] = found, list(ways)
        return self._steps[where]

    def _gathered(self, start: Where, own: dict[Where, Interest], leads: dict[Where, set[Where]]) -> Interest | None:
        """The interest of a name: of the pools that were found, and of what lies on the way to them."""
        on_the_way: set[Where] = set()
        todo = list(own)
        while todo:
            where = todo.pop()
            if where not in on_the_way:
                on_the_way.add(where)
                todo.extend(leads.get(where, ()))
        if start not in on_the_way:
            return None
        words: set[str] = set()
        directly = False
        for where in on_the_way:
            found = own.get(where)
            if found is not None:
                words |= found.words
                directly = directly or found.directly
            module = self._index.module(where[0])
            for piece in module.pieces_of(where[1]) if module is not None else ():
                words |= piece.givers
                if piece.is_function:
                    directly = directly or any(chain[0].startswith(".") for chain in piece.flows)
        return Interest(frozenset(words), directly)

    def _lends(self, module: Module, piece: Piece) -> Interest | None:
        """What a statement lends by itself: as a pool that it makes, or from one."""
        words: set[str] = set()
        found = directly = False
        for chain in piece.flows:
            spec = self._known(module, chain)
            if spec is not None and (spec.borrows or spec.function_borrows):
                methods = {form.method for form in spec.borrows}
                words |= methods
                found = True
                directly = directly or bool(spec.function_borrows) or not methods.isdisjoint(("__init__", "__call__"))
        marks = {chain[0][1:] for chain in piece.flows if chain[0].startswith(".")}
        if marks & PAIRS.keys() and self._has_pair(module):
            words |= marks & PAIRS.keys()
            found = True
        if self._is_homemade(module, piece):
            words.update(name for name in piece.inside if BORROWING.match(name))
            words |= _TAKES if piece.makes else frozenset()
            found = True
        # What the filter of texts rules out has no pool in it, whatever it looks like from here; it is asked last.
        return Interest(frozenset(words), directly) if found and self._passes(module) else None

    def _has_words(self, text: str) -> bool:
        """Whether a text has the words of a pool: a look that costs microseconds."""
        return (
            not known(self._settings).packages.isdisjoint(imported_words(text))
            or uses_pair(text)
            or any(
                any(f".{word}" in text for word in takes) and any(f".{word}" in text for word in puts)
                for takes, puts in (_QUEUES, (_LISTS[0], _LISTS[1] - {STORES}))
            )
            or (any(f".{word}" in text for word in _LISTS[0]) and "] = " in text)
        )

    def _passes(self, module: Module) -> bool:
        if module.outline is not None and (module.outline.passes or not self._settings.models):
            return module.outline.passes
        if module not in self._passed:
            self._passed[module] = may_have_findings(module.text, self._settings)
        return self._passed[module]

    def _is_homemade(self, module: Module, piece: Piece) -> bool:
        """Whether a statement is a container, or a class with one, that objects are taken from and given back to."""
        if piece.makes in self._containers:
            # What takes from a container of a module's own and what puts into it are other statements.
            users = (user.attributes for name in piece.names for user in module.users_of(name))
            return _takes_and_puts(frozenset[str]().union(*users))
        if not _takes_and_puts(piece.attributes):
            return False
        names = (*piece.inside, *piece.names)
        if any(name in _LENDERS or "pool" in name.lower() for name in names):
            return True
        return any(map(RETURNING.match, names)) and any(map(BORROWING.match, names))

    def borrows(self, module: Module) -> bool:
        """Whether a module itself has a pool in it."""
        return module.outline is not None and (
            self._has_pair(module)
            or any(
                self._is_homemade(module, piece) or any(self._known(module, chain) for chain in piece.uses)
                for piece in module.outline.pieces
            )
        )

    def _has_pair(self, module: Module) -> bool:
        """Whether a module uses a borrow method and a return method that belong together."""
        if module.path not in self._pairs:
            used = frozenset[str]().union(
                *(piece.attributes for piece in module.outline.pieces) if module.outline is not None else ()
            )
            self._pairs[module.path] = any(name in used and used & PAIRS[name] for name in PAIRS)
        return self._pairs[module.path]

    def _known(self, module: Module, chain: Chain) -> PoolSpec | None:
        """The pool of a library or of a user's model that a path is, or begins with."""
        dotted = module.outline.imports.get(chain[0], ".") if module.outline is not None else "."
        if dotted.startswith("."):
            return None
        parts = (*dotted.split("."), *chain[1:])
        found = (self._specs.get(".".join(parts[:length])) for length in range(1, len(parts) + 1))
        return next((spec for spec in found if spec is not None), None)


def _joined(one: Interest | None, other: Interest) -> Interest:
    return other if one is None else Interest(one.words | other.words, one.directly or other.directly)


def _takes_and_puts(attributes: frozenset[str]) -> bool:
    return any(attributes & takes and attributes & puts for takes, puts in (_QUEUES, _LISTS))
