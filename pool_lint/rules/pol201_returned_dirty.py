"""A borrowed object is returned with a state that its next user will find.

What was set for one user (a header with a token, a tenant's schema, a flag) is in force for the next one, who did not
ask for it.  Nothing fails; it shows as somebody else's data.

Bad:

    import queue
    import requests

    sessions = queue.LifoQueue(maxsize=4)
    for _ in range(4):
        sessions.put(requests.Session())

    def profile(token):
        session = sessions.get(timeout=5)
        try:
            session.headers["Authorization"] = f"Bearer {token}"
            return session.get("https://profiles.example/me", timeout=10).json()
        finally:
            sessions.put(session)

    def directory():
        session = sessions.get(timeout=5)
        try:
            return session.get("https://profiles.example/all", timeout=10).json()
        finally:
            sessions.put(session)

Good:

    import queue
    import requests

    sessions = queue.LifoQueue(maxsize=4)
    for _ in range(4):
        sessions.put(requests.Session())

    def profile(token):
        session = sessions.get(timeout=5)
        try:
            session.headers["Authorization"] = f"Bearer {token}"
            return session.get("https://profiles.example/me", timeout=10).json()
        finally:
            session.headers.pop("Authorization", None)
            sessions.put(session)
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
    code="POL201",
    name="returned-dirty",
    message="{item} borrowed from '{pool}' is returned with {state}: reset it before the return",
    cwe=226,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each return that leaves such a state."""
    yield from found(module, RULE, "dirty")
