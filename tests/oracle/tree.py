"""A program under construction: blocks of statements that can be edited."""

# A function is named and described for what it returns.
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Block = list["Stmt"]


@dataclass(slots=True)
class Compound:
    """A statement with blocks: each header with its body."""

    parts: list[tuple[str, Block]]


Stmt = str | Compound


def positions(block: Block) -> list[tuple[Block, int]]:
    """Every statement: the block it stands in and its index."""
    found: list[tuple[Block, int]] = []
    for index, statement in enumerate(block):
        found.append((block, index))
        if isinstance(statement, Compound):
            for header, body in statement.parts:
                if not header.startswith("match"):
                    found += positions(body)
                else:
                    for case in body:
                        if isinstance(case, Compound):
                            found += positions(case.parts[0][1])
    return found


def render(block: Sequence[Stmt], indent: str) -> list[str]:
    """The lines of a block."""
    lines: list[str] = []
    for statement in block:
        if isinstance(statement, str):
            lines.append(indent + statement)
            continue
        for header, body in statement.parts:
            lines.append(indent + header)
            lines += render(body or ["pass"], indent + "    ")
    return lines
