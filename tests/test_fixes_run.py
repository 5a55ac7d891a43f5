"""Fixed functions of fixtures are run by themselves, each call raising in turn: what was borrowed is returned once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from oracle.isolate import Isolated, UnsupportedError, behaviour, borrows_of, isolate, leaks
from test_fixes import SNAPSHOTS, mended
from test_fixtures import named

from pool_lint.files import read_source

if TYPE_CHECKING:
    from pathlib import Path

    from pool_lint.fixes.apply import Mended

CODES = ("POL101", "POL102", "POL103", "POL107", "POL108")
# An ExitStack returns it, or the borrow is an argument of its return: the stand-ins tell neither.
OUT_OF_SIGHT = frozenset(("wine_cellar", "glacier_survey"))
# Entering the connection is a step of its own for the stand-ins only where it is not part of the borrow.
ENTERED = frozenset(("bakery_orders", "stamp_catalogue"))


def pairs(path: Path, text: str, found: Mended) -> list[tuple[Isolated, Isolated]]:
    """Each function that was fixed, before and after."""
    out = []
    for finding, _, before in found.done:
        if finding.code not in CODES:
            continue
        line = finding.witness[0].line
        lines = [site.line for _, site in borrows_of(before, path.name, finding.function)]
        number = lines.index(line)
        first, second = (isolate(each, path.name, finding.function, number) for each in (text, found.text))
        assert first is not None
        assert second is not None
        out.append((first, second))
    return out


RUN = [path for path in SNAPSHOTS if path.stem not in OUT_OF_SIGHT and path.parent.name in CODES]


@pytest.mark.parametrize("snapshot", RUN, ids=named)
def test_nothing_leaks_after_a_fix_and_without_faults_all_is_as_before(snapshot: Path) -> None:
    path = snapshot.with_suffix(".py")
    text = read_source(path)
    try:
        for before, after in pairs(path, text, mended(text, name=path.name)):
            assert leaks(after) == []
            if path.stem not in ENTERED:
                assert behaviour(after) == behaviour(before)
    except UnsupportedError as error:
        pytest.skip(str(error))


def test_the_runs_see_a_leak() -> None:
    path = next(each for each in RUN if each.stem == "fishing_quota").with_suffix(".py")
    text = read_source(path)
    assert [leaks(before) != [] for before, _ in pairs(path, text, mended(text, name=path.name))] == [True]
