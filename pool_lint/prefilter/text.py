"""Look for imports, method calls and their receivers in a text, without parsing it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"\w+")
_BLANKS = " \t\n\\\f"


def imported_words(text: str) -> set[str]:
    """Every word of every line that has the word ``import``: the packages imported, and some more."""
    found: set[str] = set()
    at = text.find("import")
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        while start > 1 and text[start - 2] == "\\":
            start = text.rfind("\n", 0, start - 1) + 1
        end = text.find("\n", at)
        while end > 0 and text[end - 1] == "\\":
            end = text.find("\n", end + 1)
        end = len(text) if end < 0 else end
        found.update(_WORD.findall(text, start, end))
        at = text.find("import", end)
    return found


def method_calls(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield each match of a pattern that begins with the dot of a method call, after the last name of its receiver.

    The name is "" where the receiver does not end in one, as in ``pools[key].pop()`` and ``pools().pop()``.
    """
    for match in pattern.finditer(text):
        yield name_before(text, match.start())[0], match


def name_before(text: str, end: int) -> tuple[str, int]:
    """The name that ends before a position, and where it begins; "" where there is none."""
    start = end = end_before(text, end)
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:end], start


def receiver_before(text: str, end: int) -> tuple[str, int]:
    """As `name_before`, and it may stand in parentheses; the last argument of a call is taken for such a name."""
    end = end_before(text, end)
    while end and text[end - 1] == ")":
        end = end_before(text, end - 1)
    return name_before(text, end)


def end_before(text: str, end: int) -> int:
    """Where what stands before a position ends, blanks, line ends and comments aside."""
    while end and text[end - 1] in _BLANKS:
        end -= 1
        if text[end] == "\n":
            comment = text.find("#", text.rfind("\n", 0, end) + 1, end)
            end = end if comment < 0 else comment
    return end


def any_word(words: tuple[str, ...], text: str) -> bool:
    """Whether one of the words stands in a text, as a part of a longer one too."""
    for word in words:  # noqa: SIM110 - a third faster than any() over a generator, and asked of every file
        if word in text:
            return True
    return False


def places_of(word: str, text: str) -> Iterator[int]:
    """Yield where a word stands in a text by itself."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and _is_part(text[at - 1])) and not (end < len(text) and _is_part(text[end])):
            yield at
        at = text.find(word, end)


def begins_word(at: int, text: str) -> bool:
    """Whether a word begins at a place: a pattern that asks so itself takes many times as long."""
    return at == 0 or not _is_part(text[at - 1])


def _is_part(char: str) -> bool:
    return char.isalnum() or char == "_"
