"""The reset of a pooled object leaves a part of its state behind.

A reset that looks complete is trusted: whoever borrows next starts with what it has missed.

Bad:

    import io
    from collections import deque

    idle = deque(maxlen=8)

    def render(rows):
        out = idle.pop() if idle else io.StringIO()
        try:
            for row in rows:
                out.write(row)
            return out.getvalue()
        finally:
            out.seek(0)
            idle.append(out)

Good:

    import io
    from collections import deque

    idle = deque(maxlen=8)

    def render(rows):
        out = idle.pop() if idle else io.StringIO()
        try:
            for row in rows:
                out.write(row)
            return out.getvalue()
        finally:
            out.seek(0)
            out.truncate()
            idle.append(out)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.rules.base import Rule
from pool_lint.rules.leftovers import found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL202",
    name="reset-leaves-state",
    message="this reset of the {item} of '{pool}' leaves {state}: reset that too",
    cwe=459,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each reset that misses something."""
    yield from found(module, RULE, "partial")
