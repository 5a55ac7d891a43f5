"""``pool-lint explain``: each rule's documentation, with what a reader wants to know beside it."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import pytest
from test_fixtures import FIXTURES, settings_of

from pool_lint.cli import main
from pool_lint.engine import check_text
from pool_lint.files import read_source
from pool_lint.fixes.offer import FIXABLE, NEVER_SAFE, fixes_of
from pool_lint.rules import load_rules
from pool_lint.rules.documentation import CWE_NAMES, documentation

if TYPE_CHECKING:
    from pool_lint.rules.base import LoadedRule


@pytest.fixture(params=load_rules(), ids=lambda rule: rule.code)
def rule(request: pytest.FixtureRequest) -> LoadedRule:
    loaded: LoadedRule = request.param
    return loaded


def test_every_rule_is_explained(rule: LoadedRule, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", rule.code]) == 0
    out = capsys.readouterr().out
    doc = documentation(rule)
    assert out.startswith(f"{rule.code} {rule.name}\n\n{doc.summary}\n\n{doc.prose}\n\nBad:\n\n    ")
    assert {heading for heading, _ in doc.examples} == {"Bad", "Good"}
    for heading, code in doc.examples:
        assert f"\n{heading}:\n\n{textwrap.indent(code, '    ')}" in out
        compile(code, rule.code, "exec")
    assert f"CWE-{rule.cwe}: {CWE_NAMES[rule.cwe]}\n" in out
    assert ("by default: on\n" in out) is not rule.opt_in
    assert (f"--extend-select={rule.code}" in out) is rule.opt_in
    fixed = re.search(r"^fixed by: (.*)", out, re.MULTILINE)
    assert fixed is not None
    assert ("pool-lint fix" in fixed[1]) is (rule.code in FIXABLE)
    # nothing of the docstring is lost
    words = set(re.findall(r"\w+", rule.doc))
    assert words <= set(re.findall(r"\w+", out))


def test_markdown_fences_the_examples(rule: LoadedRule, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--markdown", rule.code]) == 0
    out = capsys.readouterr().out
    fenced = re.findall(r"^```python\n(.*?)^```$", out, re.MULTILINE | re.DOTALL)
    assert fenced == [code for _, code in documentation(rule).examples]


def test_a_rule_may_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("POL101", "pol101", "not-returned-on-error"):
        assert main(["explain", name]) == 0
        assert capsys.readouterr().out.startswith("POL101 not-returned-on-error\n")
    assert main(["explain", "POL101", "POL404"]) == 0
    assert re.findall(r"^POL\d+", capsys.readouterr().out, re.MULTILINE) == ["POL101", "POL404"]


def test_without_a_rule_they_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    listed = capsys.readouterr().out
    assert main(["rules"]) == 0
    assert capsys.readouterr().out == listed
    assert re.findall(r"^POL\d+", listed, re.MULTILINE) == [rule.code for rule in load_rules()]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("P0L101", "did you mean POL101?"),
        ("not-returned", "did you mean never-returned?"),
        ("E501", "`pool-lint rules` lists them"),
    ],
)
def test_an_unknown_rule_is_one_line(capsys: pytest.CaptureFixture[str], name: str, hint: str) -> None:
    assert main(["explain", name]) == 2
    assert capsys.readouterr().err == f"pool-lint: {name}: there is no such rule; {hint}\n"


@pytest.mark.parametrize("code", sorted(NEVER_SAFE))
def test_fixes_that_are_called_guesses_are_never_safe(code: str) -> None:
    found = [
        fix
        for path in FIXTURES
        if path.parent.name == code
        for text in [read_source(path)]
        for settings in [settings_of(text, path)]
        for fix in fixes_of(
            text, path.name, settings, [each for each in check_text(text, path.name, settings) if each.code == code]
        ).values()
    ]
    assert found
    assert not any(fix.safe for fix in found)
