"""The heat map of a profile: which constructors are worth pooling in which pool shape, as cells, text and SVG."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint.cost.model import written
from pool_lint.cost.statements import SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pool_lint.cost.profile import Profile

CELL_W, CELL_H = 46, 16
# Above the cells: the title of the picture, how to read it, whose map it is, the shapes at a slant, and their costs.
TOP = 152
READING = "what a constructor costs, in times of a borrow and a return; above the line pooling pays, before any reset"
# What follows the last column: the end of its slanting name.
RIGHT = 52
LETTER_W = 6.4
_LONGEST = 64
TITLES = {
    "simple_queue": "SimpleQueue", "list_lock": "list+Lock", "condition": "Condition", "semaphore": "Semaphore",
    "queue": "Queue", "lifo_queue": "LifoQueue", "thread_local": "local", "context_var": "ContextVar",
    "asyncio_queue": "asyncio.Queue", "asyncio_lock": "asyncio.Lock",
}  # fmt: skip


# Under each scheme a cell's own text is white: its colours are dark enough for that, and light enough for a dark page.
_STYLE = (
    "<style>text{font:11px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px}.title,.head{font-weight:600}"
    ".bg{fill:#ffffff}.cell{fill:#ffffff;font-size:10px;text-anchor:middle}.cost{font-size:10px;text-anchor:middle}"
    ".end{text-anchor:end}.halo,.line{fill:none;stroke:#ffffff;stroke-width:4.5}.line{stroke:#1f2328;stroke-width:2}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.bg{fill:#0d1117}.cell{fill:#ffffff}"
    ".halo{stroke:#0d1117}.line{stroke:#e6edf3}}</style>"
)


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Rows of constructors, the dearest first, and columns of pool shapes, the cheapest first, for one n.

    A cell is log2 of C_new over C_borrow(n): above 0 pooling pays, before any reset.
    """

    threads: int
    rows: tuple[tuple[str, float], ...]
    columns: tuple[tuple[str, float], ...]

    def cell(self, row: int, column: int) -> float:
        """log2 of how many times dearer the constructor is than the pool."""
        return math.log2(max(self.rows[row][1], 0.1) / max(self.columns[column][1], 0.1))

    def breaks(self) -> tuple[int, ...]:
        """For each column, how many rows are worth pooling: the break-even line runs below them."""
        return tuple(
            sum(self.cell(row, column) > 0 for row in range(len(self.rows))) for column in range(len(self.columns))
        )


def heat_map(profile: Profile, threads: int) -> HeatMap:
    """Return the heat map of a profile for pools with a method to take and one to give back."""
    rows = [
        (key.partition("/")[2], cost.mid)
        for key, cost in profile.costs.items()
        if key.startswith(("new/", "measured/"))
    ]
    columns = []
    for shape in SHAPES:
        cost = profile.borrow(shape, "method", threads)
        if cost is not None:
            columns.append((shape, cost.mid))
    return HeatMap(
        threads, tuple(sorted(rows, key=lambda row: (-row[1], row[0]))), tuple(sorted(columns, key=lambda one: one[1]))
    )


def colour(cell: float) -> str:
    """A colour from red (pooling loses eightfold) over grey to green (it pays eightfold), under white letters."""
    share = max(-1.0, min(1.0, cell / 3))
    base, end = (110, 112, 116), (22, 128, 60) if share > 0 else (196, 50, 44)
    mixed = (round(one + (two - one) * abs(share)) for one, two in zip(base, end, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def svg(maps: Sequence[HeatMap], title: str) -> str:
    """The heat maps side by side as one SVG picture, whose text follows the reader's light or dark scheme."""
    out: list[str] = []
    left = 0
    named: tuple[str, ...] = ()
    for each in maps:
        names = tuple(name for name, _ in each.rows)
        # a map of the same rows as the one before it needs no names of its own
        start = left + (20 if names == named else _label_width(names))
        out += _map(each, left + 10 if names != named else start, start, named=names != named)
        left, named = start + len(each.columns) * CELL_W + RIGHT, names
    width = max(left, round(len(READING) * LETTER_W) + 20, round(len(title) * LETTER_W * 1.4) + 20)
    height = TOP + max(len(each.rows) for each in maps) * CELL_H + 14
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{html.escape(title)}">'
    )
    background = f'<rect class="bg" width="{width}" height="{height}"/>'
    said = (_text(10, 24, title, "title"), _text(10, 46, READING))
    return "\n".join([head, _STYLE, background, *said, *out, "</svg>\n"])


def page(picture: str, title: str) -> str:
    """A web page that holds nothing but the picture."""
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta name="color-scheme" content="light dark">\n<title>{html.escape(title)}</title>\n'
        "<style>body{margin:16px;background:#ffffff}"
        "@media (prefers-color-scheme:dark){body{background:#0d1117}}</style>\n"
        f"{picture}</html>\n"
    )


def _label_width(names: Sequence[str]) -> int:
    """The room for the longest name of a row and the cost after it."""
    return round(max((len(_short(name)) for name in names), default=0) * LETTER_W) + 80


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def _map(heat: HeatMap, left: int, start: int, *, named: bool) -> list[str]:
    threads = "one thread" if heat.threads == 1 else f"{heat.threads} threads"
    out = [_text(left, 72, f"{threads} at the pool", "head")]
    for column, (shape, ns) in enumerate(heat.columns):
        x, y = start + column * CELL_W + CELL_W // 2, TOP - 22
        out.append(_text(x - 8, y, TITLES.get(shape, shape), turned=True))
        out.append(_text(x, TOP - 6, written(ns), "cost"))
    for row, (name, ns) in enumerate(heat.rows):
        y = TOP + row * CELL_H
        if named:
            out.append(_text(start - 62, y + 12, _short(name), "end"))
            out.append(_text(start - 8, y + 12, written(ns), "end"))
        for column in range(len(heat.columns)):
            cell = heat.cell(row, column)
            x = start + column * CELL_W
            out.append(f'<rect x="{x}" y="{y}" width="{CELL_W}" height="{CELL_H}" fill="{colour(cell)}"/>')
            out.append(_text(x + CELL_W // 2, y + 12, ratio_text(2**cell), "cell"))
    points = []
    for column, count in enumerate(heat.breaks()):
        y = TOP + count * CELL_H
        points += [f"{start + column * CELL_W},{y}", f"{start + (column + 1) * CELL_W},{y}"]
    out += [
        f'<polyline class="{each}" points="{" ".join(points)}"><title>break-even</title></polyline>'
        for each in ("halo", "line")
    ]
    return out


def _text(x: int, y: int, text: str, kind: str = "", *, turned: bool = False) -> str:
    named = f' class="{kind}"' if kind else ""
    slant = f' transform="rotate(-38 {x} {y})"' if turned else ""
    return f'<text{named} x="{x}" y="{y}"{slant}>{html.escape(text)}</text>'


def ratio_text(ratio: float) -> str:
    """A ratio in at most five characters."""
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x" if ratio >= 0.1 else "<0.1"  # noqa: PLR2004 - digits
