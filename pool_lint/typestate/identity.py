"""Whether two places hold the same pool: aliases, attributes that are given to each other, items of one mapping."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.pools.linked import MARK
from pool_lint.walk import path_of, walk_statements

if TYPE_CHECKING:
    from pool_lint.typestate.file import FileAnalysis
    from pool_lint.typestate.state import Place

_OF_SELF = 2  # the length of the place of an attribute of self: ("self", ".attr")
_LONGEST = 6
_WITH_DEFAULT = 2  # the arguments of get(key, default)


class Identity:
    """Whether two places hold the same pool: aliases, attributes that are given to each other, items of one mapping."""

    def __init__(self, file: FileAnalysis) -> None:
        self._file = file
        self._aliases: dict[ir.Function, dict[Place, set[Place]]] = {}

    def aliases(self, path: Place, function: ir.Function) -> set[Place]:
        """A pool's place and the others in this function that are plainly the same."""
        table = self._aliases.get(function)
        if table is None:
            table = self._aliases[function] = _alias_table(function)
        found = {path}
        stack = [path]
        while stack:
            current = stack.pop()
            for length in range(1, len(current) + 1):
                for other in table.get(current[:length], ()):
                    renamed = (*other, *current[length:])
                    if renamed not in found and len(renamed) <= _LONGEST:
                        found.add(renamed)
                        stack.append(renamed)
        return found

    def gets_another_pool(self, path: Place, function: ir.Function) -> bool:
        """Whether a name or attribute that held a pool is given something else in this function."""
        count = 0
        for stmt in walk_statements(function.body):
            if isinstance(stmt, ir.Assign) and stmt.value is not None:
                count += sum(1 for target in stmt.targets if path_of(target) == path[: len(path_of(target) or ()) or 1])
            elif isinstance(stmt, ir.For) and isinstance(stmt.target, ir.Name) and stmt.target.id == path[0]:
                return False
        return count > 0

    def other_pool(self, came: Place, went: Place, function: ir.Function) -> bool:
        """Whether two pools named in a function are plainly different ones, on some path."""
        if MARK in str(came[0]) or MARK in str(went[0]):
            return came != went and self._is_made_once(came) and self._is_made_once(went)
        while len(came) > 1 and len(went) > 1 and came[-1] == went[-1] and came[:-1] != went[:-1]:
            came, went = came[:-1], went[:-1]
        if went in self.aliases(came, function):
            return False
        if str(came[-1]).startswith("[") or str(went[-1]).startswith("["):
            return self._other_item(came, went, function)
        ends_came, ends_went = self._meanings(came, function), self._meanings(went, function)
        if ends_came is None or ends_went is None:
            return False
        if ends_came & ends_went:
            return len(ends_came) > 1 and ends_came != ends_went
        if all(place[0] == "?" for place in ends_came) or all(place[0] == "?" for place in ends_went):
            return False
        return not self._same_attr(ends_came, ends_went, function)

    def _other_item(self, came: Place, went: Place, function: ir.Function) -> bool:
        """Whether two items of a mapping of pools, or an item and a loop's variable, are different pools."""
        params = {param.name for param in function.params}

        def is_fixed(selector: str) -> bool:
            head, _, attr = selector[1:-1].partition(".")
            return (head in params and not self._stores_attr(function, attr)) or selector[1:2] in "'\"0123456789"

        first, second = str(came[-1]), str(went[-1])
        if first.startswith("[") and second.startswith("["):
            return came[:-1] == went[:-1] and first != second and is_fixed(first) and is_fixed(second)
        if len(came) == 1 and second.startswith("[") and second[1:2] in "'\"":
            values = self._file.containers.assigned(function).get(str(came[0]), [])
            return any(
                isinstance(value, ir.Star)
                and isinstance(value.value, ir.Call)
                and isinstance(value.value.func, ir.Attr)
                and value.value.func.name in ("items", "values")
                and path_of(value.value.func.value) == went[:-1]
                for value in values
            )
        return False

    def _is_made_once(self, place: Place) -> bool:
        """Whether a place is a global name of another module that is given a new pool, and nothing else."""
        bindings = (
            self._file.types.bindings(str(place[0]), None)[0] if len(place) == 1 and MARK in str(place[0]) else []
        )
        return len(bindings) == 1 and bindings[0].how == "value" and isinstance(bindings[0].expr, ir.Call)

    def _stores_attr(self, function: ir.Function, dotted: str) -> bool:
        """Whether a function gives an attribute of a dotted path a value ("": there is none)."""
        names = frozenset(dotted.split("."))
        return any(
            isinstance(target, ir.Attr) and target.name in names
            for stmt in walk_statements(function.body)
            if isinstance(stmt, ir.Assign)
            for target in stmt.targets
        )

    def _meanings(self, path: Place, function: ir.Function) -> set[Place] | None:
        """The stable places that a path may stand for; None where it may be anything."""
        root = str(path[0])
        params = {param.name for param in function.params}
        if len(path) == 1 and root in function.assigned and root not in params:
            out: set[Place] = set()
            for value in self._file.containers.assigned(function).get(root, []):
                options = alternatives(value)
                for each in options:
                    place = path_of(each)
                    if place is None and len(options) > 1:
                        place = ("?", str(each.line), str(each.col))
                    if place is None:
                        return None
                    if len(place) == 1 and place[0] in function.assigned and place[0] not in params:
                        return None
                    out.add(place)
            return out or None
        if root in function.assigned and root not in params:
            return None
        return {path}

    def _same_attr(self, came: set[Place], went: set[Place], function: ir.Function) -> bool:
        """Whether attributes of self that differ in name are given the same value somewhere."""
        owner = function.owner
        if owner is None:
            return False
        return any(self._values_of(first, owner) & self._values_of(second, owner) for first in came for second in went)

    def _values_of(self, place: Place, owner: ir.Klass) -> set[Place]:
        """A place and, if it is an attribute of self, the paths that the class gives it."""
        values = {place}
        if len(place) == _OF_SELF and isinstance(place[1], str):
            for binding in self._file.types.attrs_of(owner).get(place[1].lstrip("."), []):
                value = path_of(binding.expr) if binding.expr is not None and binding.how == "value" else None
                if value is not None:
                    values.add(value)
        return values


def _alias_table(function: ir.Function) -> dict[Place, set[Place]]:
    """The places that assignments make plainly the same: where names are concerned, names assigned only once."""
    counts: Counter[str] = Counter()
    pairs: list[tuple[Place, Place]] = []
    for stmt in walk_statements(function.body):
        if not isinstance(stmt, ir.Assign) or stmt.value is None:
            continue
        value = path_of(stmt.value)
        for place in map(path_of, stmt.targets):
            if place is not None and len(place) == 1:
                counts[place[0]] += 1
            if place is not None and value is not None:
                pairs.append((place, value))
    params = {param.name for param in function.params}
    table: dict[Place, set[Place]] = {}
    for first, second in pairs:
        if all(len(each) > 1 or str(each[0]) in params or counts[str(each[0])] <= 1 for each in (first, second)):
            table.setdefault(first, set()).add(second)
            table.setdefault(second, set()).add(first)
    return table


def alternatives(value: ir.Expr) -> list[ir.Expr]:
    """The expressions that an expression may have the value of."""
    if isinstance(value, ir.Cond):
        return [*alternatives(value.body), *alternatives(value.orelse)]
    if isinstance(value, ir.Bool):
        return [*alternatives(value.left), *alternatives(value.right)]
    if (
        isinstance(value, ir.Call)
        and isinstance(value.func, ir.Attr)
        and value.func.name == "get"
        and len(value.args) == _WITH_DEFAULT
    ):
        return [value.args[1], ir.Sub(value.line, value.col, value.func.value, value.args[0])]
    return [value]
