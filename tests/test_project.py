"""Findings across files: what they are, and that nothing but the files' contents decides them."""

from __future__ import annotations

import json
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import heads

from pool_lint.codes import INTERNAL_ERROR, OFF_BY_DEFAULT
from pool_lint.config import Settings, load_settings
from pool_lint.engine import check_text, explain_cost
from pool_lint.files import read_source
from pool_lint.project.entry import lends_to
from pool_lint.project.link import forget_projects
from pool_lint.project.outline import outline_of
from pool_lint.project.roots import Roots
from pool_lint.project.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conftest import Command

PROJECTS = Path(__file__).parent.parent / "fixtures" / "projects"
WANT = re.compile(r"#\s*want:\s*(POL\d{3}(?:\s*,\s*POL\d{3})*)\s*$", re.MULTILINE)
OPT_IN = frozenset(OFF_BY_DEFAULT) - {INTERNAL_ERROR}
MODULES = sorted(path for path in PROJECTS.rglob("*.py"))

Found = dict[str, list[tuple[int, int, str, str]]]

POOL = """\
from psycopg2.pool import ThreadedConnectionPool

pool = ThreadedConnectionPool(1, 4, "")


def get_conn():
    return pool.getconn()
"""
USER = """\
from app.db import get_conn, pool


def load(query):
    conn = get_conn()
    conn.set_session(query)
    pool.putconn(conn)
"""


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    forget_projects()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def project_of_file(path: Path) -> Path:
    return PROJECTS / path.relative_to(PROJECTS).parts[0]


def settings_for(folder: Path, cache: Path) -> Settings:
    return replace(load_settings(folder), cache_dir=str(cache))


def findings(folder: Path, cache: Path, files: Iterable[Path] | None = None) -> Found:
    """Return what is found in each file of a project; files are checked in the order given."""
    settings = settings_for(folder, cache)
    found: Found = {}
    for path in files if files is not None else sorted(folder.rglob("*.py")):
        each = check_text(read_source(path), str(path), settings)
        found[path.relative_to(folder).as_posix()] = [(f.line, f.column, f.code, f.message) for f in each]
    return found


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """Return a small project with one finding that lies across files."""
    return write(
        tmp_path / "work",
        {"pyproject.toml": "[tool.pool_lint]\n", "app/__init__.py": "", "app/db.py": POOL, "app/user.py": USER},
    )


# What is found.


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PROJECTS).as_posix())
def test_findings_are_the_wanted_ones(path: Path, cache: Path) -> None:
    text = read_source(path)
    want = {
        (text.count("\n", 0, match.start()) + 1, code.strip())
        for match in WANT.finditer(text)
        for code in match[1].split(",")
    }
    folder = project_of_file(path)
    found = findings(folder, cache, [path])[path.relative_to(folder).as_posix()]
    got = {(line, code) for line, _, code, _ in found if code not in OPT_IN}
    assert sorted(got - want) == [], "reported but not wanted"
    assert sorted(want - got) == [], "wanted but not reported"


def test_what_lies_across_files_is_not_seen_without(app: Path, cache: Path) -> None:
    path = app / "app" / "user.py"
    settings = settings_for(app, cache)
    assert [f.code for f in check_text(USER, str(path), settings)] == ["POL101"]
    assert check_text(USER, str(path), replace(settings, across_files=False)) == []


def test_messages_name_lines_of_the_checked_file_only(cache: Path) -> None:
    for folder in sorted(PROJECTS.iterdir()):
        settings = settings_for(folder, cache)
        for path in sorted(folder.rglob("*.py")):
            text = read_source(path)
            for finding in check_text(text, str(path), settings):
                assert "@" not in finding.message
                assert all(1 <= step.line <= text.count("\n") for step in finding.witness)


def test_an_unsaved_text_is_what_counts(app: Path, cache: Path) -> None:
    settings = settings_for(app, cache)
    unsaved = USER.replace("    conn.set_session(query)\n", "")
    assert check_text(unsaved, str(app / "app" / "user.py"), settings) == []
    assert [f.code for f in check_text(USER, str(app / "app" / "user.py"), settings)] == ["POL101"]


def test_nothing_of_the_project_is_run(app: Path, cache: Path) -> None:
    trap = f"\nopen({str(app / 'ran')!r}, 'w').close()\n"
    write(app, {"app/db.py": POOL + trap, "app/__init__.py": trap, "conftest.py": trap})
    assert findings(app, cache)["app/user.py"] != []
    assert not (app / "ran").exists()


def test_a_module_that_cannot_be_parsed_is_unknown(app: Path, cache: Path) -> None:
    write(app, {"app/db.py": POOL + "def broken(:\n"})
    assert findings(app, cache, [app / "app" / "user.py"]) == {"app/user.py": []}


def test_the_cost_of_a_class_elsewhere_is_known(app: Path, cache: Path) -> None:
    cell = "class Cell:\n    def __init__(self):\n        self.owner = None\n"
    pool = (
        "import queue\n\nfrom app.cell import Cell\n\n\nclass CellPool:\n    def __init__(self, size):\n"
        "        self._free = queue.Queue(size)\n        for _ in range(size):\n            self._free.put(Cell())\n\n"
        "    def acquire(self):\n        return self._free.get()\n\n    def release(self, cell):\n"
        "        self._free.put(cell)\n"
    )
    write(app, {"app/cell.py": cell, "app/cells.py": pool})
    settings = replace(settings_for(app, cache), profile="bundled-3.12")
    path = str(app / "app" / "cells.py")
    found = [f for f in check_text(pool, path, settings) if f.code not in OPT_IN]
    assert [(f.line, f.code) for f in found] == [(8, "POL301")]
    assert "Cell" in explain_cost(pool, 8, settings, path)
    alone = check_text(pool, path, replace(settings, across_files=False))
    assert "POL301" not in {f.code for f in alone}


# What must not matter.


@pytest.mark.parametrize("name", ["shop", "service"])
def test_the_order_of_files_does_not_matter(name: str, cache: Path) -> None:
    folder = PROJECTS / name
    files = sorted(folder.rglob("*.py"))
    expected = findings(folder, cache, files)
    for seed in range(4):
        shuffled = list(files)
        random.Random(seed).shuffle(shuffled)  # noqa: S311 - an order, not a secret
        forget_projects()
        assert findings(folder, cache / str(seed), shuffled) == expected
    for path in files:
        forget_projects()
        alone = findings(folder, cache, [path])
        assert alone == {key: expected[key] for key in alone}


@pytest.mark.parametrize("name", ["shop", "service"])
def test_a_warm_cache_gives_what_a_cold_one_gives(name: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cold = findings(PROJECTS / name, cache)
    kept = {path: path.read_bytes() for path in cache.rglob("*.json")}
    assert kept
    forget_projects()
    monkeypatch.setattr("pool_lint.project.index.outline_of", lambda _: pytest.fail("an outline was made anew"))
    assert findings(PROJECTS / name, cache) == cold
    assert {path: path.read_bytes() for path in cache.rglob("*.json")} == kept


def _spoilt(data: bytes, how: str) -> bytes:
    head, _, body = data.partition(b"\n")
    if how == "empty":
        return b""
    if how == "cut":
        return data[: len(data) // 2]
    if how == "noise":
        return bytes(range(256)) * 8
    if how == "changed":
        return head + b"\n" + body.replace(b"getconn", b"getcoon")
    return head + b"\n" + b"[" * 100_000


@pytest.mark.parametrize("how", ["empty", "cut", "noise", "changed", "nested"])
def test_a_broken_cache_is_no_cache(how: str, cache: Path) -> None:
    folder = PROJECTS / "service"
    expected = findings(folder, cache)
    for path in cache.rglob("*.json"):
        path.write_bytes(_spoilt(path.read_bytes(), how))
    forget_projects()
    assert findings(folder, cache) == expected


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"pieces": {}, "imports": {}, "stars": [], "passes": True},
        {"pieces": [1], "imports": {}, "stars": [], "passes": True},
        {"pieces": [[]], "imports": {}, "stars": [], "passes": True},
        {"pieces": [], "imports": {}, "stars": [], "passes": 1},
        {"pieces": [], "imports": {"pool": 7}, "stars": [], "passes": True},
        {"pieces": [], "imports": {}, "stars": "x", "passes": True},
        {"pieces": [[-5, 3, [], [], [], [], "", [], [], ""]], "imports": {}, "stars": [], "passes": True},
        {"pieces": [[1, 3, ["f"], [], [], [], "", [], [], "folder"]], "imports": {}, "stars": [], "passes": True},
        {"pieces": [[1, 9, ["f"], [], [], [], "", [], [], ""]] * 2, "imports": {}, "stars": [], "passes": True},
        {"pieces": [[1, 2, ["f"], [7], [], [], "", [], [], ""]], "imports": {}, "stars": [], "passes": True},
        {"pieces": [[1, 2, ["f"], [], None, [], "", [], [], ""]], "imports": {}, "stars": [], "passes": True},
    ],
)
def test_what_is_no_outline_is_not_taken_for_one(body: object, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(cache)
    outline = outline_of(POOL)
    assert outline is not None
    monkeypatch.setattr("pool_lint.project.store._plain", lambda _: body)
    store.save(POOL, outline)
    assert len(list(cache.rglob("*.json"))) == 1
    assert store.load(POOL) is None


def test_an_outline_of_another_text_is_not_taken(cache: Path) -> None:
    store = Store(cache)
    for text in (POOL, USER):
        outline = outline_of(text)
        assert outline is not None
        store.save(text, outline)
        assert store.load(text) == outline
    one, other = sorted(cache.rglob("*.json"))
    one.write_bytes(other.read_bytes())
    assert [store.load(text) for text in (POOL, USER)].count(None) == 1


def test_where_nothing_can_be_written_there_is_no_cache(app: Path, cache: Path) -> None:
    expected = findings(app, cache)
    cache_file = app / "no_folder"
    cache_file.write_text("")
    forget_projects()
    assert findings(app, cache_file) == expected
    assert cache_file.read_text() == ""
    read_only = app / "read_only"
    read_only.mkdir(mode=0o500)
    forget_projects()
    assert findings(app, read_only) == expected


def test_a_cache_can_be_carried_elsewhere(app: Path, cache: Path, tmp_path: Path) -> None:
    expected = findings(app, cache)
    names = sorted(path.relative_to(cache) for path in cache.rglob("*.json"))
    assert names
    assert all(str(tmp_path) not in path.read_text() for path in cache.rglob("*.json"))
    moved, carried = tmp_path / "other" / "place", tmp_path / "carried"
    shutil.copytree(app, moved)
    shutil.copytree(cache, carried)
    forget_projects()
    assert findings(moved, carried) == expected
    assert sorted(path.relative_to(carried) for path in carried.rglob("*.json")) == names


def test_a_changed_module_changes_what_its_users_get(app: Path, cache: Path) -> None:
    path = app / "app" / "user.py"
    assert findings(app, cache, [path])["app/user.py"] != []
    write(app, {"app/db.py": POOL.replace("return pool.getconn()", "return object()")})
    forget_projects()
    assert findings(app, cache, [path])["app/user.py"] == []


def test_every_number_of_processes_gives_the_same(project: Path, flake8: Command) -> None:
    for name in ("shop", "service"):
        shutil.copytree(PROJECTS / name, project, dirs_exist_ok=True)
    config = 'src = [".", "src", "tools"]\ncache_dir = "kept"\nprofile = "bundled-3.12"\n'
    (project / "pyproject.toml").write_text(f"[tool.pool_lint]\n{config}")
    files = sorted(path.relative_to(project).as_posix() for path in project.rglob("*.py"))
    runs = [flake8("--select=POL", "-j", jobs, *names) for jobs, names in (("1", files), ("3", files), ("2", ["."]))]
    found = [sorted(line.removeprefix("./") for line in run.stdout.splitlines()) for run in runs]
    assert len(heads(runs[0].stdout)) > 40
    assert found[1] == found[0]
    assert found[2] == found[0]
    one = "src/shop/api/orders.py"
    alone = flake8("--select=POL", one).stdout.splitlines()
    assert sorted(alone) == [line for line in found[0] if line.startswith(one)]


def test_standard_input_is_in_the_project_by_its_name(app: Path, project: Path, flake8: Command) -> None:
    shutil.copytree(app, project, dirs_exist_ok=True)
    run = flake8("--select=POL", "--stdin-display-name", "app/user.py", "-", stdin=USER)
    assert heads(run.stdout) == ["app/user.py:5:12: POL101"]
    assert flake8("--select=POL", "-", stdin=USER).stdout == ""


def test_the_command_line_follows_imports_too(app: Path, project: Path, pool_lint: Command) -> None:
    shutil.copytree(app, project, dirs_exist_ok=True)
    assert heads(pool_lint("check", "-j", "2", "app").stdout) == ["app/user.py:5:12: POL101"]


def test_fixes_and_pictures_know_the_project(app: Path, project: Path, pool_lint: Command) -> None:
    shutil.copytree(app, project, dirs_exist_ok=True)
    picture = pool_lint("trace", "app/user.py:load").stdout
    assert "POL101" in picture
    assert "@" not in picture
    assert pool_lint("fix", "app/user.py").returncode == 0
    cured = "    try:\n        conn.set_session(query)\n    finally:\n        pool.putconn(conn)\n"
    assert cured in (project / "app" / "user.py").read_text()


# Which file a module is.


def located(folder: Path, importer: str, level: int, *parts: str, src: tuple[str, ...] = ()) -> list[str | None] | None:
    found = Roots(tuple(str(folder / each) for each in src)).locate(str(folder / importer), level, parts)
    return None if found is None else [each and Path(each).relative_to(folder).as_posix() for each in found]


def test_modules_are_found_as_type_checkers_find_them(tmp_path: Path) -> None:
    names = (
        "pkg/__init__.py", "pkg/db.py", "pkg/sub/__init__.py", "pkg/sub/deep.py", "src/app/main.py", "src/lib/a.py",
        "lib/b.py", "both.py", "both/__init__.py", "typed.pyi", "ns/inner/mod.py", "queue.py", "pkg/queue.py",
    )  # fmt: skip
    write(tmp_path, dict.fromkeys(names, ""))
    assert located(tmp_path, "pkg/sub/deep.py", 0, "pkg", "db", "x") == ["pkg/__init__.py", "pkg/db.py"]
    assert located(tmp_path, "pkg/sub/deep.py", 2, "db") == ["pkg/__init__.py", "pkg/db.py"]
    assert located(tmp_path, "pkg/sub/deep.py", 4, "both") is None
    assert located(tmp_path, "src/app/main.py", 0, "lib", "a", src=(".", "src")) == [None, "src/lib/a.py"]
    assert located(tmp_path, "src/app/main.py", 0, "lib", "b", src=(".", "src")) == [None, "lib/b.py"]
    assert located(tmp_path, "pkg/db.py", 0, "both") == ["both/__init__.py"]
    assert located(tmp_path, "pkg/db.py", 0, "typed") == ["typed.pyi"]
    assert located(tmp_path, "pkg/db.py", 0, "ns", "inner", "mod") == [None, None, "ns/inner/mod.py"]
    assert located(tmp_path, "pkg/db.py", 0, "elsewhere") is None
    assert located(tmp_path, "pkg/db.py", 0, "Both") is None
    assert located(tmp_path, "pkg/db.py", 0, "queue") is None, "the standard library's"
    assert located(tmp_path, "pkg/db.py", 1, "queue") == ["pkg/__init__.py", "pkg/queue.py"]


def test_installed_packages_are_not_followed(tmp_path: Path) -> None:
    names = ("site-packages/lib/__init__.py", "site-packages/lib/db.py", "site-packages/other.py", "app.py")
    write(tmp_path, dict.fromkeys(names, ""))
    assert located(tmp_path, "app.py", 0, "other", src=(".", "site-packages")) is None
    assert located(tmp_path, "site-packages/lib/__init__.py", 0, "other") is None
    own = ["site-packages/lib/__init__.py", "site-packages/lib/db.py"]
    assert located(tmp_path, "site-packages/lib/__init__.py", 0, "lib", "db") == own


def test_files_are_read_only_where_an_import_leads(app: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(path: Path) -> str:
        read.append(path.name)
        return read_source(path)

    monkeypatch.setattr("pool_lint.project.index.read_source", noted)
    settings = settings_for(app, cache)
    plain = "import os\nimport queue\nimport requests\n\nprint(os, queue, requests)\n"
    assert not lends_to(plain, str(app / "app" / "plain.py"), settings)
    assert read == []
    assert lends_to(USER, str(app / "app" / "user.py"), settings)
    assert sorted(read) == ["__init__.py", "db.py", "user.py"]


def test_an_outline_says_what_a_module_binds_and_uses() -> None:
    outline = outline_of(
        "from .a import b as c\nimport x.y\nif x:\n    def f(p): return c.d(p, g)\nq = []\n"
        "def put(z):\n    global last\n    last = z\n    q.append(z)\n"
    )
    assert outline is not None
    assert outline.imports == {"c": ".a.b", "x": "x"}
    assert [piece.names for piece in outline.pieces] == [("f",), ("q",), ("last", "put")]
    assert outline.pieces[0].uses == (("c", "d"), ("g",), ("x",))
    assert outline.pieces[1].makes == "[]"
    assert outline.pieces[2].attributes == {"append"}


def test_the_cache_is_plain_json_under_a_checksum(app: Path, cache: Path) -> None:
    findings(app, cache)
    for path in cache.rglob("*.json"):
        head, _, body = path.read_text(encoding="ascii").partition("\n")
        assert head.split(" ")[0] == path.stem
        assert set(json.loads(body)) == {"pieces", "imports", "stars", "passes"}
