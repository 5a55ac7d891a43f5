"""The catalog against the libraries themselves: names, methods, parameters, defaults and what they do."""

from __future__ import annotations

import builtins
import gc
import importlib
import importlib.util
import inspect
import sqlite3
import sys
import warnings
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest

from pool_lint.catalog.load import load_catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.catalog.spec import Bound, PoolSpec, Timeout

CATALOG = load_catalog()

# These cannot be imported here at all, whatever is installed.
NOT_IMPORTED = {
    "aioredis": "2.0 does not import since Python 3.11",
    "pika_pool": "it pins a pika that does not import since Python 3.7",
    "universal_object_pool": "it writes files when it is imported",
}

# Names of other releases than the newest, and of projects that share a package's name.
FORMER_PREFIXES = (
    "DBUtils.",
    "aiopg.sa",  # needs SQLAlchemy 1
    "asynch.create_pool",
    "asynch.pool.create_pool",
    "coredis.Blocking",
    "coredis.pool.Blocking",
    "object_pool.",
    "playhouse.cysqlite_ext.",  # needs cysqlite
    "playhouse.pool.PooledCSqliteExtDatabase",
    "playhouse.pool.PooledPostgresqlExtDatabase",
    "playhouse.pool.PooledPsycopg3Database",
    "playhouse.pool.PooledSqliteExtDatabase",
    "pyhive.hive.",  # needs its extra
    "sqlmodel.",
    "dbutils.pooled_pg.",  # needs PyGreSQL
    "dbutils.simple_pooled_pg.",
)

# Methods that only some of a pool's classes have, or that appear when it is made.
ELSEWHERE = {
    ("asynch.Pool", "acquire"),
    ("asynch.Pool", "release"),
    ("dbutils.SimplePooledDB", "connection"),
    ("dbutils.SimplePooledPg", "connection"),
    ("object_pool.ObjectPool", "item"),
    ("object_pool.ObjectPool", "put"),
    ("peewee.PooledDatabase", "close"),
    ("peewee.PooledDatabase", "connection_context"),
    ("psycopg2.pool", "getconn"),
    ("psycopg2.pool", "putconn"),
}

# What these give is a proxy, or one of two types.
PROXIES = ("dbutils.", "mysql.", "sqlalchemy.", "eventlet.db_pool")

SPECS = pytest.mark.parametrize(
    "spec", [spec for spec in CATALOG.specs if spec.library not in NOT_IMPORTED], ids=lambda spec: spec.id
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    # Other people's deprecations are not what is tested here.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def need(dotted: str) -> None:
    pytest.importorskip(dotted.partition(".")[0], exc_type=ImportError)


def resolve(dotted: str) -> Any:  # noqa: ANN401 - whatever has that name
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        # A package may hide a module behind the class of the same name.
        if length == len(parts) > 1:
            found = getattr(importlib.import_module(".".join(parts[:-1])), parts[-1], found)
        try:
            for part in parts[length:]:
                found = getattr(found, part)
        except AttributeError:
            continue
        return found
    raise LookupError(dotted)


def is_installed(package: str) -> bool:
    return package in sys.modules or importlib.util.find_spec(package) is not None


def found(names: tuple[str, ...]) -> dict[str, Any]:
    """Return what the names stand for; only former ones may stand for nothing."""
    result = {}
    for name in names:
        if not is_installed(name.partition(".")[0]):
            continue  # of a package beside the library itself, which is not installed here
        if not name.startswith(FORMER_PREFIXES):
            result[name] = resolve(name)
            continue
        try:
            result[name] = resolve(name)
        except LookupError:
            continue
    return result


def parameters(callable_: Any) -> list[inspect.Parameter] | None:  # noqa: ANN401 - any callable
    try:
        return list(inspect.signature(callable_).parameters.values())
    except (TypeError, ValueError):  # written in C
        return None


def has(class_: Any, method: str) -> bool:  # noqa: ANN401 - any class
    return hasattr(class_, method)


@SPECS
def test_names_exist(spec: PoolSpec) -> None:
    need(spec.classes[0])
    assert found(spec.classes) or spec.classes[0].startswith(FORMER_PREFIXES)
    found(spec.factories)
    found(spec.registries)
    found(spec.object_classes)
    for name in (*spec.members, *(form.function for form in spec.function_borrows)):
        if name.split(".")[0] == spec.classes[0].split(".")[0]:
            resolve(name)


@SPECS
def test_borrows_exist(spec: PoolSpec) -> None:
    need(spec.classes[0])
    for class_ in found(spec.classes).values():
        for form in spec.borrows:
            if (spec.id, form.method) in ELSEWHERE:
                continue
            assert has(class_, form.method)
            known = parameters(getattr(class_, form.method)) or []
            for name in (*form.nested_by, *form.opt_out):
                assert name in {parameter.name for parameter in known}
            if form.ways == {"await"}:
                assert not inspect.isasyncgenfunction(inspect.unwrap(getattr(class_, form.method)))


@SPECS
def test_releases_exist(spec: PoolSpec) -> None:
    need(spec.classes[0])
    classes = found(spec.classes).values()
    objects = found(spec.object_classes).values()
    for form in spec.releases:
        if (spec.id, form.method) in ELSEWHERE:
            continue
        for owner in classes if form.on == "pool" or spec.handle_is_pool else objects:
            if spec.id.startswith("kombu.") and form.on == "object":
                continue  # acquire() sets it on the object
            assert has(owner, form.method)
            known = parameters(getattr(owner, form.method))
            if form.on == "pool" and form.arg >= 0 and known is not None:
                assert known[form.arg + 1].name == (form.keyword or known[form.arg + 1].name)
            if form.awaited and not spec.id.startswith(("asyncpg", "valkey")):
                assert inspect.iscoroutinefunction(getattr(owner, form.method))
            if form.on == "pool" and not form.awaited:
                assert not inspect.iscoroutinefunction(getattr(owner, form.method))


@SPECS
def test_what_objects_have(spec: PoolSpec) -> None:
    need(spec.classes[0])
    objects = [class_ for class_ in found(spec.object_classes).values() if not spec.id.startswith(PROXIES)]
    for class_ in objects:
        for method in spec.derives | spec.returns_itself:
            assert has(class_, method)
        blocks = has(class_, "__enter__") or has(class_, "__aenter__")
        assert blocks == (spec.with_object != "none")


def check_parameter(entry: Bound | Timeout, callable_: Any) -> None:  # noqa: ANN401 - any callable
    known = parameters(callable_)
    if known is None:
        return
    known = [parameter for parameter in known if parameter.name not in {"self", "cls"}]
    named = next((parameter for parameter in known if parameter.name == entry.param), None)
    if named is None:
        assert any(parameter.kind is parameter.VAR_KEYWORD for parameter in known)
        return
    if entry.position >= 0:
        assert known[entry.position] is named
    if named.default is named.empty:
        assert getattr(entry, "required", False)
    elif isinstance(named.default, (int, float)):
        assert entry.default == named.default


@SPECS
def test_parameters(spec: PoolSpec) -> None:
    need(spec.classes[0])
    entries: list[Bound | Timeout] = [*spec.bounds, *spec.timeouts]
    for entry in entries:
        for name in entry.callables or spec.classes:
            if name.startswith(FORMER_PREFIXES):
                continue
            if "." in name and is_installed(name.partition(".")[0]):
                check_parameter(entry, resolve(name))
            elif "." in name:
                continue
            else:
                for class_ in found(spec.classes).values():
                    check_parameter(entry, getattr(class_, name))


@SPECS
def test_errors_exist(spec: PoolSpec) -> None:
    need(spec.classes[0])
    for name in spec.errors:
        if "." in name and not name.startswith(FORMER_PREFIXES):
            need(name)
            assert issubclass(resolve(name), Exception)


def written_name(class_: type[BaseException], root: str) -> str:
    """Return the name that the catalog uses for an exception of the package ``root`` or a builtin one."""
    if getattr(builtins, class_.__name__, None) is class_:
        return str(class_.__name__)
    for name in CATALOG.error_parents:
        related = name.startswith(f"{root}.") or (root, name) == ("psycopg_pool", "psycopg.OperationalError")
        if related and not name.startswith(FORMER_PREFIXES) and resolve(name) is class_:
            return name
    return ""


ROOTS = {name.partition(".")[0] for name in CATALOG.error_parents if "." in name} - NOT_IMPORTED.keys()


@pytest.mark.parametrize("root", sorted(ROOTS))
def test_exceptions_derive_as_written(root: str) -> None:
    need(root)
    for name in (*CATALOG.error_parents, *CATALOG.error_aliases):
        if not name.startswith(f"{root}.") or name.startswith(FORMER_PREFIXES):
            continue
        canonical = CATALOG.canonical_error(name)
        if canonical == "TimeoutError" and sys.version_info < (3, 11):
            continue  # they became one in 3.11
        if canonical != name:
            if "." in canonical:
                need(canonical)
            assert resolve(name) is resolve(canonical if "." in canonical else f"builtins.{canonical}")
            continue
        parent = CATALOG.error_parents[name]
        assert parent == next(filter(None, (written_name(base, root) for base in resolve(name).__mro__[1:])))


@pytest.mark.parametrize("container", CATALOG.containers, ids=lambda container: container.id)
def test_containers(container: Any) -> None:  # noqa: ANN401 - a ContainerSpec
    for name in container.classes:
        if name.startswith("typing."):
            continue
        dotted = name if "." in name else f"builtins.{name}"
        need(dotted)
        class_ = resolve(dotted)
        for form in (*container.takes, *container.puts):
            assert has(class_, form.method)
        if container.bound:
            check_parameter(container.bound, class_)
    for name in (*container.empty_errors, *container.full_errors):
        assert issubclass(resolve(name if "." in name else f"builtins.{name}"), Exception)


def test_calls_exist() -> None:
    calls = (
        CATALOG.no_raise_functions,
        CATALOG.never_keep,
        CATALOG.logger_factories,
        CATALOG.connections,
        CATALOG.external,
    )
    for name in sorted({name for names in calls for name in names}):
        root = name.partition(".")[0]
        if root in NOT_IMPORTED or name.startswith(FORMER_PREFIXES):
            continue
        try:
            importlib.import_module(root if "." in name else "builtins")
        except ImportError:
            continue
        assert callable(resolve(name if "." in name else f"builtins.{name}")) or name == "loguru.logger"


def in_range(version: str, versions: str) -> bool:
    number = tuple(int(part) for part in version.split(".")[:2])
    limit = tuple(int(part) for part in versions.lstrip("<>=").split("."))
    return number >= limit if versions.startswith(">=") else number < limit


@pytest.mark.parametrize("library", ["redis", "valkey"])
def test_the_default_limit_of_this_version(library: str) -> None:
    need(library)
    version = metadata.version(library)
    spec = CATALOG.by_class[f"{library}.ConnectionPool"]
    (bound,) = [
        bound
        for bound in spec.bounds
        if bound.callables[0] == spec.classes[0] and (not bound.versions or in_range(version, bound.versions))
    ]
    limit = resolve(spec.classes[0])().max_connections
    assert (limit >= 2**31) == bound.default_unbounded
    assert bound.default in (None, limit)


def test_sqlalchemy_as_written() -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pool = sqlalchemy.pool.QueuePool(lambda: sqlite3.connect(":memory:"), pool_size=1, max_overflow=0, timeout=0)
    connection = pool.connect()
    assert pool.checkedout() == 1
    connection.close()
    connection.close()
    assert pool.checkedout() == 0
    connection = pool.connect()
    del connection
    gc.collect()
    assert pool.checkedout() == 0
    connection = pool.connect()
    connection.invalidate()
    assert pool.checkedout() == 0
    engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.pool.QueuePool)
    with engine.connect() as held:
        assert engine.pool.checkedout() == 1
        assert held.execution_options(isolation_level="AUTOCOMMIT") is held
    assert engine.pool.checkedout() == 0


def test_dbutils_as_written() -> None:
    pooled_db = pytest.importorskip("dbutils.pooled_db")
    pool = pooled_db.PooledDB(sqlite3, maxconnections=1, database=":memory:")
    connection = pool.connection()
    with pytest.raises(pooled_db.TooManyConnectionsError):
        pool.connection()
    connection.close()
    connection.close()
    with pool.connection() as held:
        held.cursor()
    held = pool.connection()
    del held
    gc.collect()
    pool.connection().close()
    pool.close()


def test_pymemcache_as_written() -> None:
    pools = pytest.importorskip("pymemcache.pool")

    class Thing:
        """An object that takes attributes."""

    pool = pools.ObjectPool(Thing, max_size=1)
    thing = pool.get()
    with pytest.raises(RuntimeError):
        pool.get()
    pool.destroy(thing)
    thing = pool.get()
    pool.release(thing)
    with pool.get_and_release() as again:
        assert again is thing
    assert pools.ObjectPool(Thing).max_size == 2**31


def test_peewee_as_written() -> None:
    playhouse_pool = pytest.importorskip("playhouse.pool")
    database = playhouse_pool.PooledSqliteDatabase(":memory:", max_connections=1)
    with database.connection_context():
        assert not database.is_closed()
    assert database.is_closed()
    assert database.connect()
    assert database.close()
    assert not database.close()
    database.close_all()


def test_eventlet_as_written() -> None:
    pools = pytest.importorskip("eventlet.pools")
    pool = pools.Pool(create=object, max_size=1)
    with pool.item() as thing:
        assert pool.free() == 0
    assert pool.get() is thing
    pool.put(thing)
    assert pool.free() == 1


def test_httpx_as_written() -> None:
    httpx = pytest.importorskip("httpx")
    assert httpx.Limits(max_keepalive_connections=40).max_connections is None
    limits = inspect.signature(httpx.Client).parameters["limits"].default
    assert limits.max_connections == 100
