"""The catalog's files: every entry fits the schema and holds together, and mistakes are named."""

from __future__ import annotations

import builtins
import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from pool_lint.catalog.load import (
    FOLDER,
    OTHERS,
    PREBUILT,
    catalog_of,
    load_catalog,
    parse_calls,
    parse_containers,
    parse_errors,
    parse_pools,
    prebuild,
)
from pool_lint.catalog.schema import READERS, RESETS
from pool_lint.catalog.spec import Catalog, PoolSpec, TakeForm
from pool_lint.catalog.words import WORDS, words_of
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CATALOG = load_catalog()
SPECS = pytest.mark.parametrize("spec", CATALOG.specs, ids=lambda spec: spec.id)
WHERE = "pyproject.toml: tool.pool_lint"

# Data that was fetched stays valid after the return.
FETCHES = re.compile(r"fetch(one|many|all|row|val)?|all|first|one|read_response")


def pool(**changes: object) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": "acme.Pool",
        "classes": ["acme.Pool"],
        "item": "connection",
        "borrows": [{"method": "acquire", "ways": ["call"]}],
        "releases": [{"method": "release", "on": "pool"}],
        "remedy": "use try/finally with '{pool}.release(...)'",
    }
    entry.update(changes)
    return {key: value for key, value in entry.items() if value is not None}


def parsed(**changes: object) -> PoolSpec:
    (spec,) = parse_pools({"pool": [pool(**changes)]}, WHERE)
    return spec


def test_every_library_has_a_pool() -> None:
    files = {path.name for path in FOLDER.glob("*.toml")} - set(OTHERS)
    assert len({spec.library for spec in CATALOG.specs}) == len(files)


def test_a_name_belongs_to_one_pool() -> None:
    for kind in ("classes", "factories", "registries", "members"):
        names = [name for spec in CATALOG.specs for name in getattr(spec, kind)]
        assert sorted(names) == sorted(set(names))
    assert not {name for spec in CATALOG.specs for name in spec.classes} & CATALOG.by_factory.keys()


@SPECS
def test_what_is_borrowed_by_hand_can_be_returned(spec: PoolSpec) -> None:
    by_hand = any(form.ways & {"call", "await"} for form in spec.borrows)
    assert spec.releases or not by_hand


@SPECS
def test_the_remedy_uses_what_the_pool_has(spec: PoolSpec) -> None:
    for way, method in re.findall(r"'((?:async )?with) (?:await )?\{pool\}\.(\w+)\(", spec.remedy):
        if method == "manage":
            continue  # Momoko's block around an object that was borrowed before.
        form = next(form for form in spec.borrows if form.method == method)
        assert way in form.ways or spec.with_object == "returns"
    for awaited, method in re.findall(r"with '(await )?\{pool\}\.(\w+)\(", spec.remedy):
        release = next(form for form in spec.releases if form.method == method)
        assert release.on == "pool" or spec.handle_is_pool
        assert release.awaited == bool(awaited)
    for method in re.findall(r"(?:call|await its) (\w+)\(\)", spec.remedy):
        assert any(form.method == method and form.on == "object" for form in spec.releases)


@SPECS
def test_fetched_data_is_not_derived(spec: PoolSpec) -> None:
    assert not [name for name in spec.derives | spec.rederives if FETCHES.fullmatch(name)]


@SPECS
def test_a_pool_that_commits_nothing_says_what_it_resets(spec: PoolSpec) -> None:
    assert not spec.resets - set(RESETS)
    if spec.reset_params and spec.library != "oracledb":
        assert spec.resets


@SPECS
def test_errors_lead_to_a_builtin(spec: PoolSpec) -> None:
    for error in spec.errors:
        assert CATALOG.canonical_error(error) == error
        assert error in CATALOG.error_parents or issubclass(getattr(builtins, error), Exception)
        assert CATALOG.catches("Exception", error)


@SPECS
def test_bounds_name_what_makes_the_pool(spec: PoolSpec) -> None:
    made_by = {bound.made_by for bound in spec.bounds}
    for bound in spec.bounds:
        known = {*spec.classes, *spec.factories, *made_by}
        assert set(bound.callables) <= known or bound.callables == ("emcache.create_client",)
        assert not (bound.required and bound.default_unbounded)
    borrows = {form.method for form in spec.borrows}
    for timeout in spec.timeouts:
        assert set(timeout.callables) <= {*spec.classes, *spec.factories, *borrows}


def test_the_prebuilt_file_is_current() -> None:
    assert PREBUILT.read_text(encoding="utf-8") == prebuild(), "run python -m pool_lint.catalog"


def test_the_words_of_the_prefilter_are_current() -> None:
    assert json.loads(WORDS.read_text(encoding="utf-8")) == words_of(load_catalog()), "run python -m pool_lint.catalog"


def test_a_stale_prebuilt_file_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "prebuilt.json"
    stale.write_text('{"psycopg2.toml": [0, {"nonsense": 1}]}')
    monkeypatch.setattr("pool_lint.catalog.load.PREBUILT", stale)
    load_catalog.cache_clear()
    try:
        assert load_catalog().specs == CATALOG.specs
    finally:
        load_catalog.cache_clear()


def test_the_readme_describes_every_key() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for readers in READERS.values():
        for key in readers:
            assert f"`{key}`" in readme
    for kind in RESETS:
        assert f"| `{kind}` |" in readme


def test_every_field_can_be_read() -> None:
    for cls, readers in READERS.items():
        assert {field.name for field in fields(cls)} == readers.keys()


def test_containers_take_and_put() -> None:
    assert CATALOG.by_container["queue.LifoQueue"].id == "queue.Queue"
    deque = CATALOG.by_container["collections.deque"]
    assert deque.when_full == "drops"
    assert TakeForm("popleft", frozenset({"call"})) in deque.takes
    assert [put.method for put in deque.puts if put.many] == ["extend", "extendleft"]
    literals = {container.literal for container in CATALOG.containers}
    assert {"list", "dict", "set"} <= literals


@pytest.mark.parametrize(
    ("handler", "raised", "caught"),
    [
        ("psycopg2.Error", "psycopg2.errors.UniqueViolation", True),
        ("psycopg2.OperationalError", "psycopg2.Error", False),
        ("redis.exceptions.RedisError", "redis.ConnectionError", True),
        ("redis.RedisError", "redis.exceptions.TimeoutError", True),
        ("aiomysql.MySQLError", "pymysql.err.OperationalError", True),
        ("Exception", "sqlalchemy.exc.IntegrityError", True),
        ("Exception", "asyncio.CancelledError", False),
        ("BaseException", "asyncio.CancelledError", True),
        ("IOError", "ConnectionResetError", True),
        ("OSError", "socket.timeout", True),
        ("LookupError", "KeyError", True),
        ("ValueError", "somewhere.Unknown", False),
        ("Exception", "somewhere.Unknown", True),
    ],
)
def test_what_a_handler_catches(handler: str, raised: str, *, caught: bool) -> None:
    assert CATALOG.catches(handler, raised) is caught


def test_handlers_cover_a_pool_together() -> None:
    asyncpg = CATALOG.by_class["asyncpg.Pool"]
    assert not CATALOG.covers(["asyncpg.PostgresError"], asyncpg)
    assert CATALOG.covers(["asyncpg.PostgresError", "asyncpg.exceptions.InterfaceError"], asyncpg)
    assert CATALOG.covers(["Exception"], asyncpg)
    assert not CATALOG.covers(["Exception"], parsed())


def test_a_users_pool_wins_over_the_catalogs() -> None:
    mine = parsed(id="mine.pool", classes=["psycopg2.pool.ThreadedConnectionPool", "mine.Pool"])
    catalog = CATALOG.extended_with([mine])
    assert mine.library == "mine"
    assert catalog.by_class["psycopg2.pool.ThreadedConnectionPool"] is mine
    assert catalog.by_class["mine.Pool"] is mine
    assert catalog.by_class["psycopg2.pool.SimpleConnectionPool"].library == "psycopg2"
    assert CATALOG.by_class["psycopg2.pool.ThreadedConnectionPool"].library == "psycopg2"
    assert catalog.never_keep == CATALOG.never_keep


def test_none_is_a_string_in_toml() -> None:
    spec = parsed(bounds=[{"param": "size", "unbounded_values": ["None", 0, -1.5, "acme.NO_LIMIT"]}])
    assert spec.bounds[0].unbounded_values == (None, 0, -1.5, "acme.NO_LIMIT")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"remedy": None}, ".remedy: missing key"),
        ({"borrow": []}, ".borrow: unknown key; did you mean borrows?"),
        ({"zzz": 1}, ".zzz: unknown key"),
        ({"classes": "acme.Pool"}, ".classes: must be a list"),
        ({"classes": ["acme.Pool", "acme pool"]}, ".classes[1]: 'acme pool' is not a dotted name"),
        ({"classes": ["acme..Pool"]}, ".classes[0]: 'acme..Pool' is not a dotted name"),
        ({"item": " "}, ".item: must be a string that is not empty"),
        ({"item": 3}, ".item: must be a string that is not empty"),
        ({"nested": "yes"}, ".nested: must be true or false"),
        ({"with_object": "commits"}, ".with_object: 'commits' is not one of returns, closes, transaction, none"),
        ({"derives": ["cur sor"]}, ".derives[0]: 'cur sor' is not a name"),
        ({"resets": ["everything"]}, f".resets[0]: 'everything' is not one of {', '.join(RESETS)}"),
        ({"remedy": "use {thing}"}, ".remedy: {pool} is the only field it may hold"),
        ({"borrows": [3]}, ".borrows[0]: must be a table"),
        ({"borrows": [{"method": "get"}]}, ".borrows[0].ways: missing key"),
        (
            {"borrows": [{"method": "get", "ways": []}]},
            ".borrows[0].ways: must name at least one of call, await, with, async with",
        ),
        (
            {"borrows": [{"method": "get", "ways": ["call", "wth"]}]},
            ".borrows[0].ways[1]: 'wth' is not one of call, await, with, async with",
        ),
        (
            {"releases": [{"method": "put", "on": "pool"}, {"method": "put", "on": "queue"}]},
            ".releases[1].on: 'queue' is not one of pool, object",
        ),
        ({"releases": [{"method": "put", "on": "pool", "arg": True}]}, ".releases[0].arg: must be a whole number"),
        (
            {"bounds": [{"param": "size", "versions": "8"}]},
            ".bounds[0].versions: '8' is not a range of versions such as '>=2.0,<3.0'",
        ),
        (
            {"bounds": [{"param": "size", "default": []}]},
            ".bounds[0].default: must be a string, a number, true or false",
        ),
    ],
)
def test_a_mistake_is_one_line_with_file_and_key(changes: dict[str, object], message: str) -> None:
    with pytest.raises(PoolLintError) as caught:
        parsed(**changes)
    assert str(caught.value) == f"{WHERE}.pool[0]{message}"


@pytest.mark.parametrize(
    ("parse", "mapping", "message"),
    [
        (parse_pools, {"pool": {}}, "acme.toml: pool: must be a list of tables"),
        (parse_pools, {"pool": [pool(), pool()]}, "acme.toml: pool: the id 'acme.Pool' is used twice"),
        (parse_pools, {"pool": [pool()], "library": 1}, "acme.toml: library: must be a string that is not empty"),
        (parse_containers, {"pool": []}, "acme.toml: pool: unknown key; known keys: container"),
        (parse_containers, {"container": [{"id": "a"}]}, "acme.toml: container[0].classes: missing key"),
        (parse_calls, {"functions": ["a b"]}, "acme.toml: functions[0]: 'a b' is not a dotted name"),
        (parse_calls, {"function": []}, "acme.toml: function: unknown key; known keys: functions, methods, "),
        (parse_errors, {"parents": []}, "acme.toml: parents: must be a table"),
        (
            parse_errors,
            {"parents": {"A": ["x.E"], "B": ["x.E"]}},
            "acme.toml: parents.'B': 'x.E' is listed twice",
        ),
        (
            parse_errors,
            {"parents": {"A": ["x.E"]}, "aliases": {"y.E": ["x.E"]}},
            "acme.toml: parents: 'x.E' is an alias of 'y.E'",
        ),
    ],
)
def test_other_mistakes(parse: Callable[[Any, str], object], mapping: dict[str, object], message: str) -> None:
    with pytest.raises(PoolLintError) as caught:
        parse(mapping, "acme.toml")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ({"pool": [pool()]}, "acme.toml: library: missing key"),
        ({"library": "acme", "pools": []}, "acme.toml: pools: unknown key; known keys: library, distributions, pool"),
    ],
)
def test_a_librarys_file_names_the_library(file: dict[str, object], message: str) -> None:
    with pytest.raises(PoolLintError, match=re.escape(message)):
        catalog_of({"acme.toml": file})


def test_a_catalog_of_one_file() -> None:
    catalog = catalog_of({"acme.toml": {"library": "Acme", "distributions": ["acme-pool"], "pool": [pool()]}})
    assert isinstance(catalog, Catalog)
    assert [(spec.library, spec.distributions) for spec in catalog.specs] == [("Acme", ("acme-pool",))]
