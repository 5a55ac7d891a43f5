"""Every file of some folders through the engine, in processes that may die: what crashed, hung or was given up on.

usage: robustness.py [--compare] [--jobs N] [--timeout S] [--findings FILE] FOLDER ...

Prints how many files there are, how many this Python cannot parse, how many pass the prefilter, each file that was
given up on with the reason, each that ended its process or did not end in time, and each that took more than two
seconds of CPU time although libcst's parse alone does not.

``--compare``: files that the prefilter stops are analysed all the same, on Python's own tree; a finding there is one
that the prefilter hides.  ``--findings``: where to write all findings.  The exit status is 1 when something crashed,
hung, was slow or was hidden.
"""

from __future__ import annotations

import argparse
import ast
import collections
import multiprocessing
import os
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.analysis import analyse
from pool_lint.codes import INTERNAL_ERROR
from pool_lint.config import Settings
from pool_lint.engine import check_text
from pool_lint.files import PoolLintError, read_source
from pool_lint.lower_ast import lower_ast
from pool_lint.prefilter import may_have_findings
from pool_lint.rules import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from pool_lint.finding import Finding

SETTINGS = Settings()
SLOW = 2.0
PROGRESS = 2000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file; ``status`` is "checked", "not Python", "crashed" or "hung"."""

    path: str
    status: str
    reason: str = ""
    passed: bool = False
    seconds: float = 0.0
    parse_seconds: float = 0.0
    found: tuple[Finding, ...] = ()
    hidden: tuple[Finding, ...] = ()
    not_compared: str = ""

    @property
    def slow(self) -> bool:
        """Whether the analysis, and not the parser, takes more than two seconds."""
        return self.seconds > SLOW >= self.parse_seconds


def checked(path: str, *, compare: bool) -> Outcome:
    """Return what the engine makes of one file."""
    try:
        text = read_source(Path(path))
        tree = ast.parse(text)
    except (PoolLintError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Outcome(path, "not Python", f"{type(error).__name__}: {error}")
    passed = may_have_findings(text, SETTINGS, tree)
    start = time.process_time()
    found = tuple(check_text(text, path, SETTINGS, tree))
    seconds = time.process_time() - start
    parse_seconds = parsing(text) if seconds > SLOW else 0.0
    hidden: tuple[Finding, ...] = ()
    not_compared = ""
    if compare and not passed:
        try:
            hidden = tuple(unfiltered(text, path, tree))
        except RecursionError:
            not_compared = "nested too deeply"
        except Exception as error:  # noqa: BLE001 - this run looks for such errors
            not_compared = f"{type(error).__name__}: {error}"
    return Outcome(path, "checked", "", passed, seconds, parse_seconds, found, hidden, not_compared)


def unfiltered(text: str, path: str, tree: ast.Module) -> list[Finding]:
    """Return what the analysis finds in a file that the prefilter stops."""
    module = analyse(lower_ast(tree, text), SETTINGS, path)
    return sorted({finding for rule in load_rules() for finding in rule.check(module)})


def parsing(text: str) -> float:
    """Return the CPU seconds of libcst's parse alone."""
    import libcst as cst  # noqa: PLC0415 - for the few files that are slow

    start = time.process_time()
    with suppress(cst.ParserSyntaxError, RecursionError):
        cst.parse_module(text)
    return time.process_time() - start


def work(pipe: Connection, *, compare: bool) -> None:
    """Answer for each path that comes through the pipe, until it is closed."""
    warnings.simplefilter("ignore")
    with suppress(EOFError):
        while True:
            pipe.send(checked(pipe.recv(), compare=compare))


class Worker:
    """A process that checks files one by one, and is replaced when it dies or does not answer in time."""

    def __init__(self, timeout: float, *, compare: bool) -> None:
        self._timeout = timeout
        self._compare = compare
        self._process: BaseProcess | None = None

    def ask(self, path: str) -> Outcome:
        """Return what became of one file."""
        if self._process is None:
            self._start()
        try:
            self._pipe.send(path)
            if self._pipe.poll(self._timeout):
                outcome: Outcome = self._pipe.recv()
                return outcome
        except (EOFError, OSError):
            return Outcome(path, "crashed", f"exit status {self._end()}")
        self._end()
        return Outcome(path, "hung", f"no answer within {self._timeout:.0f} s")

    def _start(self) -> None:
        self._pipe, other = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=work, args=(other,), kwargs={"compare": self._compare}, daemon=True)
        self._process.start()
        other.close()

    def _end(self) -> int | None:
        assert self._process is not None
        self._process.join(1)
        self._process.kill()
        self._process.join()
        status = self._process.exitcode
        self._process = None
        return status


def files(folders: list[str]) -> Iterator[str]:
    """The Python files of some folders; one that has been seen under another name is left out."""
    seen = set()
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.py")):
            real = os.path.realpath(path)
            if real not in seen and path.is_file():
                seen.add(real)
                yield str(path)


def outcomes(paths: list[str], jobs: int, timeout: float, *, compare: bool) -> Iterator[Outcome]:
    """What became of each file, in the order of the files."""

    def share(first: int) -> list[Outcome]:
        worker = Worker(timeout, compare=compare)
        mine = []
        for number, path in enumerate(paths[first::jobs], 1):
            mine.append(worker.ask(path))
            if number % PROGRESS == 0:
                print(f"{number} files", file=sys.stderr, flush=True)
        return mine

    with ThreadPoolExecutor(jobs) as threads:
        shares = list(threads.map(share, range(jobs)))
    for number in range(len(paths)):
        yield shares[number % jobs][number // jobs]


def report(done: list[Outcome]) -> bool:
    """Print what came of it; whether nothing went wrong."""
    read = [each for each in done if each.status == "checked"]
    given_up = [(each, found) for each in read for found in each.found if found.code == INTERNAL_ERROR]
    codes = collections.Counter(found.code for each in read for found in each.found)
    print(f"{len(done)} files, {sum(each.status == 'not Python' for each in done)} that this Python cannot parse")
    found = sum(bool(each.found) for each in read)
    print(f"{sum(each.passed for each in read)} pass the prefilter, {found} have findings")
    print(f"findings: {', '.join(f'{code} {count}' for code, count in sorted(codes.items())) or 'none'}")
    print(f"{sum(each.seconds for each in read):.1f} s of CPU time in the engine")
    slow = [each for each in read if each.slow]
    wrong: list[tuple[str, list[str]]] = [
        ("crashed", [f"{each.path}: {each.reason}" for each in done if each.status == "crashed"]),
        ("hung", [f"{each.path}: {each.reason}" for each in done if each.status == "hung"]),
        ("slow", [f"{each.path}: {each.seconds:.1f} s, libcst {each.parse_seconds:.1f} s" for each in slow]),
        ("hidden by the prefilter", [f"{each.path}:{shown(found)}" for each in read for found in each.hidden]),
        ("failed without the prefilter", [f"{each.path}: {each.not_compared}" for each in read if each.not_compared]),
    ]
    parts = [("given up", [f"{each.path}:{shown(found)}" for each, found in given_up]), *wrong]
    for title, lines in parts:
        print(f"{title}: {len(lines)}")
        for line in lines:
            print(f"  {line}")
    return not any(lines for _, lines in wrong)


def shown(found: Finding) -> str:
    """A finding after the name of its file."""
    return f"{found.line}:{found.column + 1}: {found.code} {found.message}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--findings", type=Path)
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    paths = list(files(arguments.folders))
    done = list(outcomes(paths, arguments.jobs, arguments.timeout, compare=arguments.compare))
    if arguments.findings:
        lines = [f"{each.path}:{shown(found)}\n" for each in done for found in each.found]
        arguments.findings.write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
    return 0 if report(done) else 1


if __name__ == "__main__":
    raise SystemExit(main())
