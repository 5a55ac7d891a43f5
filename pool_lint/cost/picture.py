"""The heat map of a profile: which constructors are worth pooling in which pool shape, as cells, text and SVG."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint.cost.model import written
from pool_lint.cost.statements import SHAPES

if TYPE_CHECKING:
    from pool_lint.cost.profile import Profile

CELL_W, CELL_H, LEFT, TOP = 46, 15, 260, 96
TITLES = {
    "simple_queue": "SimpleQueue", "list_lock": "list+Lock", "condition": "Condition", "semaphore": "Semaphore",
    "queue": "Queue", "lifo_queue": "LifoQueue", "thread_local": "local", "context_var": "ContextVar",
    "asyncio_queue": "asyncio.Queue", "asyncio_lock": "asyncio.Lock",
}  # fmt: skip


_STYLE = (
    "<style>text{font:11px sans-serif;fill:#1f2328}.bg{fill:#ffffff}.cell{fill:#ffffff;font-size:9px;"
    "text-anchor:middle}.line{fill:none;stroke:#1f2328;stroke-width:2.5}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.bg{fill:#0d1117}.cell{fill:#ffffff}"
    ".line{stroke:#e6edf3}}</style>"
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
    """A colour from red (pooling loses eightfold) over grey to green (it pays eightfold), legible on light and dark."""
    share = max(-1.0, min(1.0, cell / 3))
    base, end = (150, 150, 150), (46, 160, 67) if share > 0 else (207, 68, 60)
    mixed = (round(one + (two - one) * abs(share)) for one, two in zip(base, end, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def svg(maps: list[HeatMap], title: str) -> str:
    """The heat maps as one SVG picture, whose text follows the reader's light or dark scheme."""
    width = sum(LEFT + len(each.columns) * CELL_W + 30 for each in maps)
    height = TOP + max(len(each.rows) for each in maps) * CELL_H + 40
    out = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{html.escape(title)}">'
        ),
        _STYLE,
        f'<rect class="bg" width="{width}" height="{height}"/>',
        f'<text x="10" y="20" style="font-size:15px">{html.escape(title)}</text>',
    ]
    left = 0
    for each in maps:
        out += _map(each, left)
        left += LEFT + len(each.columns) * CELL_W + 30
    return "\n".join([*out, "</svg>\n"])


def _map(heat: HeatMap, left: int) -> list[str]:
    start = left + LEFT
    out = [f'<text x="{left + 10}" y="44">n = {heat.threads}: cost of the constructor over borrow and return</text>']
    for column, (shape, ns) in enumerate(heat.columns):
        x = start + column * CELL_W + CELL_W // 2
        label = f"{TITLES.get(shape, shape)} {written(ns)}"
        out.append(f'<text x="{x}" y="{TOP - 6}" transform="rotate(-28 {x} {TOP - 6})">{html.escape(label)}</text>')
    for row, (name, ns) in enumerate(heat.rows):
        y = TOP + row * CELL_H
        label = html.escape(f"{name}  {written(ns)}")
        out.append(f'<text x="{start - 6}" y="{y + 11}" text-anchor="end">{label}</text>')
        for column in range(len(heat.columns)):
            cell = heat.cell(row, column)
            x = start + column * CELL_W
            out.append(f'<rect x="{x}" y="{y}" width="{CELL_W}" height="{CELL_H}" fill="{colour(cell)}"/>')
            out.append(f'<text class="cell" x="{x + CELL_W // 2}" y="{y + 11}">{ratio_text(2**cell)}</text>')
    points = []
    for column, count in enumerate(heat.breaks()):
        y = TOP + count * CELL_H
        points += [f"{start + column * CELL_W},{y}", f"{start + (column + 1) * CELL_W},{y}"]
    out.append(f'<polyline class="line" points="{" ".join(points)}"><title>break-even</title></polyline>')
    bottom = TOP + len(heat.rows) * CELL_H + 18
    out.append(f'<text x="{start}" y="{bottom}">above the line pooling pays, before any reset</text>')
    return out


def ratio_text(ratio: float) -> str:
    """A ratio in at most five characters."""
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x" if ratio >= 0.1 else "<0.1"  # noqa: PLR2004 - digits
