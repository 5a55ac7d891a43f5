"""Find the file of an imported module as type checkers do: below the folder that holds its package, then `src`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

_INIT = "__init__"
_SUFFIXES = (".py", ".pyi")
_INSTALLED = frozenset(("site-packages", "dist-packages"))
# A package that programs import from elsewhere is not a folder that happens to be called so.
_STANDARD = frozenset(sys.stdlib_module_names) | {"__main__", "imp", "asyncore", "asynchat", "smtpd", "distutils"}


@dataclass(slots=True)
class Roots:
    """Where absolute imports are looked up: ``src`` are folders, in their order; what it has read it remembers."""

    src: tuple[str, ...] = ()
    _entries: dict[str, dict[str, bool]] = field(default_factory=dict)
    _tops: dict[str, str] = field(default_factory=dict)

    def locate(self, importer: str, level: int, parts: tuple[str, ...]) -> list[str | None] | None:
        """Return the file of each module on the way to the one that is imported, as far as there are modules.

        ``level`` counts the dots of a relative import.  None stands for a folder without a file of its own (a
        namespace package).  Returns None for what is not of this project.
        """
        if level:
            return self._relative(importer, level, parts)
        if not parts or parts[0] in _STANDARD:
            return None
        namespaces: list[str] = []
        for root in self._roots_of(importer):
            if self._is_foreign(root, parts[0], importer):
                continue
            if self._module(root, parts[0]) is not None:
                return self._below([root], parts)
            if self._is_folder(root, parts[0]):
                namespaces.append(root)
        return self._below(namespaces, parts) if namespaces else None

    def top_of(self, path: str) -> str:
        """The folder that holds the outermost package of a file."""
        folder = os.path.dirname(path)  # noqa: PTH120 - Path costs more than the rest of it
        if folder not in self._tops:
            top = folder
            while f"{_INIT}.py" in self._list(top) or f"{_INIT}.pyi" in self._list(top):
                above = os.path.dirname(top)  # noqa: PTH120 - as above
                if above == top:
                    break
                top = above
            self._tops[folder] = top
        return self._tops[folder]

    def relative(self, path: str) -> str:
        """A name for a file that is its own: its path from the first of the folders, where there is one."""
        return path.removeprefix(self.src[0] + os.sep) if self.src else path

    def _roots_of(self, importer: str) -> list[str]:
        return list(dict.fromkeys((self.top_of(importer), *self.src)))

    def _is_foreign(self, root: str, name: str, importer: str) -> bool:
        """Whether what lies in a folder of installed packages is another package than the importer's own."""
        if _INSTALLED.isdisjoint(Path(root).parts):
            return False
        return not importer.startswith((f"{root}{os.sep}{name}{os.sep}", f"{root}{os.sep}{name}."))

    def _relative(self, importer: str, level: int, parts: tuple[str, ...]) -> list[str | None] | None:
        folder = os.path.dirname(importer)  # noqa: PTH120 - as above
        top = self.top_of(importer)
        for _ in range(level - 1):
            if folder == top and folder not in self.src and not any(folder.startswith(s + os.sep) for s in self.src):
                return None
            folder = os.path.dirname(folder)  # noqa: PTH120 - as above
        own = self._file(folder, _INIT)
        if not parts:
            return [own]
        found = self._below([folder], parts)
        return [own, *found] if found else [own]

    def _below(self, folders: list[str], parts: tuple[str, ...]) -> list[str | None]:
        found: list[str | None] = []
        for part in parts:
            file = next((each for folder in folders if (each := self._module(folder, part)) is not None), None)
            inner = [f"{folder}{os.sep}{part}" for folder in folders if self._is_folder(folder, part)]
            if file is not None:
                inner = [os.path.dirname(file)] if _stem(file) == _INIT else []  # noqa: PTH120 - as above
            elif not inner:
                break
            found.append(file)
            folders = inner
        return found

    def _module(self, folder: str, name: str) -> str | None:
        """The file of a module or package directly below a folder."""
        if name in _INSTALLED or not name.isidentifier():
            return None
        if self._is_folder(folder, name):
            package = self._file(f"{folder}{os.sep}{name}", _INIT)
            if package is not None:
                return package
        return self._file(folder, name)

    def _file(self, folder: str, stem: str) -> str | None:
        entries = self._list(folder)
        for suffix in _SUFFIXES:
            if entries.get(stem + suffix) is False:
                return f"{folder}{os.sep}{stem}{suffix}"
        return None

    def _is_folder(self, folder: str, name: str) -> bool:
        return self._list(folder).get(name, False) and name not in _INSTALLED

    def _list(self, folder: str) -> dict[str, bool]:
        """The entries of a folder, exactly as they are spelled, and whether each is a folder itself."""
        found = self._entries.get(folder)
        if found is None:
            try:
                with os.scandir(folder) as entries:
                    found = {entry.name: entry.is_dir() for entry in entries}
            except (OSError, ValueError):
                found = {}
            self._entries[folder] = found
        return found


def _stem(path: str) -> str:
    return os.path.basename(path).partition(".")[0]  # noqa: PTH119 - as above
