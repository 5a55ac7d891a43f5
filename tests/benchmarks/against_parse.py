"""The whole analysis against libcst's parse alone: CPU time and peak memory, over the files that pass the filter.

usage: against_parse.py [--runs N] [--memory] FOLDER ...

A file passes that has what a rule could fire on (`pool_lint.prefilter`).  Both are timed in turn, in this process, and
the least of the runs counts.  ``--memory``: the peak of a process that analyses the largest such files against that of
one that only parses them.
"""

from __future__ import annotations

import argparse
import ast
import resource
import subprocess
import sys
import time
from pathlib import Path

from pool_lint.config import Settings
from pool_lint.engine import check_text
from pool_lint.files import PoolLintError, read_source
from pool_lint.prefilter import may_have_findings

SETTINGS = Settings()
LARGEST = 5


def passing(folders: list[str]) -> list[tuple[str, str]]:
    """Return path and text of the files that pass the filter."""
    found = []
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.py")) if Path(folder).is_dir() else [Path(folder)]:
            try:
                text = read_source(path)
                tree = ast.parse(text)
            except (PoolLintError, SyntaxError, ValueError, RecursionError):
                continue
            if may_have_findings(text, SETTINGS, tree):
                found.append((str(path), text))
    return found


def measure(text: str, path: str, *, whole: bool) -> float:
    """Return CPU seconds of the whole analysis, or of libcst's parse."""
    import libcst  # noqa: PLC0415 - a process that measures memory loads what it needs

    tree = ast.parse(text)
    start = time.process_time()
    if whole:
        check_text(text, path, SETTINGS, tree)
    else:
        libcst.parse_module(text)
    return time.process_time() - start


def times(files: list[tuple[str, str]], runs: int) -> None:
    """Print the ratio of all, and the files with the largest."""
    rows = []
    for path, text in files:
        both = [(measure(text, path, whole=False), measure(text, path, whole=True)) for _ in range(runs)]
        rows.append((min(each[0] for each in both), min(each[1] for each in both), path, text))
    parse, whole = sum(row[0] for row in rows), sum(row[1] for row in rows)
    with_findings = [row for row in rows if check_text(row[3], row[2], SETTINGS)]
    print(f"{len(rows)} files pass; libcst.parse_module {parse:.2f} s, whole analysis {whole:.2f} s of CPU time")
    print(f"ratio {whole / parse:.2f}")
    if with_findings:
        part = sum(row[1] for row in with_findings) / sum(row[0] for row in with_findings)
        print(f"of them with findings: {len(with_findings)}, ratio {part:.2f}")
    for row in sorted(rows, key=lambda row: -row[1] / row[0])[:LARGEST]:
        print(f"  {row[1] / row[0]:6.1f}  {row[1] * 1e3:8.1f} ms  {row[2]}")
    slow = [row for row in rows if row[1] > 2]
    print(f"over two seconds: {[row[2] for row in slow]}")


def memory(files: list[tuple[str, str]]) -> None:
    """Print the ratio of the peaks of two processes."""
    largest = [path for path, _ in sorted(files, key=lambda each: -len(each[1]))[:LARGEST]]
    parse, whole = (
        int(
            subprocess.run([sys.executable, __file__, "--peak", what, *largest], capture_output=True, check=True).stdout
        )
        for what in ("parse", "whole")
    )
    print(f"peak memory over the {LARGEST} largest: parse {parse >> 10} MiB, whole {whole >> 10} MiB")
    print(f"ratio {whole / parse:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--peak", choices=("parse", "whole"), help=argparse.SUPPRESS)
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    if arguments.peak:
        for path in arguments.folders:
            measure(read_source(Path(path)), path, whole=arguments.peak == "whole")
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return
    files = passing(arguments.folders)
    if arguments.memory:
        memory(files)
    else:
        times(files, arguments.runs)


if __name__ == "__main__":
    main()
