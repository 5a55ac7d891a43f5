"""What the plugin adds to flake8, in CPU time, beside what other tools take for the same files.

usage: against_flake8.py [--runs N] [FOLDER]     (default: the top-level modules of the standard library)

Runs flake8 with the plugin and without it in turn, in one process each, and prints the least and the median of the
ratios of neighbouring runs.  Beside that: flake8-async, flake8-bugbear, pylint's R1732 and ruff where installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
from pathlib import Path

# Hides plugins by the module that their entry point names, in an environment that has them.
RUN = """
import sys
from flake8.plugins import finder
hidden = tuple(sys.argv.pop(1).split(","))
found = finder._find_importlib_plugins
finder._find_importlib_plugins = lambda: (
    each for each in found() if not each.entry_point.value.startswith(hidden)
)
from flake8.main.cli import main
sys.exit(main(sys.argv[1:]))
"""
OTHERS = {"flake8-async": "flake8_async", "flake8-bugbear": "bugbear"}


def cpu_of(command: list[str]) -> float:
    """Return the CPU seconds of a command and its children."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def flake8(files: list[str], shown: str = "") -> float:
    """Return the CPU seconds of flake8 with its own checks and one plugin, or none."""
    hidden = [name for name in ("pool_lint", *OTHERS.values()) if name != shown]
    options = ["--isolated", "-j1", "--exit-zero", "-q"]
    return cpu_of([sys.executable, "-c", RUN, ",".join(hidden), *options, *files])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("folder", nargs="?")
    arguments = parser.parse_args()
    if arguments.folder:
        files = [str(path) for path in sorted(Path(arguments.folder).rglob("*.py"))]
    else:
        files = [str(path) for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
    pairs = [(flake8(files), flake8(files, "pool_lint")) for _ in range(arguments.runs)]
    least = min(each[0] for each in pairs), min(each[1] for each in pairs)
    ratios = [after / before for before, after in pairs]
    print(f"{len(files)} files; flake8 alone {least[0]:.2f} s, with pool_lint {least[1]:.2f} s of CPU time")
    print(f"ratio of the least {least[1] / least[0]:.3f}; of neighbouring runs: median {statistics.median(ratios):.3f}")
    print(f"added: {least[1] - least[0]:.2f} s")
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff:
        command = [ruff, "check", "--isolated", "--no-cache", *files]
        print(f"ruff check, all of it: {min(cpu_of(command) for _ in range(3)):.2f} s")
    for name, module in OTHERS.items():
        if importlib.util.find_spec(module):
            print(f"flake8 with {name}: {flake8(files, module) - least[0]:+.2f} s")
    if importlib.util.find_spec("pylint"):
        command = [sys.executable, "-m", "pylint", "--disable=all", "--enable=R1732", "-j1", *files]
        print(f"pylint, R1732 alone: {cpu_of(command):.2f} s")


if __name__ == "__main__":
    main()
