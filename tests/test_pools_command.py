"""``pool-lint pools``: every pool in view, what it is, who borrows, how it is bounded, whether it pays."""

from __future__ import annotations

import ast
import json
import os
import re
from typing import TYPE_CHECKING

import pytest
from conftest import LEAK
from test_fixtures import FIXTURES, named, settings_of

from pool_lint.cli import main
from pool_lint.engine import ask, check_text
from pool_lint.files import read_source
from pool_lint.prefilter import may_have_findings
from pool_lint.survey import survey

if TYPE_CHECKING:
    from pathlib import Path

APP = """\
import queue
import socket

from dbutils.pooled_db import PooledDB
from psycopg2.pool import ThreadedConnectionPool

pool = ThreadedConnectionPool(1, maxconn=4, dsn="")
stock = PooledDB(None)
idle = queue.Queue(maxsize=3)
for _ in range(3):
    idle.put(bytearray(10))


class Tokens:
    def __init__(self):
        self._free = []

    def acquire(self):
        return self._free.pop() if self._free else bytearray(8)

    def release(self, token):
        self._free.append(token)


class Links:
    def __init__(self, address):
        self._address = address
        self._idle = []

    def acquire(self):
        return self._idle.pop() if self._idle else socket.create_connection(self._address)

    def release(self, link):
        self._idle.append(link)


class Desk:
    def __init__(self, elsewhere):
        self._own = ThreadedConnectionPool(1, 2, "")
        self._elsewhere = elsewhere

    def one(self):
        conn = self._own.getconn()
        self._own.putconn(conn)
        conn = self._own.getconn()
        self._own.putconn(conn)

    def two(self):
        thing = self._elsewhere.checkout()
        try:
            thing.work()
        finally:
            self._elsewhere.checkin(thing)


def load():
    conn = pool.getconn()
    buffer = idle.get()
    buffer[0] = 1
    idle.put(buffer)
    pool.putconn(conn)


def send(links: Links):
    link = links.acquire()
    links.release(link)
"""

LISTED = """\
app.py:7:8: 'pool', library pool: psycopg2.pool.ThreadedConnectionPool
    bounded by   maxconn=4
    pays         not judged: each connection is outside the process
    borrowed by  load (line 57)

app.py:8:9: 'stock', library pool: dbutils.pooled_db.PooledDB
    bounded by   no limit: 'maxconnections' is left out, which means no limit
    pays         not judged: each connection is outside the process
    borrowed by  nobody in this file

app.py:9:8: 'idle', container: queue.Queue
    bounded by   borrowers make none: filled elsewhere; keeps at most maxsize=3
    pays         NUMBERS
    borrowed by  load (line 58)

app.py:16:22: 'self._free', home-made class: Tokens, kept in list
    bounded by   an object is made whenever none is idle
    pays         NUMBERS
    borrowed by  nobody in this file

app.py:28:22: 'self._idle', home-made class: Links, kept in list
    bounded by   no limit: opens a connection (socket.create_connection) whenever none is idle
    pays         not judged: its objects hold, or may come to hold, something outside the process
    borrowed by  send (line 65)

app.py:39:21: 'self._own', library pool: psycopg2.pool.ThreadedConnectionPool
    bounded by   maxconn=2
    pays         not judged: each connection is outside the process
    borrowed by  Desk.one (line 43, 45)

app.py:49:17: 'self._elsewhere', method pair: checkout and checkin
    bounded by   not seen: it is built elsewhere
    pays         unknown: its type is not seen
    borrowed by  Desk.two (line 49)
"""


@pytest.fixture
def app(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    (project / "pyproject.toml").write_text('[tool.pool_lint]\nprofile = "bundled-3.11"\n')
    (project / "app.py").write_text(APP)
    return project


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("paths", [[], ["app.py"], [".", "app.py"]])
def test_pools_are_listed(capsys: pytest.CaptureFixture[str], paths: list[str]) -> None:
    assert main(["pools", "-j1", *paths]) == 0
    out = capsys.readouterr().out
    costs = r"(?:no, POL\d+|yes|unknown: too close to tell): an object costs \S+ \S+, borrowing and resetting .*"
    assert re.sub(rf"{costs}, by profile bundled-3.11", "NUMBERS", out) == LISTED


@pytest.mark.usefixtures("app")
def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pools", "-j1", "--format=json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["schema"], report["errors"]) == (1, [])
    places = [(each["path"], each["line"], each["column"], each["name"], each["kind"]) for each in report["pools"]]
    assert [f"{path}:{line}:{column}: '{name}', {kind}" for path, line, column, name, kind in places] == re.findall(
        r"^(app.*): ", LISTED, re.MULTILINE
    )
    own = next(each for each in report["pools"] if each["name"] == "self._own")
    assert own["borrows"] == [{"function": "Desk.one", "lines": [43, 45]}]
    assert own["pays"] is None


def test_what_cannot_be_read_is_said_and_the_rest_is_listed(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (app / "app.py").write_text(LEAK)
    (app / "broken.py").write_text(f"def (:\n{LEAK}")
    assert main(["pools", "-j1", "broken.py", "gone.py", "app.py"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("app.py:3:8: 'pool', library pool")
    broken, gone = err.splitlines()
    assert broken.startswith("pool-lint: broken.py:1: cannot be parsed and was not checked: ")
    assert gone == "pool-lint: gone.py: cannot be read: No such file or directory"


def test_a_pool_that_does_not_pay_is_the_one_that_is_reported(app: Path) -> None:
    text = (app / "app.py").read_text()
    settings = settings_of('# settings: profile = "bundled-3.11"', app)
    pools = ask(survey, text, "app.py", settings, ast.parse(text))
    reported = {finding.line for finding in check_text(text, "app.py", settings) if finding.code.startswith("POL3")}
    assert {pool.line for pool in pools if pool.pays is False} == reported
    assert reported


@pytest.mark.parametrize("path", FIXTURES, ids=named)
def test_what_is_reported_is_about_a_pool_that_is_listed(path: Path) -> None:
    text = read_source(path)
    settings = settings_of(text, path)
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        pytest.skip(f"syntax that this Python does not have: {error}")
    pools = ask(survey, text, os.fspath(path), settings, tree)
    assert not pools or may_have_findings(text, settings)
    borrows = {line for pool in pools for lines in pool.borrows.values() for line in lines}
    built = {pool.line for pool in pools}
    for finding in check_text(text, os.fspath(path), settings):
        if finding.code in {"POL101", "POL102", "POL103", "POL107"}:
            assert finding.line in borrows, finding
        if finding.code in {"POL301", "POL302", "POL303", "POL304"}:
            assert finding.line in built, finding
