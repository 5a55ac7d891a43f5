"""The statements that a calibration times: pool shapes, constructors, resets, and the parts of the static model.

Keys name a cost: ``borrow/SHAPE/WRAPPING/N``, ``new/CALL`` (freed at once), ``alive/CALL`` (with 64 kept),
``reset/NAME``, ``part/NAME``.
"""

from __future__ import annotations

from dataclasses import dataclass

# Of each pool shape: what builds it for n borrowers, what takes one object, what gives it back, and what each thread
# has to do first.  ``{s}`` becomes ``self.`` where the shape is wrapped in a class.
_SHAPES: dict[str, tuple[str, str, str, str]] = {
    "list": ("{s}pool = [object() for _ in range(16)]", "x = {s}pool.pop()", "{s}pool.append(x)", ""),
    "deque": (
        "from collections import deque\n{s}pool = deque(object() for _ in range(16))",
        "x = {s}pool.pop()",
        "{s}pool.append(x)",
        "",
    ),
    "simple_queue": (
        "from queue import SimpleQueue\n{s}pool = SimpleQueue()\nfor _ in range(16): {s}pool.put(object())",
        "x = {s}pool.get()",
        "{s}pool.put(x)",
        "",
    ),
    "list_lock": (
        "import threading\n{s}pool = [object() for _ in range(16)]\n{s}lock = threading.Lock()",
        "with {s}lock:\n    x = {s}pool.pop()",
        "with {s}lock:\n    {s}pool.append(x)",
        "",
    ),
    "condition": (
        "import threading\n{s}pool = [object() for _ in range(16)]\n{s}lock = threading.Condition()",
        "with {s}lock:\n    while not {s}pool:\n        {s}lock.wait()\n    x = {s}pool.pop()",
        "with {s}lock:\n    {s}pool.append(x)\n    {s}lock.notify()",
        "",
    ),
    "semaphore": (
        (
            "import threading\nfrom collections import deque\n{s}pool = deque(object() for _ in range(16))\n"
            "{s}lock = threading.BoundedSemaphore(16)"
        ),
        "{s}lock.acquire()\nx = {s}pool.pop()",
        "{s}pool.append(x)\n{s}lock.release()",
        "",
    ),
    "queue": (
        "import queue\n{s}pool = queue.Queue()\nfor _ in range(16): {s}pool.put(object())",
        "x = {s}pool.get()",
        "{s}pool.put(x)",
        "",
    ),
    "lifo_queue": (
        "import queue\n{s}pool = queue.LifoQueue()\nfor _ in range(16): {s}pool.put(object())",
        "x = {s}pool.get()",
        "{s}pool.put(x)",
        "",
    ),
    "thread_local": (
        "import threading\n{s}pool = threading.local()\n{s}pool.x = object()",
        "x = {s}pool.x",
        "{s}pool.x = x",
        "pool.x = object()",
    ),
    "context_var": (
        "import contextvars\n{s}pool = contextvars.ContextVar('pool')\n{s}pool.set(object())",
        "x = {s}pool.get()",
        "{s}pool.set(x)",
        "pool.set(object())",
    ),
}
_ASYNC_SHAPES: dict[str, tuple[str, str, str]] = {
    "asyncio_queue": (
        "{s}pool = asyncio.Queue()\nfor _ in range(16): {s}pool.put_nowait(object())",
        "x = await {s}pool.get()",
        "{s}pool.put_nowait(x)",
    ),
    "asyncio_lock": (
        "{s}pool = [object() for _ in range(16)]\n{s}lock = asyncio.Lock()",
        "async with {s}lock:\n    x = {s}pool.pop()",
        "async with {s}lock:\n    {s}pool.append(x)",
    ),
}
WRAPPINGS = ("bare", "method", "context_class", "context_manager")
SHAPES = (*_SHAPES, *_ASYNC_SHAPES)

# Constructors, and the setup that imports what they need.  Sizes stand in between for what is interpolated.
CONSTRUCTORS: dict[str, str] = {
    "object()": "",
    "[]": "",
    "{}": "",
    "set()": "",
    "list()": "",
    "dict()": "",
    "collections.OrderedDict()": "import collections",
    "collections.defaultdict(list)": "import collections",
    "collections.Counter()": "import collections",
    "collections.deque()": "import collections",
    "collections.deque(maxlen=64)": "import collections",
    "collections.ChainMap()": "import collections",
    "collections.UserDict()": "import collections",
    "bytearray()": "",
    "bytearray(64)": "",
    "bytearray(1024)": "",
    "bytearray(4096)": "",
    "bytearray(16384)": "",
    "bytearray(65536)": "",
    "bytearray(262144)": "",
    "bytearray(1048576)": "",
    "bytes(1024)": "",
    "bytes(65536)": "",
    "io.BytesIO()": "import io",
    "io.StringIO()": "import io",
    "array.array('d')": "import array",
    "threading.Lock()": "import threading",
    "threading.RLock()": "import threading",
    "threading.Event()": "import threading",
    "threading.Condition()": "import threading",
    "threading.Condition(threading.Lock())": "import threading",
    "threading.Semaphore()": "import threading",
    "threading.local()": "import threading",
    "queue.Queue()": "import queue",
    "queue.LifoQueue()": "import queue",
    "queue.SimpleQueue()": "import queue",
    "random.Random()": "import random",
    "random.SystemRandom()": "import random",
    "hashlib.md5()": "import hashlib",
    "hashlib.sha256()": "import hashlib",
    "zlib.compressobj()": "import zlib",
    "zlib.decompressobj()": "import zlib",
    "bz2.BZ2Compressor()": "import bz2",
    "lzma.LZMADecompressor()": "import lzma",
    "uuid.uuid4()": "import uuid",
    "decimal.Decimal(0)": "import decimal",
    "fractions.Fraction(1, 3)": "import fractions",
    "datetime.datetime.now()": "import datetime",
    "datetime.date(2020, 1, 1)": "import datetime",
    "datetime.timedelta(1)": "import datetime",
    "pathlib.Path('a')": "import pathlib",
    "json.JSONEncoder()": "import json",
    "json.JSONDecoder()": "import json",
    "configparser.ConfigParser()": "import configparser",
    "string.Formatter()": "import string",
    "struct.Struct('!I')": "import struct",
    "types.SimpleNamespace()": "import types",
    "weakref.WeakValueDictionary()": "import weakref",
    "weakref.WeakKeyDictionary()": "import weakref",
    "weakref.WeakSet()": "import weakref",
    "contextlib.ExitStack()": "import contextlib",
    "argparse.ArgumentParser()": "import argparse",
    "email.message.EmailMessage()": "import email.message",
    "email.message.Message()": "import email.message",
    "http.cookies.SimpleCookie()": "import http.cookies",
    "html.parser.HTMLParser()": "import html.parser",
    "csv.writer(out)": "import csv, io\nout = io.StringIO()",
    "itertools.count()": "import itertools",
    "xml.etree.ElementTree.Element('a')": "import xml.etree.ElementTree",
    "asyncio.Event()": "import asyncio",
    "asyncio.Lock()": "import asyncio",
    "asyncio.Queue()": "import asyncio",
    "logging.getLogger('a')": "import logging",
    "time.monotonic()": "import time",
    "time.time()": "import time",
    "os.getpid()": "import os",
    "Exception()": "",
}
# What is also timed with 64 built, kept, and dropped together: memory goes back to the system in between, so that
# large buffers cost many times more.  Other objects cost nearly the same either way.
KEPT = 64
_BUFFERS = ("bytearray(", "bytes(", "io.", "zlib.", "bz2.", "lzma.", "{}", "[]", "object()", "threading.Event")

_TWO = "class C:\n    def __init__(self):\n        self.a = 1\n        self.b = 2\nc = C()"
RESETS: dict[str, tuple[str, str]] = {
    "seek_truncate": ("import io\nb = io.BytesIO(bytes(100))", "b.seek(0)\nb.truncate(0)"),
    "list_clear": ("b = []", "b.clear()"),
    "dict_clear": ("b = {}", "b.clear()"),
    "set_clear": ("b = set()", "b.clear()"),
    "deque_clear": ("import collections\nb = collections.deque()", "b.clear()"),
    "event_clear": ("import threading\nb = threading.Event()", "b.clear()"),
    "bytearray_slice/64": ("b = bytearray(64)", "b[:] = bytes(64)"),
    "bytearray_slice/4096": ("b = bytearray(4096)", "b[:] = bytes(4096)"),
    "bytearray_slice/65536": ("b = bytearray(65536)", "b[:] = bytes(65536)"),
    "bytearray_slice/1048576": ("b = bytearray(1048576)", "b[:] = bytes(1048576)"),
}

# The parts of the static model: setup, statement, turns in it, and the part whose cost is taken off first.
_CLASS = "class C:\n    def __init__(self{params}):\n{body}"
_TEN = range(10)


def _class(body: list[str], params: str = "", head: str = "") -> str:
    lines = "\n".join(f"        {line}" for line in body or ["pass"])
    return head + _CLASS.format(params=params, body=lines)


def _function(body: list[str], head: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body or ["pass"])
    return f"{head}\ndef f(self, a=1, s='ab', items=(1, 2), d={{1: 2}}):\n{lines}"


PARTS: dict[str, tuple[str, str, int, str]] = {
    "new_plain": ("class C: pass", "C()", 1, ""),
    "new_init": (_class([]), "C()", 1, ""),
    "new_init_args": (_class([], ", a, b, c, d"), "C(1, 2, 3, 4)", 4, "new_init"),
    "new_init_keywords": (_class([], ", a=1, b=1, c=1, d=1"), "C(a=1, b=2, c=3, d=4)", 4, "new_init"),
    "attr_store": (_class([f"self.a{i} = 1" for i in _TEN]), "C()", 10, "new_init"),
    "attr_store_many": (_class([f"self.a{i} = 1" for i in range(40)]), "C()", 40, "new_init"),
    "new_slots": (
        "class C:\n    __slots__ = ('a', 'b')\n    def __init__(self):\n        pass",
        "C()",
        1,
        "",
    ),
    "slot_store": (
        f"class C:\n    __slots__ = {tuple(f'a{i}' for i in _TEN)}\n    def __init__(self):\n"
        + "\n".join(f"        self.a{i} = 1" for i in _TEN),
        "C()",
        10,
        "new_slots",
    ),
    "new_custom": (
        "class C:\n    def __new__(cls):\n        return super().__new__(cls)",
        "C()",
        1,
        "",
    ),
    "new_metaclass": (
        "import abc\nclass C(metaclass=abc.ABCMeta):\n    def __init__(self): pass",
        "C()",
        1,
        "",
    ),
    "super_init": (
        "class B:\n    def __init__(self): pass\nclass C(B):\n    def __init__(self):\n        super().__init__()",
        "C()",
        1,
        "new_init",
    ),
    "object_init": (_class(["super().__init__()"]), "C()", 1, "new_init"),
    "exception": ("class C(Exception): pass", "C()", 1, ""),
    "new_dict": ("class C(dict): pass", "C()", 1, ""),
    "new_list": ("class C(list): pass", "C()", 1, ""),
    "new_str": ("class C(str): pass", "C()", 1, ""),
    "new_int": ("class C(int): pass", "C()", 1, ""),
    "new_local": ("import threading\nclass C(threading.local): pass", "C()", 1, ""),
    "named_tuple": (
        "from typing import NamedTuple\nclass C(NamedTuple):\n    a: int\n    b: int\n    c: int",
        "C(1, 2, 3)",
        1,
        "",
    ),
    "enum_lookup": ("import enum\nclass C(enum.Enum):\n    A = 1", "C(1)", 1, ""),
    "frozen_store": (
        _class([f"object.__setattr__(self, 'a{i}', 1)" for i in _TEN]),
        "C()",
        10,
        "new_init",
    ),
    "call": (_function([]), "f(1)", 1, ""),
    "method": ("class C:\n    def m(self): pass\nc = C()", "c.m()", 1, ""),
    "argument": (_function([]), "f(1, 2, 3, 4, 5)", 4, "call"),
    "keyword": (_function([]), "f(1, a=2, s=3, items=4, d=5)", 4, "call"),
    "builtin": (_function(["len(s)"] * 10), "f(1)", 10, "call"),
    "isinstance": (_function(["isinstance(s, str)"] * 10), "f(1)", 10, "call"),
    "getattr": (_function(["getattr(s, 'upper', None)"] * 10), "f(1)", 10, "call"),
    "str_method": (_function(["s.upper()"] * 10), "f(1)", 10, "call"),
    "list_method": (_function(["x = []"] + ["x.append(1)"] * 10), "f(1)", 10, "list_made"),
    "list_made": (_function(["x = []"]), "f(1)", 1, ""),
    "list": (_function(["x = []"] * 10), "f(1)", 10, "call"),
    "list_item": (_function(["x = [a, a, a, a, a, a, a, a, a, a]"]), "f(1)", 10, "list_made"),
    "dict": (_function(["x = {}"] * 10), "f(1)", 10, "call"),
    "dict_made": (_function(["x = {}"]), "f(1)", 1, ""),
    "dict_item": (
        _function(["x = {" + ", ".join(f"'k{i}': a" for i in _TEN) + "}"]),
        "f(1)",
        10,
        "dict_made",
    ),
    "set_item": (_function(["x = {a, 2, 3, 4, 5, s, 7, 8, 9, 10}"]), "f(1)", 10, "call"),
    "tuple": (_function(["x = (a, s)"] * 10), "f(1)", 10, "call"),
    "binary": (_function(["a + 1"] * 10), "f(1)", 10, "call"),
    "concat": (_function(["s + 'b'"] * 10), "f(1)", 10, "call"),
    "compare": (_function(["a == 2"] * 10), "f(1)", 10, "call"),
    "branch": (_function(["if a is None: pass"] * 10), "f(1)", 10, "call"),
    "attr_load": ("class C: pass\nc = C()\nc.a = 1\n" + _function(["self.a"] * 10), "f(c)", 10, "call"),
    "global": ("g = 1\n" + _function(["g"] * 10), "f(1)", 10, "call"),
    "subscript": (_function(["d[1]"] * 10), "f(1)", 10, "call"),
    "subscript_store": (_function(["d[1] = 2"] * 10), "f(1)", 10, "call"),
    "fstring": (_function(["f'{s}b{a}'"] * 10), "f(1)", 20, "call"),
    "format": (_function(["'%s b' % s"] * 10), "f(1)", 10, "call"),
    "loop": (_function(["for i in range(100): pass"]), "f(1)", 100, "call"),
    "comprehension": (_function(["[a for i in range(100)]"]), "f(1)", 100, "call"),
    "comprehension_made": (_function(["[a for i in items]"]), "f(1)", 1, "call"),
    "bytes_store": (
        "def f(b):\n    for i in range(1024):\n        b[i] = 0\nb = bytearray(1024)",
        "f(b)",
        1024,
        "call",
    ),
    "lambda": (_function(["x = lambda: a"] * 10), "f(1)", 10, "call"),
    "try": (_function(["try:\n        pass\n    finally:\n        pass"] * 10), "f(1)", 10, "call"),
    "with_lock": (
        "import threading\nlock = threading.Lock()\n" + _function(["with lock: pass"] * 10),
        "f(1)",
        10,
        "call",
    ),
    "range": (_function(["range(a)"] * 10), "f(1)", 10, "call"),
    "str_of_int": (_function(["str(a)"] * 10), "f(1)", 10, "call"),
    "bound_method": ("class C:\n    def m(self): pass\nc = C()\n" + _function(["x = self.m"] * 10), "f(c)", 10, "call"),
    "import": (_function(["import sys"] * 10), "f(1)", 10, "call"),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One statement to time; the field names are the keys of the worker's job."""

    key: str
    kind: str
    setup: str
    stmt: str
    per: int = 1
    threads: int = 1
    each: str = ""
    minus: str = ""

    def job(self) -> dict[str, object]:
        """What the worker is told."""
        return {name: getattr(self, name) for name in ("key", "kind", "setup", "stmt", "threads", "each")}


def borrow_tasks(threads: tuple[int, ...], wrappings: tuple[str, ...] = WRAPPINGS) -> list[Task]:
    """The tasks for every pool shape: each wrapping alone, and the bare shape by each number of threads above one."""
    tasks = []
    for shape, (setup, take, give, each) in _SHAPES.items():
        for wrapping in wrappings:
            made, stmt = _wrapped(setup, take, give, wrapping)
            tasks.append(Task(f"borrow/{shape}/{wrapping}/1", "loop", made, stmt))
        made, stmt = _wrapped(setup, take, give, "bare")
        tasks += [
            Task(f"borrow/{shape}/bare/{n}", "threads", made, stmt, threads=n, each=each) for n in threads if n > 1
        ]
    for shape, (setup, take, give) in _ASYNC_SHAPES.items():
        for wrapping in wrappings:
            if wrapping != "context_class":
                made, stmt = _wrapped(setup, take, give, wrapping, asynchronous=True)
                tasks.append(Task(f"borrow/{shape}/{wrapping}/1", "async", made, stmt))
        made, stmt = _wrapped(setup, take, give, "bare", asynchronous=True)
        tasks += [Task(f"borrow/{shape}/bare/{n}", "async", made, stmt, threads=n) for n in threads if n > 1]
    return tasks


def new_tasks() -> list[Task]:
    """The tasks for the constructors: freed at once, and with 64 of them kept."""
    tasks = [Task(f"new/{call}", "loop", setup, call) for call, setup in CONSTRUCTORS.items()]
    tasks.append(Task("part/kept", "loop", "", "[None for _ in range(64)]", KEPT))
    tasks += [
        Task(f"alive/{call}", "loop", setup, f"[{call} for _ in range({KEPT})]", KEPT, minus="part/kept")
        for call, setup in CONSTRUCTORS.items()
        if call.startswith(_BUFFERS)
    ]
    return tasks


def reset_tasks() -> list[Task]:
    """The tasks for the usual resets."""
    return [Task(f"reset/{name}", "loop", setup, stmt) for name, (setup, stmt) in RESETS.items()]


def part_tasks() -> list[Task]:
    """The tasks for the parts of the static model."""
    return [
        Task(f"part/{name}", "loop", setup, stmt, per, minus=f"part/{minus}" if minus else "")
        for name, (setup, stmt, per, minus) in PARTS.items()
    ]


def _wrapped(setup: str, take: str, give: str, wrapping: str, *, asynchronous: bool = False) -> tuple[str, str]:
    """Return setup and statement of a borrow and a return, written directly or behind what people put around it."""
    if wrapping == "bare":
        return setup.format(s=""), f"{take}\n{give}".format(s="")
    first, wait = ("async ", "await ") if asynchronous else ("", "")
    take, give = take.format(s="self."), give.format(s="self.")
    klass = f"class W:\n    def __init__(self):\n{_indent(setup.format(s='self.'), 8)}\n"
    if wrapping in ("method", "context_class"):
        klass += f"    {first}def take(self):\n{_indent(take, 8)}\n        return x\n"
        klass += f"    {first}def give(self, x):\n{_indent(give, 8)}\n"
    if wrapping == "method":
        return klass + "w = W()", f"x = {wait}w.take()\n{wait}w.give(x)"
    if wrapping == "context_class":
        klass += (
            "class C:\n    def __init__(self, w):\n        self.w = w\n"
            "    def __enter__(self):\n        self.x = self.w.take()\n        return self.x\n"
            "    def __exit__(self, *exc):\n        self.w.give(self.x)\n"
        )
        return klass + "w = W()", "with C(w) as x:\n    pass"
    manager = "asynccontextmanager" if asynchronous else "contextmanager"
    klass += (
        f"    @{manager}\n    {first}def lend(self):\n{_indent(take, 8)}\n        try:\n            yield x\n"
        f"        finally:\n{_indent(give, 12)}\n"
    )
    return f"from contextlib import {manager}\n{klass}w = W()", f"{first}with w.lend() as x:\n    pass"


def _indent(text: str, width: int) -> str:
    return "\n".join(" " * width + line for line in text.split("\n"))
