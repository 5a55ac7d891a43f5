"""Pools of unseen type, recognised by a pair of methods that only pools have."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.catalog.spec import BorrowForm, PoolSpec, ReleaseForm
from pool_lint.pools.linked import plain
from pool_lint.walk import names_read, path_of, walk_expressions, walk_statements
from pool_lint.words import PAIRS

if TYPE_CHECKING:
    from pool_lint.pools.types import Types

_WAYS_CALL = frozenset(("call",))
_WAYS_AWAIT = frozenset(("await", "async with", "with"))


@dataclass(slots=True, eq=False)
class _Seen:
    borrows: dict[str, bool] = field(default_factory=dict)
    releases: dict[str, int] = field(default_factory=dict)
    asked_by: set[str] = field(default_factory=set)
    released: set[str] = field(default_factory=set)
    kept: bool = False


class DuckPools:
    """The receivers of a file on which it uses a borrow and return pair, by the last part of their names."""

    def __init__(self, tree: ir.ModuleTree, types: Types) -> None:
        self._types = types
        self._seen: dict[str, _Seen] = defaultdict(_Seen)
        self._specs: dict[str, PoolSpec | None] = {}
        for scope in (None, *tree.functions):
            self._scan(tree.body if scope is None else scope.body, scope)

    def spec(self, expr: ir.Expr) -> PoolSpec | None:
        """The pool that an expression of unknown type is taken to be."""
        name = receiver_name(expr)
        if not name or name not in self._seen:
            return None
        if name not in self._specs:
            self._specs[name] = self._make(self._seen[name])
        return self._specs[name]

    def _scan(self, body: list[ir.Stmt], scope: ir.Function | None) -> None:
        awaited = {id(expr.value) for expr in walk_expressions(body) if isinstance(expr, ir.Await)}
        thrown_away = {
            id(stmt.value.value if isinstance(stmt.value, ir.Await) else stmt.value)
            for stmt in walk_statements(body)
            if isinstance(stmt, ir.ExprStmt)
        }
        awaited |= {
            id(item.context)
            for stmt in walk_statements(body)
            if isinstance(stmt, ir.With) and stmt.is_async
            for item in stmt.items
        }
        for expr in walk_expressions(body):
            if not isinstance(expr, ir.Call) or not isinstance(expr.func, ir.Attr):
                continue
            method = expr.func.name
            if method not in _INTERESTING:
                continue
            name = receiver_name(expr.func.value)
            if not name or _LOCK.search(name):
                continue
            kind = self._types.of(expr.func.value, scope)
            if kind is not None and kind.kind not in ("external_instance", "many") and not self._types.is_unseen(kind):
                continue
            seen = self._seen[name]
            if method in PAIRS:
                waited = id(expr) in awaited or any(
                    isinstance(outer, ir.Call)
                    and self._types.dotted(outer.func) in ("asyncio.wait_for", "asyncio.shield")
                    and any(arg is expr for arg in outer.args)
                    for outer in walk_expressions(body)
                )
                seen.borrows[method] = seen.borrows.get(method, False) or waited
                seen.asked_by.update(text for arg in expr.args if (text := _text(arg)))
                seen.kept = seen.kept or id(expr) not in thrown_away
            if method in _RELEASES:
                position = next((index for index, arg in enumerate(expr.args) if _is_object(arg)), -1)
                if position >= 0:
                    seen.releases.setdefault(method, position)
                    seen.released.add(_text(expr.args[position]))

    @staticmethod
    def _make(seen: _Seen) -> PoolSpec | None:
        borrows = [
            BorrowForm(method, _WAYS_AWAIT if waited else _WAYS_CALL)
            for method, waited in seen.borrows.items()
            if PAIRS[method] & seen.releases.keys()
        ]
        if not borrows or not seen.kept or seen.asked_by & seen.released - {""}:
            # A permit for a key: `limiter.acquire(tenant)` and `limiter.release(tenant)` hand out no object.
            return None
        wanted = {release for form in borrows for release in PAIRS[form.method]}
        releases = tuple(
            ReleaseForm(method, "pool", position) for method, position in seen.releases.items() if method in wanted
        )
        item = "connection" if re.search("conn", borrows[0].method) else "object"
        return PoolSpec(
            id="unseen",
            library="",
            classes=(),
            item=item,
            borrows=tuple(borrows),
            releases=releases,
            remedy=f"use try/finally with '{{pool}}.{releases[0].method}(...)'",
            derives=frozenset(("cursor",)),
        )


# Locks and semaphores hand out no object, even where release() takes a number.
_LOCK = re.compile(r"(?:^|_)(?:r?lock|sem|semaphore|mutex|cond|condition|limiter|throttle)s?\d*$")


def receiver_name(expr: ir.Expr) -> str:
    """The last name of a receiver, without underscores: ``pool`` for ``self._pool``, ``app["pool"]`` and ``POOL``."""
    if isinstance(expr, ir.Name):
        return plain(expr.id).strip("_").lower()
    if isinstance(expr, ir.Attr):
        return expr.name.strip("_").lower()
    if isinstance(expr, ir.Sub):
        index = expr.index
        if isinstance(index, ir.Const) and isinstance(index.value, str):
            return index.value.strip("_").lower()
        if isinstance(index, ir.Name):
            return index.id.strip("_").lower()
        return receiver_name(expr.value)
    return ""


def _text(arg: ir.Expr) -> str:
    path = path_of(arg)
    return "".join(path) if path is not None else ""


def _is_object(arg: ir.Expr) -> bool:
    return not isinstance(arg, (ir.Const, ir.Star)) and bool(names_read(arg))


_RELEASES = frozenset(release for releases in PAIRS.values() for release in releases)
_INTERESTING = _RELEASES | PAIRS.keys()
