"""Which findings are wanted and with which settings: the options that commands share."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.codes import INTERNAL_ERROR, OFF_BY_DEFAULT
from pool_lint.commands.base import complain
from pool_lint.config import MAY_RAISE, Settings, load_settings, override, override_costs

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Selection:
    """Which codes are wanted, by prefix, as flake8 weighs them: the longer prefix wins, on a tie the ignore."""

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def wants(self, code: str) -> bool:
        """Return whether findings of this code are reported."""
        chosen = _longest(code, (*self.select, *self.extend_select))
        if _longest(code, self.ignore) >= max(chosen, 1):
            return False
        return chosen > 0 or not (self.select or (code in OFF_BY_DEFAULT and code != INTERNAL_ERROR))


def declare_selection(parser: argparse.ArgumentParser) -> None:
    """Declare the options that select codes."""
    for name, text in (
        ("select", "report only these codes or prefixes, comma-separated"),
        ("extend-select", "report these too: how an opt-in rule is switched on"),
        ("ignore", "do not report these"),
    ):
        parser.add_argument(f"--{name}", type=_codes, default=(), metavar="CODES", help=text)


def declare_settings(parser: argparse.ArgumentParser) -> None:
    """Declare the options that override settings of pyproject.toml."""
    parser.add_argument("--may-raise", choices=MAY_RAISE, help="what is taken to raise")
    parser.add_argument("--margin", metavar="FACTOR", help="by how much pooling must lose to be reported")
    parser.add_argument("--threads", metavar="N", help="how many threads contend for a pool")
    parser.add_argument("--profile", metavar="FILE", help="the measured costs to use")


def selection_of(arguments: argparse.Namespace) -> Selection:
    """Return the selection that was asked for."""
    return Selection(arguments.select, arguments.extend_select, arguments.ignore)


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return the settings of pyproject.toml and, over them, those that were asked for."""
    settings = override(load_settings(Path.cwd()), arguments.may_raise, None, "--")
    settings = override_costs(settings, arguments.margin, arguments.threads, arguments.profile, "--")
    if settings.profile:
        from pool_lint.cost.profile import find_profile, foreign_note  # noqa: PLC0415 - not where none is named

        # what is named is read at once, so that a broken file is said before the first finding
        note = foreign_note(find_profile(settings.profile))
        # one that a team committed is meant for all interpreters; one that is asked for by name may be a slip
        if note and arguments.profile:
            complain(note)
    return settings


def _codes(text: str) -> tuple[str, ...]:
    codes = tuple(code for code in re.split(r"[,\s]+", text.strip()) if code)
    for code in codes:
        if not re.fullmatch(r"P|PO|POL\d{0,3}", code):
            raise argparse.ArgumentTypeError(f"{code!r} is not a code of pool_lint or the beginning of one")
    return codes


def _longest(code: str, prefixes: Iterable[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)
