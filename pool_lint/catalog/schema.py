"""Turn TOML tables into catalog values; every mistake is one line that names the file and the key."""

from __future__ import annotations

import difflib
import re
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
    Transactions,
    Way,
    WhenFull,
    WithObject,
)
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

# The kinds of state that a return may reset.
RESETS = (
    "advisory_locks",
    "autocommit",
    "cursors",
    "database",
    "isolation",
    "listen",
    "prepared_statements",
    "role",
    "session_variables",
    "temp_tables",
    "transaction",
)


class WrongValueError(Exception):
    """A value that does not fit; the path to it grows as the error passes through lists and tables."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def under(self, outer: str) -> WrongValueError:
        """Return this error, seen from one level further out."""
        self.path = outer + self.path
        return self


def checked(read: Callable[[object], T], value: object, where: str) -> T:
    """Return what ``read`` makes of ``value``; ``where`` names the file and the key in errors."""
    try:
        return read(value)
    except WrongValueError as wrong:
        raise PoolLintError(f"{where}{wrong.path}: {wrong.message}") from None


def table(cls: type[T], given: Mapping[str, object] | None = None) -> Callable[[object], T]:
    """Return a reader of a table that describes a ``cls``; ``given`` holds fields which no table needs to name."""

    def read(value: object) -> T:
        if not isinstance(value, dict):
            raise WrongValueError("must be a table")
        readers = READERS[cls]
        found: dict[str, Any] = dict(given or {})
        for key, item in value.items():
            reader = readers.get(key)
            if reader is None:
                raise WrongValueError(f"unknown key{_hint(key, readers)}", f".{key}")
            try:
                found[key] = reader(item)
            except WrongValueError as wrong:
                raise wrong.under(f".{key}") from None
        for key in REQUIRED[cls]:
            if key not in found:
                raise WrongValueError("missing key", f".{key}")
        return cls(**found)

    return read


def text(value: object) -> str:
    """Return ``value``, a string with something in it."""
    if not isinstance(value, str) or not value.strip():
        raise WrongValueError("must be a string that is not empty")
    return value


def name(value: object) -> str:
    """Return ``value``, a Python name."""
    if not isinstance(value, str) or not value.isidentifier():
        raise WrongValueError(f"{value!r} is not a name")
    return value


def dotted(value: object) -> str:
    """Return ``value``, Python names joined by dots."""
    if not isinstance(value, str) or not DOTTED.fullmatch(value):
        raise WrongValueError(f"{value!r} is not a dotted name")
    return value


def flag(value: object) -> bool:
    """Return ``value``, true or false."""
    if not isinstance(value, bool):
        raise WrongValueError("must be true or false")
    return value


def number(value: object) -> int:
    """Return ``value``, a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongValueError("must be a whole number")
    return value


def constant(value: object) -> str | float | bool | None:
    """Return ``value``, a constant of a program; TOML has no null, so the string "None" stands for it."""
    if value == "None":
        return None
    if not isinstance(value, (str, int, float, bool)):
        raise WrongValueError("must be a string, a number, true or false")
    return value


def remedy(value: object) -> str:
    """Return ``value``, a remedy, which may hold ``{pool}`` and no other field."""
    found = text(value)
    rest = found.replace("{pool}", "")
    if "{" in rest or "}" in rest:
        raise WrongValueError("{pool} is the only field it may hold")
    return found


def versions(value: object) -> str:
    """Return ``value``, comparisons of a version joined by commas, as in a requirement."""
    if not isinstance(value, str) or not VERSIONS.fullmatch(value):
        raise WrongValueError(f"{value!r} is not a range of versions such as '>=2.0,<3.0'")
    return value


def one_of(allowed: tuple[str, ...]) -> Callable[[object], str]:
    """Return a reader of one word out of ``allowed``."""

    def read(value: object) -> str:
        if value not in allowed:
            raise WrongValueError(f"{value!r} is not one of {', '.join(allowed)}")
        return str(value)

    return read


def listed(read: Callable[[object], T]) -> Callable[[object], tuple[T, ...]]:
    """Return a reader of a list of what ``read`` reads."""

    def read_list(value: object) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise WrongValueError("must be a list")
        found: list[T] = []
        try:
            for item in value:
                found.append(read(item))  # noqa: PERF401 - its length says which item failed
        except WrongValueError as wrong:
            raise wrong.under(f"[{len(found)}]") from None
        return tuple(found)

    return read_list


def set_of(read: Callable[[object], T]) -> Callable[[object], frozenset[T]]:
    """Return a reader of a list of what ``read`` reads, in no order."""
    read_list = listed(read)
    return lambda value: frozenset(read_list(value))


def ways(value: object) -> frozenset[str]:
    """Return the ways in which a call borrows: at least one."""
    found = WAYS(value)
    if not found:
        raise WrongValueError(f"must name at least one of {', '.join(get_args(Way))}")
    return found


def _hint(key: str, readers: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(key, readers, n=1)
    return f"; did you mean {near[0]}?" if near else ""


DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
VERSIONS = re.compile(r"(>=|<=|<|>|==|!=)\d+(\.\d+)*(,\s*(>=|<=|<|>|==|!=)\d+(\.\d+)*)*")
WAYS = set_of(one_of(get_args(Way)))

READERS: dict[type[Any], dict[str, Callable[[object], object]]] = {
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
        "callables": listed(dotted),
        "param": name,
        "position": number,
        "default": constant,
        "required": flag,
        "default_unbounded": flag,
        "unbounded_values": listed(constant),
        "unbounded_below": number,
        "limits": one_of(get_args(Limits)),
        "only_with": name,
        "ignored_with": listed(name),
        "also_in": name,
        "made_by": dotted,
        "versions": versions,
    },
    Timeout: {
        "callables": listed(dotted),
        "param": name,
        "position": number,
        "default": constant,
        "default_waits": flag,
        "waiting_values": listed(constant),
        "only_with": name,
    },
    PoolSpec: {
        "id": dotted,
        "library": text,
        "classes": listed(dotted),
        "item": text,
        "borrows": listed(table(BorrowForm)),
        "releases": listed(table(ReleaseForm)),
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
        "function_borrows": listed(table(FunctionBorrow)),
        "exhausted": one_of(get_args(Exhausted)),
        "returns_itself": set_of(name),
        "per_thread": flag,
        "resets": set_of(one_of(RESETS)),
        "reset_params": listed(name),
        "transactions": one_of(get_args(Transactions)),
        "bounds": listed(table(Bound)),
        "timeouts": listed(table(Timeout)),
        "pooling_off": flag,
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
        "takes": listed(table(TakeForm)),
        "puts": listed(table(PutForm)),
        "literal": one_of(("list", "dict", "set")),
        "bound": table(Bound),
        "when_full": one_of(get_args(WhenFull)),
        "empty_errors": listed(dotted),
        "full_errors": listed(dotted),
    },
}

REQUIRED: dict[type[Any], tuple[str, ...]] = {
    cls: tuple(field.name for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING)
    for cls in READERS
}
