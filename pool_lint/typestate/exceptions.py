"""Which exceptions a handler stops: builtins, the project's own classes, the catalog's libraries, cancellation."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Literal

from pool_lint import ir
from pool_lint.typestate.state import ANY, CANCELLED, EXIT, LIBRARY, OWN, THROWN

if TYPE_CHECKING:
    from pool_lint.catalog.spec import Catalog, PoolSpec
    from pool_lint.pools.types import Types

Match = Literal["yes", "no", "maybe"]

_CANCELLING = frozenset(("CancelledError", "Cancelled", "get_cancelled_exc_class", "GreenletExit"))
_LEAVING = frozenset(("SystemExit", "KeyboardInterrupt"))


class Exceptions:
    """The exception types of one file."""

    def __init__(self, types: Types, catalog: Catalog) -> None:
        self._types = types
        self._catalog = catalog
        self._chains: dict[str, tuple[str, ...] | None] = {}

    def names(self, expr: ir.Expr | None, scope: ir.Function | None, depth: int = 0) -> tuple[str, ...]:
        """The dotted names of the types that a handler names; a bare ``except`` is BaseException."""
        if expr is None:
            return ("BaseException",)
        if isinstance(expr, ir.Seq):
            return tuple(name for item in expr.items for name in self.names(item, scope, depth))
        if isinstance(expr, ir.Star):
            return self.names(expr.value, scope, depth)
        if isinstance(expr, ir.Call):
            return self.names(expr.func, scope, depth)
        if isinstance(expr, ir.Op) and depth < _DEEPEST:
            return tuple(name for part in expr.parts for name in self.names(part, scope, depth + 1))
        if isinstance(expr, ir.Name) and depth < _DEEPEST:
            bindings, _ = self._types.bindings(expr.id, scope)
            values = [binding.expr for binding in bindings if binding.how == "value" and binding.expr is not None]
            if len(values) == 1 and not any(binding.how in ("class", "import") for binding in bindings):
                return self.names(values[0], scope, depth + 1)
        dotted = self._types.dotted(expr)
        return (dotted or "?",)

    def kind_of(self, name: str) -> str:
        """What kind of exception ``raise NAME`` sends on its way."""
        last = name.rpartition(".")[2]
        if last in _LEAVING:
            return EXIT
        if last in _CANCELLING:
            return CANCELLED
        if last == "GeneratorExit":
            return THROWN
        return name or ANY

    def match(self, names: tuple[str, ...], kind: str, spec: PoolSpec | None) -> Match:
        """Whether a handler of these types stops an exception of a kind."""
        kind = kind.removeprefix(OWN)
        lasts = {name.rpartition(".")[2] for name in names}
        if "BaseException" in lasts:
            return "yes"
        if kind == CANCELLED and "cancel scope" in names:
            return "maybe"
        if kind == CANCELLED:
            return "yes" if lasts & _CANCELLING else "maybe" if "Timeout" in lasts else "no"
        if kind == THROWN:
            return "yes" if "GeneratorExit" in lasts else "no"
        if kind == EXIT:
            return "yes" if lasts & _LEAVING else "no"
        if "cancel scope" in names:
            return "no"
        if "Exception" in lasts or "?" in names:
            return "yes" if "Exception" in lasts else "maybe"
        if kind == ANY:
            return "no" if lasts <= _NEVER_ANY else "maybe"
        if kind == LIBRARY:
            return self._library(names, spec)
        return self._named(names, kind)

    def _library(self, names: tuple[str, ...], spec: PoolSpec | None) -> Match:
        if spec is None or not spec.errors:
            return "maybe"
        if self._catalog.covers(names, spec):
            return "yes"
        related = any(
            self._catalog.catches(name, error) or self._catalog.catches(error, name)
            for name in names
            for error in spec.errors
        )
        if related:
            return "maybe"
        # A class of the project may derive from the library's error.
        for name in names:
            chain = self.chain(name)
            if chain is None or any(self._catalog.catches(error, each) for each in chain for error in spec.errors):
                return "maybe" if chain is not None or "." in name else "no"
        return "no"

    def _named(self, names: tuple[str, ...], kind: str) -> Match:
        chain = self.chain(kind)
        if chain is not None:
            if any(name in chain or self._catalog.canonical_error(name) in chain for name in names):
                return "yes"
            last = {each.rpartition(".")[2] for each in chain}
            if any(name.rpartition(".")[2] in last for name in names):
                return "yes"
            return "no"
        if kind in names:
            return "yes"
        return "maybe"

    def chain(self, name: str) -> tuple[str, ...] | None:
        """A class and its bases, nearest first; None where some base is unknown."""
        if name not in self._chains:
            self._chains[name] = self._chain(name, 0)
        return self._chains[name]

    def _chain(self, name: str, depth: int) -> tuple[str, ...] | None:
        if depth > _DEEPEST:
            return None
        found = getattr(builtins, name, None)
        if isinstance(found, type) and issubclass(found, BaseException):
            return (name, *(base.__name__ for base in found.__mro__ if issubclass(base, BaseException)))
        klass = self._types.classes.get(name)
        if klass is not None and name not in self._types.imports:
            chain = [name]
            for base in klass.bases:
                inner = self._chain(self._types.dotted(base), depth + 1)
                if inner is None:
                    return None
                chain.extend(inner)
            return tuple(chain)
        chain = [name]
        current = self._catalog.canonical_error(name)
        while current:
            chain.append(current)
            parent = self._catalog.error_parents.get(current)
            if parent is None:
                inner = self._chain(current, _DEEPEST) if current != name and hasattr(builtins, current) else None
                return (*chain, *inner) if inner is not None else None
            current = self._catalog.canonical_error(parent)
        return None


_DEEPEST = 6
_NEVER_ANY = _CANCELLING | _LEAVING | {"GeneratorExit"}
