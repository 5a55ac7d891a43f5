"""Calibrate: run the workers, take medians of their minima, and make a profile of them."""

from __future__ import annotations

import datetime as dt
import json
import os
import statistics
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pool_lint.cost import worker
from pool_lint.cost.model import Interval
from pool_lint.cost.profile import Profile, key_of
from pool_lint.cost.statements import (
    WRAPPINGS,
    Task,
    borrow_tasks,
    new_tasks,
    part_tasks,
    reset_tasks,
)
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

COUNTS = (1, 2, 4, 8)
# Room for what a later run on the same machine differs by: the memory layout of a process, the temperature.
SPREAD = 1.06
# What lies between one thread and the most is no verdict's ground: every other worker measures it.
_BETWEEN = (2, 4)
# Workers that differ by more than this do not measure the same thing.
STEADY = 1.2


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: ``samples`` of ``sample_ns`` nanoseconds in each of ``workers`` processes.

    ``windows``: how often many threads contend, of which the best counts.
    As many workers as two cores share evenly: an odd one out would run alone and double the time.
    """

    workers: int
    samples: int
    sample_ns: float
    counts: tuple[int, ...]
    wrappings: tuple[str, ...]
    windows: int = 1


FULL = Effort(4, 5, 1e6, COUNTS, WRAPPINGS, windows=2)
QUICK = Effort(2, 4, 0.5e6, (1, 8), ("bare", "method", "context_manager"))


def facts_of(python: str) -> dict[str, Any]:
    """What an interpreter says of itself; refuses one that cannot be measured."""
    if python == sys.executable:
        _refuse_tracing()
    result = _run(python, {"tasks": []}, lambda _: None)
    facts: dict[str, Any] = result["facts"]
    return facts


def _refuse_tracing() -> None:
    tracemalloc = sys.modules.get("tracemalloc")
    if sys.gettrace() is not None or sys.getprofile() is not None:
        raise PoolLintError("calibrate: a tracer or profiler is active, which distorts every figure: run without it")
    if tracemalloc is not None and tracemalloc.is_tracing():
        raise PoolLintError("calibrate: tracemalloc is active, which distorts every figure: run without it")


def warnings_of(facts: Mapping[str, Any]) -> list[str]:
    """What makes figures of this interpreter, here and now, less than trustworthy."""
    found = []
    if facts.get("debug"):
        found.append("this is a debug build: its figures say nothing of a release build")
    if facts.get("dev"):
        found.append("development mode is on: allocations cost more than they do in production")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    cores = os.cpu_count() or 1
    if load > cores:
        found.append(f"the machine is loaded (load {load:.1f} on {cores} cores)")
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    try:
        kind = governor.read_text(encoding="ascii").strip()
    except OSError:
        return found
    if kind not in ("performance", ""):
        found.append(f"the processor changes its frequency (governor {kind})")
    return found


def tasks_of(effort: Effort, threads: int) -> list[Task]:
    """All that a calibration measures."""
    counts = tuple(n for n in effort.counts if n <= threads)
    return [*part_tasks(), *new_tasks(), *reset_tasks(), *borrow_tasks(counts, effort.wrappings)]


def calibrate(
    facts: Mapping[str, Any],
    effort: Effort,
    threads: int,
    extra: Sequence[Mapping[str, object]] = (),
    progress: Callable[[float], None] = lambda _: None,
) -> Profile:
    """Return the profile of the interpreter that ``facts`` are of (see `facts_of`).

    ``progress`` is told which part of the work is done (0 to 1).
    """
    python = str(facts["executable"])
    tasks = tasks_of(effort, threads)
    # What keeps buffers alive comes first: a large block that was freed makes malloc keep memory for good.
    first = [task.job() for task in tasks if task.key.startswith("alive/")]
    jobs = [*(task.job() for task in tasks if not task.key.startswith("alive/")), *extra]
    job: dict[str, object] = {"samples": effort.samples, "sample_ns": effort.sample_ns, "windows": effort.windows}
    job["path"] = [str(Path.cwd())] if extra else []
    done = [0] * effort.workers
    lock = threading.Lock()

    def work(index: int) -> dict[str, Any]:
        def tell(count: int) -> None:
            with lock:
                done[index] = count
                progress(min(sum(done) / ((len(first) + len(jobs)) * effort.workers), 1.0))

        # another order of work in each process, so that a disturbance does not hit one statement in all of them
        own = [each for each in jobs if index % 2 == 0 or each.get("threads", 1) not in _BETWEEN]
        turned = own[len(own) * index // effort.workers :] + own[: len(own) * index // effort.workers]
        return _run(python, {**job, "tasks": [*first, *turned]}, tell)

    with ThreadPoolExecutor(max(1, min(effort.workers, os.cpu_count() or 1))) as executor:
        results = list(executor.map(work, range(effort.workers)))
    progress(1.0)
    costs = _costs(tasks, results)
    for each in extra:
        key = str(each["key"])
        values = [result["costs"][key] for result in results if key in result["costs"]]
        if not values:
            raise PoolLintError(f"calibrate: {key.partition('/')[2]}: {results[0]['failed'].get(key, 'not measured')}")
        costs[key] = _spread(values)
    convoys = frozenset(key for key in costs if _is_convoy(key, results))
    about = {**_about(facts, effort), "unsteady": sorted(key for key in costs if _is_unsteady(key, results))}
    return Profile(f"{facts['version']}-{key_of(facts).rpartition('-')[2][:6]}", costs, about, convoys)


def _costs(tasks: Sequence[Task], results: Sequence[Mapping[str, Any]]) -> dict[str, Interval]:
    """Median over the workers of what each task costs, what it builds on taken off, per turn."""
    costs: dict[str, Interval] = {}
    for task in tasks:
        values = []
        for result in results:
            raw: dict[str, float] = result["costs"]
            if task.key not in raw or (task.minus and task.minus not in raw):
                continue
            base = raw[task.minus] if task.minus else 0.0
            values.append(max((raw[task.key] - base) / task.per, 0.0))
        if values:
            costs[task.key] = _spread(values)
    return costs


def _is_convoy(key: str, results: Sequence[Mapping[str, Any]]) -> bool:
    """Whether threads handed a lock to each other, by the switches counted in most workers."""
    return sum(key in result["convoys"] for result in results) * 2 > len(results)


def _is_unsteady(key: str, results: Sequence[Mapping[str, Any]]) -> bool:
    """Whether workers disagree on a shape with several threads: then they were not disturbed alike."""
    values = [result["costs"][key] for result in results if key in result["costs"]]
    contended = key.startswith("borrow/") and not key.endswith("/1")
    return contended and max(values) > min(values) * STEADY


def _spread(values: Sequence[float]) -> Interval:
    """Median and spread.  What disturbs a process makes it slower, so the gap below the median tells it."""
    mid = statistics.median(values)
    low = min(values)
    gap = mid / low if low > 0 else 1.0
    return Interval(low / SPREAD, mid, mid * min(gap, 2.0) * SPREAD)


def _about(facts: Mapping[str, Any], effort: Effort) -> dict[str, object]:
    kept = (
        "implementation",
        "version",
        "minor",
        "compiler",
        "build",
        "flags",
        "pgo",
        "debug",
        "gil",
        "machine",
        "system",
    )
    return {
        **{name: facts[name] for name in kept},
        "key": key_of(facts),
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "made": dt.datetime.now(tz=dt.timezone.utc).date().isoformat(),
        "samples": f"{effort.workers} workers, minimum of {effort.samples} samples of {effort.sample_ns / 1e6:g} ms",
    }


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")), "")


def _run(python: str, job: Mapping[str, object], tell: Callable[[int], None]) -> dict[str, Any]:
    """Run one worker, clean of the user's own settings that would distort it."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "COVERAGE"))}
    try:
        process = subprocess.Popen(  # noqa: S603 - the interpreter is the one that the user named
            [python, "-I", str(Path(worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            encoding="utf-8",
        )
    except OSError as error:
        raise PoolLintError(f"{python}: cannot be run: {error.strerror or error}") from error
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    last = ""
    with process:
        try:
            process.stdin.write(json.dumps(job))
            process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended already, and its error says why
        for line in process.stderr:
            if line.startswith(".") and line[1:].strip().isdigit():
                tell(int(line[1:]))
            elif line.strip():
                last = line.strip()
        text = process.stdout.read()
    if process.returncode:
        raise PoolLintError(f"{python}: the measurement failed: {last or process.returncode}")
    try:
        result: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise PoolLintError(f"{python}: the measurement gave no result: {last}") from error
    return result
