"""Turn what was observed into the findings that RULES section 6 asks for.

Where the rules leave a choice, more than one answer is right: a *group* asks for at least one of its findings,
and *allowed* findings may be there or not.
"""

# A function is named and described for what it returns.
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .execute import observe
from .instrument import Module

if TYPE_CHECKING:
    from .observed import Fate, Seen

Key = tuple[int, str]  # line, code

LEAKS = ("POL101", "POL102", "POL103", "POL107")
CODES = frozenset((*LEAKS, "POL104", "POL105", "POL106", "POL108"))


@dataclass(frozen=True, slots=True)
class Expected:
    """The findings of one module: groups of which one is required, and those allowed besides."""

    groups: tuple[frozenset[Key], ...]
    allowed: frozenset[Key]
    leaks: tuple[tuple[int, bool | None], ...]  # per borrow line: leaks, does not, or either is right
    paths: int
    skipped: str = ""

    def missing(self, found: frozenset[Key]) -> list[frozenset[Key]]:
        """The groups of which nothing was found."""
        return [group for group in self.groups if not group & found]

    def surplus(self, found: frozenset[Key]) -> list[Key]:
        """What was found and is neither required nor allowed."""
        right = self.allowed.union(*self.groups)
        return sorted(key for key in found if key not in right)


def expected(text: str, *, max_paths: int | None = None) -> Expected:
    """Run every target of a module and say what has to be found in it."""
    module = Module(text)
    groups: list[frozenset[Key]] = []
    allowed: set[Key] = set()
    leaks: dict[int, bool | None] = {}
    paths = 0
    for name, parameters in module.targets():
        seen = (
            observe(module, name, parameters)
            if max_paths is None
            else observe(module, name, parameters, max_paths=max_paths)
        )
        paths += seen.paths
        if seen.skipped:
            return Expected((), frozenset(), (), paths, f"{name}: {seen.skipped}")
        add_leaks(seen, groups, allowed, leaks)
        add_events(seen, module, groups, allowed)
    return Expected(tuple(dict.fromkeys(groups)), frozenset(allowed), tuple(sorted(leaks.items())), paths)


def add_leaks(seen: Seen, groups: list[frozenset[Key]], allowed: set[Key], leaks: dict[int, bool | None]) -> None:
    """POL101, POL102, POL103 and POL107: one of them for each borrow."""
    for (line, _), fate in sorted(seen.fates.items()):
        codes, certain = leak_codes(fate)
        if certain and seen.closures:
            certain = False  # a nested function that returns the object may count as a transfer
        if codes and certain:
            groups.append(frozenset((line, code) for code in codes))
        elif codes:
            allowed.update((line, code) for code in LEAKS)
        answer = None if codes and not certain else bool(codes)
        if line in leaks and leaks[line] != answer:
            answer = True if True in (leaks[line], answer) else None
        leaks[line] = answer


def leak_codes(fate: Fate) -> tuple[set[str], bool]:
    """The codes that are right for one borrow, and whether one of them is required."""
    released = fate.released or fate.released_soft
    lent = any(yielded for _, _, yielded in fate.leaks) and not fate.loaned
    transferred = fate.transferred or fate.transferred_soft or lent
    kept = [leak for leak in fate.leaks if fate.loaned or not leak[2]]
    if unsettled(fate, kept, lent=lent):
        return set(LEAKS), False
    if not kept or (fate.given and not released):
        return set(), True
    if not released and not transferred:
        return {"POL103"}, True
    strict = {kind.removeprefix("given ") for kind, soft, _ in kept if not soft}
    codes = kind_codes(strict) | kind_codes({kind.removeprefix("given ") for kind, _, _ in kept})
    if not (fate.released or fate.transferred or lent):
        codes.add("POL103")
    return codes, True


def unsettled(fate: Fate, kept: list[tuple[str, bool, bool]], *, lent: bool) -> bool:
    """Whether the rules leave open if something was lost."""
    if lent and (fate.loaned_soft or fate.released or fate.released_soft):
        return True  # whether a yield is a loan where the returns come before it, or only perhaps after it
    if not kept:
        return False
    if fate.wrong or fate.derived_out or fate.deferred or (fate.given and fate.closed):
        return True
    if fate.given and fate.released_soft and not fate.released:
        return True
    if fate.given and not fate.released:
        # silent as a whole only if nothing can be lost before the object is handed over
        return any(not kind.startswith("given") for kind, _, _ in kept)
    return all(soft for _, soft, _ in kept)


def kind_codes(kinds: set[str]) -> set[str]:
    """The strongest code for the ways in which an object was lost."""
    if "normal" in kinds:
        return {"POL102"}
    if "error" in kinds:
        return {"POL101"}
    return {"POL101", "POL107"} if "mixed" in kinds else {"POL107"}


def add_events(seen: Seen, module: Module, groups: list[frozenset[Key]], allowed: set[Key]) -> None:
    """POL104, POL105, POL106 and POL108."""
    allowed.update(seen.optional)
    if seen.doubtful:  # whether what stands behind the test is reached is left open
        allowed.update((line, code) for line in module.names.borrows if line not in seen.attempts for code in LEAKS)
    wrong = seen.wrong_sites  # "POL106 only"
    for (site, _), returns in seen.doubles.items():
        keys = {(line, code) for lines, codes, _ in returns for line in lines for code in codes.split()}
        ask(groups, allowed, keys, required=site not in wrong and any(not soft for _, _, soft in returns))
    for (site, _), uses in seen.uses.items():
        keys = {(line, "POL105") for lines, _ in uses for line in lines}
        ask(groups, allowed, keys, required=site not in wrong and strict(uses))
    by_line: dict[int, set[tuple[tuple[int, ...], bool]]] = {}
    for lines, soft in seen.wrongs:
        by_line.setdefault(lines[-1], set()).add((lines, soft))
    for wrongs in by_line.values():
        ask(groups, allowed, {(line, "POL106") for lines, _ in wrongs for line in lines}, required=strict(wrongs))
    for region, bads in seen.bads.items():
        first, last = module.tries[region].body
        tried = any(first <= line <= last for line in seen.attempts)
        ask(groups, allowed, {(line, "POL108") for lines, _ in bads for line in lines}, required=tried and strict(bads))


def strict(events: set[tuple[tuple[int, ...], bool]]) -> bool:
    """Whether one of the events happens on a path that the rules settle."""
    return any(not soft for _, soft in events)


def ask(groups: list[frozenset[Key]], allowed: set[Key], keys: set[Key], *, required: bool) -> None:
    """Require one of the findings, or allow them."""
    if required:
        groups.append(frozenset(keys))
    else:
        allowed.update(keys)
