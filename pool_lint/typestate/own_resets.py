"""The reset method of a class whose objects are pooled: which of its attributes it leaves behind.

An attribute is state where methods or borrowers change it.  It is none where the file shows that it is meant to stay:
filled only when it is missing (a cache), read or written by the pool (its bookkeeping), only counted up and never read
by its users, set up before the object is lent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.pools import state as known
from pool_lint.typestate.changes import Home, Reader, attribute_type
from pool_lint.typestate.state import OBJECT, Fact
from pool_lint.walk import names_read, statement_parts, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.typestate.file import FileAnalysis


@dataclass(frozen=True, slots=True)
class Touch:
    """One place that changes an attribute of ``self``: ``how`` is "set", "add" (in part), "count" (``+= 1``)."""

    name: str
    line: int
    how: str
    clean: bool = False
    guarded: bool = False
    value: ir.Expr | None = None


@dataclass(slots=True, eq=False)
class OwnReset:
    """What a class's own reset misses."""

    method: ir.Function
    missed: list[tuple[str, int]]
    partial: str = ""
    line: int = 0


def own_resets(
    file: FileAnalysis, klass: ir.Klass, called: list[ir.Function], borrowers: dict[str, int]
) -> Iterator[OwnReset]:
    """What the resets that are called on a class's objects leave; ``borrowers``: the attributes they change, where."""
    cleared: set[str] = set()
    for method in called:
        mine = _cleared(file, klass, method, set())
        if mine is None:
            return
        cleared |= mine
    method = called[0]
    missed = {
        name: line for name, line in borrowers.items() if name not in cleared and _is_attribute(file, klass, name)
    }
    for other in _changing_methods(file, klass, called):
        for touch in touches(file, klass, other):
            if touch.name in cleared or touch.clean or touch.name in missed:
                continue
            if is_state(file, klass, touch.name):
                missed[touch.name] = touch.line
    stream, line = _half_reset_stream(file, klass, method)
    if missed or stream:
        yield OwnReset(method, sorted(missed.items(), key=lambda each: (each[1], each[0])), stream, line)


def _called_outside(file: FileAnalysis, klass: ir.Klass) -> set[str]:
    family = set(file.attributes.family(klass))
    return {
        expr.func.name
        for function in file.tree.functions
        if function.owner not in family
        for expr in walk_expressions(function.body)
        if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr)
    }


def _changing_methods(file: FileAnalysis, klass: ir.Klass, resets: list[ir.Function]) -> list[ir.Function]:
    """The methods that work on a lent object: neither set-up nor reset, nor called only from those."""
    methods: dict[str, ir.Function] = {}
    for each in file.types.bases_of(klass):
        for name, method in each.methods.items():
            methods.setdefault(name, method)
    quiet = {"__init__", "__new__", "__post_init__", "__del__", *(reset.name for reset in resets)}
    quiet |= {name for name in methods if known.is_resetting(name)}
    callers: dict[str, set[str]] = {name: set() for name in methods}
    for name, method in methods.items():
        for called in _own_calls(method):
            if called in callers:
                callers[called].add(name)
    outside = _called_outside(file, klass)
    changed = True
    while changed:
        changed = False
        for name in methods:
            if name not in quiet and callers[name] and callers[name] <= quiet and name not in outside:
                quiet.add(name)
                changed = True
    setup = _called_only_by_factories(file, klass)
    return [
        method for name, method in methods.items() if name not in quiet and name not in setup and not _ends_it(name)
    ]


def _ends_it(name: str) -> bool:
    return name in ("close", "aclose", "__exit__", "__aexit__", "shutdown", "stop", "terminate", "disconnect")


def _called_only_by_factories(file: FileAnalysis, klass: ir.Klass) -> set[str]:
    """Methods that are called only where an object is made: they set it up."""
    family = set(file.attributes.family(klass))
    where: dict[str, set[bool]] = {}
    for function in file.tree.functions:
        if function.owner in family:
            continue
        makes = any(
            isinstance(expr, ir.Call) and file.types.dotted(expr.func) == klass.name
            for expr in walk_expressions(function.body)
        )
        lends = bool(file.handle_names(function))
        for expr in walk_expressions(function.body):
            if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr) and expr.func.name in klass.methods:
                where.setdefault(expr.func.name, set()).add(makes and not lends)
    return {name for name, made in where.items() if made == {True}}


def _own_calls(method: ir.Function) -> set[str]:
    own = method.params[0].name if method.params else ""
    return {
        expr.func.name
        for expr in walk_expressions(method.body)
        if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr)
        and isinstance(expr.func.value, ir.Name) and expr.func.value.id == own
    }  # fmt: skip


def _is_attribute(file: FileAnalysis, klass: ir.Klass, name: str) -> bool:
    """Whether a class itself has an attribute, so that its reset could know of it."""
    return any(name in file.types.attrs_of(each) for each in file.types.bases_of(klass))


# What a reset clears.


def _cleared(file: FileAnalysis, klass: ir.Klass, method: ir.Function, seen: set[ir.Function]) -> set[str] | None:  # noqa: C901, PLR0912
    """The attributes that a reset clears; None where that cannot be told (then it is all of them)."""
    if method in seen or not method.params:
        return set()
    seen.add(method)
    own = method.params[0].name
    out: set[str] = set()
    for stmt in walk_statements(method.body):
        if isinstance(stmt, ir.Assign):
            out.update(name for target in stmt.targets for name in _attributes(target, own))
        elif isinstance(stmt, ir.AugAssign):
            out.update(_attributes(stmt.target, own))
        elif isinstance(stmt, ir.Del):
            out.update(name for target in stmt.targets for name in _attributes(target, own))
        elif isinstance(stmt, ir.For):
            out.update(name for expr in _walk(stmt.iter) for name in _attributes(expr, own))
        elif isinstance(stmt, ir.With):
            out.update(name for item in stmt.items if item.target is not None for name in _attributes(item.target, own))
    for expr in walk_expressions(method.body):
        if isinstance(expr, ir.Attr) and expr.name == "__dict__":
            return None
        if isinstance(expr, ir.Name) and expr.id in ("setattr", "vars", "delattr"):
            return None
        if not isinstance(expr, ir.Call):
            continue
        func = expr.func
        for arg in (*expr.args, *(value for _, value in expr.keywords)):
            if isinstance(arg, ir.Name) and arg.id == own:
                return None  # handed to somebody who may clear anything
        if not isinstance(func, ir.Attr):
            continue
        if isinstance(func.value, ir.Name) and func.value.id == own:
            inner = file.types.method(klass, func.name)
            if inner is None:
                return None
            deeper = _cleared(file, klass, inner, seen)
            if deeper is None:
                return None
            out |= deeper
        elif isinstance(func.value, ir.Call) and isinstance(func.value.func, ir.Name) and func.value.func.id == "super":
            if method.owner is None:
                return None
            base = next((each for each in file.types.bases_of(method.owner)[1:] if func.name in each.methods), None)
            if base is None:
                if file.types.unseen_bases(klass):
                    return None
                continue
            deeper = _cleared(file, klass, base.methods[func.name], seen)
            if deeper is None:
                return None
            out |= deeper
        elif isinstance(func.value, ir.Name) and func.name == "__init__":
            base_kind = file.types.of(func.value, method)
            if base_kind is None or base_kind.klass is None or func.name not in base_kind.klass.methods:
                return None
            deeper = _cleared(file, klass, base_kind.klass.methods[func.name], seen)
            if deeper is None:
                return None
            out |= deeper
        else:
            # Any call on an attribute of a reset is there to reset it.
            out.update(name for name in _attributes(func.value, own))
    return out


def _attributes(target: ir.Expr, own: str) -> Iterator[str]:
    """The attribute of ``self`` that a target is, or is part of."""
    if isinstance(target, (ir.Seq,)):
        for item in target.items:
            yield from _attributes(item, own)
        return
    while isinstance(target, (ir.Attr, ir.Sub, ir.Star, ir.Call)):
        if isinstance(target, ir.Attr) and isinstance(target.value, ir.Name) and target.value.id == own:
            yield target.name
            return
        target = target.func if isinstance(target, ir.Call) else target.value


def _half_reset_stream(file: FileAnalysis, klass: ir.Klass, method: ir.Function) -> tuple[str, int]:
    """The attribute with a stream of which a reset does one half: truncates and does not seek, or the other way."""
    own = method.params[0].name if method.params else ""
    done: dict[str, set[str]] = {}
    lines: dict[str, list[tuple[int, str]]] = {}
    for expr in walk_expressions(method.body):
        if not (isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr)):
            continue
        holder = expr.func.value
        if not (isinstance(holder, ir.Attr) and isinstance(holder.value, ir.Name) and holder.value.id == own):
            continue
        zero = bool(expr.args) and isinstance(expr.args[0], ir.Const) and expr.args[0].value == 0
        if expr.func.name == "seek" and zero:
            done.setdefault(holder.name, set()).add("seek")
        elif expr.func.name == "truncate":
            done.setdefault(holder.name, set()).add("truncate(0)" if zero else "truncate")
        else:
            done.setdefault(holder.name, set()).add("other")
        lines.setdefault(holder.name, []).append((expr.line, expr.func.name))
    assigned = {
        name for stmt in walk_statements(method.body) if isinstance(stmt, ir.Assign)
        for target in stmt.targets for name in _attributes(target, own)
    }  # fmt: skip
    for name, parts in sorted(done.items()):
        if name in assigned or known.word(attribute_type(file, klass, name)) != "io":
            continue
        if parts in ({"seek"}, {"truncate(0)"}) and _writes(file, klass, name, method):
            return name, lines[name][0][0]
    return "", 0


def _writes(file: FileAnalysis, klass: ir.Klass, name: str, reset: ir.Function) -> bool:
    """Whether a class writes to the stream in an attribute, or lets others do it."""
    return any(
        _writes_to(expr, name, method.params[0].name if method.params else "")
        for each in file.types.bases_of(klass)
        for method in each.methods.values()
        if method is not reset
        for expr in walk_expressions(method.body)
        if isinstance(expr, ir.Call)
    )


def _writes_to(call: ir.Call, name: str, own: str) -> bool:
    if isinstance(call.func, ir.Attr) and call.func.name in known.WRITES and name in _attributes(call.func.value, own):
        return True
    parts = (*call.args, *(value for _, value in call.keywords))
    return any(isinstance(part, ir.Attr) and part.name == name for part in parts)


# What counts as state.


def touches(file: FileAnalysis, klass: ir.Klass, method: ir.Function) -> list[Touch]:
    """The places in a method that change an attribute of ``self``."""
    key = ("touches", klass, method)
    if key not in file.memo:
        file.memo[key] = list(_touches(file, klass, method))
    found: list[Touch] = file.memo[key]
    return found


def _touches(file: FileAnalysis, klass: ir.Klass, method: ir.Function) -> Iterator[Touch]:  # noqa: C901
    if not method.params:
        return
    own = method.params[0].name
    reader = Reader(file, method, Home("", klass))
    fact = Fact(0, "held", (((own,), OBJECT),))
    guards = _guards(method)
    for stmt in walk_statements(method.body):
        if isinstance(stmt, ir.Assign) and stmt.value is not None:
            for target in stmt.targets:
                for name, value, whole in _stored(target, stmt.value, own):
                    clean = whole and value is not None and reader.is_clean(value, name, klass)
                    guarded = name in guards.get(id(stmt), ())
                    yield Touch(name, stmt.line, "set" if whole else "add", clean, guarded, value)
        elif isinstance(stmt, ir.AugAssign):
            for name in _attributes(stmt.target, own):
                counts = (
                    isinstance(stmt.value, ir.Const)
                    and isinstance(stmt.target, ir.Attr)
                    and stmt.op in ("AddAssign", "SubtractAssign")
                )
                yield Touch(name, stmt.line, "count" if counts else "add", value=stmt.value)
        for part in statement_parts(stmt)[0]:
            for expr in _walk(part):
                if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr):
                    path = reader.chain(expr.func.value, fact)
                    if path and len(path) == 1 and path[0].startswith(".") and not path[0].endswith("()"):
                        word = reader.word_at(path)
                        if expr.func.name in known.MUTATORS.get(word, frozenset()) - _REMOVING or (
                            word == "io" and expr.func.name in known.WRITES
                        ):
                            guarded = path[0][1:] in guards.get(id(stmt), ()) or expr.func.name == "setdefault"
                            yield Touch(path[0][1:], expr.line, "add", guarded=guarded)


def _stored(target: ir.Expr, value: ir.Expr, own: str) -> Iterator[tuple[str, ir.Expr | None, bool]]:
    if isinstance(target, ir.Seq):
        same = isinstance(value, ir.Seq) and len(value.items) == len(target.items)
        for position, item in enumerate(target.items):
            part = value.items[position] if same and isinstance(value, ir.Seq) else _SOME
            yield from _stored(item, part, own)
    elif isinstance(target, ir.Attr) and isinstance(target.value, ir.Name) and target.value.id == own:
        yield target.name, value, True
    else:
        for name in _attributes(target, own):
            yield name, value, False


def _guards(method: ir.Function) -> dict[int, set[str]]:
    """For each statement the attributes that a test around it, or an early return, asks about."""
    out: dict[int, set[str]] = {}

    def visit(body: list[ir.Stmt], names: set[str]) -> None:
        for stmt in body:
            out[id(stmt)] = names
            inner = names
            if isinstance(stmt, (ir.If, ir.While)):
                asked = {name for expr in _walk(stmt.test) if isinstance(expr, ir.Attr) for name in (expr.name,)}
                asked |= _read_before(method, stmt.test)
                inner = names | asked
                if _leaves(stmt.body):
                    names = names | asked
            elif isinstance(stmt, ir.Try):
                asked = {
                    expr.name
                    for each in stmt.body
                    for part in statement_parts(each)[0]
                    for expr in _walk(part)
                    if isinstance(expr, ir.Attr)
                }
                for handler in stmt.handlers:
                    visit(handler.body, names | asked)
                visit(stmt.body, names)
                visit(stmt.orelse, names)
                visit(stmt.final, names)
                if _leaves(stmt.body):
                    names = names | asked
                continue
            for each in statement_parts(stmt)[1]:
                visit(each, inner)

    visit(method.body, set())
    return out


def _read_before(method: ir.Function, test: ir.Expr) -> set[str]:
    """Attributes that the variables of a test were looked up in: ``found = self._cache.get(key)``."""
    names = set(names_read(test))
    return {
        expr.name
        for stmt in walk_statements(method.body)
        if isinstance(stmt, ir.Assign) and stmt.value is not None
        and any(isinstance(target, ir.Name) and target.id in names for target in stmt.targets)
        for expr in _walk(stmt.value)
        if isinstance(expr, ir.Attr)
    }  # fmt: skip


def _leaves(body: list[ir.Stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ir.Return, ir.Raise, ir.Continue))


def is_state(file: FileAnalysis, klass: ir.Klass, name: str) -> bool:
    """Whether an attribute that a class changes by itself is state of whoever uses the object."""
    key = ("state", klass, name)
    if key not in file.memo:
        file.memo[key] = _is_state(file, klass, name)
    return bool(file.memo[key])


def _is_state(file: FileAnalysis, klass: ir.Klass, name: str) -> bool:
    every: list[Touch] = []
    for each in file.types.bases_of(klass):
        for method in each.methods.values():
            if method.name in ("__init__", "__new__", "__post_init__") or known.is_resetting(method.name):
                continue
            every.extend(touch for touch in touches(file, klass, method) if touch.name == name and not touch.clean)
    if not every or all(touch.guarded for touch in every):
        return False
    if known.word(attribute_type(file, klass, name)) in known.BUFFERS and all(_overwrites(touch) for touch in every):
        return False
    if any(touch.value is not None and _opens(file, touch.value) for touch in every if touch.how == "set"):
        return False
    if all(touch.how == "count" for touch in every) and not _is_read_by_users(file, klass, name):
        return False
    return not _kept_by_pool(file, klass, name)


def _overwrites(touch: Touch) -> bool:
    """Whether a change of a buffer stores single items, or makes it larger: how much of it is in use is kept apart."""
    if touch.how == "add":
        return touch.value is not None
    return touch.value is not None and any(
        isinstance(expr, ir.Attr) and expr.name == touch.name for expr in _walk(touch.value)
    )


def _opens(file: FileAnalysis, value: ir.Expr) -> bool:
    """Whether a value is a connection, a file or the like, which an object holds for longer than one use."""
    for expr in _walk(value):
        if isinstance(expr, ir.Call):
            dotted = file.types.dotted(expr.func)
            if dotted in file.catalog.connections or dotted in file.catalog.external:
                return True
    return False


def _is_read_by_users(file: FileAnalysis, klass: ir.Klass, name: str) -> bool:
    """Whether a counter decides or gives anything to those who use the object."""
    for each in file.types.bases_of(klass):
        for method in each.methods.values():
            if method.name in ("__repr__", "__str__", "__init__", "stats", "__len__") or known.is_resetting(
                method.name
            ):
                continue
            counted = {id(stmt.target) for stmt in walk_statements(method.body) if isinstance(stmt, ir.AugAssign)}
            for expr in walk_expressions(method.body):
                if isinstance(expr, ir.Attr) and expr.name == name and id(expr) not in counted:
                    return True
    return False


def _kept_by_pool(file: FileAnalysis, klass: ir.Klass, name: str) -> bool:
    """Whether a borrow or return method of a pool's class reads an attribute of its objects."""
    family = set(file.attributes.family(klass))
    for (owner, _), use in file.containers.uses.items():
        if not isinstance(owner, ir.Klass) or owner in family:
            continue
        takes = {take.function for take in use.takes}
        puts = {put.function for put in use.puts}
        for method in takes ^ puts:
            if method is not None and _reads_of_another(method, name):
                return True
    return False


def _reads_of_another(method: ir.Function, name: str) -> bool:
    own = method.params[0].name if method.params else ""
    stored = {
        id(target) for stmt in walk_statements(method.body) if isinstance(stmt, ir.Assign) for target in stmt.targets
    }
    return any(
        isinstance(expr, ir.Attr)
        and expr.name == name
        and id(expr) not in stored
        and not (isinstance(expr.value, ir.Name) and expr.value.id == own)
        for expr in walk_expressions(method.body)
    )


def _walk(expr: ir.Expr) -> Iterator[ir.Expr]:
    yield from walk_expressions([ir.ExprStmt(0, 0, expr)])


_SOME = ir.Name(0, 0, "?")
_REMOVING = frozenset(("pop", "popleft", "popitem", "remove", "discard", "sort", "reverse", "rotate", "move_to_end"))
