"""What limits how many connections a function of a file opens: counts, semaphores, other queues."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.walk import path_of, walk_expressions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pool_lint.bounds.keepers import Keeper, Keepers
    from pool_lint.bounds.scan import Body, Scope
    from pool_lint.pools.types import Types

ORDERING = frozenset(("<", "<=", ">", ">=", "==", "!="))
_COUNTING = frozenset(("len", "qsize", "sum", "size", "count"))
_COUNT_NAME = re.compile(r"(?:count|size|total|open|num|created)$|n_\w")
_SEMAPHORE_NAME = re.compile(r"sem|slots|permits|limiter|tokens|tickets|capacity")
_PUTTING = frozenset(("put", "put_nowait", "append", "appendleft", "release", "_release", "give_back"))


class Limits:
    """The functions of one file: who calls whom, and what each checks before it opens something."""

    def __init__(self, types: Types, keepers: Keepers, bodies: dict[Scope, Body]) -> None:
        self._types = types
        self._keepers = keepers
        self._bodies = bodies
        self._counted: set[str] = set()
        self._callers: dict[ir.Function, list[Body]] = {}
        self._callees: dict[Scope, list[ir.Function]] = {}
        for body in bodies.values():
            self._counted |= body.counted
            for call in body.calls:
                target = self.target(call, body.scope)
                if target is not None:
                    self._callers.setdefault(target, []).append(body)
                    self._callees.setdefault(body.scope, []).append(target)

    def target(self, call: ir.Call, scope: Scope) -> ir.Function | None:
        """The function of this file that a call runs."""
        kind = self._types.of(call.func, scope)
        return kind.function if kind is not None and kind.kind == "function" else None

    def callers(self, scope: Scope) -> list[Body]:
        """The functions that call a function."""
        return self._callers.get(scope, []) if scope is not None else []

    def callees(self, scope: Scope) -> list[Body]:
        """The functions of this file that a function calls."""
        return [self._bodies[each] for each in self._callees.get(scope, ()) if each in self._bodies]

    def around(self, body: Body) -> list[Body]:
        """A function, those that call it, and those that it calls."""
        return list(dict.fromkeys((body, *self.callers(body.scope), *self.callees(body.scope))))

    def limits_opening(self, keeper: Keeper, body: Body, created: list[ir.Call]) -> bool:
        """Whether a count, a semaphore or a second queue limits how many connections a function opens."""
        around = self.around(body)
        if any(self.counts(each, keeper) or self._waits_elsewhere(each, keeper) for each in around):
            return True
        family = [each for each in self._bodies.values() if _same_family(each, keeper, body)]
        return any(self.has_permits(each, created) for each in (*around, *family))

    def counts(self, body: Body, idle: Keeper | None = None) -> bool:
        """Whether a function compares a count with a limit, or waits until there is room.

        How many are ``idle`` limits what is kept, not what is opened.
        """
        for compare in body.compares:
            sides = [compare.left, *(right for _, right in compare.rights)]
            if idle is not None and any(self._is_length(side, idle, body) for side in sides):
                continue
            ordered = any(op in ORDERING for op, _ in compare.rights) and any(self._is_count(side) for side in sides)
            # `len(idle) > 0` asks only whether there is one
            if ordered and not any(isinstance(side, ir.Const) and side.value in (0, None) for side in sides):
                return True
        return any(
            isinstance(call.func, ir.Attr)
            and call.func.name in ("wait", "wait_for", "full")
            and (path := path_of(call.func.value)) is not None
            and str(path[0]) != "asyncio"
            and not _is_own_variable(path, body)
            for call in body.calls
        )

    def _is_length(self, expr: ir.Expr, keeper: Keeper, body: Body) -> bool:
        if not isinstance(expr, ir.Call):
            return False
        of = expr.args[0] if expr.args else expr.func.value if isinstance(expr.func, ir.Attr) else expr
        return self._is_count(expr) and self._keepers.at(of, body.scope) is keeper

    def _is_count(self, expr: ir.Expr) -> bool:
        if isinstance(expr, ir.Call):
            if isinstance(expr.func, ir.Name):
                return expr.func.id in _COUNTING
            return isinstance(expr.func, ir.Attr) and expr.func.name in _COUNTING
        if isinstance(expr, ir.Name):
            return expr.id in self._counted
        if isinstance(expr, ir.Attr):
            return expr.name in self._counted or bool(_COUNT_NAME.search(expr.name))
        return isinstance(expr, ir.Op) and any(self._is_count(part) for part in expr.parts)

    def _waits_elsewhere(self, body: Body, keeper: Keeper) -> bool:
        """Whether a function waits for something out of another container: a queue of permits."""
        return any(
            take.waits and take.body is body
            for other in self._keepers.all
            if other is not keeper
            for take in other.takes
        )

    def has_permits(self, body: Body, created: Iterable[ir.Call]) -> bool:
        """Whether a function takes a permit that stays taken while the connection is in use."""
        for call in body.calls:
            if (
                isinstance(call.func, ir.Attr)
                and call.func.name in ("acquire", "acquire_nowait")
                and self._is_semaphore(call.func.value, body.scope)
            ):
                return True
        wanted = {id(call) for call in created}
        for stmt in body.withs:
            if any(self._is_semaphore(item.context, body.scope) for item in stmt.items):
                inside = list(walk_expressions(stmt.body))
                lends = any(isinstance(expr, ir.Yield) for expr in inside)
                # A block that only opens limits how many are being opened, not how many are open.
                if lends or not any(id(expr) in wanted for expr in inside) or any(map(_puts_back, inside)):
                    return True
        return False

    def _is_semaphore(self, expr: ir.Expr, scope: Scope) -> bool:
        kind = self._types.of(expr, scope)
        if kind is not None:
            return kind.kind == "semaphore"
        path = path_of(expr)
        return path is not None and bool(_SEMAPHORE_NAME.search(str(path[-1]).lower()))


def _is_own_variable(path: Sequence[str | int], body: Body) -> bool:
    """Whether a path is a variable of a function: what is waited for is then what it took, a process say."""
    return len(path) == 1 and body.scope is not None and path[0] in body.scope.assigned


def _same_family(body: Body, keeper: Keeper, taker: Body) -> bool:
    """Whether a function belongs to the pool: to its class, or to the functions of its module."""
    scope = body.scope
    while scope is not None and scope.owner is None:
        scope = scope.parent
    owner = scope.owner if scope is not None else None
    if owner is None:
        return keeper.owner is None and body.scope is not None
    return keeper.owner is not None and (owner is keeper.owner or owner is (taker.scope and taker.scope.owner))


def _puts_back(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr) and expr.func.name in _PUTTING
