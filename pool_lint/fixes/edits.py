"""The difference of two texts as edits, and edits applied to a text."""

from __future__ import annotations

import difflib
import io
from typing import TYPE_CHECKING

from pool_lint.finding import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable


def edits_between(old: str, new: str) -> tuple[Edit, ...]:
    """The lines that differ, each run of them as one edit."""
    before, after = lines_of(old), lines_of(new)
    found = []
    for tag, start, stop, low, high in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if stop == len(before) and before and not before[-1].endswith("\n"):
            end = (len(before), len(before[-1]))
        else:
            end = (stop + 1, 0)
        first = (start + 1, 0) if start < len(before) or not before or before[-1].endswith("\n") else end
        found.append(Edit(*first, *end, "".join(after[low:high])))
    return tuple(found)


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap."""
    lines = lines_of(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for edit in sorted(edits, reverse=True):
        begin = starts[edit.line - 1] + edit.column
        end = starts[edit.end_line - 1] + edit.end_column
        text = text[:begin] + edit.text + text[end:]
    return text


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them: broken at newlines only, not at form feeds and the like."""
    return list(io.StringIO(text))
