"""What a class does with the objects that it keeps in attributes of itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.typestate.follow import TooComplex
from pool_lint.typestate.state import EXIT
from pool_lint.walk import names_read, walk_expressions, walk_statements
from pool_lint.words import RETURNING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pool_lint.typestate.file import FileAnalysis
    from pool_lint.typestate.follow import Follow
    from pool_lint.typestate.state import Place, Site

_RELEASE_NAME = re.compile(
    r"^_*(release|put_?conn|put_?back|give_?back|check_?in|return|recycle|free|close|dispose|put_nowait|put|push|finish|repool|discard)"
)
_ENDING = frozenset(("close", "aclose", "release", "__exit__", "__aexit__"))
_CLOSING = frozenset(
    ("__exit__", "__aexit__", "close", "aclose", "disconnect", "release", "dispose", "shutdown", "__del__")
)


@dataclass(slots=True, eq=False)
class AttrSite:
    """A borrow that a method keeps in an attribute of ``self``."""

    klass: ir.Klass
    attr: str
    function: ir.Function
    follow: Follow
    site: Site


class Attributes:
    """What a class does with the objects that it keeps in attributes of itself."""

    def __init__(self, file: FileAnalysis) -> None:
        self._file = file
        self._policies: dict[tuple[ir.Klass, ir.Function | None, str], str] = {}

    def note_attr_site(self, function: ir.Function, attr: str, follow: Follow, site: Site) -> None:
        """Remember that a method keeps what it borrows in an attribute; its closing methods are looked at later."""
        owner = function.owner
        if (
            owner is not None
            and site.kind == "borrow"
            and not any(
                kept.follow is follow and kept.site is site and kept.attr == attr for kept in self._file.attr_sites
            )
        ):
            self._file.attr_sites.append(AttrSite(owner, attr, function, follow, site))

    def family(self, klass: ir.Klass) -> list[ir.Klass]:
        """A class with its bases and subclasses in this file."""
        out = list(self._file.types.bases_of(klass))
        out.extend(
            each for each in self._file.tree.classes if each not in out and klass in self._file.types.bases_of(each)
        )
        return out

    def attr_policy(self, klass: ir.Klass | None, function: ir.Function | None, name: str) -> str:
        """Who looks after an object in ``self.name``: some other method ("given"), nobody ("kept"), or "unseen"."""
        if klass is None:
            return "unseen"
        key = (klass, function, name)
        found = self._policies.get(key)
        if found is None:
            found = self._policies[key] = self._attr_policy(klass, function, name)
        return found

    def _attr_policy(self, klass: ir.Klass, function: ir.Function | None, name: str) -> str:
        family = self.family(klass)
        inside: set[ir.Function] = set()
        for each in family:
            for method in each.methods.values():
                inside.add(method)
                if method is function and not method.nested:
                    continue
                functions = list(method.nested) if method is function else [method, *method.nested]
                for inner in functions:
                    if self._looks_after(inner, name):
                        return "given"
        for other in self._file.tree.functions:
            if other in inside or other is function or (other.parent is not None and other.parent in inside):
                continue
            own = other.params[0].name if other.owner is not None and other.params else ""
            if self._releases_attr(other, name, not_of=own):
                return "given"
        # Of a class of another module, not everything that looks after its objects need be in view.
        if self._file.types.unseen_bases(klass) or klass in self._file.linked.homes:
            return "unseen"
        return "kept"

    def has_finalizer(self, klass: ir.Klass | None, name: str) -> bool:
        """Whether the class's ``__del__`` gives ``self.name`` back, even if its constructor failed."""
        closer = klass.methods.get("__del__") if klass is not None else None
        return closer is not None and self._looks_after(closer, name)

    def _looks_after(self, function: ir.Function, name: str, depth: int = 1) -> bool:
        """Whether a method returns ``self.name`` to its pool, or shows it to the outside."""
        if function.name == "__init__" and not function.nested:
            return False
        if not self._file.mentions(function, name):
            return False
        for stmt in walk_statements(function.body):
            value = stmt.value if isinstance(stmt, (ir.Return, ir.ExprStmt)) else None
            if isinstance(value, ir.Yield):
                value = value.value
            elif isinstance(stmt, ir.ExprStmt):
                continue
            if value is not None and self._shows(value, name):
                return True
        if self._releases_attr(function, name):
            return True
        if depth == 0:
            return False
        return any(
            callee.kind == "function"
            and callee.function is not None
            and callee.bound
            and callee.function is not function
            and self._looks_after(callee.function, name, depth - 1)
            for callee in self._file.calls(function)
        )

    def _shows(self, value: ir.Expr, name: str) -> bool:
        if isinstance(value, ir.Attr):
            return value.name == name
        if isinstance(value, ir.Seq):
            return any(self._shows(item, name) for item in value.items)
        if isinstance(value, (ir.Await, ir.Star)):
            return self._shows(value.value, name)
        if isinstance(value, ir.Bool):
            return self._shows(value.left, name) or self._shows(value.right, name)
        if isinstance(value, ir.Cond):
            return self._shows(value.body, name) or self._shows(value.orelse, name)
        return False

    def _releases_attr(self, function: ir.Function, name: str, not_of: str = "") -> bool:
        """Whether a function gives ``x.name`` to a return call, or calls its ``close()``, directly or by an alias.

        ``not_of``: the ``self`` of an unrelated class, whose attribute of that name is another.
        """

        def is_attr(expr: ir.Expr) -> bool:
            if not isinstance(expr, ir.Attr):
                return False
            return expr.name == name and not (isinstance(expr.value, ir.Name) and expr.value.id == not_of)

        aliases = _given(function, is_attr)

        def is_it(expr: ir.Expr) -> bool:
            return is_attr(expr) or (isinstance(expr, ir.Name) and expr.id in aliases)

        return any(
            isinstance(expr, ir.Call) and self._gives_back(expr, function, is_it)
            for expr in walk_expressions(function.body)
        )

    def _gives_back(self, call: ir.Call, function: ir.Function, is_it: Callable[[ir.Expr], bool]) -> bool:
        """Whether a call gives an object to a function that returns or may return it, or is its own ``close()``."""
        callee = self._file.resolver.callee(call, function)
        if any(is_it(arg) for arg in (*call.args, *(value for _, value in call.keywords))):
            if callee.kind == "release" or (callee.kind == "function" and callee.function is not None):
                return True
            last = call.func.name if isinstance(call.func, ir.Attr) else self._file.types.dotted(call.func)
            if _RELEASE_NAME.match(last) or RETURNING.match(last.rpartition(".")[2]):
                return True
        return (
            isinstance(call.func, ir.Attr)
            and is_it(call.func.value)
            and (call.func.name in self._file.object_releases or call.func.name in _ENDING)
        )

    def constructor_attrs(self, klass: ir.Klass, where: int | str | None) -> list[str]:
        """The attributes that an argument of a class's constructor ends up in."""
        init = self._file.types.method(klass, "__init__")
        if init is not None:
            params = [param.name for param in init.params][1:]
            name = (
                where
                if isinstance(where, str)
                else params[where]
                if isinstance(where, int) and where < len(params)
                else None
            )
            if name is None:
                return []
            own = init.params[0].name
            return [
                target.name
                for stmt in walk_statements(init.body)
                if isinstance(stmt, ir.Assign) and stmt.value is not None and name in names_read(stmt.value)
                for target in stmt.targets
                if isinstance(target, ir.Attr) and isinstance(target.value, ir.Name) and target.value.id == own
            ]
        fields = [
            target.id
            for stmt in klass.body
            if isinstance(stmt, ir.Assign) and stmt.annotation is not None
            for target in stmt.targets
            if isinstance(target, ir.Name)
        ]
        if isinstance(where, str):
            return [where] if where in fields else []
        return [fields[where]] if isinstance(where, int) and where < len(fields) else []

    def closing_losses(self, kept: AttrSite) -> list[tuple[ir.Function, Follow]]:
        """For a borrow kept in an attribute: the closing methods that may raise before they return it."""
        out = []
        for klass in self.family(kept.klass):
            for name in sorted(_CLOSING & klass.methods.keys()):
                method = klass.methods[name]
                if method is kept.function or not method.params or not self._releases_attr(method, kept.attr):
                    continue
                place: Place = (method.params[0].name, "." + kept.attr)
                try:
                    follow = self._file.follow(self._file.cfg(method), entries=[(place, kept.site.spec)])
                except TooComplex:
                    continue
                # A method that first asserts its own state is not taken to fail there.
                follow.losses = [loss for loss in follow.losses if loss.kind not in ("AssertionError", EXIT)]
                if follow.sites[0].returned and follow.losses:
                    out.append((method, follow))
        return out


def _given(function: ir.Function, is_it: Callable[[ir.Expr], bool]) -> set[str]:
    """The variables of a function that are given a certain value."""
    out: set[str] = set()
    for stmt in walk_statements(function.body):
        if not isinstance(stmt, ir.Assign) or stmt.value is None:
            continue
        for target in stmt.targets:
            pairs = [(target, stmt.value)]
            if (
                isinstance(target, ir.Seq)
                and isinstance(stmt.value, ir.Seq)
                and len(target.items) == len(stmt.value.items)
            ):
                pairs = list(zip(target.items, stmt.value.items, strict=True))
            out.update(each.id for each, what in pairs if isinstance(each, ir.Name) and is_it(what))
    return out
