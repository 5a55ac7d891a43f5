"""Apply fixes to generated functions and run them before and after: nothing leaks, and what is done stays the same.

usage: python -m tests.oracle.mend --count 2000 --seed 1 [--unsafe] [--show N]
"""

# A command prints; it runs what was generated; the methods are those of a world.
# ruff: noqa: D102, S102, T201
from __future__ import annotations

import argparse
import collections
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint.codes import OFF_BY_DEFAULT
from pool_lint.config import Settings
from pool_lint.engine import check_text
from pool_lint.fixes.apply import mend

from .compare import compared, engine_check
from .execute import environment, run, set_faults, watched
from .expect import CODES, Expected
from .flavours import FLAVOURS
from .generate import generate
from .instrument import FEWER_TURNS, SERVICE, Module
from .world import Fault, World

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from .observed import Loan
    from .stubs import Handle, PoolStub

MAX_PATHS = 400
Trace = tuple[tuple[object, ...], ...]


class Recorder(World):
    """A world without faults that writes down what is done, apart from returns."""

    def reset(self) -> None:
        super().reset()
        self.trace: list[tuple[object, ...]] = []

    def pick(self, ways: int, faults: Sequence[Fault]) -> int:
        del faults
        return super().pick(ways, ())

    def borrow(self, pool: PoolStub, *, managed: bool = False) -> Handle:
        self.trace.append(("borrow",))
        return super().borrow(pool, managed=managed)

    def on_handle(self, loan: Loan | None, _values: Sequence[object], *, awaited: bool = False) -> object:
        number = next((at for at, each in enumerate(self.loans) if each is loan), -1)
        self.trace.append(("handle", number, awaited))
        return super().on_handle(loan, _values, awaited=awaited)

    def work(self, *values: object) -> object:
        self.trace.append(("work", len(values)))
        return super().work(*values)

    def on_nothing(self, *_values: object) -> object:
        self.trace.append(("value",))
        return super().on_nothing(*_values)

    def _fetch(self, values: Sequence[object]) -> object:
        self.trace.append(("fetch", len(values)))
        return super()._fetch(values)

    def cond(self, *_values: object) -> bool:
        found = super().cond(*_values)
        self.trace.append(("cond", found))
        return found

    def settle(self, result: object, outcome: str) -> None:
        self.trace.append((outcome, type(result).__name__))
        super().settle(result, outcome)


def traces(text: str) -> dict[str, list[Trace]]:
    """What each target does on each of its paths without faults."""
    module = Module(text)
    return {name: paths(module, name, parameters) for name, parameters in module.targets()}


def outcomes(text: str) -> dict[str, set[Trace]]:
    """What each target may do without faults: a test that is gone decides nothing any more."""
    return {name: set(found) for name, found in traces(text).items()}


def paths(module: Module, target: str, parameters: dict[str, str]) -> list[Trace]:
    """The paths of one target, in the order of the choices on them."""
    world = Recorder(module, target, run.__code__)
    world.max_turns = FEWER_TURNS
    scope = environment(world)
    exec(module.code, scope)
    node: ast.AST = next(node for node in module.functions if node.name == target)
    world.is_async = type(node).__name__ == "AsyncFunctionDef"
    world.flavour = next(FLAVOURS[text] for text in parameters.values() if text in FLAVOURS)
    set_faults(world, node, scope)
    for helper in module.functions:
        if helper.name not in {target, *module.managers} and helper.name in scope:
            waits = type(helper).__name__ == "AsyncFunctionDef"
            scope[helper.name] = watched(world, scope[helper.name], is_async=waits)
    function = scope[target] if target in scope else getattr(scope[SERVICE], target)
    function = getattr(function, "__wrapped__", function)
    found: list[Trace] = []
    while len(found) < MAX_PATHS:
        world.reset()
        run(world, function, parameters)
        found.append(tuple(world.trace))
        if world.odd or not world.advance():
            break
    return found


@dataclass(slots=True)
class Mended:
    """The counts of one run, and what went wrong."""

    functions: int = 0
    skipped: int = 0
    findings: collections.Counter[str] = field(default_factory=collections.Counter)
    fixed: collections.Counter[str] = field(default_factory=collections.Counter)
    titles: collections.Counter[str] = field(default_factory=collections.Counter)
    wrong: list[tuple[int, str, str, str]] = field(default_factory=list)  # seed, what, before, after

    def summary(self) -> str:
        """A few lines of numbers."""
        rows = [f"functions with a finding {self.functions} (skipped {self.skipped}), wrong {len(self.wrong)}"]
        rows += [f"{code}: fixed {self.fixed[code]} of {count}" for code, count in sorted(self.findings.items())]
        rows += [f"{count:5} {title}" for title, count in self.titles.most_common()]
        return "\n".join(rows)


def wants(code: str) -> bool:
    """Whether a fix must add no finding of this code."""
    return code not in OFF_BY_DEFAULT


def examine(seeds: range, *, unsafe: bool = False) -> Mended:
    """Generate, fix and run the function of each seed that has a finding."""
    tally = Mended()
    for seed in seeds:
        text = generate(seed)
        findings = [each for each in check_text(text, "generated.py", Settings()) if each.code in CODES]
        if findings:
            _examine_one(tally, seed, text, unsafe=unsafe)
    return tally


def _examine_one(tally: Mended, seed: int, text: str, *, unsafe: bool) -> None:
    before = compared(text, engine_check)
    if before.expected.skipped or before.differences:
        tally.skipped += 1
        return
    tally.functions += 1
    tally.findings.update(code for _, code in before.found)
    after = mend(text, "generated.py", Settings(), wants, wants, unsafe=unsafe)
    for finding, fix, _ in after.done:
        tally.fixed[finding.code] += 1
        tally.titles[f"{finding.code} {fix.title}"] += 1
    if not after.done:
        return
    for what in faults(text, after.text, before.expected, unsafe=unsafe):
        tally.wrong.append((seed, what, text, after.text))


def faults(before: str, after: str, expected: Expected, *, unsafe: bool = False) -> list[str]:
    """What is wrong with a fixed program."""
    found = []
    right = compared(after, engine_check)
    if right.expected.skipped:
        return []
    if right.differences:
        found.append(f"runs and analysis part: {right.differences}")
    if codes(right.expected) - codes(expected):
        found.append(f"something new is wrong: {right.expected.groups}")
    if not unsafe and outcomes(before) != outcomes(after):
        found.append("does something else")
    if mend(after, "generated.py", Settings(), wants, wants, unsafe=unsafe).text != after:
        found.append("fixing twice is not fixing once")
    return found


def codes(expected: Expected) -> collections.Counter[tuple[str, ...]]:
    """How often each code is asked for."""
    return collections.Counter(tuple(sorted({code for _, code in group})) for group in expected.groups)


def main() -> int:
    """Print how many findings were mended, and programs in which that went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--unsafe", action="store_true")
    arguments = parser.parse_args()
    began = time.perf_counter()
    tally = examine(range(arguments.seed, arguments.seed + arguments.count), unsafe=arguments.unsafe)
    print(tally.summary())
    print(f"{time.perf_counter() - began:.1f} s")
    for seed, what, before, after in tally.wrong[: arguments.show]:
        print(f"\n--- seed {seed}: {what}\n{before}\n--- after\n{after}")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
