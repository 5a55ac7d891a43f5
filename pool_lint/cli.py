"""The command line: one parser over the commands of ``commands/``, and what happens when one of them fails."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from pool_lint import __version__
from pool_lint.commands import check, costs, explain, fix, listings, pools, trace
from pool_lint.commands.base import FAILED, FOUND, complain
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    *check.COMMANDS,
    *fix.COMMANDS,
    *listings.COMMANDS,
    *explain.COMMANDS,
    *trace.COMMANDS,
    *pools.COMMANDS,
    *costs.COMMANDS,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 nothing found, 1 findings, 2 something went wrong."""
    arguments = _parser().parse_args(argv)
    # a file name may hold bytes that the terminal's encoding cannot show
    for stream in (sys.stdout, sys.stderr):
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except PoolLintError as error:
        complain(str(error))
        return FAILED
    except BrokenPipeError:
        # the reader has seen enough; what is still buffered must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pool-lint",
        description="Find objects borrowed from a pool and not given back, and pools that are not worth it.",
        epilog="pool-lint COMMAND --help says more of each. Settings are read from [tool.pool_lint] of pyproject.toml.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        each = commands.add_parser(command.name, help=command.help, description=command.description)
        command.declare(each)
        each.set_defaults(run=command.run)
    return parser
