"""The command line: ``pool-lint check`` and the commands that tell what it knows and measures."""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint import __version__
from pool_lint.config import MAY_RAISE, Settings, load_settings, override, override_costs
from pool_lint.emit.text import emit
from pool_lint.files import PoolLintError, decode_source, one_line, read_source
from pool_lint.finding import INTERNAL_ERROR, OFF_BY_DEFAULT, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

CLEAN, FOUND, FAILED = 0, 1, 2
STDIN = "-"
SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file: its findings, or what kept it from being checked."""

    path: str
    findings: tuple[Finding, ...] = ()
    error: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 nothing found, 1 findings, 2 something went wrong."""
    arguments = _parser().parse_args(argv)
    # a file name may hold bytes that the terminal's encoding cannot show
    for stream in (sys.stdout, sys.stderr):
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    try:
        status = _COMMANDS[arguments.command](arguments)
        sys.stdout.flush()
    except PoolLintError as error:
        _complain(str(error))
        return FAILED
    except BrokenPipeError:
        # the reader has seen enough; what is still buffered must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pool-lint", description="Find objects borrowed from a pool and not returned."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="report findings, each with the path that leads to it")
    check.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, or - for standard input")
    check.add_argument("--stdin-display-name", default="stdin", metavar="NAME", help="what to call standard input")
    for name, text in (
        ("select", "report only these codes or prefixes, comma-separated"),
        ("extend-select", "report these too: how an opt-in rule is switched on"),
        ("ignore", "do not report these"),
    ):
        check.add_argument(f"--{name}", type=_codes, default=(), metavar="CODES", help=text)
    check.add_argument("--may-raise", choices=MAY_RAISE, help="what is taken to raise")
    check.add_argument("--margin", metavar="FACTOR", help="by how much pooling must lose to be reported")
    check.add_argument("--threads", metavar="N", help="how many threads contend for a pool")
    check.add_argument("--profile", metavar="FILE", help="the measured costs to use")
    check.add_argument("--quiet", "-q", action="store_true", help="leave out the path that leads to each finding")
    check.add_argument("--jobs", "-j", type=_jobs, default=os.cpu_count() or 1, metavar="N", help="processes to use")
    rules = commands.add_parser("rules", help="list the rules")
    rules.add_argument("--markdown", action="store_true", help="as the table in the README")
    libraries = commands.add_parser("libraries", help="list the libraries whose pools are known")
    libraries.add_argument("--markdown", action="store_true", help="as the table in the README")
    _add_cost_commands(commands)
    return parser


def _add_cost_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    calibrate = commands.add_parser("calibrate", help="measure what pools and constructors cost here")
    calibrate.add_argument("--quick", action="store_true", help="in two seconds instead of six, less exactly")
    calibrate.add_argument("--python", metavar="EXE", help="the interpreter to measure (default: this one)")
    calibrate.add_argument("--threads", type=_jobs, default=8, metavar="N", help="the most threads at one pool")
    calibrate.add_argument("--output", "-o", metavar="FILE", help="where to write the profile, instead of the cache")
    calibrate.add_argument("--report", metavar="FILE", help="draw the heat map into a .svg or .html file")
    calibrate.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="MODULE:CLASS",
        help="import and construct this class too, with literal arguments in parentheses if it needs any",
    )
    calibrate.add_argument("--no-picture", action="store_true", help="no progress bar, no heat map")
    profile = commands.add_parser("profile", help="show, compare or merge profiles")
    profile.add_argument("action", choices=("show", "diff", "merge"))
    profile.add_argument("profiles", nargs="*", metavar="PROFILE", help="a file, or bundled-3.13")
    profile.add_argument("--output", "-o", metavar="FILE", help="where merge writes")
    explain = commands.add_parser("explain-cost", help="show the sum behind a verdict on a pool")
    explain.add_argument("place", metavar="FILE:LINE", help="the line on which the pool is built")


def _calibrate(arguments: argparse.Namespace) -> int:
    from pool_lint.calibrate import run_calibrate  # noqa: PLC0415 - measuring and drawing load much

    return run_calibrate(arguments)


def _profile(arguments: argparse.Namespace) -> int:
    from pool_lint.calibrate import run_profile  # noqa: PLC0415 - as above

    return run_profile(arguments)


def _explain_cost(arguments: argparse.Namespace) -> int:
    from pool_lint.engine import explain_cost  # noqa: PLC0415 - the analysis is slow to load

    name, colon, line = arguments.place.rpartition(":")
    if not colon or not line.isdecimal():
        raise PoolLintError(f"{arguments.place}: must be FILE:LINE")
    text = read_source(Path(name))
    _parse(text, name)
    sys.stdout.write(explain_cost(text, int(line), load_settings(Path.cwd())))
    return CLEAN


def _codes(text: str) -> tuple[str, ...]:
    codes = tuple(code for code in re.split(r"[,\s]+", text.strip()) if code)
    for code in codes:
        if not re.fullmatch(r"P|PO|POL\d{0,3}", code):
            raise argparse.ArgumentTypeError(f"{code!r} is not a code of pool_lint or the beginning of one")
    return codes


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def _check(arguments: argparse.Namespace) -> int:
    settings = override(load_settings(Path.cwd()), arguments.may_raise, None, "--")
    settings = override_costs(settings, arguments.margin, arguments.threads, arguments.profile, "--")
    if settings.profile:
        from pool_lint.cost.profile import find_profile  # noqa: PLC0415 - not where none is named

        find_profile(settings.profile)
    selection = Selection(arguments.select, arguments.extend_select, arguments.ignore)
    status = CLEAN
    for outcome in _outcomes(arguments, settings, selection):
        sys.stdout.write(emit(outcome.path, outcome.findings, witness=not arguments.quiet))
        if outcome.error:
            _complain(outcome.error)
        status = max(status, FAILED if outcome.error else FOUND if outcome.findings else CLEAN)
    return status


def _outcomes(arguments: argparse.Namespace, settings: Settings, selection: Selection) -> Iterator[Outcome]:
    """Yield what came of each file, in the order of the arguments, whatever finishes first."""
    check = partial(check_file, settings=settings, selection=selection, stdin_name=arguments.stdin_display_name)
    files = list(dict.fromkeys(file for path in arguments.paths for file in _files(path)))
    jobs = min(arguments.jobs, len(files))
    if jobs < 2 or STDIN in files:  # noqa: PLR2004 - one process is no pool
        yield from map(check, files)
        return
    with ProcessPoolExecutor(jobs) as executor:
        yield from executor.map(check, files)


def _files(path: str) -> Iterator[str]:
    """Yield the Python files that an argument stands for; what is named itself is never skipped."""
    if path == STDIN or not Path(path).is_dir():
        yield path
        return
    yield from map(str, _walk(Path(path)))


def _walk(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        # reading it as a file fails too, and that is reported
        yield folder
        return
    for entry in entries:
        if entry.suffix == ".py" and entry.is_file():
            yield entry
        elif entry.is_dir() and not entry.is_symlink() and not _is_skipped(entry):
            yield from _walk(entry)


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in SKIPPED_FOLDERS or (folder / "pyvenv.cfg").exists()


def check_file(path: str, settings: Settings, selection: Selection, stdin_name: str) -> Outcome:
    """Return the findings of one file, or of standard input, that are wanted and not silenced by a comment."""
    from pool_lint.engine import check_text  # noqa: PLC0415 - the analysis is slow to load and not always needed
    from pool_lint.noqa import without_silenced  # noqa: PLC0415 - as above

    name = stdin_name if path == STDIN else path
    try:
        text = decode_source(sys.stdin.buffer.read(), name) if path == STDIN else read_source(Path(path))
        tree = _parse(text, name)
    except PoolLintError as error:
        return Outcome(name, error=str(error))
    findings = [finding for finding in check_text(text, name, settings, tree) if selection.wants(finding.code)]
    return Outcome(name, tuple(without_silenced(findings, text)))


def _parse(text: str, name: str) -> ast.AST:
    try:
        with warnings.catch_warnings():
            # an odd escape in somebody's string is not ours to report
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else one_line(error)
        raise PoolLintError(f"{name}{line}: cannot be parsed and was not checked: {reason}") from error


def _rules(arguments: argparse.Namespace) -> int:
    from pool_lint.rules import load_rules  # noqa: PLC0415 - rules load the analysis

    rows = [(rule.code, rule.name, rule.doc.partition("\n")[0], rule.opt_in) for rule in load_rules()]
    sys.stdout.write(_markdown(rows) if arguments.markdown else _listing(rows))
    return CLEAN


def _listing(rows: Iterable[tuple[str, str, str, bool]]) -> str:
    return "".join(
        f"{code}  {name}{' (opt-in)' if opt_in else ''}\n    {summary}\n" for code, name, summary, opt_in in rows
    )


def _markdown(rows: Iterable[tuple[str, str, str, bool]]) -> str:
    head = "| code | name | what it reports |\n| --- | --- | --- |\n"
    return head + "".join(
        f"| {code} | {name}{' (opt-in)' if opt_in else ''} | {summary} |\n" for code, name, summary, opt_in in rows
    )


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


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "check": _check,
    "rules": _rules,
    "libraries": _libraries,
    "calibrate": _calibrate,
    "profile": _profile,
    "explain-cost": _explain_cost,
}


def _complain(text: str) -> None:
    # what was found so far comes first, also where both streams end in one file
    sys.stdout.flush()
    sys.stderr.write(f"pool-lint: {text}\n")


def _longest(code: str, prefixes: Iterable[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)
