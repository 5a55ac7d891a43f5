"""Programs for property tests: generated borrowers, home-made pools in random words, and splices of both."""

# The random numbers are no secrets.
# ruff: noqa: S311
from __future__ import annotations

import ast
import copy
import random
import textwrap
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from oracle.dialects import DIALECTS
from oracle.generate import generate
from oracle.statements import Place, Writer
from oracle.tree import render

if TYPE_CHECKING:
    from oracle.dialects import Dialect

ROOT = Path(__file__).parent.parent
SYNTAX = ROOT / "tests" / "syntax"


def borrower(seed: int) -> str:
    """A module with a function that borrows from a pool of a library, or of a class beside it."""
    return generate(seed)


@cache
def fixtures() -> dict[str, str]:
    """The fixtures whose syntax this Python has."""
    found = {}
    for path in sorted((ROOT / "fixtures").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if _parses(text):
            found[path.relative_to(ROOT).as_posix()] = text
    return found


def fixture(name: str) -> str:
    """The text of one of the fixtures."""
    return fixtures()[name]


# How a container is made, what takes from it and what gives back.
CONTAINERS = (
    ("collections.deque()", "{at}.popleft()", "{at}.append({one})"),
    ("collections.deque([make(1), make(2)])", "{at}.pop()", "{at}.appendleft({one})"),
    ("[make(each) for each in range(size)]", "{at}.pop()", "{at}.append({one})"),
    ("[]", "{at}.pop(0)", "{at}.insert(0, {one})"),
    ("queue.Queue(size)", "{at}.get()", "{at}.put({one})"),
    ("queue.LifoQueue(maxsize=4)", "{at}.get(timeout=1)", "{at}.put_nowait({one})"),
    ("queue.SimpleQueue()", "{at}.get_nowait()", "{at}.put(item={one})"),
    ("set()", "{at}.pop()", "{at}.add({one})"),
    ("{each: make(each) for each in range(size)}", "{at}.popitem()[1]", "{at}[{one}.key] = {one}"),
    ("[make(each) for each in range(size)]", "heapq.heappop({at})", "heapq.heappush({at}, {one})"),
)
FACTORIES = (
    "sqlite3.connect(key)",
    "socket.create_connection((HOST, key))",
    "Thing(key)",
    "bytearray(4096)",
    "io.BytesIO()",
    "object()",
)
WORDS = {
    "attr": ("_idle", "_free", "items", "_q", "available", "pool", "stack"),
    "take": ("get", "acquire", "borrow", "checkout", "pop", "next", "take", "__enter__"),
    "give": ("put", "release", "give_back", "checkin", "push", "restore", "done"),
    "name": ("Pool", "Buffers", "Connections", "Cache", "Workers"),
}
TAKES = (
    "return {take}",
    "one = {take}\n        check(one)\n        return one",
    "if not {at}:\n            return make(0)\n        return {take}",
    "try:\n            return {take}\n        except (IndexError, queue.Empty):\n            return make(0)",
    """with self.lock:
            if {at}:
                return {take}
            self.count += 1
        return make(self.count)""",
    "self.permits.acquire()\n        return {take}",
    "if self.count >= 4:\n            raise RuntimeError\n        self.count += 1\n        return make(1)",
)
GIVES = (
    "{give}",
    "one.reset()\n        {give}",
    "if len({at}) < 4:\n            {give}\n        else:\n            one.close()",
    "with self.lock:\n            {give}\n        self.permits.release()",
    "one.seek(0)\n        {give}",
    "self.count -= 1\n        {give}",
)
USES = (
    "one = pool.{take}()\n    work(one)\n    pool.{give}(one)",
    "one = pool.{take}()\n    try:\n        work(one)\n    finally:\n        pool.{give}(one)",
    "one = pool.{take}()\n    if flag:\n        return None\n    pool.{give}(one)\n    return one",
    "one = pool.{take}()\n    one.size = flag\n    pool.{give}(one)\n    pool.{give}(one)",
    "for each in flag:\n        one = pool.{take}()\n        if each:\n            continue\n        pool.{give}(one)",
)
CLASS = """\
import collections, contextlib, heapq, io, queue, socket, sqlite3, threading

HOST = "localhost"


class Thing:
    def __init__(self, key):
        self.key = key
        self.size = 0

    def reset(self):
        self.size = 0


def make(key):
    return {factory}


class {name}:
    def __init__(self, size=4):
        self.lock = threading.Lock()
        self.permits = threading.Semaphore(size)
        self.count = 0
        self.{attr} = {made}

    def {take}(self):
        {taking}

    def {give}(self, one):
        {giving}

    @contextlib.contextmanager
    def lend(self):
        one = self.{take}()
        try:
            yield one
        finally:
            self.{give}(one)


shared = {name}()


def job(pool: {name}, flag):
    {use}


def run(flag, pool=shared):
    {other_use}
"""
MODULE = """\
import collections, heapq, io, queue, socket, sqlite3

HOST = "localhost"
size = 3


def make(key):
    return {factory}


{attr} = {made}


def {take}_one():
    return {taken}


def {give}_one(one):
    {given}


def job(flag):
    one = {taken}
    work(one)
    {given}


def other(flag):
    one = {take}_one()
    if flag:
        return
    {give}_one(one)
"""


def homemade(seed: int) -> str:
    """A module with a pool of its own, and functions that use it."""
    rng = random.Random(seed)
    words = {kind: rng.choice(choices) for kind, choices in WORDS.items()}
    made, take, give = rng.choice(CONTAINERS)
    factory = rng.choice(FACTORIES)
    if rng.random() < 0.3:
        at = words["attr"]
        parts = {"taken": take.format(at=at), "given": give.format(at=at, one="one")}
        return MODULE.format(factory=factory, made=made, **parts, **words)
    at = f"self.{words['attr']}"
    taken, given = take.format(at=at), give.format(at=at, one="one")
    uses = [use.format(**words) for use in rng.sample(USES, 2)]
    return CLASS.format(
        factory=factory,
        made=made,
        taking=rng.choice(TAKES).format(take=taken, at=at),
        giving=rng.choice(GIVES).format(give=given, at=at),
        use=uses[0],
        other_use=uses[1],
        **words,
    )


def spliced(seed: int) -> str:
    """A module that borrows, with statements of other files in the place of its own: nonsense that compiles."""
    rng = random.Random(seed)
    while True:
        tree = ast.parse(rng.choice((borrower, homemade))(rng.randrange(10**6)))
        for _ in range(rng.randint(1, 8)):
            block = rng.choice(_blocks(tree))
            at = rng.randrange(len(block) + 1)
            block[at : at + rng.randrange(2)] = copy.deepcopy(rng.choice(_strange_blocks()))
            if not block:
                block.append(ast.Pass())
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        if _parses(text):
            return text


def _blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    return [
        block
        for node in ast.walk(tree)
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(node, name, None), list) and block
    ]


@cache
def _strange_blocks() -> list[list[ast.stmt]]:
    """Parts of blocks of statements, from the files that have all syntax and from the fixtures."""
    rng = random.Random(0)
    texts = [path.read_text(encoding="utf-8") for path in sorted(SYNTAX.glob("*.txt"))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of escapes that are none
        trees = [ast.parse(text) for text in (*texts, *fixtures().values()) if _parses(text)]
    parts = []
    for block in (block for tree in trees for block in _blocks(tree)):
        at = rng.randrange(len(block))
        parts.append(block[at : at + rng.randint(1, 3)])
    return parts


GUARDED = """\
{imports}
from app import cond, fetch, send, step, work
import asyncio, contextlib, logging

log = logging.getLogger(__name__)


{text}
{keyword}def job(pool: {annotation}, flag, flag_b, items):
    {handle} = {borrow}
    try:
        {first}
{body}
    finally:
        {give_back}
"""
OPEN = GUARDED.replace("    try:\n        {first}", "    if True:\n        {first}").replace(
    "    finally:\n        {give_back}", "    {give_back}"
)


def guarded(seed: int) -> tuple[str, str]:
    """A body, generated or of a real function, under a ``finally`` that returns what was borrowed; and without it."""
    rng = random.Random(seed)
    dialect = rng.choice(DIALECTS)
    handle = rng.choice(("conn", "client", "thing"))
    block = _real(rng) if rng.random() < 0.5 and not dialect.is_async else _written(rng, dialect, handle)
    parts = {
        "imports": "\n".join(dialect.imports),
        "text": dialect.text,
        "keyword": "async " if dialect.is_async else "",
        "annotation": dialect.annotation,
        "handle": handle,
        "borrow": dialect.borrow.format(pool="pool"),
        "give_back": dialect.give_back.format(pool="pool", conn=handle),
        "first": "await send(0)" if dialect.is_async else "step(0)",
        "body": textwrap.indent(block, " " * 8),
    }
    return GUARDED.format(**parts), OPEN.format(**parts)


def _written(rng: random.Random, dialect: Dialect, handle: str) -> str:
    """Random statements that use the handle and neither return it nor give it another value."""
    while True:
        writer = Writer(rng, dialect)
        text = "\n".join(render(writer.body(Place(handle), 4), ""))
        if "putconn" not in text and "release" not in text and "give_back" not in text and f"{handle} = " not in text:
            return text


def _real(rng: random.Random) -> str:
    """The body of one of this project's own functions: it knows of no pool."""
    return ast.unparse(ast.Module(rng.choice(_bodies()), []))


@cache
def _bodies() -> list[list[ast.stmt]]:
    found = []
    for path in sorted((ROOT / "pool_lint").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        found += [function.body for function in functions if not _has_yield(function)]
    return found


def _has_yield(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Nonlocal)) for node in ast.walk(function))


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "program", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True
