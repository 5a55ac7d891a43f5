"""Borrows that are entered at once (``with pool.getconn() as conn``) or thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes import give_back
from pool_lint.fixes.candidate import Candidate
from pool_lint.fixes.case import Borrow, is_wrapper
from pool_lint.fixes.code import dotted, line_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.fixes.case import Case

_CLOSES = "what is left at the end of the 'with' was closed so far and is returned open now"
_CLOSING = frozenset(("closing", "contextlib.closing", "aclosing", "contextlib.aclosing"))


def thrown_away(case: Case) -> Iterator[Candidate]:
    """The return around a borrow whose result nobody takes."""
    call = case.call()
    line = case.code.statement(call) if call is not None else None
    if call is None or case.follow is None or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return
    small = line.body[0]
    awaited = isinstance(small, cst.Expr) and isinstance(small.value, cst.Await) and small.value.expression is call
    function = case.code.function(call)
    if not isinstance(small, cst.Expr) or not (small.value is call or awaited) or function is None:
        return
    text = case.code.text(small.value)
    for on_object in (False, True):
        handle = f"({text})" if awaited and on_object else text
        back = give_back.known(case, _borrow(case, call, handle, function, small.value))
        if back is not None and back.text.removeprefix("await ").startswith(f"{handle}.") == on_object:
            new = line_of(back.text).with_changes(
                leading_lines=line.leading_lines, trailing_whitespace=line.trailing_whitespace
            )
            reason = "the object is only borrowed, and now also returned"
            yield Candidate(
                "return it at once, since it is not used",
                case.code.replaced(line, new).code,
                safe=back.sure,
                reason=reason if back.sure else give_back.GUESS,
            )
            return


def entered(case: Case) -> Iterator[Candidate]:
    """A ``with`` on the object that does not return it, with one that does or a ``finally`` around it."""
    found = _item(case)
    if found is None or case.follow is None or case.site is None or case.site.call is None:
        return
    statement, item, call, closing = found
    keyword = "async with" if statement.asynchronous is not None else "with"
    callee = case.module.file.resolver.callee(case.site.call, case.follow.function)
    spec = case.site.spec
    own = callee.borrow if callee.kind == "borrow" else None
    if own is not None and keyword in own.ways:
        yield _entering(case, item, call)
    if own is not None and not call.args and isinstance(call.func, cst.Attribute):
        for form in spec.borrows:
            if keyword in form.ways and form.method != own.method and not form.method.startswith("__"):
                yield _entering(case, item, call.with_changes(func=call.func.with_changes(attr=cst.Name(form.method))))
    if item.asname is not None and isinstance(item.asname.name, cst.Name):
        drops = closing or spec.with_object != "transaction"
        yield from _in_finally(case, statement, item, call, drops=drops)


def _item(case: Case) -> tuple[cst.With, cst.WithItem, cst.Call, bool] | None:
    """The ``with``, its only item, the borrow in it, and whether ``closing`` is around that."""
    call = case.call()
    statement = case.code.statement(call) if call is not None else None
    if call is None or not isinstance(statement, cst.With) or len(statement.items) != 1:
        return None
    item = statement.items[0]
    inner = item.item
    closing = isinstance(inner, cst.Call) and dotted(inner.func) in _CLOSING and len(inner.args) == 1
    if closing and isinstance(inner, cst.Call):
        inner = inner.args[0].value
    if isinstance(inner, cst.Await):
        inner = inner.expression
    if isinstance(inner, cst.Call) and inner is not call and is_wrapper(inner):
        return None
    return (statement, item, call, closing) if inner is call else None


def _entering(case: Case, item: cst.WithItem, call: cst.Call) -> Candidate:
    new = item.with_changes(item=call.with_changes(lpar=(), rpar=()))
    return Candidate("enter what returns it", case.code.replaced(item, new).code, safe=False, reason=_CLOSES)


def _in_finally(
    case: Case, statement: cst.With, item: cst.WithItem, call: cst.Call, *, drops: bool
) -> Iterator[Candidate]:
    function, block = case.code.function(call), case.code.block(statement)
    if function is None or block is None or item.asname is None or not isinstance(item.asname.name, cst.Name):
        return
    handle = item.asname.name.value
    value = (
        item.item.args[0].value if drops and isinstance(item.item, cst.Call) and item.item is not call else item.item
    )
    back = give_back.known(case, _borrow(case, call, handle, function, value))
    if back is None:
        return
    body: list[cst.BaseStatement] = [statement.with_changes(items=[cst.WithItem(cst.Name(handle))], leading_lines=())]
    if drops and isinstance(statement.body, cst.IndentedBlock):
        body = list(statement.body.body)
    value = value.with_changes(lpar=(), rpar=()) if isinstance(value, (cst.Call, cst.Await)) else value
    assign = line_of(f"{handle} = x").with_changes(leading_lines=statement.leading_lines)
    assign = assign.with_changes(body=[assign.body[0].with_changes(value=value)])
    if isinstance(statement.body, cst.IndentedBlock):
        assign = assign.with_changes(trailing_whitespace=statement.body.header)
        body[0] = (
            body[0]
            if drops
            else body[0].with_changes(body=statement.body.with_changes(header=cst.TrailingWhitespace()))
        )
    final = cst.Finally(body=cst.IndentedBlock(body=[line_of(back.text)]))
    new = [assign, cst.Try(body=cst.IndentedBlock(body=body), finalbody=final)]
    index = next(i for i, each in enumerate(block.body) if each is statement)
    doubt = _CLOSES if drops else "" if back.sure else give_back.GUESS
    yield Candidate(
        "return it in a finally around the 'with'",
        case.code.with_statements(block, index, index + 1, new).code,
        safe=not doubt,
        reason=doubt or "the transaction ends where it did, and then the object is returned",
    )


def _borrow(case: Case, call: cst.Call, handle: str, function: cst.FunctionDef, value: cst.BaseExpression) -> Borrow:
    assert case.follow is not None
    assert case.site is not None
    return Borrow(case.follow, case.site, call, line_of("pass"), handle, value, function, (), ())
