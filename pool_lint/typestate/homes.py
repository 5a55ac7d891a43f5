"""What the objects of a pool are, found from what fills the pool, its annotation, or the variable at the borrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.pools import state as known
from pool_lint.typestate.changes import Home
from pool_lint.walk import walk_expressions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.catalog.spec import PoolSpec
    from pool_lint.pools.containers import ContainerUse
    from pool_lint.pools.types import Binding, Type
    from pool_lint.typestate.file import FileAnalysis
    from pool_lint.typestate.state import Site


def home_of(file: FileAnalysis, spec: PoolSpec, site: Site, function: ir.Function) -> Home:
    """What is known of the objects of one pool."""
    if spec.library:
        return _library_home(file, spec, site)
    kinds = list(_kinds(file, spec, site, function))
    klass = next((kind.klass for kind in kinds if kind.kind == "instance" and kind.klass is not None), None)
    words = [word for kind in kinds if (word := known.word(kind))]
    driver = next((found for word in words if (found := known.driver(word))), "")
    for kind in kinds:
        if not driver and kind.kind == "object" and kind.spec is not None:
            driver = next((found for name in kind.spec.object_classes if (found := known.driver(name))), "")
    if klass is not None:
        return Home("", klass)
    if driver:
        quiet = _commits_by_itself(file, driver)
        implicit = not quiet and (driver in known.IMPLICIT or driver in known.ON_CHANGE)
        return Home(
            "", None, driver, implicit, driver in known.ON_CHANGE, driver in known.AT_ONCE or quiet, database=True
        )
    return Home(words[0] if words else "")


def cannot_fail(file: FileAnalysis, site: Site, function: ir.Function, name: str) -> bool:
    """Whether a method of a borrowed object is a known reset of a known type."""
    if site.spec.library or not (known.is_resetting(name) or name in ("seek", "truncate")):
        return False
    home = home_of(file, site.spec, site, function)
    if home.klass is not None:
        method = file.types.method(home.klass, name)
        return method is not None and not file.may_raise(method)
    return name in known.NEVER_FAIL.get(home.word, frozenset())


def _library_home(file: FileAnalysis, spec: PoolSpec, site: Site) -> Home:
    drivers = [spec.library, *(name.partition(".")[0] for name in spec.object_classes)]
    driver = next((name for name in drivers if name in known.IMPLICIT | known.ON_CHANGE | known.OTHER_DRIVERS), "")
    driver = driver or _creator(file, spec)
    database = bool(driver) or spec.transactions != "none"
    resets = spec.resets
    if spec.library == "sqlalchemy" and _listens(file):
        resets = frozenset(_ALL_KINDS)
    if spec.reset_params and _given(file, spec, spec.reset_params):
        resets = frozenset(_ALL_KINDS)
    elif spec.reset_params and _given(file, spec, spec.reset_params, off=True):
        resets = frozenset()
    implicit = (
        spec.transactions == "implicit" and not _given(file, spec, ("autocommit", "isolation_level", "**"))
        and site.kind == "borrow"
    )  # fmt: skip
    at_once = driver in known.AT_ONCE or not implicit
    return Home("", None, driver, implicit, driver in known.ON_CHANGE, at_once, resets, database)


def _listens(file: FileAnalysis) -> bool:
    """Whether this file does something of its own when SQLAlchemy lends a connection or takes it back."""
    calls = [expr for _, body in file.scopes() for expr in walk_expressions(body)]
    calls += [each for function, _ in file.scopes() if function is not None for each in function.decorators]
    return any(
        isinstance(expr, ir.Call)
        and file.types.dotted(expr.func).rpartition(".")[2] in ("listens_for", "listen")
        and any(isinstance(arg, ir.Const) and arg.value in ("checkin", "checkout", "reset") for arg in expr.args)
        for expr in calls
    )


def _given(file: FileAnalysis, spec: PoolSpec, params: tuple[str, ...], *, off: bool = False) -> bool:
    """Whether some construction of such a pool in this file gives one of these parameters (``**``: hidden ones).

    ``off``: whether it gives one as ``False``, which turns off what the library does by itself.
    """
    for function, body in file.scopes():
        for expr in walk_expressions(body):
            if not isinstance(expr, ir.Call):
                continue
            kind = file.types.of(expr, function)
            if kind is None or kind.kind != "pool" or kind.spec is not spec or kind.origin is not expr:
                continue
            for name, value in expr.keywords:
                said = name in params and (
                    isinstance(value, ir.Const) and value.value is False if off else not _is_false(value)
                )
                if said or (name is None and "**" in params):
                    return True
    return False


def _creator(file: FileAnalysis, spec: PoolSpec) -> str:
    """The driver that such a pool is given to connect with (``PooledDB(pymysql, 5)``)."""
    for function, body in file.scopes():
        for expr in walk_expressions(body):
            if isinstance(expr, ir.Call):
                kind = file.types.of(expr, function)
                if kind is not None and kind.kind == "pool" and kind.spec is spec and kind.origin is expr:
                    for value in (*expr.args[:1], *(value for name, value in expr.keywords if name == "creator")):
                        module = file.types.dotted(value).partition(".")[0]
                        if module in known.IMPLICIT | known.ON_CHANGE:
                            return module
    return ""


def _is_false(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const) and value.value is False


def _kinds(file: FileAnalysis, spec: PoolSpec, site: Site, function: ir.Function) -> Iterator[Type]:
    """The types that the objects of a home-made pool have, the surest first."""
    use = use_of(file, spec)
    if use is not None:
        for put in use.puts:
            if put.what in ("made", "new"):
                found = file.types.of(put.value, put.function)
                if found is not None:
                    yield found
        for binding in _bindings(file, use):
            item = _item_type(file, binding)
            if item is not None:
                yield item
        for take in use.takes:
            if take.function is not None:
                yield from _alternatives(file, take.function)
        for put in use.puts:
            found = file.types.of(put.value, put.function)
            if found is not None and put.what == "param":
                yield found
    for name in sorted(str(var) for var in site.vars):
        found = file.types.name_type(name, function)
        if found is not None:
            yield found
    if site.call is not None:
        found = file.types.of(site.call, function)
        if found is not None:
            yield found


def _alternatives(file: FileAnalysis, function: ir.Function) -> Iterator[Type]:
    """What a function that takes an object makes when there is none."""
    if function.returns is not None and not function.is_generator:
        found = file.types.annotation(function.returns, function.parent)
        if found is not None and (known.word(found) or found.kind == "instance"):
            yield found
    for values in file.containers.assigned(function).values():
        for value in values:
            if isinstance(value, ir.Cond):
                for part in (value.body, value.orelse):
                    found = file.types.of(part, function)
                    if found is not None and found.kind != "pool":
                        yield found
    for name in sorted(file.handle_names(function), key=str):
        found = file.types.name_type(str(name), function)
        if found is not None:
            yield found


def use_of(file: FileAnalysis, spec: PoolSpec) -> ContainerUse | None:
    """The container that a pool of this file is."""
    return next((use for key, use in file.containers.uses.items() if file.containers.known_spec(key) is spec), None)


def _bindings(file: FileAnalysis, use: ContainerUse) -> list[Binding]:
    owner, name = use.key
    if isinstance(owner, ir.Klass):
        return file.types.attrs_of(owner).get(name, [])
    return file.types.bindings(name, owner if isinstance(owner, ir.Function) else None)[0]


def _item_type(file: FileAnalysis, binding: Binding) -> Type | None:
    """``X`` of ``queue.Queue[X]``, or what a list is filled with when it is made."""
    expr = binding.expr
    if expr is None:
        return None
    if binding.how == "annotation" or (isinstance(expr, ir.Call) and isinstance(expr.func, ir.Sub)):
        inner = expr.func if isinstance(expr, ir.Call) else expr
        if isinstance(inner, ir.Sub):
            args = inner.index.items if isinstance(inner.index, ir.Seq) else [inner.index]
            return file.types.annotation(args[-1], binding.scope)
        return None
    if binding.how != "value":
        return None
    if isinstance(expr, ir.Comp):
        return file.types.of(expr.elt, binding.scope)
    if isinstance(expr, ir.Call) and expr.args:
        inner_expr = expr.args[0]
        if isinstance(inner_expr, ir.Comp):
            return file.types.of(inner_expr.elt, binding.scope)
        expr = inner_expr
    if isinstance(expr, ir.Seq) and expr.items:
        return file.types.of(expr.items[0], binding.scope)
    return None


def _commits_by_itself(file: FileAnalysis, driver: str) -> bool:
    """Whether connections of this file are told, or may be told, to commit each statement."""
    for _, body in file.scopes():
        for expr in walk_expressions(body):
            if not isinstance(expr, ir.Call):
                continue
            if known.driver(file.types.dotted(expr.func)) != driver:
                continue
            for name, value in expr.keywords:
                if name in ("autocommit", "isolation_level") and not (
                    isinstance(value, ir.Const) and value.value is False
                ):
                    return True
    return False


_ALL_KINDS = (
    "transaction", "session_variables", "role", "autocommit", "isolation", "prepared_statements", "temp_tables",
    "listen", "cursors", "advisory_locks", "database", "factory",
)  # fmt: skip
