"""Settings: what a user may choose, from ``[tool.pool_lint]`` of pyproject.toml and from flags."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pool_lint.files import PoolLintError, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pool_lint.catalog.spec import PoolSpec

MAY_RAISE = ("calls", "handle", "any")
KEYS = (
    "may_raise", "no_raise", "margin", "threads", "profile", "baseline", "pool", "across_files", "src", "cache_dir",
)  # fmt: skip
SRC = (".", "src")
PROFILE_FILE = "pool-lint-profile.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may choose.

    ``may_raise`` says what is taken to raise: ``calls`` (calls, awaits, subscripts and the like), ``handle``
    (only what touches the borrowed object) or ``any`` (arithmetic and attribute loads too).
    ``no_raise`` adds functions, by dotted name, and methods, by name, that never raise.
    ``models`` are the user's own pools, in the catalog's schema.
    ``margin``: by how much creating an object has to be cheaper than pooling it before that is reported.
    ``threads``: how many threads are taken to contend for a pool.
    ``profile``: the file of measured costs, or the name of a bundled one; "" for that of this interpreter.
    ``baseline``: the file of findings that are known and not reported; "" for none.
    ``across_files``: whether what a file imports from its project is looked into; ``src``: the folders in which
    absolute imports are looked up; ``cache_dir``: the folder of the cache, "" for the user's own.
    """

    may_raise: str = "calls"
    no_raise: tuple[str, ...] = ()
    models: tuple[PoolSpec, ...] = ()
    margin: float = 1.5
    threads: int = 1
    profile: str = ""
    baseline: str = ""
    across_files: bool = True
    src: tuple[str, ...] = ()
    cache_dir: str = ""


def load_settings(start_dir: Path) -> Settings:
    """Return the settings of the nearest pyproject.toml in ``start_dir`` or a folder above it."""
    start = start_dir.absolute()
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        if path.is_file():
            return _with_baseline(_with_profile(_with_folders(_settings_of(path), folder), folder), folder)
    return Settings()


def project_root(start_dir: Path) -> Path:
    """Return the folder that paths in fingerprints are relative to: that of the nearest pyproject.toml, if any."""
    start = start_dir.absolute()
    return next((folder for folder in (start, *start.parents) if (folder / "pyproject.toml").is_file()), start)


def _with_baseline(settings: Settings, folder: Path) -> Settings:
    return replace(settings, baseline=str(folder / settings.baseline)) if settings.baseline else settings


def _with_folders(settings: Settings, folder: Path) -> Settings:
    """Settle which folders ``src`` and ``cache_dir`` mean: relative to pyproject.toml."""
    src = tuple(os.path.normpath(folder / each) for each in settings.src or SRC)
    return replace(settings, src=src, cache_dir=str(folder / settings.cache_dir) if settings.cache_dir else "")


def _with_profile(settings: Settings, folder: Path) -> Settings:
    """Settle which file ``profile`` means: relative to pyproject.toml, or the one beside it."""
    if settings.profile.startswith("bundled-"):
        return settings
    if settings.profile:
        return replace(settings, profile=str(folder / settings.profile))
    beside = folder / PROFILE_FILE
    return replace(settings, profile=str(beside)) if beside.is_file() else settings


def parse_settings(table: Mapping[str, object], where: str) -> Settings:
    """Return the settings of one table; ``where`` names it in errors."""
    for key in table:
        if key not in KEYS:
            import difflib  # noqa: PLC0415 - only a slip needs it

            near = difflib.get_close_matches(key.replace("-", "_"), KEYS, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; known keys: {', '.join(KEYS)}"
            raise PoolLintError(f"{where}.{key}: unknown key{hint}")
    models: tuple[PoolSpec, ...] = ()
    if "pool" in table:
        from pool_lint.catalog.load import parse_pools  # noqa: PLC0415 - few have models, and it takes half the start

        models = parse_pools({"pool": table["pool"]}, where)
    settings = override(Settings(models=models), table.get("may_raise"), table.get("no_raise"), f"{where}.")
    settings = replace(
        settings,
        across_files=_switch(table.get("across_files", settings.across_files), f"{where}.across_files"),
        src=_folders(table.get("src"), f"{where}.src"),
        cache_dir=_folder(table["cache_dir"], f"{where}.cache_dir") if "cache_dir" in table else "",
    )
    settings = override_costs(settings, table.get("margin"), table.get("threads"), table.get("profile"), f"{where}.")
    return override_baseline(settings, table.get("baseline"), f"{where}.")


def override_baseline(settings: Settings, baseline: object, prefix: str) -> Settings:
    """Return ``settings`` with this baseline, where it is not None (see ``override``)."""
    if baseline is None:
        return settings
    if not isinstance(baseline, str) or not baseline:
        raise PoolLintError(f"{prefix}baseline: must name a file")
    return replace(settings, baseline=baseline)


def override_costs(settings: Settings, margin: object, threads: object, profile: object, prefix: str) -> Settings:
    """Return ``settings`` with those values about costs that are not None (see ``override``)."""
    if margin is not None:
        settings = replace(settings, margin=_number(margin, f"{prefix}margin"))
    if threads is not None:
        count = _number(threads, f"{prefix}threads")
        if count != int(count):
            raise PoolLintError(f"{prefix}threads: must be a whole number")
        settings = replace(settings, threads=int(count))
    if profile is not None:
        if not isinstance(profile, str) or not profile:
            raise PoolLintError(f"{prefix}profile: must name a file")
        settings = replace(settings, profile=profile)
    return settings


def override(settings: Settings, may_raise: object, no_raise: object, prefix: str) -> Settings:
    """Return ``settings`` with those values that are not None; ``prefix`` and key name them in errors."""
    if may_raise is not None:
        settings = replace(settings, may_raise=_choice(may_raise, f"{prefix}may_raise"))
    if no_raise is not None:
        settings = replace(settings, no_raise=_names(no_raise, f"{prefix}no_raise"))
    return settings


def _settings_of(path: Path) -> Settings:
    table: object = read_toml(path)
    for key in ("tool", "pool_lint"):
        table = table.get(key, {}) if isinstance(table, dict) else table
    if not isinstance(table, dict):
        raise PoolLintError(f"{path}: tool.pool_lint: must be a table")
    return parse_settings(table, f"{path}: tool.pool_lint")


def _choice(value: object, where: str) -> str:
    if value not in MAY_RAISE:
        raise PoolLintError(f"{where}: {value!r} is not one of {', '.join(MAY_RAISE)}")
    return str(value)


def _number(value: object, where: str) -> float:
    try:
        number = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else 0.0
    except ValueError:
        number = 0.0
    if not 1 <= number < 1e6:  # noqa: PLR2004 - more threads, or a wider margin, is a slip
        raise PoolLintError(f"{where}: {value!r} is not a number of at least 1")
    return number


def _switch(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise PoolLintError(f"{where}: must be true or false")
    return value


def _folders(value: object, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not value:
        raise PoolLintError(f"{where}: must be a list of folders")
    return tuple(_folder(each, where) for each in value)


def _folder(value: object, where: str) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise PoolLintError(f"{where}: {value!r} is not the name of a folder")
    return value


def _names(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
        raise PoolLintError(f"{where}: must be a list of names")
    names: Sequence[str] = value
    for name in names:
        if not all(part.isidentifier() for part in name.split(".")):
            raise PoolLintError(f"{where}: {name!r} is not a name")
    return tuple(names)
