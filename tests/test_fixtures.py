"""Every fixture: the findings are exactly those that its ``# want:`` comments ask for."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli

from pool_lint.codes import INTERNAL_ERROR, OFF_BY_DEFAULT
from pool_lint.config import Settings, parse_settings
from pool_lint.emit.text import emit
from pool_lint.engine import check_text
from pool_lint.files import read_source
from pool_lint.prefilter import may_have_findings

if TYPE_CHECKING:
    from pool_lint.finding import Finding

ROOT = Path(__file__).parent.parent
PROJECTS = ROOT / "fixtures" / "projects"  # files that mean something together: test_project.py checks them
FIXTURES = [path for path in sorted((ROOT / "fixtures").rglob("*.py")) if PROJECTS not in path.parents]
OPT_IN = frozenset(OFF_BY_DEFAULT) - {INTERNAL_ERROR}
WANT = re.compile(r"#\s*want:\s*(POL\d{3}(?:\s*,\s*POL\d{3})*)\s*$")
MISSED = re.compile(r"#\s*missed:\s*(POL\d{3}) \S")
SETTINGS = re.compile(r"#\s*settings:\s*(.*)$")

Key = tuple[int, str]


def marked(pattern: re.Pattern[str], text: str) -> set[Key]:
    """Return line and code of each comment of one kind."""
    return {
        (number, code.strip())
        for number, line in enumerate(text.split("\n"), 1)
        if (match := pattern.search(line))
        for code in match[1].split(",")
    }


def settings_of(text: str, path: Path) -> Settings:
    """Return the settings that the first line chooses."""
    match = SETTINGS.match(text.partition("\n")[0])
    return parse_settings(tomli.loads(match[1]), path.name) if match else Settings()


def findings_of(path: Path) -> list[Finding]:
    text = read_source(path)
    return check_text(text, path.relative_to(ROOT).as_posix(), settings_of(text, path))


def named(path: Path) -> str:
    return path.relative_to(ROOT / "fixtures").as_posix()


@pytest.fixture(params=FIXTURES, ids=named)
def fixture(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    if path.stem.endswith("_py312") and sys.version_info < (3, 12):
        pytest.skip("its syntax is newer than this Python")
    return path


def test_findings_are_the_wanted_ones(fixture: Path) -> None:
    text = read_source(fixture)
    want = marked(WANT, text)
    asked = {code for _, code in want}
    found = {(finding.line, finding.code) for finding in findings_of(fixture)}
    found = {key for key in found if key[1] not in OPT_IN or key[1] in asked}
    assert sorted(found - want) == [], "reported but not wanted"
    assert sorted(want - found) == [], "wanted but not reported"


def test_alarms_known_to_be_missed_are_still_missed() -> None:
    for fixture in FIXTURES:
        missed = marked(MISSED, read_source(fixture))
        found = {(finding.line, finding.code) for finding in findings_of(fixture)} if missed else set()
        assert sorted(found & missed) == [], f"{named(fixture)}: found now: write `want` instead of `missed`"


def test_the_snapshot_of_messages_and_witnesses_holds(fixture: Path, request: pytest.FixtureRequest) -> None:
    snapshot = fixture.with_suffix(".out")
    if not snapshot.exists():
        return
    printed = emit(fixture.relative_to(ROOT).as_posix(), findings_of(fixture))
    if request.config.getoption("--update"):
        snapshot.write_text(printed, encoding="utf-8", newline="\n")
    assert snapshot.read_text(encoding="utf-8") == printed


def test_every_comment_is_read() -> None:
    unread = [
        f"{named(path)}:{number}"
        for path in FIXTURES
        for number, line in enumerate(read_source(path).split("\n"), 1)
        if re.search(r"#\s*(want|missed)\b", line) and not WANT.search(line) and not MISSED.search(line)
    ]
    assert unread == []


def test_every_snapshot_has_its_fixture() -> None:
    assert [path for path in (ROOT / "fixtures").rglob("*.out") if not path.with_suffix(".py").exists()] == []


def test_the_filter_of_texts_hides_no_finding(fixture: Path) -> None:
    text = read_source(fixture)
    if "want: " in text:
        assert may_have_findings(text, settings_of(text, fixture))
