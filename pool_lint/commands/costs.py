"""``pool-lint calibrate``, ``profile`` and ``explain-cost``: what pools and constructors cost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pool_lint.commands.base import CLEAN, Command, file_and_line, positive
from pool_lint.commands.inputs import parse_text, read_input
from pool_lint.commands.selection import declare_settings, settings_of

if TYPE_CHECKING:
    import argparse


def _declare_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="in about two seconds instead of five, less exactly")
    parser.add_argument("--python", metavar="EXE", help="the interpreter to measure (default: this one)")
    parser.add_argument("--threads", type=positive, default=8, metavar="N", help="the most threads at one pool")
    parser.add_argument("--output", "-o", metavar="FILE", help="where to write the profile, instead of the cache")
    parser.add_argument("--report", metavar="FILE", help="draw the heat map into a .svg or .html file")
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="MODULE:CLASS",
        help="import and construct this class too, with literal arguments in parentheses if it needs any",
    )
    parser.add_argument("--no-picture", action="store_true", help="no progress bar, no heat map")


def _declare_profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show", "diff", "merge"), help="what to do with them")
    parser.add_argument(
        "profiles", nargs="*", metavar="PROFILE", help="a file, or bundled-3.13; show: by default the one in force"
    )
    parser.add_argument("--output", "-o", metavar="FILE", help="where merge writes")


def _declare_explain_cost(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("place", metavar="FILE:LINE", help="the line on which the pool is built")
    declare_settings(parser)


def _calibrate(arguments: argparse.Namespace) -> int:
    from pool_lint.calibrate import run_calibrate  # noqa: PLC0415 - measuring and drawing load much

    return run_calibrate(arguments)


def _profile(arguments: argparse.Namespace) -> int:
    from pool_lint.calibrate import run_profile  # noqa: PLC0415 - as above

    return run_profile(arguments)


def _explain_cost(arguments: argparse.Namespace) -> int:
    from pool_lint.engine import explain_cost  # noqa: PLC0415 - the analysis is slow to load

    name, line = file_and_line(arguments.place)
    text = read_input(name)
    parse_text(text, name)
    sys.stdout.write(explain_cost(text, line, settings_of(arguments), name))
    return CLEAN


COMMANDS = (
    Command(
        "calibrate",
        "measure what pools and constructors cost here",
        _declare_calibrate,
        _calibrate,
        "The result is a profile, by which POL301 to POL303 judge pools. It is kept for this interpreter, "
        "or written to a file that a team commits.",
    ),
    Command(
        "profile",
        "show, compare or merge profiles",
        _declare_profile,
        _profile,
        "A merged profile holds for all the machines of those that went into it.",
    ),
    Command("explain-cost", "show the sum behind a verdict on a pool", _declare_explain_cost, _explain_cost),
)
