"""Every rule keeps the contract: a code, a name, a message, documentation whose examples are true, a fixture."""

from __future__ import annotations

import importlib
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pool_lint.cli import main
from pool_lint.codes import OFF_BY_DEFAULT
from pool_lint.config import Settings
from pool_lint.engine import check_text
from pool_lint.rules import load_rules

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "pool_lint" / "rules").glob("pol*.py"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def module(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(f"pool_lint.rules.{request.param.stem}")


def examples(module: ModuleType, heading: str) -> list[str]:
    """Return the indented blocks that follow ``Bad:`` or ``Good:`` in a rule's docstring."""
    blocks = re.findall(rf"^{heading}:\n((?:[ ]+.*\n|\n)+)", f"{textwrap.dedent(module.__doc__ or '')}\n", re.MULTILINE)
    return [textwrap.dedent(block).strip("\n") + "\n" for block in blocks]


def reported(text: str) -> list[str]:
    return [finding.code for finding in check_text(text, "example.py", Settings())]


def test_a_rule_has_code_name_and_message(module: ModuleType) -> None:
    rule = module.RULE
    stem = module.__name__.rpartition(".")[2]
    assert re.fullmatch(r"POL\d{3}", rule.code)
    assert stem.startswith(f"{rule.code.lower()}_")
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.message
    assert not rule.message.endswith(".")
    assert rule.opt_in == (rule.code in OFF_BY_DEFAULT)


def test_the_documentation_begins_with_one_summary_line(module: ModuleType) -> None:
    summary, blank, *rest = (module.__doc__ or "").split("\n")
    assert summary.endswith(".")
    assert len(summary) <= 120
    assert blank == ""
    assert any(line.strip() for line in rest)
    assert summary in [loaded.doc.partition("\n")[0] for loaded in load_rules() if loaded.code == module.RULE.code]


def test_bad_examples_give_this_code(module: ModuleType) -> None:
    bad = examples(module, "Bad")
    assert bad
    for text in bad:
        assert module.RULE.code in reported(text), text


def test_good_examples_give_no_finding(module: ModuleType) -> None:
    good = examples(module, "Good")
    assert good
    for text in good:
        assert [code for code in reported(text) if code == module.RULE.code or code not in OFF_BY_DEFAULT] == [], text


def test_a_rule_has_a_fixture(module: ModuleType) -> None:
    wanted = re.compile(rf"# want:.*\b{module.RULE.code}\b")
    assert any(wanted.search(path.read_text(encoding="utf-8")) for path in (ROOT / "fixtures").rglob("*.py"))


def test_every_rule_file_is_loaded_once_and_in_order() -> None:
    codes = [rule.code for rule in load_rules()]
    assert codes == sorted(set(codes))
    assert codes == [path.stem[:6].upper() for path in FILES]


GENERATED = {
    "rules": "rules --markdown",
    "libraries": "libraries --markdown",
    "check": "check fixtures/examples",
    "fix": "fix --diff --select=POL101 fixtures/examples",
    "trace": "trace fixtures/examples/orders.py:cancel",
    "pools": "pools fixtures/examples",
    "cost": "explain-cost --profile=bundled-3.13 fixtures/POL301/spreadsheet_cells.py:18",
}


@pytest.mark.parametrize("what", GENERATED)
def test_the_readme_has_what_commands_print(
    what: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    command = GENERATED[what]
    readme = ROOT / "README.md"
    main(command.split())
    printed = capsys.readouterr().out
    assert printed
    if "--markdown" not in command:
        printed = f"```console\n$ pool-lint {command}\n{printed}```\n"
    begin, end = f"<!-- {what}: begin -->\n", f"<!-- {what}: end -->"
    before, _, rest = readme.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    if request.config.getoption("--update"):
        readme.write_text(f"{before}{begin}{printed}{end}{after}", encoding="utf-8", newline="\n")
    assert f"{begin}{printed}{end}" in readme.read_text(encoding="utf-8")


def test_the_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    headings = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert targets
    for target in targets:
        assert target[1:] in headings if target.startswith("#") else (ROOT / target).exists(), target


def test_the_contents_of_the_readme_name_every_section() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    contents = text.partition("\n## ")[0]
    missing = [title for title in re.findall(r"^## (.+)$", text, re.MULTILINE) if f"[{title}](#" not in contents]
    assert missing == []
