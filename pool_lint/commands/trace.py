"""``pool-lint trace``: a function with what the analysis believes at each line."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.commands.base import CLEAN, Command
from pool_lint.commands.inputs import parse_text, read_input
from pool_lint.commands.selection import Selection
from pool_lint.config import load_settings
from pool_lint.files import PoolLintError
from pool_lint.fingerprint import statements_in

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.config import Settings
    from pool_lint.finding import Finding
    from pool_lint.trace import Belief


@dataclass(frozen=True, slots=True)
class Span:
    """A function: its qualified name, and its lines with those of its decorators."""

    name: str
    first: int
    last: int


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("place", metavar="FILE:FUNCTION", help="a function by its name, qualified or not, or by a line")


def _run(arguments: argparse.Namespace) -> int:
    from pool_lint.emit.trace import draw  # noqa: PLC0415 - drawing is loaded where something is drawn
    from pool_lint.engine import ask  # noqa: PLC0415 - the analysis is slow to load
    from pool_lint.trace import beliefs  # noqa: PLC0415 - as above

    path, colon, asked = arguments.place.rpartition(":")
    if not colon or not asked:
        raise PoolLintError(f"{arguments.place}: must be FILE:FUNCTION or FILE:LINE")
    text = read_input(path)
    tree = parse_text(text, path)
    span = _span(list(_spans(tree)), path, asked)
    settings = load_settings(Path.cwd())

    def believed_of(module: ModuleAnalysis) -> dict[int, list[Belief]] | None:
        functions = (each for each in module.tree.functions if each.qualname == span.name and _is_in(span, each.line))
        function = next(functions, None)
        return beliefs(module, function) if function is not None else None

    believed = ask(believed_of, text, path, settings, tree)
    sources = text.split("\n")
    lines = {number: sources[number - 1] for number in range(span.first, span.last + 1)}
    title = f"{path}: {span.name}, lines {span.first} to {span.last}"
    if believed is None:
        title += ": too large to follow to the end"
    draw(title, lines, believed or {}, _findings(text, path, span, tree, settings), sources)
    return CLEAN


def _findings(text: str, path: str, span: Span, tree: ast.Module, settings: Settings) -> list[tuple[Finding, str]]:
    from pool_lint.engine import check_text  # noqa: PLC0415 - as above
    from pool_lint.noqa import without_silenced  # noqa: PLC0415 - as above

    found = check_text(text, path, settings, tree)
    shown = [each for each in found if _is_in(span, each.line) and Selection().wants(each.code)]
    heard = set(without_silenced(shown, text))
    return [(each, "" if each in heard else "silenced by a comment") for each in shown]


def _is_in(span: Span, line: int) -> bool:
    return span.first <= line <= span.last


def _spans(tree: ast.AST) -> Iterator[Span]:
    """The functions of a tree in the order of their lines, each before those inside it."""
    stack = [(each, "") for each in statements_in(tree)][::-1]
    while stack:
        node, prefix = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Span(prefix + node.name, first, node.end_lineno or node.lineno)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            prefix = f"{prefix}{node.name}."
        stack += [(each, prefix) for each in statements_in(node)][::-1]


def _span(spans: list[Span], path: str, asked: str) -> Span:
    if asked.isdecimal():
        around = [span for span in spans if _is_in(span, int(asked))]
        if not around:
            raise PoolLintError(f"{path}: line {asked} is in no function")
        return around[-1]
    found = [span for span in spans if span.name == asked] or [
        span for span in spans if span.name.rpartition(".")[2] == asked
    ]
    if not found:
        near = difflib.get_close_matches(asked, [span.name for span in spans], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise PoolLintError(f"{path}: there is no function {asked}{hint}")
    if len(found) > 1:
        places = ", ".join(f"{span.name} on line {span.first}" for span in found)
        raise PoolLintError(f"{path}: several functions are called {asked}: {places}; name one by a line of it")
    return found[0]


COMMANDS = (
    Command(
        "trace",
        "show a function with what is believed of each borrowed object",
        _declare,
        _run,
        "Below it stands the path of each finding.",
    ),
)
