"""Places in a text: offsets to lines and columns and back, and columns in bytes to columns in characters."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

# What Python takes for the end of a line; `str.splitlines` knows more.
_LINE_END = re.compile(r"\r\n|\r|\n")
_CONTINUES = re.compile(rb"[\x80-\xbf]")


class Places:
    """The lines of a text; they are looked for when a place is first asked about."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] = []
        self.wide = {} if text.isascii() else _wide_lines(text)

    def column(self, line: int, col: int) -> int:
        """Return the column in characters of one in bytes, as `ast` counts them."""
        if line in self.wide:
            return col - bisect_left(self.wide[line], col)
        return col

    def byte_column(self, line: int, col: int) -> int:
        """Return the column in bytes of one in characters."""
        if line in self.wide:
            start = self.offset(line, 0)
            return len(self._text[start : start + col].encode())
        return col

    def offset(self, line: int, col: int) -> int:
        """Return the offset of a line and a column in characters."""
        if not self._starts:
            self._starts = [0, *(end.end() for end in _LINE_END.finditer(self._text))]
        return self._starts[line - 1] + col

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line, and the column in characters, of an offset."""
        if not self._starts:
            self.offset(1, 0)
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]


def _wide_lines(text: str) -> dict[int, list[int]]:
    """Return the lines on which bytes and characters do not count the same: where bytes only continue a character."""
    return {
        number: [byte.start() for byte in _CONTINUES.finditer(line.encode())]
        for number, line in enumerate(_LINE_END.split(text), 1)
        if not line.isascii()
    }
