"""A rule's documentation, taken from its docstring: one summary line, prose, examples headed ``Bad:`` and ``Good:``."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pool_lint.rules.base import LoadedRule

# The names that MITRE's list gives to the weaknesses which rules are instances of.
CWE_NAMES = {
    226: "Sensitive Information in Resource Not Removed Before Reuse",
    362: "Concurrent Execution using Shared Resource with Improper Synchronization ('Race Condition')",
    404: "Improper Resource Shutdown or Release",
    416: "Use After Free",
    457: "Use of Uninitialized Variable",
    459: "Incomplete Cleanup",
    672: "Operation on a Resource after Expiration or Release",
    675: "Multiple Operations on Resource in Single-Operation Context",
    763: "Release of Invalid Pointer or Reference",
    770: "Allocation of Resources Without Limits or Throttling",
    772: "Missing Release of Resource after Effective Lifetime",
    833: "Deadlock",
    1176: "Inefficient CPU Computation",
}
_EXAMPLE = re.compile(r"^(Bad|Good):\n((?:[ ]+.*\n|\n)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Documentation:
    """What is said of a rule: ``examples`` are pairs of heading and code, in the order in which they stand."""

    summary: str
    prose: str
    examples: tuple[tuple[str, str], ...]


def documentation(rule: LoadedRule) -> Documentation:
    """Return the parts of a rule's docstring, with code marked as in Markdown."""
    doc = f"{textwrap.dedent(rule.doc)}\n"
    examples = tuple((heading, textwrap.dedent(block).strip("\n") + "\n") for heading, block in _EXAMPLE.findall(doc))
    summary, _, rest = _EXAMPLE.sub("", doc).replace("``", "`").partition("\n")
    return Documentation(summary, re.sub(r"\n{3,}", "\n\n", rest).strip("\n"), examples)


def facts_of(rule: LoadedRule) -> tuple[str, ...]:
    """Return what a reader wants to know beside the text: the weakness, and whether the rule is on."""
    state = f"off until it is selected, as with --extend-select={rule.code}" if rule.opt_in else "on"
    return (f"CWE-{rule.cwe}: {CWE_NAMES[rule.cwe]}", f"by default: {state}", f"silenced by: # noqa: {rule.code}")


def as_text(rule: LoadedRule, *more: str) -> str:
    """Return the documentation as plain text; ``more`` are further facts."""
    doc = documentation(rule)
    parts = [f"{rule.code} {rule.name}", doc.summary, doc.prose]
    parts += [f"{heading}:\n\n{textwrap.indent(code, '    ').rstrip()}" for heading, code in doc.examples]
    return "\n\n".join(part for part in (*parts, "\n".join((*facts_of(rule), *more))) if part) + "\n"


def as_markdown(rule: LoadedRule, *more: str) -> str:
    """Return the documentation as Markdown; ``more`` are further facts."""
    doc = documentation(rule)
    parts = [f"# {rule.code} {rule.name}", doc.summary, doc.prose]
    parts += [f"{heading}:\n\n```python\n{code}```" for heading, code in doc.examples]
    facts = "\n".join(f"- {fact}" for fact in (*facts_of(rule), *more))
    return "\n\n".join(part for part in (*parts, facts) if part) + "\n"
