"""Which calls of a function can run on a path on which nothing was taken from a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pool_lint import ir
from pool_lint.walk import children, path_of, statement_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# How a take ends: it waits until it has one; it raises where there is none; it gives None where there is none.
How = Literal["waits", "raises", "none"]
States = frozenset[bool]  # whether something was taken: both on different paths

_NOTHING: States = frozenset()
_NOT_TAKEN: States = frozenset((False,))
_TAKEN: States = frozenset((True,))
_EMPTY = frozenset(("Empty", "QueueEmpty", "IndexError", "KeyError", "LookupError"))
_BROAD = frozenset(("Exception", "BaseException"))


class EmptyPaths:
    """Follows one function; ``reached`` are those of ``creates`` that run on a path that took nothing."""

    def __init__(self, body: Sequence[ir.Stmt], takes: Mapping[int, How], creates: frozenset[int]) -> None:
        self._takes = takes
        self._creates = creates
        self._raised: list[set[bool]] = [set()]
        self._breaks: list[set[bool]] = [set()]
        self._names: set[str] = set()
        self.reached: list[ir.Call] = []
        self._block(body, _NOT_TAKEN)

    def _block(self, body: Sequence[ir.Stmt], states: States) -> States:
        for stmt in body:
            if not states:
                break
            states = self._statement(stmt, states)
        return states

    def _statement(self, stmt: ir.Stmt, states: States) -> States:  # noqa: C901 - one case per kind
        if isinstance(stmt, ir.If):
            return self._if(stmt, states)
        if isinstance(stmt, (ir.While, ir.For)):
            return self._loop(stmt, states)
        if isinstance(stmt, ir.Try):
            return self._try(stmt, states)
        parts, bodies = statement_parts(stmt)
        for part in parts:
            states = self._expr(part, states)
        if isinstance(stmt, ir.With):
            self._raised.append(set())
            after = self._block(stmt.body, states)
            raised = self._raised.pop()
            if any(_is_suppress(item.context) for item in stmt.items):
                return after | raised
            self._raised[-1] |= raised
            return after
        if isinstance(stmt, ir.Match):
            return frozenset().union(states, *(self._block(body, states) for body in bodies))
        if isinstance(stmt, (ir.Return, ir.Raise, ir.Continue)):
            return _NOTHING
        if isinstance(stmt, ir.Break):
            self._breaks[-1] |= states
            return _NOTHING
        if isinstance(stmt, ir.Assign) and stmt.value is not None and self._has_take(stmt.value):
            self._names.update(target.id for target in stmt.targets if isinstance(target, ir.Name))
        return states

    def _if(self, stmt: ir.If, states: States) -> States:
        states = self._expr(stmt.test, states)
        there, missing = self._tested(stmt.test)
        body = self._block(stmt.body, states & _TAKEN if there else states)
        orelse = self._block(stmt.orelse, states & _TAKEN if missing else states)
        return body | orelse

    def _tested(self, test: ir.Expr) -> tuple[bool, bool]:
        """Whether a test holds, or fails, only where the variable of the taken object is not None."""
        if isinstance(test, ir.Bool) and test.op == "and":
            return self._tested(test.left)[0] or self._tested(test.right)[0], False
        if isinstance(test, ir.Not):
            there, missing = self._tested(test.value)
            return missing, there
        if isinstance(test, ir.Name):
            return test.id in self._names, False
        if isinstance(test, ir.Compare) and isinstance(test.left, ir.Name) and test.left.id in self._names:
            (op, right), *rest = test.rights
            if not rest and isinstance(right, ir.Const) and right.value is None:
                return op == "is not", op == "is"
        return False, False

    def _loop(self, stmt: ir.While | ir.For, states: States) -> States:
        self._breaks.append(set())
        endless = isinstance(stmt, ir.While) and isinstance(stmt.test, ir.Const) and bool(stmt.test.value)
        head = self._expr(stmt.test if isinstance(stmt, ir.While) else stmt.iter, states)
        for _ in range(2):
            head = head | self._block(stmt.body, head)
        if isinstance(stmt, ir.While) and not endless:
            # A loop that looks for a usable one ends when there is none left.
            head = head | states
        left = frozenset(self._breaks.pop())
        return left | (_NOTHING if endless else self._block(stmt.orelse, head))

    def _try(self, stmt: ir.Try, states: States) -> States:
        self._raised.append(set())
        after = self._block(stmt.body, states)
        raised = frozenset(self._raised.pop())
        takes = any(self._has_take(part) for part in _all_parts(stmt.body))
        entered = after | (_NOTHING if takes else states)
        outs = self._block(stmt.orelse, after)
        uncaught = raised
        for handler in stmt.handlers:
            names = _names_of(handler.type)
            if names & _BROAD or not names:
                outs |= self._block(handler.body, raised | entered)
                uncaught = _NOTHING
            elif names & _EMPTY:
                outs |= self._block(handler.body, raised or entered)
                uncaught = _NOTHING
            else:
                outs |= self._block(handler.body, entered)
        self._raised[-1] |= uncaught
        return self._block(stmt.final, outs) if stmt.final else outs

    def _expr(self, expr: ir.Expr, states: States) -> States:
        if isinstance(expr, ir.Cond):
            states = self._expr(expr.test, states)
            return self._expr(expr.body, states) | self._expr(expr.orelse, states)
        if isinstance(expr, ir.Bool):
            left = self._expr(expr.left, states)
            if expr.op == "or" and self._has_take(expr.left):
                # The right side is what is used where the left one gave nothing.
                missing = left if False in left else _NOTHING
                return left | self._expr(
                    expr.right, missing | (_NOT_TAKEN if self._may_be_none(expr.left) else _NOTHING)
                )
            return left | self._expr(expr.right, left)
        for part in children(expr):
            states = self._expr(part, states)
        if isinstance(expr, ir.Call):
            how = self._takes.get(id(expr))
            if how == "raises":
                self._raised[-1] |= states
            if how is not None:
                return states | _TAKEN if how == "none" else _TAKEN
            if id(expr) in self._creates and False in states and expr not in self.reached:
                self.reached.append(expr)
        return states

    def _has_take(self, expr: ir.Expr) -> bool:
        return id(expr) in self._takes or any(self._has_take(part) for part in children(expr))

    def _may_be_none(self, expr: ir.Expr) -> bool:
        return self._takes.get(id(expr)) == "none" or any(self._may_be_none(part) for part in children(expr))


def _all_parts(body: Sequence[ir.Stmt]) -> list[ir.Expr]:
    out: list[ir.Expr] = []
    stack = list(body)
    while stack:
        parts, bodies = statement_parts(stack.pop())
        out.extend(parts)
        for inner in bodies:
            stack.extend(inner)
    return out


def _names_of(expr: ir.Expr | None) -> set[str]:
    if expr is None:
        return set()
    if isinstance(expr, ir.Seq):
        return {name for item in expr.items for name in _names_of(item)}
    path = path_of(expr)
    return {str(path[-1]).lstrip(".")} if path else {"?"}


def _is_suppress(expr: ir.Expr) -> bool:
    if not isinstance(expr, ir.Call):
        return False
    path = path_of(expr.func)
    return path is not None and str(path[-1]).lstrip(".") == "suppress"
