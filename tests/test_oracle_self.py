"""The oracle itself, on small functions whose findings are known by the rules."""

from __future__ import annotations

import re

import pytest
from oracle.compare import compared, minimised
from oracle.dialects import DIALECTS, HELPERS, helper_text
from oracle.expect import Key, expected
from oracle.generate import compiles, generate

HEAD = """\
import asyncio, atexit, contextlib, functools, logging, queue, weakref
import asyncpg, psycopg, psycopg2
from psycopg2.pool import ThreadedConnectionPool
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from app import cond, fetch, register, send, step, work
log = logging.getLogger(__name__)
"""

WANT = re.compile(r"# want: (.*)$")

# Each function with its findings: "POL101" on the line that has them; "A or B" where either is right.
FUNCTIONS = {
    "a statement between borrow and return may raise": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL101
    conn.execute(1)
    pool.putconn(conn)
""",
    "try and finally": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    try:
        work(conn)
    finally:
        pool.putconn(conn)
""",
    "nothing between borrow and return raises": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    log.info("got it")
    ready = conn is not None
    pool.putconn(conn)
    work(ready)
""",
    "the handler catches only the library's error": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL101
    try:
        work(conn.execute(1))
    except psycopg2.Error:
        pool.putconn(conn)
        raise
    pool.putconn(conn)
""",
    "calls on the object raise only the library's error": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    try:
        conn.execute(1)
    except psycopg2.Error:
        pool.putconn(conn)
        raise
    pool.putconn(conn)
""",
    "a handler swallows and leaves": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL101
    try:
        work(1)
    except Exception:
        log.exception("failed")
        return
    pool.putconn(conn)
""",
    "suppress swallows and the handle is overwritten": """
def f(pool: ThreadedConnectionPool, items):
    for item in items:
        with contextlib.suppress(ValueError):
            conn = pool.getconn()  # want: POL101
            work(item)
            pool.putconn(conn)
""",
    "an early return": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL102
    try:
        if cond(1):
            return None
    except BaseException:
        pool.putconn(conn)
        raise
    pool.putconn(conn)
    return 1
""",
    "the next turn overwrites it": """
def f(pool: ThreadedConnectionPool, items):
    conn = None
    for item in items:
        conn = pool.getconn()  # want: POL102
    if conn is not None:
        pool.putconn(conn)
""",
    "never returned": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL103
    conn.execute(1)
    del conn
""",
    "the result is thrown away": """
def f(pool: ThreadedConnectionPool):
    pool.getconn()  # want: POL103
""",
    "closing keeps the slot": """
def f(pool: ThreadedConnectionPool):
    with contextlib.closing(pool.getconn()) as conn:  # want: POL103
        conn.execute(1)
""",
    "with on the object is only a transaction": """
def f(pool: ThreadedConnectionPool):
    with pool.getconn() as conn:  # want: POL103
        conn.execute(1)
""",
    "given to an opaque callee and never returned here": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    work(conn)
""",
    "a visible callee that only uses it": """
def use(conn):
    conn.execute(1)

def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL103
    use(conn)
""",
    "handler and finally": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    try:
        work(1)
    except ValueError:
        pool.putconn(conn)
        raise
    finally:
        pool.putconn(conn)  # want: POL104
""",
    "a second release that the library ignores": """
async def f(pool: asyncpg.Pool):
    conn = await pool.acquire()
    try:
        await fetch(1)
    except Exception:
        await pool.release(conn)
        raise
    finally:
        await pool.release(conn)
""",
    "returned by a helper and again": """
def give_back(pool: ThreadedConnectionPool, conn):
    pool.putconn(conn)

def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    give_back(pool, conn)
    pool.putconn(conn)  # want: POL104
""",
    "a return inside the block that returns": """
def f(pool: ConnectionPool):
    with pool.connection() as conn:  # want: POL104
        conn.execute(1)
        pool.putconn(conn)
""",
    "used after its return": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    pool.putconn(conn)
    if conn is not None:
        conn.execute(1)  # want: POL105
        conn.execute(2)
""",
    "a cursor used after the return, its rows not": """
def f(pool: ConnectionPool):
    with pool.connection() as conn:
        cur = conn.cursor()
        rows = cur.fetchall()
    work(rows)
    cur.fetchone()  # want: POL105
""",
    "the cursor is returned above a finally": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    try:
        cur = conn.cursor()
        return cur  # want: POL105
    finally:
        pool.putconn(conn)
""",
    "the other pool": """
def f(pool: ThreadedConnectionPool, other: ThreadedConnectionPool):
    conn = pool.getconn()
    try:
        work(1)
    finally:
        other.putconn(conn)  # want: POL106
""",
    "the pool variable is changed": """
def f(pool: ThreadedConnectionPool, other: ThreadedConnectionPool):
    chosen = pool
    conn = chosen.getconn()
    try:
        work(1)
    except ValueError:
        chosen = other
        raise
    finally:
        chosen.putconn(conn)  # want: POL106
""",
    "only cancellation leaks": """
async def f(pool: asyncpg.Pool):
    conn = await pool.acquire()  # want: POL107
    try:
        await conn.execute(1)
    except Exception:
        await pool.release(conn)
        raise
    await pool.release(conn)
""",
    "no point of cancellation": """
async def f(pool: asyncpg.Pool):
    conn = await pool.acquire()
    try:
        work(1)
    except Exception:
        await pool.release(conn)
        raise
    await pool.release(conn)
""",
    "the borrow inside the try": """
def f(pool: ThreadedConnectionPool):
    try:
        conn = pool.getconn()
        work(conn)
    finally:
        pool.putconn(conn)  # want: POL108
""",
    "the previous turn's object behind a guard": """
async def f(pool: AsyncConnectionPool, items):
    conn = None
    for item in items:
        try:
            conn = await pool.getconn()
            await conn.execute(item)
        except psycopg.Error:
            log.exception("failed")
        finally:
            if conn is not None:
                await pool.putconn(conn)  # want: POL108
""",
    "inside the try, cleared each turn": """
async def f(pool: AsyncConnectionPool, items):
    for item in items:
        conn = None
        try:
            conn = await pool.getconn()
            await conn.execute(item)
        finally:
            if conn is not None:
                await pool.putconn(conn)
""",
    "returned early, cleared, and guarded": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    try:
        work(1)
        pool.putconn(conn)
        conn = None
        work(2)
    finally:
        if conn is not None:
            pool.putconn(conn)
""",
    "owned": """
def f(pool: ThreadedConnectionPool, conn=None):
    owned = conn is None
    if owned:
        conn = pool.getconn()
    try:
        conn.execute(1)
    finally:
        if owned:
            pool.putconn(conn)
""",
    "two tests of different flags": """
def f(pool: ThreadedConnectionPool, flag, flag_b):
    conn = pool.getconn() if flag else None  # want: POL102
    if flag_b:
        pool.putconn(conn)
""",
    "handed on by return, lost before it": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL101
    conn.execute(1)
    return conn
""",
    "registered": """
def f(pool: ThreadedConnectionPool, holder):
    conn = pool.getconn()
    weakref.finalize(holder, pool.putconn, conn)
    work(1)
""",
    "an exit stack": """
def f(pool: ThreadedConnectionPool):
    with contextlib.ExitStack() as stack:
        conn = pool.getconn()
        stack.callback(pool.putconn, conn)
        work(conn)
""",
    "a generator that is closed": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL101
    try:
        yield 1
    except Exception:
        pool.putconn(conn)
        raise
    pool.putconn(conn)
""",
    "a generator that lends": """
@contextlib.contextmanager
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL101
    yield conn
    pool.putconn(conn)
""",
    "a generator that hands on": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()
    yield conn
""",
    "the first of two is lost when the second borrow fails": """
def f(pool: ThreadedConnectionPool):
    first = pool.getconn()  # want: POL101
    second = pool.getconn()
    pool.putconn(second)
    pool.putconn(first)
""",
    "a list of handles": """
def f(pool: ThreadedConnectionPool, items):
    conns = []
    try:
        for item in items:
            conns.append(pool.getconn())
    finally:
        for each in conns:
            pool.putconn(each)
""",
    "a list that is not bound when the second borrow fails": """
def f(pool: ThreadedConnectionPool, items):
    conns = []
    for item in items:
        conns.append(pool.getconn())  # want: POL101
    for each in conns:
        pool.putconn(each)
""",
    "return in finally swallows": """
def f(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL101
    try:
        work(1)
        pool.putconn(conn)
    finally:
        return 1
""",
    "a wrapper that loses it is at fault, its caller is not": """
def take_checked(pool: ThreadedConnectionPool):
    conn = pool.getconn()  # want: POL101
    conn.execute(1)
    return conn

def f(pool: ThreadedConnectionPool):
    conn = take_checked(pool)
    try:
        work(1)
    finally:
        pool.putconn(conn)
""",
    "match": """
def f(pool: ThreadedConnectionPool, mode):
    conn = pool.getconn()  # want: POL102
    match mode:
        case 1:
            pool.putconn(conn)
        case 2:
            pool.putconn(conn)
""",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_known_function(name: str) -> None:
    text = HEAD + FUNCTIONS[name]
    wanted = {
        frozenset((number, code) for code in match[1].split(" or "))
        for number, line in enumerate(text.splitlines(), 1)
        if (match := WANT.search(line))
    }
    right = expected(text)
    assert not right.skipped
    assert set(right.groups) == wanted
    assert not right.allowed - {(line, "POL108") for line, _ in right.allowed}


def test_same_seed_same_text() -> None:
    texts = [generate(seed) for seed in range(50)]
    assert texts == [generate(seed) for seed in range(50)]
    assert len(set(texts)) > 45


def test_helpers_are_right_by_themselves() -> None:
    for dialect in DIALECTS:
        for name in set(HELPERS) - {"take_checked", "use"}:
            text = HEAD + dialect.text + helper_text(name, dialect)
            assert compiles(text)
            assert expected(text).groups == (), (name, dialect.annotation)


def test_minimised_keeps_the_difference() -> None:
    def find_nothing(_text: str) -> frozenset[Key]:
        return frozenset()

    text = HEAD + FUNCTIONS["an early return"].replace("    conn =", "    work(5)\n    step(6)\n    conn =", 1)
    outcome = compared(text, find_nothing)
    assert outcome.kinds == {("missed", "POL102")}
    small = minimised(outcome, find_nothing)
    assert small.kinds == {("missed", "POL102")}
    assert len(small.text) < len(text)
    assert "step" not in small.text.split("def f")[1]
