"""``pool-lint explain``: the documentation of a rule."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING

from pool_lint.commands.base import CLEAN, Command
from pool_lint.commands.listings import listing
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pool_lint.rules.base import LoadedRule


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", nargs="*", metavar="RULE", help="a code or a name; without one, the rules are listed")
    parser.add_argument("--markdown", action="store_true", help="in Markdown")


def _run(arguments: argparse.Namespace) -> int:
    from pool_lint.rules import load_rules  # noqa: PLC0415 - rules load the analysis
    from pool_lint.rules.documentation import as_markdown, as_text  # noqa: PLC0415 - as above

    rules = load_rules()
    if not arguments.rules:
        sys.stdout.write(listing(rules))
        return CLEAN
    write = as_markdown if arguments.markdown else as_text
    asked = [_named(rules, name) for name in arguments.rules]
    sys.stdout.write("\n\n".join(write(rule, _fix_fact(rule.code)) for rule in asked))
    return CLEAN


def _fix_fact(code: str) -> str:
    """What a fix of a rule's findings is like."""
    from pool_lint.fixes.offer import FIXABLE, NEVER_SAFE  # noqa: PLC0415 - fixes load libcst

    if code not in FIXABLE:
        return "fixed by: hand; no edit is right everywhere"
    if code in NEVER_SAFE:
        return "fixed by: pool-lint fix --unsafe; what it writes in is a guess and wants a look"
    return "fixed by: pool-lint fix, where the path without errors stays as it was; else with --unsafe"


def _named(rules: Sequence[LoadedRule], name: str) -> LoadedRule:
    known = {key: rule for rule in rules for key in (rule.code, rule.name)}
    asked = name.upper() if name.upper() in known else name.lower()
    if asked in known:
        return known[asked]
    near = difflib.get_close_matches(name.upper(), [rule.code for rule in rules], n=1)
    near = near or difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"did you mean {near[0]}?" if near else "`pool-lint rules` lists them"
    raise PoolLintError(f"{name}: there is no such rule; {hint}")


COMMANDS = (
    Command(
        "explain",
        "show the documentation of a rule",
        _declare,
        _run,
        "Why it matters, a bad and a good example, its CWE, how it is silenced and fixed.",
    ),
)
