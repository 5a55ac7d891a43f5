"""The plugin inside real flake8 processes: everything that flake8 users are used to works."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from conftest import LEAK

from pool_lint.codes import OFF_BY_DEFAULT

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

FOUND = re.compile(r"^(?P<path>.+?):(?P<line>\d+):(?P<column>\d+): (?P<code>POL\d{3}) ", re.MULTILINE)

# flake8 with an engine that reports one code on line 1, whatever the file says.
WITH_ENGINE = """\
import sys
import pool_lint.engine
from pool_lint.finding import Finding
code = sys.argv.pop(1)
pool_lint.engine.check_text = lambda *_: [Finding(1, 0, code, "said so")]
from flake8.main.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


def places(text: str) -> list[tuple[str, int, int, str]]:
    """Return path, line, column and code of each finding in flake8's output."""
    return [(match[1], int(match[2]), int(match[3]), match[4]) for match in FOUND.finditer(text)]


def codes(text: str) -> list[str]:
    return [place[3] for place in places(text)]


def test_a_leak_is_reported_at_its_place(project: Path, flake8: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    done = flake8("leak.py")
    assert places(done.stdout) == [("leak.py", 7, 12, "POL101")]
    assert done.returncode == 1


def test_a_correct_file_is_silent(project: Path, flake8: Command) -> None:
    (project / "fine.py").write_text(LEAK.replace("    conn.set_session(query)\n", ""))
    done = flake8("fine.py")
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--select=POL"], ["POL101"]),
        (["--select=POL101"], ["POL101"]),
        (["--select=E"], []),
        (["--select=POL2"], []),
        (["--extend-select=POL1"], ["POL101"]),
        (["--ignore=POL101"], []),
        (["--ignore=E501"], ["POL101"]),
        (["--extend-ignore=POL1"], []),
        (["--extend-ignore=POL102"], ["POL101"]),
        (["--select=POL101", "--ignore=POL"], ["POL101"]),
        (["--per-file-ignores=le*.py:POL101"], []),
        (["--per-file-ignores=other.py:POL101"], ["POL101"]),
    ],
)
def test_codes_are_selected_and_ignored(
    project: Path, flake8: Command, options: list[str], expected: list[str]
) -> None:
    (project / "leak.py").write_text(LEAK)
    assert codes(flake8(*options, "leak.py").stdout) == expected


def test_the_configuration_file_ignores_per_file(project: Path, flake8: Command) -> None:
    (project / ".flake8").write_text("[flake8]\nper-file-ignores =\n    old/*: POL101\n")
    for folder in ("old", "new"):
        (project / folder).mkdir()
        (project / folder / "leak.py").write_text(LEAK)
    assert places(flake8("old", "new").stdout) == [("new/leak.py", 7, 12, "POL101")]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# noqa", []),
        ("# NoQA", []),
        ("# noqa: POL101", []),
        ("# noqa:POL101,E501", []),
        ("# noqa: POL1", []),
        ("# noqa: POL102", ["POL101"]),
        ("# a comment", ["POL101"]),
    ],
)
def test_noqa_silences_a_line(project: Path, flake8: Command, comment: str, expected: list[str]) -> None:
    (project / "leak.py").write_text(LEAK.replace("getconn()", f"getconn()  {comment}"))
    assert codes(flake8("leak.py").stdout) == expected
    assert codes(flake8("--disable-noqa", "leak.py").stdout) == ["POL101"]


def test_noqa_counts_for_all_lines_that_are_joined(project: Path, flake8: Command) -> None:
    (project / "leak.py").write_text(LEAK.replace("getconn()", "getconn\\\n    ()  # noqa: POL101"))
    assert codes(flake8("leak.py").stdout) == []


def test_many_processes_report_the_same(project: Path, flake8: Command) -> None:
    for number in range(12):
        (project / f"leak{number}.py").write_text("\n" * number + LEAK)
    alone = flake8("-j1", "--select=POL", ".")
    assert len(places(alone.stdout)) == 12
    assert flake8("-j4", "--select=POL", ".").stdout == alone.stdout


def test_standard_input_has_the_name_it_is_given(project: Path, flake8: Command) -> None:
    assert places(flake8("-", stdin=LEAK).stdout) == [("stdin", 7, 12, "POL101")]
    (project / ".flake8").write_text("[flake8]\nper-file-ignores = old/*:POL101\n")
    for name, expected in (("new/leak.py", ["POL101"]), ("old/leak.py", [])):
        done = flake8("--stdin-display-name", name, "-", stdin=LEAK)
        assert codes(done.stdout) == expected


def test_formats_and_counts_are_flake8s(project: Path, flake8: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    assert flake8("--format=%(code)s|%(row)d|%(col)d", "leak.py").stdout == "POL101|7|12\n"
    assert flake8("--format=pylint", "leak.py").stdout.startswith("leak.py:7: [POL101] ")
    assert flake8("--quiet", "leak.py").stdout == "leak.py\n"
    assert flake8("--count", "leak.py").stdout.endswith("\n1\n")
    assert flake8("--exit-zero", "leak.py").returncode == 0


@pytest.mark.parametrize("code", OFF_BY_DEFAULT)
@pytest.mark.parametrize(
    ("options", "is_on"),
    [
        ([], False),
        (["--ignore=E501"], False),
        (["--extend-ignore=E501"], False),
        (["--select=POL101"], False),
        (["--extend-select=POL101"], False),
        (["--select=POL"], True),
        (["--select={code}"], True),
        (["--extend-select={code}"], True),
        (["--extend-select={code}", "--ignore=E501"], True),
        (["--select=POL", "--extend-ignore={code}"], False),
    ],
)
def test_opt_in_rules_wait_to_be_selected(
    project: Path,
    python: Command,
    code: str,
    options: list[str],
    is_on: bool,  # noqa: FBT001 - a table's column
) -> None:
    (project / "any.py").write_text("x = 1\n")
    given = [option.format(code=code) for option in options]
    done = python("-c", WITH_ENGINE, code, "-j1", *given, "any.py")
    assert codes(done.stdout) == ([code] if is_on else [])


def test_flake8_starts_without_the_analysis(python: Command) -> None:
    done = python(
        "-c", "import sys, pool_lint.plugin; print('libcst' in sys.modules, 'pool_lint.engine' in sys.modules)"
    )
    assert done.stdout == "False False\n"


def test_flake8_names_the_plugin(flake8: Command) -> None:
    assert "pool_lint: " in flake8("--version").stdout
    assert "--pool-lint-may-raise" in flake8("--help").stdout


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ('may_raise = "often"', "pyproject.toml: tool.pool_lint.may_raise: 'often' is not one of calls, handle, any"),
        ("may-raise = 1", "pyproject.toml: tool.pool_lint.may-raise: unknown key; did you mean may_raise?"),
        ("may_raise = ", "pyproject.toml: is not valid TOML: "),
    ],
)
def test_bad_settings_end_flake8_with_one_clear_line(
    project: Path, flake8: Command, settings: str, complaint: str, jobs: str
) -> None:
    for name in ("one.py", "two.py"):
        (project / name).write_text(LEAK)
    (project / "pyproject.toml").write_text(f"[tool.pool_lint]\n{settings}\n")
    done = flake8(jobs, "one.py", "two.py")
    heading, line = done.stdout.splitlines()
    assert heading.startswith("There was a critical error")
    assert complaint in line
    assert (done.returncode, done.stderr) == (1, "")


QUIET_CALL = LEAK.replace("conn.set_session", "notify")


@pytest.mark.parametrize(
    ("pyproject", "config", "options", "expected"),
    [
        ("", "", [], ["POL101"]),
        ('may_raise = "handle"', "", [], []),
        ("", "pool-lint-may-raise = handle", [], []),
        ("", "pool_lint_may_raise = handle", [], []),
        ("", "", ["--pool-lint-may-raise=handle"], []),
        ('may_raise = "handle"', "", ["--pool-lint-may-raise=calls"], ["POL101"]),
        ('may_raise = "handle"', "pool-lint-may-raise = any", [], ["POL101"]),
        ('no_raise = ["notify"]', "", [], []),
        ("", "pool-lint-no-raise =\n    log,\n    notify\n", [], []),
        ("", "", ["--pool-lint-no-raise=notify"], []),
    ],
)
def test_what_may_raise_is_set_in_three_places(
    project: Path, flake8: Command, pyproject: str, config: str, options: list[str], expected: list[str]
) -> None:
    (project / "leak.py").write_text(QUIET_CALL)
    (project / "pyproject.toml").write_text(f"[tool.pool_lint]\n{pyproject}\n")
    (project / ".flake8").write_text(f"[flake8]\n{config}\n")
    assert codes(flake8(*options, "leak.py").stdout) == expected


MODEL = """
[[tool.pool_lint.pool]]
id = "stagehand.stage"
classes = ["stagehand.Stage"]
item = "prop"
borrows = [{ method = "lend", ways = ["call"] }]
releases = [{ method = "give_back", on = "pool" }]
remedy = "use try/finally with '{pool}.give_back(...)'"
"""
OWN_POOL = """\
import stagehand


def act(stage: stagehand.Stage):
    prop = stage.lend()
    prop.wave()
    stage.give_back(prop)
"""


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_own_pools_are_followed(project: Path, flake8: Command, jobs: str) -> None:
    for name in ("one.py", "two.py"):
        (project / name).write_text(OWN_POOL)
    assert codes(flake8(jobs, "one.py", "two.py").stdout) == []
    (project / "pyproject.toml").write_text(MODEL)
    done = flake8(jobs, "one.py", "two.py")
    assert places(done.stdout) == [("one.py", 5, 12, "POL101"), ("two.py", 5, 12, "POL101")]
    assert "prop borrowed from 'stage'" in done.stdout
    assert "use try/finally with 'stage.give_back(...)'" in done.stdout


@pytest.mark.parametrize("options", [["--pool-lint-may-raise=often"], ["--pool-lint-no-raise=a b!"]])
def test_a_bad_option_ends_flake8_with_one_clear_line(project: Path, flake8: Command, options: list[str]) -> None:
    (project / "leak.py").write_text(LEAK)
    done = flake8(*options, "leak.py")
    assert "flake8 option pool_lint_" in done.stdout.splitlines()[1]
    assert done.returncode == 1


def test_a_syntax_error_is_left_to_flake8(project: Path, flake8: Command) -> None:
    (project / "broken.py").write_text(LEAK + "def (:\n")
    done = flake8("--select=E9,POL", "broken.py")
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["E999"]
