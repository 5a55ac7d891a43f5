"""What one file says about how many connections it opens and keeps."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pool_lint.bounds.connections import Connections
from pool_lint.bounds.faults import Dropped, Unbounded
from pool_lint.bounds.homemade import homemade_faults
from pool_lint.bounds.keepers import Keepers
from pool_lint.bounds.library import LibraryBounds, Unlimited
from pool_lint.bounds.scan import scan
from pool_lint.bounds.values import Values

if TYPE_CHECKING:
    from pool_lint.typestate.file import FileAnalysis


class FileBounds:
    """The bounds of one file, worked out when a rule asks."""

    def __init__(self, file: FileAnalysis, path: str) -> None:
        self.file = file
        self.types = file.types
        self.catalog = file.catalog
        self.connections = Connections(file.types, file.catalog)
        self.values = Values(file.types, file.tree)
        self.library = LibraryBounds(file.catalog, self.connections, self.values, path)
        self.bodies = scan(file.tree)

    @cached_property
    def unlimited(self) -> list[Unlimited]:
        """The calls that make library pools without a limit."""
        found = (self.library.unlimited(call, body.scope) for body in self.bodies.values() for call in body.calls)
        return [each for each in found if each is not None]

    @cached_property
    def keepers(self) -> Keepers:
        """The containers that may keep connections."""
        return Keepers(self.types, self.file.containers, self.catalog, self.values, self.connections, self.bodies)

    @cached_property
    def _homemade(self) -> list[Unbounded | Dropped]:
        return list(homemade_faults(self.types, self.connections, self.keepers, self.values, self.bodies))

    @property
    def unbounded(self) -> list[Unbounded]:
        """Home-made pools of connections without a limit."""
        return [fault for fault in self._homemade if isinstance(fault, Unbounded)]

    @property
    def dropped(self) -> list[Dropped]:
        """Containers that drop connections without closing them."""
        return [fault for fault in self._homemade if isinstance(fault, Dropped)]
