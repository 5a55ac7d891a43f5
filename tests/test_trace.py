"""``pool-lint trace``: what is believed of each object at each line, and the path of each finding as a picture."""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_fixtures import FIXTURES, named, settings_of

from pool_lint.cli import main
from pool_lint.engine import ask, check_text
from pool_lint.files import read_source
from pool_lint.trace import BORROWED, GIVEN_BACK, HANDED_ON, LOST, NOT_BORROWED, Belief, beliefs

if TYPE_CHECKING:
    from conftest import Command

SOURCE = """\
from psycopg2.pool import ThreadedConnectionPool

pool = ThreadedConnectionPool(1, 4, "")


def lost_when_it_raises(query):
    conn = pool.getconn()
    conn.set_session(query)
    pool.putconn(conn)


def lost_on_a_branch(query):
    conn = pool.getconn()
    try:
        if not query:
            return
        conn.set_session(query)
    except BaseException:
        pool.putconn(conn)
        raise
    pool.putconn(conn)


def given_away():
    conn = pool.getconn()
    return conn


class Keeper:
    def borrowed_on_a_branch(self, exact):
        if exact:
            conn = pool.getconn()
        else:
            conn = None
        print(exact)
        if conn is not None:
            pool.putconn(conn)

    async def two(self):
        first = pool.getconn()
        try:
            second = pool.getconn()
            try:
                await second.fetch()
            except Exception:
                pass
            pool.putconn(second)
        finally:
            pool.putconn(first)


def two():
    pass
"""
LINES = SOURCE.split("\n")


@pytest.fixture
def traced(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (project / "app.py").write_text(SOURCE)
    return project


def believed(function: str) -> dict[tuple[str, str], Belief]:
    """Return the beliefs about a function, by handle and the line's text."""
    module = ask(lambda module: module, SOURCE, "app.py", settings_of("", Path("app.py")), ast.parse(SOURCE))
    (found,) = [each for each in module.tree.functions if each.qualname == function]
    by_line = beliefs(module, found)
    assert by_line is not None
    return {(belief.handle.names, LINES[line - 1].strip()): belief for line, each in by_line.items() for belief in each}


@pytest.mark.parametrize(
    ("function", "handle", "line", "states", "raising"),
    [
        ("lost_when_it_raises", "conn", "conn = pool.getconn()", (BORROWED,), ()),
        ("lost_when_it_raises", "conn", "conn.set_session(query)", (BORROWED,), ("raises",)),
        ("lost_when_it_raises", "conn", "pool.putconn(conn)", (GIVEN_BACK,), ()),
        ("lost_on_a_branch", "conn", "if not query:", (BORROWED,), ()),
        ("lost_on_a_branch", "conn", "return", (LOST,), ()),
        ("lost_on_a_branch", "conn", "conn.set_session(query)", (BORROWED,), ()),
        ("given_away", "conn", "return conn", (HANDED_ON,), ()),
        ("Keeper.borrowed_on_a_branch", "conn", "print(exact)", (BORROWED, NOT_BORROWED), ()),
        ("Keeper.borrowed_on_a_branch", "conn", "pool.putconn(conn)", (GIVEN_BACK,), ()),
        ("Keeper.two", "first", "await second.fetch()", (BORROWED,), ()),
        ("Keeper.two", "second", "await second.fetch()", (BORROWED,), ("is cancelled",)),
        ("Keeper.two", "second", "pool.putconn(second)", (GIVEN_BACK,), ()),
        ("Keeper.two", "first", "pool.putconn(first)", (GIVEN_BACK,), ()),
    ],
)
def test_beliefs(function: str, handle: str, line: str, states: tuple[str, ...], raising: tuple[str, ...]) -> None:
    belief = believed(function)[handle, line]
    assert (belief.states, belief.raising) == (states, raising)


DRAWN = """\
app.py: lost_on_a_branch, lines 12 to 21

   12 def lost_on_a_branch(query):
   13     conn = pool.getconn()        conn borrowed
   14     try:
   15         if not query:            conn borrowed
   16             return               conn lost
   17         conn.set_session(query)  conn borrowed
   18     except BaseException:
   19         pool.putconn(conn)       conn returned
   20         raise
   21     pool.putconn(conn)           conn returned

POL102 connection borrowed from 'pool' is not returned when line 16 leaves: use try/finally with 'pool.putconn(...)'
   13 ● conn = pool.getconn()  borrowed
      │
   16 ✗ return                 returns
"""


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("place", ["app.py:lost_on_a_branch", "app.py:16", "app.py:12"])
def test_the_picture_is_plain_where_there_is_no_terminal(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", place]) == 0
    assert capsys.readouterr().out == DRAWN


def test_a_terminal_that_knows_ascii_only_gets_it(
    traced: Path, pool_lint: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (traced / "app.py").exists()
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = pool_lint("trace", "app.py:lost_on_a_branch")
    assert done.stdout == DRAWN.translate({ord("●"): "o", ord("│"): "|", ord("✗"): "x"})


@pytest.mark.usefixtures("traced")
def test_colour_is_used_where_it_is_wanted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert main(["trace", "app.py:lost_on_a_branch"]) == 0
    assert "\x1b[1;31mlost\x1b[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["trace", "app.py:lost_on_a_branch"]) == 0
    assert "\x1b[31m" not in capsys.readouterr().out


def test_what_a_comment_silences_is_drawn_and_said(traced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = SOURCE.replace("def lost_when_it_raises(query):\n    conn = pool.getconn()", "{}  # noqa: POL101")
    text = text.format("def f(query):\n    conn = pool.getconn()")
    (traced / "app.py").write_text(text)
    assert main(["trace", "app.py:f"]) == 0
    assert "'pool.putconn(...)' (silenced by a comment)\n" in capsys.readouterr().out


def test_a_function_that_borrows_nothing_is_shown(traced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (traced / "app.py").write_text("def f():\n    return 1\n")
    assert main(["trace", "app.py:f"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("app.py: f, lines 1 to 2\n")
    assert "borrowed" not in out


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("app.py", "app.py: must be FILE:FUNCTION or FILE:LINE"),
        ("app.py:", "app.py:: must be FILE:FUNCTION or FILE:LINE"),
        ("gone.py:f", "gone.py: cannot be read: No such file or directory"),
        ("app.py:3", "app.py: line 3 is in no function"),
        ("app.py:given_awy", "app.py: there is no function given_awy; did you mean given_away?"),
        ("app.py:zzz", "app.py: there is no function zzz"),
    ],
)
def test_a_wrong_call_is_one_line(place: str, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", place]) == 2
    assert capsys.readouterr().err == f"pool-lint: {error}\n"


@pytest.mark.usefixtures("traced")
def test_a_name_in_full_is_tried_first_and_its_last_part_then(traced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place, title in (
        ("two", "two, lines 52 to 53"),
        ("borrowed_on_a_branch", "Keeper.borrowed_on_a_branch, lines"),
    ):
        assert main(["trace", f"app.py:{place}"]) == 0
        assert capsys.readouterr().out.startswith(f"app.py: {title}")
    (traced / "app.py").write_text("class A:\n    def f(self): ...\n\n\nclass B:\n    def f(self): ...\n")
    assert main(["trace", "app.py:f"]) == 2
    assert capsys.readouterr().err == (
        "pool-lint: app.py: several functions are called f: A.f on line 2, B.f on line 6; name one by a line of it\n"
    )


LEAKS = {"POL101", "POL102", "POL107"}


@pytest.mark.parametrize("path", [path for path in FIXTURES if path.parent.name in LEAKS], ids=named)
def test_what_is_reported_as_lost_is_believed_to_be(path: Path) -> None:
    if path.stem.endswith("_py312") and sys.version_info < (3, 12):
        pytest.skip("its syntax is newer than this Python")
    text = read_source(path)
    settings = settings_of(text, path)
    module = ask(lambda module: module, text, os.fspath(path), settings, ast.parse(text))
    for finding in check_text(text, os.fspath(path), settings):
        if finding.code not in LEAKS:
            continue
        (function,) = [each for each in module.tree.functions if each.qualname == finding.function]
        about = [
            belief
            for each in (beliefs(module, function) or {}).values()
            for belief in each
            if belief.handle.line == finding.line
        ]
        lost = {"POL101": ("raises", "is cancelled"), "POL107": ("is cancelled",)}.get(finding.code)
        if lost is None:
            assert any(LOST in belief.states or belief.raising for belief in about), finding
        else:
            kept_by_another_method = any(belief.states == (HANDED_ON,) for belief in about)
            assert kept_by_another_method or any(set(lost) & set(belief.raising) for belief in about), finding


def test_code_that_nests_deeply_is_traced(traced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = "".join(f"    elif query == {number}:\n        pass\n" for number in range(1, 700))
    text = SOURCE.replace("    conn.set_session(query)\n    pool", f"    if query:\n        pass\n{chain}    pool", 1)
    text += f"\n\ndef long():\n    return {' + '.join(['query'] * 300)}\n"
    (traced / "app.py").write_text(text)
    assert main(["trace", "app.py:lost_when_it_raises"]) == 0
    assert re.search(r"pool\.putconn\(conn\) +conn returned\n", capsys.readouterr().out)
