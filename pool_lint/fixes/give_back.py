"""How an object goes back to its pool: the statement that a program would write for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint.fixes.code import dotted

if TYPE_CHECKING:
    from pool_lint.catalog.spec import PoolSpec, ReleaseForm
    from pool_lint.fixes.case import Borrow, Case
    from pool_lint.fixes.code import Code
    from pool_lint.typestate.resolve import Callee

GUESS = "how the object goes back is a guess from the class or container it came from"
_DOTTED = re.compile(r"\w+(\.\w+)*")
_REMEDY = re.compile(r"\{pool\}\.(\w+)\(\.\.\.\)|call (\w+)\(\)|its (\w+)\(\)")


@dataclass(frozen=True, slots=True)
class GiveBack:
    """A call that returns the object; ``sure``: it is the one way, by the catalog or by the pool's own class."""

    text: str
    sure: bool


def written(case: Case, borrow: Borrow) -> GiveBack | None:
    """The call that the function itself makes; None where it makes none or several different ones."""
    texts = {case.code.text(release.value) for release in borrow.releases if not release.discards}
    discards = [release for release in borrow.releases if release.discards]
    return GiveBack(texts.pop(), sure=True) if len(texts) == 1 and not discards else None


def plain(case: Case, borrow: Borrow) -> GiveBack | None:
    """The call that the function makes where it does not discard; else the one that the pool is known to have."""
    texts = sorted(
        {case.code.text(each.value) for each in borrow.releases if not each.discards and not _drops(each.value)}
    )
    if texts:
        return GiveBack(texts[0], sure=len(texts) == 1)
    return known(case, borrow)


def _drops(value: object) -> bool:
    """Whether a call discards by its name."""
    func = getattr(value, "func", None) or getattr(getattr(value, "expression", None), "func", None)
    name = dotted(func).rpartition(".")[2] if func is not None else ""
    return name in ("terminate", "drop", "invalidate", "destroy", "discard")


def known(case: Case, borrow: Borrow) -> GiveBack | None:
    """The call that the catalog or the pool's class has for it."""
    if borrow.site.call is None:
        return None
    callee = case.module.file.resolver.callee(borrow.site.call, borrow.follow.function)
    if callee.kind == "function":
        return _method(case, borrow, callee) or _of_helper(case, borrow, callee)
    if callee.kind != "borrow" or callee.spec is None:
        return None
    receiver = dotted(borrow.receiver) if borrow.receiver is not None else ""
    return _form(case.code, borrow, callee.spec, receiver)


def _of_helper(case: Case, borrow: Borrow, callee: Callee) -> GiveBack | None:
    """The call for what another function has borrowed from a pool that this one can name."""
    site, function = borrow.site, borrow.follow.function
    path = [str(part) for part in site.path or ()]
    if callee.function is None or not path or "".join(path) != site.pool or not _DOTTED.fullmatch(site.pool):
        return None
    if path[0] not in {param.name for param in function.params}:
        return None
    return _form(case.code, borrow, site.spec, site.pool)


def _form(code: Code, borrow: Borrow, spec: PoolSpec, receiver: str) -> GiveBack | None:
    forms = [
        form for form in spec.releases
        if not form.discards and not form.when and not (form.awaited and not borrow.is_async)
    ]  # fmt: skip
    named = {name for found in _REMEDY.findall(spec.remedy) for name in found if name}
    forms.sort(key=lambda form: form.method not in named)
    for form in forms:
        text = _call(code, borrow, form, receiver)
        if text:
            return GiveBack(text, sure=bool(spec.library))
    return None


def _call(code: Code, borrow: Borrow, form: ReleaseForm, receiver: str) -> str:
    wait = "await " if form.awaited else ""
    if form.on == "object":
        return f"{wait}{borrow.handle}.{form.method}()"
    if "." in form.method:
        func, args = code.text(borrow.call.func), borrow.call.args
        if not args or not func.endswith("heappop"):
            return ""
        return f"{func.removesuffix('heappop')}heappush({code.text(args[0].value)}, {borrow.handle})"
    if not receiver or form.method.startswith("__") or form.arg > 0:
        return ""
    return f"{wait}{receiver}.{form.method}({borrow.handle if form.arg == 0 else ''})"


def _method(case: Case, borrow: Borrow, callee: Callee) -> GiveBack | None:
    """The method of the pool's class that takes the object back."""
    file = case.module.file
    klass = callee.function.owner if callee.function is not None else None
    receiver = borrow.receiver
    if klass is None or receiver is None or not dotted(receiver):
        return None
    found = [method for method in file.return_methods(klass) if not method.is_async or borrow.is_async]
    if not found:
        return None
    method = found[0]
    wait = "await " if method.is_async else ""
    return GiveBack(f"{wait}{dotted(receiver)}.{method.name}({borrow.handle})", sure=len(found) == 1)
