"""Generate functions, run them, and compare with the analysis.

usage: python -m tests.oracle --count 2000 --seed 1 [--show N] [--jobs 2]
"""

# A command prints.
# ruff: noqa: T201
from __future__ import annotations

import argparse
import collections
import multiprocessing
import time

from .compare import Outcome, Tally, compare, engine_check, minimised, shown

PART = 100


def part(seeds: range) -> Tally:
    """One share of the work."""
    return compare(seeds, engine_check)


def main() -> int:
    """Print how often the two agree, and small programs on which they do not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="how many minimised disagreements of each kind")
    parser.add_argument("--full", action="store_true", help="show the programs as they were generated")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    began = time.perf_counter()
    end = arguments.seed + arguments.count
    parts = [range(first, min(first + PART, end)) for first in range(arguments.seed, end, PART)]
    tally = Tally()
    if arguments.jobs > 1:
        with multiprocessing.Pool(arguments.jobs) as workers:
            for done in workers.imap_unordered(part, parts):
                tally.merge(done)
    else:
        for seeds in parts:
            tally.merge(part(seeds))
    print(tally.summary())
    print(f"{time.perf_counter() - began:.1f} s")
    by_kind: dict[tuple[str, str], list[Outcome]] = collections.defaultdict(list)
    for outcome in sorted(tally.outcomes, key=lambda outcome: len(outcome.text)):
        for kind in outcome.kinds:
            by_kind[kind].append(outcome)
    for kind, outcomes in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        print(f"{kind[0]} {kind[1]}: {len(outcomes)} functions, seeds {[outcome.seed for outcome in outcomes[:8]]}")
    for outcomes in sorted(by_kind.values(), key=len, reverse=True):
        for outcome in outcomes[: arguments.show]:
            print()
            print(shown(outcome if arguments.full else minimised(outcome, engine_check)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
