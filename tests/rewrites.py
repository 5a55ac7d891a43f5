"""Rewrite programs so that they mean the same, and say which node of the old text each finding in the new one is at.

A program is parsed and its nodes are numbered.  A rewriter changes the tree (new nodes have no number) or the text
(the tree stays equal), and a finding is identified by its code and the numbers of the nodes that begin where it stands.
"""

from __future__ import annotations

import ast
import collections
import io
import re
import tokenize
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

    from pool_lint.finding import Finding

Function = ast.FunctionDef | ast.AsyncFunctionDef
Key = tuple[str, frozenset[int]]


def numbered(text: str) -> ast.Module:
    """The tree of a text, each node with its number."""
    tree = ast.parse(text)
    for number, node in enumerate(ast.walk(tree)):
        node.number = number  # type: ignore[attr-defined]
    return tree


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text and the tree that it was made from, which has the numbers of the original's nodes."""

    text: str
    tree: ast.Module

    def keys(self, findings: Iterable[Finding]) -> list[Key]:
        """The findings as codes and the numbers of the nodes that begin there, or on that line if none does."""
        places: dict[tuple[int, int], set[int]] = collections.defaultdict(set)
        on_line: dict[int, set[int]] = collections.defaultdict(set)
        lines = self.text.split("\n")
        for ours, parsed in zip(ast.walk(self.tree), ast.walk(ast.parse(self.text)), strict=True):
            if hasattr(parsed, "lineno") and hasattr(ours, "number"):
                before = lines[parsed.lineno - 1].encode()[: parsed.col_offset]  # type: ignore[attr-defined]
                places[parsed.lineno, len(before.decode())].add(ours.number)
                on_line[parsed.lineno].add(ours.number)
        return [(found.code, frozenset(places[found.line, found.column] or on_line[found.line])) for found in findings]


def apart(before: list[Key], after: list[Key]) -> tuple[list[Key], list[Key]]:
    """What stands in one of two lists only: the same code, and a node in common, are the same finding."""
    rest = list(after)
    lost = []
    for code, nodes in before:
        same = next((key for key in rest if key[0] == code and key[1] & nodes), None)
        if same is None:
            lost.append((code, nodes))
        else:
            rest.remove(same)
    return lost, rest


def original(text: str) -> Rewritten:
    """A text as it is."""
    return Rewritten(text, numbered(text))


def unparsed(tree: ast.Module) -> Rewritten:
    """A changed tree as text."""
    return Rewritten(ast.unparse(ast.fix_missing_locations(tree)) + "\n", tree)


def is_same(text: str, tree: ast.Module) -> bool:
    """Whether a text has this tree."""
    try:
        return ast.dump(ast.parse(text)) == ast.dump(tree)
    except SyntaxError:
        return False


# --- the text changes, the tree does not ----------------------------------------------------------------


def spaced(text: str, rng: random.Random) -> str:
    """The text with other indentation, blanks, blank lines, comments and continued lines."""
    unit = rng.choice((" ", "  ", "   ", "        ", "\t"))
    out: list[str] = []
    depth = nesting = quoting = 0
    fresh = True  # at the beginning of a logical line
    last = (1, 0)
    source = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind in {"INDENT", "DEDENT"}:
            depth += 1 if kind == "INDENT" else -1
        elif kind == "ENDMARKER":
            break
        elif kind == "COMMENT":
            out.append(f"  {token.string}")
        elif kind == "NEWLINE":
            out.append(rng.choice(("\n", "\n", "  # why\n", " \n\n")))
            fresh = True
        elif kind == "NL":
            out.append("\n")
        else:
            if fresh:
                out.append(rng.choice(("", "", "\n", f"{unit * rng.randrange(3)}# note\n")) + unit * depth)
            else:
                gap = _between(source, last, token.start)
                out.append(gap if quoting else _gap(gap, nesting, rng, after_comma=out[-1] == ","))
            fresh = False
            out.append(token.string if kind != "FSTRING_MIDDLE" else _between(source, token.start, token.end))
            quoting += {"FSTRING_START": 1, "FSTRING_END": -1, "TSTRING_START": 1, "TSTRING_END": -1}.get(kind, 0)
            nesting += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0) if kind == "OP" else 0
        last = token.end
    return "".join(out)


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    middle = lines[start[0] : end[0] - 1]
    return "".join((lines[start[0] - 1][start[1] :], *middle, lines[end[0] - 1][: end[1]]))


def _gap(gap: str, nesting: int, rng: random.Random, *, after_comma: bool) -> str:
    """What stands between two tokens of a line: more than before, never less."""
    roll = rng.random()
    if roll < 0.6:
        return " " if "\n" in gap and not nesting else gap
    if roll < 0.8:
        return "  "
    if nesting and after_comma:
        return "  # inside\n"
    return "\n      " if nesting else " \\\n   "


def parenthesised(text: str, rng: random.Random) -> str:
    """The text with some expressions in parentheses, some of which go over several lines."""
    tree = ast.parse(text)
    kinds = (ast.Call, ast.Name, ast.Attribute, ast.Await, ast.Compare, ast.BoolOp, ast.Tuple, ast.Subscript)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    for node in sorted(rng.sample(nodes, min(len(nodes), 12)), key=lambda node: (node.lineno, node.col_offset))[::-1]:
        opening, closing = rng.choice((("(", ")"), ("((", "))"), ("(\n   ", "\n)")))
        lines = [line.encode() for line in text.splitlines(keepends=True)]
        end_line, end = node.end_lineno or 0, node.end_col_offset or 0
        lines[end_line - 1] = lines[end_line - 1][:end] + closing.encode() + lines[end_line - 1][end:]
        start = node.col_offset
        lines[node.lineno - 1] = lines[node.lineno - 1][:start] + opening.encode() + lines[node.lineno - 1][start:]
        changed = b"".join(lines).decode()
        if is_same(changed, tree):
            text = changed
    return text


# --- the tree changes -----------------------------------------------------------------------------------

IDLE = (
    "pass",
    "...",
    "0",
    "if False:\n    unrelated(7)",
    "while False:\n    unrelated(7)",
    "if 0:\n    raise ValueError",
)
DEAD = ("unrelated(7)", "for each_7 in unrelated(7):\n    pass", "if unrelated(7):\n    return", "raise ValueError(7)")
UNRELATED = """\
def unrelated_7(argument, *rest, key=None):
    if argument:
        return key
    for each in rest:
        print(each)
"""
STRANGERS = (
    UNRELATED,
    "class Unrelated7:\n    size = 4\n\n    def area(self):\n        return self.size * self.size\n",
    "import textwrap as textwrap_7\n",
    "from string import capwords as capwords_7\n",
    "LIMIT_7 = 7\n",
    "async def unrelated_8():\n    return [each async for each in unrelated_7()]\n",
)


def with_idle(tree: ast.Module, rng: random.Random) -> None:
    """Add statements that do nothing, and statements that nothing reaches."""
    for block in list(_blocks(tree)):
        first = _head(block)
        if rng.random() < 0.5:
            block[first:first] = ast.parse(rng.choice(IDLE)).body
        at = rng.randint(first, len(block))
        if rng.random() < 0.5:
            block[at:at] = ast.parse(rng.choice(IDLE)).body
        if isinstance(block[-1], (ast.Return, ast.Raise, ast.Break, ast.Continue)) and rng.random() < 0.5:
            dead = ast.parse(rng.choice(DEAD), mode="exec").body
            block.extend(dead)


def with_strangers(tree: ast.Module, rng: random.Random) -> None:
    """Add imports, functions, classes and constants that have nothing to do with the rest."""
    for text in rng.sample(STRANGERS, rng.randint(1, len(STRANGERS))):
        at = rng.choice((_head(tree.body), rng.randint(_head(tree.body), len(tree.body)), len(tree.body)))
        tree.body[at:at] = ast.parse(text).body


def with_condition(tree: ast.Module, _rng: random.Random) -> None:
    """Move everything into an ``if True:``."""
    first = _head(tree.body)
    if tree.body[first:]:
        tree.body[first:] = [ast.If(ast.Constant(value=True), tree.body[first:], [])]


def with_class(tree: ast.Module, rng: random.Random) -> None:
    """Move functions that nothing in the file refers to into a class, as static methods."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for index, stmt in enumerate(tree.body):
        if isinstance(stmt, Function) and stmt.name not in used and not stmt.decorator_list:
            stmt.decorator_list = [ast.Name("staticmethod", ast.Load())]
            name = rng.choice(("Holder", "Jobs"))
            tree.body[index] = ast.ClassDef(name, [], [], [stmt], [])
            if "type_params" in ast.ClassDef._fields:
                setattr(tree.body[index], "type_params", [])  # noqa: B010 - older Pythons have no such field


def with_other_names(tree: ast.Module, rng: random.Random) -> None:
    """Rename the variables of functions, each everywhere in its function."""
    keywords = {word.arg for word in ast.walk(tree) if isinstance(word, ast.keyword)}
    strings = {
        word
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for word in re.findall(r"\w+", node.value)
    }
    for function in _outermost(tree):
        fixed = _fixed(function) | keywords | strings
        names = sorted(_assigned(function) - fixed)
        fresh = [f"{rng.choice(('value', 'thing', 'x', 'result'))}_{number}" for number in range(70, 70 + len(names))]
        _rename(function, dict(zip(names, fresh, strict=True)))


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def _head(block: list[ast.stmt]) -> int:
    """How many statements have to stay first: a docstring and imports from the future."""
    count = 0
    for stmt in block:
        is_text = isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant) and not count
        if not (is_text or (isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__")):
            break
        count += 1
    return count


def _outermost(tree: ast.AST) -> Iterator[Function]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, Function):
            yield child
        else:
            yield from _outermost(child)


def _fixed(function: Function) -> set[str]:
    """Names that mean something outside: parameters, globals, what a class in it defines, what is imported."""
    args = function.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    fixed = {arg.arg for arg in every if arg is not None}
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            fixed.update(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            fixed.update((each.asname or each.name).partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ClassDef):
            fixed.add(node.name)
            fixed.update(name.id for name in ast.walk(node) if isinstance(name, ast.Name))
    return fixed


def _assigned(function: Function) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _rename(function: Function, names: dict[str, str]) -> None:
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) or (
            isinstance(node, Function) and node is not function
        ):
            node.name = names.get(node.name or "", node.name)
        elif isinstance(node, ast.MatchMapping):
            node.rest = names.get(node.rest or "", node.rest or "") or None
        elif isinstance(node, ast.Nonlocal):
            node.names = [names.get(name, name) for name in node.names]
