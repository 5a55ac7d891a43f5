"""The layers: a module imports only from rows above its own, or from its own package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pool_lint"

# From what knows nothing of the rest to what knows all of it.  Modules of one row do not know each other.
ROWS = (
    {"codes", "finding", "files", "words", "literals", "places"},
    {"ir", "catalog"},
    {"lowering"},
    {"lower", "lower_ast", "walk", "config"},
    {"source"},
    {"flow", "pools"},
    {"cost", "typestate"},
    {"bounds", "worth"},
    {"analysis"},
    {"rules", "survey", "trace"},
    {"prefilter"},
    {"project"},
    {"fingerprint", "baseline"},
    {"report"},
    {"engine", "emit", "noqa"},
    {"calibrate", "fixes"},
    {"commands"},
    {"plugin", "cli"},
)
ROW = {name: number for number, row in enumerate(ROWS) for name in row}
# A rule reads no file and no setting: what it needs is in the analysis.
FORBIDDEN = {"rules": {"files", "config", "cost"}}
OUTSIDE = {"__init__", "__main__"}


def part_of(path: Path) -> str:
    """Return the package or module of pool_lint that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_parts(path: Path) -> set[str]:
    """Return the parts of pool_lint that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "pool_lint":
            names.update(f"pool_lint.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.split(".")[1] for name in names if name.startswith("pool_lint.")}


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if part_of(path) not in OUTSIDE]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_upwards(path: Path) -> None:
    part = part_of(path)
    assert part in ROW, f"{part} has no row yet"
    others = {name for name in imported_parts(path) if name != part and not name.startswith("__")}
    assert sorted(name for name in others if ROW[name] >= ROW[part]) == []
    assert sorted(others & FORBIDDEN.get(part, set())) == []


def test_imports_are_absolute() -> None:
    relative = [
        path
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_no_row_names_what_is_gone() -> None:
    assert sorted(ROW.keys() - {part_of(path) for path in FILES}) == []
