"""Findings: the values that rules give and emitters print."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """One step of a witness: a line of the path that breaks the rule, and what happens there."""

    line: int
    text: str


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One broken rule at one place.

    Lines count from 1, columns from 0.  The fields are in the order in which findings are sorted:
    two findings differ in line, column or code before anything else is compared.
    """

    line: int
    column: int
    code: str
    message: str
    witness: tuple[Step, ...] = ()
    function: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Text to put in place of a range of the file: lines from 1, columns in characters from 0, the end excluded."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that remove one finding, what they do in one line, and whether they keep the program's meaning.

    ``safe``: may be applied unseen; ``reason`` says in one line why it is, or why somebody must look.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool
    reason: str


def merged(edits: tuple[Edit, ...], text: str) -> Edit:
    """Return one edit of ``text`` that does what several do which do not overlap."""
    ordered = sorted(edits)
    first, last = ordered[0], ordered[-1]
    lines = text.split("\n")
    parts: list[str] = []
    line, column = first.line, first.column
    for edit in ordered:
        parts += (_between(lines, line, column, edit.line, edit.column), edit.text)
        line, column = edit.end_line, edit.end_column
    return Edit(first.line, first.column, last.end_line, last.end_column, "".join(parts))


def _between(lines: list[str], line: int, column: int, end_line: int, end_column: int) -> str:
    if line == end_line:
        return lines[line - 1][column:end_column]
    ending = lines[end_line - 1][:end_column] if end_line <= len(lines) else ""
    return "\n".join((lines[line - 1][column:], *lines[line : end_line - 1], ending))
