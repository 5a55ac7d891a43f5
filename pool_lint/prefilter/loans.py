"""Whether objects may be lent: out of a container, by a pair of methods, under a count, or one for each thread.

What each test asks is a necessary condition of a recogniser, named beside it.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from pool_lint.prefilter.text import (
    any_word,
    begins_word,
    end_before,
    method_calls,
    name_before,
    places_of,
    receiver_before,
)
from pool_lint.prefilter.tree import calls_in, last_name, names_in, words_in
from pool_lint.words import LENDING_METHOD, LENDING_NAME, PAIRS, READING, RETURNING

if TYPE_CHECKING:
    from pool_lint.prefilter.known import Words
    from pool_lint.prefilter.tree import Place, Tree

_POPS = ("pop", "popleft", "popitem")
_PUSHES = ("append", "appendleft", "add", "insert")
_GETS = ("get", "get_nowait")
_PUTS = ("put", "put_nowait")
_PLAIN = re.compile(r"\.[\s\\]*(popleft|popitem|pop|appendleft|append|add|insert)[\s\\)]*\(")
_QUEUES = re.compile(
    r"\.[\s\\]*(popleft|popitem|pop|appendleft|append|add|insert|get_nowait|get|put_nowait|put)[\s\\)]*\("
)
# What a put may put that was lent: a name, a choice of names, names beside each other.
_DISPLAY = (ast.Tuple, ast.List, ast.Set)
_GIVABLE = (ast.Name, ast.IfExp, ast.Starred, *_DISPLAY)
_HEAP = re.compile(r"\bheap(pop|push)[\s\\)]*\([\s\\(]*(\w+(?:[\s\\)]*\.[\s\\]*\w+)*)")


def lends_from_container(text: str, tree: Tree, words: Words, *, whatever_name: bool = False) -> bool:
    """Whether a container may be a pool (`pools.containers`).

    Something is taken out of it, and what is put into it may be what was taken: a parameter of the function that
    puts, or a name that was given what this or a taking function returned.  ``whatever_name``: a parameter counts
    also where neither function is named as one that lends or takes back.
    """
    queued = any_word(words.queues, text) and "get" in text and "put" in text
    if "pop" not in text and not queued:
        return False
    takes: dict[str, list[int]] = {}
    puts: dict[str, list[int]] = {}
    for match in (_QUEUES if queued else _PLAIN).finditer(text):
        receiver, _ = receiver_before(text, match.start())
        if receiver:
            (takes if match[1] in _POPS or match[1] in _GETS else puts).setdefault(receiver, []).append(match.start())
            if match[1] == "popitem":
                puts.setdefault(receiver, []).extend(places_of(receiver, text))
    if "heappop" in text:
        for match in _HEAP.finditer(text):
            (takes if match[1] == "pop" else puts).setdefault(name_before(match[2], len(match[2]))[0], []).append(
                match.start()
            )
    return any(
        _comes_back(tree, name, takes[name], puts[name], whatever_name=whatever_name, queued=queued)
        for name in takes.keys() & puts.keys()
    )


def _comes_back(tree: Tree, name: str, takes: list[int], puts: list[int], *, whatever_name: bool, queued: bool) -> bool:
    """Whether what is taken out of a container may be what is put into it."""
    functions = {function.name for place in tree.places(takes) for function in place.functions}
    lending = whatever_name or any(LENDING_METHOD.match(function) for function in functions)
    for place in tree.places(puts):
        for value in _put_values(place.stmt, name):
            if not isinstance(value, _GIVABLE):
                if isinstance(value, ast.Call) and _is_pop(value):
                    return True  # what lived in another container in between
                returning = place.function is not None and RETURNING.match(place.function.name)
                if returning and isinstance(value, ast.Call) and names_in(value) & place.params():
                    return True
                continue
            names = names_in(value)
            if _is_own(tree, place, name) and not queued:
                continue
            if _is_given(tree, place, names, name, functions, every=isinstance(value, _DISPLAY)):
                return True
            named = lending or place.function is None or bool(RETURNING.match(place.function.name))
            if names & place.params() and (named or (place.klass is not None and "pool" in place.klass.name.lower())):
                return True
    return False


def _is_own(tree: Tree, place: Place, name: str) -> bool:
    """Whether a container is a variable of the function that puts, with no ``finally``: a work list at most."""
    function = place.function
    if function is None or name not in tree.given(function):
        return False
    if not any(isinstance(node, ast.Name) and node.id == name and _stores(node) for node in ast.walk(function)):
        return False  # an element of it is assigned
    return not any(isinstance(node, ast.Try) and node.finalbody for node in ast.walk(function))


def _stores(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


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


def _is_given(tree: Tree, place: Place, names: set[str], container: str, takers: set[str], *, every: bool) -> bool:
    """Whether one of the names (or each) holds what was taken, here or in a function around this one."""

    def taken(name: str) -> bool:
        for function in place.functions or (None,):
            calls = [call for value in tree.given(function).get(name, ()) for call in calls_in(value)]
            if any(_takes(call, container, takers) for call in calls):
                # what is also read from a stream is pushed back, not given back
                return not any(isinstance(call.func, ast.Attribute) and READING.match(call.func.attr) for call in calls)
        return False

    return bool(names) and ((all if every else any)(taken(name) for name in names) or _is_freed(tree, place, names))


def _is_freed(tree: Tree, place: Place, names: set[str]) -> bool:
    """Whether a name holds what was taken out of another container, in which it lived (`worth.kept`: free lists)."""
    values = [value for name in names for value in tree.given(place.function).get(name, ())]
    made = [value.value if isinstance(value, ast.Await) else value for value in values]
    return bool(made) and all(isinstance(value, ast.Call) and any(map(_is_pop, calls_in(value))) for value in made)


def _is_pop(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in (*_POPS, *_GETS)


def _takes(call: ast.Call, container: str, takers: set[str]) -> bool:
    called = last_name(call.func)
    if called in takers:
        return True
    if called in (*_POPS, *_GETS) and isinstance(call.func, ast.Attribute):
        return last_name(call.func.value) == container
    return called == "heappop" and bool(call.args) and last_name(call.args[0]) == container


def uses_pair(text: str) -> bool:
    """Whether a borrow method is called on what a return method of its own gets an object of (`pools.duck`)."""
    for borrow in set(_BORROWS.findall(text)):
        present = [release for release in PAIRS[borrow] if release in text]
        if not present:
            continue
        lenders = {receiver.strip("_").lower() for receiver, _ in method_calls(text, _method(borrow))}
        takers = {receiver.strip("_").lower() for receiver, _ in method_calls(text, _given_back(frozenset(present)))}
        # A receiver that is no plain name may be any.
        if takers and ("" in lenders or "" in takers or lenders & takers):
            return True
    return False


_BORROWS = re.compile(rf"\.[\s\\]*({'|'.join(sorted(PAIRS))})\b")


@cache
def _method(name: str) -> re.Pattern[str]:
    return re.compile(rf"\.[\s\\]*{name}\b")


@cache
def _given_back(releases: frozenset[str]) -> re.Pattern[str]:
    """A call of one of the methods that is given something."""
    return re.compile(rf"\.[\s\\]*(?:{'|'.join(sorted(releases))})[\s\\)]*\([\s\\]*[^)\s\\]")


_PERMITS = ("Semaphore", "CapacityLimiter")
# One that starts with nothing to give signals something, and counts no objects.
_PERMIT = re.compile(r"[=:][ \t]*[\w.]*(?:Semaphore|CapacityLimiter)\b(?!\(\s*0\s*\))")


def counts(text: str, tree: Tree) -> bool:
    """Whether a method that lends may take a permit or raise a count (`typestate.file`: permits and counts)."""
    permits = any_word(_PERMITS, text) and _PERMIT.search(text) is not None
    acquiring = places_of("acquire", text) if permits else ()
    if any(_lends(place) for place in tree.places(acquiring)):
        return True
    raised: dict[str, list[int]] = {}
    at = text.find("+=")
    while at >= 0:
        name, begin = receiver_before(text, at)
        dot = end_before(text, begin)
        if text[dot - 1 : dot] == ".":
            raised.setdefault(name, []).append(at)
        at = text.find("+=", at + 1)
    return any(_is_count(name, where, text, tree) for name, where in raised.items())


def _is_count(name: str, raised: list[int], text: str, tree: Tree) -> bool:
    """Whether a lending method raises an attribute that its class compares with a limit, and lowers or owns a pool."""
    lending = {place.klass for place in tree.places(raised) if place.klass is not None and _lends(place)}
    if not lending:
        return False
    related = {klass.name for klass in lending}.union(*(map(last_name, klass.bases) for klass in lending))
    places = [
        place
        for place in tree.places(places_of(name, text))
        if not isinstance(place.stmt, ast.Assert)
        and place.klass is not None
        and (place.klass.name in related or not related.isdisjoint(map(last_name, place.klass.bases)))
    ]
    compared = any(
        isinstance(node, ast.Compare) and any(isinstance(op, _ORDERING) for op in node.ops) and name in words_in(node)
        for place in places
        for node in ast.walk(getattr(place.stmt, "test", place.stmt))
    )
    lowered = any(
        isinstance(place.stmt, ast.AugAssign) and isinstance(place.stmt.op, ast.Sub) and name in words_in(place.stmt)
        for place in places
    )
    return compared and (lowered or any_word(_POPS, text))


_ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _lends(place: Place) -> bool:
    """Whether a function lends: a context manager, or by its name a borrow method."""
    return any(
        LENDING_NAME.match(function.name)
        or any("contextmanager" in last_name(decorator) for decorator in function.decorator_list)
        for function in place.functions
    )


_THREADS = re.compile(r"local[\s\\]*[(),]|scoped_session\b|get_ident\b|current_thread\b")
_ASYNC_BLOCK = re.compile(r"\basync[\s\\]+(?:for|with)\b")


def lends_per_thread(text: str) -> bool:
    """Whether an object of a thread may be held across an ``await`` (POL406)."""
    waits = "async" in text and ("await" in text or _ASYNC_BLOCK.search(text) is not None)
    return waits and any(begins_word(match.start(), text) for match in _THREADS.finditer(text))
