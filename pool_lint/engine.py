"""Check one file: analyse it, run the rules, sort the findings."""

from __future__ import annotations

import ast
import sys
import threading
from typing import TYPE_CHECKING, TypeVar

from pool_lint.codes import INTERNAL_ERROR
from pool_lint.files import PoolLintError
from pool_lint.prefilter import may_have_findings
from pool_lint.project.entry import lends_to, linked_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.config import Settings
    from pool_lint.finding import Finding
    from pool_lint.ir import ModuleTree

Answer = TypeVar("Answer")


def check_text(text: str, path: str, settings: Settings, tree: ast.Module | None = None) -> list[Finding]:
    """Return the sorted findings of one file; near ``path`` stands which libraries it uses.

    ``tree`` is the text as `ast` parses it, where the caller has it.
    A file with a syntax error has none.  What the analysis could not do is said as POL000.
    """
    parsed = _parsed(text) if tree is None else tree
    if parsed is None or not may_matter(text, path, settings, parsed):
        return []
    try:
        return _check(text, path, settings, parsed)
    except RecursionError:
        pass
    try:
        return _with_deep_stack(lambda: _check(text, path, settings, parsed))
    except RecursionError:
        return [_gave_up(1, "it is nested too deeply")]


def may_matter(text: str, path: str, settings: Settings, tree: ast.Module | None = None) -> bool:
    """Whether there can be a pool in a file, or one of its project that it borrows from."""
    return may_have_findings(text, settings, tree) or lends_to(text, path, settings)


def _check(text: str, path: str, settings: Settings, parsed: ast.Module) -> list[Finding]:
    """Return the findings: asked of Python's own tree first and, if there are any, reported from libcst's.

    Python's tree costs a tenth of libcst's, and both are lowered to the same small tree.  libcst says exactly where
    things stand, also inside f-strings, whichever Python runs; it is loaded and asked only where there is something
    to say.  A text that its parser cannot take is reported as Python's tree shows it.
    """
    from pool_lint.lower_ast import lower_ast  # noqa: PLC0415 - for the files that pass the prefilter alone

    too_long = is_too_long(parsed, text)
    try:
        small = lower_ast(parsed, text)
    except RecursionError:
        raise
    except Exception as error:
        if _raise_crashes:
            raise
        if too_long:
            return [_gave_up(1, f"internal error, {type(error).__name__}: {error}")]
        found = None  # libcst's tree is asked instead
    else:
        found = _findings(small, text, path, settings)
        if not found or too_long:
            return found
    from pool_lint.source import parse  # noqa: PLC0415 - libcst takes 0.2 s to load

    try:
        tree = parse(text).tree
    except RecursionError:
        raise
    except Exception as error:  # noqa: BLE001 - the parser's own faults must not take flake8 down
        return found or [_gave_up(1, f"libcst cannot parse it ({type(error).__name__})")]
    return _findings(tree, text, path, settings)


def _findings(tree: ModuleTree, text: str, path: str, settings: Settings) -> list[Finding]:
    from pool_lint.analysis import analyse  # noqa: PLC0415 - for the files that pass the prefilter alone
    from pool_lint.rules import load_rules  # noqa: PLC0415 - as above

    try:
        module = analyse(tree, settings, path, linked_with(text, path, settings, tree))
        findings = {finding for rule in load_rules() for finding in rule.check(module)}
        findings.update(
            _gave_up(function.line, f"the bound on paths was hit in {function.qualname}")
            for function in module.file.gave_up
        )
    except (RecursionError, PoolLintError):
        raise
    except Exception as error:
        if _raise_crashes:
            raise
        return [_gave_up(1, f"internal error, {type(error).__name__}: {error}")]
    return sorted(findings)


def ask(
    question: Callable[[ModuleAnalysis], Answer], text: str, path: str, settings: Settings, tree: ast.Module
) -> Answer:
    """Return what a question about the analysis of a file is answered, whatever the prefilter says.

    ``tree`` is the text as `ast` parses it.
    """
    from pool_lint.analysis import analyse  # noqa: PLC0415 - for the files that somebody asks about
    from pool_lint.lower_ast import lower_ast  # noqa: PLC0415 - as above

    def answer() -> Answer:
        lowered = lower_ast(tree, text)
        return question(analyse(lowered, settings, path, linked_with(text, path, settings, lowered)))

    try:
        return answer()
    except RecursionError:
        pass
    try:
        return _with_deep_stack(answer)
    except RecursionError as error:
        raise PoolLintError(f"{path}: it is nested too deeply") from error


def explain_cost(text: str, line: int, settings: Settings, path: str = "") -> str:
    """Return the sum behind the verdict on the pool that is built on a line of a file."""
    from pool_lint.analysis import analyse  # noqa: PLC0415 - libcst is slow to load
    from pool_lint.source import parse  # noqa: PLC0415 - as above

    tree = parse(text).tree
    return analyse(tree, settings, path, linked_with(text, path, settings, tree)).explained(line)


def crashes_are_raised() -> bool:
    """Whether a crash of the analysis is a failure, as in the tests, and no finding."""
    return _raise_crashes


def _with_deep_stack(work: Callable[[], Answer]) -> Answer:
    """Do some work in a thread with a large stack, for files that nest deeper than the interpreter's usual limit."""
    done: list[Answer] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by who waits
            failed.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size()
    sys.setrecursionlimit(_DEEP_LIMIT)
    threading.stack_size(_DEEP_STACK)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failed:
        raise failed[0]
    return done[0]


def is_too_long(parsed: ast.Module, text: str) -> bool:
    """Whether an expression is a chain so long that libcst's parser overflows its own stack.

    That ends the process and cannot be caught, so it is asked beforehand, of texts that could have one.
    """
    if max(text.count(" and "), text.count(" or "), text.count("\n")) < _LONG_CHAIN:
        return False
    return any(
        len(node.values) > _LONG_CHAIN if isinstance(node, ast.BoolOp) else len(node.ops) > _LONG_CHAIN
        for node in ast.walk(parsed)
        if isinstance(node, (ast.BoolOp, ast.Compare))
    )


_DEEP_LIMIT = 40_000
_DEEP_STACK = 512 * 1024 * 1024
_LONG_CHAIN = 3_000
_raise_crashes = False  # the tests switch it on: there a crash of the analysis is a failure, not a finding


def _gave_up(line: int, why: str) -> Finding:
    from pool_lint.finding import Finding  # noqa: PLC0415 - not for files that have nothing to find

    return Finding(max(line, 1), 0, INTERNAL_ERROR, f"not analysed: {why}")


def _parsed(text: str) -> ast.Module | None:
    """The tree of a text, as this interpreter parses it; None where it cannot."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
