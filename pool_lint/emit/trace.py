"""Draw a function with what is believed of each borrowed object, and the path of each finding beneath it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from pool_lint import trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pool_lint.finding import Finding
    from pool_lint.trace import Belief, Handle

_STYLES = {
    trace.LOST: "bold red",
    trace.BORROWED: "yellow",
    trace.HANDED_ON: "cyan",
    trace.GIVEN_BACK: "green",
    trace.NOT_BORROWED: "dim",
}
# the first step of a path, those between, the last, the line that joins them
_GLYPHS, _PLAIN_GLYPHS = ("●", "○", "✗", "│"), ("o", "-", "x", "|")
_WIDEST = 88


def draw(
    title: str,
    lines: Mapping[int, str],
    beliefs: Mapping[int, Sequence[Belief]],
    findings: Iterable[tuple[Finding, str]],
    sources: Sequence[str],
) -> None:
    """Print the picture on standard output: in colour where that is a terminal, and NO_COLOR does not forbid it.

    ``lines`` are those of the function, ``sources`` all of the file; each finding has a remark, "" for none.
    """
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(title, "bold"))
    console.print()
    several = _same_names(belief.handle for each in beliefs.values() for belief in each)
    width = min(max(map(len, lines.values()), default=0), _WIDEST)
    for number, code in _highlighted(lines):
        row = Text.assemble((f"{number:5} ", "dim"), code)
        said = [_belief(belief, several) for belief in beliefs.get(number, ())]
        if said:
            row.append(" " * (width - len(code)))
            row.append("  ")
            row.append_text(Text("; ").join(said))
        console.print(row)
    for finding, remark in findings:
        console.print()
        _draw_path(console, finding, remark, sources)


def _highlighted(lines: Mapping[int, str]) -> list[tuple[int, Text]]:
    code = Syntax("", "python", theme="ansi_dark").highlight("\n".join(lines.values()))
    # what encloses text in a style must not change it: the lines are those that were given
    parts = code.split("\n", allow_blank=True)[: len(lines)]
    for part in parts:
        part.rstrip()
    return list(zip(lines, parts, strict=True))


def _same_names(handles: Iterable[Handle]) -> set[str]:
    """The names that several borrows share, whose lines are then told too."""
    borrows: dict[str, set[int]] = {}
    for handle in handles:
        borrows.setdefault(_name(handle), set()).add(handle.line)
    return {name for name, lines in borrows.items() if len(lines) > 1}


def _name(handle: Handle) -> str:
    return handle.names or f"{handle.item} of {handle.pool or 'a pool'}"


def _belief(belief: Belief, several: set[str]) -> Text:
    name = _name(belief.handle)
    where = f" of line {belief.handle.line}" if name in several else ""
    states = Text(" or ").join(Text(state, _STYLES[state]) for state in belief.states)
    said = Text.assemble(f"{name}{where} ", states)
    if belief.raising:
        said.append(", " if belief.states else "")
        said.append(f"lost if it {' or '.join(belief.raising)}", _STYLES[trace.LOST])
    return said


def _draw_path(console: Console, finding: Finding, remark: str, sources: Sequence[str]) -> None:
    head = Text.assemble((f"{finding.code} ", "bold red"), finding.message)
    console.print(head.append(f" ({remark})", "dim") if remark else head)
    first, between, last, joint = _GLYPHS if "utf" in console.encoding.lower() else _PLAIN_GLYPHS
    steps = finding.witness
    codes = [sources[step.line - 1].strip() if step.line <= len(sources) else "" for step in steps]
    width = min(max(map(len, codes), default=0), _WIDEST)
    for number, (step, code) in enumerate(zip(steps, codes, strict=True)):
        if number:
            console.print(Text(f"      {joint}", "red"))
        is_last = number == len(steps) - 1
        glyph = last if is_last else between if number else first
        style = "bold red" if is_last else "yellow"
        console.print(
            Text.assemble((f"{step.line:5} ", "dim"), (glyph, style), f" {code:{width}}  ", (step.text, style))
        )
