"""What the expressions of one file are: pools, containers, instances of its own classes, things of other modules.

Flow-insensitive and lazy: a name has the type that its assignments and annotations agree on, worked out when asked.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pool_lint import ir
from pool_lint.pools.linked import MARK, Linked, plain
from pool_lint.walk import path_of, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pool_lint.catalog.spec import Catalog, ContainerSpec, PoolSpec

Kind = Literal[
    "pool", "instance", "class", "function", "external", "external_instance", "container", "many", "object", "lock",
    "semaphore", "logger", "awaitable",
]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """What a value is.

    ``pool``: a pool of ``spec``; ``object``: something borrowed from one.  ``instance`` / ``class``: of ``klass``.
    ``function``: ``function`` (bound when ``klass`` is set).  ``external``: the importable thing ``dotted``, and
    ``external_instance`` what calling it gives.  ``container``: a stdlib container (``container`` tells which, or
    None for one of an unknown kind), found at ``origin``.  ``many``: a mapping or sequence whose items are ``item``.
    """

    kind: Kind
    spec: PoolSpec | None = None
    klass: ir.Klass | None = None
    function: ir.Function | None = None
    dotted: str = ""
    container: ContainerSpec | None = None
    item: Type | None = None
    origin: ir.Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One place that gives a name its value, or says what it is; ``scope`` is the function it stands in."""

    how: Literal["value", "annotation", "with", "for", "unpack", "function", "class", "import"]
    expr: ir.Expr | None
    scope: ir.Function | None
    function: ir.Function | None = None
    klass: ir.Klass | None = None
    dotted: str = ""


_LOCKS = frozenset(
    f"{module}.{name}"
    for module in ("threading", "multiprocessing", "_thread", "gevent.lock", "eventlet.semaphore")
    for name in ("Lock", "RLock", "Condition", "allocate_lock")
)
_ASYNC_LOCKS = frozenset(
    f"{module}.{name}" for module in ("asyncio", "trio", "anyio") for name in ("Lock", "Condition")
)
_SEMAPHORES = frozenset(
    f"{module}.{name}"
    for module in (
        "threading", "multiprocessing", "asyncio", "trio", "anyio", "gevent.lock", "eventlet.semaphore", "curio",
        "multiprocessing.synchronize",
    )
    for name in ("Semaphore", "BoundedSemaphore", "CapacityLimiter", "DummySemaphore")
)  # fmt: skip
_WRAPPERS = frozenset(("Optional", "Annotated", "ClassVar", "Final", "Awaitable", "Required", "NotRequired", "InitVar"))
_MANY = frozenset(
    (
        "list", "List", "dict", "Dict", "Mapping", "MutableMapping", "Sequence", "Iterable", "tuple", "Tuple", "set",
        "Set", "Collection", "MutableSequence", "Iterator", "frozenset", "FrozenSet", "OrderedDict", "defaultdict",
        "DefaultDict",
    )
)  # fmt: skip


class Types:
    """The types of one file's expressions."""

    def __init__(self, tree: ir.ModuleTree, catalog: Catalog, linked: Linked | None = None) -> None:
        self.tree = tree
        self.catalog = catalog
        self.linked = linked or Linked()
        self.imports: dict[str, str] = {}
        self._globals: dict[str, list[Binding]] = defaultdict(list)
        self._locals: dict[ir.Function, dict[str, list[Binding]]] = {}
        self._attrs: dict[ir.Klass, dict[str, list[Binding]]] = {}
        self._names: dict[tuple[int, str], Type | None] = {}
        self._attr_types: dict[tuple[ir.Klass, str], Type | None] = {}
        self._results: dict[ir.Function, Type | None] = {}
        self._called: dict[ir.Expr, Type | None] = {}
        self._busy: set[object] = set()
        self.classes: dict[str, ir.Klass] = {}
        for klass in tree.classes:
            self.classes.setdefault(klass.name, klass)
        _collect(tree.body, None, self._globals)
        for function in tree.functions:
            self._collect_global(function)
        self._collect_linked(self.linked)
        for name, bindings in self._globals.items():
            for binding in bindings:
                if binding.how == "import":
                    self.imports.setdefault(name, binding.dotted)

    # Names.

    def _collect_global(self, function: ir.Function) -> None:
        """What a function gives global names, and its imports, which are taken to mean the same everywhere."""
        for stmt in walk_statements(function.body):
            if isinstance(stmt, ir.Import):
                for dotted, local in stmt.names:
                    self._globals[local].append(Binding("import", None, None, dotted=dotted))
            elif isinstance(stmt, ir.Global) and not stmt.nonlocal_:
                own: dict[str, list[Binding]] = defaultdict(list)
                _collect(function.body, function, own)
                for name in set(stmt.names):
                    self._globals[name].extend(own.get(name, ()))

    def _collect_linked(self, linked: Linked) -> None:
        """What the statements of other modules bind, under the names by which everybody reads it."""
        found: dict[str, list[Binding]] = defaultdict(list)
        _collect(linked.body, None, found)
        for name, bindings in found.items():
            for binding in bindings:
                thing = binding.function or binding.klass
                home = linked.homes.get(thing) if thing is not None else None
                self._globals[f"{name}{home}" if home is not None else name].append(binding)
        for function in linked.functions:
            self._collect_global(function)
        for klass in linked.classes:
            self.classes.setdefault(f"{klass.name}{linked.homes[klass]}", klass)
        for known, name in linked.own.items():
            self._globals[known] = self._globals[name]

    def is_unseen(self, kind: Type) -> bool:
        """Whether a value is an instance of a class of which not everything need be in view.

        That is one of another module, or a protocol or abstract class that only says what there is to call.
        """
        if kind.kind != "instance" or kind.klass is None:
            return False
        return kind.klass in self.linked.homes or self._is_interface(kind.klass)

    def _is_interface(self, klass: ir.Klass) -> bool:
        methods = [method for name, method in klass.methods.items() if not name.startswith("__")]
        return (
            bool(methods)
            and all(_is_stub(method.body) for method in methods)
            and any(
                self.dotted(base.value if isinstance(base, ir.Sub) else base) in _INTERFACES for base in klass.bases
            )
        )

    def locals_of(self, function: ir.Function) -> dict[str, list[Binding]]:
        """Where each name that a function binds gets its value."""
        found = self._locals.get(function)
        if found is None:
            found = defaultdict(list)
            for param in function.params:
                if param.annotation is not None:
                    found[param.name].append(Binding("annotation", param.annotation, function.parent))
            _collect(function.body, function, found)
            self._locals[function] = found
        return found

    def bindings(self, name: str, scope: ir.Function | None) -> tuple[list[Binding], ir.Function | None]:
        """The bindings of the variable that a name means in a scope, and the scope it belongs to."""
        function = scope
        while function is not None:
            if name in function.assigned and name not in function.outer:
                return self.locals_of(function).get(name, []), function
            function = function.parent
        return self._globals.get(name, []), None

    def is_param(self, name: str, scope: ir.Function | None) -> bool:
        """Whether a name is a parameter of the function itself (not of one around it)."""
        return scope is not None and any(param.name == name for param in scope.params)

    def name_type(self, name: str, scope: ir.Function | None) -> Type | None:
        """What a variable is: as its bindings agree, else as ``self``, a builtin or a usual name of a logger."""
        bindings, owner = self.bindings(name, scope)
        key = (id(owner), name)
        if key in self._names:
            return self._names[key]
        if key in self._busy:
            return None
        self._busy.add(key)
        found = self._agreed(bindings)
        if found is None and owner is not None:
            found = self._self_type(name, owner)
        if found is None and owner is None:
            if plain(name) in self.catalog.logger_names and not bindings:
                found = Type("logger")
            elif not bindings and plain(name) in _BUILTINS:
                found = Type("external", dotted=plain(name))
        self._busy.discard(key)
        self._names[key] = found
        return found

    def _self_type(self, name: str, owner: ir.Function) -> Type | None:
        if owner.owner is None or not owner.params or owner.params[0].name != name:
            return None
        decorators = decorator_names(owner)
        if "staticmethod" in decorators:
            return None
        if "classmethod" in decorators:
            return Type("class", klass=owner.owner)
        return self._instance(owner.owner)

    def _agreed(self, bindings: Iterable[Binding]) -> Type | None:
        """The type that bindings agree on; those of unknown type and plain constants have no vote."""
        found: Type | None = None
        for binding in bindings:
            kind = self._binding_type(binding)
            if kind is None:
                continue
            if found is None or _rank(kind) > _rank(found):
                found = kind
        return found

    def _binding_type(self, binding: Binding) -> Type | None:
        if binding.how == "function":
            return Type("function", function=binding.function)
        if binding.how == "class":
            return Type("class", klass=binding.klass)
        if binding.how == "import":
            return self.external(binding.dotted)
        if binding.expr is None or binding.how == "unpack":
            return None
        if binding.how == "annotation":
            return self.annotation(binding.expr, binding.scope)
        kind = self.of(binding.expr, binding.scope)
        if kind is None:
            return None
        if binding.how == "for":
            return kind.item if kind.kind in ("many", "container") else None
        if binding.how == "with" and kind.kind == "awaitable":
            return kind.item
        return kind

    def external(self, dotted: str) -> Type:
        """What an importable name is."""
        catalog = self.catalog
        if dotted in catalog.by_registry:
            return Type("many", item=Type("pool", spec=catalog.by_registry[dotted]))
        if dotted in catalog.by_member:
            return Type("pool", spec=catalog.by_member[dotted])
        if dotted in catalog.logger_factories and dotted.endswith(".logger"):
            return Type("logger")
        return Type("external", dotted=dotted)

    # Attributes.

    def attrs_of(self, klass: ir.Klass) -> dict[str, list[Binding]]:
        """Where each attribute of a class gets its value: class body, ``self.x = ...`` in any method."""
        found = self._attrs.get(klass)
        if found is None:
            found = defaultdict(list)
            _collect(klass.body, klass.parent, found)
            for method in klass.methods.values():
                for function in _with_nested(method):
                    _collect_self(function, method, found)
            self._attrs[klass] = found
        return found

    def bases_of(self, klass: ir.Klass) -> list[ir.Klass]:
        """The class and its bases in this file, nearest first."""
        out, stack = [], [klass]
        while stack:
            current = stack.pop(0)
            if current in out:
                continue
            out.append(current)
            for base in current.bases:
                kind = (
                    self.of(base, current.parent)
                    if not isinstance(base, ir.Sub)
                    else self.of(base.value, current.parent)
                )
                if kind is not None and kind.kind == "class" and kind.klass is not None:
                    stack.append(kind.klass)
        return out

    def unseen_bases(self, klass: ir.Klass) -> list[str]:
        """Dotted names of base classes that are not in this file ("" for those without a name)."""
        out = []
        for each in self.bases_of(klass):
            for base in each.bases:
                expr = base.value if isinstance(base, ir.Sub) else base
                kind = self.of(expr, each.parent)
                if kind is None:
                    out.append(self.dotted(expr) or "")
                elif kind.kind != "class":
                    out.append(kind.dotted)
        return [name for name in out if name not in _NEUTRAL_BASES]

    def method(self, klass: ir.Klass, name: str) -> ir.Function | None:
        """The method of a class or, failing that, of its nearest base in this file."""
        for each in self.bases_of(klass):
            if name in each.methods:
                return each.methods[name]
        return None

    def attr_type(self, klass: ir.Klass, name: str) -> Type | None:
        """What an attribute of a class's instances is: as assigned, a method, or what a property returns."""
        key = (klass, name)
        if key in self._attr_types:
            return self._attr_types[key]
        if key in self._busy:
            return None
        self._busy.add(key)
        found: Type | None = None
        for each in self.bases_of(klass):
            found = self._agreed(self.attrs_of(each).get(name, ()))
            if found is not None:
                break
        method = self.method(klass, name)
        if (found is None or (method is not None and found.function is method)) and method is not None:
            decorators = decorator_names(method)
            if decorators & {"property", "cached_property"}:
                found = self._result(method)
            else:
                found = Type("function", function=method, klass=klass)
        if found is None and name.strip("_") in self.catalog.logger_names:
            found = Type("logger")
        self._busy.discard(key)
        self._attr_types[key] = found
        return found

    def _instance(self, klass: ir.Klass) -> Type:
        for base in self.unseen_bases(klass):
            if base in self.catalog.by_class:
                return Type("pool", spec=self.catalog.by_class[base], klass=klass)
            if base in _LOCKS:
                return Type("lock")
        return Type("instance", klass=klass)

    # Expressions.

    def of(self, expr: ir.Expr, scope: ir.Function | None) -> Type | None:  # noqa: C901, PLR0912 - one case per kind
        """The type of an expression that stands in a function (None: at module level)."""
        if isinstance(expr, ir.Name):
            return self.name_type(expr.id.partition("'")[0] if "'" in expr.id else expr.id, scope)
        if isinstance(expr, ir.Attr):
            return self._attr_of(expr, scope)
        if isinstance(expr, ir.Call):
            # An expression node stands in one scope only; a chain of calls would else be walked again from each link.
            if expr not in self._called:
                self._called[expr] = None
                self._called[expr] = self._call_of(expr, scope)
            return self._called[expr]
        if isinstance(expr, ir.Await):
            kind = self.of(expr.value, scope)
            return kind.item if kind is not None and kind.kind == "awaitable" else kind
        if isinstance(expr, ir.Sub):
            kind = self.of(expr.value, scope)
            if kind is not None and kind.kind in ("many", "container"):
                return kind.item
            return kind if kind is not None and kind.kind in ("class", "external") else None
        if isinstance(expr, ir.Cond):
            return self._first((expr.body, expr.orelse), scope)
        if isinstance(expr, ir.Bool):
            return self._first((expr.left, expr.right), scope)
        if isinstance(expr, (ir.Walrus, ir.Star)):
            return self.of(expr.value, scope)
        if isinstance(expr, ir.Seq):
            item = self._first(expr.items, scope) if expr.items else None
            if item is not None and item.kind == "pool":
                return Type("many", item=item, origin=expr)
            return self._literal(expr.kind, expr)
        if isinstance(expr, ir.DictLit):
            item = self._first([value for _, value in expr.items], scope)
            if item is not None and item.kind == "pool":
                return Type("many", item=item, origin=expr)
            return self._literal("dict", expr)
        if isinstance(expr, ir.Comp):
            item = self.of(expr.elt, scope)
            if item is not None and item.kind == "pool":
                return Type("many", item=item, origin=expr)
            return self._literal(expr.kind, expr)
        if isinstance(expr, ir.Lambda):
            return Type("function", function=expr.function)
        return None

    def _first(self, parts: Sequence[ir.Expr], scope: ir.Function | None) -> Type | None:
        for part in parts:
            kind = self.of(part, scope)
            if kind is not None:
                return kind
        return None

    def _literal(self, literal: str, origin: ir.Expr) -> Type | None:
        for container in self.catalog.containers:
            if container.literal == literal:
                return Type("container", container=container, origin=origin)
        return None

    def _attr_of(self, expr: ir.Attr, scope: ir.Function | None) -> Type | None:
        base = self.of(expr.value, scope)
        name = expr.name
        if base is None:
            return Type("logger") if name.strip("_") in self.catalog.logger_names else None
        if base.kind in ("instance", "class") and base.klass is not None:
            return self.attr_type(base.klass, name)
        if base.kind == "pool" and base.klass is not None:
            return self.attr_type(base.klass, name)
        if base.kind == "external":
            return self.external(f"{base.dotted}.{name}")
        if base.kind == "external_instance":
            member = self.catalog.by_member.get(f"{base.dotted}.{name}")
            if member is not None:
                return Type("pool", spec=member)
            return Type("logger") if name.strip("_") in self.catalog.logger_names else None
        return None

    def _call_of(  # noqa: C901, PLR0912 - one case per kind of callee
        self, expr: ir.Call, scope: ir.Function | None
    ) -> Type | None:
        func = expr.func
        callee = self.of(func, scope)
        if callee is None:
            if isinstance(func, ir.Attr):
                return _method_result(self.of(func.value, scope), func.name)
            return None
        if callee.kind == "class" and callee.klass is not None:
            return self._instance(callee.klass)
        if callee.kind == "function" and callee.function is not None:
            return self._result(callee.function)
        if callee.kind != "external":
            return None
        dotted = callee.dotted
        catalog = self.catalog
        if dotted in catalog.by_class:
            return Type("pool", spec=catalog.by_class[dotted], origin=expr)
        if dotted in catalog.by_factory:
            return Type("pool", spec=catalog.by_factory[dotted], origin=expr)
        owner = dotted.rpartition(".")[0]
        if owner in catalog.by_class and dotted.rpartition(".")[2].startswith(("from_", "create")):
            return Type("pool", spec=catalog.by_class[owner], origin=expr)
        if dotted in catalog.by_container:
            return Type("container", container=catalog.by_container[dotted], origin=expr)
        if dotted in _LOCKS:
            return Type("lock")
        if dotted in _ASYNC_LOCKS:
            return Type("lock", dotted="async")
        if dotted in _SEMAPHORES:
            # one that starts with nothing to give signals something; it counts no objects
            return Type("lock") if _starts_at_nothing(expr) else Type("semaphore", dotted=dotted)
        if dotted in catalog.logger_factories:
            return Type("logger")
        if dotted in _SEEN_THROUGH and expr.args:
            return self.of(expr.args[_SEEN_THROUGH[dotted]], scope) if len(expr.args) > _SEEN_THROUGH[dotted] else None
        if dotted in catalog.by_object:
            return Type("object", spec=catalog.by_object[dotted])
        return Type("external_instance", dotted=dotted)

    def _result(self, function: ir.Function) -> Type | None:
        """What calling a function of this file gives, as far as its annotation or returns tell."""
        if function.returns is not None:
            kind = self.annotation(function.returns, function.parent)
            if kind is not None:
                return kind
        if function in self._results:
            return self._results[function]
        key = ("result", function)
        if key in self._busy or function.is_generator:
            return None
        self._busy.add(key)
        found: Type | None = None
        for stmt in walk_statements(function.body):
            if isinstance(stmt, ir.Return) and stmt.value is not None:
                kind = self.of(stmt.value, function)
                if kind is not None and (found is None or _rank(kind) > _rank(found)):
                    found = kind
        self._busy.discard(key)
        self._results[function] = found
        return found

    # Annotations.

    def annotation(self, expr: ir.Expr, scope: ir.Function | None) -> Type | None:
        """What an annotation says a value is."""
        if isinstance(expr, ir.Const):
            if not isinstance(expr.value, str):
                return None
            parsed = _parse_annotation(expr.value)
            return self.annotation(parsed, scope) if parsed is not None else None
        if isinstance(expr, ir.Op) and expr.op == "BitOr":
            kinds = [kind for part in expr.parts if (kind := self.annotation(part, scope)) is not None]
            return kinds[0] if kinds else None
        if isinstance(expr, ir.Sub):
            return self._generic(expr, scope)
        kind = self.of(expr, scope)
        if kind is None:
            return None
        if kind.kind == "class" and kind.klass is not None:
            return self._instance(kind.klass)
        if kind.kind != "external":
            return kind if kind.kind in ("pool", "many", "instance") else None
        return self._annotated(kind.dotted)

    def _annotated(self, dotted: str) -> Type | None:
        catalog = self.catalog
        if dotted in catalog.by_class:
            return Type("pool", spec=catalog.by_class[dotted])
        if dotted in catalog.by_object:
            return Type("object", spec=catalog.by_object[dotted])
        if dotted in catalog.by_container:
            return Type("container", container=catalog.by_container[dotted])
        if dotted in _LOCKS:
            return Type("lock")
        if dotted in _ASYNC_LOCKS:
            return Type("lock", dotted="async")
        if dotted in _SEMAPHORES:
            return Type("semaphore", dotted=dotted)
        if dotted in ("logging.Logger", "logging.LoggerAdapter"):
            return Type("logger")
        return Type("external_instance", dotted=dotted)

    def _generic(self, expr: ir.Sub, scope: ir.Function | None) -> Type | None:
        head = self.dotted(expr.value)
        last = head.rpartition(".")[2] if head else ""
        args = expr.index.items if isinstance(expr.index, ir.Seq) else [expr.index]
        if last in _WRAPPERS:
            return self.annotation(args[0], scope) if args else None
        if last == "Union":
            kinds = [kind for part in args if (kind := self.annotation(part, scope)) is not None]
            return kinds[0] if kinds else None
        if last in ("AsyncIterator", "AsyncGenerator", "Generator", "Callable", "Type", "type"):
            return None
        if last in _MANY and args:
            item = self.annotation(args[-1] if not isinstance(args[-1], ir.Const) else args[0], scope)
            if item is not None and item.kind in ("pool", "semaphore", "lock"):
                return Type("many", item=item)
            if item is not None and item.kind == "instance":
                base = self.annotation(expr.value, scope)
                known = base.container if base is not None and base.kind == "container" else None
                return Type("container", container=known, item=item) if known else Type("many", item=item)
        base = self.annotation(expr.value, scope)
        if base is not None and base.kind == "container" and args:
            item = self.annotation(args[-1], scope)
            if item is not None and item.kind in ("instance", "external_instance", "object"):
                return Type("container", container=base.container, item=item)
        return base

    def dotted(self, expr: ir.Expr) -> str:
        """The importable name of a dotted path, or "" if it has none."""
        path = path_of(expr)
        if path is None:
            return ""
        root = str(path[0])
        head = self.imports.get(root, root.removesuffix(MARK))
        return head + "".join(str(part) for part in path[1:])


_SEEN_THROUGH = {"typing.cast": 1, "typing_extensions.cast": 1, "asyncio.wait_for": 0, "asyncio.shield": 0}
_INTERFACES = frozenset(("typing.Protocol", "typing_extensions.Protocol", "abc.ABC"))
_NEUTRAL_BASES = frozenset(
    f"{module}{name}"
    for module, names in (
        ("", ("object", "Exception", "BaseException")),
        ("abc.", ("ABC",)),
        ("enum.", ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag")),
        ("typing.", ("Protocol", "Generic", "NamedTuple", "TypedDict")),
        ("typing_extensions.", ("Protocol", "Generic", "NamedTuple", "TypedDict")),
    )
    for name in names
)
_BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


def _is_stub(body: list[ir.Stmt]) -> bool:
    """Whether a body does nothing: a docstring, `...`, `pass`, or `raise NotImplementedError`."""
    return all(
        isinstance(stmt, (ir.Pass, ir.Raise)) or (isinstance(stmt, ir.ExprStmt) and isinstance(stmt.value, ir.Const))
        for stmt in body
    )


def _starts_at_nothing(call: ir.Call) -> bool:
    value = call.args[0] if call.args else next((value for key, value in call.keywords if key == "value"), None)
    return isinstance(value, ir.Const) and value.value == 0


def _rank(kind: Type) -> int:
    return {"pool": 3, "many": 2, "container": 2, "semaphore": 2, "lock": 2, "instance": 2}.get(kind.kind, 1)


def _method_result(base: Type | None, name: str) -> Type | None:
    """What a method of an unseen class gives, for those that give a part of their object or the object itself."""
    if base is None:
        return None
    if base.kind in ("many", "container") and name in ("get", "pop", "setdefault", "popleft", "get_nowait"):
        return base.item
    if base.kind == "many" and name == "values":
        return base
    if base.kind == "pool" and base.spec is not None and name in ("with_options", "options", "execution_options"):
        return base
    return None


def decorator_names(function: ir.Function) -> frozenset[str]:
    """The last parts of a function's decorators: ``{"contextmanager"}`` for ``@contextlib.contextmanager``."""
    out = set()
    for decorator in function.decorators:
        expr = decorator.func if isinstance(decorator, ir.Call) else decorator
        path = path_of(expr)
        if path:
            out.add(plain(str(path[-1])).lstrip("."))
    return frozenset(out)


def _with_nested(function: ir.Function) -> Iterable[ir.Function]:
    yield function
    for inner in function.nested:
        yield from _with_nested(inner)


def _collect(body: Sequence[ir.Stmt], scope: ir.Function | None, into: dict[str, list[Binding]]) -> None:
    """What each name is given in a body; comprehensions and walruses come last."""
    for stmt in walk_statements(body):
        if isinstance(stmt, ir.Assign):
            for target in stmt.targets:
                _bind(target, stmt.value, stmt.annotation, scope, into)
        elif isinstance(stmt, ir.With):
            for name, context in _with_names(stmt):
                into[name].append(Binding("with", context, scope))
        elif isinstance(stmt, ir.For):
            _bind_loop(stmt.target, stmt.iter, scope, into)
        else:
            _bind_definition(stmt, scope, into)
    for expr in walk_expressions(body):
        _bind_inside(expr, scope, into)


def _with_names(stmt: ir.With) -> list[tuple[str, ir.Expr]]:
    """The variables that a ``with`` binds, and the context manager of each."""
    return [(item.target.id, item.context) for item in stmt.items if isinstance(item.target, ir.Name)]


def _bind_inside(expr: ir.Expr, scope: ir.Function | None, into: dict[str, list[Binding]]) -> None:
    """What an expression gives names: a walrus, or the variables of a comprehension as the source calls them."""
    if isinstance(expr, ir.Walrus):
        into[expr.name].append(Binding("value", expr.value, scope))
    elif isinstance(expr, ir.Comp):
        for loop in expr.fors:
            if isinstance(loop.target, ir.Name):
                into[loop.target.id.partition("'")[0]].append(Binding("for", loop.iter, scope))


def _bind_loop(target: ir.Expr, iterable: ir.Expr, scope: ir.Function | None, into: dict[str, list[Binding]]) -> None:
    if isinstance(target, ir.Name):
        into[target.id].append(Binding("for", iterable, scope))
    elif isinstance(target, ir.Seq) and target.items and isinstance(target.items[-1], ir.Name):
        items = _items_of(iterable)
        if items is not None:
            into[target.items[-1].id].append(Binding("for", items, scope))


def _bind_definition(stmt: ir.Stmt, scope: ir.Function | None, into: dict[str, list[Binding]]) -> None:
    if isinstance(stmt, ir.FuncDef):
        into[stmt.function.name].append(Binding("function", None, scope, function=stmt.function))
    elif isinstance(stmt, ir.ClassDef):
        into[stmt.klass.name].append(Binding("class", None, scope, klass=stmt.klass))
    elif isinstance(stmt, ir.Import):
        for dotted, local in stmt.names:
            into[local].append(Binding("import", None, scope, dotted=dotted))


def _items_of(expr: ir.Expr) -> ir.Expr | None:
    """``x`` of ``x.items()`` and ``enumerate(x)``."""
    if isinstance(expr, ir.Call):
        if isinstance(expr.func, ir.Attr) and expr.func.name == "items":
            return expr.func.value
        if isinstance(expr.func, ir.Name) and expr.func.id == "enumerate" and expr.args:
            return expr.args[0]
    return None


def _bind(
    target: ir.Expr,
    value: ir.Expr | None,
    annotation: ir.Expr | None,
    scope: ir.Function | None,
    into: dict[str, list[Binding]],
) -> None:
    if isinstance(target, ir.Name):
        if annotation is not None:
            into[target.id].append(Binding("annotation", annotation, scope))
        if value is not None:
            into[target.id].append(Binding("value", value, scope))
    elif isinstance(target, ir.Seq):
        values = value.items if isinstance(value, ir.Seq) and len(value.items) == len(target.items) else None
        for position, item in enumerate(target.items):
            if values is not None:
                _bind(item, values[position], None, scope, into)
            elif isinstance(item, ir.Name):
                into[item.id].append(Binding("unpack", value, scope))


def _collect_self(function: ir.Function, method: ir.Function, into: dict[str, list[Binding]]) -> None:
    """What ``self.x`` is given in one method."""
    if not method.params:
        return
    own = method.params[0].name
    for stmt in walk_statements(function.body):
        if not isinstance(stmt, ir.Assign):
            continue
        for target in stmt.targets:
            pairs: list[tuple[ir.Expr, ir.Expr | None]] = [(target, stmt.value)]
            if isinstance(target, ir.Seq):
                same = isinstance(stmt.value, ir.Seq) and len(stmt.value.items) == len(target.items)
                values = stmt.value.items if same and isinstance(stmt.value, ir.Seq) else [None] * len(target.items)
                pairs = list(zip(target.items, values, strict=True))
            for each, value in pairs:
                if isinstance(each, ir.Attr) and isinstance(each.value, ir.Name) and each.value.id == own:
                    if stmt.annotation is not None:
                        into[each.name].append(Binding("annotation", stmt.annotation, function))
                    if value is not None:
                        into[each.name].append(Binding("value", value, function))


def _parse_annotation(text: str) -> ir.Expr | None:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return _from_ast(node)


def _from_ast(node: ast.expr) -> ir.Expr | None:
    if isinstance(node, ast.Name):
        return ir.Name(0, 0, node.id)
    if isinstance(node, ast.Constant):
        return ir.Const(0, 0, node.value)
    if isinstance(node, ast.Attribute):
        value = _from_ast(node.value)
        return ir.Attr(0, 0, value, node.attr) if value is not None else None
    if isinstance(node, ast.Subscript):
        value, index = _from_ast(node.value), _from_ast(node.slice)
        return ir.Sub(0, 0, value, index) if value is not None and index is not None else None
    if isinstance(node, ast.Tuple):
        items = [item for element in node.elts if (item := _from_ast(element)) is not None]
        return ir.Seq(0, 0, "tuple", items)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left, right = _from_ast(node.left), _from_ast(node.right)
        return ir.Op(0, 0, [left, right], "binary", "BitOr") if left is not None and right is not None else None
    return None
