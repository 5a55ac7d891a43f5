"""The control-flow graph of one function: small operations joined by edges.

An operation ("point") does one thing to at most one destination, as in a compiler's three-address code, so that a
borrow inside a condition, a call argument or a comprehension needs no treatment of its own.  Values live in *roots*:
a variable is its name, a temporary an integer.  Each point has up to three ways out: ``next``, ``alt`` (the test was
false, the loop is exhausted) and ``exc`` (it raised).

A ``finally`` body and the exit of a ``with`` are built once.  Why they were entered is a label on the path
(``pend`` of a fact), pushed by a ``push`` or ``catch`` point and taken off by ``end_finally``, which sends the path on.
So the graph stays linear in the source, however deeply ``finally`` is nested.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pool_lint import ir

Root = str | int
RET = "$ret"
NOWHERE = -1


@dataclass(slots=True, eq=False)
class Point:
    """One operation; ``repeats`` where it stands in a loop.

    ``kind`` is one of

    ==============  =====================================================================================
    nop             nothing (a label)
    move            dst = srcs[0]; an empty srcs gives an unknown value
    const           dst = node.value
    attr            dst = srcs[0].name                    (srcs[0])
    store_attr      srcs[0].name = srcs[1]; node is the target
    item            dst = srcs[0][node]
    store_item      srcs[0][...] = srcs[1]; node is the target
    build           dst = a tuple, list, set or dict (name) of srcs
    add             srcs[1] becomes an element of srcs[0]
    unpack          dsts = srcs[0] taken apart
    call            dst = srcs[0](...); node is the ir.Call; srcs[0] is the receiver or function
    await, yield    dst = await / yield srcs[0]
    use             an operator reads srcs
    branch          next if the test holds, else alt; ``test`` says what is tested; name: "while" for a loop's own
    iter, step      dst = iter(srcs[0]); dst = next(srcs[0]), alt when exhausted
    enter, exit     of a ``with`` item; srcs[0] is the context manager
    closure         dst = a lambda, nested function or generator expression that reads srcs
    delete          the variable dst is unbound
    aug_attr        srcs[0].name op= ...; node is the ir.AugAssign
    aug_item        srcs[0][...] op= ...; node is the ir.AugAssign
    del_item        del srcs[0][...]; node is the ir.Sub
    ret             the value that is returned is srcs[0]
    raise           name is the type, "" where unknown, "*" for a bare raise
    import          an import statement
    try             a try statement (its number is name) begins
    dispatch        handlers in turn; exc where none takes the exception
    caught          a handler begins (dst is bound to the exception); uncaught: it ends
    catch           an exception enters a finally body
    push            the path enters a finally body for the reason ``name``
    end_finally     the path goes on to where it was going: ``table[reason]``
    trim            a jump has left finally bodies and handlers behind
    end             the function returns; fail: it raises
    ==============  =====================================================================================
    """

    kind: str
    line: int
    col: int
    dst: Root | None = None
    srcs: tuple[Root | None, ...] = ()
    name: str = ""
    node: object = None
    test: Test | None = None
    next: int = NOWHERE
    alt: int = NOWHERE
    exc: int = NOWHERE
    dsts: tuple[Root | None, ...] = ()
    handlers: list[tuple[ir.Handler, int]] = field(default_factory=list)
    table: dict[str, int] = field(default_factory=dict)
    depths: tuple[int, int] = (0, 0)
    starred: int = -1
    repeats: bool = False
    tries: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Test:
    """What a branch asks.

    ``kind``: ``truth`` or ``none`` of a path, whether it is ``bound``, whether it is the ``same`` as the path
    ``other``, a pure ``predicate`` by its text, or something ``opaque``.
    ``path`` is a variable or a dotted path as a place: ``("conn",)``, ``("self", ".conn")``.
    ``reads`` are the variables a predicate depends on.
    """

    kind: str
    path: tuple[Root, ...] = ()
    text: str = ""
    reads: frozenset[str] = frozenset()
    other: tuple[Root, ...] = ()


@dataclass(slots=True, eq=False)
class Cfg:
    """``points[entry]`` is where the function begins.

    ``tries`` maps the number of a try statement to it; each point lists in ``tries`` the ones around it, with the
    part it stands in: body, handler or final.
    """

    function: ir.Function
    points: list[Point]
    entry: int
    tries: dict[int, ir.Try]

    def successors(self, index: int) -> list[int]:
        """The points that may run right after a point, in the order of its ways out."""
        point = self.points[index]
        out = [target for target in (point.next, point.alt, point.exc) if target != NOWHERE]
        out.extend(entry for _, entry in point.handlers)
        out.extend(point.table.values())
        return out

    def format(self) -> str:
        """The graph as text, for tests and for people."""
        lines = []
        for index, point in enumerate(self.points):
            ways = [
                f"{way}={target}"
                for way, target in (("next", point.next), ("alt", point.alt), ("exc", point.exc))
                if target >= 0
            ]
            ways += [f"handler={entry}" for _, entry in point.handlers]
            ways += [f"{label}={target}" for label, target in point.table.items()]
            what = " ".join(str(part) for part in (point.dst, *point.srcs, point.name) if part not in (None, ""))
            lines.append(f"{index:3} {point.line:4} {point.kind:11} {what:30} {' '.join(ways)}".rstrip())
        return "\n".join(lines)
