"""One parsed file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.lower import lower_module

if TYPE_CHECKING:
    from pool_lint.ir import ModuleTree


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The libcst tree of a file, which fixes edit, and the small tree that the analysis reads."""

    module: cst.Module
    tree: ModuleTree


def parse(text: str) -> Source:
    """Return the parsed file; raises libcst.ParserSyntaxError where libcst cannot read it."""
    module = cst.parse_module(text)
    return Source(module, lower_module(module))
