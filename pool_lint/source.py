"""One parsed file."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.lower import lower_module, lower_text
from pool_lint.lower_ast import lower_ast

if TYPE_CHECKING:
    from pool_lint.ir import ModuleTree


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The libcst tree of a file, which fixes edit, and the small tree that the analysis reads."""

    module: cst.Module
    tree: ModuleTree


def parse(text: str) -> Source:
    """Return the parsed file; raises libcst.ParserSyntaxError where libcst cannot read it.

    Where libcst does not keep the text, lines and columns are those of Python's own tree.
    """
    module = cst.parse_module(text)
    return Source(module, lower_text(module, text) or _by_python(text) or lower_module(module))


def _by_python(text: str) -> ModuleTree | None:
    try:
        return lower_ast(ast.parse(text), text)
    except (SyntaxError, ValueError):
        return None
