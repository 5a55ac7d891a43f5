"""What fixtures of the 4xx family cannot show: versions of libraries, and what the text filter lets through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pool_lint.bounds.versions import Range, known_range, parse_range
from pool_lint.config import Settings
from pool_lint.engine import check_text

if TYPE_CHECKING:
    from pathlib import Path

POOL = "import redis\n\npool = redis.ConnectionPool(host='cache')\n"


def codes(text: str, path: str = "example.py") -> list[str]:
    return [finding.code for finding in check_text(text, path, Settings())]


@pytest.mark.parametrize(
    ("asked", "wanted", "within"),
    [
        ("==5.0.8", "<8.0", True),
        ("==8.0.1", "<8.0", False),
        (">=5,<7", "<8.0", True),
        (">=5", "<8.0", None),
        ("~=7.1", "<8.0", True),
        ("^8.1", ">=8.0", True),
        ("==7.*", "<8.0", True),
        ("<=8.0", "<8.0", None),
    ],
)
def test_a_range_is_within_another(asked: str, wanted: str, within: bool | None) -> None:  # noqa: FBT001
    assert parse_range(asked).within(parse_range(wanted)) is within


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "flask\nredis[hiredis]==5.0.8  # pinned\n"),
        ("poetry.lock", '[[package]]\nname = "redis"\nversion = "5.0.8"\n'),
        ("Pipfile.lock", '{"default": {"redis": {"version": "==5.0.8"}}}'),
        ("pyproject.toml", '[project]\nname = "x"\ndependencies = ["redis>=5,<6"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nredis = {version = "^5.0", extras = ["hiredis"]}\n'),
    ],
)
def test_the_project_says_which_version_it_uses(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "shop").mkdir()
    assert codes(POOL, str(tmp_path / "shop" / "cache.py")) == ["POL402"]


@pytest.mark.parametrize("text", ["redis==8.0.1\n", "redis>=5\n", "redis >= 99, < 100\n"])
def test_a_version_with_a_limit_or_an_unknown_one_is_silent(tmp_path: Path, text: str) -> None:
    (tmp_path / "requirements.txt").write_text(text)
    if known_range(("redis",), str(tmp_path / "cache.py")) != Range():
        assert codes(POOL, str(tmp_path / "cache.py")) == [] or text == "redis>=5\n"


def test_a_broken_lock_file_is_nobodys_problem(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("= nonsense")
    (tmp_path / "requirements.txt").write_text("redis==5.0.8\n")
    assert codes(POOL, str(tmp_path / "cache.py")) == ["POL402"]


KEYED = """\
import socket
c = {}
def at(host):
    if host not in c:
        c[host] = socket.socket()
    return c[host]
"""
LOCAL = """\
import io, threading
t = threading.local()
t.b = io.BytesIO()
async def f(g):
    b = t.b
    await g()
    b.close()
"""


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("POL401", KEYED),
        ("POL402", "from aiohttp import TCPConnector\nx = TCPConnector(limit=0)\n"),
        ("POL403", "import functools, ftplib\n@functools.lru_cache\ndef at(host):\n  return ftplib.FTP(host)\n"),
        ("POL406", LOCAL),
    ],
)
def test_files_that_borrow_nothing_are_looked_at(code: str, text: str) -> None:
    assert codes(text) == [code]


BUFFERS = """\
import queue
pool = queue.Queue()
for _ in range(4):
    pool.put(bytearray(64))
def use(n, fill):
    buffer = pool.get(timeout=1)
    try:
        if len(buffer) < n:
            buffer.extend(bytes(n - len(buffer)))
        fill(memoryview(buffer)[:n])
    finally:
        pool.put(buffer)
"""
STREAMS = """\
import io
pool = [io.BytesIO() for _ in range(4)]
def use(rows):
    stream = pool.pop()
    try:
        stream.seek(0)
        stream.writelines(rows)
        return bytes(stream.getbuffer()[: stream.tell()])
    finally:
        pool.append(stream)
"""


@pytest.mark.parametrize("text", [BUFFERS, STREAMS])
def test_buffers_that_the_borrower_makes_larger(text: str) -> None:
    assert "POL404" in codes(text)
    cut = text.replace("    finally:\n", "    finally:\n        stream.truncate(0)\n        del buffer[64:]\n")
    assert "POL404" not in codes(cut)
