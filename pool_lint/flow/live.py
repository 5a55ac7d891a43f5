"""Which roots are still read after each point of a graph: the rest of a fact need not be kept."""

from __future__ import annotations

from pool_lint import ir
from pool_lint.flow.cfg import RET, Cfg, Point, Root


def live_roots(cfg: Cfg) -> list[frozenset[Root]]:
    """For each point the variables and temporaries that may be read at or after it.

    Variables that a nested function refers to are live everywhere: nobody knows when it runs.
    """
    always: set[Root] = set()
    reads: list[set[Root]] = []
    for point in cfg.points:
        mine = _reads(point)
        reads.append(mine)
        if point.kind == "closure":
            always.update(mine)
    if cfg.function.params:
        always.add(cfg.function.params[0].name)
    order: dict[Root, int] = {}
    masks: list[tuple[int, int]] = []
    for point, mine in zip(cfg.points, reads, strict=True):
        gen = 0
        for root in mine:
            gen |= 1 << order.setdefault(root, len(order))
        kill = 0
        for root in (*point.dsts, point.dst):
            if root is not None and root not in always:
                kill |= 1 << order.setdefault(root, len(order))
        if point.kind == "aug":
            kill = 0
        masks.append((gen, kill))
    constant = 0
    for root in always:
        constant |= 1 << order.setdefault(root, len(order))
    count = len(cfg.points)
    predecessors: list[list[int]] = [[] for _ in range(count)]
    for index in range(count):
        for target in cfg.successors(index):
            predecessors[target].append(index)
    live = [constant] * count
    work = list(range(count))
    queued = [True] * count
    while work:
        index = work.pop()
        queued[index] = False
        point = cfg.points[index]
        gen, kill = masks[index]
        after = 0
        for target in (point.next, point.alt):
            if target >= 0:
                after |= live[target]
        for _, entry in point.handlers:
            after |= live[entry]
        for target in point.table.values():
            after |= live[target]
        now = gen | (after & ~kill) | constant
        if point.exc >= 0:
            now |= live[point.exc]
        if now != live[index]:
            live[index] = now
            for source in predecessors[index]:
                if not queued[source]:
                    queued[source] = True
                    work.append(source)
    names = {bit: root for root, bit in order.items()}
    memo: dict[int, frozenset[Root]] = {}
    out = []
    for mask in live:
        known = memo.get(mask)
        if known is None:
            known = memo[mask] = frozenset(root for bit, root in names.items() if mask >> bit & 1)
        out.append(known)
    return out


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
