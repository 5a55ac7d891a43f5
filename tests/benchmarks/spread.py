"""How much the figures of a calibration differ from run to run, with busy processes beside it.

usage: spread.py [--runs N] [--hogs N] [--quick]

Prints the 95th percentile, over C_borrow(1) and over C_new, of how far a run is from the median of all runs, the same
for n = 8 without the shapes flagged as a convoy, and the time and CPU time of a run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

from pool_lint.cost.bench import FULL, QUICK, calibrate, facts_of


def percentile(values: list[float], share: float) -> float:
    """Return the value that a share of all values does not exceed."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--hogs", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(arguments.hogs)]
    profiles, seconds = [], []
    facts = facts_of(sys.executable)
    used = os.times()
    try:
        for _ in range(arguments.runs):
            start = time.perf_counter()
            profiles.append(calibrate(facts, QUICK if arguments.quick else FULL, 8))
            seconds.append(time.perf_counter() - start)
    finally:
        for hog in hogs:
            hog.kill()
        spent = os.times()
        for hog in hogs:
            hog.wait()
    cpu = (spent.children_user + spent.children_system - used.children_user - used.children_system) / arguments.runs
    print(f"{statistics.median(seconds):.1f} s a run with {arguments.hogs} hogs, {cpu:.1f} s of CPU time")
    convoys = frozenset[str]().union(*(profile.convoys for profile in profiles))
    listed = [profile.about["unsteady"] for profile in profiles]
    unsteady = {key for each in listed if isinstance(each, list) for key in each}
    for title, prefix, suffix in (
        ("C_borrow(1)", "borrow/", "/1"),
        ("C_new", "new/", ""),
        ("C_borrow(8)", "borrow/", "/8"),
    ):
        off: list[float] = []
        worst: list[tuple[float, str]] = []
        for key in profiles[0].costs:
            if key.startswith(prefix) and key.endswith(suffix) and key not in convoys:
                mids = [profile.costs[key].mid for profile in profiles]
                middle = statistics.median(mids)
                own = [abs(mid / middle - 1) for mid in mids]
                off += own
                worst.append((max(own), key))
        print(f"{title}: p95 {percentile(off, 0.95):.1%}, median {statistics.median(off):.1%}, worst {max(worst)}")
    print(f"convoys: {sorted(convoys)}")
    print(f"flagged as unsteady in some run, and counted above all the same: {len(unsteady)}")


if __name__ == "__main__":
    main()
