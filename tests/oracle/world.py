"""The choices and the observations of the runs of one target."""

# Hooks and events are described, not ordered; the call stack tells where they happen.
# ruff: noqa: D102, SLF001
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from .flavours import FLAVOURS, Cancelled, Prune
from .instrument import BORROWS, FILENAME, MAX_TURNS, RETURNS
from .observed import Fate, Line, Lines, Loan, Seen
from .stubs import AsyncHandle, Awaited, Cursor, Handle, PoolStub, Unbound, Value, reach

if TYPE_CHECKING:
    import types
    from collections.abc import Sequence

    from .instrument import Module

MAX_RAISES = 3
# Methods of pools and stacks: a program that calls them before it has one is not worth a thought.
NEEDED = BORROWS | {"callback", "push_async_callback", "enter_context", "enter_async_context", "connection", "lend"}

Fault = tuple[type[BaseException], str, bool]  # what is raised, its kind, whether the rules leave it open


class World:
    """The choices and observations of the runs of one target."""

    def __init__(self, module: Module, target: str, driver: types.CodeType) -> None:
        self.module = module
        self.target = target
        self.driver = driver  # the code at which a look up the stack ends
        self.seen = Seen(target)
        self.max_turns = MAX_TURNS
        self.trail: list[list[int]] = []
        self.is_async = False
        self.flavour = FLAVOURS["Pool"]
        self.opaque_faults: Sequence[Fault] = ()
        self.await_faults: Sequence[Fault] = ()
        self.handle_faults: Sequence[Fault] = ()
        self.handle_await_faults: Sequence[Fault] = ()
        self.borrow_faults: Sequence[Fault] = ()
        self.yield_faults: Sequence[Fault] = ()
        self.unbound = Unbound(self)
        self.reset()

    def reset(self) -> None:
        """Begin the next run."""
        self.position = 0
        self.helpers = 0  # how many helpers are running
        self.raises: list[str] = []
        self.loans: list[Loan] = []
        self.soft = False
        self.pruned = False
        self.closing = False  # the run is over; a generator is only brought to its end
        self.odd = ""
        self.first_bad = True
        self.turns = [0] * self.module.loops
        self.entries = [0] * len(self.module.tries)
        self.returning: tuple[Line, list[Loan]] | None = None
        self.unbound.truth = None
        self.unbound.literals.clear()

    # choices

    def choose(self, arity: int) -> int:
        position = self.position
        self.position = position + 1
        trail = self.trail
        if position < len(trail):
            return trail[position][0]
        trail.append([0, arity])
        return 0

    def advance(self) -> bool:
        """Whether there is another run; its choices are set up."""
        trail = self.trail
        del trail[self.position :]
        while trail and trail[-1][0] + 1 >= trail[-1][1]:
            trail.pop()
        if not trail:
            return False
        trail[-1][0] += 1
        return True

    def pick(self, ways: int, faults: Sequence[Fault]) -> int:
        """One of several ways to go on, or one of the faults is raised."""
        self.alive()
        if self.closing:
            return 0
        arity = ways + len(faults) if len(self.raises) < MAX_RAISES else ways
        choice = self.choose(arity) if arity > 1 else 0
        if choice < ways:
            return choice
        kind, name, soft = faults[choice - ways]
        self.raises.append(name)
        self.soft = self.soft or soft
        raise kind("injected")

    def alive(self) -> None:
        if self.pruned and not self.closing:
            raise Prune

    # where

    def lines(self) -> tuple[Lines, str, int]:
        """The lines of the generated frames, the innermost frame's name, and the target's instruction."""
        frame = sys._getframe(2)
        found = []
        name = ""
        instruction = 0
        while frame is not None and frame.f_code is not self.driver:
            if frame.f_code.co_filename == FILENAME:
                found.append(frame.f_lineno)
                name = name or frame.f_code.co_name
                instruction = frame.f_lasti
            frame = cast("types.FrameType", frame.f_back)
        return tuple(found), name, instruction

    # events

    def borrow(self, pool: PoolStub, *, managed: bool = False) -> Handle:
        if self.closing:
            raise Prune
        lines, name, instruction = self.lines()
        line = lines[-1]
        self.seen.attempts.add(line)
        self.pick(1, self.borrow_faults)
        site = (line, instruction if line in self.module.crowded else 0)
        loan = Loan(site, pool, len(self.raises), tuple(self.entries), managed or name in self.module.managers)
        if self.target in self.module.managers and len(lines) == 1 and not managed:
            loan.managed = False
        loan.inner = self.helpers > 0
        self.loans.append(loan)
        if not loan.managed:
            self.seen.fates.setdefault(site, Fate())
        return (AsyncHandle if self.flavour.is_async else Handle)(self, loan)

    def give_back(self, pool: PoolStub | None, conn: object) -> None:
        self.alive()
        if self.closing:
            return
        lines, _, _ = self.lines()
        if conn is None or isinstance(conn, Unbound):
            self.bad_return(lines, None)
            return
        loan = conn.loan if isinstance(conn, Handle) else None
        if loan is None:
            return
        right = pool is None or loan.pool is pool
        if loan.released:
            self.second_return(loan, lines, right=right)
            return
        loan.released = lines[-1]
        loan.returns = 1
        if right:
            self.first_return(loan, lines)
        else:
            self.wrong_return(loan, lines)

    def first_return(self, loan: Loan, lines: Lines) -> None:
        fate = self.fate(loan)
        if self.soft:
            fate.released_soft = True
            fate.loaned_soft = fate.loaned_soft or loan.yielded
        else:
            fate.released = True
            fate.loaned = fate.loaned or loan.yielded
        if self.stale_try(loan, lines) is not None:
            fate.deferred = True
            self.seen.optional.add((lines[-1], "POL108"))

    def wrong_return(self, loan: Loan, lines: Lines) -> None:
        self.fate(loan).wrong = True
        self.seen.wrong_sites.add(loan.site)
        if loan.registered or loan.transferred:
            self.seen.optional.update((line, "POL106") for line in (*lines, loan.registered))
            return
        loan.wrong = True
        self.seen.wrongs.add((lines, self.soft))

    def fate(self, loan: Loan) -> Fate:
        """Where the target's own borrows are recorded; others leave no trace."""
        return Fate() if loan.inner else self.seen.fates.get(loan.site) or Fate()

    def second_return(self, loan: Loan, lines: Lines, *, right: bool) -> None:
        loan.returns += 1
        stale = self.stale_try(loan, lines)
        if stale is not None:
            self.bad_return(lines, stale)
            return
        if self.flavour.second_release_ok and right:
            return
        if loan.returns > 2 or loan.wrong or loan.registered or loan.transferred:
            self.seen.optional.update((line, code) for line in lines for code in ("POL104", "POL106"))
            return
        codes = "POL104 POL108" if self.later_turn(loan) else "POL104"
        if not right:
            codes += " POL106"
        self.seen.doubles.setdefault((loan.site, loan.released), set()).add((lines, codes, self.soft))

    def bad_return(self, lines: Lines, stale: int | None) -> None:
        region = stale if stale is not None else self.module.cleanup_of_borrow(lines[-1])
        if region is None or not self.first_bad:
            self.seen.optional.update((line, "POL108") for line in lines)
            return
        self.first_bad = False
        self.seen.bads.setdefault(region, set()).add((lines, self.soft))

    def stale_try(self, loan: Loan, lines: Lines) -> int | None:
        """The `try` whose cleanup stands at this line and whose body borrowed the object in an earlier turn."""
        for index in self.module.cleanups_at(lines[-1]):
            body = self.module.tries[index].body
            if body[0] <= loan.site[0] <= body[1] and loan.entries[index] != self.entries[index]:
                return index
        return None

    def later_turn(self, loan: Loan) -> bool:
        """Whether a `try` around the borrow has been entered again since."""
        return any(
            region.body[0] <= loan.site[0] <= region.body[1] and loan.entries[index] != self.entries[index]
            for index, region in enumerate(self.module.tries)
        )

    def use(self, loan: Loan | None) -> None:
        if loan is None or not loan.released or loan.used_after or self.closing:
            return
        loan.used_after = True
        lines, _, _ = self.lines()
        if loan.registered or loan.wrong or self.later_turn(loan):
            self.seen.optional.update((line, "POL105") for line in lines)
            return
        self.seen.uses.setdefault((loan.site, loan.released), set()).add((lines, self.soft))

    def use_at(self, loan: Loan, line: Line) -> None:
        if loan.used_after:
            return
        loan.used_after = True
        if loan.registered or loan.wrong:
            self.seen.optional.add((line, "POL105"))
            return
        self.seen.uses.setdefault((loan.site, loan.released), set()).add(((line,), self.soft))

    def on_handle(self, loan: Loan | None, _values: Sequence[object], *, awaited: bool = False) -> object:
        self.alive()
        self.use(loan)
        self.pick(1, self.handle_faults if not awaited else self.handle_await_faults)
        return Value(self)

    def work(self, *values: object) -> object:
        self.alive()
        self.hand_over(values)
        self.pick(1, self.opaque_faults)
        return Value(self)

    def on_nothing(self, *_values: object) -> object:
        self.alive()
        if not self.is_async:
            self.pick(1, self.opaque_faults)
        return Value(self)

    def fetch(self, *values: object) -> object:
        return Awaited(lambda: self._fetch(values))

    def _fetch(self, values: Sequence[object]) -> object:
        self.alive()
        self.hand_over(values)
        self.pick(1, self.await_faults)
        return Value(self)

    def cond(self, *_values: object) -> bool:
        return self.pick(2, self.opaque_faults) == 0

    def hand_over(self, values: Sequence[object]) -> None:
        for value in values:
            if isinstance(value, (Handle, Cursor)):
                self.use(value.loan)
                if value.loan is not None and isinstance(value, Handle):
                    value.loan.given = True
            elif callable(value):
                self.register(value)

    def keep(self, value: object) -> None:
        self.alive()
        for loan in reach(value):
            if loan.released:
                self.use(loan)
            loan.transferred = True

    def register(self, *values: object) -> None:
        self.alive()
        lines, _, _ = self.lines()
        for value in values:
            for loan in reach(value):
                loan.transferred = True
                loan.registered = lines[-1]
                if loan.released:
                    self.seen.optional.update((lines[-1], code) for code in ("POL104", "POL105"))

    # hooks that `Instrument` puts into the code

    def hook_raise(self, again: bool) -> None:  # noqa: FBT001
        self.alive()
        current = sys.exc_info()[0]
        if again and current is None:
            self.odd = "a bare raise outside a handler"
        self.raises.append("cancel" if again and current is Cancelled else "error")

    def hook_loop(self, index: int, most: int) -> None:
        self.alive()
        self.turns[index] += 1
        if self.turns[index] > (most or self.max_turns):
            self.pruned = True
            raise Prune

    def hook_loop_start(self, index: int) -> None:
        self.turns[index] = 0

    def hook_try(self, index: int) -> None:
        self.entries[index] += 1

    def hook_caught(self) -> None:
        error = sys.exc_info()[1]
        if isinstance(error, Prune):
            raise Prune
        if isinstance(error, (NameError, TypeError, AttributeError)):
            self.odd = repr(error)

    def hook_return(self, function: str, line: Line, value: object) -> object:
        if function == self.target and not self.pruned:
            found = reach(value)
            for loan in found:
                if loan.released:
                    self.use_at(loan, line)
            self.returning = (line, found)
            if isinstance(value, Cursor) and value.loan is not None:
                if value.loan.released:
                    self.use_at(value.loan, line)
                value.loan.derived_out = True
                self.returning = (line, [value.loan])
        return value

    def hook_yield(self, function: str, line: Line, value: object) -> object:
        if function == self.target and not self.pruned:
            for loan in reach(value):
                if loan.released:
                    self.use_at(loan, line)
                loan.yielded = True
            if isinstance(value, Cursor) and value.loan is not None and value.loan.released:
                self.use_at(value.loan, line)
        return value

    def hook_store(self, value: object) -> object:
        """What goes into a list: whether that is a use of a returned object is left open."""
        if isinstance(value, Handle) and value.loan is not None and value.loan.released:
            lines, _, _ = self.lines()
            self.seen.optional.add((lines[-1], "POL105"))
        return value

    def hook_test(self, value: object) -> object:
        """A name in a test: before it is bound, the rules do not say what happens."""
        if value is self.unbound:
            self.soft = self.seen.doubtful = True
        return value

    def hook_receiver(self, method: str, value: object) -> object:
        """The receiver of a call: on ``None`` the rules do not say what happens, but for a return."""
        if value is None or value is self.unbound:
            self.soft = self.soft or method not in RETURNS
            if value is not None and method in NEEDED:
                self.odd = f"{method} of an unbound name"
            return Value(self)
        return value

    # one run

    def settle(self, result: object, outcome: str) -> None:
        """Record what became of everything that was borrowed in this run."""
        for loan in reach(result):
            loan.transferred = True
        if outcome == "return" and self.returning is not None:
            line, loans = self.returning
            for loan in loans:
                if loan.released:
                    self.use_at(loan, line)
        for loan in self.loans:
            loan.over = True
            if loan.managed or loan.orphan or loan.released:
                continue
            fate = self.fate(loan)
            fate.given = fate.given or loan.given
            fate.closed = fate.closed or (loan.closed and loan.given)
            fate.derived_out = fate.derived_out or loan.derived_out
            if loan.transferred:
                if self.soft:
                    fate.transferred_soft = True
                else:
                    fate.transferred = True
            elif not loan.given:
                fate.leaks.add((self.leak_kind(loan, outcome), self.soft, loan.yielded))
            else:
                fate.leaks.add(("given " + self.leak_kind(loan, outcome), self.soft, loan.yielded))

    def settle_losses(self) -> None:
        """Record what had been lost for good before the run was given up."""
        for loan in self.loans:
            loan.over = True
            kept = loan.managed or loan.orphan or loan.released or loan.transferred or loan.given or loan.yielded
            if loan.lost >= 0 and not kept:
                self.fate(loan).leaks.add((self.leak_kind(loan, "return"), self.soft, False))

    def leak_kind(self, loan: Loan, outcome: str) -> str:
        kinds = self.raises[loan.born :] if loan.lost < 0 else self.raises[loan.born : loan.lost]
        if not kinds:
            return "error" if outcome == "raise" and loan.lost < 0 else "normal"
        if "cancel" not in kinds:
            return "error"
        return "cancel" if kinds[-1] == "cancel" else "mixed"
