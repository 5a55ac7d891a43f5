"""Fix all that can be fixed in one text: one finding at a time, each time on what the last fix has left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint.engine import check_text
from pool_lint.fixes.offer import Offers
from pool_lint.noqa import without_silenced

if TYPE_CHECKING:
    from collections.abc import Callable

    from pool_lint.config import Settings
    from pool_lint.finding import Finding, Fix

_MOST_ROUNDS = 200


@dataclass(slots=True)
class Mended:
    """The text after all fixes; which they were; what was left, with the fix that somebody would have to look at.

    With each fix that was applied stands the text that it was applied to, in which its finding has its line.
    """

    text: str
    done: list[tuple[Finding, Fix, str]] = field(default_factory=list)
    left: list[tuple[Finding, Fix | None]] = field(default_factory=list)


def mend(
    text: str,
    path: str,
    settings: Settings,
    wants: Callable[[str], bool],
    reports: Callable[[str], bool],
    *,
    unsafe: bool = False,
) -> Mended:
    """Apply fixes in the order of the findings until none is left that may be applied.

    ``wants``: the codes to fix; ``reports``: those of which no fix may add one.
    """
    result = Mended(text)
    for _ in range(_MOST_ROUNDS):
        findings = check_text(result.text, path, settings)
        wanted = without_silenced([each for each in findings if wants(each.code)], result.text)
        offers = Offers(result.text, path, settings, findings, reports)
        result.left = []
        for finding in wanted:
            fix = offers.fix(finding)
            if fix is not None and (fix.safe or unsafe):
                result.done.append((finding, fix, result.text))
                result.text = offers.applied(fix)
                break
            result.left.append((finding, fix))
        else:
            break
    return result
