"""What a call does to an object: one function per kind of callee."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.pools.state import NEVER_FAIL, is_resetting, word
from pool_lint.typestate.follow import EXC, NEXT, PERMIT, Follow, Out
from pool_lint.typestate.resolve import Callee, text_of
from pool_lint.typestate.state import (
    AWAITABLE,
    CAPTURE,
    CLOSER,
    DERIVED,
    EXIT,
    GROUND,
    GUARD,
    HELD,
    NONE,
    OBJECT,
    OWN,
    PART,
    PENDING,
    POOL,
    RESULT,
    RETURNED,
    TRUTHY,
    UNBOUND,
    Fact,
    Place,
)
from pool_lint.typestate.summary import Returned
from pool_lint.walk import names_read, path_of, pool_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pool_lint.flow.cfg import Point, Root
    from pool_lint.typestate.state import Site
    from pool_lint.typestate.summary import Effect

Parts = list[tuple[Place, str]]

_SPREAD = "*"


def call_effects(follow: Follow, index: int, point: Point, fact: Fact) -> Iterable[Out]:
    """Every way out of a call, with what the fact becomes on it."""
    call = point.node
    assert isinstance(call, ir.Call)
    callee = follow.file.resolver.callee(call, follow.function)
    if callee.kind == "std":
        leaving = _leaves(callee.name, fact)
        if leaving is not None:
            return leaving
    if fact.site == GROUND:
        return _ground(follow, index, point, fact, call, callee)
    if fact.status == PENDING:
        return _pending(follow, index, point, fact, call, callee)
    return _object(follow, index, point, fact, call, callee)


def _leaves(name: str, fact: Fact) -> Iterable[Out] | None:
    if name in ("sys.exit", "exit", "quit"):
        return ((EXC, fact._replace(exc=EXIT)),)
    if name in ("os._exit", "os.abort", "typing.assert_never", "typing_extensions.assert_never"):
        return ()
    return None


def raises(follow: Follow, point: Point, callee: Callee, call: ir.Call) -> bool:
    """Whether a call may raise, whoever its arguments are."""
    if callee.kind in ("release", "safe", "permit"):
        return False
    if callee.kind == "function" and callee.function is not None:
        return not follow.file.is_return_method(callee.function) and follow.file.may_raise(callee.function)
    if callee.kind == "class" and callee.klass is not None:
        return follow.file.constructor_may_raise(callee.klass)
    if callee.kind == "std":
        return callee.name not in _QUIET
    if isinstance(call.func, ir.Attr):
        name = call.func.name
        if name in _REGISTERING or name in follow.file.settings.no_raise:
            return False
        if name in ("close", "aclose") and _in_cleanup(follow, point):
            return False
        if name in NEVER_FAIL.get(word(follow.file.types.of(call.func.value, follow.function)), ()):
            return False
        if name in follow.file.catalog.no_raise_methods or (name == "pop" and len(call.args) == 2):  # noqa: PLR2004
            return False
        if name in follow.file.object_releases and point.srcs[0] in follow.handles:
            return False  # the return of another object
        if not call.args and name in ("items", "values", "keys") and path_of(call.func.value) is not None:
            return False
    elif isinstance(call.func, ir.Name) and call.func.id in follow.file.settings.no_raise:
        return False
    return callee.name not in follow.file.settings.no_raise or not callee.name


def _in_cleanup(follow: Follow, point: Point) -> bool:
    return any(region in ("final", "handler") for _, region in point.tries) or follow.function.name in (
        "__exit__", "__aexit__", "close", "aclose", "__del__",
    )  # fmt: skip


def returns(follow: Follow, callee: Callee) -> bool:
    """Whether a call can come back at all."""
    return not (
        callee.kind == "function" and callee.function is not None and follow.file.never_returns(callee.function)
    )


def arguments(point: Point, call: ir.Call, own: str) -> list[tuple[int | str | None, Root | None, ir.Expr]]:
    """The arguments of a call: position, keyword or None (starred); the root; the expression.

    ``own`` is the method's ``self``: to pass it on is not to give away what it keeps.
    """
    out: list[tuple[int | str | None, Root | None, ir.Expr]] = []
    for position, expr in enumerate(call.args):
        starred = any(isinstance(before, ir.Star) for before in call.args[: position + 1])
        root = point.srcs[1 + position]
        out.append((None if starred else position, root if root != own else None, expr))
    for offset, (name, expr) in enumerate(call.keywords):
        root = point.srcs[1 + len(call.args) + offset]
        out.append((name, root if root != own else None, expr))
    return out


# No object yet.


def _ground(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> Iterable[Out]:
    assert point.dst is not None
    dst = point.dst
    outs: list[Out] = []
    if callee.kind == "release":
        _release_of_nothing(follow, index, point, fact, call, callee)
    elif callee.kind in ("opaque", "function"):
        _maybe_release_of_nothing(follow, index, point, fact, call, callee)
    if (
        callee.kind == "permit"
        and callee.name == "acquire"
        and follow.file.permits.permit_matters(follow.function, callee.pool)
    ):
        outs.extend(_take_permit(follow, index, point, fact, callee))
    known = ""
    if callee.kind == "borrow":
        assert callee.spec is not None
        assert callee.borrow is not None
        ways = callee.borrow.ways
        returned = Returned((), callee.spec, ways, text_of(callee.pool or call.func), pool_path(callee.pool))
        outs.append(_born(follow, index, point, fact, call, returned, own=callee.own, key=0))
        known = TRUTHY if "call" in ways else ""
    elif callee.kind == "function" and callee.function is not None:
        for number, each in enumerate(follow.file.lent_by(callee.function)):
            mapped = _seen_from_caller(follow, each, callee, call)
            outs.append(_born(follow, index, point, fact, call, mapped, own=False, key=number))
            if "call" in mapped.ways and not mapped.where and not mapped.optional:
                known = TRUTHY
    if raises(follow, point, callee, call):
        outs.extend(follow.raising(fact))
    if returns(follow, callee):
        after = fact.forget(dst) if fact.env else fact
        if known and ((dst,) in follow.keys or isinstance(dst, int)):
            after = after.know((dst,), known)
        outs.append((NEXT, after))
    return outs


def _born(
    follow: Follow,
    index: int,
    point: Point,
    fact: Fact,
    call: ir.Call,
    what: Returned,
    *,
    own: bool,
    key: int,
) -> Out:
    """The fact of an object that this call borrows."""
    assert point.dst is not None
    number = follow.site_at((index, key), "borrow", what.spec, index, call, what.ways, what.pool, what.path, own=own)
    follow.sites[number].remedy = what.remedy
    now = "call" in what.ways
    role = OBJECT if now else AWAITABLE
    root: Place = (point.dst, *what.where)
    if what.spec.handle_is_pool and what.path is not None:
        root = what.path
    born = fact._replace(site=number, status=HELD if now else PENDING)
    born = born.bind(point.dst, [])
    places = set(born.places) | {(root, role)}
    places.update(((point.dst, *where), DERIVED) for where in what.derived)
    if what.path is not None:
        chosen = follow.pool_words.get(fact.known(what.path[:1]))
        if chosen is not None:
            places.add(((*chosen, *what.path[1:]), POOL))
            places.add((what.path, POOL))
        else:
            places.update((path, POOL) for path in follow.file.identity.aliases(what.path, follow.function))
    born = born.with_places(places)
    if now and isinstance(point.dst, str) and not what.where:
        born = follow.bind(index, point.dst, born, born.below(point.dst), TRUTHY)
    return NEXT, born


def _seen_from_caller(follow: Follow, what: Returned, callee: Callee, call: ir.Call) -> Returned:
    """A borrow inside a function, described in the words of the place that calls it."""
    function = callee.function
    assert function is not None
    receiver = call.func.value if isinstance(call.func, ir.Attr) else None
    path = _map_place(what.path, callee, call)
    pool, remedy = what.pool, what.remedy
    own_name = function.params[0].name if function.params else ""
    if receiver is not None and callee.bound:
        text = text_of(receiver)
        head, _, rest = what.pool.partition(".")
        if what.own and text != own_name:
            pool = text
            remedy = follow.file.remedy_of(function.owner)
        elif head == own_name and text != own_name:
            pool = f"{text}.{rest}" if rest else text
    return replace(what, path=path, pool=pool, remedy=remedy)


def _map_place(place: Place | None, callee: Callee, call: ir.Call) -> Place | None:
    """A place in a called function as a place of the caller, where it has a name there."""
    function = callee.function
    if place is None or function is None or not place:
        return None
    root, rest = place[0], place[1:]
    params = [param.name for param in function.params]
    if root not in params:
        return place if root not in function.assigned else None
    position = params.index(str(root))
    if callee.bound:
        if position == 0:
            base = pool_path(call.func.value) if isinstance(call.func, ir.Attr) else None
            return (*base, *rest) if base is not None else None
        position -= 1
    argument: ir.Expr | None = None
    if position < len(call.args):
        argument = call.args[position]
    else:
        argument = next((value for name, value in call.keywords if name == root), None)
    base = pool_path(argument)
    return (*base, *rest) if base is not None else None


def _take_permit(follow: Follow, index: int, point: Point, fact: Fact, callee: Callee) -> list[Out]:
    assert point.dst is not None
    assert callee.pool is not None
    kind = follow.file.types.of(callee.pool, follow.function)
    waits = kind is not None and kind.dotted.partition(".")[0] in ("asyncio", "trio", "anyio", "curio")
    number = follow.site_at(
        ("permit", index), "permit", PERMIT, index, point.node if isinstance(point.node, ir.Call) else None,
        frozenset(("await",) if waits else ("call",)), text_of(callee.pool), path_of(callee.pool), own=True,
    )  # fmt: skip
    born = fact._replace(site=number, status=PENDING if waits else HELD).bind(
        point.dst, [((), AWAITABLE if waits else OBJECT)]
    )
    return [(NEXT, born)]


def _release_of_nothing(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> None:
    assert callee.release is not None
    root = _released_root(follow, point, call, callee)
    if isinstance(root, str):
        known = fact.known((root,))
        if known in (UNBOUND, NONE):
            follow.report("unbound" if known == UNBOUND else "none", index, fact, root)


def _maybe_release_of_nothing(
    follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee
) -> None:
    """``conn.close()`` or ``self._give_back(conn)`` where conn was never assigned."""
    if isinstance(call.func, ir.Attr) and isinstance(point.srcs[0], str):
        known = fact.known((point.srcs[0],))
        if known in (UNBOUND, NONE) and call.func.name in follow.file.object_releases:
            follow.report("unbound" if known == UNBOUND else "none", index, fact, point.srcs[0])
    if callee.kind != "function" or callee.function is None:
        return
    for where, root, _ in arguments(point, call, follow.own_name):
        if isinstance(root, str) and fact.known((root,)) in (UNBOUND, NONE):
            param = _param_for(callee, where)
            if param is None:
                continue
            known = fact.known((root,))
            if known == NONE and not follow.file.releases_none(callee.function, param):
                continue
            if "returned" in follow.file.effect(callee.function, (param,), None).outcomes:
                follow.report("unbound" if known == UNBOUND else "none", index, fact, root)


def _released_root(follow: Follow, point: Point, call: ir.Call, callee: Callee) -> Root | None:
    form = callee.release
    assert form is not None
    if form.arg < 0:
        return None
    for where, root, _ in arguments(point, call, follow.own_name):
        if where == form.arg or (form.keyword and where == form.keyword):
            return root
    return None


def _released_expr(call: ir.Call, callee: Callee) -> ir.Expr | None:
    form = callee.release
    assert form is not None
    if 0 <= form.arg < len(call.args):
        return call.args[form.arg]
    return next((value for name, value in call.keywords if form.keyword and name == form.keyword), None)


# Called, but not yet awaited or entered.


def _pending(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> Iterable[Out]:
    assert point.dst is not None
    dst = point.dst
    outs: list[Out] = []
    moved: Parts = []
    for _, root, _expr in arguments(point, call, follow.own_name):
        parts = fact.below(root) if root is not None else []
        if not any(role == AWAITABLE for _, role in parts):
            continue
        stack = _stack_method(follow, call, callee)
        if stack in ("enter_context", "enter_async_context"):
            return _enter_on_stack(follow, index, point, fact, parts)
        if stack == "callback":
            continue
        moved.extend(parts)
    if raises(follow, point, callee, call) and not moved:
        outs.extend(follow.raising(fact))
    if returns(follow, callee):
        outs.append((NEXT, follow.bind(index, dst, fact, moved)))
    return outs


def _enter_on_stack(follow: Follow, index: int, point: Point, fact: Fact, parts: Parts) -> Iterable[Out]:
    """``stack.enter_context(pool.connection())``: the stack returns the object at its end."""
    assert point.dst is not None
    stack = point.srcs[0]
    held = fact._replace(status=HELD)
    if not follow.is_local(stack):
        follow.sites[fact.site].transferred = True
        return ()
    places = {entry for entry in held.places if entry[1] != AWAITABLE}
    assert stack is not None
    places.add(((stack,), GUARD))
    bound: Parts = []
    for rest, role in parts:
        inner = rest[1:] if rest and rest[0] == ".it" else rest
        if role in (AWAITABLE, OBJECT):
            bound.append((inner, OBJECT))
    held = held.with_places(places)
    return ((NEXT, follow.bind(index, point.dst, held, bound, TRUTHY)),)


def _stack_method(follow: Follow, call: ir.Call, callee: Callee) -> str:
    """The method of an ExitStack that is called, or ""."""
    if not isinstance(call.func, ir.Attr):
        return ""
    name = call.func.name
    if name in ("enter_context", "enter_async_context", "push_async_callback", "push_async_exit"):
        return name
    if name in ("callback", "push", "pop_all", "close", "aclose"):
        kind = follow.file.types.of(call.func.value, follow.function)
        dotted = kind.dotted if kind is not None else ""
        if dotted in ("contextlib.ExitStack", "contextlib.AsyncExitStack"):
            return name
        path = path_of(call.func.value)
        if name in ("callback", "push", "pop_all") and path is not None and "stack" in str(path[-1]).lower():
            return name
    return ""


# An object on its way.


def _object(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> Iterable[Out]:
    site = follow.sites[fact.site]
    if site.kind == "permit":
        return _permit_call(follow, index, point, fact, call, callee)
    receiver = point.srcs[0]
    parts = fact.below(receiver) if receiver is not None else []
    own = {role for rest, role in parts if not rest}
    if callee.kind == "release":
        found = _release(follow, index, point, fact, call, callee)
        if found is not None:
            return found
    if CLOSER in own and not point.name:
        return _closed(follow, index, point, fact, callee, call)
    if OBJECT in own and point.name:
        return _method(follow, index, point, fact, call, callee)
    if DERIVED in own and point.name:
        return _derived(follow, index, point, fact, call)
    stack = _stack_method(follow, call, callee)
    if stack:
        found = _on_stack(follow, index, point, fact, call, callee, stack)
        if found is not None:
            return found
    inside = [(rest, role) for rest, role in parts if rest]
    if point.name and point.name in _CONTAINER_METHODS and callee.kind not in ("function", "release", "borrow"):
        found = _container(follow, index, point, fact, call, inside)
        if found is not None:
            return found
    return _with_arguments(follow, index, point, fact, call, callee)


def _finish(
    follow: Follow,
    index: int,
    point: Point,
    fact: Fact,
    call: ir.Call,
    callee: Callee,
    parts: Parts,
    *,
    library: bool = False,
) -> list[Out]:
    """The ordinary ways out of a call that leaves the object as it is; ``parts`` reach it through the result."""
    assert point.dst is not None
    outs: list[Out] = []
    site = follow.sites[fact.site]
    if callee.own and site.own and callee.kind == "borrow":
        outs.extend(_empty(follow, fact, callee))
    elif _raises_for(follow, point, fact, call, callee):
        outs.extend(follow.raising(fact, library=library))
    if returns(follow, callee):
        outs.append((NEXT, follow.bind(index, point.dst, fact, parts)))
    return outs


def _empty(follow: Follow, fact: Fact, callee: Callee) -> list[Out]:
    """A pool's own container has nothing left: that may be caught, and is no fault of the borrow method."""
    spec = callee.spec
    container = next((each for each in follow.file.catalog.containers if spec is not None and each.id == spec.id), None)
    names = container.empty_errors if container is not None else ("IndexError",)
    return [(EXC, fact._replace(exc=OWN + name)) for name in names]


def _raises_for(follow: Follow, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> bool:
    site = follow.sites[fact.site]
    if follow.setting == "handle":
        touched = any(
            root is not None and any(role in (OBJECT, DERIVED) for _, role in fact.below(root)) for root in point.srcs
        )
        if not touched:
            return False
    if callee.own and site.own and callee.kind in ("borrow", "release"):
        return False
    return raises(follow, point, callee, call)


def _release(
    follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee
) -> Iterable[Out] | None:
    """A call of a pool's return method: of this object, of a fresh one in its place, or of another."""
    form = callee.release
    site = follow.sites[fact.site]
    assert form is not None
    assert callee.pool is not None
    if form.arg < 0:
        if site.path is not None and pool_path(callee.pool) == site.path and fact.status == HELD:
            return _given_back(follow, index, point, fact)
        return None
    root = _released_root(follow, point, call, callee)
    parts = fact.below(root) if root is not None else []
    mine = any(role in (OBJECT, PART) for _, role in parts)
    if not mine:
        if site.kind == "param":
            # A return method that puts a new slot made from what it is given.
            expr = _released_expr(call, callee)
            names = {str(place[0]) for place, role in fact.places if role in (OBJECT, PART)}
            if fact.status == HELD and isinstance(expr, ir.Call) and names & set(names_read(expr)):
                _note_pool(follow, fact, callee)
                return _given_back(follow, index, point, fact)
            return None
        if (
            fact.status == HELD
            and site.kind == "borrow"
            and not site.spec.library
            and _is_replacement(follow, call, callee)
            and _same_pool(follow, fact, pool_path(callee.pool))
        ):
            return _given_back(follow, index, point, fact)
        return None
    if fact.status == RETURNED:
        return _second(follow, index, point, fact)
    if site.kind == "borrow" and not _same_pool(follow, fact, pool_path(callee.pool)):
        follow.report("wrong", index, fact)
        site.wrong_pool = True
    _note_pool(follow, fact, callee)
    return _given_back(follow, index, point, fact)


def put_by_key(follow: Follow, index: int, point: Point, fact: Fact) -> Iterable[Out] | None:
    """``idle[key] = object``, where the dict is a pool: the object goes back."""
    target, src = point.node, point.srcs[1]
    if not isinstance(target, ir.Sub) or src is None:
        return None
    spec, _ = follow.file.resolver.pool_spec(target.value, follow.function)
    if spec is None or not any(form.method == "__setitem__" for form in spec.releases):
        return None
    site = follow.sites[fact.site] if fact.site != GROUND else None
    if site is None:
        known = fact.known((src,))
        if isinstance(src, str) and known in (UNBOUND, NONE):
            follow.report("unbound" if known == UNBOUND else "none", index, fact, src)
        return None
    if site.kind == "permit" or not any(role in (OBJECT, PART) for _, role in fact.below(src)):
        return None
    path = pool_path(target.value)
    same = site.kind != "borrow" or _same_pool(follow, fact, path)
    if fact.status == RETURNED:
        if fact.via.startswith("stale"):
            follow.report("stale", index, fact)
        elif site.kind == "borrow":
            follow.report("double", index, fact)
        return ((NEXT, fact),)
    if not same:
        follow.report("wrong", index, fact)
        site.wrong_pool = True
    if path is not None:
        site.released_to.add(path)
    return ((NEXT, follow.give_back(index, fact)),)


def _note_pool(follow: Follow, fact: Fact, callee: Callee) -> None:
    path = pool_path(callee.pool)
    if path is not None:
        follow.sites[fact.site].released_to.add(path)


def _given_back(follow: Follow, index: int, point: Point, fact: Fact) -> list[Out]:
    assert point.dst is not None
    after = follow.give_back(index, fact)
    return [(NEXT, follow.bind(index, point.dst, after, []))]


def _second(follow: Follow, index: int, point: Point, fact: Fact) -> Iterable[Out]:
    """The object is returned again."""
    assert point.dst is not None
    site = follow.sites[fact.site]
    if fact.via.startswith("stale"):
        follow.report("stale", index, fact)
    elif site.kind == "borrow" and (
        not (site.spec.second_release_ok or (_is_destroyed(follow, fact) and _may_go_back(follow, fact)))
        or _elsewhere(follow, point, fact)
    ):
        follow.report("double", index, fact)
    return ((NEXT, follow.bind(index, point.dst, fact, [])),)


def _may_go_back(follow: Follow, fact: Fact) -> bool:
    """Whether what was closed opens itself again: by its type, or since a client that disconnects connects again."""
    return follow.points[fact.done].name == "disconnect" or follow.file.containers.reopens(follow.sites[fact.site].spec)


def _elsewhere(follow: Follow, point: Point, fact: Fact) -> bool:
    """Whether a second return goes to another pool, which is not harmless."""
    call = point.node
    if not isinstance(call, ir.Call):
        return False
    callee = follow.file.resolver.callee(call, follow.function)
    return callee.kind == "release" and not _same_pool(follow, fact, pool_path(callee.pool))


def _is_replacement(follow: Follow, call: ir.Call, callee: Callee) -> bool:
    """Whether what is put is a fresh object, or an empty slot, in place of the one that was taken."""
    expr = _released_expr(call, callee)
    return expr is not None and _is_fresh(follow, expr, 0)


def _is_fresh(follow: Follow, expr: ir.Expr, depth: int) -> bool:
    if isinstance(expr, ir.Await):
        return _is_fresh(follow, expr.value, depth)
    if isinstance(expr, ir.Const):
        return expr.value is None
    if isinstance(expr, ir.Call):
        inner = follow.file.resolver.callee(expr, follow.function)
        if inner.kind == "borrow":
            return False
        return not (inner.kind == "function" and inner.function is not None and follow.file.lent_by(inner.function))
    if isinstance(expr, ir.Cond):
        return _is_fresh(follow, expr.body, depth) or _is_fresh(follow, expr.orelse, depth)
    if isinstance(expr, ir.Name) and depth == 0:
        values = follow.file.containers.assigned(follow.function).get(expr.id, [])
        return any(_is_fresh(follow, value, 1) for value in values)
    return False


def _is_replaced(follow: Follow, fact: Fact) -> bool:
    """Whether this function puts something fresh into a home-made pool in place of what it destroys."""
    site = follow.sites[fact.site]
    if site.spec.library:
        return False
    for point in follow.points:
        if point.kind == "call" and isinstance(point.node, ir.Call):
            callee = follow.file.resolver.callee(point.node, follow.function)
            if (
                callee.kind == "release"
                and callee.spec is not None
                and not callee.spec.library
                and _is_replacement(follow, point.node, callee)
            ):
                return True
    return False


def _destroys(follow: Follow, fact: Fact, name: str) -> bool:
    """Whether a method destroys an object of a home-made pool in a way that costs the pool nothing."""
    site = follow.sites[fact.site]
    if name not in _DESTROYING or site.spec.library:
        return False
    if _is_replaced(follow, fact):
        return True
    if site.kind == "param" or follow.file.containers.opens_when_empty(site.spec):
        return follow.file.frees_place(follow.function)
    return False


def _same_pool(follow: Follow, fact: Fact, path: Place | None) -> bool:
    """Whether an object goes back to where it came from; unless it plainly does not, it does."""
    site = follow.sites[fact.site]
    if path is None or site.path is None:
        return True
    chosen = follow.pool_words.get(fact.known(path[:1]))
    if chosen is not None:
        path = (*chosen, *path[1:])
    homes = [place for place, role in fact.places if role == POOL]
    if path in homes:
        return True
    known = [
        place
        for place in homes
        if follow.file.pool_at(
            place[:-1] if str(place[-1]).startswith("._") and len(place) > len(path) else place, follow.function
        )
    ]
    if (
        known
        and follow.pool_words
        and all(follow.file.identity.other_pool(place, path, follow.function) for place in known)
    ):
        return False
    if path in follow.file.identity.aliases(site.path, follow.function):
        # It was that pool; the name has been given another one since.
        return not follow.file.identity.gets_another_pool(path, follow.function)
    return not follow.file.identity.other_pool(site.path, path, follow.function)


def _closed(follow: Follow, index: int, point: Point, fact: Fact, callee: Callee, call: ir.Call) -> Iterable[Out]:
    """A callable that returns the object is called."""
    assert point.dst is not None
    if fact.status == RETURNED:
        return _second(follow, index, point, fact)
    after = follow.give_back(index, fact)
    outs: list[Out] = []
    if callee.kind == "function" and raises(follow, point, callee, call):
        outs.extend(follow.raising(after))
    outs.append((NEXT, follow.bind(index, point.dst, after, [])))
    return outs


def _method(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> Iterable[Out]:
    """A method of the object itself."""
    assert point.dst is not None
    site = follow.sites[fact.site]
    name = point.name
    release = follow.object_release(fact, name)
    if fact.status == RETURNED and _is_finishing(follow, fact, name):
        return [*follow.raising(fact, library=True), (NEXT, follow.bind(index, point.dst, fact, []))]
    if release is not None:
        if fact.status == RETURNED:
            if site.spec.reconnects or site.spec.second_release_ok:
                return ((NEXT, follow.bind(index, point.dst, fact, [])),)
            return _second(follow, index, point, fact)
        if not release and site.spec.reconnects:
            return _finish(follow, index, point, fact, call, callee, [], library=True)
        return _given_back(follow, index, point, fact)
    if _destroys(follow, fact, name) and fact.status == HELD:
        site.returned = True
        if site.kind == "borrow":
            return ()  # what takes its place goes back, unless it cannot be made: nobody's fault here
        return _given_back(follow, index, point, fact)
    if site.kind == "param" and name in follow.file.object_releases and not site.spec.releases:
        return _given_back(follow, index, point, fact)
    if fact.status == RETURNED and follow.is_use(fact, index):
        if site.spec.reconnects and name in ("close", "aclose", "disconnect"):
            return ((NEXT, follow.bind(index, point.dst, fact, [])),)
        follow.report("use", index, fact)
        return ()
    parts: Parts = []
    if name in site.spec.returns_itself:
        return [(NEXT, follow.bind(index, point.dst, fact, [((), OBJECT)]))]
    if name in site.spec.derives:
        parts = [((), DERIVED)]
    elif isinstance(point.dst, int):
        parts = [((), RESULT)]
    if _is_mechanism(follow, point, site, name):
        return [(NEXT, follow.bind(index, point.dst, fact, parts))]
    if callee.kind == "function" and callee.function is not None:
        # A class of this file: what its method raises can be seen.
        return _finish(follow, index, point, fact, call, callee, parts)
    quiet = name in ("close", "aclose") and _in_cleanup(follow, point) and name not in site.spec.cleanup_raises
    if quiet or follow.file.is_known_reset(site, follow.function, name):
        return [(NEXT, follow.bind(index, point.dst, fact, parts))]
    outs = list(follow.raising(fact, library=True))
    outs.append((NEXT, follow.bind(index, point.dst, fact, parts)))
    return outs


def _is_mechanism(follow: Follow, point: Point, site: Site, name: str) -> bool:
    """Whether a pool that lends resets an object on its way back into its own container (``rollback`` is none)."""
    return (
        site.own
        and follow.file.is_lender(follow.function)
        and any(region == "final" for _, region in point.tries)
        and is_resetting(name)
    )


def _is_finishing(follow: Follow, fact: Fact, name: str) -> bool:
    """Whether a method finishes what destroying an object has begun: ``kill`` and ``wait``, ``shutdown`` and ``close``.

    Only where a method of the object ended the borrow: one that is in its pool again is not to be closed.
    """
    return name in _FINISHING | _DESTROYING and _is_destroyed(follow, fact)


def _is_destroyed(follow: Follow, fact: Fact) -> bool:
    """Whether a method of an object of a home-made pool, and no return, has ended the borrow."""
    if fact.done < 0 or follow.sites[fact.site].spec.library:
        return False
    done = follow.points[fact.done]
    return done.kind == "call" and done.name in _DESTROYING and follow.object_release(fact, done.name) is False


def _derived(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call) -> Iterable[Out]:
    """A method of a cursor, stream or result."""
    assert point.dst is not None
    site = follow.sites[fact.site]
    name = point.name
    closing = name in ("close", "aclose", "__exit__")
    if fact.status == RETURNED:
        if not closing and follow.is_use(fact, index):
            follow.report("use", index, fact)
            return ()
        return ((NEXT, follow.bind(index, point.dst, fact, [])),)
    parts: Parts = []
    if name in site.spec.rederives or name in site.spec.derives:
        parts = [((), DERIVED)]
    elif isinstance(point.dst, int):
        parts = [((), RESULT)]
    quiet = closing and _in_cleanup(follow, point) and name not in site.spec.cleanup_raises
    outs: list[Out] = [] if quiet else list(follow.raising(fact, library=True))
    outs.append((NEXT, follow.bind(index, point.dst, fact, parts)))
    return outs


def _on_stack(
    follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee, stack: str
) -> Iterable[Out] | None:
    """Methods of an ExitStack: what it is given, it returns at its end."""
    assert point.dst is not None
    root = point.srcs[0]
    guarded = root is not None and GUARD in fact.roles((root,))
    if stack == "pop_all" and guarded and root is not None:
        places = {entry for entry in fact.places if not (entry[0][0] == root and entry[1] == GUARD)}
        return [(NEXT, follow.bind(index, point.dst, fact.with_places(places), [((), GUARD)]))]
    if stack in ("close", "aclose"):
        if guarded and fact.status == HELD:
            return _given_back(follow, index, point, fact)
        return None
    if stack in ("callback", "push", "push_async_callback", "push_async_exit"):
        if not _registers(follow, point, fact, call):
            if stack in ("push", "push_async_exit"):
                return _push_object(follow, index, point, fact, call)
            return None
        return _guarded_by(follow, index, point, fact, root, [])
    for _, argument, _expr in arguments(point, call, follow.own_name):
        parts = fact.below(argument) if argument is not None else []
        if fact.status == HELD and any(role in (OBJECT, GUARD) for _, role in parts):
            site = follow.sites[fact.site]
            closes = site.spec.with_object == "returns" or bool(site.ways & {"with", "async with"})
            if any(role == GUARD for _, role in parts) or closes:
                bound = [
                    (rest[1:] if rest and rest[0] == ".it" else rest, role) for rest, role in parts if role != GUARD
                ]
                return _guarded_by(follow, index, point, fact, root, bound)
            return _finish(
                follow, index, point, fact, call, callee, [part for part in parts if part[1] != GUARD], library=True
            )
        if any(role == DERIVED for _, role in parts):
            bound = [(rest[1:] if rest and rest[0] == ".it" else rest, role) for rest, role in parts]
            return _finish(follow, index, point, fact, call, callee, bound, library=True)
    return None


def _push_object(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call) -> Iterable[Out] | None:
    site = follow.sites[fact.site]
    for _, argument, _expr in arguments(point, call, follow.own_name):
        if argument is None or fact.status != HELD:
            continue
        roles = fact.roles((argument,))
        if GUARD in roles or (OBJECT in roles and site.spec.with_object == "returns"):
            return _guarded_by(follow, index, point, fact, point.srcs[0], fact.below(argument))
    return None


def _guarded_by(follow: Follow, index: int, point: Point, fact: Fact, root: Root | None, bound: Parts) -> Iterable[Out]:
    assert point.dst is not None
    if fact.status != HELD:
        return ((NEXT, follow.bind(index, point.dst, fact, bound)),)
    if root is None or not follow.is_local(root):
        follow.transfer(fact)
        return ()
    fact = fact.with_places(set(fact.places) | {((root,), GUARD)})
    return ((NEXT, follow.bind(index, point.dst, fact, bound)),)


def _registers(follow: Follow, point: Point, fact: Fact, call: ir.Call) -> bool:
    """Whether a call is given something that will return the object: a closer, or a return method and the object."""
    listed = arguments(point, call, follow.own_name)
    for where, root, expr in listed:
        if root is not None and any(role == CLOSER for rest, role in fact.below(root) if not rest):
            return True
        if isinstance(where, int):
            later = [
                each
                for position, each, _ in listed
                if (isinstance(position, int) and position > where) or isinstance(position, str)
            ]
            if not any(
                each is not None and any(role in (OBJECT, PART) for _, role in fact.below(each)) for each in later
            ):
                continue
            if follow.file.resolver.release_of(expr, follow.function) is not None:
                return True
            function = follow.file.function_of(expr, follow.function)
            if function is not None and _function_returns(follow, fact, function, listed, where):
                return True
            if isinstance(expr, ir.Attr) and follow.file.looks_like_release(expr.name):
                return True
    return False


def _function_returns(
    follow: Follow,
    fact: Fact,
    function: tuple[ir.Function, bool],
    listed: list[tuple[int | str | None, Root | None, ir.Expr]],
    where: int,
) -> bool:
    target, bound = function
    params = [param.name for param in target.params][1 if bound else 0 :]
    spec = follow.sites[fact.site].spec
    for position, root, _ in listed:
        if root is None or not any(role in (OBJECT, PART) for _, role in fact.below(root)):
            continue
        name = position if isinstance(position, str) else None
        if isinstance(position, int) and 0 <= position - where - 1 < len(params):
            name = params[position - where - 1]
        if name is not None and follow.file.closes(target, (name,), spec):
            return True
    return False


def _container(
    follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, inside: Parts
) -> Iterable[Out] | None:
    """Methods of lists, dicts and the like that hold the object, or get it."""
    assert point.dst is not None
    name = point.name
    base = point.srcs[0]
    if name in ("append", "add", "appendleft", "insert", "put", "put_nowait", "setdefault"):
        for _, root, _expr in arguments(point, call, follow.own_name):
            parts = fact.below(root) if root is not None else []
            if any(role in (OBJECT, PART, DERIVED, CLOSER, GUARD, CAPTURE) for _, role in parts):
                return follow.put_into(index, point, fact, base, parts)
        return None
    if name in ("extend", "extendleft", "update"):
        places = set(fact.places)
        for _, root, _expr in arguments(point, call, follow.own_name):
            for rest, role in fact.below(root) if root is not None else ():
                if rest and follow.is_local(base) and base is not None:
                    places.add(((base, *rest), role))
                elif rest and role == OBJECT and fact.status == HELD:
                    follow.transfer(fact)
                    return ()
        return (
            [(NEXT, follow.bind(index, point.dst, fact.with_places(places), []))]
            if places != set(fact.places)
            else None
        )
    if not inside:
        return None
    elements = [(rest[1:], role) for rest, role in inside if rest[0] == "*" or isinstance(rest[0], int)]
    if name in ("pop", "popleft"):
        kept = {entry for entry in fact.places if entry[0][0] != base or len(entry[0]) == 1}
        return [(NEXT, follow.bind(index, point.dst, fact.with_places(kept), elements))]
    if name == "popitem":
        kept = {entry for entry in fact.places if entry[0][0] != base or len(entry[0]) == 1}
        return [
            (
                NEXT,
                follow.bind(index, point.dst, fact.with_places(kept), [((1, *rest), role) for rest, role in elements]),
            )
        ]
    if name == "items":
        return [(NEXT, follow.bind(index, point.dst, fact, [(("*", 1, *rest), role) for rest, role in elements]))]
    if name in ("values", "copy"):
        return [(NEXT, follow.bind(index, point.dst, fact, inside))]
    if name in ("get", "__getitem__"):
        return [(NEXT, follow.bind(index, point.dst, fact, elements))]
    if name == "clear":
        kept = {entry for entry in fact.places if entry[0][0] != base or len(entry[0]) == 1}
        return [(NEXT, follow.bind(index, point.dst, fact.with_places(kept), []))]
    return None


def _with_arguments(
    follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee
) -> Iterable[Out]:
    """The object is, or may be, an argument."""
    if callee.kind == "std":
        return _standard(follow, index, point, fact, call, callee)
    if callee.kind == "function" and callee.function is not None:
        return _function(follow, index, point, fact, call, callee)
    if callee.kind == "class" and callee.klass is not None:
        return _constructor(follow, index, point, fact, call, callee)
    listed = arguments(point, call, follow.own_name)
    roles = {role for _, root, _ in listed if root is not None for _, role in fact.below(root)}
    if not roles & {OBJECT, PART, DERIVED, CLOSER, CAPTURE, GUARD}:
        return _finish(follow, index, point, fact, call, callee, [])
    if fact.status == RETURNED:
        if callee.kind == "safe" or not roles & {OBJECT, DERIVED} or not follow.is_use(fact, index):
            return _finish(follow, index, point, fact, call, callee, [])
        if roles <= {OBJECT, POOL, CLOSER} and callee.kind in ("release", "borrow"):
            return _finish(follow, index, point, fact, call, callee, [])
        follow.report("use", index, fact)
        return ()
    site = follow.sites[fact.site]
    if callee.kind == "safe":
        return _finish(follow, index, point, fact, call, callee, [])
    if callee.name == "keeps nothing":
        return _finish(follow, index, point, fact, call, callee, [], library=True)
    if _registers(follow, point, fact, call):
        follow.transfer(fact)
        return ()
    if roles & {OBJECT, PART, CAPTURE, GUARD}:
        site.unseen = True
        if follow.is_lenient(fact) and site.kind != "param":
            follow.transfer(fact)
            return ()
    parts: Parts = []
    if OBJECT in roles and _is_class_like(call.func):
        parts = [((), CAPTURE)]
    return _finish(follow, index, point, fact, call, callee, parts)


def _is_class_like(func: ir.Expr) -> bool:
    path = path_of(func)
    last = str(path[-1]).lstrip("._") if path else ""
    return last[:1].isupper()


def _standard(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> Iterable[Out]:
    """Functions of the standard library through which an object passes."""
    assert point.dst is not None
    name = callee.name
    listed = arguments(point, call, follow.own_name)
    parts: Parts = []
    for where, root, _expr in listed:
        below = fact.below(root) if root is not None else []
        if not below:
            continue
        if name in _PASSING:
            parts.extend(below)
        elif name in ("list", "tuple", "set", "frozenset", "iter", "reversed", "sorted", "dict"):
            parts.extend(part for part in below if part[0] or part[1] == DERIVED)
        elif name == "enumerate":
            parts.extend(((rest[0], 1, *rest[1:]), role) for rest, role in below if rest)
        elif name == "zip" and isinstance(where, int):
            parts.extend(((rest[0], where, *rest[1:]), role) for rest, role in below if rest)
        elif name == "memoryview" and any(not rest and role in (OBJECT, DERIVED) for rest, role in below):
            if fact.status == HELD and follow.is_lenient(fact):
                follow.transfer(fact)
                return ()
            parts.append(((), DERIVED))
        elif name == "next":
            parts.extend((rest[1:], role) for rest, role in below if rest)
        elif name in ("contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext"):
            for rest, role in below:
                parts.append(((".it", *rest), role))
                closes = (
                    follow.object_release(fact, "close") is not None
                    or follow.object_release(fact, "aclose") is not None
                )
                if not rest and role == OBJECT and closes and name != "contextlib.nullcontext":
                    parts.append(((), GUARD))
        elif name == "functools.partial":
            parts.append(((), CLOSER if _registers(follow, point, fact, call) else CAPTURE))
        elif name == "setattr" and fact.status == HELD and where == 2:  # noqa: PLR2004 - the value's position
            follow.transfer(fact)
            return ()
    if name in _READING and fact.status == RETURNED:
        for _, root, _expr in listed:
            if root is not None and DERIVED in fact.roles((root,)) and follow.is_use(fact, index):
                follow.report("use", index, fact)
                return ()
    if name in ("list", "tuple", "set", "sorted", "dict", "frozenset"):
        parts = [part for part in parts if part[0] or part[1] != DERIVED]
    library = any(
        root is not None and any(role in (OBJECT, DERIVED) for rest, role in fact.below(root) if not rest)
        for _, root, _ in listed
    )
    if name in ("contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext", "functools.partial"):
        return [(NEXT, follow.bind(index, point.dst, fact, parts))]
    return _finish(follow, index, point, fact, call, callee, parts, library=library)


def _param_for(callee: Callee, where: int | str | None) -> str | None:
    """The parameter that an argument becomes."""
    function = callee.function
    if function is None or where is None:
        return None
    if isinstance(where, str):
        return where if any(param.name == where for param in function.params) else None
    position = where + (1 if callee.bound else 0)
    positional = [param.name for param in function.params if param.kind == "positional"]
    return positional[position] if position < len(positional) else None


def _function(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> Iterable[Out]:
    """A function of this file: what it does with the object is in its summary."""
    function = callee.function
    assert function is not None
    assert point.dst is not None
    site = follow.sites[fact.site]
    entries, others = _given(follow, point, fact, call, callee)
    if _SPREAD in others:
        site.unseen = True
        if fact.status == HELD and follow.is_lenient(fact) and site.kind != "param":
            follow.transfer(fact)
            return ()
    if not entries:
        derived = DERIVED in others
        if fact.status == RETURNED and derived and follow.is_use(fact, index) and not function.is_generator:
            follow.report("use", index, fact)
            return ()
        if CLOSER in others and fact.status == HELD:
            follow.transfer(fact)
            return ()
        return _finish(follow, index, point, fact, call, callee, [], library=derived)
    effects = [follow.file.effect(function, entry, site.spec) for entry in entries]
    effect = max(effects, key=lambda each: _strength(each.outcomes))
    if function.is_generator:
        role = GUARD if "returned" in effect.outcomes and follow.file.is_lender(function) else CAPTURE
        return _finish(follow, index, point, fact, call, callee, [((), role)])
    if fact.status == RETURNED:
        return _returned_before(follow, index, point, fact, call, callee, effect)
    ends = {"returned", "stored"} & effect.outcomes
    if ends and "held" in effect.outcomes:
        # Sometimes it returns the object: nobody can tell from here.
        if "stored" in ends or site.kind == "param":
            site.transferred = True
        site.returned = True
        follow.transfer(fact)
        return ()
    if "stored" in ends:
        follow.transfer(fact)
        return ()
    if "returned" in ends:
        return _returned_by(follow, index, point, fact, call, callee, effect)
    if effect.unseen:
        site.unseen = True
        if follow.is_lenient(fact) and site.kind != "param":
            follow.transfer(fact)
            return ()
    outs = list(follow.raising(fact)) if raises(follow, point, callee, call) else []
    if returns(follow, callee):
        outs.append((NEXT, follow.bind(index, point.dst, fact, list(effect.results))))
    return outs


def _given(follow: Follow, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> tuple[list[Place], set[str]]:
    """The places at which a function of this file finds the object, and how else its arguments reach it.

    The others are DERIVED, CLOSER, and _SPREAD where the object is in an argument that is no one parameter.
    """
    function = callee.function
    assert function is not None
    entries: list[Place] = []
    others: set[str] = set()
    if callee.bound and point.srcs[0] is not None and isinstance(call.func, ir.Attr) and function.params:
        entries.extend(
            (function.params[0].name, *rest)
            for rest, role in fact.below(point.srcs[0])
            if role == OBJECT
            and rest
            and isinstance(rest[0], str)
            and follow.file.mentions(function, rest[0].lstrip("."))
        )
    for where, root, _expr in arguments(point, call, follow.own_name):
        param = _param_for(callee, where)
        for rest, role in fact.below(root) if root is not None else ():
            if role in (OBJECT, PART) and param is not None:
                entries.append((param, *rest))
            elif role in (OBJECT, PART):
                others.add(_SPREAD)
            elif role in (DERIVED, CLOSER) and not rest:
                others.add(role)
    return entries, others


def _returned_before(
    follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee, effect: Effect
) -> Iterable[Out]:
    """A function of this file gets an object that has been returned."""
    if "returned" in effect.outcomes and "held" not in effect.outcomes:
        if not effect.pools and not follow.sites[fact.site].spec.library:
            # It only destroys the object, once more.
            return _finish(follow, index, point, fact, call, callee, [])
        return _second_by_helper(follow, index, point, fact, call, callee)
    if effect.uses and follow.is_use(fact, index):
        follow.report("use", index, fact)
        return ()
    return _finish(follow, index, point, fact, call, callee, [])


def _returned_by(
    follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee, effect: Effect
) -> Iterable[Out]:
    """A function of this file returns the object on every path."""
    assert point.dst is not None
    site = follow.sites[fact.site]
    for pool in effect.pools:
        path = _map_place(pool, callee, call)
        if path is None:
            continue
        if site.kind == "param":
            site.released_to.add(path)
        elif site.kind == "borrow" and not _same_pool(follow, fact, path):
            follow.report("wrong", index, fact)
            site.wrong_pool = True
    after = follow.give_back(index, fact)
    outs = list(follow.raising(after)) if effect.raises and raises(follow, point, callee, call) else []
    if returns(follow, callee):
        outs.append((NEXT, follow.bind(index, point.dst, after, [])))
    return outs


def _strength(outcomes: frozenset[str]) -> int:
    return 2 if "returned" in outcomes else 1 if "stored" in outcomes else 0


def _second_by_helper(
    follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee
) -> Iterable[Out]:
    outs = [out for out in _finish(follow, index, point, fact, call, callee, []) if out[0] == EXC]
    outs.extend(_second(follow, index, point, fact))
    return outs


def _constructor(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> Iterable[Out]:
    """An instance of a class of this file is made with the object: it may keep it."""
    klass = callee.klass
    assert klass is not None
    assert point.dst is not None
    site = follow.sites[fact.site]
    given: list[str] = []
    touched = False
    for where, root, _expr in arguments(point, call, follow.own_name):
        if root is None:
            continue
        for _rest, role in fact.below(root):
            if role in (OBJECT, PART, CLOSER, GUARD):
                touched = True
                given.extend(follow.file.attributes.constructor_attrs(klass, where))
                if role == CLOSER and fact.status == HELD:
                    follow.transfer(fact)
                    return ()
    if not touched:
        return _finish(follow, index, point, fact, call, callee, [])
    if fact.status == RETURNED:
        if follow.is_use(fact, index):
            follow.report("use", index, fact)
            return ()
        return _finish(follow, index, point, fact, call, callee, [])
    if any(follow.file.attributes.attr_policy(klass, None, name) == "given" for name in given):
        follow.transfer(fact)
        return ()
    if not given or any(follow.file.attributes.attr_policy(klass, None, name) == "unseen" for name in given):
        site.unseen = True
        if follow.is_lenient(fact) and site.kind != "param":
            follow.transfer(fact)
            return ()
    return _finish(follow, index, point, fact, call, callee, [((), CAPTURE)])


# Permits of a semaphore.


def _permit_call(follow: Follow, index: int, point: Point, fact: Fact, call: ir.Call, callee: Callee) -> Iterable[Out]:
    assert point.dst is not None
    site = follow.sites[fact.site]
    if (
        callee.kind == "permit"
        and callee.name == "release"
        and callee.pool is not None
        and path_of(callee.pool) == site.path
    ):
        site.returned = True
        return ()
    if (
        callee.kind == "function"
        and callee.function is not None
        and follow.file.permits.releases_permit(callee.function, site.path)
    ):
        site.returned = True
        return ()
    if _registers_permit(follow, call, site.path):
        site.transferred = True
        return ()
    if callee.own and callee.kind in ("borrow", "release"):
        outs = _empty(follow, fact, callee) if callee.kind == "borrow" else []
        return [*outs, (NEXT, follow.bind(index, point.dst, fact, []))]
    if callee.kind == "std" and callee.name in ("heapq.heappop", "heapq.heappush"):
        return [(NEXT, follow.bind(index, point.dst, fact, []))]
    if isinstance(call.func, ir.Attr) and follow.file.permits.is_own_container(call.func.value, follow.function):
        outs = [
            (EXC, fact._replace(exc=OWN + name))
            for name in ("IndexError", "KeyError", "queue.Empty", "asyncio.QueueEmpty")
        ]
        if call.func.name not in ("pop", "popleft", "get", "get_nowait", "popitem"):
            outs = []
        return [*outs, (NEXT, follow.bind(index, point.dst, fact, []))]
    return _finish(follow, index, point, fact, call, callee, [])


def _registers_permit(follow: Follow, call: ir.Call, path: Place | None) -> bool:
    for expr in (*call.args, *(value for _, value in call.keywords)):
        if isinstance(expr, ir.Attr) and expr.name == "release" and path_of(expr.value) == path:
            return True
        function = follow.file.function_of(expr, follow.function)
        if function is not None and follow.file.permits.releases_permit(function[0], path):
            return True
        if isinstance(expr, ir.Lambda) and follow.file.permits.releases_permit(expr.function, path):
            return True
    return False


_QUIET = frozenset(
    (
        "contextlib.closing", "contextlib.aclosing", "contextlib.suppress", "contextlib.ExitStack",
        "contextlib.AsyncExitStack", "contextlib.nullcontext", "functools.partial", "typing.cast",
        "typing_extensions.cast", "range", "list", "tuple", "set", "dict", "enumerate", "zip", "iter", "reversed",
        "asyncio.create_task", "asyncio.ensure_future", "asyncio.shield", "asyncio.wait_for", "heapq.heapify",
        "lock.acquire", "lock.release", "lock.notify", "lock.notify_all", "lock.locked", "bool", "repr", "print",
        "isinstance", "id", "type", "str", "hasattr", "frozenset", "setattr",
    )
)  # fmt: skip
_READING = frozenset(("list", "tuple", "set", "sorted", "dict", "zip", "enumerate", "next", "memoryview"))
_PASSING = frozenset(
    (
        "typing.cast", "typing_extensions.cast", "asyncio.wait_for", "asyncio.shield", "asyncio.create_task",
        "asyncio.ensure_future",
    )
)  # fmt: skip
_REGISTERING = frozenset(
    ("add_done_callback", "callback", "push_async_callback", "addCleanup", "addfinalizer", "add_finalizer")
)
_DESTROYING = frozenset(
    (
        "close", "aclose", "terminate", "disconnect", "shutdown", "kill", "stop", "quit", "dispose", "destroy", "abort",
        "hang_up", "hangup", "release", "discard", "close_connection",
    )
)  # fmt: skip
_FINISHING = frozenset(("wait", "wait_closed", "wait_close", "communicate", "join", "poll", "detach"))
_CONTAINER_METHODS = frozenset(
    (
        "append", "add", "appendleft", "insert", "put", "put_nowait", "setdefault", "extend", "extendleft", "update",
        "pop", "popleft", "popitem", "items", "values", "copy", "get", "clear", "__getitem__",
    )
)  # fmt: skip
