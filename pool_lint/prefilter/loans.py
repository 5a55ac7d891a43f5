"""Whether objects may be lent: out of a container, by a pair of methods, under a count, or one for each thread.

What each test asks is a necessary condition of a recogniser, named beside it.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from pool_lint.prefilter.text import any_word, method_calls, name_before, places_of
from pool_lint.prefilter.tree import calls_in, last_name, names_in, words_in
from pool_lint.words import LENDING_METHOD, LENDING_NAME, PAIRS, RETURNING

if TYPE_CHECKING:
    from pool_lint.prefilter.known import Words
    from pool_lint.prefilter.tree import Place, Tree

_POPS = ("pop", "popleft", "popitem")
_PUSHES = ("append", "appendleft", "add", "insert")
_GETS = ("get", "get_nowait")
_PUTS = ("put", "put_nowait")
_PLAIN = re.compile(r"\.\s*(popleft|popitem|pop|appendleft|append|add|insert)\s*\(")
_QUEUES = re.compile(r"\.\s*(popleft|popitem|pop|appendleft|append|add|insert|get_nowait|get|put_nowait|put)\s*\(")
# What a put may put that was lent: a name, a choice of names, names beside each other.
_DISPLAY = (ast.Tuple, ast.List, ast.Set)
_GIVABLE = (ast.Name, ast.IfExp, ast.Starred, *_DISPLAY)
_HEAP = re.compile(r"\bheap(pop|push)\s*\(\s*([\w.]+)")


def lends_from_container(text: str, tree: Tree, words: Words, *, whatever_name: bool = False) -> bool:
    """Whether a container may be a pool (`pools.containers`).

    Something is taken out of it, and what is put into it may be what was taken: a parameter of the function that
    puts, or a name that was given what this or a taking function returned.  ``whatever_name``: a parameter counts
    also where neither function is named as one that lends or takes back.
    """
    queued = ".get" in text and ".put" in text and any_word(words.queues, text)
    if "pop" not in text and not queued:
        return False
    takes: dict[str, list[int]] = {}
    puts: dict[str, list[int]] = {}
    for receiver, match in method_calls(text, _QUEUES if queued else _PLAIN):
        if receiver:
            (takes if match[1] in _POPS or match[1] in _GETS else puts).setdefault(receiver, []).append(match.start())
            if match[1] == "popitem":
                puts.setdefault(receiver, []).extend(places_of(receiver, text))
    if "heappop" in text:
        for match in _HEAP.finditer(text):
            (takes if match[1] == "pop" else puts).setdefault(match[2].rpartition(".")[2], []).append(match.start())
    return any(
        _comes_back(tree, name, takes[name], puts[name], whatever_name=whatever_name)
        for name in takes.keys() & puts.keys()
    )


def _comes_back(tree: Tree, name: str, takes: list[int], puts: list[int], *, whatever_name: bool) -> bool:
    """Whether what is taken out of a container may be what is put into it."""
    functions = {function.name for place in tree.places(takes) for function in place.functions}
    taking = functions | set(_POPS) | set(_GETS) | {"heappop"}
    lending = whatever_name or any(LENDING_METHOD.match(function) for function in functions)
    for place in tree.places(puts):
        for value in _put_values(place.stmt, name):
            if not isinstance(value, _GIVABLE):
                returning = place.function is not None and RETURNING.match(place.function.name)
                if returning and isinstance(value, ast.Call) and names_in(value) & place.params():
                    return True
                continue
            names = names_in(value)
            if _is_given(tree, place, names, taking, every=isinstance(value, _DISPLAY)):
                return True
            named = lending or place.function is None or bool(RETURNING.match(place.function.name))
            if names & place.params() and (named or (place.klass is not None and "pool" in place.klass.name.lower())):
                return True
    return False


def _put_values(stmt: ast.stmt, name: str) -> list[ast.expr]:
    """What a statement puts into the container of that name."""
    found: list[ast.expr] = []
    for call in calls_in(stmt):
        if isinstance(call.func, ast.Attribute) and call.func.attr in (*_PUSHES, *_PUTS):
            if last_name(call.func.value) == name:
                found += [*call.args, *(keyword.value for keyword in call.keywords)]
        elif last_name(call.func) == "heappush" and call.args and last_name(call.args[0]) == name:
            found += call.args[1:]
    if isinstance(stmt, ast.Assign) and any(
        isinstance(target, ast.Subscript) and last_name(target.value) == name for target in stmt.targets
    ):
        found.append(stmt.value)
    return found


def _is_given(tree: Tree, place: Place, names: set[str], taking: set[str], *, every: bool) -> bool:
    """Whether one of the names (or each) holds what was taken, here or in a function around this one."""

    def taken(name: str) -> bool:
        return any(
            last_name(call.func) in taking
            for scope in place.functions or (None,)
            for value in tree.given(scope).get(name, ())
            for call in calls_in(value)
        )

    return bool(names) and (all if every else any)(taken(name) for name in names)


def uses_pair(text: str) -> bool:
    """Whether a borrow method is called on what a return method of its own gets an object of (`pools.duck`)."""
    stems = [stem for stem in _STEMS if stem in text]
    for borrow, releases in PAIRS.items():
        if not borrow.startswith(tuple(stems)) or next(places_of(borrow, text), None) is None:
            continue
        present = [release for release in releases if release in text]
        if not present:
            continue
        borrowing, releasing = _pair(borrow, frozenset(present))
        lenders = {receiver.strip("_").lower() for receiver, _ in method_calls(text, borrowing)}
        takers = {receiver.strip("_").lower() for receiver, _ in method_calls(text, releasing)} if lenders else set()
        # A receiver that is no plain name may be any.
        if lenders and takers and ("" in lenders or "" in takers or lenders & takers):
            return True
    return False


# What the names of borrow methods begin with: few searches through the text instead of many.
_STEMS = tuple(sorted({name.rstrip("_").partition("_")[0] or "_" + name.split("_")[1] for name in PAIRS}))


@cache
def _pair(borrow: str, releases: frozenset[str]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of the borrow call, and of a return call that is given something."""
    return re.compile(rf"\.\s*{borrow}\b"), re.compile(rf"\.\s*(?:{'|'.join(sorted(releases))})\s*\(\s*[^)\s]")


_PERMITS = ("Semaphore", "CapacityLimiter")


def counts(text: str, tree: Tree) -> bool:
    """Whether a method that lends may take a permit or raise a count (`typestate.file`: permits and counts)."""
    acquiring = places_of("acquire", text) if any_word(_PERMITS, text) else ()
    if any(_lends(place) for place in tree.places(acquiring)):
        return True
    raised: dict[str, list[int]] = {}
    at = text.find("+=")
    while at >= 0:
        name, begin = name_before(text, at)
        if begin and text[begin - 1] == ".":
            raised.setdefault(name, []).append(at)
        at = text.find("+=", at + 1)
    return any(
        any(_lends(place) for place in tree.places(where)) and _is_ordered(name, text, tree)
        for name, where in raised.items()
    )


def _is_ordered(name: str, text: str, tree: Tree) -> bool:
    """Whether an attribute is compared with a limit."""
    return any(
        isinstance(node, ast.Compare) and any(isinstance(op, _ORDERING) for op in node.ops) and name in words_in(node)
        for place in tree.places(places_of(name, text))
        for node in ast.walk(getattr(place.stmt, "test", place.stmt))
    )


_ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _lends(place: Place) -> bool:
    """Whether a function lends: a context manager, or by its name a borrow method."""
    return any(
        LENDING_NAME.match(function.name)
        or any("contextmanager" in last_name(decorator) for decorator in function.decorator_list)
        for function in place.functions
    )


_THREADS = re.compile(r"\blocal\s*[(),]|\b(?:scoped_session|get_ident|current_thread)\b")


def lends_per_thread(text: str) -> bool:
    """Whether an object of a thread may be held across an ``await`` (POL406)."""
    return "async " in text and _THREADS.search(text) is not None
