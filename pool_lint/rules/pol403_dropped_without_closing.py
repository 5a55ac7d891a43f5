"""Connections are kept in something that drops them without closing.

A cache throws out what was used longest ago, a weak reference goes with its last user; the connection that was
dropped stays open on the server until a finalizer runs, if there is one at all, and may be closed under somebody
who still uses it.

Bad:

    import functools
    import smtplib

    @functools.lru_cache(maxsize=16)
    def mailer(host):
        return smtplib.SMTP(host)

Good:

    import smtplib
    from collections import OrderedDict

    class Mailers:
        def __init__(self, most=16):
            self._open = OrderedDict()
            self._most = most

        def mailer(self, host):
            found = self._open.get(host)
            if found is None:
                if len(self._open) >= self._most:
                    _, oldest = self._open.popitem(last=False)
                    oldest.quit()
                found = self._open[host] = smtplib.SMTP(host)
            return found
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.rules.base import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding

RULE = Rule(
    code="POL403",
    name="dropped-without-closing",
    message="{what} connections ({opens}) without closing them: keep them in a mapping that closes what it throws out",
    cwe=404,
)


def check(module: ModuleAnalysis) -> Iterator[Finding]:
    """Yield a finding for each such container or function."""
    for fault in module.bounds.dropped:
        yield RULE.at(fault.line, fault.col, what=fault.what, opens=fault.opens)
