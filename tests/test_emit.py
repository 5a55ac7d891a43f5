"""Reports: the same findings in every format, each as its readers want it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import LEAK, heads
from pydantic import BaseModel
from sarif_pydantic import Sarif
from test_fixtures import FIXTURES, settings_of

from pool_lint.cli import main
from pool_lint.codes import INTERNAL_ERROR
from pool_lint.commands.check import FORMATS, check_file
from pool_lint.commands.selection import Selection
from pool_lint.emit import github, gitlab, rdjson, records, sarif
from pool_lint.files import read_source
from pool_lint.finding import Edit, Finding, Fix, Step, merged
from pool_lint.fingerprint import Anchor, anchors
from pool_lint.fixes.edits import applied
from pool_lint.report import Outcome, Reported
from pool_lint.rules import load_rules

if TYPE_CHECKING:
    from conftest import Command

Place = tuple[str, int, int, str]
ANCHOR = Anchor("load", "conn = pool.getconn()", 7, "0" * 32)
FIX = Fix("use 'with'", (Edit(2, 4, 2, 8, "new"), Edit(1, 0, 1, 1, "# é\n")), safe=True, reason="nothing else changes")
# What the models of sarif_pydantic have no field for, though SARIF has.
UNMODELLED = {"columnKind", "exitCode", "toolExecutionNotifications", "notifications"}


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    every = Selection(select=("POL",))
    return [
        check_file(str(path), settings_of(read_source(path), path), every, "stdin")
        for path in FIXTURES
        if "_py312" not in path.stem
    ]


def reported(outcomes: list[Outcome]) -> set[Place]:
    return {
        (Path(outcome.path).as_posix(), each.finding.line, each.finding.column + 1, each.finding.code)
        for outcome in outcomes
        for each in outcome.reported
    }


def log_of(outcomes: list[Outcome]) -> Sarif:
    return Sarif.model_validate(json.loads("".join(sarif.emit(outcomes))))


def one(finding: Finding, fix: Fix | None = None, text: str = "", path: str = "a/b.py") -> list[Outcome]:
    return [Outcome(path, (Reported(finding, ANCHOR, fix),), text)]


def test_every_format_has_the_same_findings(outcomes: list[Outcome]) -> None:
    want = reported(outcomes)
    assert len(want) > 100
    own = json.loads("".join(records.emit(outcomes)))
    assert {(each["path"], each["line"], each["column"], each["code"]) for each in own["findings"]} == want
    lines = {(path, line, code) for path, line, _, code in want}
    quality = json.loads("".join(gitlab.emit(outcomes)))
    assert {(e["location"]["path"], e["location"]["lines"]["begin"], e["check_name"]) for e in quality} == lines
    review = json.loads("".join(rdjson.emit(outcomes)))["diagnostics"]
    starts = [(each["location"]["path"], each["location"]["range"]["start"]["line"], each) for each in review]
    assert {(path, line, each["code"]["value"]) for path, line, each in starts} == lines
    commands = re.findall(
        r"^::\w+ file=(.*?),line=(\d+),.*title=(POL\d+) ", "".join(github.emit(outcomes)), re.MULTILINE
    )
    assert {(path, int(line), code) for path, line, code in commands} == lines
    results = log_of(outcomes).runs[0].results
    assert len(results) == len(want)
    regions = {(each.rule_id, each.locations[0].physical_location.region.start_line) for each in results}
    assert regions == {(code, line) for _, line, code in lines}


def test_no_two_findings_share_a_fingerprint(outcomes: list[Outcome]) -> None:
    prints = [each.anchor.fingerprint for outcome in outcomes for each in outcome.reported]
    assert len(prints) == len(set(prints))


def extras(model: object) -> set[str]:
    """Return the names anywhere in a model that its classes do not know."""
    if isinstance(model, BaseModel):
        found = set(model.model_extra or {})
        return found.union(*(extras(getattr(model, name)) for name in type(model).model_fields))
    return set().union(*map(extras, model)) if isinstance(model, list) else set()


def test_sarif_has_no_property_that_readers_do_not_know(outcomes: list[Outcome]) -> None:
    assert extras(log_of(outcomes)) <= UNMODELLED


def test_every_finding_about_a_borrow_has_one_code_flow_that_names_its_lines(outcomes: list[Outcome]) -> None:
    flows = 0
    for result in log_of(outcomes).runs[0].results:
        if not result.rule_id.startswith("POL1"):
            continue
        (flow,) = result.code_flows
        (thread,) = flow.thread_flows
        steps = [step.location for step in thread.locations]
        lines = [step.physical_location.region.start_line for step in steps]
        texts = [step.message.text for step in steps]
        assert [text.partition(": ")[0] for text in texts] == [f"line {line}" for line in lines]
        named = {int(line) for line in re.findall(r"\bline (\d+)", result.message.text)}
        leaves = re.compile(r": (?:leaves|returns|the function ends|the last reference|used|returned|caught)")
        assert leaves.search(texts[-1]), texts
        assert named | {result.locations[0].physical_location.region.start_line} <= set(lines), result.message
        assert len(steps) > 1
        flows += 1
    assert flows > 100


def test_sarif_describes_every_rule() -> None:
    driver = log_of([]).runs[0].tool.driver
    described = {rule.id: rule for rule in driver.rules}
    assert list(described) == [rule.code for rule in load_rules()]
    for rule in load_rules():
        made = described[rule.code]
        assert made.name == rule.name
        assert f"external/cwe/cwe-{rule.cwe}" in made.properties["tags"]
        assert "```python" in made.help.markdown
        assert made.default_configuration.enabled is not rule.opt_in


def test_sarif_says_what_was_not_analysed() -> None:
    gave_up = one(Finding(3, 0, INTERNAL_ERROR, "not analysed: why"))
    for outcomes, done, status in (
        ([], True, 0),
        (gave_up, True, 1),
        ([*gave_up, Outcome("x.py", error="x.py: cannot be read: why")], False, 2),
    ):
        (run,) = json.loads("".join(sarif.emit(outcomes)))["runs"]
        (invocation,) = run["invocations"]
        assert (invocation["executionSuccessful"], invocation["exitCode"]) == (done, status)
        assert run["results"] == []
        texts = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
        assert texts == ["not analysed: why", "x.py: cannot be read: why"][: len(outcomes)]


def test_sarif_has_the_fix_with_the_range_that_it_replaces() -> None:
    (run,) = json.loads("".join(sarif.emit(one(Finding(7, 4, "POL101", "lost"), FIX))))["runs"]
    (fix,) = run["results"][0]["fixes"]
    assert fix["description"]["text"] == "use 'with'"
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "a/b.py"
    assert change["replacements"][0] == {
        "deletedRegion": {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 9},
        "insertedContent": {"text": "new"},
    }


@pytest.mark.skipif(os.name == "nt", reason="file names are not bytes on Windows")
def test_uris_are_escaped_and_relative_where_they_can_be() -> None:
    finding = Finding(1, 0, "POL101", "lost")
    for path, uri in (
        ("a b/é.py", "a%20b/%C3%A9.py"),
        (os.fsdecode(b"\xff.py"), "%FF.py"),
        (str(Path.cwd() / "x.py"), "x.py"),
        ("/else/where.py", "file:///else/where.py"),
    ):
        (run,) = json.loads("".join(sarif.emit(one(finding, path=path))))["runs"]
        place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uri"] == uri
        assert ("uriBaseId" in place) == (not uri.startswith("file:"))


def test_a_workflow_command_is_one_escaped_line() -> None:
    finding = Finding(7, 4, "POL101", "100% lost:\r\nreally, now", (Step(7, "borrowed"),))
    (line,) = github.emit(one(finding, path="a,b:c.py"))
    assert line == (
        "::error file=a%2Cb%3Ac.py,line=7,endLine=7,col=5,title=POL101 not-returned-on-error::"
        "100%25 lost:%0D%0Areally, now%0Aline 7: borrowed\n"
    )


def test_an_annotation_of_several_lines_has_no_column() -> None:
    (line,) = github.emit(one(Finding(5, 4, "POL201", "dirty")))
    assert line.startswith("::warning file=a/b.py,line=5,endLine=7,title=")


def test_reviewdog_counts_bytes_and_gets_one_suggestion() -> None:
    text = "# é\n    éééé old\n"
    (diagnostic,) = json.loads("".join(rdjson.emit(one(Finding(2, 9, "POL101", "lost"), FIX, text))))["diagnostics"]
    assert diagnostic["location"]["range"]["start"] == {"line": 2, "column": 14}
    (suggestion,) = diagnostic["suggestions"]
    assert suggestion["range"] == {"start": {"line": 1, "column": 1}, "end": {"line": 2, "column": 13}}
    assert suggestion["text"] == "# é\n é\n    new"
    unsafe = Fix(FIX.title, FIX.edits, safe=False, reason="look")
    (diagnostic,) = json.loads("".join(rdjson.emit(one(Finding(2, 9, "POL101", "lost"), unsafe, text))))["diagnostics"]
    assert "suggestions" not in diagnostic


def test_merged_edits_do_what_the_edits_do() -> None:
    text = "one\ntwo\nthree\n"
    edits = (Edit(3, 0, 4, 0, ""), Edit(1, 1, 1, 2, "N"), Edit(2, 0, 2, 0, "2"))
    assert merged(edits, text) == Edit(1, 1, 4, 0, "Ne\n2two\n")


def test_own_records_name_fix_and_failures() -> None:
    outcomes = [*one(Finding(7, 4, "POL101", "lost"), FIX), Outcome("x.py", error="x.py: cannot be read: why")]
    report = json.loads("".join(records.emit(outcomes)))
    assert report["errors"] == [{"path": "x.py", "message": "x.py: cannot be read: why"}]
    fix = report["findings"][0]["fix"]
    assert (fix["title"], fix["safe"], fix["reason"]) == (FIX.title, True, FIX.reason)
    assert fix["edits"][0] == {"line": 2, "column": 5, "end_line": 2, "end_column": 9, "text": "new"}


def test_a_report_has_the_fixes_that_the_fix_command_makes(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    (project / "leak.py").write_text(LEAK)
    assert main(["check", "-j1", "--format=json", "leak.py"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    fix = finding["fix"]
    assert fix["safe"] is True
    edits = [Edit(e["line"], e["column"] - 1, e["end_line"], e["end_column"] - 1, e["text"]) for e in fix["edits"]]
    assert main(["check", "-j1", "--format=rdjson", "leak.py"]) == 1
    ((suggestion,),) = [each["suggestions"] for each in json.loads(capsys.readouterr().out)["diagnostics"]]
    assert suggestion["text"] == merged(tuple(edits), LEAK).text
    assert main(["check", "-j1", "--format=sarif", "leak.py"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert [each["insertedContent"]["text"] for each in change["replacements"]] == [edit.text for edit in edits]
    assert main(["fix", "leak.py"]) == 0
    assert (project / "leak.py").read_text() == applied(LEAK, edits)


MOVED = [
    f"import os\n\n\n{LEAK}",
    LEAK.replace("conn = pool.getconn()", "conn = pool.getconn()  # a comment"),
    LEAK.replace("conn = pool.getconn()", "conn = pool.getconn(\n    )"),
    LEAK.replace("    conn = pool.getconn()", "    query = query.strip()\n    conn = pool.getconn()"),
]


def fingerprint(text: str, path: str = "a.py", code: str = "POL101") -> str:
    line = text[: text.index("pool.getconn")].count("\n") + 1
    finding = Finding(line, 11, code, f"line {line}")
    return anchors([finding], text, path)[finding].fingerprint


@pytest.mark.parametrize("text", MOVED, ids=["moved", "comment", "wrapped", "neighbour"])
def test_a_fingerprint_survives_edits_elsewhere(text: str) -> None:
    assert fingerprint(text) == fingerprint(LEAK)


def test_a_fingerprint_changes_with_what_it_names() -> None:
    others = {
        fingerprint(LEAK, path="b.py"),
        fingerprint(LEAK, code="POL102"),
        fingerprint(LEAK.replace("def load", "def read")),
        fingerprint(LEAK.replace("conn = ", "link = ")),
        fingerprint(LEAK),
    }
    assert len(others) == 5


def test_equal_statements_of_one_function_are_counted() -> None:
    text = "def f():\n    a()\n    a()\n"
    first, second = Finding(2, 4, "POL101", ""), Finding(3, 4, "POL101", "")
    found = anchors([second, first], text, "a.py")
    assert found[first].fingerprint != found[second].fingerprint
    assert found[first].function == "f"


PARTS = """\
@wraps(
    a)
class C:
    def f(self,
          x):
        with a(
            b()) as c:
            pass
        try:
            one(
              2)
        except g(h()):
            pass
        match x:
            case 1 if r():
                s()
"""


@pytest.mark.parametrize(
    ("line", "function", "statement"),
    [
        (2, "C", "@wraps( a) class C:"),
        (5, "C.f", "def f(self, x):"),
        (7, "C.f", "with a( b()) as c:"),
        (10, "C.f", "one( 2)"),
        (12, "C.f", "except g(h()):"),
        (15, "C.f", "match x: case 1 if r():"),
    ],
)
def test_the_statement_is_the_part_that_stands_on_the_line(line: int, function: str, statement: str) -> None:
    finding = Finding(line, 0, "POL101", "")
    anchor = anchors([finding], PARTS, "a.py")[finding]
    assert (anchor.function, anchor.statement) == (function, statement)


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_can_go_to_a_file(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(project)
    (project / "leak.py").write_text(LEAK)
    assert main(["check", "-j1", "--format", name, "leak.py"]) == 1
    printed = capsys.readouterr().out
    assert "POL101" in printed
    assert main(["check", "-j1", "--format", name, "--output", "out/report", "leak.py"]) == 1
    assert capsys.readouterr().out == ""
    assert (project / "out" / "report").read_text(encoding="utf-8") == printed
    assert os.listdir(project / "out") == ["report"]  # noqa: PTH208 - the names are compared
    (project / "leak.py").write_text("")
    assert main(["check", "-j1", "--format", name, "--output", "out/report", "leak.py"]) == 0
    assert "leak.py" not in (project / "out" / "report").read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_is_one_line(project: Path, pool_lint: Command) -> None:
    (project / "leak.py").write_text(LEAK)
    (project / "taken").write_text("")
    done = pool_lint("check", "--output", "taken/report", "leak.py")
    assert re.fullmatch(r"pool-lint: taken/report: cannot be written: .*\n", done.stderr)
    assert done.returncode == 2


@pytest.mark.parametrize("options", [["--format=pylint"], ["--format=json"]], ids=["pylint", "flake8-json"])
def test_flake8_formatters_work(project: Path, flake8: Command, options: list[str]) -> None:
    (project / "leak.py").write_text(LEAK)
    done = flake8("--select=POL", *options, "leak.py")
    assert "POL101" in done.stdout
    assert (done.returncode, done.stderr) == (1, "")
    if options == ["--format=json"]:
        (found,) = json.loads(done.stdout)["leak.py"]
        assert (found["code"], found["line_number"], found["column_number"]) == ("POL101", 7, 12)
    else:
        assert done.stdout.startswith("leak.py:7: [POL101] ")
        assert heads(done.stdout) == []
