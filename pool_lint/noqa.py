"""Which findings a ``# noqa`` comment silences, decided as flake8 decides it."""

from __future__ import annotations

import io
import tokenize
from typing import TYPE_CHECKING

from flake8.defaults import NOQA_FILE
from flake8.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pool_lint.finding import Finding


def without_silenced(findings: Iterable[Finding], text: str) -> list[Finding]:
    """Return the findings in ``text`` that no ``# noqa`` or ``# flake8: noqa`` comment silences."""
    kept = list(findings)
    if "noqa" not in text.lower():
        return kept
    # str.splitlines would also break lines at form feeds and other separators, which Python does not
    lines = list(io.StringIO(text))
    if any(NOQA_FILE.match(line) for line in lines):
        return []
    joined = _joined_lines(lines)
    return [finding for finding in kept if not _is_silenced(finding, joined.get(finding.line, ""))]


def _is_silenced(finding: Finding, comment: str) -> bool:
    # flake8 reads the comment itself, so that both commands agree in every release of it
    violation = Violation(finding.code, "", finding.line, finding.column, finding.message, comment)
    return bool(violation.is_inline_ignored(disable_noqa=False))


def _joined_lines(lines: list[str]) -> dict[int, str]:
    """Map each line to the text in which its comment is sought: all lines that a string or a backslash joins."""
    found = dict(enumerate(lines, 1))
    first = 0
    try:
        for token in tokenize.generate_tokens(iter([*lines, ""]).__next__):
            if token.type in {tokenize.DEDENT, tokenize.ENDMARKER}:
                continue
            first = first or token.start[0]
            if token.type in {tokenize.NL, tokenize.NEWLINE}:
                last = token.end[0]
                found.update(dict.fromkeys(range(first, last + 1), "".join(lines[first - 1 : last])))
                first = 0
    except (tokenize.TokenError, SyntaxError):
        return dict(enumerate(lines, 1))
    return found
