"""The command line: the findings of flake8 with the path to each, and exit statuses that scripts can trust."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from conftest import LEAK, heads

from pool_lint.cli import main
from pool_lint.codes import OFF_BY_DEFAULT
from pool_lint.commands.selection import Selection

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

FINE = LEAK.replace("    conn.set_session(query)\n", "")


def test_a_finding_comes_with_its_witness(project: Path, pool_lint: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    done = pool_lint("check", "leak.py")
    finding, *witness = done.stdout.splitlines()
    assert finding.startswith("leak.py:7:12: POL101 ")
    assert witness
    assert all(re.match(r"    line \d+: ", step) for step in witness)
    assert (done.returncode, done.stderr) == (1, "")


def test_quiet_leaves_the_witness_out(project: Path, pool_lint: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    assert len(pool_lint("check", "--quiet", "leak.py").stdout.splitlines()) == 1


def test_a_correct_file_is_silent(project: Path, pool_lint: Command) -> None:
    (project / "fine.py").write_text(FINE)
    done = pool_lint("check", "fine.py")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_folders_are_walked_in_order_and_what_is_not_the_users_is_skipped(project: Path, pool_lint: Command) -> None:
    for folder in ("b", "a/deep", ".hidden", "node_modules", "__pycache__", "env/lib"):
        (project / folder).mkdir(parents=True)
        (project / folder / "leak.py").write_text(LEAK)
    (project / "env" / "pyvenv.cfg").write_text("")
    (project / "notes.txt").write_text(LEAK)
    expected = ["a/deep/leak.py:7:12: POL101", "b/leak.py:7:12: POL101"]
    assert heads(pool_lint("check", ".").stdout) == expected
    assert heads(pool_lint("check", "b", ".", "b/leak.py").stdout) == expected[::-1]
    assert heads(pool_lint("check", ".hidden", "env/lib/leak.py").stdout) == [
        ".hidden/leak.py:7:12: POL101",
        "env/lib/leak.py:7:12: POL101",
    ]


def test_many_processes_report_the_same(project: Path, pool_lint: Command) -> None:
    for number in range(12):
        (project / f"leak{number:02}.py").write_text("\n" * number + LEAK)
    (project / "broken.py").write_text("def (:\n")
    alone = pool_lint("check", "-j1", ".")
    assert len(heads(alone.stdout)) == 12
    together = pool_lint("check", "-j4", ".")
    assert (together.stdout, together.stderr, together.returncode) == (alone.stdout, alone.stderr, 2)


def test_standard_input_has_the_name_it_is_given(pool_lint: Command) -> None:
    assert heads(pool_lint("check", "-", stdin=LEAK).stdout) == ["stdin:7:12: POL101"]
    done = pool_lint("check", "--stdin-display-name=src/leak.py", "-", stdin=LEAK)
    assert heads(done.stdout) == ["src/leak.py:7:12: POL101"]


COMMENTS = (
    "# noqa",
    "# NOQA",
    "#noqa",
    "# noqa: POL101",
    "# noqa:POL101",
    "# noqa: pol101",
    "# noqa: POL102,POL101",
    "# noqa: POL102 POL101",
    "# noqa: POL1",
    "# noqa: POL102",
    "# noqa : POL102",
    "# noqa:",
    "# noqa: because",
    "# why # noqa: POL101",
    "# nothing",
    "# flake8: noqa",
)


@pytest.mark.parametrize("call", ["getconn()", "getconn(\n    )", "getconn\\\n    ()", 'getconn(); """\n"""'])
def test_noqa_means_what_it_means_to_flake8(project: Path, pool_lint: Command, flake8: Command, call: str) -> None:
    for number, comment in enumerate(COMMENTS):
        (project / f"leak{number:02}.py").write_text(LEAK.replace("getconn()", f"{call}  {comment}"))
    found = heads(pool_lint("check", ".").stdout)
    assert found == [head.removeprefix("./") for head in heads(flake8("--select=POL", ".").stdout)]
    assert found


def test_a_file_is_silenced_as_a_whole(project: Path, pool_lint: Command) -> None:
    (project / "leak.py").write_text(f"# flake8: noqa\n{LEAK}")
    assert pool_lint("check", "leak.py").returncode == 0


@pytest.mark.parametrize(
    ("selection", "code", "wanted"),
    [
        (Selection(), "POL101", True),
        (Selection(), "POL000", True),
        (Selection(), "POL405", False),
        (Selection(extend_select=("POL405",)), "POL405", True),
        (Selection(extend_select=("POL405",)), "POL101", True),
        (Selection(extend_select=("POL405",)), "POL407", False),
        (Selection(select=("POL",)), "POL407", True),
        (Selection(select=("POL1",)), "POL101", True),
        (Selection(select=("POL1",)), "POL201", False),
        (Selection(select=("POL1",)), "POL000", False),
        (Selection(ignore=("POL1",)), "POL101", False),
        (Selection(ignore=("POL1",)), "POL201", True),
        (Selection(ignore=("POL000",)), "POL000", False),
        (Selection(select=("POL101",), ignore=("POL1",)), "POL101", True),
        (Selection(select=("POL1",), ignore=("POL101",)), "POL101", False),
        (Selection(select=("POL1",), ignore=("POL1",)), "POL101", False),
    ],
)
def test_the_longer_prefix_wins(selection: Selection, code: str, wanted: bool) -> None:  # noqa: FBT001 - a column
    assert selection.wants(code) is wanted


def test_codes_are_selected_and_ignored(project: Path, pool_lint: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    for options, found in (
        (["--select=POL101,POL102"], 1),
        (["--select", "POL2"], 0),
        (["--ignore", "POL101"], 0),
        (["--extend-select=POL405"], 1),
        (["--may-raise=handle"], 1),
    ):
        assert len(heads(pool_lint("check", *options, "leak.py").stdout)) == found, options


@pytest.mark.parametrize("options", [["--select=E501"], ["--jobs=0"], ["--jobs=many"], ["--may-raise=often"], []])
def test_a_wrong_call_is_explained(pool_lint: Command, options: list[str]) -> None:
    done = pool_lint("check", *options)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")


def test_what_cannot_be_checked_is_said_and_the_rest_is_checked(project: Path, pool_lint: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    (project / "broken.py").write_text("x = 1\ndef (:\n")
    (project / "odd.py").write_bytes(b"# coding: no-such-encoding\n")
    (project / "bytes.py").write_bytes(b"x = '\xff'\n")
    done = pool_lint("check", "missing.py", "broken.py", "odd.py", "bytes.py", "leak.py")
    assert heads(done.stdout) == ["leak.py:7:12: POL101"]
    missing, broken, odd, undecodable = done.stderr.splitlines()
    assert missing == "pool-lint: missing.py: cannot be read: No such file or directory"
    assert broken.startswith("pool-lint: broken.py:2: cannot be parsed and was not checked: ")
    assert odd.startswith("pool-lint: odd.py: cannot be decoded: ")
    assert undecodable.startswith("pool-lint: bytes.py: cannot be decoded: ")
    assert done.returncode == 2


@pytest.mark.parametrize("command", [["check", "leak.py"], ["pools", "leak.py"], ["trace", "leak.py:load"]])
def test_an_odd_escape_in_a_string_is_not_reported(
    project: Path, pool_lint: Command, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "always")
    (project / "leak.py").write_text(LEAK.replace('""', '"\\d"'))
    done = pool_lint(*command)
    assert "conn" in done.stdout
    assert "escape" not in done.stderr


def test_bad_settings_are_one_line(project: Path, pool_lint: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    (project / "pyproject.toml").write_text("[tool.pool_lint]\nspeed = 3\n")
    done = pool_lint("check", "leak.py")
    assert re.fullmatch(r"pool-lint: \S+pyproject\.toml: tool\.pool_lint\.speed: unknown key; .*\n", done.stderr)
    assert (done.stdout, done.returncode) == ("", 2)


@pytest.mark.skipif(os.name == "nt", reason="file names are not bytes on Windows")
def test_a_file_name_may_be_any_bytes(project: Path, pool_lint: Command) -> None:
    (project / os.fsdecode(b"leak\xff.py")).write_text(LEAK)
    done = pool_lint("check", ".")
    assert "POL101" in done.stdout
    assert (done.returncode, done.stderr) == (1, "")


def test_a_reader_may_stop_early(project: Path) -> None:
    for number in range(3):
        (project / f"leak{number}.py").write_text(LEAK)
    with subprocess.Popen(
        [sys.executable, "-m", "pool_lint", "check", "."],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""


def test_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    listed = capsys.readouterr().out
    assert "POL101  " in listed
    for line in listed.splitlines():
        assert line.startswith("    ") or ("(opt-in)" in line) == (line[:6] in OFF_BY_DEFAULT)


def test_the_script_is_installed(python: Command) -> None:
    done = python(
        "-c", "from importlib.metadata import entry_points as e; print(*e(group='console_scripts', name='pool-lint'))"
    )
    assert "pool_lint.cli:main" in done.stdout
