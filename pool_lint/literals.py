"""Cut string literals, as they are written, into their pieces: what `ast` joins and libcst keeps apart.

Only valid source is cut; the text of what is not valid is never asked about.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

# None of these patterns can fail, so that none goes back: they take what they can and end there.
# What may stand between two tokens inside brackets.
_BLANK = re.compile(r"(?:[ \t\f\r\n\\]+|#[^\r\n]*)*")
_OPENING = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")")
_QUOTES = ("'", '"', "'''", '"""')


def _inner(quote: str) -> str:
    """Return the pattern of a quote that does not close a literal, as the last alternative."""
    return f"|{quote[0]}(?!{quote[1:]})" if len(quote) > 1 else ""


# The rest of a string up to its closing quote, and the text of an f-string up to a field or its closing quote.
_PLAIN = {quote: re.compile(rf"(?:[^\\{quote[0]}]+|\\.{_inner(quote)})*", re.DOTALL) for quote in _QUOTES}
_TEXT = {
    (quote, is_raw): re.compile(
        rf"(?:[^\\{{}}{quote[0]}]+|\{{\{{|\}}\}}|{named}\\(?:[^{{}}]|(?=[{{}}])){_inner(quote)})*", re.DOTALL
    )
    for quote in _QUOTES
    for is_raw, named in ((False, r"\\N\{[^}]*\}|"), (True, ""))
}
# What means nothing in the expression of a field; what a format specification holds besides fields.
_IN_FIELD = re.compile(r"[^'\"(){}\[\]:!#]*")
_SPEC = re.compile(r"[^{}]*")
_WORD = re.compile(r"\w*")
_COMMENT = re.compile(r"[^\r\n]*")
_PREFIXES = frozenset({"r", "b", "u", "f", "t", "br", "rb", "fr", "rf", "tr", "rt"})


@dataclass(frozen=True, slots=True)
class Field:
    """A replacement field: where its expression begins and ends, and the fields in its format specification."""

    start: int
    end: int
    nested: list[Field]


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of an f-string between two fields, as it is written."""

    start: int
    value: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One literal of an implicit concatenation; only an f-string (or t-string) has parts, and only it is formatted."""

    start: int
    end: int
    is_formatted: bool
    parts: list[Field | Text]


def after_blank(text: str, at: int) -> int:
    """Return where the next token begins, inside brackets."""
    match = _BLANK.match(text, at)
    return match.end() if match is not None else at


def pieces(text: str, start: int, end: int) -> list[Piece]:
    """Return the literals that are written one after another between two offsets."""
    found: list[Piece] = []
    at = start
    while at < end:
        piece = _piece(text, at)
        if piece is None:
            break
        found.append(piece)
        at = after_blank(text, piece.end)
    return found


def string_value(source: str) -> object:
    """Return the value of a literal; bytes, and what Python does not accept, stay as they are written."""
    try:
        value = _quietly(source) if "\\" in source else ast.literal_eval(source)
    except (SyntaxError, ValueError):
        return source
    return value if isinstance(value, str) else source


def _quietly(source: str) -> object:
    with warnings.catch_warnings():
        # an odd escape in somebody's string is not ours to report
        warnings.simplefilter("ignore")
        value: object = ast.literal_eval(source)
    return value


def _piece(text: str, start: int) -> Piece | None:
    opening = _OPENING.match(text, start)
    if opening is None:
        return None
    prefix, quote = opening[1].lower(), opening[2]
    at = opening.end()
    if "f" not in prefix and "t" not in prefix:
        return Piece(start, _end(_PLAIN[quote], text, at) + len(quote), is_formatted=False, parts=[])
    pattern = _TEXT[quote, "r" in prefix]
    parts: list[Field | Text] = []
    while True:
        end = _end(pattern, text, at)
        if end > at:
            parts.append(Text(at, text[at:end]))
        if text[end : end + 1] != "{":
            return Piece(start, end + len(quote), is_formatted=True, parts=parts)
        field, at = _field(text, end + 1)
        parts.append(field)


def _field(text: str, at: int) -> tuple[Field, int]:
    """Return the field that begins after its brace at ``at``, and where the text goes on."""
    start = after_blank(text, at)
    end = at = _expression_end(text, start)
    nested: list[Field] = []
    if text.startswith("!", at):
        at = after_blank(text, _end(_WORD, text, at + 1))
    if text.startswith(":", at):
        at = _end(_SPEC, text, at + 1)
        while text.startswith("{", at):
            inner, at = _field(text, at + 1)
            nested.append(inner)
            at = _end(_SPEC, text, at)
    expression = text[start:end].rstrip()
    if expression.endswith("="):  # `{x=}`; no expression ends with an operator
        expression = expression[:-1].rstrip()
    return Field(start, start + len(expression), nested), at + 1


def _expression_end(text: str, start: int) -> int:
    """Return where the expression of a field is followed by its conversion, its specification or its end."""
    at, depth = start, 0
    while True:
        at = _end(_IN_FIELD, text, at)
        char = text[at : at + 1]
        if char in {"'", '"'}:
            literal = _piece(text, _literal_start(text, start, at))
            at = literal.end if literal is not None else at + 1
        elif char == "#":
            at = _end(_COMMENT, text, at)
        elif char == "!" and text.startswith("=", at + 1):
            at += 2
        elif not char or (depth == 0 and char in "}:!"):
            return at
        else:
            depth += (char in "([{") - (char in ")]}")
            at += 1


def _literal_start(text: str, start: int, quote: int) -> int:
    """Return where a literal begins whose opening quote is known: there, or at its prefix."""
    at = quote
    while at > start and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return at if text[at:quote].lower() in _PREFIXES else quote


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match is not None else at
