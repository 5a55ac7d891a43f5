"""Which rule an object's losses break, and the path that shows it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pool_lint import ir
from pool_lint.pools.containers import DESTROYING
from pool_lint.typestate.state import CANCELLED, GROUND, HELD, OBJECT, PENDING, Fact, Site
from pool_lint.walk import path_of, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.flow.cfg import Point
    from pool_lint.typestate.file import FileAnalysis, Outcome
    from pool_lint.typestate.follow import Follow, Loss

VerdictKind = Literal["never", "leaves", "raises", "cancelled", "capacity"]


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The strongest thing to say of one borrow.

    ``line`` is the line that raises or leaves; ``path`` the lines of the way there, with what happens on each.
    ``where`` names the method, if it is another one, in which the object is lost.
    """

    kind: VerdictKind
    function: ir.Function
    site: Site
    line: int
    path: tuple[tuple[int, str], ...]
    how: str
    where: str = ""


_DRAINING = re.compile(
    r"^_*(a?close|stop|shut_?down|drain|clear|terminate|dispose|empty|flush|purge|clean|tear_?down|__a?exit__|__del__|destroy|end|kill|"
    r"finali[sz]e|reset|exit|disconnect|release_all|quit|shrink|trim|evict|prune|expire|reap|scale|remove|resize|cull|sweep|"
    r"discard|del|pop_all|invalidate|drop)"
)


def verdicts(file: FileAnalysis, outcomes: list[Outcome]) -> Iterator[Verdict]:
    """One verdict per borrow that is lost on some path, in the order of the functions."""
    for outcome in outcomes:
        follow = outcome.follow
        judged: set[int] = set()
        capacity: list[Verdict] = []
        for site in follow.sites:
            verdict = _judge(outcome, follow, site)
            if verdict is None:
                continue
            if verdict.kind == "capacity":
                capacity.append(verdict)
                continue
            judged.add(site.index)
            yield verdict
        if capacity:
            # A pool that loses the permit and the object it popped loses its capacity once.
            yield min(capacity, key=lambda each: (each.site.line, each.site.col))
        for kept in file.attr_sites:
            if kept.follow is follow and kept.site.index not in judged:
                found = _closing(outcome.function, kept.site, file.attributes.closing_losses(kept))
                if found is not None:
                    judged.add(kept.site.index)
                    yield found


def _judge(outcome: Outcome, follow: Follow, site: Site) -> Verdict | None:
    losses = [loss for loss in follow.losses if loss.site == site.index]
    if not losses or site.kind == "param" or site.wrong_pool:
        return None
    function = outcome.function
    if site.kind == "permit" or (site.own and (outcome.hands_out or _lost_before_lending(follow, losses))):
        if site.kind == "borrow" and (_replenished(follow) or _is_replenished(follow, site)):
            return None
        return _capacity(follow, function, site, losses)
    spec = site.spec
    if not spec.library and not site.returned and _is_drain(follow, site):
        return None
    if not site.returned and not site.transferred:
        if spec.only_if_released or spec.handle_is_pool or spec.gc_returns != "no":
            return None
        return _make("never", follow, function, site, [loss for loss in losses if loss.how != "raise"] or losses)
    if site.returned and follow.file.is_plain(spec):
        losses = [loss for loss in losses if not _is_let_go(follow, site, loss)]
    return _judge_returned(follow, function, site, losses) if losses else None


def _judge_returned(follow: Follow, function: ir.Function, site: Site, losses: list[Loss]) -> Verdict | None:
    """The verdict on what other paths return or hand on."""
    spec = site.spec
    plain = [loss for loss in losses if loss.how != "raise" and loss.kind == ""]
    if plain:
        return _make("leaves", follow, function, site, plain)
    if not site.returned and (spec.only_if_released or spec.gc_returns != "no"):
        return None
    raised = [loss for loss in losses if loss.kind != CANCELLED]
    if raised:
        return _make("raises", follow, function, site, raised)
    return _make("cancelled", follow, function, site, losses)


def _is_let_go(follow: Follow, site: Site, loss: Loss) -> bool:
    """Whether a path drops an object on a test of its size, count, age or health.

    That is a test of the object, of its pool, or of what the pool's class keeps.
    """
    names = {name for name in site.vars if isinstance(name, str)}
    if site.path is not None:
        names.add(str(site.path[-1]).lstrip("."))
    own = follow.own_name
    lines = {
        test.line
        for test in _tests(follow.function)
        for expr in walk_expressions([ir.ExprStmt(0, 0, test)])
        if (isinstance(expr, ir.Name) and (expr.id in names or expr.id == own))
        or (isinstance(expr, ir.Attr) and expr.name in names)
    }
    ends = [loss.fact]
    if loss.how == "drop":
        # the fact is the one after the drop, which no path reaches
        ends = [fact for index, fact in follow.parents if index == loss.point and fact.site == site.index]
    return any(
        follow.points[index].kind == "branch" and follow.points[index].line in lines and fact.status == HELD
        for end in ends
        for index, fact, _ in path_to(follow, loss.point, end)
    )


def _tests(function: ir.Function) -> Iterator[ir.Expr]:
    for stmt in walk_statements(function.body):
        if isinstance(stmt, (ir.If, ir.While)):
            yield stmt.test
    for expr in walk_expressions(function.body):
        if isinstance(expr, ir.Cond):
            yield expr.test


def _is_replenished(follow: Follow, site: Site) -> bool:
    call = site.call
    if call is None:
        return False
    expr = call.func.value if isinstance(call.func, ir.Attr) else None
    if expr is None or (isinstance(expr, ir.Name) and expr.id == "heapq"):
        expr = call.args[0] if call.args else None
    return expr is not None and follow.file.containers.is_replenished(expr, follow.function)


def _lost_before_lending(follow: Follow, losses: list[Loss]) -> bool:
    """Whether a context manager loses what it took from its own container only before its ``yield``."""
    if not follow.function.is_generator or not follow.file.is_lender(follow.function):
        return False
    return not any(
        _lends(follow, index, fact) for loss in losses for index, fact, _ in path_to(follow, loss.point, loss.fact)
    )


def _lends(follow: Follow, index: int, fact: Fact) -> bool:
    """Whether a point yields what may be the object (``yield None`` of a context manager lends nothing)."""
    point = follow.points[index]
    if not isinstance(point.node, ir.Yield) or point.kind != "yield":
        return False
    if point.node.value is None or isinstance(point.node.value, ir.Const):
        return False
    return point.srcs[0] is None or bool(fact.below(point.srcs[0]))


def _is_drain(follow: Follow, site: Site) -> bool:
    """Whether objects are taken out of a home-made pool to be closed, or after they were."""
    if _DRAINING.match(follow.function.name):
        return True
    if not any(site.call is expr for loop in _loops(follow.function) for expr in loop):
        return False
    for expr in walk_expressions(follow.function.body):
        if isinstance(expr, ir.Attr) and expr.name in DESTROYING and _is_taken(expr.value, site):
            return True
        if isinstance(expr, ir.Call) and any(_is_taken(arg, site) for arg in expr.args):
            path = path_of(expr.func)
            if path is not None and _DRAINING.match(path[-1].lstrip(".")):
                return True
    return False


def _is_taken(expr: ir.Expr, site: Site) -> bool:
    if isinstance(expr, ir.Await):
        return _is_taken(expr.value, site)
    return expr is site.call or (isinstance(expr, ir.Name) and expr.id in site.vars)


def _loops(function: ir.Function) -> Iterator[list[ir.Expr]]:
    for stmt in walk_statements(function.body):
        if isinstance(stmt, (ir.While, ir.For)):
            yield list(walk_expressions([stmt]))


def _capacity(follow: Follow, function: ir.Function, site: Site, losses: list[Loss]) -> Verdict | None:
    if not site.transferred and not site.returned:
        return None
    return _make("capacity", follow, function, site, losses)


def _replenished(follow: Follow) -> bool:
    """Whether the method also makes a new object when it has none to lend: what it drops is replaced.

    It does where a return statement that paths without an object reach gives out none of the container's.
    """
    without: set[int] = set()
    own: set[int] = set()
    for index, fact in follow.parents:
        point = follow.points[index]
        root = point.srcs[0] if point.kind == "ret" and point.name == "" and point.srcs else None
        if root is None:
            continue
        if fact.site == GROUND:
            without.add(index)
        elif fact.status == HELD and any(role == OBJECT for _, role in fact.below(root)):
            site = follow.sites[fact.site]
            if site.own and site.kind == "borrow":
                own.add(index)
    return bool(without - own)


def _closing(function: ir.Function, site: Site, found: list[tuple[ir.Function, Follow]]) -> Verdict | None:
    """The verdict on a borrow in an attribute, by what the methods that should return it lose of it."""
    for method, follow in found:
        raised = [loss for loss in follow.losses if loss.how == "raise" and loss.kind != CANCELLED]
        if raised:
            made = _make("raises", follow, function, follow.sites[0], raised)
            path = ((site.line, "borrowed"), *made.path[1:])
            return Verdict("raises", function, site, made.line, path, made.how, where=method.name)
    for method, follow in found:
        cancelled = [loss for loss in follow.losses if loss.how == "raise"]
        if cancelled:
            made = _make("cancelled", follow, function, follow.sites[0], cancelled)
            path = ((site.line, "borrowed"), *made.path[1:])
            return Verdict("cancelled", function, site, made.line, path, made.how, where=method.name)
    return None


def _make(kind: VerdictKind, follow: Follow, function: ir.Function, site: Site, losses: list[Loss]) -> Verdict:
    shown = [(_described(follow, site, loss), loss) for loss in losses]
    # That the next turn of a loop cannot borrow is the least telling way to lose what this turn has borrowed.
    (line, path), loss = min(shown, key=lambda each: (each[0][0] == site.line, each[0][0], each[1].how, each[0][1]))
    return Verdict(kind, function, site, line, path, loss.how)


def path_to(follow: Follow, index: int, fact: Fact) -> list[tuple[int, Fact, str]]:
    """The way to a point with a fact: (point, fact before it, way out of it), from where the object was borrowed."""
    steps: list[tuple[int, Fact, str]] = []
    key = (index, fact)
    while True:
        before = follow.parents.get(key)
        if before is None:
            break
        steps.append(before)
        if before[1].site != fact.site:
            break
        key = (before[0], before[1])
    steps.reverse()
    return steps


def _described(follow: Follow, site: Site, loss: Loss) -> tuple[int, tuple[tuple[int, str], ...]]:
    """The line that raises or leaves, and the path as lines with what happens on each."""
    lines, decisive = _way(follow, site, loss)
    if loss.how == "leave":
        ret = follow.points[loss.fact.ret] if loss.fact.ret >= 0 else None
        if loss.kind == "" or not decisive:
            decisive = _leaving_line(follow, ret)
        if ret is None or ret.name == "implicit":
            lines.append((_leaving_line(follow, ret), "the function ends"))
    elif loss.how == "drop":
        point = follow.points[loss.point]
        if loss.kind == "" or not decisive:
            decisive = point.line
        lines.append((point.line, "the last reference is dropped"))
    elif loss.how == "raise" and not decisive:
        decisive = site.line
    return decisive, tuple(_unrepeated(lines))


def _way(follow: Follow, site: Site, loss: Loss) -> tuple[list[tuple[int, str]], int]:
    """The lines from the borrow to just before the loss, and the last of them that raises (0: none does)."""
    lines = [(site.line, "taken" if site.kind == "permit" else "borrowed")]
    raising = 0
    for index, fact, way in path_to(follow, loss.point, loss.fact):
        point = follow.points[index]
        if fact.site == GROUND or fact.status == PENDING:
            continue
        if way == "exc" and point.kind not in ("dispatch", "end_finally"):
            lines.append((point.line, "is cancelled" if loss.kind == CANCELLED else _raising_text(point)))
            raising = point.line
        elif point.kind == "caught":
            lines.append((point.line, "caught here"))
        elif point.kind == "ret" and point.name != "implicit":
            lines.append((point.line, "returns"))
    return lines, raising


def _leaving_line(follow: Follow, ret: Point | None) -> int:
    if ret is not None and ret.name != "implicit":
        return ret.line
    last = follow.function.body[-1] if follow.function.body else None
    return max((point.line for point in follow.points), default=last.line if last is not None else 0)


# What is said of the step at which an exception begins its way.
RAISING = frozenset(("is cancelled", "may be left here", "may raise", "raises"))


def _raising_text(point: Point) -> str:
    if point.kind == "raise":
        return "raises"
    if point.kind == "yield":
        return "may be left here"
    return "may raise"


def _unrepeated(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    previous: tuple[int, str] | None = None
    for line in lines:
        if line != previous:
            yield line
        previous = line


def fault_path(follow: Follow, site: Site, index: int, fact: Fact, last: str) -> tuple[tuple[int, str], ...]:
    """The path to a fault as lines: borrowed, returned, and what is wrong."""
    lines = [(site.line, "borrowed")]
    if fact.done >= 0:
        lines.append((follow.points[fact.done].line, "returned"))
    lines.append((follow.points[index].line, last))
    return tuple(lines)
