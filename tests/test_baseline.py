"""The baseline: what is known is not reported, whatever moves; what is new is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from conftest import LEAK, heads

from pool_lint.baseline import Entry, as_json, load_baseline
from pool_lint.cli import main
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

SECOND = """

def second(query):
    link = pool.getconn()
    link.set_session(query)
    pool.putconn(link)
"""
Run = tuple[int, str, str]


class Checked:
    """The check command, run in one folder of the test's own."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Run:
        """Return exit status, standard output and standard error."""
        status = main(["check", "-j1", "--quiet", *arguments])
        out, err = self._capsys.readouterr()
        return status, out, err


@pytest.fixture
def check(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Checked:
    monkeypatch.chdir(project)
    return Checked(capsys)


def write(check: Checked, *arguments: str) -> None:
    status, _, err = check("--baseline", "known.json", "--write-baseline", *arguments)
    assert (status, err) == (0, "")


def test_what_is_known_is_not_reported_and_what_is_new_is(project: Path, check: Checked) -> None:
    leak = project / "leak.py"
    leak.write_text(LEAK)
    write(check, "leak.py")
    assert check("--baseline", "known.json", "leak.py") == (0, "", "")
    for text in (
        f"# moved\n\n\n{LEAK}",
        LEAK.replace("4, ", "8,\n    "),
        LEAK.replace("pool.getconn()", "pool.getconn()  # see there"),
    ):
        leak.write_text(text)
        assert check("--baseline", "known.json", "leak.py") == (0, "", ""), text
    leak.write_text(LEAK + SECOND)
    status, out, _ = check("--baseline", "known.json", "leak.py")
    assert (status, heads(out)) == (1, ["leak.py:13:12: POL101"])
    leak.rename(project / "other.py")
    assert check("--baseline", "known.json", "other.py")[0] == 1


def test_a_second_equal_leak_is_new(project: Path, check: Checked) -> None:
    (project / "leak.py").write_text(LEAK)
    write(check, "leak.py")
    body = LEAK[LEAK.index("    conn =") :]
    (project / "leak.py").write_text(LEAK + body)
    assert len(heads(check("leak.py")[1])) == 2
    assert len(heads(check("--baseline", "known.json", "leak.py")[1])) == 1


def test_the_file_is_the_same_for_any_order_of_files(project: Path, check: Checked) -> None:
    for name in "abc":
        (project / f"{name}.py").write_text(LEAK + SECOND)
    write(check, "a.py", "b.py", "c.py")
    first = (project / "known.json").read_text()
    (project / "known.json").unlink()
    write(check, "c.py", "a.py", "b.py")
    assert (project / "known.json").read_text() == first
    write(check, "b.py")
    assert (project / "known.json").read_text() == first
    assert [line.strip(" ,") for line in first.splitlines() if '"fingerprint"' in line] == [
        json.dumps(row) for rows in json.loads(first)["findings"].values() for row in rows
    ]
    assert not re.search(r'"line"', first)


def test_stale_entries_are_counted_and_dropped(project: Path, check: Checked) -> None:
    (project / "a.py").write_text(LEAK + SECOND)
    (project / "b.py").write_text(LEAK)
    write(check, ".")
    (project / "a.py").write_text(LEAK)
    stale = "pool-lint: known.json: entries that match nothing any more: 1; --write-baseline drops them\n"
    assert check("--baseline", "known.json", ".") == (0, "", stale)
    # of what a run does not look at, it cannot tell
    assert check("--baseline", "known.json", "b.py") == (0, "", "")
    assert check("--baseline", "known.json", "--ignore=POL101", ".") == (0, "", "")
    (project / "b.py").unlink()
    assert check("--baseline", "known.json", "a.py")[2].count("any more: 2;") == 1
    write(check, "a.py")
    assert check("--baseline", "known.json", "a.py") == (0, "", "")
    assert {entry.path for entry in load_baseline(project / "known.json")} == {"a.py"}


def test_a_file_that_fails_keeps_its_entries(project: Path, check: Checked) -> None:
    (project / "a.py").write_text(LEAK)
    write(check, "a.py")
    before = (project / "known.json").read_text()
    (project / "a.py").write_text("def (:\n")
    assert check("--baseline", "known.json", "--write-baseline", "a.py")[0] == 2
    assert (project / "known.json").read_text() == before


def test_the_setting_and_the_plugin_honour_it(project: Path, check: Checked, flake8: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    folder = project / "deep"
    folder.mkdir()
    (folder / "same.py").write_text(LEAK)
    write(check, ".")
    options = ("--select=POL", "leak.py", "deep/same.py")
    assert sorted(heads(flake8(*options).stdout)) == ["deep/same.py:7:12: POL101", "leak.py:7:12: POL101"]
    assert flake8("--pool-lint-baseline=known.json", *options).stdout == ""
    (project / "pyproject.toml").write_text('[tool.pool_lint]\nbaseline = "known.json"\n')
    assert flake8(*options).stdout == ""
    assert check("leak.py", "deep") == (0, "", "")
    (project / "leak.py").write_text(f"\n{LEAK}{SECOND}")
    assert heads(flake8(*options).stdout) == ["leak.py:14:12: POL101"]
    assert heads(check(".")[1]) == ["leak.py:14:12: POL101"]


def test_the_folder_in_which_it_runs_does_not_matter(
    project: Path, check: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project / "deep"
    folder.mkdir()
    (folder / "leak.py").write_text(LEAK)
    write(check, "deep")
    monkeypatch.chdir(folder)
    assert check("--baseline", "../known.json", "leak.py") == (0, "", "")
    assert check("--baseline", "../known.json", str(folder / "leak.py")) == (0, "", "")


BROKEN = {
    "no JSON": ("{", "is not valid JSON: "),
    "another file": ("[]", "is not a baseline of pool_lint"),
    "another schema": ('{"schema": 9, "findings": {}}', "schema 9 is not 1, which this version reads: write it anew"),
    "no files": ('{"schema": 1, "findings": []}', "findings: must be a table of files"),
    "no rows": ('{"schema": 1, "findings": {"a.py": 3}}', "findings.a.py: must be a list"),
    "no row": ('{"schema": 1, "findings": {"a.py": [3]}}', "findings.a.py[0]: must be a table"),
    "no code": ('{"schema": 1, "findings": {"a.py": [{}]}}', "findings.a.py[0].code: must be a text"),
}


@pytest.mark.parametrize(("text", "error"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_one_line(project: Path, flake8: Command, check: Checked, text: str, error: str) -> None:
    path = project / "known.json"
    path.write_text(text)
    (project / "leak.py").write_text(LEAK)
    with pytest.raises(PoolLintError, match=re.escape(f"{path}: {error}")):
        load_baseline(path)
    status, out, err = check("--baseline", "known.json", "leak.py")
    assert (status, out) == (2, "")
    assert re.fullmatch(rf"pool-lint: known\.json: {re.escape(error)}.*\n", err)
    if text == "[]":
        done = flake8("--pool-lint-baseline=known.json", "leak.py")
        assert "known.json: is not a baseline of pool_lint" in done.stderr + done.stdout
        assert done.returncode == 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--write-baseline"], "--write-baseline: needs --baseline FILE, or the setting baseline"),
        (["--baseline", "gone.json"], "gone.json: cannot be read: No such file or directory"),
        (["--baseline", ""], "--baseline: must name a file"),
        (["--baseline=b", "--write-baseline", "--format=sarif"], "--write-baseline: reports nothing, so "),
    ],
)
def test_a_wrong_call_is_explained(project: Path, check: Checked, options: list[str], error: str) -> None:
    (project / "leak.py").write_text(LEAK)
    status, _, err = check(*options, "leak.py")
    assert status == 2
    assert err.startswith(f"pool-lint: {error}")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    entries = {
        Entry("b.py", "POL102", "f", 'conn = pool.get("é")', "1"),
        Entry("b.py", "POL101", "", "x", "2"),
        Entry("a\udcff.py", "POL101", "C.f", "\t\\", "3"),
    }
    path = tmp_path / "known.json"
    path.write_text(as_json(entries), encoding="utf-8")
    assert load_baseline(path) == entries
    path.write_text(as_json([]), encoding="utf-8")
    assert load_baseline(path) == frozenset()
