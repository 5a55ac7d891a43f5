"""``pool-lint check``: report findings, each with the path that leads to it."""

from __future__ import annotations

import importlib
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.baseline import as_json, known_fingerprints
from pool_lint.codes import OFF_BY_DEFAULT
from pool_lint.commands.base import CLEAN, FAILED, FOUND, Command, complain
from pool_lint.commands.inputs import STDIN, declare_jobs, each_file, parse_text, read_input
from pool_lint.commands.known import Known
from pool_lint.commands.selection import Selection, declare_selection, declare_settings, selection_of, settings_of
from pool_lint.config import override_baseline, project_root
from pool_lint.emit import text as plain
from pool_lint.files import PoolLintError, write_text
from pool_lint.report import Outcome, Reported

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from pool_lint.config import Settings
    from pool_lint.finding import Finding, Fix

# The module of each format; that of text is loaded always.
_EMITTERS = {"github": "github", "gitlab": "gitlab", "sarif": "sarif", "rdjson": "rdjson", "json": "records"}
FORMATS = ("text", *_EMITTERS)
# Those that can say how a finding is mended; for the others the fixes are not worked out.
_WITH_FIXES = frozenset(("sarif", "rdjson", "json"))


def check_file(
    path: str, settings: Settings, selection: Selection, stdin_name: str, *, with_fixes: bool = False
) -> Outcome:
    """Return the findings of one file, or of standard input, that are wanted and not silenced by a comment."""
    from pool_lint.engine import check_text  # noqa: PLC0415 - the analysis is slow to load and not always needed
    from pool_lint.fingerprint import anchors, relative_path  # noqa: PLC0415 - as above
    from pool_lint.noqa import without_silenced  # noqa: PLC0415 - as above

    name = stdin_name if path == STDIN else path
    try:
        text = read_input(path, name)
        tree = parse_text(text, name)
    except PoolLintError as error:
        return Outcome(name, error=str(error))
    found = check_text(text, name, settings, tree)
    if not found:
        return Outcome(name)
    where = anchors(found, text, relative_path(name, project_root(Path.cwd())), tree)
    wanted = without_silenced([finding for finding in found if selection.wants(finding.code)], text)
    fixes: dict[Finding, Fix] = {}
    if with_fixes:
        known = known_fingerprints(settings.baseline)
        new = [finding for finding in wanted if where[finding].fingerprint not in known]
        fixes = _fixes(text, name, settings, selection, new)
    return Outcome(name, tuple(Reported(each, where[each], fixes.get(each)) for each in wanted), text)


def _fixes(
    text: str, name: str, settings: Settings, selection: Selection, findings: list[Finding]
) -> dict[Finding, Fix]:
    from pool_lint.fixes.offer import fixes_of  # noqa: PLC0415 - only some formats have a place for fixes

    return fixes_of(text, name, settings, findings, lambda code: code not in OFF_BY_DEFAULT or selection.wants(code))


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, or - for standard input")
    parser.add_argument("--stdin-display-name", default="stdin", metavar="NAME", help="what to call standard input")
    declare_selection(parser)
    declare_settings(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to report (default: text)")
    parser.add_argument("--output", "-o", metavar="FILE", help="where to report, instead of standard output")
    parser.add_argument("--baseline", metavar="FILE", help="do not report the findings in this file")
    parser.add_argument("--write-baseline", action="store_true", help="write what is found to the baseline instead")
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="text: leave out the path that leads to each finding"
    )
    declare_jobs(parser)


def _run(arguments: argparse.Namespace) -> int:
    settings = override_baseline(settings_of(arguments), arguments.baseline, "--")
    selection = selection_of(arguments)
    check = partial(
        check_file,
        settings=settings,
        selection=selection,
        stdin_name=arguments.stdin_display_name,
        with_fixes=arguments.format in _WITH_FIXES,
    )
    outcomes = _Watched(each_file(check, arguments.paths, arguments.jobs))
    if arguments.write_baseline:
        return _write_baseline(arguments, settings, selection, outcomes)
    known = Known(Path(settings.baseline), selection) if settings.baseline else None
    outcomes.known = known
    pieces = _emitter(arguments)(outcomes)
    if arguments.output:
        # bytes of a file name that are no text are escaped as on standard output
        write_text(Path(arguments.output), "".join(pieces).encode("utf-8", "backslashreplace").decode())
    else:
        sys.stdout.writelines(pieces)
    stale = known.stale() if known is not None else 0
    if known is not None and stale:
        complain(f"{known.path}: entries that match nothing any more: {stale}; --write-baseline drops them")
    return outcomes.status


def _write_baseline(arguments: argparse.Namespace, settings: Settings, selection: Selection, outcomes: _Watched) -> int:
    if not settings.baseline:
        raise PoolLintError("--write-baseline: needs --baseline FILE, or the setting baseline")
    if arguments.output or arguments.format != "text":
        raise PoolLintError("--write-baseline: reports nothing, so --format and --output have no place with it")
    known = outcomes.known = Known(Path(settings.baseline), selection, must_exist=False)
    for _ in outcomes:
        pass
    entries = known.refreshed()
    write_text(known.path, as_json(entries))
    sys.stdout.write(f"{known.path}: {len(entries)} known findings\n")
    return FAILED if outcomes.status == FAILED else CLEAN


class _Watched:
    """What came of each file, passed on without what is known; complains of failures and keeps the exit status."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._outcomes = outcomes
        self.known: Known | None = None
        self.status = CLEAN

    def __iter__(self) -> Iterator[Outcome]:
        for outcome in self._outcomes:
            kept = outcome if self.known is None else self.known.without(outcome)
            if kept.error:
                complain(kept.error)
            self.status = max(self.status, FAILED if kept.error else FOUND if kept.reported else CLEAN)
            yield kept


def _emitter(arguments: argparse.Namespace) -> Callable[[Iterable[Outcome]], Iterator[str]]:
    if arguments.format == "text":
        return partial(_as_text, witness=not arguments.quiet)
    emit: Callable[[Iterable[Outcome]], Iterator[str]]
    emit = importlib.import_module(f"pool_lint.emit.{_EMITTERS[arguments.format]}").emit
    return emit


def _as_text(outcomes: Iterable[Outcome], *, witness: bool) -> Iterator[str]:
    for outcome in outcomes:
        yield plain.emit(outcome.path, (each.finding for each in outcome.reported), witness=witness)


COMMANDS = (
    Command(
        "check",
        "report findings, each with the path that leads to it",
        _declare,
        _run,
        "The exit status is 0 when nothing is found, 1 when something is, "
        "2 when a file or the configuration could not be read.",
    ),
)
