"""Print findings as SARIF 2.1.0: what code-scanning services and editors read.

Lines and columns count from 1, columns in characters.  Each finding that has a witness has one code flow: the steps
from the borrow over the line that raises or leaves to the exit.
"""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote

from pool_lint import __version__
from pool_lint.codes import INTERNAL_ERROR
from pool_lint.finding import Step
from pool_lint.report import level_of
from pool_lint.rules import load_rules
from pool_lint.rules.documentation import as_markdown, as_text, documentation
from pool_lint.typestate.verdict import RAISING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pool_lint.finding import Edit, Fix
    from pool_lint.report import Outcome, Reported
    from pool_lint.rules.base import LoadedRule

Json = dict[str, object]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
# Changes with what is hashed: see `fingerprint`.
_FINGERPRINT = "poolLint/v1"
_GAVE_UP = "a function or file was not analysed to the end"


def emit(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the log."""
    rules = load_rules()
    indices = {rule.code: index for index, rule in enumerate(rules)}
    results: list[Json] = []
    notifications: list[Json] = []
    found = failed = False
    for outcome in outcomes:
        found = found or bool(outcome.reported)
        for each in outcome.reported:
            if each.finding.code == INTERNAL_ERROR:
                notifications.append(_notification("warning", each.finding.message, outcome.path, each.finding.line))
            else:
                results.append(_result(outcome.path, each, indices[each.finding.code]))
        if outcome.error:
            failed = True
            notifications.append(_notification("error", outcome.error, outcome.path))
    run = {
        "tool": {"driver": _driver(rules)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "the folder in which pool-lint was run"}}},
        "invocations": [
            {
                "executionSuccessful": not failed,
                "exitCode": 2 if failed else int(found),
                "toolExecutionNotifications": notifications,
            }
        ],
        "results": results,
    }
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _driver(rules: Sequence[LoadedRule]) -> Json:
    return {
        "name": "pool_lint",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in rules],
        "notifications": [{"id": INTERNAL_ERROR, "name": "not-analysed", "shortDescription": {"text": _GAVE_UP}}],
    }


def _rule(rule: LoadedRule) -> Json:
    doc = documentation(rule)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": doc.summary},
        "fullDescription": {"text": "\n\n".join(part for part in (doc.summary, doc.prose) if part)},
        "help": {"text": as_text(rule), "markdown": as_markdown(rule)},
        "defaultConfiguration": {"enabled": not rule.opt_in, "level": level_of(rule.code)},
        "properties": {"tags": ["pool", "reliability", f"external/cwe/cwe-{rule.cwe}"]},
    }


def _result(path: str, each: Reported, index: int) -> Json:
    finding = each.finding
    location = _location(path, finding.line, finding.column)
    if each.anchor.function:
        location["logicalLocations"] = [{"fullyQualifiedName": each.anchor.function}]
    result: Json = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": level_of(finding.code),
        "message": {"text": finding.message},
        "locations": [location],
        "partialFingerprints": {_FINGERPRINT: each.anchor.fingerprint},
    }
    if finding.witness:
        steps = [_step(path, step, number) for number, step in enumerate(_way(each))]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if each.fix is not None:
        result["fixes"] = [_fix(path, each.fix)]
    return result


def _way(each: Reported) -> Iterator[Step]:
    """The steps of a witness and, where the last of them raises, how the exception leaves."""
    yield from each.finding.witness
    last = each.finding.witness[-1]
    if last.text in RAISING:
        yield Step(last.line, f"leaves {each.anchor.function or 'the module'} with the object still out")


def _step(path: str, step: Step, number: int) -> Json:
    return {
        "location": {**_location(path, step.line), "message": {"text": f"line {step.line}: {step.text}"}},
        "executionOrder": number,
    }


def _fix(path: str, fix: Fix) -> Json:
    safety = "" if fix.safe else " (to be looked at: "
    text = f"{fix.title}{safety}{fix.reason})" if safety else fix.title
    change = {"artifactLocation": _artifact(path), "replacements": [_replacement(edit) for edit in fix.edits]}
    return {"description": {"text": text}, "artifactChanges": [change]}


def _replacement(edit: Edit) -> Json:
    region = {
        "startLine": edit.line,
        "startColumn": edit.column + 1,
        "endLine": edit.end_line,
        "endColumn": edit.end_column + 1,
    }
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _notification(level: str, text: str, path: str, line: int = 1) -> Json:
    made: Json = {"level": level, "message": {"text": text}, "locations": [_location(path, line)]}
    return made if level == "error" else made | {"descriptor": {"id": INTERNAL_ERROR, "index": 0}}


def _location(path: str, line: int, column: int | None = None) -> Json:
    region = {"startLine": line} if column is None else {"startLine": line, "startColumn": column + 1}
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}


def _artifact(path: str) -> Json:
    pure = PurePath(path)
    if pure.is_absolute():
        try:
            pure = pure.relative_to(Path.cwd())
        except ValueError:
            # outside the folder that URIs are relative to
            return {"uri": pure.as_uri()}
    # bytes that are no text are escaped like any other
    return {"uri": quote(os.fsencode(pure.as_posix())), "uriBaseId": _ROOT}
