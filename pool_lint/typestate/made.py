"""What constructs the objects of a container pool, and what that makes them: plain data, or something to lose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.pools.containers import is_display
from pool_lint.walk import names_read, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pool_lint.catalog.spec import PoolSpec
    from pool_lint.pools.containers import ContainerUse, Put
    from pool_lint.typestate.file import FileAnalysis

Made = tuple[ir.Expr, "ir.Function | None"]

_CLOSING = frozenset(
    (
        "close", "aclose", "connect", "disconnect", "open", "shutdown", "terminate", "kill", "stop", "start", "quit",
        "__enter__", "__aenter__", "fileno", "__del__", "login", "ping", "run",
    )
)  # fmt: skip
# Calls whose results are plain data: nothing outside the process is lost with them.
_PLAIN = frozenset(
    (
        "bytearray", "bytes", "list", "dict", "set", "str", "object", "memoryview", "io.BytesIO", "io.StringIO",
        "array.array", "collections.deque", "collections.defaultdict", "collections.OrderedDict", "collections.Counter",
        "numpy.zeros", "numpy.empty", "numpy.ones", "types.SimpleNamespace", "random.Random",
    )
)  # fmt: skip
_DEEPEST = 4


def objects_of(file: FileAnalysis, spec: PoolSpec) -> tuple[Made, ...] | None:
    """What constructs the objects of a home-made pool; None where not all of it is seen, or it is none."""
    for key, use in file.containers.uses.items():
        if file.containers.known_spec(key) is spec:
            return made_of(file, use)
    return None


def is_plain(file: FileAnalysis, spec: PoolSpec) -> bool:
    """Whether the objects of a pool are seen to be plain data, which may be dropped."""
    made = objects_of(file, spec)
    return made is not None and all(_is_plain(file, expr, scope) for expr, scope in made)


def _is_plain(file: FileAnalysis, expr: ir.Expr, scope: ir.Function | None) -> bool:
    if isinstance(expr, ir.Call):
        kind = file.types.of(expr.func, scope)
        if kind is not None and kind.kind == "class" and kind.klass is not None:
            seen = not file.types.unseen_bases(kind.klass)
            return seen and not is_external(file, [(expr, scope)]) and not _opens(file, kind.klass)
        return file.types.dotted(expr.func).removeprefix("builtins.") in _PLAIN
    return isinstance(expr, (ir.Const, ir.Seq, ir.DictLit, ir.Comp, ir.Op))


def _opens(file: FileAnalysis, klass: ir.Klass) -> bool:
    """Whether a constructor calls what is not seen, and so may open anything."""
    init = file.types.method(klass, "__init__")
    return init is not None and any(
        isinstance(expr, ir.Call) and file.types.dotted(expr.func).removeprefix("builtins.") not in _PLAIN
        for expr in walk_expressions(init.body)
    )


def has_parts(file: FileAnalysis, spec: PoolSpec) -> bool:
    """Whether an object of a home-made pool may be a tuple of what is lent: then each part stands for it."""
    made = objects_of(file, spec)
    return made is None or any(isinstance(expr, ir.Seq) and expr.kind == "tuple" for expr, _ in made)


def made_of(file: FileAnalysis, use: ContainerUse) -> tuple[Made, ...] | None:
    """Every expression that constructs an object of the pool; None where one is not seen."""
    found: list[Made] = []
    for put in use.puts:
        if comes_back(file, put, use):
            continue
        if put.what == "unknown":
            return None
        if put.what in ("made", "new"):
            makers = makers_of(file, put.value, put.function)
            if makers is None:
                return None
            found += makers
    at_birth = _at_birth(file, use)
    if at_birth is None:
        return None
    found += at_birth
    for expr, scope in file.containers.made_when_empty(use):
        makers = makers_of(file, expr, scope)
        if makers is None:
            return None
        found += makers
    return tuple(found) or None


def comes_back(file: FileAnalysis, put: Put, use: ContainerUse) -> bool:
    """Whether a put gives back what was an element of another container of the file."""
    if put.form.many:
        return False
    values = [put.value]
    if isinstance(put.value, ir.Name):
        values = file.containers.assigned(put.function).get(put.value.id, [])
    values = [value.value if isinstance(value, ir.Await) else value for value in values]
    return bool(values) and all(
        isinstance(value, ir.Call)
        and isinstance(value.func, ir.Attr)
        and value.func.name in ("pop", "popleft", "popitem", "get", "get_nowait")
        and _other_container(file, value.func.value, put.function, use)
        for value in values
    )


def _other_container(file: FileAnalysis, expr: ir.Expr, scope: ir.Function | None, use: ContainerUse) -> bool:
    kind = file.types.of(expr, scope)
    return kind is not None and kind.kind in ("container", "many") and file.containers.key(expr, scope) != use.key


def _at_birth(file: FileAnalysis, use: ContainerUse) -> list[Made] | None:
    """What the container is constructed with; None where that is not seen."""
    owner, name = use.key
    if isinstance(owner, ir.Klass):
        bindings = file.types.attrs_of(owner).get(name, [])
    else:
        bindings, _ = file.types.bindings(name, owner if isinstance(owner, ir.Function) else None)
    found: list[Made] = []
    for binding in bindings:
        if binding.how != "value" or binding.expr is None:
            continue
        made = _filling(file, binding.expr, binding.scope)
        if made is None:
            return None
        found += made
    return found


def _filling(file: FileAnalysis, expr: ir.Expr, scope: ir.Function | None) -> list[Made] | None:
    if isinstance(expr, ir.Comp):
        return None if _is_distinct(expr) else [(expr.elt, scope)]
    if isinstance(expr, ir.Seq):
        return [(item, scope) for item in expr.items]
    if isinstance(expr, ir.Call):
        first = expr.args[0] if expr.args else None
        if file.types.dotted(expr.func) in ("list", "collections.deque", "deque", "set") and first is not None:
            return _filling(file, first, scope) if isinstance(first, (ir.Comp, ir.Seq)) else None
        return []
    return []


def _is_distinct(comp: ir.Comp) -> bool:
    """Whether each element is made of another value: exclusive tokens, not objects of one kind."""
    read = set(names_read(comp.elt))
    return any(name in read for loop in comp.fors for name in names_read(loop.target))


def makers_of(file: FileAnalysis, expr: ir.Expr, scope: ir.Function | None, depth: int = 0) -> list[Made] | None:
    """The constructing expressions behind a name; None for what is not seen or differs from object to object."""
    if isinstance(expr, ir.Name):
        values = file.containers.assigned(scope).get(expr.id, [])
        if not values or depth > _DEEPEST or _is_told_apart(file, expr.id, scope):
            return None
        found: list[Made] = []
        for value in values:
            if isinstance(value, ir.Const):
                continue
            if _takes(file, value, scope):
                continue
            makers = makers_of(file, value, scope, depth + 1)
            if makers is None:
                return None
            found += makers
        return found
    if isinstance(expr, ir.Cond):
        parts = [each for each in (expr.body, expr.orelse) if not _takes(file, each, scope)]
        each_of = [makers_of(file, each, scope, depth + 1) for each in parts]
        return None if None in each_of else [made for makers in each_of if makers for made in makers]
    if isinstance(expr, ir.Bool):
        return makers_of(file, expr.right, scope, depth + 1)
    if isinstance(expr, ir.Call):
        # `object()` has nothing but its identity: a permit
        permit = isinstance(expr.func, ir.Name) and expr.func.id == "object"
        return None if permit or _uses_loop_name(expr, scope) else [(expr, scope)]
    return [(expr, scope)] if is_display(expr) else None


def _is_told_apart(file: FileAnalysis, name: str, scope: ir.Function | None) -> bool:
    """Whether a loop gives each new object a value of its own (``slot.number = number``)."""
    body = file.tree.body if scope is None else scope.body
    for stmt in walk_statements(body):
        if not isinstance(stmt, ir.For):
            continue
        turn = set(names_read(stmt.target))
        for inner in walk_statements(stmt.body):
            if not isinstance(inner, ir.Assign) or inner.value is None or not turn & set(names_read(inner.value)):
                continue
            if any(isinstance(each, ir.Attr) and name in names_read(each.value) for each in inner.targets):
                return True
    return False


def _takes(file: FileAnalysis, value: ir.Expr, scope: ir.Function | None) -> bool:
    inner = value.value if isinstance(value, ir.Await) else value
    return isinstance(inner, ir.Call) and file.resolver.callee(inner, scope).kind == "borrow"


def _uses_loop_name(expr: ir.Expr, scope: ir.Function | None) -> bool:
    """Whether a loop variable is part of what is made: then each object is another one."""
    if scope is None:
        return any(not name.startswith("_") and name in ("i", "n", "index") for name in names_read(expr))
    read = set(names_read(expr))
    return any(
        isinstance(stmt, ir.For) and any(name in read for name in names_read(stmt.target))
        for stmt in walk_statements(scope.body)
    )


def is_external(file: FileAnalysis, made: Sequence[Made]) -> bool:
    """Whether an object holds, or may come to hold, something outside the process or costly to lose."""
    for expr, scope in made:
        for call in (each for each in walk_expressions([ir.ExprStmt(0, 0, expr)]) if isinstance(each, ir.Call)):
            if _is_external_call(file, call, scope, set()):
                return True
    return False


def _is_external_call(file: FileAnalysis, call: ir.Call, scope: ir.Function | None, seen: set[object]) -> bool:
    catalog = file.catalog
    kind = file.types.of(call.func, scope)
    dotted = kind.dotted if kind is not None and kind.kind == "external" else file.types.dotted(call.func)
    if dotted in catalog.connections or dotted in catalog.external or dotted in catalog.by_class:
        return True
    if dotted in catalog.by_factory or dotted in catalog.by_object:
        return True
    if kind is None or kind.kind not in ("class", "function"):
        return False
    functions: list[ir.Function] = []
    if kind.klass is not None and kind.kind == "class":
        if kind.klass in seen:
            return False
        seen.add(kind.klass)
        for klass in file.types.bases_of(kind.klass):
            if _CLOSING & set(klass.methods):
                return True
            functions += klass.methods.values()
    elif kind.function is not None and kind.function not in seen:
        seen.add(kind.function)
        functions.append(kind.function)
    return any(
        isinstance(expr, ir.Call) and _is_external_call(file, expr, function, seen)
        for function in functions
        for expr in walk_expressions(function.body)
    )
