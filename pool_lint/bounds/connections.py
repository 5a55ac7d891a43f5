"""Which expressions open a connection: something whose loss or excess costs something outside the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.walk import walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.catalog.spec import Catalog
    from pool_lint.pools.types import Type, Types

_SEEN_THROUGH = frozenset(
    ("asyncio.wait_for", "asyncio.shield", "typing.cast", "contextlib.closing", "asyncio.create_task")
)
_DEEPEST = 6


class Connections:
    """The connections of one file."""

    def __init__(self, types: Types, catalog: Catalog) -> None:
        self._types = types
        self._catalog = catalog
        self._functions: dict[ir.Function, str] = {}
        self._classes: dict[ir.Klass, str] = {}

    def opened(self, expr: ir.Expr | None, scope: ir.Function | None, depth: int = 0) -> str:
        """The name of what opens the connection that an expression gives; "" where it gives none that is seen."""
        if expr is None or depth > _DEEPEST:
            return ""
        if isinstance(expr, (ir.Await, ir.Star, ir.Walrus)):
            return self.opened(expr.value, scope, depth + 1)
        if isinstance(expr, ir.Call):
            return self._call(expr, scope, depth)
        if isinstance(expr, ir.Cond):
            return self.opened(expr.body, scope, depth + 1) or self.opened(expr.orelse, scope, depth + 1)
        if isinstance(expr, ir.Bool):
            return self.opened(expr.left, scope, depth + 1) or self.opened(expr.right, scope, depth + 1)
        if isinstance(expr, ir.Seq):
            return next((name for item in expr.items if (name := self.opened(item, scope, depth + 1))), "")
        if isinstance(expr, ir.DictLit):
            return next((name for _, item in expr.items if (name := self.opened(item, scope, depth + 1))), "")
        if isinstance(expr, ir.Name):
            return self._name(expr.id, scope, depth)
        if isinstance(expr, ir.Attr):
            return self._attribute(expr, scope, depth)
        return ""

    def called(self, func: ir.Expr, scope: ir.Function | None) -> str:
        """The importable name of what is called, through instances of imported classes too; "" where there is none."""
        kind = self._types.of(func, scope)
        if kind is not None:
            return kind.dotted if kind.kind == "external" else ""
        if isinstance(func, ir.Attr):
            base = self._types.of(func.value, scope)
            if base is not None and base.kind == "external_instance":
                return f"{base.dotted}.{func.name}"
            if base is not None and base.kind == "object" and base.spec is not None:
                return next(
                    (
                        name
                        for each in base.spec.object_classes
                        if (name := f"{each}.{func.name}") in self._catalog.by_factory
                    ),
                    "",
                )
        return ""

    def holds(self, klass: ir.Klass) -> str:
        """What connection the instances of a class of this file open and keep, or are; "" for none."""
        known = self._classes.get(klass)
        if known is None:
            self._classes[klass] = ""
            known = self._classes[klass] = self._held(klass)
        return known

    def is_type(self, kind: Type | None) -> str:
        """Whether a type that an annotation gives is that of a connection."""
        if kind is None:
            return ""
        if (
            kind.kind == "external_instance"
            and kind.dotted in self._catalog.connections | self._catalog.connection_types
        ):
            return kind.dotted
        if kind.kind == "object" and kind.spec is not None and kind.spec.external and kind.spec.object_classes:
            return kind.spec.object_classes[0]
        if kind.kind == "instance" and kind.klass is not None:
            return self.holds(kind.klass)
        if kind.kind == "pool" and kind.spec is not None and kind.spec.client:
            return next((name for name in kind.spec.classes if name in self._catalog.connections), "")
        return ""

    def _call(self, call: ir.Call, scope: ir.Function | None, depth: int) -> str:
        dotted = self.called(call.func, scope)
        if dotted:
            if self._is_connection(dotted):
                return dotted
            if dotted in _SEEN_THROUGH:
                return next((name for arg in call.args if (name := self.opened(arg, scope, depth + 1))), "")
            return ""
        kind = self._types.of(call.func, scope)
        if kind is None:
            return ""
        if kind.kind == "class" and kind.klass is not None:
            held = self.holds(kind.klass)
            if held:
                return kind.klass.name
            given = any(
                self.opened(arg, scope, depth + 1) for arg in (*call.args, *(each for _, each in call.keywords))
            )
            return kind.klass.name if given else ""
        if kind.kind == "function" and kind.function is not None:
            return self.returned(kind.function, depth)
        return ""

    def _is_connection(self, dotted: str) -> bool:
        catalog = self._catalog
        if dotted in catalog.connections:
            return True
        spec = catalog.by_class.get(dotted) or catalog.by_factory.get(dotted)
        return spec is not None and spec.external and not spec.pooling_off and _keeps_connections(spec.item)

    def returned(self, function: ir.Function, depth: int = 0) -> str:
        """What connection a function of this file returns."""
        known = self._functions.get(function)
        if known is not None:
            return known
        self._functions[function] = ""
        found = ""
        if function.returns is not None and not function.is_generator:
            found = self.is_type(self._types.annotation(function.returns, function.parent))
        if not found and not function.is_generator:
            for value in _returns(function):
                if _is_lookup(value):
                    continue
                found = self.opened(value, function, depth + 1)
                if found:
                    break
        self._functions[function] = found
        return found

    def _name(self, name: str, scope: ir.Function | None, depth: int) -> str:
        bindings, owner = self._types.bindings(name, scope)
        for binding in bindings:
            if binding.how in ("value", "unpack", "with") and binding.expr is not None:
                found = self.opened(binding.expr, owner, depth + 1)
                if found:
                    return found
            elif binding.how == "annotation" and binding.expr is not None:
                found = self.is_type(self._types.annotation(binding.expr, owner))
                if found:
                    return found
        return ""

    def _attribute(self, expr: ir.Attr, scope: ir.Function | None, depth: int) -> str:
        base = self._types.of(expr.value, scope)
        if base is None or base.klass is None or base.kind not in ("instance", "class", "pool"):
            return ""
        for klass in self._types.bases_of(base.klass):
            for binding in self._types.attrs_of(klass).get(expr.name, ()):
                if binding.how == "value":
                    found = self.opened(binding.expr, binding.scope, depth + 1)
                    if found:
                        return found
        return ""

    def _held(self, klass: ir.Klass) -> str:
        for base in self._types.unseen_bases(klass):
            if base in self._catalog.connections:
                return base
        for each in self._types.bases_of(klass):
            for bindings in self._types.attrs_of(each).values():
                for binding in bindings:
                    if binding.how == "value" and isinstance(binding.expr, (ir.Call, ir.Await, ir.Name, ir.Bool)):
                        found = self.opened(binding.expr, binding.scope, 2)
                        if found:
                            return found
        return ""


def _keeps_connections(item: str) -> bool:
    return "connection" in item


def _returns(function: ir.Function) -> Iterator[ir.Expr]:
    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.Return) and stmt.value is not None:
            yield stmt.value


def _is_lookup(value: ir.Expr) -> bool:
    return isinstance(value, ir.Sub)
