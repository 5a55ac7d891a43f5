"""``pool-lint pools``: every pool of a project, who borrows from it, how it is bounded, whether it pays."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.commands.base import CLEAN, FAILED, Command, complain
from pool_lint.commands.inputs import declare_jobs, each_file, parse_text, read_input
from pool_lint.commands.selection import declare_settings, settings_of
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from pool_lint.config import Settings
    from pool_lint.survey import FoundPool

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What came of one file: its pools, or what kept it from being read."""

    path: str
    pools: tuple[FoundPool, ...] = ()
    error: str = ""


def survey_file(path: str, settings: Settings) -> Surveyed:
    """Return the pools of one file."""
    from pool_lint.engine import ask, may_matter  # noqa: PLC0415 - the analysis is slow to load
    from pool_lint.survey import survey  # noqa: PLC0415 - as above

    try:
        text = read_input(path)
        tree = parse_text(text, path)
        if not may_matter(text, path, settings, tree):
            return Surveyed(path)
        return Surveyed(path, tuple(ask(survey, text, path, settings, tree)))
    except PoolLintError as error:
        return Surveyed(path, error=str(error))


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH", help="a file or a folder (default: this one)"
    )
    declare_settings(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to list them (default: text)")
    declare_jobs(parser)


def _run(arguments: argparse.Namespace) -> int:
    surveyed = list(each_file(partial(survey_file, settings=settings_of(arguments)), arguments.paths, arguments.jobs))
    sys.stdout.write(_as_json(surveyed) if arguments.format == "json" else _as_text(surveyed))
    for each in surveyed:
        if each.error:
            complain(each.error)
    return FAILED if any(each.error for each in surveyed) else CLEAN


def _as_text(surveyed: Iterable[Surveyed]) -> str:
    blocks = []
    for each in surveyed:
        for pool in each.pools:
            who = [f"{function} (line {', '.join(map(str, lines))})" for function, lines in pool.borrows.items()]
            rows = (
                f"{each.path}:{pool.line}:{pool.column + 1}: '{pool.name}', {pool.kind}: {pool.what}",
                f"    bounded by   {pool.bound}",
                f"    pays         {pool.worth}",
                f"    borrowed by  {', '.join(who) or 'nobody in this file'}",
            )
            blocks.append("".join(f"{row}\n" for row in rows))
    return "\n".join(blocks)


def _as_json(surveyed: Iterable[Surveyed]) -> str:
    pools = [{"path": Path(each.path).as_posix(), **_record(pool)} for each in surveyed for pool in each.pools]
    errors = [{"path": Path(each.path).as_posix(), "message": each.error} for each in surveyed if each.error]
    return json.dumps({"schema": SCHEMA, "pools": pools, "errors": errors}, indent=2) + "\n"


def _record(pool: FoundPool) -> dict[str, object]:
    record = asdict(pool)
    record["column"] += 1
    record["borrows"] = [{"function": function, "lines": lines} for function, lines in pool.borrows.items()]
    return record


COMMANDS = (
    Command(
        "pools",
        "list the pools of a project: who borrows, how each is bounded",
        _declare,
        _run,
        "And whether it pays to have it, where that can be told.",
    ),
)
