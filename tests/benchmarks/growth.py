"""How the time of the analysis grows with the size of what it reads, from 1x to 64x.

usage: growth.py [--runs N] [--most N]

For each kind of program prints the time at each size and the exponent: the slope of a line through the logarithms.
"""

from __future__ import annotations

import argparse
import ast
import math
import time
from typing import TYPE_CHECKING

from pool_lint.config import Settings
from pool_lint.engine import check_text

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = "from psycopg2.pool import ThreadedConnectionPool\npool = ThreadedConnectionPool(1, 9)\n\n\n"


def functions(count: int) -> str:
    """Many functions that borrow, each on its own."""
    return HEAD + "".join(
        f"def f{n}(rows):\n    conn = pool.getconn()\n    try:\n        for row in rows:\n            if row:\n"
        f"                conn.execute(row)\n    finally:\n        pool.putconn(conn)\n\n\n"
        for n in range(4 * count)
    )


def borrows(count: int) -> str:
    """One function that borrows many times."""
    body = "".join(
        f"    conn{n} = pool.getconn()\n    try:\n        conn{n}.execute('x')\n    finally:\n"
        f"        pool.putconn(conn{n})\n"
        for n in range(4 * count)
    )
    return f"{HEAD}def f():\n{body}"


def branches(count: int) -> str:
    """One long chain of branches while an object is borrowed."""
    arms = "".join(f"        elif kind == {n}:\n            conn.execute('x')\n" for n in range(8 * count))
    return (
        f"{HEAD}def f(kind):\n    conn = pool.getconn()\n    try:\n        if kind is None:\n            pass\n{arms}"
        "    finally:\n        pool.putconn(conn)\n"
    )


def finals(count: int) -> str:
    """Finally in finally, a few deep, many times."""
    one = (
        "    a = pool.getconn()\n    try:\n        b = pool.getconn()\n        try:\n            c = pool.getconn()\n"
        "            try:\n                if a.ok:\n                    return 1\n                b.use(c)\n"
        "            finally:\n                pool.putconn(c)\n        finally:\n            pool.putconn(b)\n"
        "    finally:\n        pool.putconn(a)\n"
    )
    return f"{HEAD}def f():\n{one * (2 * count)}"


def statements(count: int) -> str:
    """A long function with one borrow, most of it plain statements, as generated code is."""
    body = "".join(f"        row[{n}] = convert(row[{n}], {n})\n" for n in range(40 * count))
    return f"{HEAD}def f(row):\n    conn = pool.getconn()\n    try:\n{body}    finally:\n        pool.putconn(conn)\n"


def methods(count: int) -> str:
    """A home-made pool in a class with many methods that use each other."""
    body = "".join(
        f"    def use{n}(self):\n        one = self.get()\n        try:\n            self.help{n}(one)\n"
        f"        finally:\n            self.put(one)\n\n    def help{n}(self, one):\n        one.run({n})\n\n"
        for n in range(4 * count)
    )
    return (
        "class Pool:\n    def __init__(self):\n        self._idle = [make() for _ in range(4)]\n\n"
        "    def get(self):\n        return self._idle.pop()\n\n    def put(self, one):\n"
        f"        self._idle.append(one)\n\n{body}"
    )


KINDS: tuple[Callable[[int], str], ...] = (functions, borrows, branches, finals, statements, methods)


def seconds(text: str, runs: int) -> float:
    """Return the least CPU seconds of the analysis."""
    tree = ast.parse(text)
    found = []
    for _ in range(runs):
        start = time.process_time()
        check_text(text, "growth.py", Settings(), tree)
        found.append(time.process_time() - start)
    return min(found)


def exponent(points: list[tuple[int, float]]) -> float:
    """Return the slope of the least-squares line through the logarithms."""
    xs = [math.log(size) for size, _ in points]
    ys = [math.log(value) for _, value in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / sum((x - mean_x) ** 2 for x in xs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--most", type=int, default=64)
    arguments = parser.parse_args()
    seconds(functions(1), 1)
    for kind in KINDS:
        points = []
        size = 1
        while size <= arguments.most:
            points.append((size, seconds(kind(size), arguments.runs)))
            size *= 2
        row = " ".join(f"{value * 1e3:8.1f}" for _, value in points)
        print(f"{kind.__name__:10} exponent {exponent(points):.2f}   ms: {row}", flush=True)


if __name__ == "__main__":
    main()
