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
