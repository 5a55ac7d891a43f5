"""After an error a connection goes back with no check, rollback or discard (opt-in).

The error may have left half a reply in the socket or a transaction open.  The next borrower reads the one or works in
the other, if the pool does not look at what comes back.

Bad:

    import queue
    import socket

    _links = queue.Queue(maxsize=2)
    for _ in range(2):
        _links.put(socket.create_connection(("printer", 9100)))

    def status():
        link = _links.get(timeout=5)
        try:
            link.sendall(b"STATUS")
            return link.recv(64)
        finally:
            _links.put(link)

Good:

    import queue
    import socket

    _links = queue.Queue(maxsize=2)
    for _ in range(2):
        _links.put(socket.create_connection(("printer", 9100)))

    def status():
        link = _links.get(timeout=5)
        try:
            link.sendall(b"STATUS")
            answer = link.recv(64)
        except BaseException:
            link.close()
            _links.put(socket.create_connection(("printer", 9100)))
            raise
        _links.put(link)
        return answer
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.bounds.broken import broken
from pool_lint.rules.base import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL407",
    name="broken-connection-returned",
    message="after an error the connection borrowed from '{pool}' on line {line} goes back unchecked: "
    "close it and put a new one in its place, or roll back",
    cwe=672,
    opt_in=True,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such return."""
    for each in broken(module.bounds, module.outcomes):
        yield RULE.at(
            each.call.line,
            each.call.col,
            function=each.function.qualname,
            pool=each.site.pool or "the pool",
            line=each.site.line,
        )
