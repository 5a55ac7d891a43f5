"""Bad input: no crash, no hang, and what is found after it is still found on the right line."""

from __future__ import annotations

import ast
import codecs
import io
import sys
from typing import TYPE_CHECKING, Protocol

import pytest
from conftest import LEAK, Result, heads
from flake8.main.cli import main as flake8_main
from flake8.utils import stdin_get_value

from pool_lint.cli import main as pool_lint_main
from pool_lint.codes import INTERNAL_ERROR
from pool_lint.config import Settings
from pool_lint.engine import check_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Command


class Inside(Protocol):
    """A command's main function, run in a folder of the test's own."""

    def __call__(self, main: Callable[[list[str]], int], *arguments: str, stdin: bytes = b"") -> Result:
        """Run it with these arguments and return what came of it."""


# In LEAK the borrow stands on this line.
BORROW = 7
COLUMN = 12

# Texts of one kind are as long as this; the limits of parsers are far below it.
MANY = 1000

NOT_PYTHON = {
    "unclosed": "def (:\n",
    "indentation": "def f():\nreturn 1\n",
    "mixed tabs": "if 1:\n        x = 1\n\ty = 2\n",
    "python 2": "print 'a'\n",
    "open string": "x = '''\n",
    "prose": "This is not a program; it's a letter.\n",
    "zero byte": "x = 1\n\0\n",
    "zero byte in a string": "x = '\0'\n",
    "200 nested blocks": "".join(f"{' ' * depth}if x:\n" for depth in range(200)) + f"{' ' * 200}pass\n",
    "5000 parentheses": "(" * 5000 + ")" * 5000 + "\n",
}

EMPTY = {
    "nothing": "",
    "a newline": "\n",
    "no newline": "x = 1",
    "blanks": " \t \n\f\n",
    "a comment": "# nothing",
    "a docstring": '"""Nothing."""',
}

DEEP = {
    "sum": "x = " + " + ".join(["a"] * 3000),
    "concatenation": "x = (" + "\n".join(["'a'"] * 5000) + ")",
    "calls": "x = a" + ".b()" * 1500,
    "subscripts": "x = a" + "[0]" * 1000,
    "attributes": "x = a" + ".b" * 1500,
    "parentheses": "x = " + "(" * 90 + "1" + ")" * 90,
    "lists": "x = " + "[" * 90 + "]" * 90,
    "arguments": "x = " + "f(" * 90 + ")" * 90,
    "not": "x = " + "not " * 90 + "a",
    "minus": "x = " + "-" * 90 + "1",
    "power": "x = " + "**".join(["a"] * 90),
    "lambda": "x = " + "lambda: " * 90 + "1",
    "conditional": "x = " + "a if b else " * 90 + "c",
    "and": "x = " + " and ".join(["a"] * 3000),
    "more and": "x = " + " and ".join(["a"] * 30_000),
    "comparison": "x = " + " < ".join(["a"] * 3000),
    "comprehension": "x = [1 " + "for a in b if c " * 90 + "]",
    "elements": "x = [" + "1,\n" * 5000 + "]",
    "keys": "x = {" + "'a': [1, {}],\n" * 2000 + "}",
    "parameters": "def f(" + ", ".join(f"a{n}" for n in range(3000)) + "): pass",
    "targets": "x" + " = x" * 1000 + " = 1",
    "decorators": "@d\n" * 500 + "def f(): pass",
    "string": "x = '''" + "line\n" * 5000 + "'''",
    "one line": "; ".join(["x = 1"] * 5000),
    "elif": "if a: pass\n" + "elif a: pass\n" * 80,
    "blocks": "".join(f"{' ' * depth}if x:\n" for depth in range(95)) + f"{' ' * 95}pass",
    "functions": "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(95)) + f"{' ' * 95}pass",
    "classes": "".join(f"{' ' * depth}class C{depth}:\n" for depth in range(95)) + f"{' ' * 95}pass",
    "try": "".join(f"{' ' * depth}try:\n" for depth in range(19))
    + f"{' ' * 19}f()\n"
    + "".join(f"{' ' * depth}finally:\n{' ' * depth} g()\n" for depth in reversed(range(19))),
    "branches": "def f(a):\n" + "    if a: g()\n" * 3000,
}


@pytest.fixture
def inside(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Inside:
    """Return what runs the two commands in this process: dozens of processes would take longer than what they do."""
    monkeypatch.chdir(project)

    def run(main: Callable[[list[str]], int], *arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        stdin_get_value.cache_clear()
        capsys.readouterr()
        status = main(list(arguments))
        done = capsys.readouterr()
        return Result(arguments, status, done.out, done.err)

    return run


def places(text: str) -> list[tuple[int, int]]:
    """Return line and column, both counted from 1, of the leaks found in a text."""
    return [(found.line, found.column + 1) for found in check_text(text, "x.py", Settings()) if found.code == "POL101"]


def lines_of(text: str) -> int:
    """Return how many line ends Python sees in a text that comes from a file."""
    return text.replace("\r\n", "\n").replace("\r", "\n").count("\n")


@pytest.mark.parametrize("text", NOT_PYTHON.values(), ids=NOT_PYTHON)
def test_what_is_not_python_is_left_to_others(text: str) -> None:
    assert check_text(f"{LEAK}{text}", "x.py", Settings()) == []


@pytest.mark.parametrize("text", NOT_PYTHON.values(), ids=NOT_PYTHON)
def test_the_command_says_that_a_file_was_not_checked(project: Path, inside: Inside, text: str) -> None:
    (project / "x.py").write_bytes(f"{LEAK}{text}".encode())
    done = inside(pool_lint_main, "check", "x.py")
    assert (done.stdout, done.returncode) == ("", 2)
    assert "cannot be parsed and was not checked: " in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
def test_next_to_nothing_is_fine(project: Path, inside: Inside, text: str) -> None:
    (project / "x.py").write_text(text)
    done = inside(pool_lint_main, "check", "x.py")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert inside(flake8_main, "--select=POL,E9", "x.py").stdout == ""


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(f"x = 1\n\f\n{LEAK}".encode(), id="form feed"),
        pytest.param(f"x = '\f'\n\f\fy = 1\n{LEAK}".encode(), id="form feed in a line"),
        pytest.param(LEAK.replace("\ndef", "\n\fdef").encode(), id="form feed before a function"),
        pytest.param(f"x = '\u2028\x0b\x1c\x85'\n{LEAK}".encode(), id="separators that end no line"),
        pytest.param(f"x = 1\n{LEAK}".replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(f"x = 1\n{LEAK}".replace("\n", "\r").encode(), id="CR"),
        pytest.param(f"x = '''a\rb\r\n'''\n{LEAK}".encode(), id="lone CR in a string"),
        pytest.param(f"# a\rx = 1\n{LEAK}".encode(), id="lone CR in a comment"),
        pytest.param(codecs.BOM_UTF8 + LEAK.encode(), id="BOM"),
        pytest.param(codecs.BOM_UTF8 + f"# coding: utf-8\n{LEAK}".encode(), id="BOM and cookie"),
        pytest.param(f"# -*- coding: latin-1 -*-\nx = 'é'\n{LEAK}".encode("latin-1"), id="latin-1"),
        pytest.param(f"#!python\n# vim: set fileencoding=cp1252 :\nx = '€'\n{LEAK}".encode("cp1252"), id="cp1252"),
        pytest.param(f"# coding: shift_jis\nx = '日本'\n{LEAK}".encode("shift_jis"), id="shift-jis"),
        pytest.param(LEAK.rstrip("\n").encode(), id="no newline at the end"),
        pytest.param(f"x = \\\n    1\n{LEAK}".encode(), id="continued line"),
        pytest.param(
            f"try:\n    x = 1\nexcept ValueError \\\n        :\n    x = 2\n{LEAK}".encode(),
            id="a colon that is continued to",
        ),
        pytest.param(f"{LEAK}\n\n\n   \n#".encode(), id="blanks at the end"),
        pytest.param(f"x = '🐍🐍🐍'\n{LEAK}".encode(), id="wide characters"),
        pytest.param(f"x = f'{{\n1}}'\n{LEAK}".encode(), id="f-string"),
    ],
)
def test_lines_are_counted_as_python_counts_them(project: Path, inside: Inside, data: bytes) -> None:
    (project / "x.py").write_bytes(data)
    try:
        tree = ast.parse(data)
    except SyntaxError:
        # a replacement field over two lines needs a newer Python
        assert inside(flake8_main, "--select=POL", "x.py").stdout == ""
        return
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    borrow = next(call for call in calls if ast.unparse(call) == "pool.getconn()")
    expected = [f"x.py:{borrow.lineno}:{COLUMN}: POL101"]
    assert heads(inside(flake8_main, "--select=POL", "x.py").stdout) == expected
    assert heads(inside(pool_lint_main, "check", "x.py").stdout) == expected
    assert heads(inside(pool_lint_main, "check", "--stdin-display-name=x.py", "-", stdin=data).stdout) == expected
    assert heads(inside(flake8_main, "--select=POL", "--stdin-display-name=x.py", "-", stdin=data).stdout) == expected


def test_tabs_indent(project: Path, inside: Inside) -> None:
    (project / "x.py").write_text(LEAK.replace("    ", "\t"))
    expected = [f"x.py:{BORROW}:9: POL101"]
    assert heads(inside(flake8_main, "--select=POL", "x.py").stdout) == expected
    assert heads(inside(pool_lint_main, "check", "x.py").stdout) == expected


def test_columns_count_characters(project: Path, inside: Inside) -> None:
    (project / "x.py").write_text(LEAK.replace("conn = pool", "é = '🐍'; conn = pool"), encoding="utf-8")
    expected = [f"x.py:{BORROW}:{COLUMN + len('é = _🐍_; ')}: POL101"]
    assert heads(inside(flake8_main, "--select=POL", "x.py").stdout) == expected
    assert heads(inside(pool_lint_main, "check", "x.py").stdout) == expected


def test_deep_and_long_code_is_survived(project: Path, pool_lint: Command) -> None:
    # one real process for all: what overflows a stack in C ends it
    names = {name: f"deep_{name.replace(' ', '_')}.py" for name in DEEP}
    for name, text in DEEP.items():
        (project / names[name]).write_text(f"{text}\n{LEAK}")
    done = pool_lint("check", "--quiet", "-j1", ".")
    assert "Traceback" not in done.stderr
    found = heads(done.stdout)
    assert found
    for name, text in DEEP.items():
        if f"{names[name]}: cannot be parsed" in done.stderr:
            # this Python itself gives up on it
            assert names[name] not in done.stdout
            continue
        line = lines_of(text) + 1 + BORROW
        told = f"{names[name]}:1:1: {INTERNAL_ERROR}" in found
        assert told or f"{names[name]}:{line}:{COLUMN}: POL101" in found, name


LONG = {
    "calls": "    f(query)\n" * MANY,
    "assignments": "    a = query\n" * MANY,
    "branches": "    if query: f(query)\n" * MANY,
    "loops": "    for a in query: f(a)\n" * MANY,
    "handlers": "    try: f(query)\n    except ValueError: pass\n" * MANY,
    "blocks": "    with query: f(query)\n" * MANY,
    "borrows": "    a = pool.getconn()\n    pool.putconn(a)\n" * MANY,
}


@pytest.mark.parametrize("body", LONG.values(), ids=LONG)
def test_a_function_of_thousands_of_lines_is_followed_or_named(project: Path, inside: Inside, body: str) -> None:
    long = LEAK.replace("def load(query):\n", f"def long(query):\n{body}")
    (project / "x.py").write_text(f"{long}\n\n{LEAK}")
    done = inside(pool_lint_main, "check", "--quiet", "x.py")
    assert done.stderr == ""
    found = heads(done.stdout)
    total = lines_of(long)
    in_long = [f"x.py:{line}:{COLUMN}: POL101" for line in (BORROW + lines_of(body),)]
    told = [line for line in done.stdout.splitlines() if INTERNAL_ERROR in line]
    assert set(in_long) <= set(found) or (len(told) == 1 and "long" in told[0])
    assert f"x.py:{total + 2 + BORROW}:{COLUMN}: POL101" in found


def test_many_paths_end(project: Path, inside: Inside) -> None:
    flags = "".join(f"    if a{n}:\n        x{n} = pool.getconn()\n" for n in range(40))
    frees = "".join(f"    if a{n}:\n        pool.putconn(x{n})\n" for n in range(40))
    parameters = ", ".join(f"a{n}" for n in range(40))
    (project / "x.py").write_text(f"{LEAK}\n\ndef many({parameters}):\n{flags}    f()\n{frees}")
    done = inside(pool_lint_main, "check", "--quiet", "x.py")
    assert (done.stderr, done.returncode) == ("", 1)
    assert f"x.py:{BORROW}:{COLUMN}: POL101" in heads(done.stdout)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="this Python's syntax is older than the parser's")
def test_syntax_newer_than_the_parser_is_no_crash(project: Path, flake8: Command) -> None:
    (project / "x.py").write_text(f"x = t'{{1}}'\n{LEAK}")
    done = flake8("--select=POL,E9", "x.py")
    assert done.stderr == ""
    assert "E999" not in done.stdout


def test_syntax_errors_stay_flake8s(project: Path, flake8: Command) -> None:
    for number, text in enumerate(NOT_PYTHON.values()):
        if "\0" not in text:
            (project / f"x{number}.py").write_text(f"{LEAK}{text}")
    done = flake8("--select=POL,E9", ".")
    assert "POL" not in done.stdout
    assert done.stderr == ""
    assert done.stdout.count("E9") == sum("\0" not in text for text in NOT_PYTHON.values())
