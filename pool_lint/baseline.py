"""The findings that are known: a file of them, so that an old code base can start clean.

Entries are keyed by fingerprints (see `fingerprint`), which moved lines do not change.  What else an entry says is for
its reviewers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.files import PoolLintError, read_json

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = 1
_KEYS = ("code", "function", "statement", "fingerprint")


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One known finding, in the order in which the file lists them."""

    path: str
    code: str
    function: str
    statement: str
    fingerprint: str


def load_baseline(path: Path) -> frozenset[Entry]:
    """Return the entries of a baseline file; what is wrong with it is said in one line."""
    data = read_json(path)
    if not isinstance(data, dict) or "schema" not in data or "findings" not in data:
        raise PoolLintError(f"{path}: is not a baseline of pool_lint")
    if data["schema"] != SCHEMA:
        raise PoolLintError(
            f"{path}: schema {data['schema']!r} is not {SCHEMA}, which this version reads: write it anew"
        )
    files = data["findings"]
    if not isinstance(files, dict):
        raise PoolLintError(f"{path}: findings: must be a table of files")
    return frozenset(
        _entry(name, row, f"{path}: findings.{name}[{number}]")
        for name, rows in files.items()
        for number, row in enumerate(_rows(rows, f"{path}: findings.{name}"))
    )


def known_fingerprints(path: str) -> frozenset[str]:
    """Return the fingerprints of a baseline, named as in the settings: "" for none."""
    return frozenset(entry.fingerprint for entry in load_baseline(Path(path))) if path else frozenset()


def as_json(entries: Iterable[Entry]) -> str:
    """Return the text of a baseline file: sorted, one entry a line, so that a change of it can be reviewed."""
    files: dict[str, list[str]] = {}
    for entry in sorted(entries):
        row = _quoted({key: getattr(entry, key) for key in _KEYS})
        files.setdefault(entry.path, []).append(row)
    blocks = [
        f"    {_quoted(path)}: [\n" + ",\n".join(f"      {row}" for row in rows) + "\n    ]"
        for path, rows in files.items()
    ]
    inside = "{\n" + ",\n".join(blocks) + "\n  }" if blocks else "{}"
    return f'{{\n  "schema": {SCHEMA},\n  "findings": {inside}\n}}\n'


def _quoted(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # bytes of a file name that are no text
        return json.dumps(value)
    return text


def _rows(rows: object, where: str) -> list[object]:
    if not isinstance(rows, list):
        raise PoolLintError(f"{where}: must be a list")
    return rows


def _entry(path: str, row: object, where: str) -> Entry:
    if not isinstance(row, dict):
        raise PoolLintError(f"{where}: must be a table")
    for key in _KEYS:
        if not isinstance(row.get(key), str):
            raise PoolLintError(f"{where}.{key}: must be a text")
    return Entry(path, *(row[key] for key in _KEYS))
