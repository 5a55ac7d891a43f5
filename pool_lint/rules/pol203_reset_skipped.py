"""The reset of a borrowed object is skipped when an exception is raised, and the object is returned all the same.

The reset stands in the body of the ``try``, the return in its ``finally``: after an error the next user gets the object
as the failed one left it.

Bad:

    import queue
    import plyara

    parsers = queue.LifoQueue(maxsize=2)
    for _ in range(2):
        parsers.put(plyara.Plyara())

    def rules(source):
        parser = parsers.get(timeout=5)
        try:
            found = parser.parse_string(source)
            parser.clear()
            return found
        finally:
            parsers.put(parser)

Good:

    import queue
    import plyara

    parsers = queue.LifoQueue(maxsize=2)
    for _ in range(2):
        parsers.put(plyara.Plyara())

    def rules(source):
        parser = parsers.get(timeout=5)
        try:
            return parser.parse_string(source)
        finally:
            try:
                parser.clear()
            finally:
                parsers.put(parser)
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
    code="POL203",
    name="reset-skipped-on-error",
    message=(
        "{item} borrowed from '{pool}' is returned without the reset of line {reset} when an exception is raised "
        "before it{skipped}: reset it in the finally"
    ),
    cwe=226,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each return that an exception reaches without the reset."""
    yield from found(module, RULE, "skipped")
