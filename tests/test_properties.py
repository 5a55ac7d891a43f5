"""What holds for every program: no crash, and rewriting that keeps the meaning keeps the findings."""

# The random numbers are no secrets.
# ruff: noqa: S311
from __future__ import annotations

import ast
import random
from typing import TYPE_CHECKING

import programs
import pytest
import rewrites
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pool_lint.analysis import analyse
from pool_lint.codes import INTERNAL_ERROR
from pool_lint.config import Settings
from pool_lint.engine import check_text
from pool_lint.lower_ast import lower_ast
from pool_lint.prefilter import may_have_findings
from pool_lint.rules import load_rules
from pool_lint.source import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from pool_lint.finding import Finding
    from pool_lint.ir import ModuleTree

SETTINGS = Settings()
PATH = "generated.py"
LOSSES = {"POL101", "POL102", "POL103", "POL107"}
# These weigh what code costs, and code that does nothing costs something.
WORTH = {"POL301", "POL302", "POL303"}

seeds = st.integers(0, 2**32 - 1)
borrowers = seeds.map(programs.borrower)
homemades = seeds.map(programs.homemade)
fixtures = st.sampled_from(sorted(programs.fixtures())).map(programs.fixture)
every = borrowers | homemades | fixtures


def bounded(examples: int) -> settings:
    """The same examples on every run."""
    return settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


def found(text: str) -> list[Finding]:
    """What the engine finds in a text."""
    return check_text(text, PATH, SETTINGS)


def found_in(tree: ModuleTree) -> list[Finding]:
    """What the rules find in a tree, whatever the prefilter says."""
    module = analyse(tree, SETTINGS, PATH)
    return sorted({finding for rule in load_rules() for finding in rule.check(module)})


def assert_same(text: str, changed: rewrites.Rewritten, *, but: frozenset[str] | set[str] = frozenset()) -> None:
    """The findings of the changed text stand at the same nodes as those of the text."""
    before = [key for key in rewrites.original(text).keys(found(text)) if key[0] not in but]
    after = [key for key in changed.keys(found(changed.text)) if key[0] not in but]
    lost, new = rewrites.apart(before, after)
    assert (lost, new) == ([], []), f"{text}\n--- changed ---\n{changed.text}"


def line_of_borrow(text: str) -> int:
    """The line after that of the function under test."""
    lines = text.split("\n")
    return next(number for number, line in enumerate(lines, 1) if "def job(" in line) + 1


# --- no crash, and one answer whoever parses ------------------------------------------------------------


@bounded(60)
@given(seeds.map(programs.spliced))
def test_nothing_crashes(text: str) -> None:
    assert INTERNAL_ERROR not in {each.code for each in found(text)}, text


@bounded(60)
@given(every | seeds.map(programs.spliced))
def test_the_prefilter_hides_nothing(text: str) -> None:
    tree = ast.parse(text)
    if not may_have_findings(text, SETTINGS, tree):
        assert found_in(lower_ast(tree, text)) == [], text


@bounded(60)
@given(every | seeds.map(programs.spliced))
def test_both_parsers_lead_to_the_same_findings(text: str) -> None:
    assert found_in(lower_ast(ast.parse(text), text)) == found_in(parse(text).tree), text


# --- rewriting ------------------------------------------------------------------------------------------


@bounded(40)
@given(every, seeds)
def test_white_space_and_comments_do_not_matter(text: str, seed: int) -> None:
    changed = rewrites.spaced(text, random.Random(seed))
    tree = rewrites.numbered(text)
    assume(rewrites.is_same(changed, tree))
    assert_same(text, rewrites.Rewritten(changed, tree))


@bounded(40)
@given(every, seeds)
def test_parentheses_do_not_matter(text: str, seed: int) -> None:
    assert_same(text, rewrites.Rewritten(rewrites.parenthesised(text, random.Random(seed)), rewrites.numbered(text)))


@bounded(40)
@given(every)
def test_layout_does_not_matter(text: str) -> None:
    changed = rewrites.unparsed(rewrites.numbered(text))
    assume(rewrites.is_same(changed.text, changed.tree))
    assert_same(text, changed)


IDLE = "code that does nothing or is not reached"
CHANGES: dict[str, tuple[Callable[[ast.Module, random.Random], None], st.SearchStrategy[str]]] = {
    IDLE: (rewrites.with_idle, every),
    "strangers": (rewrites.with_strangers, every),
    "an if True around the file": (rewrites.with_condition, every),
    "a class around functions": (rewrites.with_class, borrowers),
    "other names": (rewrites.with_other_names, every),
}


@pytest.mark.parametrize("name", CHANGES)
@bounded(40)
@given(st.data(), seeds)
def test_what_changes_nothing_changes_no_finding(name: str, data: st.DataObject, seed: int) -> None:
    change, texts = CHANGES[name]
    text = data.draw(texts)
    tree = rewrites.numbered(text)
    change(tree, random.Random(seed))
    assert_same(text, rewrites.unparsed(tree), but=WORTH if name == IDLE else frozenset())


# --- finally --------------------------------------------------------------------------------------------


@bounded(60)
@given(seeds.map(programs.guarded))
def test_a_finally_returns_whatever_its_body_does(texts: tuple[str, str]) -> None:
    with_finally, without = texts
    assert LOSSES.isdisjoint(each.code for each in found(with_finally)), with_finally
    found_without = {(each.line, each.code) for each in found(without)}
    assert any((line_of_borrow(without), code) in found_without for code in LOSSES), without
