"""Write a fixed file: its encoding, line ends and permissions stay, and a reader never sees half of it."""

from __future__ import annotations

import io
import tokenize
from typing import TYPE_CHECKING

from pool_lint.fixes.edits import edits_between

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pool_lint.finding import Edit


def rewritten(data: bytes, before: str, after: str) -> bytes:
    """The bytes of a file of which ``before`` is the decoded text, changed into ``after``."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    raw = io.TextIOWrapper(io.BytesIO(data), encoding, newline="").read()
    return _with_edits(raw, edits_between(before, after)).encode(encoding)


def _with_edits(raw: str, edits: Iterable[Edit]) -> str:
    """A text after edits of whole lines; what is new gets the line end that most lines have."""
    lines = list(io.StringIO(raw, newline=""))
    ends = [line[len(line.rstrip("\r\n")) :] for line in lines]
    usual = max(("\n", "\r\n", "\r"), key=ends.count)
    for edit in sorted(edits, reverse=True):
        start, stop = edit.line - 1, edit.end_line - 1
        text = edit.text.replace("\n", usual)
        if edit.column:  # after a last line that has no line end
            lines.append(text)
        else:
            lines[start : stop + 1 if edit.end_column else stop] = [text]
    return "".join(lines)
