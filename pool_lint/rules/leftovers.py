"""Findings about objects that go back dirty: the rules 201, 202 and 203."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding
    from pool_lint.rules.base import Rule
    from pool_lint.typestate.dirt import Leftover


def found(module: ModuleAnalysis, rule: Rule, code: str) -> Iterator[Finding]:
    """The findings of one rule."""
    for leftover in module.leftovers:
        if leftover.code == code:
            yield rule.at(
                leftover.line,
                leftover.col,
                path=(
                    # a method that is given the object does not see the borrow
                    *([(leftover.borrowed, "borrowed")] if leftover.borrowed else []),
                    *((item.line, "changed") for item in leftover.states),
                    (leftover.line, "reset" if code == "partial" else "returned"),
                ),
                function=leftover.function.qualname,
                item=leftover.item,
                pool=leftover.pool,
                state=state_of(leftover),
                reset=leftover.reset,
                skipped=f" and leaves {state_of(leftover)}" if leftover.states else "",
            )


def state_of(leftover: Leftover) -> str:
    """What stays behind and where it was changed, in words."""
    parts = []
    for item in leftover.states[:3]:
        if item.text == "an open transaction":
            parts.append(f"a transaction begun on line {item.line}")
        elif item.path[:1] == ("db",) or item.value or item.text != "contents":
            parts.append(f"{item.text} set on line {item.line}")
        else:
            parts.append(f"{item.text} changed on line {item.line}")
    return " and ".join(parts)
