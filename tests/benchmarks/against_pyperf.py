"""Compare the calibration's figures with pyperf's minimum, both beside each other in one run.

usage: against_pyperf.py [RUNS]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from pool_lint.cost.bench import Effort, calibrate, facts_of
from pool_lint.cost.statements import CONSTRUCTORS

STATEMENTS = (
    "threading.Event()", "queue.Queue()", "uuid.uuid4()", "random.Random()", "bytearray(65536)",
    "fractions.Fraction(1, 3)", "threading.Condition()", "zlib.compressobj()", "json.JSONDecoder()",
    "configparser.ConfigParser()",
)  # fmt: skip


def pyperf_ns(statement: str) -> float:
    """The least that pyperf measures for a statement, in nanoseconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.json"
        subprocess.run(
            [sys.executable, "-m", "pyperf", "timeit", "-q", "-p", "3", "-n", "10", "-w", "1", "--min-time", "0.001",
             "-o", str(path), "-s", CONSTRUCTORS[statement] or "pass", statement],
            check=True, capture_output=True,
        )  # fmt: skip
        runs = json.loads(path.read_text())["benchmarks"][0]["runs"]
        return 1e9 * min(float(value) for run in runs for value in run.get("values", ()))


def main() -> None:
    profile = calibrate(facts_of(sys.executable), Effort(3, 10, 1e6, (1,), ("bare",)), 1)
    close = 0
    for statement in STATEMENTS:
        cost = profile.costs[f"new/{statement}"]
        theirs = pyperf_ns(statement)
        close += abs(cost.mid / theirs - 1) <= 0.05
        print(f"{statement:30} {cost.mid:10.0f} {theirs:10.0f} ns  {cost.mid / theirs - 1:+.1%}")
    print(f"within 5 %: {close} of {len(STATEMENTS)}")


if __name__ == "__main__":
    main()
