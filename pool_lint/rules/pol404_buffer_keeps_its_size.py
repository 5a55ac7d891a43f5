"""A pooled buffer keeps the largest size that it ever had.

It is grown for the use at hand and goes back as it is.  After one huge request every later one holds that much memory
for good, times the number of buffers in the pool.  Drop what is above a limit, or cut it back, before it is returned.

Bad:

    from collections import deque

    _buffers = deque(bytearray(4096) for _ in range(4))

    def checksum(size, fill):
        buffer = _buffers.pop()
        try:
            if len(buffer) < size:
                buffer.extend(bytes(size - len(buffer)))
            view = memoryview(buffer)[:size]
            fill(view)
            return sum(view)
        finally:
            _buffers.append(buffer)

Good:

    from collections import deque

    _LARGEST = 1 << 20

    class Buffers:
        def __init__(self):
            self._idle = deque()

        def acquire(self):
            return self._idle.pop() if self._idle else bytearray(4096)

        def release(self, buffer):
            if len(buffer) <= _LARGEST:
                self._idle.append(buffer)

    def checksum(buffers: Buffers, size, fill):
        buffer = buffers.acquire()
        try:
            if len(buffer) < size:
                buffer.extend(bytes(size - len(buffer)))
            view = memoryview(buffer)[:size]
            fill(view)
            return sum(view)
        finally:
            buffers.release(buffer)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.bounds.growing import GrowingBuffers
from pool_lint.rules.base import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL404",
    name="buffer-keeps-its-size",
    message="{what}, grown on line {grown}, goes back to '{pool}' at its largest size: "
    "cut it back, or drop it above a limit",
    cwe=770,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each return of such a buffer."""
    for fault in GrowingBuffers(module.bounds).faults():
        yield RULE.at(
            fault.call.line,
            fault.call.col,
            function=fault.function.qualname if fault.function is not None else "",
            what=fault.what,
            grown=fault.grown,
            pool=fault.pool,
        )
