"""Draw the pictures of README.md, which are kept in ``.docs``.

usage: python -m tests.pictures
"""

from __future__ import annotations

import html
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.ansi import AnsiDecoder
from rich.console import Console

from pool_lint.cost.picture import heat_map, svg
from pool_lint.cost.profile import named_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.segment import Segment
    from rich.style import Style

    from pool_lint.cost.picture import HeatMap

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".docs"

PROFILE = "bundled-3.13"
# What most people would think of, of all that a profile knows: the whole map is too wide for a page.
SHAPES = ("list", "simple_queue", "list_lock", "condition", "queue")
CONSTRUCTORS = (
    "argparse.ArgumentParser()", "random.Random()", "bytearray(1048576)", "bytearray(262144)", "uuid.uuid4()",
    "json.JSONDecoder()", "zlib.compressobj()", "bytearray(65536)", "email.message.EmailMessage()",
    "fractions.Fraction(1, 3)", "collections.Counter()", "csv.writer(out)", "bytearray(16384)", "threading.RLock()",
    "bytearray(4096)", "hashlib.sha256()", "io.StringIO()", "bytearray(1024)", "threading.Lock()", "io.BytesIO()",
    "dict()", "object()",
)  # fmt: skip

TRACE = ("trace", "fixtures/examples/orders.py:total")
LETTER_W, LINE_H, SIDE, HEAD = 7.8, 19, 18, 44
# The colours of a terminal by number: on a light page, on a dark one.
COLOURS = {
    1: ("#c4322c", "#ff7b72"), 2: ("#16803c", "#56d364"), 3: ("#8a5a00", "#e3b341"), 4: ("#0550ae", "#79c0ff"),
    5: ("#8250df", "#d2a8ff"), 6: ("#0f6e84", "#56d4dd"),
    8: ("#59636e", "#8b949e"), 9: ("#c4322c", "#ff7b72"), 10: ("#16803c", "#56d364"), 11: ("#8a5a00", "#e3b341"),
    12: ("#0550ae", "#79c0ff"), 13: ("#8250df", "#d2a8ff"), 14: ("#0f6e84", "#56d4dd"),
}  # fmt: skip


def pictures() -> dict[str, str]:
    """Return the pictures by file name."""
    return {"finding.svg": finding(), "costs.svg": costs()}


def costs() -> str:
    """Return a part of the heat map of a bundled profile."""
    profile = named_profile(PROFILE)
    return svg([_part(heat_map(profile, threads)) for threads in (1, 8)], "What is worth pooling, in CPython 3.13")


def _part(heat: HeatMap) -> HeatMap:
    rows = tuple(row for row in heat.rows if row[0] in CONSTRUCTORS)
    return replace(heat, rows=rows, columns=tuple(column for column in heat.columns if column[0] in SHAPES))


def finding() -> str:
    """Return what ``pool-lint trace`` shows in a terminal."""
    colours = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")}
    done = subprocess.run(
        [sys.executable, "-m", "pool_lint", *TRACE],
        cwd=ROOT,
        env=environment | colours,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return _terminal(f"$ pool-lint {' '.join(TRACE)}", done.stdout)


def _terminal(command: str, output: str) -> str:
    console = Console(width=200)
    lines = [list(text.render(console)) for text in AnsiDecoder().decode(output.rstrip("\n"))]
    columns = max(len(command), *(sum(len(part.text) for part in line) for line in lines))
    width = round(columns * LETTER_W) + 2 * SIDE
    height = HEAD + (len(lines) + 2) * LINE_H + 8
    out = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{html.escape(command)}">'
        ),
        _style(),
        f'<rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        f'<path class="bar" d="M0.5 30.5H{width - 0.5}"/>',
        *(f'<circle class="dot" cx="{SIDE + number * 18}" cy="15.5" r="5.5"/>' for number in range(3)),
        _text(0, 0, command, "bold"),
    ]
    for row, line in enumerate(lines, start=2):
        out += _row(row, line)
    return "\n".join([*out, "</svg>\n"])


def _row(row: int, line: list[Segment]) -> Iterator[str]:
    column = 0
    for part in line:
        text = part.text.rstrip("\n")
        if text.strip():
            before = len(text) - len(text.lstrip())
            yield _text(row, column + before, text.strip(), _classes(part.style))
        column += len(text)


def _text(row: int, column: int, text: str, classes: str) -> str:
    """One run of letters, as wide as its columns are in whatever font the reader has."""
    x, y = SIDE + column * LETTER_W, HEAD + row * LINE_H + 13
    named = f' class="{classes}"' if classes else ""
    return f'<text{named} x="{x:.1f}" y="{y}" textLength="{len(text) * LETTER_W:.1f}">{html.escape(text)}</text>'


def _classes(style: Style | None) -> str:
    if style is None:
        return ""
    number = style.color.number if style.color is not None else None
    names = (f"c{number}" if number in COLOURS else "", "bold" if style.bold else "", "dim" if style.dim else "")
    return " ".join(name for name in names if name)


def _style() -> str:
    light, dark = ("".join(f".c{number}{{fill:{pair[of]}}}" for number, pair in COLOURS.items()) for of in (0, 1))
    return (
        "<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328;"
        "white-space:pre}.page{fill:#f6f8fa;stroke:#d1d9e0}.bar{stroke:#d1d9e0}.dot{fill:#d1d9e0}"
        f".bold{{font-weight:700}}.dim{{fill:#59636e}}{light}"
        "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117;stroke:#3d444d}.bar{stroke:#3d444d}"
        f".dot{{fill:#3d444d}}.dim{{fill:#8b949e}}{dark}}}</style>"
    )


def main() -> int:
    """Write the pictures."""
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
