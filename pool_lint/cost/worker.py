"""Time statements in this interpreter: plain standard library, so that an interpreter without pool_lint can run it.

A job comes as JSON on standard input and the nanoseconds of each task go as JSON to standard output.  Every figure is
a minimum of short samples of process CPU time: longer samples lose the minimum to the scheduler, and wall time
measures the neighbours.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import itertools
import json
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

Namespace = dict[str, Any]
Sample = Callable[[int], float]

WINDOW_S = 0.026
CHUNK = 50
CONVOY_SWITCHES = 0.3
FEW_THREADS = 4


def sample_of(setup: str, stmt: str, namespace: Namespace | None = None) -> Sample:
    """Return a function that runs a statement a number of times and gives the CPU nanoseconds of all of them.

    What the setup defines and the statement names becomes a local variable, as it is in the code that is modelled.
    """
    space: Namespace = {} if namespace is None else namespace
    exec(setup, space)  # noqa: S102 - running given statements is this module's job
    names = [name for name in space if not name.startswith("_") and re.search(rf"\b{name}\b", stmt)]
    head = "".join(f", {name}={name}" for name in names)
    body = stmt.replace("\n", "\n        ")
    source = (
        f"def _sample(_it, _clock{head}):\n    _start = _clock()\n    for _ in _it:\n        {body}\n"
        "    return _clock() - _start\n"
    )
    exec(source, space)  # noqa: S102 - as above
    run = space["_sample"]
    return lambda count: run(itertools.repeat(None, count), time.process_time_ns)


def async_sample_of(setup: str, stmt: str, tasks: int) -> Sample:
    """Like `sample_of` for a statement with awaits, run by ``tasks`` tasks of one loop."""
    space: Namespace = {}
    body = stmt.replace("\n", "\n        ")
    indented = setup.replace("\n", "\n    ")
    source = (
        "import asyncio\nfrom contextlib import asynccontextmanager\n"
        f"async def _make():\n    {indented}\n    async def _run(_it):\n        for _ in _it:\n            "
        f"{body.replace(chr(10), chr(10) + '    ')}\n    return _run\n"
    )
    exec(source, space)  # noqa: S102 - as above

    async def timed(count: int) -> float:
        run = await space["_make"]()
        await asyncio.gather(*(run(itertools.repeat(None, 5)) for _ in range(tasks)))
        start = time.process_time_ns()
        await asyncio.gather(*(run(itertools.repeat(None, max(count // tasks, 1))) for _ in range(tasks)))
        return float(time.process_time_ns() - start)

    loop = asyncio.new_event_loop()
    return lambda count: loop.run_until_complete(timed(count))


def minimum_ns(sample: Sample, samples: int, sample_ns: float) -> float:
    """Return the least nanoseconds of one turn."""
    count = 64  # a fresh class is slow for its first constructions
    taken = sample(1)
    if taken > sample_ns * 4:
        return min(taken, sample(1), sample(1))
    if taken > sample_ns / 20:
        count = 1
    while count < 1 << 22:
        # one preempted sample would pick far too few turns: the least of three tells
        taken = min(sample(count) for _ in range(3))
        if taken >= sample_ns / 10:
            break
        count = count * 4 if taken < sample_ns / 100 else int(count * sample_ns / 5 / taken) + 1
    count = max(1, int(count * sample_ns / max(taken, 1.0)))
    return min(sample(count) for _ in range(samples)) / count


def contended(setup: str, stmt: str, each: str, threads: int) -> tuple[float, float]:
    """Return nanoseconds of one turn and voluntary switches per turn, with ``threads`` threads at it.

    Threads run to a deadline: so many turns each would hardly overlap.  Each counts in a slot of its own.
    """
    space: Namespace = {}
    exec(setup, space)  # noqa: S102 - as above
    names = [name for name in space if not name.startswith("_") and re.search(rf"\b{name}\b", stmt + "\n" + each)]
    head = ", ".join(f"{name}={name}" for name in names)
    body = stmt.replace("\n", "\n            ")
    source = (
        f"def _turns(_repeat, _clock, _end, {head}):\n    {each or 'pass'}\n    _done = 0\n"
        f"    while _clock() < _end:\n        for _ in _repeat(None, {CHUNK}):\n            {body}\n"
        f"        _done += {CHUNK}\n"
        "    return _done\n"
    )
    exec(source, space)  # noqa: S102 - as above
    turns = space["_turns"]
    done = [0] * threads
    barrier = threading.Barrier(threads)
    ends = [0.0]

    def work(index: int) -> None:
        if barrier.wait() == 0:
            ends[0] = time.perf_counter() + WINDOW_S
        while not ends[0]:
            time.sleep(0)
        done[index] = turns(itertools.repeat, time.perf_counter, ends[0])

    workers = [threading.Thread(target=work, args=(index,)) for index in range(threads)]
    switches = _switches()
    start = time.process_time_ns()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    spent = time.process_time_ns() - start
    total = max(sum(done), 1)
    return spent / total, (_switches() - switches) / total


def _switches() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw if resource is not None else 0


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Return nanoseconds per key, the keys that fell into a convoy, and what could not be measured."""
    gc.disable()
    costs: dict[str, float] = {}
    convoys: list[str] = []
    failed: dict[str, str] = {}
    for module in job.get("path", ()):
        sys.path.insert(0, module)
    empty = minimum_ns(sample_of("", "pass"), job["samples"], job["sample_ns"])
    for done, task in enumerate(job["tasks"]):
        key = task["key"]
        try:
            value = _task(task, job, empty, key, convoys)
        except Exception as error:  # noqa: BLE001 - an older or newer library may lack it
            failed[key] = f"{type(error).__name__}: {error}"
            continue
        costs[key] = value
        if done % 20 == 0:
            sys.stderr.write("." + str(done) + "\n")
            sys.stderr.flush()
    return {"costs": costs, "convoys": convoys, "failed": failed}


def _task(task: dict[str, Any], job: dict[str, Any], empty: float, key: str, convoys: list[str]) -> float:
    kind, setup, stmt = task["kind"], task["setup"], task["stmt"]
    per: float = task.get("per", 1)
    if kind == "threads":
        # many threads vary most: the better of several windows
        windows = job.get("windows", 1) if task["threads"] > FEW_THREADS else 1
        value, switches = min(contended(setup, stmt, task.get("each", ""), task["threads"]) for _ in range(windows))
        if switches > CONVOY_SWITCHES:
            convoys.append(key)
        return max(value - empty, 0.0) / per
    if kind == "async":
        sample = async_sample_of(setup, stmt, task["threads"])
        return max(minimum_ns(sample, job["samples"], job["sample_ns"]) - empty, 0.0) / per
    namespace: Namespace | None = None
    if "imports" in task:
        namespace = {"measured": importlib.import_module(task["imports"])}
    value = minimum_ns(sample_of(setup, stmt, namespace), task.get("samples", job["samples"]), job["sample_ns"])
    return max(value - empty, 0.0) / per


def facts() -> dict[str, Any]:
    """Return what identifies this interpreter and says whether its figures can be trusted."""
    import platform  # noqa: PLC0415 - not needed to measure
    import sysconfig  # noqa: PLC0415 - as above

    config = str(sysconfig.get_config_var("CONFIG_ARGS") or "")
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    debug = bool(sysconfig.get_config_var("Py_DEBUG")) or hasattr(sys, "gettotalrefcount")
    flags: list[str] = [flag for flag in config.replace("'", "").split() if flag.startswith(("--enable", "--with"))]
    return {
        "implementation": platform.python_implementation(),
        "version": platform.python_version(),
        "minor": ".".join(platform.python_version_tuple()[:2]),
        "compiler": platform.python_compiler(),
        "build": platform.python_build()[0],
        "flags": sorted(flag for flag in flags if "/" not in flag),
        "pgo": "--enable-optimizations" in config,
        "debug": debug,
        "gil": bool(gil),
        "executable": sys.executable,
        "dev": bool(sys.flags.dev_mode),
        "machine": platform.machine(),
        "system": platform.system(),
    }


def main() -> None:
    """Read a job, write its results."""
    job = json.loads(sys.stdin.read())
    result: dict[str, Any] = {"facts": facts()}
    if job.get("tasks"):
        result.update(measure(job))
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
