"""Print findings as flake8 does, each with its witness indented below."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pool_lint.finding import Finding


def emit(path: str, findings: Iterable[Finding], *, witness: bool = True) -> str:
    """Return one line for each finding in ``path`` and, if asked for, one for each step that leads to it."""
    return "".join(f"{line}\n" for finding in findings for line in _lines(path, finding, witness=witness))


def _lines(path: str, finding: Finding, *, witness: bool) -> Iterator[str]:
    yield f"{path}:{finding.line}:{finding.column + 1}: {finding.code} {finding.message}"
    if witness:
        yield from (f"    line {step.line}: {step.text}" for step in finding.witness)
