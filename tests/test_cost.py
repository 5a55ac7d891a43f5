"""Costs: intervals, profiles and their files, the measurements, the prediction, and what users see of them."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pool_lint import ir
from pool_lint.catalog.load import load_catalog
from pool_lint.cli import main
from pool_lint.config import Settings, override_costs
from pool_lint.cost.bench import Effort, calibrate, facts_of
from pool_lint.cost.model import Interval, is_below, written
from pool_lint.cost.picture import heat_map, svg
from pool_lint.cost.predict import Predictor, UnknownCostError
from pool_lint.cost.profile import (
    BUNDLED,
    Profile,
    as_json,
    bundled_profile,
    diff_rows,
    find_profile,
    key_of,
    load_profile,
    merge_profiles,
    named_profile,
    parse_profile,
    save_profile,
)
from pool_lint.cost.worker import facts
from pool_lint.engine import check_text, explain_cost
from pool_lint.files import PoolLintError
from pool_lint.pools.types import Types
from pool_lint.source import parse

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

    from pool_lint.finding import Finding

SMALL = Profile("small", {"new/a": Interval(1, 2, 3)}, {"made": "2026-01-01"})
POOL = """\
import queue


class Point:
    def __init__(self):
        self.x = 0


class Points:
    def __init__(self):
        self._free = queue.Queue()
        for _ in range(4):
            self._free.put(Point())

    def acquire(self):
        return self._free.get()

    def release(self, point):
        self._free.put(point)
"""


def findings(settings: Settings) -> list[Finding]:
    """What the rules on worth find in the pool of points."""
    return [finding for finding in check_text(POOL, "x.py", settings) if finding.code.startswith("POL3")]


def predicted(text: str, call: str, minor: int = 13) -> Interval:
    """What constructing ``call()`` of a class of the text costs by a bundled profile."""
    types = Types(parse(text).tree, load_catalog())
    cost, _ = Predictor(types, bundled_profile(minor)).valued(ir.Call(1, 0, ir.Name(1, 0, call), [], []), None)
    return cost


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (7.26, "7.3 ns"),
        (94.4, "94 ns"),
        (95.6, "96 ns"),
        (999, "1.0 µs"),
        (1234, "1.2 µs"),
        (14567, "15 µs"),
    ],
)
def test_durations_have_two_digits(ns: float, text: str) -> None:
    assert written(ns) == text


def test_below_means_apart_and_by_the_margin() -> None:
    cheap, dear = Interval(9, 10, 11), Interval(14, 16, 18)
    assert is_below(cheap, dear, 1.5)
    assert not is_below(cheap, dear, 1.7)
    assert not is_below(Interval(9, 10, 15), dear, 1.5)


def test_a_profile_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "profile.json"
    save_profile(SMALL, path)
    assert load_profile(path) == SMALL
    save_profile(replace(SMALL, name="newer"), path)
    assert load_profile(path).name == "newer"
    assert [each.name for each in path.parent.iterdir()] == ["profile.json"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "is not valid JSON"),
        ("[]", "is not a profile of pool_lint"),
        ('{"name": "x"}', "is not a profile of pool_lint"),
        ('{"schema": 99, "costs": {}}', "schema 99 is not 1"),
        ('{"schema": 1, "costs": {}}', "costs: must be a table"),
        ('{"schema": 1, "costs": {"new/a": [3, 2, 1]}}', "costs.new/a: must be three numbers"),
        ('{"schema": 1, "costs": {"new/a": ["1", 2, 3]}}', "costs.new/a: must be three numbers"),
    ],
)
def test_a_broken_profile_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(PoolLintError) as caught:
        load_profile(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert complaint in str(caught.value)


def test_every_supported_version_has_a_bundled_profile() -> None:
    assert sorted(path.stem for path in BUNDLED.glob("*.json")) == ["3.10", "3.11", "3.12", "3.13"]
    keys = {frozenset(bundled_profile(minor).costs) for minor in (10, 11, 12, 13)}
    assert len(keys) == 1
    for minor in (10, 11, 12, 13):
        text = (BUNDLED / f"3.{minor}.json").read_text(encoding="utf-8")
        assert as_json(bundled_profile(minor)) == text
        assert not {"executable", "key"} & json.loads(text)["about"].keys()
    assert named_profile("bundled-3.12").name == "bundled-3.12"
    with pytest.raises(PoolLintError, match="is not bundled"):
        named_profile("bundled-2.7")


def test_a_merged_profile_covers_each() -> None:
    other = Profile("other", {"new/a": Interval(4, 8, 9), "new/b": Interval(1, 1, 1)})
    merged = merge_profiles([SMALL, other], "both")
    cost = merged.costs["new/a"]
    assert (cost.low, round(cost.mid, 6), cost.high) == (1, 4, 9)
    assert len(merged.costs) == 1
    assert parse_profile(json.loads(as_json(merged)), "both").name == "both"
    assert diff_rows(SMALL, other) == [("new/a", 2, 8, 4)]


def test_a_key_is_of_executable_and_build() -> None:
    facts = {"minor": "3.12", "executable": "a", "version": "3.12.1", "flags": []}
    assert key_of(facts) == key_of(dict(facts))
    assert key_of(facts) != key_of({**facts, "executable": "b"})
    assert key_of(facts) != key_of({**facts, "flags": ["--enable-optimizations"]})


def test_more_threads_are_taken_from_the_nearest_count() -> None:
    one, many = Interval(1, 1, 1), Interval(5, 5, 5)
    profile = Profile("p", {"borrow/q/bare/1": one, "borrow/q/method/1": Interval(2, 2, 2), "borrow/q/bare/8": many})
    assert profile.borrow("q", "method", 1) == Interval(2, 2, 2)
    assert profile.borrow("q", "bare", 8) == many
    assert profile.borrow("q", "method", 8) == Interval(6, 6, 6)
    assert profile.borrow("unknown", "method", 1) is None


def test_prediction_grows_with_what_a_constructor_does() -> None:
    text = """
from dataclasses import dataclass, field

class Empty:
    pass

class Three:
    def __init__(self):
        self.a = 1
        self.b = 2
        self.c = []

class Derived(Three):
    def __init__(self):
        super().__init__()
        self.d = [0 for _ in range(100)]

@dataclass
class Data:
    a: int = 0
    b: list = field(default_factory=list)
"""
    empty, three, derived = (predicted(text, name).mid for name in ("Empty", "Three", "Derived"))
    assert empty < three < derived
    assert 5 < empty < 500
    assert derived > 500
    assert 30 < predicted(text, "Data").mid < 1000


@pytest.mark.parametrize(
    "body",
    [
        "try:\n            self.a = unseen\n        except NameError:\n            pass",
        "self.a = elsewhere.make()",
        "for name in names():\n            self.a = name",
        "while True:\n            break",
        "self.a = C()",
        "self.a = open('f')",
        "exec('pass')",
    ],
)
def test_the_model_abstains(body: str) -> None:
    text = f"import elsewhere\nfrom elsewhere import names\n\nclass C:\n    def __init__(self):\n        {body}\n"
    with pytest.raises(UnknownCostError):
        predicted(text, "C")


def test_a_base_that_is_not_seen_is_unknown() -> None:
    with pytest.raises(UnknownCostError, match="a base that is not seen"):
        predicted("import elsewhere\n\nclass C(elsewhere.Base):\n    pass\n", "C")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("class C(ConnectionError):\n    pass\n", "OSError"),
        ("from their.errors import ValueError\nclass C(ValueError):\n    pass\n", "not seen"),
        ("from their import types\nclass C(types.Enum):\n    pass\n", "not seen"),
        ("import enum\nclass C(enum.Enum):\n    A = 1\n", "enumeration"),
        (
            "class Meta(type):\n    def __call__(cls):\n        return 1\nclass C(metaclass=Meta):\n    pass\n",
            "metaclass",
        ),
        (
            "class C:\n    made = 0\n    def __init__(self):\n        C.made += 1\n",
            "changes a class",
        ),
        ("class C:\n    def __init__(self):\n        type(self).last = self\n", "changes a class"),
    ],
)
def test_what_makes_construction_another_thing_is_unknown(text: str, why: str) -> None:
    with pytest.raises(UnknownCostError, match=why):
        predicted(text, "C")


@pytest.mark.parametrize("minor", [10, 11, 12, 13])
def test_the_finding_depends_on_the_profile_alone(minor: int) -> None:
    found = findings(Settings(profile=f"bundled-3.{minor}"))
    assert [(each.line, each.code) for each in found] == [(11, "POL301")]
    assert f"by profile bundled-3.{minor})" in found[0].message
    assert "with n = 1" in found[0].message
    assert "with n = 8" in found[0].message


def test_margin_and_threads_are_settings() -> None:
    base = Settings(profile="bundled-3.13")
    assert findings(replace(base, margin=1000.0)) == []
    assert "with n = 8, " in findings(replace(base, threads=8))[0].message
    assert override_costs(base, "2.5", "4", None, "--") == replace(base, margin=2.5, threads=4)
    for margin, threads in (("0.5", None), ("x", None), (None, "1.5"), (None, "0")):
        with pytest.raises(PoolLintError):
            override_costs(base, margin, threads, None, "--")


def test_explain_cost_shows_the_sum() -> None:
    text = explain_cost(POOL, 11, Settings(profile="bundled-3.12"))
    for part in ("C_new, freed at once", "C_borrow(1), queue, method", "break-even", "POL301", "bundled-3.12"):
        assert part in text
    assert explain_cost(POOL, 1, Settings()) == "no pool is built on line 1\n"


def test_a_profile_beside_pyproject_is_used(project: Path, flake8: Command, pool_lint: Command) -> None:
    (project / "points.py").write_text(POOL)
    profile = replace(bundled_profile(12), name="ours")
    save_profile(profile, project / "pool-lint-profile.json")
    assert "by profile ours)" in flake8("points.py").stdout
    assert "by profile bundled-3.10)" in flake8("--pool-lint-profile=bundled-3.10", "points.py").stdout
    assert flake8("--pool-lint-margin=1000", "points.py").stdout == ""
    assert "verdict: POL301" in pool_lint("explain-cost", "points.py:11").stdout
    (project / "pool-lint-profile.json").write_text("{")
    done = flake8("points.py")
    assert "pool-lint-profile.json: is not valid JSON" in done.stdout + done.stderr
    assert done.returncode == 1


def test_the_profile_in_force_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    profile = replace(bundled_profile(12), name="ours")
    save_profile(profile, tmp_path / "pool-lint-profile.json")
    monkeypatch.chdir(tmp_path)
    assert main(["profile", "show"]) == 0
    assert capsys.readouterr().out.startswith("profile ours\n")


def test_profiles_are_shown_compared_and_merged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "team.json"
    assert main(["profile", "show", "bundled-3.13"]) == 0
    assert "borrow/queue/method/1" in capsys.readouterr().out
    assert main(["profile", "diff", "bundled-3.10", "bundled-3.13"]) == 0
    assert "new/random.SystemRandom()" in capsys.readouterr().out
    assert main(["profile", "merge", "bundled-3.10", "bundled-3.13", "--output", str(out)]) == 0
    assert load_profile(out).name == "team"
    assert main(["profile", "merge", "bundled-3.10"]) == 2


def test_a_calibration_measures_and_draws() -> None:
    seen: list[float] = []
    effort = Effort(1, 1, 2e4, (1, 2), ("bare", "method"))
    extra = {
        "key": "measured/fractions:Fraction()",
        "kind": "loop",
        "setup": "",
        "stmt": "measured.Fraction()",
        "imports": "fractions",
    }
    profile = calibrate(facts_of(sys.executable), effort, 2, [extra], seen.append)
    assert profile.costs["borrow/queue/bare/1"].mid > profile.costs["borrow/list/bare/1"].mid
    assert profile.costs["new/bytearray(1048576)"].mid > profile.costs["new/bytearray(64)"].mid
    assert profile.costs["measured/fractions:Fraction()"].mid > 0
    assert seen[-1] == 1.0
    picture = svg([heat_map(profile, 1), heat_map(profile, 2)], "costs")
    assert picture.startswith("<svg ")
    assert picture.count('class="line"') == 2
    assert "prefers-color-scheme:dark" in picture


def test_a_tracer_is_refused() -> None:
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        with pytest.raises(PoolLintError, match="tracer"):
            facts_of(sys.executable)
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("text", ["json", "json:a b", "json:JSONDecoder(x)", "json:(1)"])
def test_what_is_measured_is_named_exactly(text: str) -> None:
    assert main(["calibrate", "--no-picture", "--quick", "--measure", text]) == 2


def test_a_cached_profile_that_is_broken_or_of_another_interpreter_is_no_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "cached.json"
    monkeypatch.setattr("pool_lint.cost.profile.cache_file", lambda _: here)
    bundled = find_profile.__wrapped__("").name
    here.write_text("{")
    assert find_profile.__wrapped__("").name == bundled
    about: dict[str, object] = {"key": "3.9-0"}
    save_profile(Profile("other", {"new/object()": Interval(1, 2, 3)}, about), here)
    assert find_profile.__wrapped__("").name == bundled
    about["key"] = key_of(facts())
    save_profile(Profile("this", {"new/object()": Interval(1, 2, 3)}, about), here)
    assert find_profile.__wrapped__("").name == "this"


def test_a_profile_of_another_interpreter_is_used_with_a_note(project: Path, pool_lint: Command) -> None:
    (project / "points.py").write_text("x = 1\n")
    own = f"bundled-3.{min(max(sys.version_info[1], 10), 13)}"
    other = "bundled-3.10" if own != "bundled-3.10" else "bundled-3.13"
    assert "note: profile bundled-3.1" in pool_lint("check", f"--profile={other}", "points.py").stderr
    if sys.version_info < (3, 14):
        assert pool_lint("check", f"--profile={own}", "points.py").stderr == ""
