"""The words in which each pool library borrows and returns, and the helpers a generated module may have."""

# A function is named and described for what it returns.
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words of one pool library."""

    annotation: str
    imports: tuple[str, ...]
    borrow: str
    give_back: str
    discard: str
    managed: str
    errors: tuple[str, ...]
    is_async: bool = False
    cursors: bool = False
    derived: str = ""  # an expression that makes something derived
    text: str = ""  # the class, if it stands in the file


SYNC_CLASS = """\
class Pool:
    def __init__(self, connect, size):
        self._idle = queue.Queue(maxsize=size)
        for _ in range(size):
            self._idle.put(connect())

    def acquire(self):
        return self._idle.get()

    def release(self, conn):
        self._idle.put(conn)

    @contextlib.contextmanager
    def lend(self):
        conn = self.acquire()
        try:
            yield conn
        finally:
            self.release(conn)
"""

ASYNC_CLASS = """\
class AsyncPool:
    def __init__(self, connections):
        self._idle = asyncio.Queue(maxsize=len(connections))
        for conn in connections:
            self._idle.put_nowait(conn)

    async def acquire(self):
        return await self._idle.get()

    def release(self, conn):
        self._idle.put_nowait(conn)

    @contextlib.asynccontextmanager
    async def lend(self):
        conn = await self.acquire()
        try:
            yield conn
        finally:
            self.release(conn)
"""

PSYCOPG2 = Dialect(
    "ThreadedConnectionPool",
    ("import psycopg2", "from psycopg2.pool import ThreadedConnectionPool"),
    "{pool}.getconn()",
    "{pool}.putconn({conn})",
    "{pool}.putconn({conn}, close=True)",
    "",
    ("psycopg2.Error",),
    cursors=True,
    derived="{conn}.cursor()",
)
PSYCOPG = Dialect(
    "ConnectionPool",
    ("import psycopg", "from psycopg_pool import ConnectionPool"),
    "{pool}.getconn()",
    "{pool}.putconn({conn})",
    "{pool}.putconn({conn})",
    "with {pool}.connection() as {conn}:",
    ("psycopg.Error",),
    cursors=True,
    derived="{conn}.cursor()",
)
PSYCOPG_ASYNC = Dialect(
    "AsyncConnectionPool",
    ("import psycopg", "from psycopg_pool import AsyncConnectionPool"),
    "await {pool}.getconn()",
    "await {pool}.putconn({conn})",
    "await {pool}.putconn({conn})",
    "async with {pool}.connection() as {conn}:",
    ("psycopg.Error",),
    is_async=True,
    cursors=True,
    derived="{conn}.cursor()",
)
ASYNCPG = Dialect(
    "asyncpg.Pool",
    ("import asyncpg",),
    "await {pool}.acquire()",
    "await {pool}.release({conn})",
    "{conn}.terminate()",
    "async with {pool}.acquire() as {conn}:",
    ("(asyncpg.PostgresError, asyncpg.InterfaceError)", "asyncpg.PostgresError"),
    is_async=True,
)
OWN = Dialect(
    "Pool",
    ("import queue",),
    "{pool}.acquire()",
    "{pool}.release({conn})",
    "{pool}.release({conn})",
    "with {pool}.lend() as {conn}:",
    ("ValueError",),
    text=SYNC_CLASS,
)
OWN_ASYNC = Dialect(
    "AsyncPool",
    (),
    "await {pool}.acquire()",
    "{pool}.release({conn})",
    "{pool}.release({conn})",
    "async with {pool}.lend() as {conn}:",
    ("ValueError",),
    is_async=True,
    text=ASYNC_CLASS,
)
DIALECTS = (PSYCOPG2, PSYCOPG2, PSYCOPG, ASYNCPG, ASYNCPG, PSYCOPG_ASYNC, OWN, OWN_ASYNC)

# Helpers of the module: what the function may call.  "WORK" is an opaque call, the rest comes from the dialect.
HELPERS = {
    "give_back": """\
DEF give_back(pool: POOL, conn):
    GIVE_BACK
""",
    "give_back_any": """\
DEF give_back_any(pool: POOL, conn):
    if conn is not None:
        GIVE_BACK
""",
    "give_back_logged": """\
DEF give_back_logged(pool: POOL, conn, why=None):
    try:
        log.info("returned: %s", why)
    finally:
        GIVE_BACK
""",
    "use": """\
DEF use(conn):
    AWAIT conn.ping()
    return 1
""",
    "take": """\
DEF take(pool: POOL):
    return BORROW
""",
    "take_ready": """\
DEF take_ready(pool: POOL):
    conn = BORROW
    try:
        AWAIT conn.ping()
    except BaseException:
        GIVE_BACK
        raise
    return conn
""",
    "take_checked": """\
DEF take_checked(pool: POOL):
    conn = BORROW
    AWAIT conn.ping()
    return conn
""",
    "take_pair": """\
DEF take_pair(pool: POOL):
    conn = BORROW
    return conn, 1
""",
    "lease": """\
@contextlib.MANAGER
DEF lease(pool: POOL):
    conn = BORROW
    try:
        yield conn
    finally:
        GIVE_BACK
""",
    "lease_checked": """\
@contextlib.MANAGER
DEF lease_checked(pool: POOL):
    conn = BORROW
    try:
        yield conn
    except BaseException:
        GIVE_BACK
        raise
    GIVE_BACK
""",
}


def helper_text(name: str, dialect: Dialect) -> str:
    """The text of a helper in the words of a library."""
    give_back = dialect.give_back.format(pool="pool", conn="conn")
    awaited = dialect.is_async
    text = HELPERS[name]
    for word, replacement in (
        ("GIVE_BACK", give_back),
        ("BORROW", dialect.borrow.format(pool="pool")),
        ("POOL", dialect.annotation),
        ("DEF", "async def" if awaited else "def"),
        ("AWAIT ", "await " if awaited else ""),
        ("MANAGER", "asynccontextmanager" if awaited else "contextmanager"),
    ):
        text = text.replace(word, replacement)
    return text
