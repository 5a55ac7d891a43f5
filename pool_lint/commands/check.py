"""``pool-lint check``: report findings, each with the path that leads to it."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pool_lint.commands.base import CLEAN, FAILED, FOUND, Command, complain, positive
from pool_lint.commands.inputs import STDIN, parse_text, python_files, read_input
from pool_lint.commands.selection import Selection, declare_selection, declare_settings, selection_of, settings_of
from pool_lint.emit.text import emit
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pool_lint.config import Settings
    from pool_lint.finding import Finding


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file: its findings, or what kept it from being checked."""

    path: str
    findings: tuple[Finding, ...] = ()
    error: str = ""


def check_file(path: str, settings: Settings, selection: Selection, stdin_name: str) -> Outcome:
    """Return the findings of one file, or of standard input, that are wanted and not silenced by a comment."""
    from pool_lint.engine import check_text  # noqa: PLC0415 - the analysis is slow to load and not always needed
    from pool_lint.noqa import without_silenced  # noqa: PLC0415 - as above

    name = stdin_name if path == STDIN else path
    try:
        text = read_input(path, name)
        tree = parse_text(text, name)
    except PoolLintError as error:
        return Outcome(name, error=str(error))
    findings = [finding for finding in check_text(text, name, settings, tree) if selection.wants(finding.code)]
    return Outcome(name, tuple(without_silenced(findings, text)))


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, or - for standard input")
    parser.add_argument("--stdin-display-name", default="stdin", metavar="NAME", help="what to call standard input")
    declare_selection(parser)
    declare_settings(parser)
    parser.add_argument("--quiet", "-q", action="store_true", help="leave out the path that leads to each finding")
    parser.add_argument(
        "--jobs", "-j", type=positive, default=os.cpu_count() or 1, metavar="N", help="processes to use"
    )


def _run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    status = CLEAN
    for outcome in _outcomes(arguments, settings, selection_of(arguments)):
        sys.stdout.write(emit(outcome.path, outcome.findings, witness=not arguments.quiet))
        if outcome.error:
            complain(outcome.error)
        status = max(status, FAILED if outcome.error else FOUND if outcome.findings else CLEAN)
    return status


def _outcomes(arguments: argparse.Namespace, settings: Settings, selection: Selection) -> Iterator[Outcome]:
    """Yield what came of each file, in the order of the arguments, whatever finishes first."""
    check = partial(check_file, settings=settings, selection=selection, stdin_name=arguments.stdin_display_name)
    files = python_files(arguments.paths)
    jobs = min(arguments.jobs, len(files))
    if jobs < 2 or STDIN in files:  # noqa: PLR2004 - one process is no pool
        yield from map(check, files)
        return
    with ProcessPoolExecutor(jobs) as executor:
        yield from executor.map(check, files)


COMMANDS = (Command("check", "report findings, each with the path that leads to it", _declare, _run),)
