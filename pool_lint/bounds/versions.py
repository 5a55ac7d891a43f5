"""Which version of a library a program runs with, found without importing it.

The project's own word comes first: a lock file, then what its requirements allow.  Where they leave it open, the
metadata of the interpreter that runs decides, if it is a version that they allow.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Version = tuple[int, ...]
_FIRST: Version = (0,)
_LAST: Version = (10**9,)
_FARTHEST = 12
_LARGEST = 20_000_000


@dataclass(frozen=True, slots=True)
class Range:
    """The versions from ``low`` to below ``high``."""

    low: Version = _FIRST
    high: Version = _LAST

    def within(self, other: Range) -> bool | None:
        """Whether all versions of this range are in another one; None where only some are."""
        if _padded(self.low) >= _padded(other.low) and _padded(self.high) <= _padded(other.high):
            return True
        if _padded(self.high) <= _padded(other.low) or _padded(self.low) >= _padded(other.high):
            return False
        return None

    def meet(self, other: Range) -> Range:
        """The versions that are in both."""
        return Range(max(self.low, other.low, key=_padded), min(self.high, other.high, key=_padded))

    def is_single(self) -> bool:
        """Whether it is one version."""
        return _padded(self.high) == (*_padded(self.low)[:-1], 1)


def parse_range(text: str) -> Range:
    """The range that a requirement's comparisons leave (``>=5,<6``, ``==5.0.*``, ``^5.1``); what is unknown is left."""
    found = Range()
    for clause in text.split(","):
        match = _CLAUSE.match(clause.strip())
        if match is None:
            continue
        operator, numbers, star = match[1] or "==", match[2], match[3]
        version = tuple(int(part) for part in numbers.split("."))
        found = found.meet(_clause(operator, version, is_star=bool(star)))
    return found


def known_range(distributions: Iterable[str], path: str) -> Range | None:
    """The versions of a distribution that a file may run with; None where nothing is known."""
    names = tuple(sorted(_normal(name) for name in distributions))
    return _known(names, str(_folder(path)))


@cache
def _known(names: tuple[str, ...], folder: str) -> Range | None:
    asked: Range | None = None
    for place in _upwards(Path(folder)):
        said = _project(str(place))
        for name in names:
            if name in said:
                asked = said[name]
                break
        if asked is not None or (place / ".git").exists():
            break
    if asked is not None and asked.is_single():
        return asked
    installed = next((found for name in names if (found := _installed(name)) is not None), None)
    if installed is None:
        return asked
    return installed if asked is None or installed.within(asked) else asked


def _installed(name: str) -> Range | None:
    try:
        text = metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None
    return parse_range(f"=={text}") if _CLAUSE.match(text) else None


@cache
def _project(folder: str) -> dict[str, Range]:
    """What the files of one folder say, the surest first."""
    place = Path(folder)
    found: dict[str, Range] = {}
    for name, read in (
        ("uv.lock", _toml_lock),
        ("poetry.lock", _toml_lock),
        ("pdm.lock", _toml_lock),
        ("pylock.toml", _toml_lock),
        ("Pipfile.lock", _pipfile_lock),
        ("pyproject.toml", _pyproject),
    ):
        for package, versions in _read(place / name, read):
            found.setdefault(package, versions)
    for path in sorted(place.glob("*requirements*.txt")) + sorted(place.glob("*constraints*.txt")):
        for package, versions in _read(path, _requirements):
            found[package] = found[package].meet(versions) if package in found else versions
    for package, versions in _read(place / "setup.cfg", _requirements):
        found.setdefault(package, versions)
    return found


def _read(path: Path, reader: Any) -> list[tuple[str, Range]]:  # noqa: ANN401 - one of the readers below
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return []
        return list(reader(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return []  # somebody else's file: what cannot be read is not known


def _toml_lock(text: str) -> Iterator[tuple[str, Range]]:
    loaded = tomli.loads(text)
    for package in (*loaded.get("package", ()), *loaded.get("packages", ())):
        if "version" in package:
            yield _normal(package["name"]), parse_range(f"=={package['version']}")


def _pipfile_lock(text: str) -> Iterator[tuple[str, Range]]:
    loaded = json.loads(text)
    for section in ("default", "develop"):
        for name, package in loaded.get(section, {}).items():
            yield _normal(name), parse_range(package.get("version", ""))


def _pyproject(text: str) -> Iterator[tuple[str, Range]]:
    loaded = tomli.loads(text)
    project = loaded.get("project", {})
    lists = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
    lists += [each for each in loaded.get("dependency-groups", {}).values() if isinstance(each, list)]
    for requirements in lists:
        for line in requirements:
            if isinstance(line, str):
                yield from _requirements(line)
    poetry = loaded.get("tool", {}).get("poetry", {})
    for name, wanted in poetry.get("dependencies", {}).items():
        given = wanted.get("version", "") if isinstance(wanted, dict) else wanted
        yield _normal(name), parse_range(given)


def _requirements(text: str) -> Iterator[tuple[str, Range]]:
    for line in text.split("\n"):
        match = _REQUIREMENT.match(line.partition("#")[0])
        if match is not None and match[2].strip():
            yield _normal(match[1]), parse_range(match[2])


def _clause(operator: str, version: Version, *, is_star: bool) -> Range:
    after = (*_padded(version)[:-1], 1)
    if operator in ("==", "==="):
        return Range(version, _raised(version)) if is_star else Range(version, after)
    if operator == ">=":
        return Range(low=version)
    if operator == ">":
        return Range(low=after)
    if operator == "<":
        return Range(high=version)
    if operator == "<=":
        return Range(high=after)
    if operator == "~=":
        return Range(version, _raised(version[:-1] or version))
    if operator == "~":
        return Range(version, _raised(version[:2]))
    if operator == "^":
        keep = next((index for index, part in enumerate(version) if part), len(version) - 1)
        return Range(version, _raised(version[: keep + 1]))
    return Range()


def _raised(version: Version) -> Version:
    return (*version[:-1], version[-1] + 1)


def _padded(version: Version) -> Version:
    """Five numbers and a last one that is 0, or 1 for just after that version."""
    return (*version, *(0,) * 6)[:6]


def _folder(path: str) -> Path:
    place = Path(path)
    try:
        place = place.absolute()
    except OSError:
        return place.parent
    return place.parent


def _upwards(folder: Path) -> Iterator[Path]:
    yield from (folder, *folder.parents)[:_FARTHEST]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>|\^|~)?\s*v?(\d+(?:\.\d+)*)(\.\*)?")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?((?:[<>=!~][^;)]*)?)")
