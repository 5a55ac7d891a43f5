"""The baseline of one run: which findings it holds, which of its entries match nothing, what it should hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.baseline import Entry, load_baseline
from pool_lint.config import project_root
from pool_lint.fingerprint import relative_path

if TYPE_CHECKING:
    from pool_lint.commands.selection import Selection
    from pool_lint.report import Outcome


class Known:
    """The entries of a baseline file, and those that one run has met."""

    def __init__(self, path: Path, selection: Selection, *, must_exist: bool = True) -> None:
        self.path = path
        self._selection = selection
        self._root = project_root(Path.cwd())
        self._entries = load_baseline(path) if must_exist or path.exists() else frozenset[Entry]()
        self._fingerprints = {entry.fingerprint for entry in self._entries}
        self._checked: set[str] = set()
        self._met: set[Entry] = set()

    def without(self, outcome: Outcome) -> Outcome:
        """Return what came of a file without the findings that are known."""
        path = relative_path(outcome.path, self._root)
        if not outcome.error:
            self._checked.add(path)
        for each in outcome.reported:
            anchor = each.anchor
            self._met.add(Entry(path, each.finding.code, anchor.function, anchor.statement, anchor.fingerprint))
        kept = [each for each in outcome.reported if each.anchor.fingerprint not in self._fingerprints]
        return replace(outcome, reported=tuple(kept))

    def stale(self) -> int:
        """How many entries match nothing any more, of the files and codes that this run has looked at."""
        met = {entry.fingerprint for entry in self._met}
        return sum(self._is_settled(entry) and entry.fingerprint not in met for entry in self._entries)

    def refreshed(self) -> set[Entry]:
        """The entries that the file should have: what was met, and what this run has not looked at."""
        return self._met | {entry for entry in self._entries if not self._is_settled(entry)}

    def _is_settled(self, entry: Entry) -> bool:
        """Whether this run would have met an entry that still holds."""
        if not self._selection.wants(entry.code):
            return False
        return entry.path in self._checked or not (self._root / entry.path).exists()
