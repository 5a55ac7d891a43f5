"""What the tests share: the --update flag, real processes, and one small leak whose place is known."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path

Result = subprocess.CompletedProcess[str]

# POL101 at line 7, column 12: the query may raise before the connection goes back.
LEAK = """\
from psycopg2.pool import ThreadedConnectionPool

pool = ThreadedConnectionPool(1, 4, "")


def load(query):
    conn = pool.getconn()
    conn.set_session(query)
    pool.putconn(conn)
"""
SECONDS = 300


class Command(Protocol):
    """A command to run in a folder of the test's own."""

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Result:
        """Run it with these arguments and return what came of it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the snapshots that exist beside fixtures")


def heads(text: str) -> list[str]:
    """Return ``path:line:column: CODE`` of each finding in the output of flake8 or pool_lint."""
    return re.findall(r"^(\S+:\d+:\d+: POL\d{3}) ", text, re.MULTILINE)


def run(folder: Path, arguments: list[str], stdin: str | bytes) -> Result:
    """Run this interpreter in ``folder``; output is decoded leniently, as any byte may be in it."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, input=data, capture_output=True, timeout=SECONDS, check=False
    )
    out, err = (stream.decode(errors="replace").replace("\r\n", "\n") for stream in (done.stdout, done.stderr))
    return Result(done.args, done.returncode, out, err)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return an empty folder with a configuration of its own, so that none above it is found."""
    (tmp_path / "pyproject.toml").write_text("[tool.pool_lint]\n")
    (tmp_path / ".flake8").write_text("[flake8]\n")
    return tmp_path


@pytest.fixture
def flake8(project: Path) -> Command:
    """Return the real flake8, run in the project folder."""

    def command(*arguments: str, stdin: str | bytes = "") -> Result:
        return run(project, ["-m", "flake8", *arguments], stdin)

    return command


@pytest.fixture
def pool_lint(project: Path) -> Command:
    """Return the pool_lint command, run in the project folder."""

    def command(*arguments: str, stdin: str | bytes = "") -> Result:
        return run(project, ["-m", "pool_lint", *arguments], stdin)

    return command


@pytest.fixture
def python(project: Path) -> Command:
    """Return the interpreter, run in the project folder."""

    def command(*arguments: str, stdin: str | bytes = "") -> Result:
        return run(project, list(arguments), stdin)

    return command


@pytest.fixture(autouse=True)
def _crashes_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pool_lint.engine._raise_crashes", True)
