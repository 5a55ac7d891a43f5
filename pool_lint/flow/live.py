"""Which roots are still read after each point of a graph: the rest of a fact need not be kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.flow.cfg import NOWHERE, RET, Cfg, Point, Root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def live_roots(cfg: Cfg) -> list[frozenset[Root]]:
    """For each point the variables and temporaries that may be read at or after it.

    Variables that a nested function refers to are live everywhere: nobody knows when it runs.
    """
    masks = _masks(cfg)
    names = list(masks.order)
    memo: dict[int, frozenset[Root]] = {}
    out = []
    for mask in _solve(cfg, masks):
        known = memo.get(mask)
        if known is None:
            known = memo[mask] = frozenset(names[bit] for bit in _bits(mask))
        out.append(known)
    return out


def _bits(mask: int) -> Iterator[int]:
    """The bits that are set: a long function has thousands of roots, of which few are live at one point."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


@dataclass(slots=True, eq=False)
class _Masks:
    """Sets of roots as the bits of integers, one bit for each root of ``order``.

    ``always`` is live everywhere, ``reads`` and ``writes`` are what each point reads and gives a new value.
    """

    order: dict[Root, int]
    always: int
    reads: list[int]
    writes: list[int]


def _masks(cfg: Cfg) -> _Masks:
    reads = [_reads(point) for point in cfg.points]
    always: set[Root] = set()
    for point, mine in zip(cfg.points, reads, strict=True):
        if point.kind == "closure":
            always.update(mine)
    if cfg.function.params:
        always.add(cfg.function.params[0].name)
    order: dict[Root, int] = {}

    def mask(roots: Iterable[Root | None]) -> int:
        bits = 0
        for root in roots:
            if root is not None:
                bits |= 1 << order.setdefault(root, len(order))
        return bits

    writes = [{*point.dsts, point.dst} - always for point in cfg.points]
    return _Masks(order, mask(always), [mask(each) for each in reads], [mask(each) for each in writes])


def _solve(cfg: Cfg, masks: _Masks) -> list[int]:
    """What is live before each point: the least solution of the equations of its successors."""
    count = len(cfg.points)
    predecessors: list[list[int]] = [[] for _ in range(count)]
    for index in range(count):
        for target in cfg.successors(index):
            predecessors[target].append(index)
    live = [masks.always] * count
    work = list(range(count))
    queued = [True] * count
    while work:
        index = work.pop()
        queued[index] = False
        point = cfg.points[index]
        after = 0
        for target in (point.next, point.alt, *(entry for _, entry in point.handlers), *point.table.values()):
            if target != NOWHERE:
                after |= live[target]
        now = masks.reads[index] | (after & ~masks.writes[index]) | masks.always
        if point.exc != NOWHERE:
            # A point that raises has written nothing.
            now |= live[point.exc]
        if now != live[index]:
            live[index] = now
            for source in predecessors[index]:
                if not queued[source]:
                    queued[source] = True
                    work.append(source)
    return live


def _reads(point: Point) -> set[Root]:
    found: set[Root] = {root for root in point.srcs if root is not None}
    if point.test is not None:
        found.update(point.test.path[:1])
        found.update(point.test.reads)
        found.update(point.test.other[:1])
    if point.kind == "exit" and isinstance(point.node, ir.WithItem) and isinstance(point.node.target, ir.Name):
        found.add(point.node.target.id)
    if point.kind == "end":
        found.add(RET)
    return found
