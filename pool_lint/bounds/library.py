"""Library pools that are made without a limit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.bounds.values import UNSEEN, Named, Unseen
from pool_lint.bounds.versions import known_range, parse_range
from pool_lint.walk import walk_expressions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pool_lint.bounds.connections import Connections
    from pool_lint.bounds.values import Argument, Values
    from pool_lint.catalog.spec import Bound, Catalog, PoolSpec


@dataclass(frozen=True, slots=True)
class Unlimited:
    """A call that makes a pool without a limit: ``why`` says which parameter is at fault, ``param`` names it."""

    call: ir.Call
    scope: ir.Function | None
    name: str
    param: str
    why: str


class LibraryBounds:
    """What the calls of one file say about the limits of library pools."""

    def __init__(self, catalog: Catalog, connections: Connections, values: Values, path: str) -> None:
        self._catalog = catalog
        self._connections = connections
        self._values = values
        self._path = path

    def spec_of(self, call: ir.Call, scope: ir.Function | None) -> tuple[str, PoolSpec | None]:
        """What a call makes, by its dotted name, and the pool that it is."""
        dotted = self._connections.called(call.func, scope)
        if not dotted:
            return "", None
        return dotted, self._catalog.by_class.get(dotted) or self._catalog.by_factory.get(dotted)

    def unlimited(self, call: ir.Call, scope: ir.Function | None) -> Unlimited | None:
        """The fault of a call that makes a library's pool without a limit."""
        dotted, spec = self.spec_of(call, scope)
        if spec is None or spec.pooling_off:
            return None
        bounds = [bound for bound in spec.bounds if bound.limits == "open" and self._applies(bound, dotted, spec)]
        for bound in self._versioned(bounds, spec):
            why = self._fault(bound, call, scope, spec)
            if why:
                return Unlimited(call, scope, dotted.rpartition(".")[2], why[0], why[1])
        return None

    def described(self, call: ir.Call, scope: ir.Function | None) -> str:
        """How the pool that a call makes is limited, in words; "" where the catalog knows no parameter for it."""
        dotted, spec = self.spec_of(call, scope)
        if spec is None:
            return ""
        fault = self.unlimited(call, scope)
        if fault is not None:
            return f"no limit: {fault.why}"
        bounds = [bound for bound in spec.bounds if bound.limits == "open" and self._applies(bound, dotted, spec)]
        return ", ".join(self._given(bound, call, scope) for bound in self._versioned(bounds, spec))

    def _given(self, bound: Bound, call: ir.Call, scope: ir.Function | None) -> str:
        given = self._values.argument(call, bound.param, bound.position, scope)
        if given.how == "absent":
            known = bound.default is not None
            return f"{bound.param}={bound.default!r} by default" if known else f"the library's own {bound.param}"
        value = self._value(given)
        if bound.made_by or isinstance(value, Unseen):
            return f"{bound.param} is given"
        return f"{bound.param}={_shown(value)}"

    def blocks(self, call: ir.Call, scope: ir.Function | None) -> bool:
        """Whether a borrow from the pool that a call makes waits when nothing is left (as far as switches tell)."""
        dotted, spec = self.spec_of(call, scope)
        if spec is None or spec.exhausted != "blocks" or self.unlimited(call, scope) is not None:
            return False
        for bound in spec.bounds:
            if bound.limits == "switch" and self._applies(bound, dotted, spec):
                given = self._values.argument(call, bound.param, bound.position, scope)
                value = bound.default if given.how == "absent" else self._value(given)
                if not value or isinstance(value, Unseen):
                    return False
        return True

    @staticmethod
    def _applies(bound: Bound, dotted: str, spec: PoolSpec) -> bool:
        return dotted in bound.callables if bound.callables else dotted in (*spec.classes, *spec.factories)

    def _versioned(self, bounds: list[Bound], spec: PoolSpec) -> Iterable[Bound]:
        """The bounds that hold for the version in use; where it is unknown and they disagree, none."""
        if not any(bound.versions for bound in bounds):
            return bounds
        known = known_range(spec.distributions, self._path)
        return [
            bound
            for bound in bounds
            if not bound.versions or (known is not None and known.within(parse_range(bound.versions)))
        ]

    def _fault(self, bound: Bound, call: ir.Call, scope: ir.Function | None, spec: PoolSpec) -> tuple[str, str] | None:
        values = self._values
        if bound.only_with:
            switch = self._value(values.argument(call, bound.only_with, -1, scope))
            if isinstance(switch, Unseen) or not switch:
                return None
        for other in bound.ignored_with:
            given = values.argument(call, other, -1, scope)
            if given.how == "unseen" or (given.how == "given" and self._value(given) is not None):
                return None
        given = values.argument(call, bound.param, bound.position, scope)
        if given.how == "unseen":
            return None
        if bound.made_by:
            return self._made(bound, given, spec) if given.how == "given" else None
        if given.how == "given":
            value = self._value(given)
            if _is_unbounded(value, bound):
                return bound.param, f"'{bound.param}' is {_shown(value)}, which means no limit"
            return None
        if not bound.default_unbounded or (bound.also_in and self._in_text(bound, call, scope)):
            return None
        return bound.param, f"'{bound.param}' is left out, which means no limit"

    def _made(self, bound: Bound, given: Argument, spec: PoolSpec) -> tuple[str, str] | None:
        """The fault of a value whose maker has bounds of its own (``httpx.Limits``)."""
        made = self._values.call_behind(given.expr, given.scope)
        if made is None:
            return None
        call, scope = made
        if self._connections.called(call.func, scope) != bound.made_by:
            return None
        for inner in spec.bounds:
            if bound.made_by in inner.callables:
                why = self._fault(inner, call, scope, spec)
                if why:
                    maker = bound.made_by.rpartition(".")[2]
                    return why[0], f"{why[1]} in {maker}(...)" if "left out" not in why[1] else (
                        f"{maker}(...) leaves '{inner.param}' out, which means no limit"
                    )  # fmt: skip
        return None

    def _in_text(self, bound: Bound, call: ir.Call, scope: ir.Function | None) -> bool:
        """Whether the text of another parameter, a URL, holds the value, or cannot be seen."""
        given = self._values.argument(call, bound.also_in, 0, scope)
        if given.how == "absent":
            return False
        behind = given.expr
        value = self._value(given)
        if isinstance(value, str):
            return _holds(value, bound.param)
        if isinstance(behind, ir.Op) and behind.kind == "fstring" and behind.parts:
            first = behind.parts[0]
            if isinstance(first, ir.Const) and isinstance(first.value, str) and "://" in first.value:
                text = "".join(
                    each.value for each in walk_expressions([ir.ExprStmt(0, 0, behind)])
                    if isinstance(each, ir.Const) and isinstance(each.value, str)
                )  # fmt: skip
                return _holds(text, bound.param)
        # A host name is no URL; what cannot be seen may be one.
        return True

    def _value(self, given: Argument) -> object:
        return self._values.of(given.expr, given.scope) if given.how == "given" else UNSEEN


def _holds(text: str, param: str) -> bool:
    return re.search(rf"[?&]{re.escape(param)}=", text, re.IGNORECASE) is not None


def _is_unbounded(value: object, bound: Bound) -> bool:
    if isinstance(value, Unseen):
        return False
    for constant in bound.unbounded_values:
        if isinstance(value, Named):
            if constant == value.dotted:
                return True
        elif (constant is None and value is None) or (type(constant) is type(value) and constant == value):
            return True
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and value == float("inf"):
        return True
    return bound.unbounded_below is not None and is_number and float(str(value)) < bound.unbounded_below


def _shown(value: object) -> str:
    return value.dotted if isinstance(value, Named) else repr(value)
