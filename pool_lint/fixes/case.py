"""What the analysis knows of one finding, in terms of the libcst tree: the borrow, its handle, its returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from pool_lint import ir
from pool_lint.fixes.code import Code, Statement, dotted, is_handle, mentions
from pool_lint.rules.faults import fault_finding, faults
from pool_lint.typestate.resolve import text_of
from pool_lint.typestate.state import GROUND, OBJECT
from pool_lint.walk import children, walk_expressions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.analysis import ModuleAnalysis
    from pool_lint.finding import Finding
    from pool_lint.rules.base import LoadedRule
    from pool_lint.typestate.follow import Follow
    from pool_lint.typestate.state import Place, Site
    from pool_lint.typestate.verdict import Verdict

LOSSES = {"raises": "POL101", "leaves": "POL102", "never": "POL103", "cancelled": "POL107"}
FAULTS = {"POL104": ("double",), "POL105": ("use",), "POL106": ("wrong",), "POL108": ("unbound", "none", "stale")}
# What is around a call that returns an object and takes nothing from its meaning.
_WRAPPERS = frozenset(("asyncio.shield", "shield", "asyncio.wait_for", "wait_for", "cast", "typing.cast"))


@dataclass(frozen=True, slots=True)
class Release:
    """One statement that returns the object and does nothing else.

    ``unit`` is what has to go for it to go: the statement, or the ``with`` on a lock that holds nothing else.
    ``guard`` is the ``if`` that it is alone in, where that asks only for the object.
    """

    statement: cst.SimpleStatementLine
    unit: Statement
    value: cst.BaseExpression
    guard: cst.If | None
    discards: bool


@dataclass(frozen=True, slots=True, eq=False)
class Borrow:
    """A borrow whose object is assigned to one name or attribute (``handle``), and where it is returned.

    ``statement`` is the assignment; ``exits`` are the lines of returns that are no statement of their own, such as the
    end of a ``with`` block.
    """

    follow: Follow
    site: Site
    call: cst.Call
    statement: cst.SimpleStatementLine
    handle: str
    value: cst.BaseExpression
    function: cst.FunctionDef
    releases: tuple[Release, ...]
    exits: tuple[int, ...]

    @property
    def is_async(self) -> bool:
        """Whether the function may await."""
        return self.function.asynchronous is not None

    @property
    def receiver(self) -> cst.BaseExpression | None:
        """What the borrow was called on."""
        return self.call.func.value if isinstance(self.call.func, cst.Attribute) else None


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One finding with its file; ``follow`` and ``site`` say which borrow it is about, where that is known."""

    finding: Finding
    module: ModuleAnalysis
    code: Code
    follow: Follow | None = None
    site: Site | None = None
    verdict: Verdict | None = None
    first: int = 0  # of an object that is returned twice: the line of the first return

    def call(self) -> cst.Call | None:
        """The call that borrows."""
        return self.code.call(self.site.call) if self.site is not None and self.site.call is not None else None

    def borrow(self) -> Borrow | None:
        """The borrow of the finding, if it is a plain assignment."""
        if self.follow is None or self.site is None or self.site.call is None:
            return None
        return borrow_of(self.code, self.follow, self.site)


def case_of(finding: Finding, module: ModuleAnalysis, code: Code, rules: dict[str, LoadedRule]) -> Case:
    """Find what the analysis said when it gave the finding."""
    place = (finding.line, finding.column)
    if finding.code in LOSSES.values():
        for verdict in module.verdicts:
            if (verdict.site.line, verdict.site.col) == place and LOSSES.get(verdict.kind) == finding.code:
                for outcome in module.outcomes:
                    if verdict.site in outcome.follow.sites:
                        return Case(finding, module, code, outcome.follow, verdict.site, verdict)
    elif finding.code in FAULTS:
        rule = rules[finding.code].rule
        for placed in faults(module, FAULTS[finding.code]):
            if fault_finding(rule, placed) == finding:
                done = placed.fault.fact.done
                first = placed.follow.points[done].line if done >= 0 else 0
                return Case(finding, module, code, placed.follow, placed.site, None, first)
    return Case(finding, module, code)


def borrow_of(code: Code, follow: Follow, site: Site) -> Borrow | None:
    """The borrow at a site as an assignment with its returns; None for any other form."""
    call = code.call(site.call) if site.call is not None else None
    statement = code.statement(call) if call is not None else None
    if call is None or not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    function = code.function(statement)
    if function is None or code.block(statement) is None:
        return None
    for handle, value in assignments(statement.body[0]):
        if _is_direct(value, call) and _holds(follow, site, handle, statement.body[0]):
            releases, exits = _releases(code, follow, site, handle)
            return Borrow(follow, site, call, statement, handle, value, function, tuple(releases), tuple(exits))
    return None


def _holds(follow: Follow, site: Site, handle: str, small: cst.CSTNode) -> bool:
    """Whether a name that a statement assigns to is the object itself and not another part of what came with it."""
    if "." in handle:
        return not (isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Tuple))
    if site.vars and handle not in site.vars:
        return False
    if not isinstance(small, cst.Assign) or not isinstance(small.targets[0].target, cst.Tuple):
        return True
    # A tuple that was borrowed as one is given back as one.
    names = [dotted(each.value) for each in small.targets[0].target.elements]
    held = [name for name in names if ((name,), OBJECT) in _places(follow, site)]
    return held == [handle]


def _places(follow: Follow, site: Site) -> set[tuple[Place, str]]:
    return {place for _, fact in follow.parents if fact.site == site.index for place in fact.places}


def assignments(small: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The names, and attributes of names, that a statement assigns to, each with the value."""
    if isinstance(small, cst.Assign):
        targets, value = [each.target for each in small.targets], small.value
    elif isinstance(small, cst.AnnAssign) and small.value is not None:
        targets, value = [small.target], small.value
    else:
        return
    for target in targets:
        for part in [each.value for each in target.elements] if isinstance(target, cst.Tuple) else [target]:
            if isinstance(part, cst.Name) or (isinstance(part, cst.Attribute) and isinstance(part.value, cst.Name)):
                yield dotted(part), value


def _is_direct(value: cst.CSTNode, call: cst.Call) -> bool:
    """Whether a value is the borrow itself, awaited, waited for or one of the arms of a choice."""
    if value is call:
        return True
    if isinstance(value, cst.Await):
        return _is_direct(value.expression, call)
    if isinstance(value, cst.Call) and is_wrapper(value):
        return any(_is_direct(arg.value, call) for arg in value.args)
    if isinstance(value, cst.IfExp):
        return _is_direct(value.body, call) or _is_direct(value.orelse, call)
    return False


def is_wrapper(call: cst.Call) -> bool:
    """Whether a call is seen through: ``asyncio.wait_for(pool.acquire(), 2)``."""
    func = call.func
    name = func.value if isinstance(func, cst.Name) else ""
    if isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name):
        name = f"{func.value.value}.{func.attr.value}"
    return name in _WRAPPERS


def _releases(code: Code, follow: Follow, site: Site, handle: str) -> tuple[list[Release], list[int]]:
    found: dict[int, Release] = {}
    exits: list[int] = []
    places = {id(call): call for call in returning(follow, site, handle)}
    for index in done_points(follow, site):
        point = follow.points[index]
        if isinstance(point.node, ir.Call):
            places[id(point.node)] = point.node
        else:
            exits.append(point.line)
    for node in places.values():
        call = code.call(node)
        release = release_at(code, call, handle) if call is not None else None
        if release is None:
            exits.append(node.line)
        else:
            found[id(release.statement)] = release
    return sorted(found.values(), key=lambda each: code.line(each.statement)), exits


def returning(follow: Follow, site: Site, handle: str) -> Iterator[ir.Call]:
    """The calls in a function that return the object in the handle, by what they call."""
    file, function = follow.file, follow.function
    on_object = {form.method for form in site.spec.releases if form.on == "object"}
    for call in walk_expressions(function.body):
        if not isinstance(call, ir.Call) or call is site.call:
            continue
        if isinstance(call.func, ir.Attr) and text_of(call.func.value) == handle and call.func.name in on_object:
            yield call
            continue
        given = [*call.args, *(value for _, value in call.keywords)]
        if not any(handle in names for names in ({text_of(part) for part in parts(arg)} for arg in given)):
            continue
        callee = file.resolver.callee(call, function)
        if callee.kind == "release":
            yield call
        elif callee.kind == "function" and callee.function is not None:
            name = _parameter(callee.function, call, handle, bound=callee.bound)
            if name and "returned" in file.effect(callee.function, (name,), None).outcomes:
                yield call


def _parameter(function: ir.Function, call: ir.Call, handle: str, *, bound: bool) -> str:
    """The parameter that gets the handle."""
    names = [param.name for param in function.params if param.kind == "positional"][int(bound) :]
    for name, arg in zip(names, call.args, strict=False):
        if text_of(arg) == handle:
            return name
    return next((name for name, value in call.keywords if name is not None and text_of(value) == handle), "")


def parts(expr: ir.Expr) -> Iterator[ir.Expr]:
    """An expression and all parts of it."""
    yield expr
    for child in children(expr):
        yield from parts(child)


def done_points(follow: Follow, site: Site) -> set[int]:
    """The points after which the object of a site is known to be returned."""
    return {
        fact.done for _, fact in follow.parents if fact.site == site.index and fact.site != GROUND and fact.done >= 0
    }


def release_at(code: Code, call: cst.Call, handle: str) -> Release | None:
    """The statement whose only work is a call that returns the handle."""
    value: cst.BaseExpression = call
    for each in code.ancestors(call):
        wraps = isinstance(each, cst.Call) and is_wrapper(each) and any(arg.value is value for arg in each.args)
        if isinstance(each, (cst.Call, cst.Await)) and (wraps or isinstance(each, cst.Await)):
            value = each
        elif not isinstance(each, cst.Arg):
            break
    expr = code.parents.get(value)
    line = code.parents.get(expr) if expr is not None else None
    if not isinstance(expr, cst.Expr) or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    if not mentions(value, handle) or code.block(line) is None:
        return None
    unit: Statement = line
    guard: cst.If | None = None
    for parent in _alone_in(code, line):
        if isinstance(parent, cst.With) and not mentions_items(parent, handle):
            unit = parent
        elif isinstance(parent, cst.If) and asks_only(parent.test, handle) and parent.orelse is None:
            guard = parent
            break
        else:
            break
    words = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    return Release(line, unit, value, guard, bool(words & {"close", "destroy", "discard"}))


def _alone_in(code: Code, statement: Statement) -> Iterator[cst.CSTNode]:
    """The compound statements, from the inside, that hold nothing but a statement."""
    current: cst.CSTNode = statement
    while True:
        block = code.parents.get(current)
        if not isinstance(block, cst.IndentedBlock) or len(block.body) != 1:
            return
        current = code.parents[block]
        yield current


def mentions_items(node: cst.With, handle: str) -> bool:
    """Whether the items of a ``with`` mention the handle."""
    return any(mentions(item, handle) for item in node.items)


def asks_only(test: cst.BaseExpression, handle: str) -> bool:
    """Whether a test is ``handle`` or ``handle is not None``."""
    if is_handle(test, handle):
        return True
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    target = test.comparisons[0]
    none = isinstance(target.comparator, cst.Name) and target.comparator.value == "None"
    return is_handle(test.left, handle) and isinstance(target.operator, cst.IsNot) and none
