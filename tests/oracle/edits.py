"""Random edits that turn right code into wrong code, and the other way round."""

from __future__ import annotations

from .statements import HANDLERS, Place, Writer
from .tree import Block, Compound, positions


def edit(writer: Writer, block: Block) -> None:
    """One random edit of the statements."""
    places = list(positions(block))
    if not places:
        return
    owner, index = writer.rng.choice(places)
    statement = owner[index]
    roll = writer.rng.random()
    if roll < 0.3:
        owner[index : index + 1] = [] if len(owner) > 1 else ["pass"]
    elif roll < 0.4 and isinstance(statement, str):
        owner.insert(index, statement)
    elif roll < 0.5 and isinstance(statement, str):
        owner[index : index + 1] = [] if len(owner) > 1 else ["pass"]
        target, where = writer.rng.choice(list(positions(block)) or [(block, 0)])
        target.insert(where, statement)
    elif roll < 0.62:
        owner.insert(index, writer.leave(Place()) if writer.chance(0.4) else writer.opaque())
    elif roll < 0.85:
        owner[index] = wrap(writer, [statement])
    elif isinstance(statement, Compound):
        edit_compound(writer, owner, index, statement)
    elif "pool." in statement and writer.chance(0.2):
        writer.parameter("other", writer.dialect.annotation)
        owner[index] = statement.replace("pool.", "other.")


def edit_compound(writer: Writer, owner: Block, index: int, statement: Compound) -> None:
    parts = statement.parts
    if writer.chance(0.5):
        which = writer.rng.randrange(len(parts))
        header, body = parts[which]
        if header.startswith("except") and " as " not in header:
            parts[which] = (writer.rng.choice(HANDLERS), body)
        elif len(parts) > 2 or (len(parts) > 1 and not header.startswith(("if", "try", "while", "for"))):
            del parts[which]
    else:
        owner[index : index + 1] = parts[0][1] or ["pass"]


def wrap(writer: Writer, block: Block) -> Compound:
    roll = writer.rng.random()
    if roll < 0.35:
        return Compound([(f"if {writer.condition()}:", block)])
    if roll < 0.6:
        return Compound([("try:", block), writer.handler(Place())])
    if roll < 0.7:
        return Compound([("try:", block), ("finally:", [writer.quiet()])])
    if roll < 0.8:
        return Compound([("with contextlib.suppress(Exception):", block)])
    if roll < 0.9:
        return Compound([(f"for item in {writer.parameter('items')}:", block)])
    return Compound([(f"while cond({writer.number()}):", block)])
