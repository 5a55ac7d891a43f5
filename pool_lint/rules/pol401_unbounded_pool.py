"""A home-made pool of connections has no limit on how many it opens or keeps.

Under load it opens a connection for every request that finds the pool empty, or one for every new key, until the
server refuses more or the process has no file descriptors left.  Count what is open, take a semaphore first, or fill a
bounded queue once.

Bad:

    import queue
    import socket

    class Links:
        def __init__(self, address):
            self._address = address
            self._idle = queue.LifoQueue(maxsize=8)

        def acquire(self):
            try:
                return self._idle.get_nowait()
            except queue.Empty:
                return socket.create_connection(self._address)

        def release(self, link):
            try:
                self._idle.put_nowait(link)
            except queue.Full:
                link.close()

Good:

    import queue
    import socket

    class Links:
        def __init__(self, address, size=8):
            self._idle = queue.LifoQueue(maxsize=size)
            for _ in range(size):
                self._idle.put(socket.create_connection(address))

        def acquire(self):
            return self._idle.get(timeout=10)

        def release(self, link):
            self._idle.put(link)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.rules.base import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL401",
    name="unbounded-pool",
    message="'{pool}' {what}: {remedy}",
    cwe=770,
)

_WHAT = {
    "empty": "opens a connection ({opens}) whenever none is idle, with no limit",
    "kept": "limits how many connections ({opens}) are kept, not how many are opened",
    "keys": "keeps a connection ({opens}) for every key that comes, with no limit",
    "arguments": "keeps a connection ({opens}) for every argument that comes, with no limit",
}
_REMEDY = {
    "empty": "take a semaphore or count what is open before opening another",
    "kept": "take a semaphore or count what is open before opening another",
    "keys": "close the one used longest ago when there are too many, or refuse unknown keys",
    "arguments": "keep them in a mapping of limited size that closes what it drops",
}


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such pool."""
    for fault in module.bounds.unbounded:
        yield RULE.at(
            fault.line,
            fault.col,
            pool=fault.pool,
            what=_WHAT[fault.how].format(opens=fault.opens),
            remedy=_REMEDY[fault.how],
        )
