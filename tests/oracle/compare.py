"""Compare what the runs of generated functions show with what the analysis reports."""

# A function is named and described for what it returns.
# ruff: noqa: D102
from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .expect import CODES, LEAKS, Expected, Key, expected
from .generate import compiles, generate

Check = Callable[[str], frozenset[Key]]
Difference = tuple[str, str]  # "missed" or "false", and the code


def engine_check(text: str) -> frozenset[Key]:
    """The POL101 to POL108 findings of the analysis."""
    from pool_lint.config import Settings  # noqa: PLC0415
    from pool_lint.engine import check_text  # noqa: PLC0415 - not needed to run functions

    findings = check_text(text, "generated.py", Settings())
    return frozenset(
        (finding.line, finding.code) for finding in findings if finding.code in CODES or crash(finding.code)
    )


def crash(code: str) -> bool:
    """Whether the finding says that the analysis gave up."""
    return code == "POL000"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One generated function: what is right, what was found, and where they part."""

    seed: int
    text: str
    expected: Expected
    found: frozenset[Key]
    differences: tuple[tuple[str, int, str], ...]  # "missed" or "false", line, codes

    @property
    def kinds(self) -> frozenset[Difference]:
        return frozenset((what, codes) for what, _, codes in self.differences)


@dataclass(slots=True)
class Tally:
    """The counts of one run."""

    functions: int = 0
    skipped: int = 0
    paths: int = 0
    borrows: int = 0
    agreed: int = 0
    exact: int = 0
    wanted: int = 0
    hit: int = 0
    missed: int = 0
    false: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count one function."""
        self.functions += 1
        self.paths += outcome.expected.paths
        if outcome.expected.skipped:
            self.skipped += 1
            return
        for line, leaks in outcome.expected.leaks:
            if leaks is not None:
                self.borrows += 1
                self.agreed += leaks == any((line, code) in outcome.found for code in LEAKS)
        missing = len(outcome.expected.missing(outcome.found))
        self.wanted += len(outcome.expected.groups)
        self.hit += len(outcome.expected.groups) - missing
        self.missed += missing
        self.false += len(outcome.expected.surplus(outcome.found))
        if outcome.differences:
            self.outcomes.append(outcome)
        else:
            self.exact += 1

    def merge(self, other: Tally) -> None:
        """Add the counts of another part of the run."""
        for name in ("functions", "skipped", "paths", "borrows", "agreed", "exact", "wanted", "hit", "missed", "false"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.outcomes += other.outcomes

    def summary(self) -> str:
        """One paragraph of numbers."""
        usable = self.functions - self.skipped
        return (
            f"functions {self.functions} (skipped {self.skipped}), paths {self.paths}\n"
            f"leak or no leak, per borrow: {self.agreed}/{self.borrows} = {self.agreed / max(1, self.borrows):.2%}\n"
            f"functions exact per line and code: {self.exact}/{usable} = {self.exact / max(1, usable):.2%}\n"
            f"findings: wanted {self.wanted}, hit {self.hit}, missed {self.missed}, false {self.false}"
        )


def compared(text: str, check: Check, seed: int = -1) -> Outcome:
    """Run one module and check it."""
    right = expected(text)
    if right.skipped:
        return Outcome(seed, text, right, frozenset(), ())
    found = check(text)
    differences = [
        ("missed", min(group)[0], " or ".join(sorted({code for _, code in group}))) for group in right.missing(found)
    ]
    differences += [("false", line, code) for line, code in right.surplus(found)]
    return Outcome(seed, text, right, found, tuple(sorted(differences)))


def compare(seeds: range, check: Check) -> Tally:
    """Generate, run and check the function of each seed."""
    tally = Tally()
    for seed in seeds:
        tally.add(compared(generate(seed), check, seed))
    return tally


# --- the smallest program that still differs ------------------------------------------------------------


def minimised(outcome: Outcome, check: Check) -> Outcome:
    """Delete statements as long as one of the differences stays."""
    wanted = next(iter(sorted(outcome.kinds)))
    best = outcome
    progress = True
    while progress:
        progress = False
        for text in smaller(best.text):
            tried = attempt(text, check, outcome.seed)
            if tried is not None and wanted in tried.kinds and len(text) < len(best.text):
                best, progress = tried, True
                break
    return best


def attempt(text: str, check: Check, seed: int) -> Outcome | None:
    """The outcome of a smaller text, if it is a valid one."""
    if not compiles(text):
        return None
    try:
        return compared(text, check, seed)
    except SyntaxError:  # the hooks do not fit everywhere, as in a class body
        return None


def smaller(text: str) -> Iterator[str]:
    """Texts with one statement less, or with a compound statement replaced by its body."""
    tree = ast.parse(text)
    if len(ast.unparse(tree)) < len(text):
        yield ast.unparse(tree) + "\n"
    count = sum(1 for _ in blocks(tree))
    for number in range(count):
        for change in changes(tree, number):
            yield ast.unparse(change) + "\n"


def blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Every list of statements that may become smaller: not those of helpers and of classes, which stay or go."""
    yield tree.body
    function = tree.body[-1]
    if isinstance(function, ast.ClassDef):
        function = function.body[-1]
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            value = getattr(node, name, None)
            if isinstance(value, list) and value:
                yield value


def changes(tree: ast.Module, number: int) -> Iterator[ast.Module]:
    """The ways to make one block smaller."""
    block = list(blocks(tree))[number]
    for index in reversed(range(len(block) if number else len(block) - 1)):
        statement = block[index]
        replacements: list[list[ast.stmt]] = [[]]
        for name in ("body", "finalbody", "orelse"):
            inner = getattr(statement, name, None)
            if inner and not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                replacements.append(inner)
        for replacement in replacements:
            rest = [*block[:index], *replacement, *block[index + 1 :]]
            if rest or not isinstance(statement, ast.Pass):
                yield with_block(tree, number, rest or [ast.Pass()])
    yield from without_parts(tree, number)


def with_block(tree: ast.Module, number: int, block: list[ast.stmt]) -> ast.Module:
    """A copy of the tree with other statements in one block."""
    changed = copy.deepcopy(tree)
    list(blocks(changed))[number][:] = copy.deepcopy(block)
    return changed


def without_parts(tree: ast.Module, number: int) -> Iterator[ast.Module]:
    """Copies in which a statement of the block has lost a handler, its `else` or its `finally`."""
    for index, statement in enumerate(list(blocks(tree))[number]):
        for name in ("handlers", "orelse", "finalbody", "decorator_list"):
            parts = getattr(statement, name, None)
            for part in range(len(parts or ()) if name == "handlers" else int(bool(parts))):
                changed = copy.deepcopy(tree)
                owner = list(blocks(changed))[number][index]
                if name == "handlers":
                    del getattr(owner, name)[part]
                else:
                    setattr(owner, name, [])
                yield changed


def shown(outcome: Outcome) -> str:
    """A program with what is right and what was found."""
    notes: dict[int, list[str]] = {}
    for group in outcome.expected.groups:
        for line, code in group:
            notes.setdefault(line, []).append(f"want {code}" if len(group) == 1 else f"want {code}?")
    for line, code in outcome.expected.allowed:
        notes.setdefault(line, []).append(f"allowed {code}")
    for line, code in outcome.found:
        notes.setdefault(line, []).append(f"found {code}")
    lines = [
        f"seed {outcome.seed}: " + "; ".join(f"{what} {codes} at {line}" for what, line, codes in outcome.differences)
    ]
    for number, text in enumerate(outcome.text.splitlines(), 1):
        note = "  # " + ", ".join(sorted(notes[number])) if number in notes else ""
        lines.append(f"{number:3} {text}{note}")
    return "\n".join(lines)
