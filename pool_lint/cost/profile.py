"""Profiles: the calibrated costs of one machine, interpreter and build, as JSON files."""

from __future__ import annotations

import hashlib
import json
import math
import platform
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.cost.model import Interval
from pool_lint.files import PoolLintError, read_json, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SCHEMA = 1
BESIDE = "pool-lint-profile.json"
BUNDLED = Path(__file__).parent / "bundled"
OLDEST, NEWEST = 10, 13


@dataclass(frozen=True, slots=True)
class Profile:
    """Calibrated costs by key (see `statements`), and where they come from.

    ``name`` is what findings call it; ``about`` says what was measured, when and how; ``convoys`` are the pool shapes
    whose threads kept handing the lock to each other.
    """

    name: str
    costs: Mapping[str, Interval]
    about: Mapping[str, object] = field(default_factory=dict)
    convoys: frozenset[str] = frozenset()

    def get(self, key: str) -> Interval | None:
        """The cost under a key, if it was measured."""
        return self.costs.get(key)

    def borrow(self, shape: str, wrapping: str, threads: int) -> Interval | None:
        """C_borrow(n): what is not measured for n is taken from the nearest n that is, the wrapping added.

        The wrapping is bytecode, which does not contend.
        """
        alone = self.get(f"borrow/{shape}/{wrapping}/1")
        bare = self.get(f"borrow/{shape}/bare/1")
        if threads <= 1 or alone is None or bare is None:
            return alone
        nearest = [n for n in (threads, 8, 4, 2) if n <= max(threads, 2) and f"borrow/{shape}/bare/{n}" in self.costs]
        if not nearest:
            return alone
        many = self.costs[f"borrow/{shape}/bare/{nearest[0]}"]
        return many + alone.less(bare) if wrapping != "bare" else many


def load_profile(path: Path) -> Profile:
    """Return the profile in a file; what is wrong with it is said in one line."""
    return parse_profile(read_json(path), str(path))


def parse_profile(data: object, where: str) -> Profile:
    """Return the profile that JSON data describes; ``where`` names it in errors."""
    if not isinstance(data, dict) or "schema" not in data or "costs" not in data:
        raise PoolLintError(f"{where}: is not a profile of pool_lint")
    if data["schema"] != SCHEMA:
        raise PoolLintError(
            f"{where}: schema {data['schema']!r} is not {SCHEMA}, which this version reads: calibrate anew"
        )
    costs = data["costs"]
    if not isinstance(costs, dict) or not costs:
        raise PoolLintError(f"{where}: costs: must be a table of intervals")
    parsed = {key: _interval(value, f"{where}: costs.{key}") for key, value in costs.items()}
    about = data.get("about", {})
    convoys = data.get("convoys", [])
    if not isinstance(about, dict) or not isinstance(convoys, list):
        raise PoolLintError(f"{where}: about or convoys is of the wrong kind")
    return Profile(str(data.get("name", Path(where).stem)), parsed, about, frozenset(map(str, convoys)))


def _interval(value: object, where: str) -> Interval:
    if isinstance(value, list) and len(value) == 3 and all(type(each) in (int, float) for each in value):  # noqa: PLR2004
        low, mid, high = value
        if 0 <= low <= mid <= high and math.isfinite(high):
            return Interval(low, mid, high)
    raise PoolLintError(f"{where}: must be three numbers, the least first")


def as_json(profile: Profile) -> str:
    """The text of a profile's file."""
    costs = {
        key: [round(cost.low, 2), round(cost.mid, 2), round(cost.high, 2)]
        for key, cost in sorted(profile.costs.items())
    }
    head = {"schema": SCHEMA, "name": profile.name, "about": dict(profile.about), "convoys": sorted(profile.convoys)}
    text = json.dumps(head, indent=1, sort_keys=True)[:-2]
    rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in costs.items())
    return f'{text},\n "costs": {{\n{rows}\n }}\n}}\n'


def save_profile(profile: Profile, path: Path) -> None:
    """Write a profile so that a reader sees the old file or the new one, never half of it."""
    write_text(path, as_json(profile))


def key_of(facts: Mapping[str, object]) -> str:
    """The name under which the profile of an interpreter is cached: its version, executable and build."""
    text = "\n".join(str(facts.get(name)) for name in ("executable", "version", "compiler", "flags", "gil"))
    return f"{facts.get('minor')}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def cache_file(facts: Mapping[str, object]) -> Path:
    """Where the profile of an interpreter is cached."""
    import platformdirs  # noqa: PLC0415 - only a calibration or a candidate finding needs it

    return Path(platformdirs.user_cache_dir("pool_lint", appauthor=False)) / f"{key_of(facts)}.json"


@cache
def find_profile(asked: str) -> Profile:
    """Return the profile in force: the one asked for, else the cached one of this interpreter, else the bundled one."""
    if asked:
        return named_profile(asked)
    from pool_lint.cost.worker import facts  # noqa: PLC0415 - only a candidate finding needs it

    here = facts()
    try:
        cached = load_profile(cache_file(here))
    except PoolLintError:
        # none was made, or what lies there is broken: a cache is only a cache
        cached = None
    if cached is not None and cached.about.get("key") == key_of(here):
        return cached
    return bundled_profile(min(max(sys.version_info[1], OLDEST), NEWEST))


def foreign_note(profile: Profile) -> str:
    """What to say of a profile that was measured on another interpreter than this one; "" of this one's or a merged."""
    measured = (profile.about.get("implementation"), profile.about.get("minor"))
    here = (platform.python_implementation(), ".".join(platform.python_version_tuple()[:2]))
    if measured == here or not all(measured):
        return ""
    return f"note: profile {profile.name} was measured on {' '.join(map(str, measured))}; this is {' '.join(here)}"


def named_profile(name: str) -> Profile:
    """Return a profile by its path, or a bundled one by its name (``bundled-3.12``)."""
    if name.startswith("bundled-"):
        minor = name.rpartition(".")[2]
        if name != f"bundled-3.{minor}" or not (BUNDLED / f"3.{minor}.json").is_file():
            known = ", ".join(f"bundled-3.{each}" for each in range(OLDEST, NEWEST + 1))
            raise PoolLintError(f"profile {name}: is not bundled; there are {known}")
        return bundled_profile(int(minor))
    return load_profile(Path(name))


@cache
def bundled_profile(minor: int) -> Profile:
    """Return the profile that ships with pool_lint for one minor version of Python 3."""
    return load_profile(BUNDLED / f"3.{minor}.json")


def merge_profiles(profiles: Sequence[Profile], name: str) -> Profile:
    """Return a profile that holds wherever one of these does: intervals that cover all of them."""
    common = set.intersection(*(set(profile.costs) for profile in profiles))
    costs = {}
    for key in common:
        each = [profile.costs[key] for profile in profiles]
        mid = math.exp(sum(math.log(max(cost.mid, 0.01)) for cost in each) / len(each))
        low, high = min(cost.low for cost in each), max(cost.high for cost in each)
        costs[key] = Interval(low, min(max(mid, low), high), high)
    convoys = frozenset[str]().union(*(profile.convoys for profile in profiles))
    about: dict[str, object] = {
        "merged": [{"name": profile.name, **_short(profile.about)} for profile in profiles],
        "made": max((str(profile.about.get("made", "")) for profile in profiles), default=""),
    }
    return Profile(name, costs, about, convoys)


def _short(about: Mapping[str, object]) -> dict[str, object]:
    return {key: about[key] for key in ("version", "machine", "system", "cpu", "pgo", "gil", "made") if key in about}


def diff_rows(first: Profile, second: Profile) -> list[tuple[str, float, float, float]]:
    """Key, both middles in ns and their ratio, the largest change first; only those that are apart."""
    rows = []
    for key in sorted(first.costs.keys() & second.costs.keys()):
        one, two = first.costs[key], second.costs[key]
        if (one.high < two.low or two.high < one.low) and one.mid > 0:
            rows.append((key, one.mid, two.mid, two.mid / one.mid))
    return sorted(rows, key=lambda row: (-abs(math.log(max(row[3], 1e-6))), row[0]))


def show_lines(profile: Profile) -> Iterable[str]:
    """A profile as text: what it is, then each cost with its interval in ns."""
    yield f"profile {profile.name}"
    for key, value in sorted(profile.about.items()):
        yield f"  {key}: {value}"
    for key, cost in sorted(profile.costs.items()):
        mark = "  convoy" if key in profile.convoys else ""
        yield f"{key:48} {cost.mid:12.1f} ns  [{cost.low:.1f}, {cost.high:.1f}]{mark}"
