"""The difference of two texts as edits, and edits applied to a text."""

from __future__ import annotations

import difflib
import io
from typing import TYPE_CHECKING

from pool_lint.finding import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable


def edits_between(old: str, new: str) -> tuple[Edit, ...]:
    """The lines that differ, each run of them as one edit.

    An edit takes whole lines; only at the end of a text without a last newline does it begin or end within one.
    """
    before, after = lines_of(old), lines_of(new)
    found = []
    for tag, start, stop, low, high in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            found.append(Edit(*_place(before, start), *_place(before, stop), "".join(after[low:high])))
    return tuple(found)


def _place(lines: list[str], index: int) -> tuple[int, int]:
    """Where a line begins; past the last one, where the text ends."""
    if index == len(lines) and lines and not lines[-1].endswith("\n"):
        return len(lines), len(lines[-1])
    return index + 1, 0


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap."""
    starts = [0]
    for line in lines_of(text):
        starts.append(starts[-1] + len(line))
    for edit in sorted(edits, reverse=True):
        begin = starts[edit.line - 1] + edit.column
        end = starts[edit.end_line - 1] + edit.end_column
        text = text[:begin] + edit.text + text[end:]
    return text


def old_line(old: str, new: str, line: int) -> int:
    """The line of ``old`` that a line of ``new`` came from."""
    matcher = difflib.SequenceMatcher(None, lines_of(old), lines_of(new), autojunk=False)
    for _, start, stop, low, high in matcher.get_opcodes():
        if low < line <= high:
            return min(start + line - low, max(stop, start + 1))
    return line


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them: broken at newlines only, not at form feeds and the like."""
    return list(io.StringIO(text))
