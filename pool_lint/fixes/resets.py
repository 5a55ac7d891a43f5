"""Resets: moved to where every path passes them, made whole, or put in where the type's own reset is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes.candidate import Candidate
from pool_lint.fixes.code import Statement, bound_names, dotted, is_handle, line_of, mentions, walk
from pool_lint.fixes.leaving import release_on
from pool_lint.fixes.tidy import Tidy
from pool_lint.pools import state as known
from pool_lint.typestate.homes import cannot_fail, home_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint import ir
    from pool_lint.fixes.case import Case, Release
    from pool_lint.typestate.dirt import Leftover
    from pool_lint.typestate.state import Site

_KINDS = {"POL201": "dirty", "POL202": "partial", "POL203": "skipped"}
_LAZY = frozenset(("map", "filter", "zip", "iter", "reversed", "enumerate", "memoryview", "islice", "chain"))
_EMPTY = (cst.List, cst.Dict, cst.Tuple)
_COUNTERPARTS = {"seek": "truncate()", "truncate": "seek(0)"}


def leftover_of(case: Case) -> Leftover | None:
    """What the analysis said when it gave a finding about a reset."""
    finding = case.finding
    for leftover in case.module.leftovers:
        same = (leftover.line, leftover.col, leftover.code) == (finding.line, finding.column, _KINDS[finding.code])
        if same and leftover.function.qualname == finding.function:
            return leftover
    return None


# POL203


def moved_to_finally(case: Case) -> Iterator[Candidate]:
    """The reset at the end of a ``try`` body, in the ``finally`` that returns the object."""
    leftover = leftover_of(case)
    release = release_on(case, case.finding.line, case.finding.column)
    if leftover is None or release is None or not leftover.reset.isdecimal():
        return
    around = _around(case, release)
    if around is None:
        return
    reset = next(
        (
            node
            for node in walk(around.body)
            if isinstance(node, cst.SimpleStatementLine) and case.code.line(node) == int(leftover.reset)
        ),
        None,
    )
    if reset is None or len(reset.body) != 1:
        return
    again = [
        node
        for node in walk(around)
        if isinstance(node, cst.SimpleStatementLine) and case.code.text(node).strip() == case.code.text(reset).strip()
    ]
    new = _in_cleanup(case, reset.body[0], around)
    if new is None:
        return
    enclosure = cst.Try(
        body=cst.IndentedBlock(body=[new]), finalbody=cst.Finally(body=cst.IndentedBlock(body=[release.unit]))
    )
    module = case.code.replaced(release.unit, enclosure)
    doubt = _used_after(case, reset, around, again)
    yield Candidate(
        "reset it in the finally",
        module.visit(Tidy(again)).code,
        safe=not doubt,
        reason=doubt or "after the reset nothing used the object but its return",
    )


def _around(case: Case, release: Release) -> cst.Try | None:
    """The ``try`` whose ``finally`` has a return."""
    nodes = list(case.code.ancestors(release.unit))
    for index, node in enumerate(nodes):
        if isinstance(node, cst.Finally):
            around = nodes[index + 1]
            return around if isinstance(around, cst.Try) else None
    return None


def _in_cleanup(case: Case, small: cst.BaseSmallStatement, around: cst.Try) -> cst.BaseStatement | None:
    """The reset as it can stand where the body may have failed anywhere; None where it cannot."""
    made = bound_names(around.body)
    if any(isinstance(node, cst.Name) and node.value in made for node in walk(small)):
        return None
    line = cst.SimpleStatementLine(body=[small])
    if isinstance(small, cst.Del):
        target = small.target
        if not isinstance(target, cst.Subscript) or not dotted(target.value) or len(target.slice) != 1:
            return None
        index = target.slice[0].slice
        if not isinstance(index, cst.Index) or not isinstance(index.value, (cst.SimpleString, cst.Name, cst.Integer)):
            return None
        # It may not be there yet.
        return line_of(f"{dotted(target.value)}.pop({case.code.text(index.value)}, None)")
    return line if isinstance(small, (cst.Expr, cst.Assign)) else None


def _used_after(case: Case, reset: Statement, around: cst.Try, again: list[cst.SimpleStatementLine]) -> str:
    root = next((node.value for node in walk(reset) if isinstance(node, cst.Name)), "")
    later = case.code.line(reset)
    for node in mentions(around, root):
        line = case.code.statement(node)
        in_final = around.finalbody is not None and case.code.within(node, around.finalbody)
        if (
            line is not None
            and case.code.line(node) > later
            and not in_final
            and not any(line is each for each in again)
        ):
            return f"the object is used on line {case.code.line(node)}, after the reset, and now before it"
    return ""


# POL202


def made_whole(case: Case) -> Iterator[Candidate]:
    """``truncate()`` after ``seek(0)`` and the other way round; what an own reset forgets."""
    leftover = leftover_of(case)
    if leftover is None:
        return
    for line in walk(case.code.module):
        # Such a finding has a line and no column.
        if not isinstance(line, cst.SimpleStatementLine) or case.code.line(line) != case.finding.line:
            continue
        small = line.body[0]
        func = small.value.func if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) else None
        if isinstance(func, cst.Attribute) and func.attr.value in _COUNTERPARTS and dotted(func.value):
            yield _followed_by(case, line, f"{dotted(func.value)}.{_COUNTERPARTS[func.attr.value]}")
    function = _own_reset(case)
    if function is not None:
        yield from _with_forgotten(case, function, leftover)


def _followed_by(case: Case, line: Statement, text: str) -> Candidate:
    block = case.code.parents[line]
    if not isinstance(block, cst.IndentedBlock):
        raise TypeError("a reset in a function stands in a block")
    at = next(i for i, each in enumerate(block.body) if each is line) + 1
    return Candidate(
        f"add {text.rpartition('.')[2]}",
        case.code.with_statements(block, at, at, [line_of(text)]).code,
        safe=True,
        reason="what the reset left behind was never meant for the next user",
    )


def _own_reset(case: Case) -> cst.FunctionDef | None:
    for node in walk(case.code.module):
        if isinstance(node, cst.FunctionDef) and case.code.line(node) == case.finding.line:
            return node
    return None


def _with_forgotten(case: Case, function: cst.FunctionDef, leftover: Leftover) -> Iterator[Candidate]:
    """The attributes that the reset forgets, set as in the constructor of the same class."""
    body = function.body
    if not isinstance(body, cst.IndentedBlock) or not function.params.params:
        return
    own = function.params.params[0].name.value
    lines: list[cst.BaseStatement] = []
    for item in leftover.states:
        name = item.text.removesuffix(" contents")
        value = _initial(case, function, name)
        if value is not None:
            lines.append(line_of(f"{own}.{name} = {case.code.text(value)}"))
        elif _sets_stream(body, f"{own}.{name}"):
            lines.append(line_of(f"{own}.{name}.truncate()"))
        else:
            return
    text = case.code.with_statements(body, len(body.body), len(body.body), lines).code
    reason = "the constructor gives what was forgotten the same values"
    yield Candidate("reset what is left as the constructor sets it", text, safe=True, reason=reason)


def _sets_stream(body: cst.IndentedBlock, path: str) -> bool:
    return any(
        isinstance(node, cst.Call) and dotted(node.func) == f"{path}.seek" for each in body.body for node in walk(each)
    )


def _initial(case: Case, function: cst.FunctionDef, name: str) -> cst.BaseExpression | None:
    """The literal that the constructor of a class gives an attribute."""
    klass = next((each for each in case.code.ancestors(function) if isinstance(each, cst.ClassDef)), None)
    if klass is None:
        return None
    for node in walk(klass):
        if not isinstance(node, cst.FunctionDef) or node.name.value != "__init__" or not node.params.params:
            continue
        own = node.params.params[0].name.value
        for part in walk(node.body):
            if isinstance(part, cst.Assign) and len(part.targets) == 1:
                target, value = part.targets[0].target, part.value
            elif isinstance(part, cst.AnnAssign) and part.value is not None:
                target, value = part.target, part.value
            else:
                continue
            if is_handle(target, f"{own}.{name}") and _is_plain(value):
                return value
    return None


def _is_plain(value: cst.BaseExpression) -> bool:
    """Whether a value is a constant or an empty container, made anew each time."""
    if isinstance(value, _EMPTY):
        return not value.elements
    if isinstance(value, cst.Call):
        return dotted(value.func) in ("list", "dict", "set") and not value.args
    constant = isinstance(value, cst.Name) and value.value in ("None", "True", "False")
    return constant or isinstance(value, (cst.SimpleString, cst.Integer, cst.Float))


# POL201


def reset_before_return(case: Case) -> Iterator[Candidate]:
    """The known reset of the object's type, right before its return."""
    leftover = leftover_of(case)
    release = release_on(case, case.finding.line, case.finding.column)
    site = _site(case, leftover) if leftover is not None else None
    if leftover is None or release is None or site is None:
        return
    handle = _handle(case, release, site)
    found = _known_reset(case, leftover, site, handle) if handle else None
    if found is None:
        return
    calls, doubt = found
    lines: list[cst.BaseStatement] = [line_of(f"{handle}.{call}") for call in calls]
    if all(cannot_fail(case.module.file, site, leftover.function, call.partition("(")[0]) for call in calls):
        new: list[cst.BaseStatement] = [*lines, release.unit]
    else:
        final = cst.Finally(body=cst.IndentedBlock(body=[release.unit]))
        new = [cst.Try(body=cst.IndentedBlock(body=lines), finalbody=final)]
    block = case.code.block(release.unit)
    if block is None:
        return
    at = next(i for i, each in enumerate(block.body) if each is release.unit)
    yield Candidate(
        "reset it before the return",
        case.code.with_statements(block, at, at + 1, new).code,
        safe=not doubt,
        reason=doubt or "the object is cleared where it is no longer used",
    )


def _site(case: Case, leftover: Leftover) -> Site | None:
    for outcome in case.module.outcomes:
        for site in outcome.follow.sites:
            if outcome.function is leftover.function and site.line == leftover.borrowed and site.kind == "borrow":
                return site
    return None


def _handle(case: Case, release: Release, site: Site) -> str:
    """The name by which a return names the object."""
    names = [node.value for node in walk(release.value) if isinstance(node, cst.Name) and node.value in site.vars]
    return names[0] if names and case.code.function(release.unit) is not None else ""


def _known_reset(case: Case, leftover: Leftover, site: Site, handle: str) -> tuple[list[str], str] | None:
    """The calls that reset an object of this type, and why somebody should look at them."""
    home = home_of(case.module.file, site.spec, site, leftover.function)
    lazy = _lazy(case, leftover.function, handle)
    if home.klass is not None:
        for method in home.klass.methods.values():
            if known.is_resetting(method.name) and not _wants_arguments(method) and not method.is_async:
                return [f"{method.name}()"], lazy
        return None
    if home.word == "io":
        return ["seek(0)", "truncate()"], lazy
    if home.word in ("list", "dict", "set", "bytearray"):
        return ["clear()"], lazy
    texts = {item.text for item in leftover.states}
    if texts == {"an open transaction"} and site.call is not None:
        return ["rollback()"], "what the transaction did is undone; 'commit()' may be meant"
    return None


def _wants_arguments(method: ir.Function) -> bool:
    return any(param.default is None and param.kind in ("positional", "keyword") for param in method.params[1:])


def _lazy(case: Case, function: ir.Function, handle: str) -> str:
    """Why what the function hands out may still read the object."""
    for node in walk(case.code.module):
        if not isinstance(node, cst.FunctionDef) or case.code.line(node.name) != function.line:
            continue
        for part in walk(node.body):
            value = part.value if isinstance(part, (cst.Return, cst.Yield)) else None
            if value is None or not mentions(value, handle):
                continue
            bare = is_handle(value, handle)
            parts = list(walk(value))
            if bare or any(isinstance(each, (cst.GeneratorExp, cst.Lambda)) for each in parts):
                return "what the function gives out may still read the object"
            if any(isinstance(each, cst.Call) and dotted(each.func).rpartition(".")[2] in _LAZY for each in parts):
                return "what the function gives out may still read the object"
    return ""
