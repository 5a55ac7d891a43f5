"""Write random functions that borrow from a pool: the same seed, the same text.

A function starts from one of the usual shapes of borrowing code, with random statements in its gaps, or from
random statements alone; then a few random edits (a statement deleted, repeated, moved, wrapped, a handler or a
pool exchanged) turn right code into wrong code and the other way round.

Shapes for which the rules leave a choice are avoided here as far as they can be seen in the text: handles as
arguments of conditions, borrows inside nested functions, `sys.exit`, `except*`, cancellation of a return,
`with connection:` around a borrow, exit stacks whose registered object is used later.  The others are found
when the function runs, and then either answer counts as right (see `expect.py`).
"""

# A function is named and described for what it returns; the random numbers are no secrets.
# ruff: noqa: S311
from __future__ import annotations

import ast
import builtins
import dis
import random
import re
import textwrap
import warnings
from types import CodeType
from typing import TYPE_CHECKING

from .dialects import DIALECTS, HELPERS, helper_text
from .edits import edit
from .instrument import BORROWS
from .shapes import SHAPES, Shaper
from .statements import Place
from .tree import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .tree import Block

SECOND_SHAPE = 0.2
GENERATORS = 0.1
METHODS = 0.2
WORD = re.compile(r"\w+")
STRANGERS = BORROWS | {"conn"}  # in a loop over handles
POOL_NAME = re.compile(r"\b(pool|other)\b")
EDITS = (0, 0, 1, 1, 2, 3)
HEAD = """\
import asyncio
import atexit
import contextlib
import functools
import logging
import weakref
{imports}
from app import cond, fetch, register, send, step, work

log = logging.getLogger(__name__)


class JobError(Exception):
    pass


"""


def attempt_text(rng: random.Random) -> str:
    """A module with one function under test; it may turn out not to compile."""
    dialect = rng.choice(DIALECTS)
    writer = Shaper(rng, dialect)
    writer.parameter("pool", dialect.annotation)
    block = body(writer)
    for _ in range(rng.choice(EDITS)):
        edit(writer, block)
    text = HEAD.format(imports="\n".join(dialect.imports)).replace("\n\nfrom app", "\nfrom app")
    if dialect.text:
        text += dialect.text + "\n\n"
    lines = "\n".join(render(block, "    "))
    for name in HELPERS:
        if name in writer.helpers and f"{name}(" in lines:
            text += helper_text(name, dialect) + "\n\n"
    if rng.random() < METHODS:
        return text + method(writer, lines)
    return f"{text}{signature(writer)}\n{lines}\n"


def body(writer: Shaper) -> Block:
    """One shape, or two."""
    rng = writer.rng
    if rng.random() < GENERATORS:
        writer.generator = True
        writer.manager = rng.random() < 1 / 2
        return writer.loan(Place())
    makers = [make for _, make in SHAPES]
    weights = [weight for weight, _ in SHAPES]
    count = 2 if rng.random() < SECOND_SHAPE else 1
    return [part for make in rng.choices(makers, weights, k=count) for part in make(writer, Place())]


def method(writer: Shaper, lines: str) -> str:
    """A class whose method is the function, and which keeps the pools."""
    annotation = writer.dialect.annotation
    pools = [name for name in ("pool", "other") if writer.parameters.pop(name, "")]
    parameters = ", ".join(f"{name}: {annotation}" for name in pools)
    stores = "".join(f"        self._{name} = {name}\n" for name in pools)
    body_lines = POOL_NAME.sub(r"self._\1", lines)
    function = f"{signature(writer)}\n{body_lines}".replace("job(", "job(self, ", 1)
    return (
        f"class Service:\n    def __init__(self, {parameters}):\n{stores}\n"
        + textwrap.indent(function, "    ").replace("job(self, )", "job(self)")
        + "\n"
    )


def signature(writer: Shaper) -> str:
    """The line of the `def`, and the decorator."""
    parameters = ", ".join(
        f"{name}{default}" if default.startswith("=") else f"{name}: {default}" if default else name
        for name, default in sorted(writer.parameters.items(), key=lambda item: item[1].startswith("="))
    )
    keyword = "async " if writer.dialect.is_async else ""
    decorator = f"@contextlib.{keyword.strip()}contextmanager\n" if writer.manager else ""
    return f"{decorator}{keyword}def job({parameters}):"


def compiles(text: str) -> bool:
    """Whether the text is a valid module whose names are all bound somewhere."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(text, "<generated>", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    bound = {*dir(builtins), "__name__"}
    bound.update(str(step.argval) for step in dis.get_instructions(code) if step.opname == "STORE_NAME")
    return bound.issuperset(global_names(code))


def global_names(code: CodeType) -> Iterator[str]:
    """The global names that a code object reads."""
    for step in dis.get_instructions(code):
        if step.opname in {"LOAD_GLOBAL", "LOAD_NAME"}:
            yield str(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from global_names(constant)


def stray(text: str) -> bool:
    """Whether an edit took the variable of a loop over handles out of it, or put another handle into it.

    For such programs nothing is settled: the rules do not ask how long a list is.
    """
    tree = ast.parse(text)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For) and ast.unparse(node.target) == "each"]
    inside = {id(part) for loop in loops for part in ast.walk(loop)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "each"]
    words = {word for loop in loops for word in WORD.findall(ast.unparse(loop))}
    return any(id(name) not in inside for name in names) or bool(words & STRANGERS)


def generate(seed: int) -> str:
    """The module of a seed."""
    rng = random.Random(seed)
    while True:
        text = attempt_text(rng)
        if compiles(text) and not stray(text):
            return text
