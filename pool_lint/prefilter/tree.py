"""Find, in a parsed file, the statement that stands on a line and the functions around it: no walk over the rest."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORD = re.compile(r"\w+")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Place:
    """A statement, the functions around it from the outermost to the innermost, and the innermost class."""

    stmt: ast.stmt
    functions: tuple[Function, ...]
    klass: ast.ClassDef | None

    @property
    def function(self) -> Function | None:
        """The innermost function."""
        return self.functions[-1] if self.functions else None

    def params(self) -> set[str]:
        """The parameters of the innermost function but ``self``, and those of lambdas in the statement."""
        names: set[str] = set()
        if self.functions:
            args = self.functions[-1].args
            every = [*args.posonlyargs, *args.args][1 if self.klass is not None else 0 :]
            names.update(arg.arg for arg in (*every, *args.kwonlyargs, args.vararg, args.kwarg) if arg is not None)
        for node in ast.walk(self.stmt):
            if isinstance(node, ast.Lambda):
                names.update(arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
        return names


class Tree:
    """The parsed form of one text, made when it is first asked for."""

    def __init__(self, text: str, tree: ast.AST | None) -> None:
        self._text = text
        self._tree = tree
        self._given: dict[int, dict[str, list[ast.expr]]] = {}
        self._returned: dict[int, set[str]] = {}

    def places(self, positions: Iterable[int]) -> list[Place]:
        """The innermost statements on the lines of these positions; none where a comment or nothing stands."""
        lines = []
        line, last = 1, 0
        for position in sorted(positions):
            line += self._text.count("\n", last, position)
            last = position
            lines.append(line)
        if not lines:
            return []
        found: list[Place] = []
        for body in _bodies(self.root):
            _find(body, lines, (), None, found)
        return found

    @property
    def root(self) -> ast.AST:
        """The tree."""
        if self._tree is None:
            self._tree = ast.parse(self._text)
        return self._tree

    def given(self, function: Function | None) -> dict[str, list[ast.expr]]:
        """What each name of a function, or of the module, is given by assignments, loops and ``with``."""
        scope = self.root if function is None else function
        known = self._given.get(id(scope))
        if known is None:
            known = self._given[id(scope)] = _given(scope, walrus=":=" in self._text)
        return known

    def returned(self, function: Function) -> set[str]:
        """The names and attributes in what a function returns or yields."""
        known = self._returned.get(id(function))
        if known is None:
            values = (_returned_by(stmt) for stmt in _statements(function))
            known = {word for value in values if value is not None for word in words_in(value)}
            self._returned[id(function)] = known
        return known


def _find(
    body: list[ast.stmt],
    lines: list[int],
    functions: tuple[Function, ...],
    klass: ast.ClassDef | None,
    found: list[Place],
) -> None:
    """Add the innermost statements on these lines, which are in order: with semicolons there are several on one."""
    for number in range(max(bisect_right(body, lines[0], key=_line) - 1, 0), len(body)):
        stmt = body[number]
        decorators = getattr(stmt, "decorator_list", None)
        first = decorators[0].lineno if decorators else stmt.lineno
        if first > lines[-1]:
            break
        last = stmt.end_lineno or stmt.lineno
        index = bisect_left(lines, first)
        if index == len(lines) or lines[index] > last:
            continue
        inside = lines[index : bisect_right(lines, last)]
        inner = getattr(stmt, "body", None)
        if inner is None or inside[0] < inner[0].lineno or inside[0] == first:
            found.append(Place(stmt, functions, klass))
        if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
            _find(stmt.body, inside, (*functions, stmt), klass if not functions else None, found)
        elif isinstance(stmt, ast.ClassDef):
            _find(stmt.body, inside, (), stmt, found)
        else:
            for part in _bodies(stmt):
                _find(part, inside, functions, klass, found)


def _line(stmt: ast.stmt) -> int:
    return stmt.lineno


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements that a statement, or a module, has under it."""
    if isinstance(node, _SIMPLE):
        return
    for name in ("body", "orelse", "finalbody"):
        found = getattr(node, name, None)
        if found:
            yield found
    for name in ("handlers", "cases"):
        for each in getattr(node, name, ()):
            yield each.body


def last_name(expr: ast.expr) -> str:
    """The last name of a dotted path, of what is called, or of what is subscripted."""
    while True:
        if isinstance(expr, ast.Name):
            return expr.id
        if isinstance(expr, ast.Attribute):
            return expr.attr
        if isinstance(expr, ast.Call):
            expr = expr.func
        elif isinstance(expr, (ast.Subscript, ast.Await)):
            expr = expr.value
        else:
            return ""


def words_in(expr: ast.AST) -> set[str]:
    """The names and attributes that an expression has anywhere in it, and the strings, which may be annotations."""
    found: set[str] = set()
    for node in ast.walk(expr):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(_WORD.findall(node.value))
    return found


def names_in(expr: ast.AST) -> set[str]:
    """The names that an expression has anywhere in it."""
    return {node.id for node in ast.walk(expr) if isinstance(node, ast.Name)}


def calls_in(expr: ast.AST) -> Iterator[ast.Call]:
    """The calls that an expression has anywhere in it."""
    return (node for node in ast.walk(expr) if isinstance(node, ast.Call))


def _given(scope: ast.AST, *, walrus: bool) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in _statements(scope):
        for target, value in _bindings(node):
            _add(found, target, value)
    if walrus:
        for each in ast.walk(scope):
            if isinstance(each, ast.NamedExpr):
                _add(found, each.target, each.value)
    return found


def _bindings(node: ast.AST) -> Iterable[tuple[ast.expr | None, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        return [(target, node.value) for target in node.targets]
    if isinstance(node, ast.AnnAssign):
        return [(node.target, node.value)]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [(node.target, node.iter)]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [(item.optional_vars, item.context_expr) for item in node.items]
    return ()


def _add(found: dict[str, list[ast.expr]], target: ast.expr | None, value: ast.expr | None) -> None:
    if value is None or target is None:
        return
    if isinstance(target, ast.Name):
        found.setdefault(target.id, []).append(value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            _add(found, item, value)
    elif isinstance(target, ast.Starred):
        _add(found, target.value, value)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """A module or function and every statement in it."""
    stack = [node]
    while stack:
        each = stack.pop()
        yield each
        stack.extend(chain.from_iterable(_bodies(each)))


def _returned_by(stmt: ast.AST) -> ast.expr | None:
    """What a statement returns or yields."""
    if isinstance(stmt, ast.Return):
        return stmt.value
    value = getattr(stmt, "value", None)
    return value.value if isinstance(value, (ast.Yield, ast.Await)) else None


_SIMPLE = (ast.Expr, ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign, ast.Raise, ast.Pass, ast.Import)
