"""The pipeline: a tree to everything that rules read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint.bounds.file import FileBounds
from pool_lint.catalog.load import load_catalog
from pool_lint.pools.linked import Linked
from pool_lint.typestate.dirt import Dirt, Leftover
from pool_lint.typestate.file import FileAnalysis, Outcome
from pool_lint.typestate.verdict import Verdict, verdicts
from pool_lint.worth.judge import Worth, explained, judge

if TYPE_CHECKING:
    from pool_lint.catalog.spec import Catalog
    from pool_lint.config import Settings
    from pool_lint.ir import ModuleTree


@dataclass(slots=True, eq=False)
class ModuleAnalysis:
    """One analysed file: its functions that borrow, the verdict on each borrow, what they leave, bounds."""

    file: FileAnalysis
    path: str = ""
    bounds: FileBounds = field(init=False)
    outcomes: list[Outcome] = field(init=False)
    verdicts: list[Verdict] = field(init=False)
    leftovers: list[Leftover] = field(init=False)
    _worth: list[Worth] | None = None

    def __post_init__(self) -> None:
        self.outcomes = self.file.outcomes()
        self.verdicts = list(verdicts(self.file, self.outcomes))
        self.leftovers = Dirt(self.file, self.outcomes).leftovers()
        self.bounds = FileBounds(self.file, self.path)

    def worth(self, code: str) -> list[Worth]:
        """What one of the rules about worth has to say; the costs are asked once, when the first of them asks."""
        if self._worth is None:
            self._worth = list(judge(self.file, self.outcomes))
        return [each for each in self._worth if each.code == code]

    def explained(self, line: int) -> str:
        """The sum behind the verdict on the pool that is built on a line."""
        return explained(self.file, self.outcomes, line)

    @property
    def tree(self) -> ModuleTree:
        """The statements, functions and classes of the file."""
        return self.file.tree


def analyse(tree: ModuleTree, settings: Settings, path: str = "", linked: Linked | None = None) -> ModuleAnalysis:
    """Return the analysis of one file; near its ``path`` stands which versions of libraries it uses.

    ``linked``: what other modules of its project add to it.
    """
    return ModuleAnalysis(FileAnalysis(tree, _catalog(settings), settings, linked or Linked()), path)


def _catalog(settings: Settings) -> Catalog:
    catalog = load_catalog()
    return catalog.extended_with(settings.models) if settings.models else catalog
