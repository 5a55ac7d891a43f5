"""Fixes: what they make of fixtures, that what they leave runs as before and leaks nothing, and the command."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from conftest import LEAK
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.mend import examine
from test_fixtures import FIXTURES, ROOT, fixture, named, settings_of

from pool_lint.codes import OFF_BY_DEFAULT
from pool_lint.config import Settings
from pool_lint.engine import check_text
from pool_lint.files import decode_source, read_source
from pool_lint.finding import Edit
from pool_lint.fixes.apply import Mended, mend
from pool_lint.fixes.edits import applied, edits_between, old_line
from pool_lint.fixes.offer import FIXABLE, fixes_of
from pool_lint.fixes.write import rewritten
from pool_lint.rules import load_rules

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

SNAPSHOTS = sorted((ROOT / "fixtures").rglob("*.fixed"))
SEEDS = 12
__all__ = ["fixture"]  # used by name

MENDED = """\
from psycopg2.pool import ThreadedConnectionPool

pool = ThreadedConnectionPool(1, 4, "")


def load(query):
    conn = pool.getconn()
    try:
        conn.set_session(query)
    finally:
        pool.putconn(conn)
"""
# The pool's own timeout is left out: only an unsafe fix knows one.
TWO = (
    LEAK
    + """

def twice(query):
    conn = pool.getconn()
    try:
        conn.set_session(query)
    finally:
        pool.putconn(conn)
    pool.putconn(conn)
"""
)
CONDITIONAL = """\
from psycopg2.pool import ThreadedConnectionPool


def load(pool: ThreadedConnectionPool, query, commit):
    conn = pool.getconn()
    try:
        conn.set_session(query)
    except BaseException:
        pool.putconn(conn)
        raise
    if commit:
        conn.commit()
        pool.putconn(conn)
"""


def wants(code: str) -> bool:
    """Whether a code is reported where nothing is selected."""
    return code not in OFF_BY_DEFAULT


def mended(text: str, *, unsafe: bool = False, name: str = "app.py", options: Settings | None = None) -> Mended:
    """What all fixes make of a text."""
    return mend(text, name, options or Settings(), wants, wants, unsafe=unsafe)


def kinds(text: str, name: str, options: Settings) -> Counter[str]:
    return Counter(each.code for each in check_text(text, name, options) if wants(each.code))


# What becomes of the fixtures.


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=named)
def test_the_snapshot_of_the_fixed_file_holds(snapshot: Path, request: pytest.FixtureRequest) -> None:
    source = snapshot.with_suffix(".py")
    text = read_source(source)
    found = mended(text, name=source.relative_to(ROOT).as_posix(), options=settings_of(text, source)).text
    if request.config.getoption("--update"):
        snapshot.write_text(found, encoding="utf-8", newline="\n")
    assert snapshot.read_text(encoding="utf-8") == found


def test_every_snapshot_has_its_fixture_and_every_way_to_fix_one() -> None:
    assert [path for path in SNAPSHOTS if not path.with_suffix(".py").exists()] == []
    safe = FIXABLE - {"POL106", "POL402", "POL405"}
    assert sorted({path.parent.name for path in SNAPSHOTS} & safe) == sorted(safe)
    assert {rule.code for rule in load_rules()} >= FIXABLE


@pytest.mark.parametrize("unsafe", [False, True])
def test_a_fixed_file_parses_and_has_fewer_findings_and_no_new_one(fixture: Path, unsafe: bool) -> None:  # noqa: FBT001
    text = read_source(fixture)
    # each file either way, as both take long
    if not re.search(r"want: .*POL(10[1-8]|20)", text) or (FIXTURES.index(fixture) + unsafe) % 2:
        return
    name, options = fixture.relative_to(ROOT).as_posix(), settings_of(text, fixture)
    found = mended(text, unsafe=unsafe, name=name, options=options)
    ast.parse(found.text)
    before, after = kinds(text, name, options), kinds(found.text, name, options)
    fixed = Counter(finding.code for finding, _, _ in found.done)
    assert after - before == Counter()
    assert all(after[code] <= before[code] - count for code, count in fixed.items())
    assert after.total() == len(found.left)
    assert mended(found.text, unsafe=unsafe, name=name, options=options).done == []


@pytest.mark.parametrize("path", [each for each in FIXTURES if each.parent.name == "clean"], ids=named)
def test_a_file_without_findings_stays(path: Path) -> None:
    text = read_source(path)
    assert mended(text, name=path.name, options=settings_of(text, path)).text == text


# What runs.


@settings(max_examples=10, derandomize=True, deadline=None)
@given(st.integers(min_value=20_000, max_value=1_000_000))
def test_what_is_fixed_does_the_same_without_faults_and_leaks_nothing_with_them(seed: int) -> None:
    tally = examine(range(seed, seed + SEEDS))
    assert [(at, what, after) for at, what, _, after in tally.wrong] == []


def test_generated_functions_are_fixed_often_enough_for_that_to_mean_something() -> None:
    tally = examine(range(1, 61))
    assert tally.wrong == []
    assert tally.fixed["POL101"] > tally.findings["POL101"] / 2
    assert len(tally.fixed) >= 4


# Edits.


@settings(derandomize=True, deadline=None)
@given(st.text("ab\n\f", max_size=30), st.text("ab\n\f", max_size=30))
def test_edits_lead_from_one_text_to_the_other(old: str, new: str) -> None:
    assert applied(old, edits_between(old, new)) == new


@settings(derandomize=True, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", ""]), max_size=8), st.lists(st.sampled_from(["a", "c"]), max_size=8))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_are_kept(end: str, last: bool, before: list[str], after: list[str]) -> None:  # noqa: FBT001
    tail = "\n" if last else ""
    old, new = ("\n".join([*lines, "x"]) + tail for lines in (before, after))
    data = old.replace("\n", end).encode()
    assert rewritten(data, old, new).replace(end.encode(), b"\n").decode() == new
    if before or last:
        assert rewritten(data, old, new).count(end.encode()) == new.count("\n")


def test_only_the_new_lines_of_a_mixed_file_change() -> None:
    assert rewritten(b"a\r\nb\nc\n", "a\nb\nc\n", "a\nx\nc\n") == b"a\r\nx\nc\n"


@pytest.mark.parametrize(
    "data",
    [b"# coding: latin-1\nname = '\xe9'\nx = 1\n", b"\xef\xbb\xbfname = '\xc3\xa9'\nx = 1\n"],
    ids=["cookie", "mark"],
)
def test_the_encoding_is_kept(data: bytes) -> None:
    text = decode_source(data, "app.py")
    assert rewritten(data, text, text.replace("x = 1", "y = 2")) == data.replace(b"x = 1", b"y = 2")


def test_a_line_is_found_again_in_the_old_text() -> None:
    old, new = "a\nb\nc\nd\n", "a\nnew\nnew\nb\nX\nd\n"
    assert [old_line(old, new, line) for line in (1, 4, 5, 6)] == [1, 2, 3, 4]


# Which fixes are offered.


def test_a_fix_says_what_it_does_and_why_it_is_safe() -> None:
    (finding,) = check_text(LEAK, "app.py", Settings())
    fix = fixes_of(LEAK, "app.py", Settings(), [finding])[finding]
    assert (fix.title, fix.safe) == ("return the connection in a finally", True)
    assert fix.reason
    assert applied(LEAK, fix.edits) == MENDED
    assert fix.edits == (Edit(8, 0, 10, 0, MENDED.split("getconn()\n")[1]),)


def test_a_finding_without_a_fix_is_not_in_the_answer() -> None:
    text = LEAK.replace("conn = pool.getconn()", "conns = [pool.getconn()]").replace("conn.set", "conns[0].set")
    text = text.replace("putconn(conn)", "putconn(conns[0])")
    findings = check_text(text, "app.py", Settings())
    assert [each.code for each in findings if wants(each.code)] == ["POL101"]
    assert fixes_of(text, "app.py", Settings(), findings) == {}


def test_a_return_that_hung_on_a_condition_is_not_made_unconditional_unseen() -> None:
    (left, fix) = mended(CONDITIONAL).left[0]
    assert left.code == "POL102"
    assert fix is not None
    assert (fix.safe, "line 13 depended on a condition" in fix.reason) == (False, True)
    assert mended(CONDITIONAL, unsafe=True).left == []


def test_an_object_is_not_kept_over_a_wait_unseen() -> None:
    text = LEAK.replace(
        "    conn.set_session(query)\n    pool.putconn(conn)\n",
        "    if not query:\n        pool.putconn(conn)\n        time.sleep(60)\n        return\n"
        "    conn.set_session(query)\n    pool.putconn(conn)\n",
    ).replace("from", "import time\nfrom", 1)
    found = mended(text)
    assert "try:" in found.text
    # what comes after the return on the other path stays after it
    assert "pool.putconn(conn)\n        time.sleep(60)" in found.text


def test_what_libcst_cannot_parse_is_left_alone() -> None:
    text = LEAK + "\n\nflag = " + " or ".join(["flag"] * 3_200) + "\n"
    findings = check_text(text, "app.py", Settings())
    assert [each.code for each in findings if wants(each.code)] == ["POL101"]
    assert fixes_of(text, "app.py", Settings(), findings) == {}


def test_a_silenced_finding_is_left_alone() -> None:
    text = LEAK.replace("pool.getconn()", "pool.getconn()  # noqa: POL101")
    assert mended(text).text == text


# The command.


def test_diff_shows_the_change_and_writes_nothing(project: Path, pool_lint: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    done = pool_lint("fix", "--diff", "leak.py")
    assert done.returncode == 1
    assert done.stdout.startswith("--- leak.py\n+++ leak.py\n@@ ")
    assert "+    try:\n" in done.stdout
    assert done.stderr == "leak.py:7: POL101 fixed: return the connection in a finally\n"
    assert (project / "leak.py").read_text() == LEAK


def test_files_are_fixed_and_a_second_run_finds_nothing_to_do(project: Path, pool_lint: Command) -> None:
    (project / "app").mkdir()
    (project / "app" / "leak.py").write_text(LEAK)
    (project / "fine.py").write_text("x = 1\n")
    done = pool_lint("fix", ".")
    assert (done.stdout, done.stderr, done.returncode) == (
        "app/leak.py:7: POL101 fixed: return the connection in a finally\n",
        "",
        0,
    )
    assert (project / "app" / "leak.py").read_text() == MENDED
    assert sorted(path.name for path in (project / "app").iterdir()) == ["leak.py"]
    again = pool_lint("fix", ".")
    assert (again.stdout, again.stderr, again.returncode) == ("", "", 0)
    assert pool_lint("fix", "--diff", ".").returncode == 0


def test_lines_are_those_of_the_file_that_was_given(project: Path, pool_lint: Command) -> None:
    (project / "two.py").write_text(TWO)
    done = pool_lint("fix", "two.py")
    assert [line.split(" fixed")[0] for line in done.stdout.splitlines()] == ["two.py:7: POL101", "two.py:18: POL104"]


def test_what_is_left_is_said_with_the_reason(project: Path, pool_lint: Command) -> None:
    (project / "app.py").write_text(CONDITIONAL)
    done = pool_lint("fix", "app.py")
    assert done.returncode == 1
    assert done.stdout.startswith("app.py:5: POL102 left: unsafe fix: return the connection in a finally: ")
    assert done.stdout.endswith("; --unsafe applies it\n")
    assert (project / "app.py").read_text() == CONDITIONAL
    assert pool_lint("fix", "--unsafe", "app.py").returncode == 0
    assert pool_lint("check", "app.py").stdout == ""


def test_only_what_is_selected_is_fixed(project: Path, pool_lint: Command) -> None:
    (project / "two.py").write_text(TWO)
    done = pool_lint("fix", "--select=POL104", "two.py")
    assert done.stdout == "two.py:18: POL104 fixed: return it once\n"
    assert pool_lint("check", "--quiet", "two.py").stdout.count("POL101") == 1


def test_a_placeholder_is_put_in_only_where_asked_for(project: Path, pool_lint: Command) -> None:
    text = (
        "from DBUtils.PooledDB import PooledDB\nimport aiohttp\n\nconnector = aiohttp.TCPConnector(\n    limit=0,\n)\n"
    )
    (project / "app.py").write_text(text)
    done = pool_lint("fix", "app.py")
    assert "POL402 left: unsafe fix: set 'limit': limit=10 is a placeholder" in done.stdout
    pool_lint("fix", "--unsafe", "app.py")
    assert (project / "app.py").read_text() == text.replace("limit=0", "limit=10")


def test_standard_input_goes_to_standard_output(pool_lint: Command) -> None:
    done = pool_lint("fix", "--stdin-display-name=src/leak.py", "-", stdin=LEAK)
    assert (done.stdout, done.returncode) == (MENDED, 0)
    assert done.stderr == "src/leak.py:7: POL101 fixed: return the connection in a finally\n"
    assert pool_lint("fix", "-", stdin="x = 1\n").stdout == "x = 1\n"


@pytest.mark.parametrize("form", ["json", "sarif", "rdjson"])
def test_reports_carry_the_fix(project: Path, pool_lint: Command, form: str) -> None:
    (project / "leak.py").write_text(LEAK)
    done = pool_lint("check", f"--format={form}", "leak.py")
    assert json.dumps("    try:\n        conn.set_session(query)\n")[1:-1] in done.stdout


def test_mode_links_and_line_ends_stay(project: Path, pool_lint: Command) -> None:
    real = project / "real.py"
    real.write_bytes(LEAK.replace("\n", "\r\n").encode())
    real.chmod(0o750)
    (project / "link.py").symlink_to("real.py")
    assert pool_lint("fix", "link.py").returncode == 0
    assert (project / "link.py").is_symlink()
    assert real.read_bytes() == MENDED.replace("\n", "\r\n").encode()
    assert real.stat().st_mode & 0o777 == 0o750


def test_a_file_that_cannot_be_read_or_parsed_does_not_stop_the_others(project: Path, pool_lint: Command) -> None:
    (project / "a.py").write_text("def (:\n")
    (project / "c.py").write_text(LEAK)
    done = pool_lint("fix", "a.py", "b.py", "c.py")
    assert done.returncode == 2
    assert [line.split(":")[1] for line in done.stderr.splitlines()] == [" a.py", " b.py"]
    assert (project / "c.py").read_text() == MENDED
