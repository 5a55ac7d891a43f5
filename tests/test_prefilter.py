"""The sieves before the analysis: they let through what may have findings, and stop what plainly has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pool_lint.catalog.load import parse_pools
from pool_lint.config import Settings
from pool_lint.prefilter import may_have_findings
from pool_lint.prefilter.text import imported_words, name_before, places_of

PASSES = {
    "a library": "import redis\n",
    "a library inside a function": "def f():\n    from psycopg2 import pool\n",
    "a continued import": "import os, \\\n    redis\n",
    "taken and given back": (
        "class Pool:\n    def get(self):\n        return self.idle.pop()\n\n"
        "    def release(self, one):\n        self.idle.append(one)\n"
    ),
    "given back on the next line": "one = idle.pop()\nuse(one)\nidle.append(\n    one\n)\n",
    "given back by a nested function": (
        "def f():\n    one = idle.pop()\n\n    def back():\n        idle.append(one)\n    return back\n"
    ),
    "taken by a helper": (
        "class P:\n    def _take(self):\n        return self.q.popleft()\n\n"
        "    def work(self):\n        one = self._take()\n        self.q.append(one)\n"
    ),
    "a heap": "from heapq import heappop, heappush\none = heappop(free)\nheappush(free, one)\n",
    "a queue": "import queue\nq = queue.Queue()\none = q.get()\nq.put(item=one)\n",
    "taken over several lines": (
        "class Pool:\n    def get(self):\n        return (self._idle) \\\n            . pop (\n)\n\n"
        "    def release(self, one):\n        (\n            self._idle\n            # back\n            .append(one)\n"
        "        )\n"
    ),
    "a queue over several lines": "import queue\nq = queue . Queue()\none = q \\\n  .get()\nq. \\\n  put(one)\n",
    "an import over several lines": "from \\\n  redis \\\n  import Redis\n",
    "an entry of a dict": (
        "items = {}\ndef job():\n    one = items.popitem()[1]\n    work(one)\n    items[one.key] = one\n"
    ),
    "a pair": "conn = self._pool.acquire()\nself._pool.release(conn)\n",
    "a pair on what is no name": "conn = pools[0].getconn()\npools[0].putconn(conn)\n",
    "a count": (
        "class P:\n    def acquire(self):\n        if self.out >= self.limit:\n            raise Full\n"
        "        self.out += 1\n        return connect()\n\n    def release(self, one):\n        self.out -= 1\n"
    ),
    "a permit": (
        "from threading import Semaphore\nclass P:\n    def __init__(self):\n        self.permits = Semaphore(4)\n\n"
        "    def acquire(self):\n        self.permits.acquire()\n        return connect()\n"
    ),
    "connections by key": (
        "import sqlite3\nclass Stores:\n    def open(self, name):\n        return sqlite3.connect(name)\n\n"
        "    def of(self, name):\n        store = self.open(name)\n        self.stores[name] = store\n"
    ),
    "connections under a cache": (
        "import functools, sqlite3\n@functools.lru_cache\ndef store(name):\n    return sqlite3.connect(name)\n"
    ),
    "a thread's object across an await": (
        "import threading\nlocal = threading.local()\nasync def f():\n    local.conn.send()\n    await g()\n"
    ),
}
STOPS = {
    "nothing": "",
    "a library in a comment": "# redis, or psycopg2\n",
    "a stack": "stack = [root]\nwhile stack:\n    node = stack.pop()\n    stack.append(node.left)\n",
    "a stack of new nodes": "def f():\n    stack.append(Node())\n    node = stack.pop()\n",
    "a cache of values": "cache.pop(key, None)\ncache[key] = value\n",
    "a lock": "lock.acquire()\ntry:\n    pass\nfinally:\n    lock.release()\n",
    "a signal": (
        "from threading import Semaphore\nclass P:\n    def __init__(self):\n        self.came = Semaphore(0)\n\n"
        "    def get(self):\n        self.came.acquire()\n        return self.letters.popleft()\n"
    ),
    "what was pushed back": (
        "def read_word(self):\n    char = self.pushed.pop() if self.pushed else self.stream.read(1)\n"
        "    self.pushed.append(char)\n"
    ),
    "a counter": "class C:\n    def tick(self):\n        self.n += 1\n        self.n -= 1\n",
    "one connection": "import sqlite3\ndef f(name):\n    store = sqlite3.connect(name)\n    store.close()\n",
    "the package alone": "import socket\ntable = {}\ndef f(name):\n    table[name] = socket.gethostname()\n",
    "a word in a longer one": "parent.current.different(rental)\n",
}


@pytest.mark.parametrize("text", PASSES.values(), ids=PASSES)
def test_what_may_have_findings_passes(text: str) -> None:
    assert may_have_findings(text, Settings())


@pytest.mark.parametrize("text", STOPS.values(), ids=STOPS)
def test_what_has_none_is_stopped(text: str) -> None:
    assert not may_have_findings(text, Settings())


def test_a_users_model_is_looked_for() -> None:
    text = "from app.db import Pool\n"
    model = {"id": "app", "classes": ["app.db.Pool"], "item": "object", "remedy": "use {pool}"}
    models = parse_pools({"pool": [{**model, "borrows": [], "releases": []}]}, "here")
    assert not may_have_findings(text, Settings())
    assert may_have_findings(text, replace(Settings(), models=models))


def test_words_are_found_by_themselves() -> None:
    assert list(places_of("pop", "pop popped .pop() _pop pop")) == [0, 12, 23]
    assert imported_words("x = 1\nfrom a.b import c\n") == {"from", "a", "b", "import", "c"}
    assert name_before("self.idle\n    .pop()", 14) == ("idle", 5)
