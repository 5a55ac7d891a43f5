"""``pool-lint fix``: mend what can be mended, and say what was left and why."""

from __future__ import annotations

import difflib
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.codes import OFF_BY_DEFAULT
from pool_lint.commands.base import CLEAN, FAILED, FOUND, Command, complain
from pool_lint.commands.inputs import STDIN, parse_text, python_files
from pool_lint.commands.selection import declare_selection, declare_settings, selection_of, settings_of
from pool_lint.engine import may_matter
from pool_lint.files import PoolLintError, decode_source, write_bytes

if TYPE_CHECKING:
    import argparse
    from typing import TextIO

    from pool_lint.commands.selection import Selection
    from pool_lint.config import Settings
    from pool_lint.finding import Finding, Fix
    from pool_lint.fixes.apply import Mended


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, or - for standard input")
    parser.add_argument("--diff", action="store_true", help="print what would change and write nothing")
    parser.add_argument("--unsafe", action="store_true", help="apply also the fixes that somebody should look at")
    parser.add_argument("--stdin-display-name", default="stdin", metavar="NAME", help="what to call standard input")
    declare_selection(parser)
    declare_settings(parser)


def _run(arguments: argparse.Namespace) -> int:
    settings, selection = settings_of(arguments), selection_of(arguments)
    status = CLEAN
    for path in python_files(arguments.paths):
        status = max(status, _status_of(path, arguments, settings, selection))
    return status


def _status_of(path: str, arguments: argparse.Namespace, settings: Settings, selection: Selection) -> int:
    """Mend one file, or say why that failed: the others are mended all the same."""
    try:
        return _fix_file(path, arguments, settings, selection)
    except PoolLintError as error:
        complain(str(error))
    except RecursionError:
        complain(f"{path}: is nested too deeply and was not changed")
    return FAILED


def _fix_file(path: str, arguments: argparse.Namespace, settings: Settings, selection: Selection) -> int:
    """Mend one file; the status is that of `check` on what is there afterwards, of ``--diff`` whether it changes."""
    name = arguments.stdin_display_name if path == STDIN else path
    data = _read(path)
    text = decode_source(data, name)
    parse_text(text, name)
    mended = _mend(text, name, settings, selection, unsafe=arguments.unsafe)
    changed = mended is not None and mended.text != text
    if arguments.diff:
        if mended is not None and changed:
            sys.stdout.write(_diff(name, text, mended.text))
    elif path == STDIN:
        sys.stdout.write(mended.text if mended is not None else text)
    elif mended is not None and changed:
        from pool_lint.fixes.write import rewritten  # noqa: PLC0415 - only where something changes

        write_bytes(Path(path), rewritten(data, text, mended.text))
    if mended is None:
        return CLEAN
    _report(name, text, mended, sys.stderr if arguments.diff or path == STDIN else sys.stdout, diff=arguments.diff)
    return FOUND if (changed if arguments.diff else mended.left) else CLEAN


def _read(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise PoolLintError(f"{path}: cannot be read: {error.strerror or error}") from error


def _mend(text: str, name: str, settings: Settings, selection: Selection, *, unsafe: bool) -> Mended | None:
    if not may_matter(text, name, settings):
        return None
    from pool_lint.fixes.apply import mend  # noqa: PLC0415 - libcst is slow to load and most files have no pool

    def reports(code: str) -> bool:
        return code not in OFF_BY_DEFAULT or selection.wants(code)

    return mend(text, name, settings, selection.wants, reports, unsafe=unsafe)


def _diff(name: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(list(io.StringIO(before)), list(io.StringIO(after)), name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _report(name: str, text: str, mended: Mended, stream: TextIO, *, diff: bool) -> None:
    from pool_lint.fixes.edits import old_line  # noqa: PLC0415 - as above

    for finding, fix, before in mended.done:
        line = old_line(text, before, finding.line)
        stream.write(f"{name}:{line}: {finding.code} fixed: {fix.title}\n")
    for finding, offered in mended.left:
        line = old_line(text, mended.text, finding.line) if diff else finding.line
        stream.write(f"{name}:{line}: {finding.code} left: {_why(finding, offered)}\n")


def _why(finding: Finding, fix: Fix | None) -> str:
    if fix is None:
        return f"no fix: {finding.message}"
    return f"unsafe fix: {fix.title}: {fix.reason}; --unsafe applies it"


COMMANDS = (
    Command(
        "fix",
        "mend what can be mended",
        _declare,
        _run,
        "Files are changed in place, and what is left is said with the reason. "
        "The exit status is 0 when nothing is left (with --diff: nothing would change), "
        "1 when something is, 2 when a file could not be read or written.",
    ),
)
