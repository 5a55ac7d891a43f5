"""Load the catalog: what the package's TOML files say of pools, containers, calls and exceptions."""

from __future__ import annotations

import functools
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.catalog.schema import checked, dotted, listed, name, table, text
from pool_lint.catalog.spec import Catalog, ContainerSpec, PoolSpec, with_specs
from pool_lint.files import PoolLintError, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent
PREBUILT = FOLDER / "prebuilt.json"

# These files hold something else than the pools of one library.
CONTAINERS = "stdlib.toml"
CALLS = "no_raise.toml"
ERRORS = "errors.toml"
RESOURCES = "resources.toml"
OTHERS = (CONTAINERS, CALLS, ERRORS, RESOURCES)

_CALL_KEYS = {
    "functions": listed(dotted),
    "methods": listed(name),
    "logger_factories": listed(dotted),
    "logger_names": listed(name),
    "logger_methods": listed(name),
    "never_keep": listed(dotted),
    "never_keep_methods": listed(name),
}


@functools.cache
def load_catalog() -> Catalog:
    """Return all that the package knows, read once in a process."""
    return catalog_of(_read_files())


def catalog_of(files: Mapping[str, Mapping[str, object]]) -> Catalog:
    """Return the catalog that parsed TOML files make together, by their names."""
    specs = tuple(spec for where, found in files.items() if where not in OTHERS for spec in _library(found, where))
    _refuse_twice(specs)
    containers = parse_containers(files.get(CONTAINERS, {}), CONTAINERS)
    calls = parse_calls(files.get(CALLS, {}), CALLS)
    parents, aliases = parse_errors(files.get(ERRORS, {}), ERRORS)
    resources = parse_resources(files.get(RESOURCES, {}), RESOURCES)
    empty = Catalog(
        specs=(),
        by_class={},
        by_factory={},
        never_keep=calls["never_keep"],
        no_raise_methods=calls["methods"],
        no_raise_functions=calls["functions"],
        containers=containers,
        by_container={class_: container for container in containers for class_ in container.classes},
        never_keep_methods=calls["never_keep_methods"],
        logger_factories=calls["logger_factories"],
        logger_names=calls["logger_names"],
        logger_methods=calls["logger_methods"],
        connections=resources["connections"],
        connection_types=resources["connection_types"],
        external=resources["external"],
        shareable=resources["shareable"],
        dropping=resources["dropping"],
        memoizers=resources["memoizers"],
        error_parents=parents,
        error_aliases=aliases,
    )
    return with_specs(empty, specs)


def prebuild() -> str:
    """Return the text of ``prebuilt.json``: the parsed files, each beside the checksum of what was parsed."""
    paths = sorted(FOLDER.glob("*.toml"))
    entries = {path.name: [zlib.crc32(path.read_bytes()), read_toml(path)] for path in paths}
    lines = (f"{json.dumps(name)}: {json.dumps(entry, separators=(',', ':'))}" for name, entry in entries.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def parse_pools(mapping: Mapping[str, object], where: str) -> tuple[PoolSpec, ...]:
    """Return the pools of ``mapping["pool"]``, a list of tables; ``where`` names the file and the key above it.

    The keys ``library`` and ``distributions`` beside it hold for each of them.
    """
    entries = mapping.get("pool", [])
    key = _key(where, "pool")
    if not isinstance(entries, list):
        raise PoolLintError(f"{key}: must be a list of tables")
    specs = tuple(_pool(entry, f"{key}[{position}]", mapping, where) for position, entry in enumerate(entries))
    _refuse_twice(specs, key)
    return specs


def parse_containers(mapping: Mapping[str, object], where: str) -> tuple[ContainerSpec, ...]:
    """Return the containers of ``mapping["container"]``."""
    _refuse_unknown(mapping, ("container",), where)
    key = _key(where, "container")
    entries = mapping.get("container", [])
    return checked(listed(table(ContainerSpec)), entries, key)


def parse_calls(mapping: Mapping[str, object], where: str) -> dict[str, frozenset[str]]:
    """Return the lists of calls that do not raise or never keep what they are given."""
    _refuse_unknown(mapping, tuple(_CALL_KEYS), where)
    return {key: frozenset(checked(read, mapping.get(key, []), _key(where, key))) for key, read in _CALL_KEYS.items()}


def parse_resources(mapping: Mapping[str, object], where: str) -> dict[str, frozenset[str]]:
    """Return what makes a connection or another thing outside the process, and what keeps or drops such things."""
    keys = ("connections", "connection_types", "external", "shareable", "dropping", "memoizers")
    _refuse_unknown(mapping, keys, where)
    return {key: frozenset(checked(listed(dotted), mapping.get(key, []), _key(where, key))) for key in keys}


def parse_errors(mapping: Mapping[str, object], where: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return which exception derives from which, and which names mean the same one.

    Each table of ``parents`` is named for a base and lists what derives from it; each of ``aliases`` is named
    for the name that is used here and lists the others.
    """
    _refuse_unknown(mapping, ("parents", "aliases"), where)
    parents = _by_member(mapping.get("parents", {}), _key(where, "parents"))
    aliases = _by_member(mapping.get("aliases", {}), _key(where, "aliases"))
    for child in parents:
        if child in aliases:
            raise PoolLintError(f"{_key(where, 'parents')}: {child!r} is an alias of {aliases[child]!r}")
    return parents, aliases


def _read_files() -> dict[str, Mapping[str, object]]:
    # Parsing TOML in pure Python takes most of the time; the checksum keeps a changed file from being missed.
    prebuilt = json.loads(PREBUILT.read_bytes()) if PREBUILT.exists() else {}
    files: dict[str, Mapping[str, object]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        checksum, parsed = prebuilt.get(path.name, (None, {}))
        files[path.name] = parsed if checksum == zlib.crc32(path.read_bytes()) else read_toml(path)
    return files


def _library(mapping: Mapping[str, object], where: str) -> tuple[PoolSpec, ...]:
    _refuse_unknown(mapping, ("library", "distributions", "pool"), where)
    if "library" not in mapping:
        raise PoolLintError(f"{where}: library: missing key")
    return parse_pools(mapping, where)


def _pool(entry: object, at: str, above: Mapping[str, object], where: str) -> PoolSpec:
    given: dict[str, object] = {}
    if "library" in above:
        given["library"] = checked(text, above["library"], _key(where, "library"))
    elif isinstance(entry, dict) and isinstance(entry.get("id"), str):
        given["library"] = entry["id"].split(".")[0]
    if "distributions" in above:
        given["distributions"] = checked(listed(text), above["distributions"], _key(where, "distributions"))
    return checked(table(PoolSpec, given), entry, at)


def _by_member(value: object, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise PoolLintError(f"{where}: must be a table")
    found: dict[str, str] = {}
    for head, members in value.items():
        checked(dotted, head, where)
        for member in checked(listed(dotted), members, f"{where}.{head!r}"):
            if member in found:
                raise PoolLintError(f"{where}.{head!r}: {member!r} is listed twice")
            found[member] = head
    return found


def _refuse_twice(specs: tuple[PoolSpec, ...], where: str = "") -> None:
    seen: dict[str, PoolSpec] = {}
    for spec in specs:
        if spec.id in seen:
            raise PoolLintError(f"{where or f'{spec.library}: pool'}: the id {spec.id!r} is used twice")
        seen[spec.id] = spec


def _refuse_unknown(mapping: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in mapping:
        if key not in known:
            raise PoolLintError(f"{_key(where, key)}: unknown key; known keys: {', '.join(known)}")


def _key(where: str, key: str) -> str:
    # "pyproject.toml: tool.pool_lint" already holds a key, "psycopg2.toml" does not.
    return f"{where}.{key}" if ": " in where else f"{where}: {key}"
