"""Write random statements, small ones and blocks, that hold a handle or not."""

# A statement is described, not ordered.
# ruff: noqa: D102
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .tree import Block, Compound

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from .dialects import Dialect


@dataclass(frozen=True, slots=True)
class Place:
    """What the statements of a block can rely on."""

    handle: str = ""
    loop: bool = False
    depth: int = 0

    def inside(self, *, loop: bool | None = None) -> Place:
        return Place(self.handle, self.loop if loop is None else loop, self.depth + 1)

    def holding(self, handle: str) -> Place:
        return Place(handle, self.loop, self.depth)


HANDLERS = (
    "except Exception:",
    "except Exception:",
    "except BaseException:",
    "except BaseException:",
    "except:",
    "except ValueError:",
    "except (ValueError, KeyError):",
    "except OSError:",
    "except JobError:",
)
RAISES = ("raise ValueError(1)", "raise RuntimeError(2)", 'raise JobError("no")', "raise KeyError(3)")


@dataclass(slots=True)
class Writer:
    """Writes one function."""

    rng: random.Random
    dialect: Dialect
    parameters: dict[str, str] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)
    counter: int = 0
    names: int = 0
    generator: bool = False
    manager: bool = False

    # words

    def number(self) -> int:
        self.counter += 1
        return self.counter

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def parameter(self, name: str, default: str = "") -> str:
        self.parameters.setdefault(name, default)
        return name

    def flag(self) -> str:
        return self.parameter(self.rng.choice(("flag", "flag_b")))

    def condition(self) -> str:
        roll = self.rng.random()
        if roll < 0.5:
            return f"cond({self.number()})"
        if roll < 0.75:
            return self.flag()
        if roll < 0.85:
            return f"not {self.flag()}"
        return self.rng.choice(
            (
                f"{self.flag()} and cond({self.number()})",
                f"cond({self.number()}) or {self.flag()}",
                f"not cond({self.number()})",
            )
        )

    def pool(self) -> str:
        if self.chance(0.04):
            return self.parameter("other", self.dialect.annotation)
        return "pool"

    def helper(self, name: str) -> str:
        self.helpers.add(name)
        return name

    def awaited(self, call: str, *, always: bool = True) -> str:
        return f"await {call}" if self.dialect.is_async and always else call

    def handle_name(self) -> str:
        return self.rng.choice(("conn", "conn", "conn", "client", "db"))

    def other_name(self, handle: str) -> str:
        self.names += 1
        return f"{handle}_{self.names}"

    # small statements

    def borrowed(self, pool: str = "pool") -> str:
        """An expression that borrows."""
        roll = self.rng.random()
        if roll < 0.86:
            return self.dialect.borrow.format(pool=pool)
        if roll < 0.97:
            name = self.rng.choice(("take", "take", "take_ready", "take_checked"))
            return self.awaited(f"{self.helper(name)}({pool})")
        if self.dialect.is_async:
            return f"await asyncio.wait_for({self.dialect.borrow.removeprefix('await ').format(pool=pool)}, 5)"
        return self.dialect.borrow.format(pool=pool)

    def borrow(self, handle: str, pool: str = "pool") -> Block:
        roll = self.rng.random()
        if roll < 0.04:
            pair = self.awaited(f"{self.helper('take_pair')}({pool})")
            return [f"{handle}, _ = {pair}"]
        if roll < 0.06:
            other = self.other_name(handle)
            return [f"{other} = {self.borrowed(pool)}", f"{handle} = {other}"]
        if roll < 0.08:
            return [f"{handle} = holder_2 = {self.borrowed(pool)}"]
        return [f"{handle} = {self.borrowed(pool)}"]

    def give_back(self, handle: str, pool: str = "") -> str:
        pool = pool or self.pool()
        roll = self.rng.random()
        if roll < 0.82:
            return self.dialect.give_back.format(pool=pool, conn=handle)
        if roll < 0.88:
            return self.dialect.discard.format(pool=pool, conn=handle)
        if roll < 0.97 or not self.dialect.give_back.startswith("await"):
            name = self.rng.choice(("give_back", "give_back", "give_back_any", "give_back_logged"))
            return self.awaited(f"{self.helper(name)}({pool}, {handle})")
        call = self.dialect.give_back.removeprefix("await ").format(pool=pool, conn=handle)
        return f"await asyncio.shield({call})"

    def use(self, handle: str) -> str:
        number = self.number()
        roll = self.rng.random()
        if roll < 0.6:
            return self.awaited(f"{handle}.ping({number})")
        if roll < 0.75:
            return self.awaited(f"{handle}.commit()")
        if roll < 0.92:
            return f"await fetch({handle})" if self.dialect.is_async and self.chance(0.5) else f"work({handle})"
        return self.awaited(f"{self.helper('use')}({handle})")

    def opaque(self) -> str:
        number = self.number()
        if self.dialect.is_async and self.chance(0.5):
            return f"await {self.rng.choice(('fetch', 'send'))}({number})"
        return f"{self.rng.choice(('work', 'step'))}({number})"

    def quiet(self) -> str:
        """A statement that does not raise."""
        return self.rng.choice(
            (f"count = {self.number()}", f'log.info("step {self.number()}")', "pass", "ready = True", "rows = []")
        )

    def leave(self, place: Place) -> str:
        """A statement that leaves."""
        options = ["return", "raise"]
        if place.loop:
            options += ["break", "continue", "break", "continue"]
        kind = self.rng.choice(options)
        if kind == "return":
            if self.generator:
                return "return"
            values = ["return None", "return 1", "return"]
            if place.handle and self.chance(0.12):
                values = [f"return {place.handle}"]
            return self.rng.choice(values)
        if kind == "raise":
            return self.rng.choice(RAISES)
        return kind

    # blocks

    def noise(self, place: Place, most: int = 3) -> Block:
        """A few random statements."""
        count = self.rng.randint(0 if place.depth else 1, most)
        return [part for _ in range(count) for part in self.random_statement(place)]

    def body(self, place: Place, most: int = 2) -> Block:
        return self.noise(place, most) or [self.quiet()]

    def random_statement(self, place: Place) -> Block:
        options: list[tuple[float, Callable[[Place], Block]]] = [
            (4, lambda _: [self.opaque()]),
            (2, lambda _: [self.quiet()]),
            (0.5, lambda _: [f"assert {self.condition()}"]),
        ]
        if place.handle:
            options.append((5, lambda where: [self.use(where.handle)]))
            options.append((0.35, self.alias))
            options.append((0.25, lambda where: [f"{where.handle} = None"]))
            options.append((0.35, lambda where: [self.give_back(where.handle)]))
            if self.dialect.cursors:
                options.append((0.8, self.cursor))
            if self.generator and not self.manager:
                options.append((2.5, lambda where: [f"yield {self.rng.choice((where.handle, '1', '1', '1'))}"]))
        if place.depth < 3:
            options += [
                (2.2, self.branch),
                (1.2, self.attempt),
                (1, self.loop),
                (0.4, self.suppress),
                (0.4, self.match),
            ]
        weights = [weight for weight, _ in options]
        chosen = self.rng.choices([make for _, make in options], weights)[0]
        return chosen(place)

    def alias(self, place: Place) -> Block:
        name = self.other_name(place.handle)
        choices: tuple[Block, ...] = (
            [f"{name} = {place.handle}"],
            [f"{name}, _ = {place.handle}, 1"],
            [f"{name} = {place.handle}", self.use(name)],
        )
        return self.rng.choice(choices)

    def cursor(self, place: Place) -> Block:
        made = self.dialect.derived.format(conn=place.handle)
        execute = self.awaited(f"cur.execute({self.number()})")
        fetch = self.awaited("cur.fetchall()")
        keyword = "async with" if self.dialect.is_async else "with"
        roll = self.rng.random()
        if roll < 0.5:
            return [Compound([(f"{keyword} {made} as cur:", [execute, f"rows = {fetch}"])])]
        if roll < 0.8:
            return [f"cur = {made}", execute]
        return [f"cur = {made}", execute, f"rows = {fetch}"]

    def branch(self, place: Place) -> Block:
        inner = place.inside()
        roll = self.rng.random()
        if roll < 0.45:
            body = [*self.noise(inner, 1), self.leave(place)]
            return [Compound([(f"if {self.condition()}:", body)])]
        parts = [(f"if {self.condition()}:", self.body(inner))]
        if self.chance(0.25):
            parts.append((f"elif {self.condition()}:", self.body(inner)))
        if self.chance(0.4):
            parts.append(("else:", self.body(inner)))
        return [Compound(parts)]

    def handler(self, place: Place, *, cure: str = "") -> tuple[str, Block]:
        header = self.rng.choice((*HANDLERS, *(f"except {error}:" for error in self.dialect.errors)))
        if self.dialect.is_async and self.chance(0.15):
            header = "except asyncio.CancelledError:"
        end = self.rng.random()
        body: Block = []
        if self.chance(0.3):
            body.append('log.warning("failed")')
        elif self.chance(0.15):
            body += self.noise(place.inside(), 1)
        if cure:
            body.insert(self.rng.randint(0, len(body)), cure)
        if end < 0.45:
            body.append("raise")
        elif end < 0.55 and header != "except:":
            header = header.removesuffix(":") + " as exc:"
            body.append("raise JobError(1) from exc")
        elif end < 0.75:
            body.append(self.leave(place))
        return header, body or ["pass"]

    def attempt(self, place: Place, cure: str = "") -> Block:
        inner = place.inside()
        parts = [("try:", self.body(inner, 3))]
        style = self.rng.random()
        if style < 0.8:
            parts.append(self.handler(place, cure=cure))
            if self.chance(0.2) and not parts[-1][0].startswith("except:"):
                parts.append(self.handler(place, cure=cure))
            if self.chance(0.2):
                parts.append(("else:", self.body(inner)))
        if style >= 0.7:
            final = self.body(inner, 1)
            if self.chance(0.1):
                final.append(self.leave(place))
            parts.append(("finally:", final))
        return [Compound(parts)]

    def loop(self, place: Place) -> Block:
        inner = place.inside(loop=True)
        body = self.body(inner)
        parts = [(self.loop_header(body), body)]
        if self.chance(0.15):
            parts.append(("else:", self.body(place.inside())))
        return [Compound(parts)]

    def loop_header(self, body: Block) -> str:
        roll = self.rng.random()
        if roll < 0.4:
            return f"for item in {self.parameter('items')}:"
        if roll < 0.8:
            return f"while cond({self.number()}):"
        body.append(Compound([(f"if {self.condition()}:", [self.rng.choice(("break", "return"))])]))
        return "while True:"

    def suppress(self, place: Place) -> Block:
        kinds = self.rng.choice(("Exception", "ValueError", "ValueError, KeyError", "OSError", "JobError"))
        return [Compound([(f"with contextlib.suppress({kinds}):", self.body(place.inside()))])]

    def match(self, place: Place) -> Block:
        inner = place.inside()
        subject = f"step({self.number()})"
        parts: list[tuple[str, Block]] = []
        for literal in range(1, self.rng.randint(2, 3)):
            guard = f" if {self.condition()}" if self.chance(0.25) else ""
            body = self.body(inner)
            if self.chance(0.3):
                body.append(self.leave(place))
            parts.append((f"case {literal}{guard}:", body))
        if self.chance(0.5):
            parts.append(("case _:", self.body(inner)))
        cases = [Compound([part]) for part in parts]
        return [Compound([(f"match {subject}:", list(cases))])]
