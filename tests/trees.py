"""Compare two small trees, node by node."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint import ir


def differences(a: ir.ModuleTree, b: ir.ModuleTree) -> Iterator[str]:
    """Yield where two trees differ: the path, and what stands there in each.

    A node that is met again (a parent, an owner, a list of all functions) must stand for the same node in both.
    """
    first: dict[int, int] = {}
    second: dict[int, int] = {}
    todo: list[tuple[str, object, object]] = [("tree", a, b)]
    while todo:
        path, left, right = todo.pop()
        if type(left) is not type(right):
            yield f"{path}: {_shown(left)} / {_shown(right)}"
        elif hasattr(left, "__dataclass_fields__"):
            met, also = first.get(id(left)), second.get(id(right))
            if met != also:
                yield f"{path}: another node is meant"
            elif met is None:
                first[id(left)] = second[id(right)] = len(first)
                names = [field.name for field in fields(left)]  # type: ignore[arg-type]
                todo.extend((f"{path}.{name}", getattr(left, name), getattr(right, name)) for name in reversed(names))
        elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) and len(left) == len(right):
            todo.extend((f"{path}[{n}]", left[n], right[n]) for n in reversed(range(len(left))))
        elif isinstance(left, dict) and isinstance(right, dict) and list(left) == list(right):
            todo.extend((f"{path}[{key!r}]", left[key], right[key]) for key in reversed(list(left)))
        elif left != right or (isinstance(left, (float, complex)) and repr(left) != repr(right)):  # 0.0 is -0.0
            yield f"{path}: {_shown(left)} / {_shown(right)}"


def _shown(value: object) -> str:
    place = f" at {value.line}:{value.col}" if hasattr(value, "line") and hasattr(value, "col") else ""
    return f"{type(value).__name__} {repr(value)[:80]}{place}" if not place else f"{type(value).__name__}{place}"
