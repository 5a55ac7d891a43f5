"""Functions under a cache that return connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.bounds.faults import Dropped, Unbounded
from pool_lint.bounds.keys import is_self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.bounds.connections import Connections
    from pool_lint.bounds.keys import Keys
    from pool_lint.bounds.scan import Body, Scope
    from pool_lint.bounds.values import Values
    from pool_lint.catalog.spec import Catalog

_BY_CACHE = frozenset(("cachetools.cached", "cachetools.cachedmethod"))


class Memoised:
    """Judges the decorated functions of one file."""

    def __init__(self, catalog: Catalog, connections: Connections, values: Values, keys: Keys) -> None:
        self._catalog = catalog
        self._connections = connections
        self._values = values
        self._keys = keys

    def faults(self, bodies: dict[Scope, Body]) -> Iterator[Unbounded | Dropped]:
        """Yield the faults of all functions."""
        for function, body in bodies.items():
            for decorator in function.decorators if function is not None else ():
                assert function is not None
                func = decorator.func if isinstance(decorator, ir.Call) else decorator
                dotted = self._connections.called(func, function.parent)
                if dotted in self._catalog.memoizers:
                    fault = self._fault(function, body, decorator, dotted)
                    if fault is not None:
                        yield fault

    def _fault(self, function: ir.Function, body: Body, decorator: ir.Expr, dotted: str) -> Unbounded | Dropped | None:
        opens = self._connections.returned(function)
        if not opens or not any(self._is_open(param, function, body) for param in function.params):
            return None
        if dotted in _BY_CACHE:
            return self._by_cache(function, decorator, opens)
        last = dotted.rpartition(".")[2]
        keeps_all = dotted == "functools.cache"
        if isinstance(decorator, ir.Call):
            size = self._values.argument(decorator, "maxsize", 0, function.parent)
            no_size = size.how == "given" and self._values.of(size.expr, size.scope) is None
            keeps_all = keeps_all or (no_size and not last.startswith("ttl"))
        return _made(function, decorator, last, opens, keeps_all=keeps_all)

    def _by_cache(self, function: ir.Function, decorator: ir.Expr, opens: str) -> Unbounded | Dropped | None:
        """The fault of a decorator that is given what it keeps the results in."""
        if not isinstance(decorator, ir.Call):
            return None
        cache = self._values.argument(decorator, "cache", 0, function.parent)
        if isinstance(cache.expr, ir.DictLit):
            return _made(function, decorator, "", opens, keeps_all=True)
        made = self._values.call_behind(cache.expr, cache.scope) if cache.how == "given" else None
        if made is None:
            return None
        dotted = self._connections.called(made[0].func, made[1])
        if dotted not in self._catalog.dropping:
            return None
        return _made(function, made[0], dotted.rpartition(".")[2], opens, keeps_all=False)

    def _is_open(self, param: ir.Param, function: ir.Function, body: Body) -> bool:
        return not is_self(param.name, function) and self._keys.is_open_param(None, param.name, body)


def _made(function: ir.Function, at: ir.Expr, kind: str, opens: str, *, keeps_all: bool) -> Unbounded | Dropped:
    if keeps_all:
        return Unbounded(at.line, at.col, "arguments", function.name, opens)
    return Dropped(at.line, at.col, f"'{function.name}' is under {kind}, which drops", opens)
