"""Put what is done with an object into ``try``/``finally``, or into ``with`` where leaving that returns it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes import give_back
from pool_lint.fixes.candidate import Candidate
from pool_lint.fixes.code import NESTED, Block, Statement, binds, dotted, is_handle, line_of, mentions, walk
from pool_lint.fixes.case import assignments, borrow_of
from pool_lint.fixes.quiet import Quiet, block_leaves, leaves
from pool_lint.fixes.tidy import Tidy, leading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.catalog.spec import BorrowForm
    from pool_lint.fixes.case import Borrow, Case, Release
    from pool_lint.fixes.code import Code
    from pool_lint.fixes.give_back import GiveBack


@dataclass(frozen=True, slots=True)
class Region:
    """The statements of a block that come under the ``finally``: from ``start`` up to before ``stop``.

    ``last`` is the plain return that ends it and becomes the ``finally``; ``borrow`` the index of what borrows.
    """

    block: Block
    borrow: int
    start: int
    stop: int
    last: Release | None
    guarded: bool
    dropped: tuple[Statement, ...] = ()

    @property
    def statements(self) -> list[Statement]:
        """What comes under the ``finally``."""
        return list(self.block.body[self.start : self.stop])


def enclosed(case: Case) -> Iterator[Candidate]:
    """Candidates that return the object at one place, which every path passes."""
    borrow = case.borrow()
    if borrow is None or borrow.site.transferred or "." in borrow.handle:
        return
    borrow = _until_next(case.code, borrow)
    if borrow.exits:
        return
    back = give_back.written(case, borrow) if borrow.releases else give_back.known(case, borrow)
    found = _anchor(case.code, borrow) if back is not None else None
    if back is None or found is None:
        return
    if not borrow.releases and not any(mentions(each, borrow.handle) for each in found[0].body[found[1] + 1 :]):
        yield _at_once(case, found, back)
        return
    seen: set[int] = set()
    for names in ({borrow.handle}, _derived(borrow, *found)):
        region = _region(case.code, borrow, *found, names)
        if region.stop in seen or not (region.statements and _is_steady(case.code, borrow, region, back)):
            continue
        seen.add(region.stop)
        doubt = _doubt(case, borrow, region, back)
        if _with_fits(case, borrow, region, back):
            yield _with(case, borrow, region, doubt)
        yield _finally(case, borrow, region, back, doubt)


def _at_once(case: Case, place: tuple[Block, int], back: GiveBack) -> Candidate:
    """The return right after the borrow of an object that nothing is done with."""
    block, index = place
    text = case.code.with_statements(block, index + 1, index + 1, [line_of(back.text)]).code
    doubt = "" if back.sure else give_back.GUESS
    return _candidate("return it at once, since it is not used", text, doubt)


def _until_next(code: Code, borrow: Borrow) -> Borrow:
    """The borrow with only the returns up to where its block assigns something else to the handle."""
    end = _end(code, borrow)
    if end is None:
        return borrow
    line = code.line(end)
    block = code.block(end)
    later = block.body[next(i for i, each in enumerate(block.body) if each is end) :] if block is not None else ()
    releases = [each for each in borrow.releases if not any(code.within(each.unit, other) for other in later)]
    return replace(borrow, releases=tuple(releases), exits=tuple(each for each in borrow.exits if each < line))


def _end(code: Code, borrow: Borrow) -> Statement | None:
    """The first statement after the borrow, in its block, that assigns something else to the handle."""
    block = code.block(borrow.statement)
    if block is None:
        return None
    for each in block.body[next(i for i, each in enumerate(block.body) if each is borrow.statement) + 1 :]:
        if isinstance(each, cst.SimpleStatementLine) and len(each.body) == 1:
            for handle, value in assignments(each.body[0]):
                if handle == borrow.handle and not mentions(value, handle):
                    return each
    return None


def may_be_none(borrow: Borrow) -> bool:
    """Whether the function takes it that there may be no object."""
    if isinstance(borrow.value, (cst.IfExp, cst.BooleanOperation)):
        return True
    return _asks(borrow.function, borrow.handle, set())


def _derived(borrow: Borrow, block: Block, index: int) -> set[str]:
    """The handle and the names given to what its methods return, such as a cursor."""
    names = {borrow.handle}
    for statement in block.body[index + 1 :]:
        for node in walk(statement):
            if isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name):
                if any(_calls_method(part, borrow.handle) for part in walk(node.value)):
                    names.add(node.targets[0].target.value)
    return names


def _calls_method(node: cst.CSTNode, handle: str) -> bool:
    func = node.func if isinstance(node, cst.Call) else None
    return isinstance(func, cst.Attribute) and is_handle(func.value, handle)


def _region(code: Code, borrow: Borrow, block: Block, index: int, names: set[str]) -> Region:
    own = {id(each.unit) for each in borrow.releases}
    last_use = index
    end = _end(code, borrow)
    for position in range(index + 1, len(block.body)):
        if block.body[position] is end:
            break
        if any(mentions(block.body[position], name) for name in sorted(names)):
            last_use = position
    start = index + 1
    last: Release | None = None
    stop = last_use + 1
    for release in borrow.releases:
        top = release.guard if release.guard is not None else release.unit
        if last_use > index and block.body[last_use] is top:
            last, stop = release, last_use
    if start < stop and _is_refusal(block.body[start], borrow.handle):
        start += 1
    asked = any(_asks(each, borrow.handle, own) for each in block.body[start:stop])
    choice = isinstance(borrow.value, (cst.IfExp, cst.BooleanOperation))
    guarded = asked or (choice and any(each.guard is not None for each in borrow.releases))
    return Region(block, index, start, stop, last, guarded, tuple(_dropped(code, borrow, block, index)))


def _dropped(code: Code, borrow: Borrow, block: Block, index: int) -> Iterator[Statement]:
    """What loses its meaning: ``del`` of the handle after the borrow, ``handle = None`` before it."""
    other = False
    presets = []
    gone = {id(node) for each in borrow.releases for node in walk(each.guard or each.unit)}
    after = {id(node) for each in block.body[index + 1 :] for node in walk(each)}
    for node in mentions(borrow.function, borrow.handle):
        line = code.statement(node)
        if line is None or id(node) in gone or code.within(node, borrow.statement):
            continue
        if id(node) in after:
            if _is_del(line, borrow.handle):
                yield line
        elif _sets_none(line, borrow.handle) and code.block(line) is not None and code.line(line) < code.line(borrow.statement):
            presets.append(line)
        else:
            other = True
    if not other:
        yield from presets


def _is_del(statement: cst.CSTNode, handle: str) -> bool:
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    return isinstance(small, cst.Del) and is_handle(small.target, handle)


def _anchor(code: Code, borrow: Borrow) -> tuple[Block, int] | None:
    """The block in which the object is used, and the index of the statement in it that borrows."""
    current: Statement = borrow.statement
    while True:
        block = code.block(current)
        if block is None:
            return None
        index = next(i for i, each in enumerate(block.body) if each is current)
        around = code.parents[block]
        if not _used_elsewhere(code, borrow, block, index):
            return block, index
        if isinstance(around, (cst.With, cst.Try)) and index == len(block.body) - 1 and around.body is block:
            if isinstance(around, cst.Try):
                if around.finalbody is not None or not all(block_leaves(each.body) for each in around.handlers):
                    return None
                if around.orelse is not None:
                    body = around.orelse.body
                    used = isinstance(body, cst.IndentedBlock) and not _used_elsewhere(code, borrow, body, -1)
                    return (body, -1) if used and isinstance(body, cst.IndentedBlock) else None
            current = around
            continue
        return None


def _used_elsewhere(code: Code, borrow: Borrow, block: Block, index: int) -> bool:
    """Whether the object is used where a ``finally`` at the end of the block would have returned it already."""
    gone = {id(node) for each in borrow.releases for node in walk(each.guard or each.unit)}
    inside = {id(node) for each in block.body[index + 1 :] for node in walk(each)}
    for node in mentions(borrow.function.body, borrow.handle):
        if id(node) in gone or id(node) in inside or code.within(node, borrow.statement):
            continue
        line = code.statement(node)
        if line is not None and _sets_none(line, borrow.handle):
            continue
        return True
    return False


def _sets_none(statement: cst.CSTNode, handle: str) -> bool:
    """Whether a statement is ``handle = None``."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        target, value = small.targets[0].target, small.value
    elif isinstance(small, cst.AnnAssign) and small.value is not None:
        target, value = small.target, small.value
    else:
        return False
    return is_handle(target, handle) and isinstance(value, cst.Name) and value.value == "None"


def _is_refusal(statement: cst.CSTNode, handle: str) -> bool:
    """Whether a statement leaves where there is no object: ``if conn is None: return``."""
    if not isinstance(statement, cst.If) or statement.orelse is not None or not block_leaves(statement.body):
        return False
    test = statement.test
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return is_handle(test.expression, handle)
    return _compares_none(test, handle) and isinstance(test, cst.Comparison) and isinstance(
        test.comparisons[0].operator, cst.Is
    )


def _compares_none(test: cst.CSTNode, handle: str) -> bool:
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not is_handle(test.left, handle):
        return False
    target = test.comparisons[0].comparator
    return isinstance(target, cst.Name) and target.value == "None"


def _asks(statement: Statement, handle: str, own: set[int]) -> bool:
    """Whether a statement asks anywhere whether there is an object, other than to return it."""
    for node in walk(statement):
        if isinstance(node, (cst.If, cst.IfExp, cst.While)):
            body = node.body
            alone = isinstance(body, cst.IndentedBlock) and len(body.body) == 1 and id(body.body[0]) in own
            if alone:
                continue
            if any(is_handle(part, handle) or _compares_none(part, handle) for part in _conjuncts(node.test)):
                return True
    return False


def _conjuncts(test: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(test, cst.BooleanOperation):
        yield from _conjuncts(test.left)
        yield from _conjuncts(test.right)
    elif isinstance(test, cst.UnaryOperation):
        yield from _conjuncts(test.expression)
    else:
        yield test


def _is_steady(code: Code, borrow: Borrow, region: Region, back: GiveBack) -> bool:
    """Whether the names in the return mean the same at the end of the region as at its beginning."""
    names = {part.value for part in walk(cst.parse_expression(_unawaited(back.text))) if isinstance(part, cst.Name)}
    paths = {dotted(part) for part in walk(cst.parse_expression(_unawaited(back.text)))} - {""}
    for statement in region.statements:
        for node in walk(statement):
            if isinstance(node, (cst.Global, cst.Nonlocal)):
                return False
            if isinstance(node, cst.Del) and is_handle(node.target, borrow.handle):
                continue  # taken out
            for target in binds(node):
                if target in names or target in paths:
                    return False
    removed = [each.unit for each in borrow.releases]
    return all(code.function(unit) is borrow.function for unit in removed)


def _unawaited(text: str) -> str:
    return text.removeprefix("await ")


def _doubt(case: Case, borrow: Borrow, region: Region, back: GiveBack) -> str:
    """Why somebody should look before the fix is applied; "" where the normal path keeps its meaning."""
    code = case.code
    if not back.sure:
        return give_back.GUESS
    skipped = _returns_of_all(case, borrow)
    quiet = Quiet(case.module.file.catalog)
    for release in borrow.releases:
        unit = release.guard or release.unit
        if release is region.last or not code.within(unit, region.block):
            continue
        late = quiet.after(code, unit, region.block, skipped)
        if late is not None and code.within(late, region.block):
            return f"the object is kept longer: what begins on line {code.line(late)} now runs before it is returned"
        if release.guard is None and _is_conditional(code, unit, region):
            return f"the return on line {code.line(unit)} depended on a condition; now the object is always returned"
    for statement in region.statements:
        for node in walk(statement):
            if isinstance(node, NESTED) and mentions(node, borrow.handle):
                return "a function or class made meanwhile refers to the object and may outlive the return"
            if _closes(node, borrow) and not any(code.within(node, each.unit) for each in borrow.releases):
                return "the object is closed before it is returned; whether the pool takes it so must be known"
    return ""


def _returns_of_all(case: Case, borrow: Borrow) -> set[int]:
    """The statements that return this object or another one of the function."""
    skipped = {id(node) for each in borrow.releases for node in (each.unit, each.guard or each.unit)}
    for site in borrow.follow.sites:
        other = borrow_of(case.code, borrow.follow, site) if site.call is not None else None
        for each in other.releases if other is not None else ():
            skipped.update((id(each.unit), id(each.guard or each.unit)))
    return skipped


def _closes(node: cst.CSTNode, borrow: Borrow) -> bool:
    """Whether a node closes the object, so that what goes back is not what came."""
    spec = borrow.site.spec
    if isinstance(node, cst.WithItem):
        return spec.with_object == "closes" and is_handle(node.item, borrow.handle)
    func = node.func if isinstance(node, cst.Call) else None
    return (
        isinstance(func, cst.Attribute)
        and is_handle(func.value, borrow.handle)
        and func.attr.value in ("close", "disconnect", "terminate", "aclose", "shutdown", "quit")
        and not spec.reconnects
    )


def _is_conditional(code: Code, unit: Statement, region: Region) -> bool:
    """Whether the region goes on after a branch that returned the object."""
    current: cst.CSTNode = unit
    branched = False
    for parent in code.ancestors(unit):
        if parent is region.block:
            return branched
        if isinstance(parent, cst.IndentedBlock):
            position = next(i for i, each in enumerate(parent.body) if each is current)
            if any(leaves(each) for each in parent.body[position + 1 :]):
                return False
        branched = branched or isinstance(parent, (cst.If, cst.MatchCase, cst.For, cst.While))
        current = parent
    return False


def _finally(case: Case, borrow: Borrow, region: Region, back: GiveBack, doubt: str) -> Candidate:
    final = line_of(back.text)
    region = _past_inert(region)
    last = region.last
    whole: cst.BaseStatement = final
    if last is not None:
        whole = last.unit.deep_clone()
        whole = whole.with_changes(leading_lines=[line for line in leading(whole) if line.comment is not None])
    elif borrow.releases and not isinstance(borrow.releases[0].unit, cst.SimpleStatementLine):
        whole = borrow.releases[0].unit.deep_clone().with_changes(leading_lines=[])
    if region.guarded:
        test = cst.parse_expression(f"{borrow.handle} is not None")
        whole = cst.If(test=test, body=cst.IndentedBlock(body=[whole]))
    enclosure = cst.Try(
        body=cst.IndentedBlock(body=region.statements),
        finalbody=cst.Finally(body=cst.IndentedBlock(body=[whole])),
    )
    text = _rendered(case, borrow, region, enclosure)
    return _candidate(f"return the {borrow.site.spec.item} in a finally", text, doubt)


def _past_inert(region: Region) -> Region:
    """The region without the assignments of literals that it begins with: they cannot fail."""
    start = region.start
    while start < region.stop - 1 and _is_inert(region.block.body[start]):
        start += 1
    return replace(region, start=start)


def _is_inert(statement: Statement) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return all(
        isinstance(small, (cst.Assign, cst.AnnAssign)) and all(isinstance(part, _LITERAL) for part in walk(small))
        if not isinstance(small, cst.AnnAssign)
        else isinstance(small.target, cst.Name)
        and small.value is not None
        and all(isinstance(part, _LITERAL) for part in walk(small.value))
        for small in statement.body
    )


_LITERAL = (
    cst.Assign, cst.AssignTarget, cst.Name, cst.Tuple, cst.List, cst.Dict, cst.Element, cst.DictElement, cst.Integer,
    cst.Float, cst.SimpleString, cst.Comma, cst.LeftParen, cst.RightParen, cst.LeftSquareBracket,
    cst.RightSquareBracket, cst.LeftCurlyBrace, cst.RightCurlyBrace, cst.BaseParenthesizableWhitespace, cst.Semicolon,
    cst.MaybeSentinel, cst.AssignEqual,
)  # fmt: skip


def _with_fits(case: Case, borrow: Borrow, region: Region, back: GiveBack) -> bool:
    """Whether this library's ``with`` does just what the calls do: borrow, and return without more."""
    spec, statement = borrow.site.spec, borrow.statement.body[0]
    plain = isinstance(statement, cst.Assign) and len(statement.targets) == 1
    plain = plain and isinstance(statement.targets[0].target, cst.Name)
    if not spec.library or region.start != region.borrow + 1 or region.guarded or not plain:
        return False
    if region.block.body[region.borrow] is not borrow.statement or len(borrow.follow.sites) == 0:
        return False
    call = cst.parse_expression(_unawaited(back.text))
    if not isinstance(call, cst.Call) or len(call.args) > 1 or not _is_library_release(case, borrow, call):
        return False
    callee = case.module.file.resolver.callee(borrow.site.call, borrow.follow.function) if borrow.site.call else None
    form = callee.borrow if callee is not None and callee.kind == "borrow" else None
    if form is None or not _is_bare(borrow):
        return False
    return _keyword(borrow, form) != ""


def _keyword(borrow: Borrow, form: BorrowForm) -> str:
    """Whether ``with`` or ``async with`` does the same as the call and its return; "" for neither."""
    awaited = isinstance(borrow.value, cst.Await)
    keyword = "async with" if awaited else "with"
    if keyword in form.ways:
        return keyword
    # Entering the object itself, where the catalog recommends it for this method.
    named = re.search(rf"\b{keyword} \{{pool\}}\.{re.escape(form.method)}\(", borrow.site.spec.remedy)
    return keyword if borrow.site.spec.with_object == "returns" and named and not awaited else ""


def _is_library_release(case: Case, borrow: Borrow, call: cst.Call) -> bool:
    func = call.func
    if not isinstance(func, cst.Attribute):
        return False
    forms = [form for form in borrow.site.spec.releases if form.method == func.attr.value and not form.discards]
    receiver = borrow.receiver
    return any(
        is_handle(func.value, borrow.handle)
        if form.on == "object"
        else receiver is not None and dotted(receiver) == dotted(func.value) != ""
        for form in forms
    )


def _is_bare(borrow: Borrow) -> bool:
    value = borrow.value
    return value is borrow.call or (isinstance(value, cst.Await) and value.expression is borrow.call)


def _with(case: Case, borrow: Borrow, region: Region, doubt: str) -> Candidate:
    callee = case.module.file.resolver.callee(borrow.site.call, borrow.follow.function) if borrow.site.call else None
    form = callee.borrow if callee is not None else None
    keyword = _keyword(borrow, form) if form is not None else "with"
    item = cst.WithItem(
        item=borrow.call if form is not None and keyword in form.ways else borrow.value,
        asname=cst.AsName(name=cst.Name(borrow.handle)),
    )
    entered = cst.With(
        items=[item],
        body=cst.IndentedBlock(body=region.statements),
        asynchronous=cst.Asynchronous() if keyword == "async with" else None,
        leading_lines=borrow.statement.leading_lines,
    )
    text = _rendered(case, borrow, replace(region, start=region.borrow), entered)
    return _candidate(f"borrow the {borrow.site.spec.item} in '{keyword}'", text, doubt)


def _rendered(case: Case, borrow: Borrow, region: Region, enclosure: cst.Try | cst.With) -> str:
    first = region.block.body[region.start]
    if isinstance(enclosure, cst.Try):
        blanks = [line for line in leading(first) if line.comment is None]
        rest = [line for line in leading(first) if line.comment is not None]
        inner = [first.with_changes(leading_lines=rest), *region.statements[1:]]
        if not any(each is first for release in borrow.releases for each in (release.unit, release.guard)):
            body = enclosure.body.with_changes(body=inner)
            enclosure = enclosure.with_changes(body=body, leading_lines=blanks)
    else:
        body = enclosure.body.body
        comment = borrow.statement.trailing_whitespace
        suite = cst.IndentedBlock(body=body, header=comment)
        enclosure = enclosure.with_changes(body=suite)
    stop = region.stop + (1 if region.last is not None else 0)
    module = case.code.with_statements(region.block, region.start, stop, [enclosure])
    removed = [*(each.unit for each in borrow.releases), *region.dropped]
    return module.visit(Tidy(removed, enclosure)).code


def _candidate(title: str, text: str, doubt: str) -> Candidate:
    kept = "the normal path does the same, and the object is returned on every path"
    return Candidate(title, text, safe=not doubt, reason=doubt or kept)
