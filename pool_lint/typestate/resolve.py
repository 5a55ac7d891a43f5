"""What a call does, as far as it can be told without following values: borrow, release, run a function of this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pool_lint import ir
from pool_lint.catalog.spec import BorrowForm, Catalog, PoolSpec, ReleaseForm
from pool_lint.pools.linked import MARK, plain
from pool_lint.pools.types import Type, Types, decorator_names
from pool_lint.walk import path_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pool_lint.pools.containers import Containers
    from pool_lint.pools.duck import DuckPools

CalleeKind = Literal["borrow", "release", "function", "class", "std", "safe", "permit", "opaque"]


@dataclass(frozen=True, slots=True, eq=False)
class Callee:
    """What a call calls.

    ``borrow`` / ``release``: by ``spec`` and ``form``, on the pool that ``pool`` names (None: the function itself).
    ``function``: ``function``, with the receiver as first argument if ``bound``.  ``class``: constructs ``klass``.
    ``std``: a function of the standard library with a meaning of its own, by its dotted ``name``.
    ``safe``: taken not to raise.  ``permit``: acquires (``name``) or releases a semaphore.
    """

    kind: CalleeKind
    spec: PoolSpec | None = None
    borrow: BorrowForm | None = None
    release: ReleaseForm | None = None
    pool: ir.Expr | None = None
    own: bool = False
    function: ir.Function | None = None
    klass: ir.Klass | None = None
    bound: bool = False
    name: str = ""


_OPAQUE = Callee("opaque")
_SAFE = Callee("safe")
_ZEROED = frozenset(("bytes", "bytearray"))

STANDARD = frozenset(
    (
        "contextlib.closing", "contextlib.aclosing", "contextlib.suppress", "contextlib.ExitStack",
        "contextlib.AsyncExitStack", "functools.partial", "asyncio.wait_for", "asyncio.shield", "typing.cast",
        "typing_extensions.cast", "list", "tuple", "set", "frozenset", "iter", "reversed", "sorted", "enumerate", "zip",
        "next", "dict", "sys.exit", "exit", "quit", "os._exit", "os.abort", "typing.assert_never",
        "typing_extensions.assert_never", "heapq.heappop", "heapq.heappush", "heapq.heapify", "getattr", "setattr",
        "asyncio.create_task", "asyncio.ensure_future", "copy.copy", "range", "contextlib.nullcontext", "str", "bool",
        "repr", "print", "isinstance", "id", "type", "hasattr", "memoryview",
    )
)  # fmt: skip


class Resolver:
    """Resolves the calls of one file."""

    def __init__(
        self, tree: ir.ModuleTree, types: Types, containers: Containers, duck: DuckPools, catalog: Catalog
    ) -> None:
        self.types = types
        self.containers = containers
        self.catalog = catalog
        self.tree = tree
        self._duck = duck
        self.lends: Callable[[ir.Function], bool] = lambda _: False
        self._memo: dict[ir.Call, Callee] = {}
        self._understood: dict[tuple[ir.Klass, tuple[str, ...]], bool] = {}

    def callee(self, call: ir.Call, scope: ir.Function | None) -> Callee:
        """What a call that stands in a function calls; worked out once per call."""
        found = self._memo.get(call)
        if found is None:
            found = self._resolve(call, scope)
            if found.function is not None and found.function in self.types.linked.stubs:
                found = _OPAQUE  # of a stub, only the types are known
            self._memo[call] = found
        return found

    def pool_spec(self, expr: ir.Expr, scope: ir.Function | None) -> tuple[PoolSpec | None, Type | None]:
        """The pool that an expression is, and its type."""
        kind = self.types.of(expr, scope)
        if kind is not None and kind.kind == "pool":
            return kind.spec, kind
        if kind is not None and kind.kind == "container":
            return self.containers.spec(expr, scope), kind
        if kind is None or kind.kind in ("external_instance", "many"):
            return self._duck.spec(expr), kind
        if self.types.is_unseen(kind):
            spec = self._duck.spec(expr)
            if spec is not None and not self._lends_by_itself(kind, spec):
                return spec, None
        return None, kind

    def _lends_by_itself(self, kind: Type, spec: PoolSpec) -> bool:
        """Whether a borrow method of another module's class is understood, so that its use need not tell what it is."""
        assert kind.klass is not None
        key = (kind.klass, tuple(form.method for form in spec.borrows))
        if key not in self._understood:
            self._understood[key] = True  # as long as it is not known
            methods = (self.types.method(kind.klass, form.method) for form in spec.borrows)
            self._understood[key] = any(method is not None and self.lends(method) for method in methods)
        return self._understood[key]

    def is_own(self, expr: ir.Expr, scope: ir.Function | None) -> bool:
        """Whether a container belongs to the class that a function is a method of."""
        key = self.containers.key(expr, scope)
        if key is None:
            return False
        owner = key[0]
        function = scope
        while function is not None:
            if function.owner is not None:
                return isinstance(owner, ir.Klass) and owner in self.types.bases_of(function.owner)
            function = function.parent
        return owner is None and scope is not None

    def _resolve(self, call: ir.Call, scope: ir.Function | None) -> Callee:
        func = call.func
        if isinstance(func, ir.Attr):
            found = self._method(call, func, scope)
            if found is not None:
                return found
        kind = self.types.of(func, scope)
        if kind is None:
            return self._by_name(call)
        if kind.kind == "function" and kind.function is not None:
            static = "staticmethod" in decorator_names(kind.function)
            return Callee("function", function=kind.function, bound=kind.klass is not None and not static)
        if kind.kind == "class" and kind.klass is not None:
            return Callee("class", klass=kind.klass)
        if kind.kind == "pool" and kind.spec is not None:
            form = _borrow_form(kind.spec, "__call__")
            if form is not None and not _opted_out(form, call):
                return Callee("borrow", spec=kind.spec, borrow=form, pool=func)
        if kind.kind == "external":
            return self._external(call, kind.dotted, scope)
        return self._by_name(call)

    def _by_name(self, call: ir.Call) -> Callee:
        func = call.func
        dotted = self.types.dotted(func)
        if dotted in STANDARD:
            return Callee("std", name=dotted)
        if isinstance(func, ir.Attr) and func.name in self.catalog.no_raise_methods:
            return _SAFE
        if dotted in self.catalog.no_raise_functions or (dotted in _ZEROED and _is_sized(call)):
            return _SAFE
        return _OPAQUE

    def _external(self, call: ir.Call, dotted: str, scope: ir.Function | None) -> Callee:
        found = self._external_borrow(call, dotted)
        if found is None and dotted in ("heapq.heappop", "heapq.heappush") and call.args:
            found = self._heap(call, dotted, scope)
        if found is not None:
            return found
        if dotted in STANDARD:
            return Callee("std", name=dotted)
        if dotted in self.catalog.no_raise_functions or (dotted in _ZEROED and _is_sized(call)):
            return _SAFE
        if dotted in self.catalog.never_keep:
            return Callee("opaque", name="keeps nothing")
        return Callee("opaque", name=dotted)

    def _external_borrow(self, call: ir.Call, dotted: str) -> Callee | None:
        """The borrow that constructing a library's class or calling its function is."""
        spec = self.catalog.by_class.get(dotted)
        if spec is not None:
            form = _borrow_form(spec, "__init__")
            if form is not None and not _opted_out(form, call):
                return Callee("borrow", spec=spec, borrow=form, pool=call.func)
        spec = self.catalog.by_function.get(dotted)
        given = {name for name, _ in call.keywords}
        for function in spec.function_borrows if spec is not None else ():
            if function.function == dotted and (not function.when or given & set(function.when)):
                return Callee("borrow", spec=spec, borrow=BorrowForm(dotted, function.ways), pool=None)
        return None

    def _heap(self, call: ir.Call, dotted: str, scope: ir.Function | None) -> Callee | None:
        spec = self.containers.spec(call.args[0], scope)
        if spec is None:
            return None
        own = self.is_own(call.args[0], scope)
        if dotted == "heapq.heappop":
            return Callee(
                "borrow", spec=spec, borrow=BorrowForm(dotted, frozenset(("call",))), pool=call.args[0], own=own
            )
        return Callee("release", spec=spec, release=ReleaseForm(dotted, "pool", 1), pool=call.args[0], own=own)

    def _method(  # noqa: C901, PLR0912 - one case per kind of receiver, the surest first
        self, call: ir.Call, func: ir.Attr, scope: ir.Function | None
    ) -> Callee | None:
        receiver, name = func.value, func.name
        spec, kind = self.pool_spec(receiver, scope)
        if kind is not None and kind.kind == "container" and name in ("empty", "full", "qsize", "copy", "rotate"):
            return _SAFE
        # A subclass of a library's pool may override its methods: they still lend and take back.
        overrides = kind is not None and kind.kind == "pool" and spec is not None and _is_form(spec, name)
        if kind is not None and kind.klass is not None and kind.kind in ("pool", "instance") and not overrides:
            method = self.types.method(kind.klass, name)
            if method is not None:
                static = "staticmethod" in decorator_names(method)
                return Callee("function", function=method, bound=not static)
        if spec is not None:
            own = kind is not None and kind.kind == "container" and self.is_own(receiver, scope)
            for form in spec.releases:
                if form.on == "pool" and form.method == name:
                    return Callee("release", spec=spec, release=form, pool=receiver, own=own)
            form_ = _borrow_form(spec, name)
            if own and name != "get" and self.containers.is_thrown_away(call):
                return _SAFE  # an eviction
            if form_ is not None and not _opted_out(form_, call) and not _keyed_take(kind, call):
                return Callee("borrow", spec=spec, borrow=form_, pool=receiver, own=own)
        if kind is not None and kind.kind == "semaphore" and name in ("acquire", "release"):
            return Callee("permit", name=name, pool=receiver)
        if (
            kind is not None
            and kind.kind == "lock"
            and name in ("acquire", "release", "notify", "notify_all", "locked")
        ):
            return Callee("std", name="lock." + name)
        if kind is not None and kind.kind == "logger" and name in self.catalog.logger_methods:
            return _SAFE
        if name in self.catalog.logger_methods and _is_logger_name(receiver, self.catalog):
            return _SAFE
        if kind is not None and kind.kind == "class" and kind.klass is not None:
            method = self.types.method(kind.klass, name)
            if method is not None:
                bound = "classmethod" in decorator_names(method)
                return Callee("function", function=method, bound=bound)
        super_of = self._super(receiver, scope)
        if super_of is not None:
            for base in self.types.bases_of(super_of)[1:]:
                if name in base.methods:
                    return Callee("function", function=base.methods[name], bound=True)
            return _OPAQUE
        return None

    def _super(self, receiver: ir.Expr, scope: ir.Function | None) -> ir.Klass | None:
        if isinstance(receiver, ir.Call) and isinstance(receiver.func, ir.Name) and receiver.func.id == "super":
            return scope.owner if scope is not None else None
        return None

    def is_greenlet_module(self) -> bool:
        """Whether the module runs under eventlet or gevent, whose timeouts are raised at any call."""
        return any(
            dotted.partition(".")[0] in ("eventlet", "gevent")
            for name, dotted in self.types.imports.items()
            if MARK not in name
        )

    def release_of(self, expr: ir.Expr, scope: ir.Function | None) -> tuple[Callee, int] | None:
        """For a callable written as an argument (``pool.putconn``): what it releases, and which of its arguments."""
        if not isinstance(expr, ir.Attr):
            return None
        spec, kind = self.pool_spec(expr.value, scope)
        if spec is None or (
            kind is not None and kind.kind == "pool" and kind.klass is not None and expr.name in kind.klass.methods
        ):
            return None
        for form in spec.releases:
            if form.on == "pool" and form.method == expr.name:
                return Callee("release", spec=spec, release=form, pool=expr.value), max(form.arg, 0)
        return None


def _is_sized(call: ir.Call) -> bool:
    """Whether a call makes zeros of a size that is a number: ``bytes(len(row))``, ``bytearray(SIZE)``."""
    return not call.keywords and all(_is_number(arg) for arg in call.args[:1]) and len(call.args) <= 1


def _is_number(expr: ir.Expr) -> bool:
    if isinstance(expr, ir.Const):
        return isinstance(expr.value, int)
    if isinstance(expr, ir.Name):
        return expr.id.isupper()
    if isinstance(expr, ir.Op):
        return all(_is_number(part) for part in expr.parts)
    return isinstance(expr, ir.Call) and isinstance(expr.func, ir.Name) and expr.func.id == "len"


def _borrow_form(spec: PoolSpec, method: str) -> BorrowForm | None:
    for form in spec.borrows:
        if form.method == method:
            return form
    return None


def _is_form(spec: PoolSpec, name: str) -> bool:
    return any(form.method == name for form in spec.borrows) or any(
        form.on == "pool" and form.method == name for form in spec.releases
    )


def _opted_out(form: BorrowForm, call: ir.Call) -> bool:
    return any(
        name in form.opt_out and isinstance(value, ir.Const) and bool(value.value) for name, value in call.keywords
    )


def _keyed_take(kind: Type | None, call: ir.Call) -> bool:
    """``dict.pop(key)`` takes what the caller names: no borrow."""
    return (
        kind is not None
        and kind.container is not None
        and kind.container.id == "dict"
        and isinstance(call.func, ir.Attr)
        and call.func.name == "pop"
    )


def _is_logger_name(expr: ir.Expr, catalog: Catalog) -> bool:
    path = path_of(expr)
    return path is not None and plain(str(path[-1])).strip("._") in catalog.logger_names


def text_of(expr: ir.Expr | None) -> str:
    """An expression as a person would write it, shortened."""
    if isinstance(expr, ir.Name):
        return expr.text or plain(expr.id.partition("'")[0])
    if isinstance(expr, ir.Attr):
        return f"{text_of(expr.value)}.{expr.name}"
    if isinstance(expr, ir.Sub):
        return f"{text_of(expr.value)}[{text_of(expr.index)}]"
    if isinstance(expr, ir.Call):
        return f"{text_of(expr.func)}({'...' if expr.args or expr.keywords else ''})"
    if isinstance(expr, ir.Await):
        return text_of(expr.value)
    if isinstance(expr, ir.Const):
        return repr(expr.value)
    return "..."
