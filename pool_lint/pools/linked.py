"""What other modules of a project add to a file: their statements, under names that no file can write itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pool_lint import ir

# A name `pool` of another module is called `pool@app/db.py`, and one that is no module's own (`len`), `len@`.
MARK = "@"


@dataclass(slots=True, eq=False)
class Linked:
    """Statements of other modules.

    ``body``: those of their top levels; ``functions`` and ``classes``: all of them, nested ones too.
    ``homes``: the mark of the module in which each function and class stands.  ``stubs``: the functions of which
    only the types are known.  ``own``: the names of the file itself, under the names by which the others know them.
    """

    body: list[ir.Stmt] = field(default_factory=list)
    functions: list[ir.Function] = field(default_factory=list)
    classes: list[ir.Klass] = field(default_factory=list)
    homes: dict[ir.Function | ir.Klass, str] = field(default_factory=dict)
    stubs: set[ir.Function] = field(default_factory=set)
    own: dict[str, str] = field(default_factory=dict)


def plain(name: str) -> str:
    """A name as its module writes it."""
    return name.partition(MARK)[0]
