"""Whether connections may be kept, so that there can be too many of them or one can be dropped (`bounds`)."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from pool_lint.prefilter.loans import lends_from_container
from pool_lint.prefilter.text import begins_word, places_of
from pool_lint.prefilter.tree import calls_in, last_name, names_in, words_in

if TYPE_CHECKING:
    from pool_lint.prefilter.known import Words
    from pool_lint.prefilter.tree import Place, Tree

_STORE = re.compile(r"\][\s\\)]*(?::[^=\n]+)?=[^=]")
_PUT = re.compile(r"\.[\s\\]*(?:setdefault|append|appendleft|add|insert|put|put_nowait)[\s\\)]*\(")
_PUTS = frozenset(("setdefault", "append", "appendleft", "add", "insert", "put", "put_nowait"))
_BUILTIN = frozenset(("list", "set", "dict", "open", "type", "len", "next", "iter", "min", "max", "sum", "print"))
_ROUNDS = 4  # how many functions may stand between what opens a connection and what keeps it


def keeps_connections(text: str, tree: Tree, words: Words, imported: set[str]) -> bool:
    """Whether something that may be a connection is kept in a container, or is made under a cache.

    What is put comes out of a call of what opens connections, or of a function or class in which that stands; or it
    comes back to where it was taken from; or annotations say what it is, and it comes out of any call.
    """
    opening = {
        word
        for package in words.opening.keys() & imported
        for word in words.opening[package]
        if _may_mean(word, package, text)
    }
    if not opening:
        return False
    if _memoized(words.memoizers).search(text) is not None or _drops(words.dropping, text):
        return True
    if lends_from_container(text, tree, words, whatever_name=True):
        return True
    stores = [match.start() for pattern in (_STORE, _PUT) for match in pattern.finditer(text)]
    if not stores:
        return False
    makers = _makers(text, tree, opening)
    places = tree.places(stores)
    if makers is not None:
        # what is put is made in the same function, which then names what makes it
        naming = {id(place.function) for place in tree.places(at for name in makers for at in places_of(name, text))}
        places = [place for place in places if id(place.function) in naming]
    return any(_puts_made(tree, place, makers) for place in places)


def _is_annotated(place: Place, opening: set[str]) -> bool:
    """Whether an annotation names what opening gives: what keeps or makes it need not be seen then."""
    stmt = place.stmt
    if isinstance(stmt, ast.AnnAssign):
        return not opening.isdisjoint(words_in(stmt.annotation))
    if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
        args = (*stmt.args.posonlyargs, *stmt.args.args, *stmt.args.kwonlyargs)
        annotations = [arg.annotation for arg in args] + [stmt.returns]
        return any(each is not None and not opening.isdisjoint(words_in(each)) for each in annotations)
    return False


def _may_mean(word: str, package: str, text: str) -> bool:
    """Whether a text may name what a package has under this name: ``socket`` alone is the package."""
    if word == package:
        return f"{package}.{word}" in text or f"from {package} import" in text
    return word in text


@cache
def _memoized(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"@[\w.]*\b(?:{'|'.join(names)})\b")


def _drops(names: tuple[str, ...], text: str) -> bool:
    """Whether one of these containers is made or subclassed."""
    return any(begins_word(match.start(), text) for match in _dropping(names).finditer(text))


@cache
def _dropping(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(names)})\s*[(\[)]")


def _makers(text: str, tree: Tree, opening: set[str]) -> set[str] | None:
    """The functions that return what opens or what these return, and the classes that keep it; None for any."""
    makers = set(opening)
    new = makers
    for _ in range(_ROUNDS):
        places = tree.places(at for name in new for at in places_of(name, text) if _is_called(name, text, at))
        if new is makers and any(_is_annotated(place, opening) for place in places):
            return None
        found = {place.function.name for place in places if place.function is not None and _returns(tree, place)}
        found |= {place.klass.name for place in places if place.klass is not None and _keeps(place.stmt)}
        found |= {place.stmt.name for place in places if isinstance(place.stmt, ast.ClassDef)}
        new = {name for name in found - makers if not name.startswith("__")}
        if not new:
            break
        makers |= new
    return makers


def _is_called(name: str, text: str, at: int) -> bool:
    """Whether a name at a place may be the file's own: a method of a builtin's name is called on something."""
    return name not in _BUILTIN or text[at - 1 : at] == "."


def _returns(tree: Tree, place: Place) -> bool:
    """Whether a function may return what its statement makes: at once, or by the name or attribute it is given."""
    stmt = place.stmt
    if isinstance(stmt, (ast.Expr, ast.Raise, ast.Assert, ast.AugAssign, ast.Delete)):
        return any(isinstance(node, (ast.Yield, ast.NamedExpr)) for node in ast.walk(stmt))
    if not isinstance(stmt, (ast.Assign, ast.AnnAssign)):
        return True
    targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
    given = set[str]().union(*(words_in(target) for target in targets))
    assert place.function is not None
    return not given.isdisjoint(tree.returned(place.function))


def _keeps(stmt: ast.stmt) -> bool:
    """Whether a statement may store what it makes in an attribute."""
    if isinstance(stmt, ast.Assign):
        return any(isinstance(node, ast.Attribute) for target in stmt.targets for node in ast.walk(target))
    return isinstance(stmt, ast.AnnAssign) or not isinstance(stmt, (ast.Return, ast.Expr, ast.Raise, ast.Assert))


def _puts_made(tree: Tree, place: Place, makers: set[str] | None) -> bool:
    values: list[ast.expr] = []
    stmt = place.stmt
    if isinstance(stmt, (ast.Assign, ast.AnnAssign)) and stmt.value is not None:
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        if any(isinstance(node, ast.Subscript) for target in targets for node in ast.walk(target)):
            values.append(stmt.value)
    for call in calls_in(stmt):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PUTS:
            values += call.args
    given = tree.given(place.function)
    values += [each for value in values for name in names_in(value) for each in given.get(name, ())]
    return any(makers is None or _is_maker(call, makers) for value in values for call in calls_in(value))


def _is_maker(call: ast.Call, makers: set[str]) -> bool:
    name = last_name(call.func)
    return name in makers and (name not in _BUILTIN or isinstance(call.func, ast.Attribute))
