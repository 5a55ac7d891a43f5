"""Objects that never leave the function that borrows them cost less to create than to borrow.

Memory that is freed at once is handed out again at once, still mapped and warm: such an object is far cheaper than one
that is kept, for which the pool would pay.

Bad:

    import queue

    _buffers: queue.Queue[bytearray] = queue.Queue()
    for _ in range(4):
        _buffers.put(bytearray(16384))

    def checksum(stream):
        total = 0
        buffer = _buffers.get()
        try:
            while count := stream.readinto(buffer):
                total += sum(buffer[:count])
        finally:
            _buffers.put(buffer)
        return total

Good:

    def checksum(stream):
        total = 0
        buffer = bytearray(16384)
        while count := stream.readinto(buffer):
            total += sum(buffer[:count])
        return total
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.rules.base import Rule
from pool_lint.rules.worths import worth_finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL302",
    name="creation-cheaper-unescaped",
    message=(
        "an object that never leaves the function costs {new} to create and {borrow}{resetting} to borrow from "
        "'{pool}' and return (with n = {n}, {many} with n = 8; {kept} to create one that is kept, by profile "
        "{profile}): create it in the function"
    ),
    cwe=1176,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such pool."""
    for worth in module.worth(RULE.code):
        yield worth_finding(RULE, worth)
