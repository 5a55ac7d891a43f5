"""Whether a library's ``with`` does just what a borrow and its return do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from pool_lint.fixes.code import dotted, is_handle, unawaited

if TYPE_CHECKING:
    from pool_lint.catalog.spec import BorrowForm
    from pool_lint.fixes.case import Borrow, Case
    from pool_lint.fixes.give_back import GiveBack
    from pool_lint.fixes.region import Region


def fits_with(case: Case, borrow: Borrow, region: Region, back: GiveBack) -> bool:
    """Whether this library's ``with`` does just what the calls do: borrow, and return without more."""
    spec, statement = borrow.site.spec, borrow.statement.body[0]
    target = statement.targets[0].target if isinstance(statement, cst.Assign) and len(statement.targets) == 1 else None
    plain = isinstance(target, cst.Name)
    if not spec.library or region.start != region.borrow + 1 or region.guarded or not plain:
        return False
    if region.block.body[region.borrow] is not borrow.statement or len(borrow.follow.sites) == 0:
        return False
    call = cst.parse_expression(unawaited(back.text))
    if not isinstance(call, cst.Call) or len(call.args) > 1 or not _is_library_release(borrow, call):
        return False
    callee = case.module.file.resolver.callee(borrow.site.call, borrow.follow.function) if borrow.site.call else None
    form = callee.borrow if callee is not None and callee.kind == "borrow" else None
    if form is None or not _is_bare(borrow):
        return False
    return keyword_of(borrow, form) != ""


def keyword_of(borrow: Borrow, form: BorrowForm) -> str:
    """Whether ``with`` or ``async with`` does the same as the call and its return; "" for neither."""
    awaited = isinstance(borrow.value, cst.Await)
    keyword = "async with" if awaited else "with"
    if keyword in form.ways:
        return keyword
    # Entering the object itself, where the catalog recommends it for this method.
    named = re.search(rf"\b{keyword} \{{pool\}}\.{re.escape(form.method)}\(", borrow.site.spec.remedy)
    return keyword if borrow.site.spec.with_object == "returns" and named and not awaited else ""


def _is_library_release(borrow: Borrow, call: cst.Call) -> bool:
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
