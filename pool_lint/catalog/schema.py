"""Turn TOML tables into catalog values; every mistake is one line that names the file and the key."""

from __future__ import annotations

import difflib
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pool_lint.catalog.spec import (
    BorrowForm,
    Bound,
    ContainerSpec,
    Exhausted,
    FunctionBorrow,
    GcReturns,
    Limits,
    On,
    PoolSpec,
    PutForm,
    ReleaseForm,
    TakeForm,
    Timeout,
    Way,
    WhenFull,
    WithObject,
)
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

RESETS = (
    "advisory_locks",
    "autocommit",
    "cursors",
    "isolation",
    "listen",
    "prepared_statements",
    "role",
    "session_variables",
    "temp_tables",
    "transaction",
)


def read_table(cls: type[T], value: object, where: str, given: Mapping[str, object] | None = None) -> T:
    """Return the ``cls`` that the table ``value`` describes; ``given`` holds fields that no table names."""
    if not isinstance(value, dict):
        raise PoolLintError(f"{where}: must be a table")
    readers = READERS[cls]
    found: dict[str, Any] = dict(given or {})
    for key, item in value.items():
        if key not in readers:
            raise PoolLintError(f"{where}.{key}: unknown key{_hint(key, readers)}")
        found[key] = readers[key](item, f"{where}.{key}")
    for key in REQUIRED[cls]:
        if key not in found:
            raise PoolLintError(f"{where}.{key}: missing key")
    return cls(**found)


def text(value: object, where: str) -> str:
    """Return ``value``, a string with something in it."""
    if not isinstance(value, str) or not value.strip():
        raise PoolLintError(f"{where}: must be a string that is not empty")
    return value


def name(value: object, where: str) -> str:
    """Return ``value``, a Python name."""
    if not isinstance(value, str) or not value.isidentifier():
        raise PoolLintError(f"{where}: {value!r} is not a name")
    return value


def dotted(value: object, where: str) -> str:
    """Return ``value``, Python names joined by dots."""
    if not isinstance(value, str) or not all(part.isidentifier() for part in value.split(".")):
        raise PoolLintError(f"{where}: {value!r} is not a dotted name")
    return value


def flag(value: object, where: str) -> bool:
    """Return ``value``, true or false."""
    if not isinstance(value, bool):
        raise PoolLintError(f"{where}: must be true or false")
    return value


def number(value: object, where: str) -> int:
    """Return ``value``, a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise PoolLintError(f"{where}: must be a whole number")
    return value


def constant(value: object, where: str) -> str | float | bool | None:
    """Return ``value``, a constant of a program; TOML has no null, so the string "None" stands for it."""
    if value == "None":
        return None
    if not isinstance(value, (str, int, float, bool)):
        raise PoolLintError(f"{where}: must be a string, a number, true or false")
    return value


def one_of(allowed: tuple[str, ...]) -> Callable[[object, str], str]:
    """Return a reader of one word out of ``allowed``."""

    def read(value: object, where: str) -> str:
        if value not in allowed:
            raise PoolLintError(f"{where}: {value!r} is not one of {', '.join(allowed)}")
        return str(value)

    return read


def listed(read: Callable[[object, str], T]) -> Callable[[object, str], tuple[T, ...]]:
    """Return a reader of a list of what ``read`` reads."""

    def read_list(value: object, where: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise PoolLintError(f"{where}: must be a list")
        return tuple(read(item, f"{where}[{position}]") for position, item in enumerate(value))

    return read_list


def set_of(read: Callable[[object, str], T]) -> Callable[[object, str], frozenset[T]]:
    """Return a reader of a list of what ``read`` reads, in no order."""
    read_list = listed(read)
    return lambda value, where: frozenset(read_list(value, where))


def tables(cls: type[T]) -> Callable[[object, str], tuple[T, ...]]:
    """Return a reader of a list of ``cls`` tables."""
    return listed(lambda value, where: read_table(cls, value, where))


def ways(value: object, where: str) -> frozenset[str]:
    """Return the ways in which a call borrows: at least one."""
    found = set_of(one_of(get_args(Way)))(value, where)
    if not found:
        raise PoolLintError(f"{where}: must name at least one of {', '.join(get_args(Way))}")
    return found


def remedy(value: object, where: str) -> str:
    """Return ``value``, a remedy, which may hold ``{pool}`` and no other field."""
    found = text(value, where)
    rest = found.replace("{pool}", "")
    if "{" in rest or "}" in rest:
        raise PoolLintError(f"{where}: {{pool}} is the only field it may hold")
    return found


def _hint(key: str, readers: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(key, readers, n=1)
    return f"; did you mean {near[0]}?" if near else ""


READERS: dict[type[Any], dict[str, Callable[[object, str], object]]] = {
    BorrowForm: {
        "method": name,
        "ways": ways,
        "opt_out": listed(name),
        "nested_by": listed(name),
    },
    FunctionBorrow: {
        "function": dotted,
        "ways": ways,
        "when": listed(name),
    },
    ReleaseForm: {
        "method": name,
        "on": one_of(get_args(On)),
        "arg": number,
        "keyword": name,
        "discards": flag,
        "awaited": flag,
        "when": name,
    },
    Bound: {
        "callable": dotted,
        "param": name,
        "position": number,
        "default": constant,
        "required": flag,
        "default_unbounded": flag,
        "unbounded_values": listed(constant),
        "unbounded_below": number,
        "limits": one_of(get_args(Limits)),
        "versions": text,
    },
    Timeout: {
        "callable": dotted,
        "param": name,
        "position": number,
        "default": constant,
        "default_waits": flag,
    },
    PoolSpec: {
        "id": dotted,
        "library": text,
        "classes": listed(dotted),
        "item": text,
        "borrows": tables(BorrowForm),
        "releases": tables(ReleaseForm),
        "remedy": remedy,
        "factories": listed(dotted),
        "object_classes": listed(dotted),
        "external": flag,
        "with_object": one_of(get_args(WithObject)),
        "derives": set_of(name),
        "rederives": set_of(name),
        "gc_returns": one_of(get_args(GcReturns)),
        "second_release_ok": flag,
        "reconnects": flag,
        "only_if_released": flag,
        "nested": flag,
        "errors": listed(dotted),
        "cleanup_raises": set_of(name),
        "client": flag,
        "handle_is_pool": flag,
        "registries": listed(dotted),
        "members": listed(dotted),
        "function_borrows": tables(FunctionBorrow),
        "exhausted": one_of(get_args(Exhausted)),
        "returns_itself": set_of(name),
        "per_thread": flag,
        "resets": set_of(one_of(RESETS)),
        "reset_params": listed(name),
        "bounds": tables(Bound),
        "timeouts": tables(Timeout),
        "distributions": listed(text),
    },
    TakeForm: {
        "method": dotted,
        "ways": ways,
        "keyed": flag,
        "blocks": flag,
    },
    PutForm: {
        "method": dotted,
        "arg": number,
        "keyword": name,
        "many": flag,
        "awaited": flag,
        "blocks": flag,
    },
    ContainerSpec: {
        "id": dotted,
        "classes": listed(dotted),
        "takes": tables(TakeForm),
        "puts": tables(PutForm),
        "literal": one_of(("list", "dict", "set")),
        "bound": lambda value, where: read_table(Bound, value, where),
        "when_full": one_of(get_args(WhenFull)),
        "empty_errors": listed(dotted),
        "full_errors": listed(dotted),
    },
}

REQUIRED: dict[type[Any], tuple[str, ...]] = {
    cls: tuple(field.name for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING)
    for cls in READERS
}
