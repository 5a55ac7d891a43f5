"""The pool libraries whose behaviour is imitated, and the exceptions that the runs raise."""

# What is raised is named for what it stands for.
# ruff: noqa: N818
from __future__ import annotations

from dataclasses import dataclass


class Prune(BaseException):
    """The run is given up: a loop has turned often enough."""


class Boom(Exception):
    """What an opaque call raises: an exception of a type that nobody names."""


class Cancelled(BaseException):
    """The stand-in for ``asyncio.CancelledError``."""


class Psycopg2Error(Exception):
    """The stand-in for ``psycopg2.Error``."""


class PsycopgError(Exception):
    """The stand-in for ``psycopg.Error``."""


class PostgresError(Exception):
    """The stand-in for ``asyncpg.PostgresError``."""


class InterfaceError(Exception):
    """The stand-in for ``asyncpg.InterfaceError``."""


@dataclass(frozen=True, slots=True)
class Flavour:
    """How the pool of one library behaves."""

    error: type[Exception] | None
    is_async: bool
    awaited_release: bool = False
    second_release_ok: bool = False
    second_error: type[Exception] | None = None  # another base, which programs often forget


FLAVOURS = {
    "ThreadedConnectionPool": Flavour(Psycopg2Error, is_async=False),
    "ConnectionPool": Flavour(PsycopgError, is_async=False),
    "AsyncConnectionPool": Flavour(PsycopgError, is_async=True, awaited_release=True),
    "asyncpg.Pool": Flavour(
        PostgresError, is_async=True, awaited_release=True, second_release_ok=True, second_error=InterfaceError
    ),
    "Pool": Flavour(None, is_async=False),
    "AsyncPool": Flavour(None, is_async=True),
}
