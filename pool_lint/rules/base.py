"""What a rule is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint.finding import Finding, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pool_lint.analysis import ModuleAnalysis


@dataclass(frozen=True, slots=True)
class Rule:
    """A code, its name, its message (a format string), the weakness it is an instance of (CWE number).

    ``opt_in``: off until a user selects it.
    """

    code: str
    name: str
    message: str
    cwe: int
    opt_in: bool = False

    def at(
        self,
        line_: int,
        column: int,
        /,
        *,
        path: tuple[tuple[int, str], ...] = (),
        function: str = "",
        **parts: object,
    ) -> Finding:
        """A finding of this rule; ``parts`` fill the message."""
        steps = tuple(Step(where, what) for where, what in path)
        return Finding(line_, column, self.code, self.message.format(**parts), steps, function)


@dataclass(frozen=True, slots=True)
class LoadedRule:
    """A rule with its documentation and its check."""

    rule: Rule
    doc: str
    check: Callable[[ModuleAnalysis], Iterator[Finding]]

    @property
    def code(self) -> str:
        """What flake8 selects the rule by."""
        return self.rule.code

    @property
    def name(self) -> str:
        """What people call the rule, in words joined by hyphens."""
        return self.rule.name

    @property
    def message(self) -> str:
        """The format string that each finding fills."""
        return self.rule.message

    @property
    def opt_in(self) -> bool:
        """Whether the rule is off until a user selects it."""
        return self.rule.opt_in

    @property
    def cwe(self) -> int:
        """The number of the weakness in the CWE list."""
        return self.rule.cwe
