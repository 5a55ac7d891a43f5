"""Both front ends make the same tree: of ast's tree and the text as of libcst's."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from pathlib import Path

import libcst as cst
import pytest
from trees import differences

from pool_lint import ir
from pool_lint.files import read_source
from pool_lint.lower import lower_module
from pool_lint.lower_ast import lower_ast

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT / "pool_lint", ROOT / "tests", ROOT / "fixtures", ROOT.parent / "shared" / "cases")
# Every third: `syntax` has each form of statement and expression, these show how they stand together.
FILES = [path for folder in FOLDERS for path in sorted(folder.rglob("*.py"))[::3]]

SYNTAX = sorted((ROOT / "tests" / "syntax").glob("*.txt"))
# What a file does not keep, or what newer Pythons than most have.
TEXTS = {
    "nothing": "",
    "comment": "# comment",
    "no newline": "x = (a, b)",
    "form feeds": "a\n\x0c\nb\n\nif a:\n\t\x0c b, (\tc,)\n\n   # odd\n\t\x0c c\n(d,\n\x0c e),\x0c f",
    "separators that end no line": "a = '\u2028\x0b\x1c\x85', (b)\n# \x0b\x85\nc, (d, e)",
    "blanks at the end": "a,\n\n   \n#",
    "template strings, 3.14": "t'a{b}c{d!r:{e}}' rt'\\d{f}'\nx = t''\n",
    "exceptions, 3.14": "try: a\nexcept b, c: d\n",
}


def check(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of escapes that are none
        made = lower_ast(ast.parse(text), text)
        wanted = lower_module(cst.parse_module(text))
    assert list(differences(wanted, made)) == []


def skip_newer_than_this(name: str) -> None:
    since = re.search(r"3[._]?(\d\d)$", name)
    if since is not None and sys.version_info < (3, int(since[1])):
        pytest.skip("its syntax is newer than this Python")


@pytest.mark.parametrize("path", SYNTAX, ids=lambda path: path.stem)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_all_syntax(path: Path, end: str) -> None:
    skip_newer_than_this(path.stem)
    check(path.read_text(encoding="utf-8").replace("\n", end))


@pytest.mark.parametrize("name", TEXTS)
def test_odd_texts(name: str) -> None:
    skip_newer_than_this(name)
    check(TEXTS[name])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT.parent).as_posix())
def test_all_files(path: Path) -> None:
    skip_newer_than_this(path.stem)
    check(read_source(path))


def test_a_form_feed_that_libcst_drops_is_counted() -> None:
    text = "a\n\x0cb, (c, d)"
    value = lower_ast(ast.parse(text), text).body[1]
    assert isinstance(value, ir.ExprStmt)
    assert isinstance(value.value, ir.Seq)
    assert [(part.line, part.col) for part in value.value.items] == [(2, 1), (2, 5)]


def test_blanks_that_libcst_drops_are_counted() -> None:
    if sys.version_info < (3, 12):
        pytest.skip("its syntax is newer than this Python")
    text = "f'{a!r  }b', c"
    value = lower_ast(ast.parse(text), text).body[0]
    assert isinstance(value, ir.ExprStmt)
    assert isinstance(value.value, ir.Seq)
    joined, after = value.value.items
    assert isinstance(joined, ir.Op)
    assert [(type(part), part.col) for part in joined.parts] == [(ir.Name, 3), (ir.Const, 9)]
    assert after.col == 13


def test_names_are_folded_as_python_folds_them() -> None:
    text = "\N{LATIN SMALL LIGATURE FI}le = 1"
    assign = lower_ast(ast.parse(text), text).body[0]
    assert isinstance(assign, ir.Assign)
    assert [target.id for target in assign.targets if isinstance(target, ir.Name)] == ["file"]


def test_what_nests_too_deeply_is_left_to_the_caller() -> None:
    text = "x = " + "f(" * 80 + ")" * 80 + "." + ".".join(["a"] * 2000)
    with pytest.raises(RecursionError):
        lower_ast(ast.parse(text), text)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x = 1", "x = True"),
        ("x = 0.0", "x = -0.0"),
        ("x = 1", "x = '1'"),
        ("x", "y"),
        ("x", " x".strip() + "\ny"),
        ("f(x)", "f(x, x)"),
        ("x, y", "[x, y]"),
        ("def f():\n x = 1", "def f():\n x = 1\n return x"),
        ("def f(): g()", "async def f(): g()"),
        ("def f(): (x)", "def f(): x"),
        ("def f(): x = 1", "def f(): x: 1"),
        ("class A:\n def f(): 1", "class B:\n def f(): 1"),
    ],
)
def test_differences_are_found(a: str, b: str) -> None:
    first, second = lower_ast(ast.parse(a), a), lower_ast(ast.parse(b), b)
    assert list(differences(first, second)) != []
    assert list(differences(first, lower_ast(ast.parse(a), a))) == []


def test_another_owner_is_a_difference() -> None:
    text = "class A:\n def f(): 1\nclass B:\n def f(): 1"
    first, second = lower_ast(ast.parse(text), text), lower_ast(ast.parse(text), text)
    assert list(differences(first, second)) == []
    second.functions[1].owner = second.classes[0]
    assert len(list(differences(first, second))) == 1
