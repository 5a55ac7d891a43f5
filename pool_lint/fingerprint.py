"""What stays of a finding when the lines around it move: its function, its statement, its fingerprint.

The fingerprint is a hash of the code, the file's path, the qualified name of the innermost function or class around
the finding, the text of its statement without comments and white space, and how many findings of the same code and
text stand before it in that function.  Line numbers are no part of it, nor is the message.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
import re
import tokenize
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pool_lint.finding import Finding

_DIGITS = 32
_LINES = re.compile(r"(?<=\n)")
_TRAILING_COMMA = re.compile(r",(?=[)\]}])")


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a finding stands, in terms that survive an edit elsewhere; ``end_line`` is the last of its statement."""

    function: str
    statement: str
    end_line: int
    fingerprint: str


def anchors(findings: Iterable[Finding], text: str, path: str, tree: ast.AST | None = None) -> dict[Finding, Anchor]:
    """Return the anchor of each finding in a file; ``path`` is relative to the project (see ``relative_path``).

    All findings of the file are to be given, whatever is then reported: those of equal text are counted.
    """
    ordered = sorted(findings)
    if not ordered:
        return {}
    lines = _without_comments(text)
    index = _Index(ast.parse(text) if tree is None else tree)
    seen: Counter[tuple[str, str, str]] = Counter()
    found = {}
    for finding in ordered:
        function, first, last = index.place(finding.line)
        statement = " ".join("".join(lines[first - 1 : last]).split())
        squeezed = _TRAILING_COMMA.sub("", "".join(statement.split()).replace("'", '"'))
        key = (finding.code, function, squeezed)
        parts = "\0".join((finding.code, path, function, squeezed, str(seen[key])))
        digest = hashlib.sha256(parts.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
        found[finding] = Anchor(function, statement, last, digest)
        seen[key] += 1
    return found


def relative_path(path: str, root: Path) -> str:
    """Return a path as it stands in fingerprints and reports: relative to ``root`` where it can be, with slashes."""
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:
        # another drive
        return Path(path).as_posix()


class _Index:
    """The statements of a file by their lines."""

    def __init__(self, tree: ast.AST) -> None:
        self._tree = tree
        self._inside: dict[ast.AST, tuple[list[ast.stmt], list[int]]] = {}

    def place(self, line: int) -> tuple[str, int, int]:
        """The innermost function or class around a line, and the first and last line of the statement on it.

        Of a compound statement that is the part of its own: a header, between the bodies around it.
        """
        names: list[str] = []
        node, first, last = self._tree, line, line
        while True:
            statements, ends = self._statements(node)
            at = bisect_left(ends, line)
            found = statements[at] if at < len(statements) else None
            if found is None or _first(found) > line:
                if isinstance(node, ast.stmt):
                    first = max(first, ends[at - 1] + 1 if at else first)
                    last = _first(found) - 1 if found is not None else last
                    return ".".join(names), first, last
                return "", line, line
            if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.append(found.name)
            node, first, last = found, _first(found), ends[at]

    def _statements(self, node: ast.AST) -> tuple[list[ast.stmt], list[int]]:
        found = self._inside.get(node)
        if found is None:
            inner = list(statements_in(node))
            found = self._inside[node] = inner, [each.end_lineno or each.lineno for each in inner]
        return found


def _first(statement: ast.stmt) -> int:
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(each.lineno for each in decorators)])


def statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements directly inside a node, through handlers and cases."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        children: Sequence[ast.AST] = getattr(node, name, ())
        if not isinstance(children, list):
            # the body of a lambda or a conditional expression
            continue
        for child in children:
            if isinstance(child, ast.stmt):
                yield child
            else:
                yield from statements_in(child)


def _without_comments(text: str) -> list[str]:
    # str.splitlines would also break lines at form feeds and other separators, which Python does not
    lines = _LINES.split(text)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = f"{lines[row - 1][:column]}\n"
    except (tokenize.TokenError, SyntaxError):
        pass
    return lines
