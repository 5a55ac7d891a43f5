"""The usual shapes of borrowing code, with random statements in their gaps."""

# A shape is described, not ordered.
# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Callable

from .dialects import PSYCOPG2
from .statements import HANDLERS, Place, Writer
from .tree import Block, Compound


class Shaper(Writer):
    """Writes the body of one function."""

    __slots__ = ()

    def tail(self, place: Place) -> Block:
        """What may follow the return of the handle."""
        block = self.noise(Place("", place.loop, place.depth), 1) if self.chance(0.35) else []
        if place.handle and self.chance(0.06):
            block.append(self.use(place.handle))
        if self.chance(0.4) and not self.generator and not place.loop:
            block.append(self.rng.choice(("return 1", "return None", "return True")))
        return block

    def straight(self, place: Place) -> Block:
        handle = self.handle_name()
        here = place.holding(handle)
        return [*self.borrow(handle), *self.noise(here, 2), self.give_back(handle), *self.tail(here)]

    def guarded(self, place: Place) -> Block:
        """try/finally, the borrow before it."""
        handle = self.handle_name()
        here = place.holding(handle)
        before = self.noise(here, 1) if self.chance(0.12) else []
        parts: list[tuple[str, Block]] = [("try:", self.body(here.inside(), 3))]
        if self.chance(0.4):
            parts.append(self.handler(here))
        final: Block = [self.give_back(handle)]
        if self.chance(0.1):
            final.insert(0, self.use(handle))
        if self.chance(0.1):
            final.append(self.leave(place))
        parts.append(("finally:", final))
        return [*self.borrow(handle), *before, Compound(parts), *self.tail(here)]

    def handled(self, place: Place) -> Block:
        """A handler that returns it, and a return on the normal path."""
        handle = self.handle_name()
        here = place.holding(handle)
        parts: list[tuple[str, Block]] = [("try:", self.body(here.inside(), 3))]
        for _ in range(self.rng.choice((1, 1, 2))):
            cure = self.give_back(handle) if self.chance(0.85) else ""
            if cure and self.chance(0.3):
                parts.append(("except Exception:", [cure, "raise"]))
                break
            parts.append(self.handler(here, cure=cure))
            if parts[-1][0] == "except:":
                break
        after: Block = []
        if self.chance(0.35):
            parts.append(("else:", [*self.noise(here.inside(), 1), self.give_back(handle)]))
        else:
            after = [self.give_back(handle)]
        return [*self.borrow(handle), Compound(parts), *after, *self.tail(here)]

    def cancelled(self, place: Place) -> Block:
        """A handler for errors only."""
        handle = self.handle_name()
        here = place.holding(handle)
        cure = self.give_back(handle, "pool")
        handler: tuple[str, Block] = ("except Exception:", [cure, self.rng.choice(("raise", "return"))])
        parts: list[tuple[str, Block]] = [("try:", self.body(here.inside(), 3)), handler]
        if self.dialect.is_async and self.chance(0.3):
            parts.insert(1, ("except asyncio.CancelledError:", [cure, "raise"] if self.chance(0.5) else ["raise"]))
        return [*self.borrow(handle), Compound(parts), self.give_back(handle, "pool"), *self.tail(here)]

    def inside(self, place: Place) -> Block:
        """The borrow inside the try."""
        handle = self.handle_name()
        here = place.holding(handle)
        clear: Block = [f"{handle} = None"] if self.chance(0.7) else []
        before = self.noise(place.inside(), 1) if self.chance(0.2) else []
        body: Block = [*before, *self.borrow(handle), *self.noise(here.inside(), 2)]
        guard = self.rng.random()
        cure: Block = [self.give_back(handle)]
        if guard < 0.4 and clear:
            cure = [Compound([(f"if {handle} is not None:", cure)])]
        elif guard < 0.55 and clear:
            cure = [Compound([(f"if {handle}:", cure)])]
        elif guard < 0.7 and clear:
            cure = [self.awaited(f"{self.helper('give_back_any')}(pool, {handle})")]
        parts: list[tuple[str, Block]] = [("try:", body)]
        if self.chance(0.3):
            parts.append(self.handler(here))
        if self.chance(0.75):
            parts.append(("finally:", cure))
            return [*clear, Compound(parts), *self.tail(here)]
        parts.append((self.rng.choice(("except BaseException:", "except Exception:")), [*cure, "raise"]))
        return [*clear, Compound(parts), self.give_back(handle), *self.tail(here)]

    def cleared(self, place: Place) -> Block:
        """Returned early, the name cleared, and a guard in the finally."""
        handle = self.handle_name()
        here = place.holding(handle)
        body: Block = [*self.noise(here.inside(), 1), self.give_back(handle)]
        if self.chance(0.8):
            body.append(f"{handle} = None")
        body += self.noise(place.inside(), 2)
        guard = f"if {handle} is not None:" if self.chance(0.6) else f"if {handle}:"
        final: Block = [Compound([(guard, [self.give_back(handle)])])]
        return [*self.borrow(handle), Compound([("try:", body), ("finally:", final)]), *self.tail(here)]

    def flagged(self, place: Place) -> Block:
        """A flag says whether it was returned."""
        handle = self.handle_name()
        here = place.holding(handle)
        name, start, end = self.rng.choice(
            (("done", "False", "True"), ("released", "False", "True"), ("held", "True", "False"))
        )
        test = f"if {name}:" if start == "True" else f"if not {name}:"
        body: Block = [*self.noise(here.inside(), 1), self.give_back(handle), f"{name} = {end}"]
        if self.chance(0.2):
            self.rng.shuffle(body)
        body += self.noise(place.inside(), 1)
        final: Block = [Compound([(test, [self.give_back(handle)])])]
        block: Block = [f"{name} = {start}", *self.borrow(handle)]
        if self.chance(0.3):
            block.reverse()
        if not isinstance(block[0], str):
            return block
        return [*block, Compound([("try:", body), ("finally:", final)]), *self.tail(here)]

    def owned(self, place: Place) -> Block:
        """A connection of the caller, or one of our own."""
        handle = self.parameter("conn", "=None")
        here = place.holding(handle)
        borrow = self.dialect.borrow.format(pool="pool")
        style = self.rng.random()
        block: Block
        if style < 0.6:
            block = ["owned = conn is None", Compound([("if owned:", [f"conn = {borrow}"])])]
        elif style < 0.8:
            block = ["owned = False", Compound([("if conn is None:", [f"conn = {borrow}", "owned = True"])])]
        else:
            block = ["owned = conn is None", f"conn = {borrow} if owned else conn"]
        test = "if owned:" if self.chance(0.85) else f"if {self.flag()}:"
        final: Block = [Compound([(test, [self.give_back(handle)])])]
        return [*block, Compound([("try:", self.body(here.inside(), 2)), ("finally:", final)]), *self.tail(here)]

    def optional(self, place: Place) -> Block:
        """A borrow in one arm only."""
        handle = self.handle_name()
        here = place.holding(handle)
        flag = self.flag()
        style = self.rng.random()
        block: Block
        borrow = self.dialect.borrow.format(pool="pool")
        if style < 0.5:
            block = [f"{handle} = {borrow} if {flag} else None"]
        else:
            block = [f"{handle} = None", Compound([(f"if {flag}:", [f"{handle} = {borrow}"])])]
        test = self.rng.choice((f"if {flag}:", f"if {handle} is not None:", f"if {handle}:", f"if not {flag}:"))
        use: Block = [Compound([(f"if {handle} is not None:", [self.use(handle)])])] if self.chance(0.6) else []
        body: Block = [*self.noise(place.inside(), 1), *use] or [self.opaque()]
        final: Block = [Compound([(test, [self.give_back(handle)])])]
        if self.chance(0.75):
            return [*block, Compound([("try:", body), ("finally:", final)]), *self.tail(here)]
        return [*block, *body, *final, *self.tail(here)]

    def early(self, place: Place) -> Block:
        """A guard clause after the borrow."""
        handle = self.handle_name()
        here = place.holding(handle)
        test = self.rng.choice((f"if {handle} is None:", f"if not {handle}:", f"if {self.condition()}:"))
        block: Block = [*self.borrow(handle), Compound([(test, [self.leave(here)])])]
        return [*block, *self.try_or_not(here), *self.tail(here)]

    def walrus(self, place: Place) -> Block:
        handle = self.handle_name()
        here = place.holding(handle)
        borrow = self.dialect.borrow.format(pool="pool")
        test = f"if ({handle} := {borrow}) is not None:"
        parts: list[tuple[str, Block]] = [(test, self.try_or_not(here.inside()))]
        return [Compound(parts), *self.tail(here)]

    def try_or_not(self, here: Place) -> Block:
        """The handle is returned, in a finally or not."""
        cure = self.give_back(here.handle)
        if self.chance(0.7):
            return [Compound([("try:", self.body(here.inside())), ("finally:", [cure])])]
        return [*self.noise(here, 1), cure]

    def two(self, place: Place) -> Block:
        """Two handles."""
        first, second = "source", "target"
        other = self.parameter("other", self.dialect.annotation) if self.chance(0.5) else "pool"
        here = place.holding(self.rng.choice((first, second)))
        style = self.rng.random()
        if style < 0.4:
            inner: Block = [
                *self.borrow(second, other),
                Compound([("try:", self.body(here.inside().inside())), ("finally:", [self.give_back(second, other)])]),
            ]
            outer = Compound([("try:", inner), ("finally:", [self.give_back(first, "pool")])])
            return [*self.borrow(first), outer]
        borrows: Block = [*self.borrow(first), *self.borrow(second, other)]
        cures: Block = [self.give_back(first, "pool"), self.give_back(second, other)]
        if self.chance(0.4):
            cures.reverse()
        if style < 0.5:
            a, b = (self.dialect.borrow.format(pool=name) for name in ("pool", other))
            borrows = [f"{first}, {second} = {a}, {b}"]
        if style < 0.75:
            return [*borrows, Compound([("try:", self.body(here.inside())), ("finally:", cures)])]
        return [*borrows, *self.noise(here, 1), *cures]

    def chosen(self, place: Place) -> Block:
        """The pool is chosen first."""
        handle = self.handle_name()
        here = place.holding(handle)
        other = self.parameter("other", self.dialect.annotation)
        flag = self.flag()
        borrow = self.dialect.borrow.format(pool="chosen")
        back = self.dialect.give_back.format(pool="chosen", conn=handle)
        cure: Block = [back]
        if self.chance(0.2):
            yes, no = (self.dialect.give_back.format(pool=name, conn=handle) for name in ("pool", other))
            cure = [Compound([(f"if {flag}:", [yes]), ("else:", [no])])]
        elif self.chance(0.3):
            cure = [self.dialect.give_back.format(pool="pool", conn=handle)]
        body = self.body(here.inside())
        if self.chance(0.3):
            body.append(Compound([(f"if {self.condition()}:", [f"chosen = {other}"])]))
        block: Block = [f"chosen = pool if {flag} else {other}", f"{handle} = {borrow}"]
        return [*block, Compound([("try:", body), ("finally:", cure)]), *self.tail(here)]

    def looped(self, place: Place) -> Block:
        """One borrow a turn."""
        handle = self.handle_name()
        inner = Place(handle, loop=True, depth=place.depth + 1)
        make = self.rng.choice((self.straight, self.guarded, self.handled, self.inside, self.cleared))
        body = make(Place("", loop=True, depth=inner.depth))
        header = self.loop_header(body)
        parts = [(header, body)]
        if self.chance(0.15):
            parts.append(("else:", self.body(place.inside())))
        before: Block = [f"{handle} = None"] if self.chance(0.4) else []
        return [*before, Compound(parts), *self.tail(Place("", place.loop, place.depth))]

    def retried(self, place: Place) -> Block:
        """A loop until it works."""
        handle = self.handle_name()
        here = Place(handle, loop=True, depth=place.depth + 2)
        leave = self.rng.choice(("break", "return 1" if not self.generator else "return"))
        error = self.rng.choice((*HANDLERS, *(f"except {name}:" for name in self.dialect.errors)))
        again = self.rng.choice(("continue", "pass", 'log.warning("again")', self.opaque()))
        borrow = self.borrow(handle)
        body: Block = [*self.noise(here, 1), self.use(handle)]
        cure = self.give_back(handle)
        style = self.rng.random()
        if style < 0.5:
            attempt: Block = [*borrow, Compound([("try:", [*body, leave]), (error, [again]), ("finally:", [cure])])]
        elif style < 0.8:
            attempt = [Compound([("try:", [*borrow, *body, cure, leave]), (error, [cure, again])])]
        else:
            attempt = [Compound([("try:", borrow), (error, ["continue"])]), *body, cure, leave]
        before: Block = [f"{handle} = None"] if self.chance(0.4) else []
        header = "while True:" if self.chance(0.7) else f"while cond({self.number()}):"
        return [*before, Compound([(header, attempt)])]

    def carried(self, place: Place) -> Block:
        """Borrowed before a loop, returned after it."""
        handle = self.handle_name()
        here = place.holding(handle)
        loop = self.loop(here)
        if self.chance(0.5):
            return [
                *self.borrow(handle),
                Compound([("try:", loop), ("finally:", [self.give_back(handle)])]),
                *self.tail(here),
            ]
        return [*self.borrow(handle), *loop, self.give_back(handle), *self.tail(here)]

    def managed(self, place: Place) -> Block:
        """A context manager lends it."""
        handle = self.handle_name()
        here = place.holding(handle)
        keyword = "async with" if self.dialect.is_async else "with"
        options = [f"{keyword} {self.helper(name)}(pool) as {handle}:" for name in ("lease", "lease_checked")]
        if self.dialect.managed:
            options += [self.dialect.managed.format(pool="pool", conn=handle)] * 3
        header = self.rng.choice(options)
        for name in ("lease", "lease_checked"):
            if f" {name}(" not in header:
                self.helpers.discard(name)
        body = self.body(here.inside(), 3)
        if self.chance(0.1):
            body.append(f"return {handle}" if not self.generator else f"yield {handle}")
        after: Block = [self.use(handle)] if self.chance(0.15) else []
        if self.dialect.cursors and self.chance(0.15):
            body.insert(0, f"cur = {self.dialect.derived.format(conn=handle)}")
            after = [self.awaited("cur.fetchall()")]
        return [Compound([(header, body)]), *after, *self.tail(Place(handle, place.loop, place.depth))]

    def transaction(self, place: Place) -> Block:
        """`with` on the object, which does not return it."""
        if not self.dialect.cursors:
            return self.guarded(place)
        handle = self.handle_name()
        keyword = "async with" if self.dialect.is_async else "with"
        uses: Block = [self.use(handle) for _ in range(self.rng.randint(1, 2))]
        inner: Block = [Compound([(f"{keyword} {handle}:", uses)])]
        here = place.holding(handle)
        if self.chance(0.5):
            return [*self.borrow(handle), Compound([("try:", inner), ("finally:", [self.give_back(handle)])])]
        return [*self.borrow(handle), *inner, *([self.give_back(handle)] if self.chance(0.6) else []), *self.tail(here)]

    def closing(self, place: Place) -> Block:
        """`closing` on the object of a library whose pool keeps the slot."""
        if self.dialect is not PSYCOPG2:
            return self.guarded(place)
        handle = self.handle_name()
        here = place.holding(handle)
        body = self.body(here.inside())
        if self.chance(0.5):
            return [Compound([(f"with contextlib.closing(pool.getconn()) as {handle}:", body)])]
        return [*self.borrow(handle), Compound([(f"with contextlib.closing({handle}):", body)])]

    def stack(self, place: Place) -> Block:
        """An exit stack returns it."""
        handle = self.handle_name()
        here = place.holding(handle).inside()
        dialect = self.dialect
        keyword, name = ("async with", "AsyncExitStack") if dialect.is_async else ("with", "ExitStack")
        header = f"{keyword} contextlib.{name}() as stack:"
        body: Block
        if self.chance(0.5):
            lender = f"{self.helper('lease')}(pool)"
            enter = (
                f"await stack.enter_async_context({lender})" if dialect.is_async else f"stack.enter_context({lender})"
            )
            body = [f"{handle} = {enter}"]
        else:
            method = "push_async_callback" if dialect.give_back.startswith("await") else "callback"
            release = dialect.give_back.removeprefix("await ").split("(")[0].format(pool="pool")
            body = [f"{handle} = {dialect.borrow.format(pool='pool')}", f"stack.{method}({release}, {handle})"]
            if self.chance(0.12):
                body.insert(1, self.opaque())
        uses: Block = [self.use(handle), *self.noise(Place("", here.loop, here.depth), 2)]
        if self.chance(0.3):
            return [Compound([(header, body)])]
        return [Compound([(header, [*body, *uses])])]

    def many(self, place: Place) -> Block:
        """A list of handles and a loop that returns them."""
        dialect = self.dialect
        borrow = dialect.borrow.format(pool="pool")
        back = dialect.give_back.format(pool="pool", conn="each")
        cleanup: Block = [Compound([("for each in conns:", [back])])]
        style = self.rng.random()
        fill: Block
        if style < 0.4:
            fill = [Compound([(f"for item in {self.parameter('items')}:", [f"conns.append({borrow})"])])]
        elif style < 0.6:
            fill = [f"conns.append({borrow})", f"conns.append({borrow})"]
        elif style < 0.8:
            fill = [f"conn = {borrow}", "conns.append(conn)", *self.noise(Place("conn", place.loop, 2), 1)]
        else:
            fill = [f"conn = {borrow}", *self.noise(Place("", place.loop, 2), 1), "conns.append(conn)"]
        uses: Block = [Compound([("for each in conns:", [self.use("each")])])] if self.chance(0.6) else [self.opaque()]
        roll = self.rng.random()
        if roll < 0.45:
            return ["conns = []", Compound([("try:", [*fill, *uses]), ("finally:", cleanup)])]
        if roll < 0.7:
            return ["conns = []", *fill, Compound([("try:", uses), ("finally:", cleanup)])]
        if roll < 0.8 and not self.generator:
            return ["conns = []", *fill, "return conns"]
        return ["conns = []", *fill, *uses, *(cleanup if self.chance(0.8) else [])]

    def handed_on(self, place: Place) -> Block:
        """The obligation is handed on."""
        handle = self.handle_name()
        here = place.holding(handle)
        roll = self.rng.random()
        if roll < 0.5 and not self.generator:
            last = self.rng.choice(
                (f"return {handle}", f"return {handle}", f"return {handle}, 1", f"return [{handle}]")
            )
        elif roll < 0.65:
            last = f"{self.parameter('holder')}.conn = {handle}"
        elif roll < 0.75:
            last = f"{self.parameter('out')}.append({handle})"
        else:
            return self.registered(place)
        cure = self.give_back(handle)
        style = self.rng.random()
        if style < 0.4:
            header = self.rng.choice(("except BaseException:", "except Exception:", *HANDLERS))
            return [
                *self.borrow(handle),
                Compound([("try:", self.body(here.inside())), (header, [cure, "raise"])]),
                last,
            ]
        if style < 0.55:
            return [*self.borrow(handle), Compound([("try:", [*self.noise(here, 1), last]), ("finally:", [cure])])]
        return [*self.borrow(handle), *(self.noise(here, 1) if self.chance(0.4) else []), last]

    def registered(self, place: Place) -> Block:
        """Something else will return it."""
        handle = self.handle_name()
        here = place.holding(handle)
        if self.dialect.is_async:
            call = self.dialect.give_back.removeprefix("await ").format(pool="pool", conn=handle)
            last = f"{self.parameter('fut')}.add_done_callback(lambda _done: {call})"
            if self.dialect.give_back.startswith("await"):
                last = f"return {handle}" if not self.generator else self.give_back(handle)
        else:
            method = self.dialect.give_back.split("(")[0].format(pool="pool")
            call = self.dialect.give_back.format(pool="pool", conn=handle)
            last = self.rng.choice(
                (
                    f"weakref.finalize({self.parameter('fut')}, {method}, {handle})",
                    f"atexit.register({method}, {handle})",
                    f"{self.parameter('fut')}.add_done_callback(lambda _done: {call})",
                    f"{self.parameter('fut')}.add_done_callback(functools.partial({method}, {handle}))",
                    f"register(lambda: {call})",
                )
            )
        middle = self.noise(here, 1) if self.chance(0.4) else []
        return [*self.borrow(handle), *middle, last, *(self.noise(Place("", place.loop, place.depth), 1))]

    def nested(self, place: Place) -> Block:
        """A nested function returns it."""
        handle = self.handle_name()
        here = place.holding(handle)
        back = self.dialect.give_back.format(pool="pool", conn=handle)
        awaited = back.startswith("await")
        cure = "await finish()" if awaited else "finish()"
        define: Block
        if awaited or self.chance(0.6):
            define = [Compound([("async def finish():" if awaited else "def finish():", [back])])]
        else:
            define = [f"finish = lambda: {back}"]
        if self.chance(0.7):
            return [*self.borrow(handle), *define, Compound([("try:", self.body(here.inside())), ("finally:", [cure])])]
        return [*self.borrow(handle), *define, *self.noise(here, 1), cure]

    def loan(self, place: Place) -> Block:
        """A generator that lends, or that holds one while it yields."""
        handle = self.handle_name()
        here = place.holding(handle)
        what = handle if self.manager or self.chance(0.3) else "1"
        body: Block = [*self.noise(here.inside(), 1), f"yield {what}"]
        if not self.manager and self.chance(0.5):
            body = [Compound([(f"for item in {self.parameter('items')}:", body)])]
        cure = self.give_back(handle)
        style = self.rng.random()
        if style < 0.4:
            return [*self.borrow(handle), Compound([("try:", body), ("finally:", [cure])])]
        if style < 0.75:
            parts: list[tuple[str, Block]] = [("try:", body)]
            for _ in range(self.rng.choice((1, 1, 2))):
                header = self.rng.choice((*HANDLERS, "except GeneratorExit:"))
                parts.append((header, [cure, "raise"]))
                if header == "except:":
                    break
            return [*self.borrow(handle), Compound(parts), cure]
        if style < 0.9:
            return [*self.borrow(handle), *body, *([cure] if self.chance(0.7) else [])]
        clear: Block = [f"{handle} = None"]
        final: Block = [Compound([(f"if {handle} is not None:", [cure])])]
        return [*clear, Compound([("try:", [*self.borrow(handle), *body]), ("finally:", final)])]

    def forgotten(self, place: Place) -> Block:
        """Never returned, or not known to be."""
        handle = self.handle_name()
        here = place.holding(handle)
        roll = self.rng.random()
        if roll < 0.3:
            return [self.dialect.borrow.format(pool="pool"), *self.noise(place, 1)]
        block = [*self.borrow(handle), *self.noise(here, 2)]
        if roll < 0.5:
            block.append(f"del {handle}")
        elif roll < 0.7:
            block += [*self.borrow(handle), *self.try_or_not(here)]
        return block

    def wild(self, place: Place) -> Block:
        """Random statements only, with borrows and returns among them."""
        handle = self.handle_name()
        here = place.holding(handle)
        block: Block = list(self.borrow(handle)) if self.chance(0.7) else [f"{handle} = None"]
        for _ in range(self.rng.randint(2, 4)):
            roll = self.rng.random()
            if roll < 0.25:
                block.append(self.give_back(handle))
            elif roll < 0.35:
                block += self.borrow(handle)
            elif roll < 0.5:
                block.append(Compound([(f"if {handle} is not None:", self.body(here.inside()))]))
            elif roll < 0.7:
                block += self.attempt(here, cure=self.give_back(handle))
            else:
                block += self.random_statement(here)
        return block


Shape = Callable[[Shaper, Place], Block]

SHAPES: tuple[tuple[float, Shape], ...] = (
    (2, Shaper.straight),
    (4, Shaper.guarded),
    (5, Shaper.handled),
    (3, Shaper.cancelled),
    (4, Shaper.inside),
    (2, Shaper.cleared),
    (2, Shaper.flagged),
    (2, Shaper.owned),
    (2, Shaper.optional),
    (1.5, Shaper.early),
    (1, Shaper.walrus),
    (3, Shaper.two),
    (1, Shaper.chosen),
    (4, Shaper.looped),
    (2, Shaper.retried),
    (1.5, Shaper.carried),
    (2.5, Shaper.managed),
    (1, Shaper.transaction),
    (0.5, Shaper.closing),
    (1.5, Shaper.stack),
    (2, Shaper.many),
    (3, Shaper.handed_on),
    (1, Shaper.nested),
    (1, Shaper.forgotten),
    (4, Shaper.wild),
)
