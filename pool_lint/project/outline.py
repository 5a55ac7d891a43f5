"""Outline a module: which names its statements bind and use, and from where it imports.

An outline says nothing that depends on another file, so it can be kept under the hash of the module's text alone.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass

from pool_lint.config import Settings
from pool_lint.prefilter import may_have_findings
from pool_lint.project.flows import flows_of
from pool_lint.project.uses import Uses, own_nodes

Chain = tuple[str, ...]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
DISPLAY = "[]"
CLASS, FUNCTION = "class", "function"


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement of a module's top level that is no import.

    ``first`` and ``last``: its lines.  ``names``: what it binds, ``uses``: the dotted paths that it reads, rooted at
    names that are not its own.  ``attributes``: the attributes that it reads or calls, and ``STORES`` where it stores
    into an item.  ``inside``: the functions in it, and the decorators of all.  ``makes``: for a plain assignment
    the name that it calls, or ``DISPLAY``.  ``flows``: the paths whose values or types an importer may get from it,
    and the methods, as ``(".acquire",)``, by which it comes by what it gives.  ``givers``: its methods that give
    something so.
    """

    first: int
    last: int
    names: tuple[str, ...]
    uses: tuple[Chain, ...]
    attributes: frozenset[str]
    inside: frozenset[str] = frozenset()
    makes: str = ""
    flows: tuple[Chain, ...] = ()
    givers: frozenset[str] = frozenset()
    kind: str = ""

    @property
    def is_class(self) -> bool:
        """Whether it is a class."""
        return self.kind == CLASS

    @property
    def is_function(self) -> bool:
        """Whether it is a function."""
        return self.kind == FUNCTION


@dataclass(frozen=True, slots=True)
class Outline:
    """A module's statements, and what each imported name stands for (``.db.pool``: with the dots of its import).

    ``passes``: whether the filter of texts lets it through where no pools of a user's own are described.
    """

    pieces: tuple[Piece, ...]
    imports: dict[str, str]
    stars: tuple[str, ...] = ()
    passes: bool = False


def outline_of(text: str) -> Outline | None:
    """Return the outline of a module; None where this interpreter cannot parse it, or it is nested too deeply."""
    try:
        tree = parse_quietly(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    try:
        return _Reader().outline(tree, passes=may_have_findings(text, Settings(), tree))
    except RecursionError:
        return None


def parse_quietly(text: str) -> ast.Module:
    """Return a text parsed by Python, without its warnings of odd escapes and the like."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


class _Reader:
    """Reads one module."""

    def __init__(self) -> None:
        self.imports: dict[str, str] = {}
        self.stars: list[str] = []
        self.unclear: set[str] = set()

    def outline(self, tree: ast.Module, *, passes: bool) -> Outline:
        for imported, inside in _imports_in(tree):
            self._import(imported, inside=inside)
        for name in self.unclear:
            del self.imports[name]
        pieces: list[Piece] = []
        for stmt in tree.body:
            if isinstance(stmt, _IMPORTS):
                continue
            piece = _piece(stmt)
            if pieces and piece.first <= pieces[-1].last:
                pieces[-1] = _joined(pieces[-1], piece)
            else:
                pieces.append(piece)
        return Outline(tuple(pieces), self.imports, tuple(self.stars), passes)

    def _import(self, stmt: ast.stmt, *, inside: bool) -> None:
        """Note an import; those ``inside`` functions mean the same everywhere, where they all mean one thing."""
        if isinstance(stmt, ast.Import):
            for alias in stmt.names:
                top = alias.name.partition(".")[0]
                self._bind(alias.asname or top, alias.name if alias.asname else top, inside=inside)
        elif isinstance(stmt, ast.ImportFrom):
            base = "." * stmt.level + (stmt.module or "")
            joint = "" if base.endswith(".") else "."
            for alias in stmt.names:
                if alias.name == "*":
                    if base not in self.stars:
                        self.stars.append(base)
                else:
                    self._bind(alias.asname or alias.name, f"{base}{joint}{alias.name}", inside=inside)

    def _bind(self, name: str, dotted: str, *, inside: bool) -> None:
        if self.imports.setdefault(name, dotted) != dotted and inside:
            self.unclear.add(name)


_IMPORTS = (ast.Import, ast.ImportFrom)


def _imports_in(tree: ast.Module) -> list[tuple[ast.stmt, bool]]:
    """The imports of a module, and whether each stands in a function; those first that do not."""
    found: list[tuple[ast.stmt, bool]] = []
    stack: list[tuple[ast.AST, bool]] = [(stmt, False) for stmt in reversed(tree.body)]
    while stack:
        node, inside = stack.pop()
        if isinstance(node, _IMPORTS):
            found.append((node, inside))
        elif not isinstance(node, ast.expr):
            inside = inside or isinstance(node, _FUNCTIONS)
            stack.extend((child, inside) for child in reversed(list(ast.iter_child_nodes(node))))
    return sorted(found, key=lambda each: each[1])


def _piece(stmt: ast.stmt) -> Piece:
    decorators = getattr(stmt, "decorator_list", [])
    reading = Uses()
    reading.visit(stmt, frozenset())
    return Piece(
        min([stmt.lineno, *(each.lineno for each in decorators)]),
        stmt.end_lineno or stmt.lineno,
        tuple(sorted(_bound(stmt) | reading.shared)),
        tuple(sorted(reading.chains)),
        frozenset(reading.attributes),
        frozenset(reading.inside),
        _made(stmt),
        *flows_of(stmt, stores_globals=bool(reading.shared)),
        CLASS if isinstance(stmt, ast.ClassDef) else FUNCTION if isinstance(stmt, _FUNCTIONS) else "",
    )


def _joined(one: Piece, other: Piece) -> Piece:
    """Two statements of one line."""
    return Piece(
        one.first,
        max(one.last, other.last),
        tuple(sorted({*one.names, *other.names})),
        tuple(sorted({*one.uses, *other.uses})),
        one.attributes | other.attributes,
        one.inside | other.inside,
        one.makes or other.makes,
        tuple(sorted({*one.flows, *other.flows})),
        one.givers | other.givers,
    )


def _made(stmt: ast.stmt) -> str:
    value = stmt.value if isinstance(stmt, (ast.Assign, ast.AnnAssign)) else None
    if isinstance(value, _DISPLAYS):
        return DISPLAY
    if isinstance(value, ast.Call):
        func = value.func
        return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    return ""


def _bound(stmt: ast.stmt) -> set[str]:
    """The names that a statement gives the module itself, not by a function in it."""
    if isinstance(stmt, (*_FUNCTIONS, ast.ClassDef)):
        return {stmt.name}
    names = {node.id for node in own_nodes(stmt) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names.update(node.name for node in own_nodes(stmt) if isinstance(node, (*_FUNCTIONS, ast.ClassDef)))
    return names
