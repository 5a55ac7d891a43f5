"""The files that a command works on: found, read and parsed."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pool_lint.commands.base import positive
from pool_lint.files import PoolLintError, decode_source, one_line, read_source

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

Result = TypeVar("Result")
STDIN = "-"
SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})


def python_files(paths: Iterable[str]) -> list[str]:
    """Return the Python files that the arguments stand for, each once; what is named itself is never skipped."""
    return list(dict.fromkeys(file for path in paths for file in _files(path)))


def each_file(work: Callable[[str], Result], paths: Iterable[str], jobs: int) -> Iterator[Result]:
    """Yield what ``work`` makes of each file, in the order of the arguments, whatever finishes first."""
    files = python_files(paths)
    jobs = min(jobs, len(files))
    if jobs < 2 or STDIN in files:  # noqa: PLR2004 - one process is no pool
        yield from map(work, files)
        return
    with ProcessPoolExecutor(jobs) as executor:
        yield from executor.map(work, files)


def declare_jobs(parser: argparse.ArgumentParser) -> None:
    """Declare how many processes share the files."""
    parser.add_argument(
        "--jobs", "-j", type=positive, default=os.cpu_count() or 1, metavar="N", help="processes to use"
    )


def read_input(path: str, stdin_name: str = "stdin") -> str:
    """Return the text of a file or of standard input."""
    return decode_source(sys.stdin.buffer.read(), stdin_name) if path == STDIN else read_source(Path(path))


def parse_text(text: str, name: str) -> ast.AST:
    """Return Python's own tree of a text, or say why there is none."""
    try:
        with warnings.catch_warnings():
            # an odd escape in somebody's string is not ours to report
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else one_line(error)
        raise PoolLintError(f"{name}{line}: cannot be parsed and was not checked: {reason}") from error


def _files(path: str) -> Iterator[str]:
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
