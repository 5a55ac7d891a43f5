"""The verdict on each pool of a file: is it worth having, by the profile in force."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.cost.model import NOTHING, Interval, is_below, written
from pool_lint.cost.predict import Predictor, UnknownCostError, Value
from pool_lint.cost.profile import find_profile
from pool_lint.typestate.made import is_external
from pool_lint.typestate.state import GROUND
from pool_lint.walk import walk_statements
from pool_lint.worth.kept import KeptPool, filled_by_borrowers, grows, keeps_work, kept_pools, resets
from pool_lint.worth.local import built_for_one_borrow
from pool_lint.worth.shared import immutable_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pool_lint.cost.profile import Profile
    from pool_lint.pools.containers import ContainerUse
    from pool_lint.typestate.file import FileAnalysis, Outcome
    from pool_lint.typestate.state import Site

MANY = 8


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """One pool that is not worth having: the rule's code, where it is built, what the message says."""

    code: str
    line: int
    col: int
    parts: Mapping[str, str]


@dataclass(slots=True, eq=False)
class Sum:
    """What pooling an object costs and saves, and how that was found; None where it is not known.

    ``new`` is freed at once, ``kept`` lives on.  ``escapes`` is None where no borrow is in view.
    """

    new: Interval | None = None
    kept: Interval | None = None
    borrow: Interval | None = None
    many: Interval | None = None
    reset: Interval = NOTHING
    reset_known: bool = True
    escapes: bool | None = None
    profile: str = ""
    lines: list[str] = field(default_factory=list)
    why_not: str = ""


def judge(file: FileAnalysis, outcomes: Sequence[Outcome]) -> Iterator[Worth]:
    """Yield what is to be said of each pool; one thing each, the strongest first."""
    seen: set[tuple[int, int]] = set()
    for local in built_for_one_borrow(file):
        seen.add((local.line, local.col))
        yield Worth("POL305", local.line, local.col, {"pool": local.name, "caller": local.function})
    for pool in kept_pools(file):
        if (pool.built.line, pool.built.col) in seen:
            continue
        found = _verdict(file, outcomes, pool)
        if found is not None:
            seen.add((pool.built.line, pool.built.col))
            yield found


def _verdict(file: FileAnalysis, outcomes: Sequence[Outcome], pool: KeptPool) -> Worth | None:
    if pool.made is None:
        return None
    kind = immutable_kind(file, pool)
    line, col = pool.built.line, pool.built.col
    if kind:
        return Worth("POL304", line, col, {"pool": pool.name, "kind": kind})
    account = account_of(file, outcomes, pool)
    if account.why_not or account.new is None or account.kept is None or account.borrow is None:
        return None
    code = code_of(account, file.settings.margin)
    if code is None:
        return None
    parts = {
        "pool": pool.name,
        "new": written((account.kept if code == "POL301" else account.new).mid),
        "kept": written(account.kept.mid),
        "reset": written(account.reset.mid),
        "resetting": f" and {written(account.reset.mid)} to reset" if account.reset.mid else "",
        "borrow": written(account.borrow.mid),
        "many": written(account.many.mid if account.many is not None else account.borrow.mid),
        "n": str(file.settings.threads),
        "profile": account.profile,
    }
    return Worth(code, line, col, parts)


def code_of(account: Sum, margin: float) -> str | None:
    """Which rule a sum breaks, if any."""
    assert account.new is not None
    assert account.kept is not None
    assert account.borrow is not None
    if account.reset.mid and is_below(account.new, account.reset, margin):
        return "POL303"
    cost = account.borrow + account.reset
    if is_below(account.kept, cost, margin):
        return "POL301"
    never = account.escapes is False and account.reset_known
    if never and is_below(account.new, cost, margin) and is_below(cost, account.kept, margin):
        return "POL302"
    return None


def account_of(file: FileAnalysis, outcomes: Sequence[Outcome], pool: KeptPool) -> Sum:
    """Return the sum of one pool."""
    profile = find_profile(file.settings.profile)
    account = Sum(profile=profile.name)
    if pool.made is None:
        account.why_not = "not everything that is put into it is seen to be constructed"
        return account
    if is_external(file, pool.made):
        account.why_not = "its objects hold, or may come to hold, something outside the process"
        return account
    threads = file.settings.threads
    account.borrow = profile.borrow(pool.shape, pool.wrapping, threads)
    account.many = profile.borrow(pool.shape, pool.wrapping, MANY)
    if account.borrow is None:
        account.why_not = f"the profile has no pool shape '{pool.shape}'"
        return account
    try:
        account.new, value = _creation(file, profile, pool, account, alive=False)
        account.kept, _ = _creation(file, profile, pool, account, alive=True)
    except UnknownCostError as error:
        account.why_not = f"what an object costs is not known: {error}"
        return account
    if filled_by_borrowers(file):
        account.why_not = "a borrower completes its objects, which then keep what they were given"
        return account
    if value.klass is not None and keeps_work(file, value.klass):
        account.why_not = f"an object of '{value.klass.name}' keeps what its methods have worked out"
        return account
    if value.kind == "bytearray" and grows(file, pool):
        account.why_not = "its buffers keep the size to which they have grown"
        return account
    account.reset, account.reset_known = _reset(file, profile, pool, value, account)
    account.escapes = escapes(outcomes, file, pool)
    _describe(account, pool, threads)
    return account


def _describe(account: Sum, pool: KeptPool, threads: int) -> None:
    rows = (
        ("C_new, freed at once", account.new),
        ("C_new, kept alive", account.kept),
        (f"C_borrow({threads}), {pool.shape}, {pool.wrapping}", account.borrow),
        (f"C_borrow({MANY})", account.many),
        ("C_reset" if account.reset_known else "C_reset, the part that is known", account.reset),
    )
    for name, cost in rows:
        if cost is not None:
            account.lines.append(f"{name:44} {_line(cost)}")
    states = {
        True: "borrowed objects escape",
        False: "borrowed objects never escape",
        None: "nobody in this file borrows one",
    }
    account.lines.append(states[account.escapes])


def _line(cost: Interval) -> str:
    return f"{written(cost.mid):>8}  [{written(cost.low)}, {written(cost.high)}]"


def _creation(
    file: FileAnalysis, profile: Profile, pool: KeptPool, account: Sum, *, alive: bool
) -> tuple[Interval, Value]:
    """C_new over every place that constructs an object."""
    found: Interval | None = None
    value = Value()
    for expr, scope in pool.made or ():
        predictor = Predictor(file.types, profile, alive=alive)
        cost, value = predictor.valued(expr, scope)
        if not alive:
            account.lines += [
                f"  {_line(term.cost)}  {'  ' * term.depth}{term.what}, line {term.line}" for term in predictor.terms
            ]
        found = cost if found is None else found.joined(cost)
    if found is None:
        raise UnknownCostError("nothing in this file constructs one")
    return found, value


def _reset(file: FileAnalysis, profile: Profile, pool: KeptPool, value: Value, account: Sum) -> tuple[Interval, bool]:
    """C_reset, as far as it is known: what is not known only makes the pool dearer."""
    best: Interval | None = None
    known = True
    for function, stmts, name in resets(pool):
        cost = NOTHING
        for stmt in stmts:
            predictor = Predictor(file.types, profile)
            try:
                cost += predictor.statement(stmt, function, {name: value})
            except UnknownCostError as error:
                known = False
                account.lines.append(f"  reset not known: {error}")
        # of several ways back the cheapest: the kindest to the pool
        best = cost if best is None or cost.mid < best.mid else best
    return best or NOTHING, known


def escapes(outcomes: Sequence[Outcome], file: FileAnalysis, pool: KeptPool) -> bool | None:
    """Whether an object outlives a function that borrows it, at any borrow in view; None where there is none."""
    found: bool | None = None
    for outcome in outcomes:
        if outcome.hands_out:
            continue
        for site in outcome.follow.sites:
            if site.kind == "borrow" and borrows_from(file, outcome.function, site, pool.use):
                outlives = site.transferred or not site.returned or _is_held_at_the_end(outcome, site)
                found = bool(found) or outlives
    return found


def borrows_from(file: FileAnalysis, function: ir.Function, site: Site, use: ContainerUse) -> bool:
    """Whether an object that a function borrows comes from a container, through methods of this file too."""
    if site.call is None:
        return False
    takers = {take.function for take in use.takes}
    if any(take.call is site.call for take in use.takes):
        return True
    seen: set[ir.Function] = set()
    queue = [file.resolver.callee(site.call, function)]
    while queue:
        callee = queue.pop()
        if callee.function is None or callee.function in seen:
            continue
        seen.add(callee.function)
        if callee.function in takers:
            return True
        queue += [
            file.resolver.callee(stmt.value, callee.function)
            for stmt in walk_statements(callee.function.body)
            if isinstance(stmt, ir.Return) and isinstance(stmt.value, ir.Call)
        ]
    return False


def _is_held_at_the_end(outcome: Outcome, site: Site) -> bool:
    return any(
        fact.site != GROUND and fact.site == site.index and fact.status == "held" and fact.places
        for fact in outcome.follow.ends
    )


def explained(file: FileAnalysis, outcomes: Sequence[Outcome], line: int) -> str:
    """The whole sum of the pool that is built on a line."""
    for pool in kept_pools(file):
        if pool.built.line == line:
            account = account_of(file, outcomes, pool)
            rows = [f"pool '{pool.name}', built on line {line}, by profile {account.profile}"]
            rows += account.lines
            if account.why_not:
                rows.append(f"no verdict: {account.why_not}")
            else:
                code = code_of(account, file.settings.margin)
                assert account.borrow is not None
                even = account.borrow + account.reset
                rows.append(f"{'break-even: pooling pays where C_new exceeds':44} {_line(even)}")
                rows.append(f"verdict: {code or 'nothing to report'}, margin {file.settings.margin:g}")
            return "\n".join(rows) + "\n"
    return f"no pool is built on line {line}\n"
