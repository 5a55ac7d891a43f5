"""``pool-lint rules`` and ``libraries``: what is reported, and about which pools."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pool_lint.commands.base import CLEAN, Command

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from pool_lint.rules.base import LoadedRule


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--markdown", action="store_true", help="as a table in Markdown")


def _rules(arguments: argparse.Namespace) -> int:
    from pool_lint.rules import load_rules  # noqa: PLC0415 - rules load the analysis

    sys.stdout.write(_markdown(load_rules()) if arguments.markdown else listing(load_rules()))
    return CLEAN


def listing(rules: Iterable[LoadedRule]) -> str:
    """Return the rules as two lines each: code and name, what it reports."""
    return "".join(f"{each.code}  {each.name}{_state(each)}\n    {_summary(each)}\n" for each in rules)


def _markdown(rules: Iterable[LoadedRule]) -> str:
    head = "| code | name | what it reports |\n| --- | --- | --- |\n"
    return head + "".join(f"| {each.code} | {each.name}{_state(each)} | {_summary(each)} |\n" for each in rules)


def _state(rule: LoadedRule) -> str:
    return " (opt-in)" if rule.opt_in else ""


def _summary(rule: LoadedRule) -> str:
    return rule.doc.partition("\n")[0]


def _libraries(arguments: argparse.Namespace) -> int:
    from pool_lint.catalog.load import load_catalog  # noqa: PLC0415 - only this command lists it

    found: dict[str, tuple[set[str], set[str], set[str]]] = {}
    for spec in load_catalog().specs:
        projects, borrows, limits = found.setdefault(spec.library, (set(), set(), set()))
        projects.update(spec.distributions)
        borrows.update(form.method for form in spec.borrows if not form.method.startswith("__"))
        limits.update(bound.param for bound in spec.bounds)
    rows = [(name, *(", ".join(sorted(part)) for part in parts)) for name, parts in sorted(found.items())]
    if arguments.markdown:
        sys.stdout.write("| library | PyPI | borrowed by | bounded by |\n| --- | --- | --- | --- |\n")
        sys.stdout.writelines(f"| {' | '.join(row)} |\n" for row in rows)
    else:
        sys.stdout.writelines(f"{name}: {borrows or '-'}\n" for name, _, borrows, _ in rows)
    return CLEAN


COMMANDS = (
    Command("rules", "list the rules", _declare, _rules, "`pool-lint explain CODE` says more of each."),
    Command(
        "libraries",
        "list the libraries whose pools are known",
        _declare,
        _libraries,
        "Each with the methods that borrow. Other pools are described in pyproject.toml.",
    ),
)
