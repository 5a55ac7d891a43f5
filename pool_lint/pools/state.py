"""What is known of the state of objects: which methods change it, which reset it, what SQL does to a session.

Everything here is data with the few functions that look it up.  A type is named by a short word (``list``, ``io``,
``requests.Session``); the empty word is a type of which nothing is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pool_lint.pools.types import Type

RESETTING = re.compile(
    r"^_*(?:re_?set|clear|recycle|wipe|purge|scrub|saniti[sz]e|cleanse|zero|delete_all|discard_all|re_?init)(?:_|$|[a-z])"
)
# `restarts = 3` is not a reset, nor is `resettle()`; these are words that begin like one.
_NOT_RESETTING = re.compile(r"^_*(?:clear_?(?:ance|ly)|resett?l|zero_?(?:shot|conf)|resets?_?(?:count|at|time))")
UNDOING = re.compile(
    r"(?:overrid|overlay|temporar|preserv|restor|saved|scoped|isolat|pristine|patch|clean|fresh)", re.IGNORECASE
)

LIST = frozenset(
    ("append", "extend", "insert", "remove", "pop", "sort", "reverse", "appendleft", "extendleft", "popleft", "rotate")
)
DICT = frozenset(("update", "setdefault", "pop", "popitem", "subtract", "move_to_end"))
SET = frozenset(
    (
        "add",
        "update",
        "discard",
        "remove",
        "pop",
        "difference_update",
        "intersection_update",
        "symmetric_difference_update",
    )
)
MUTATORS: dict[str, frozenset[str]] = {
    "list": LIST,
    "dict": DICT,
    "set": SET,
    "bytearray": frozenset(("append", "extend", "insert", "remove", "pop", "reverse")),
    "array": frozenset(
        (
            "append", "extend", "insert", "remove", "pop", "reverse", "frombytes", "fromfile", "fromlist",
            "fromunicode", "byteswap",
        )
    ),
    "ndarray": frozenset(("sort", "partition", "put", "itemset", "setfield", "byteswap")),
    "cookies": frozenset(("set", "update", "set_cookie", "update_cookies", "load")),
    "requests.Session": frozenset(("mount",)),
    "httpx.Client": frozenset(),
    "aiohttp.ClientSession": frozenset(),
}  # fmt: skip
# Methods that put something into an object of any type: their names are no one else's.
MESSAGE_MUTATORS = frozenset(("MergeFromString", "MergeFrom", "ParseFromString", "CopyFrom"))
MESSAGE_OVERWRITES = frozenset(("ParseFromString", "CopyFrom"))
MESSAGE_RESETS = frozenset(("Clear", "ClearField", "ClearExtension"))
WRITES = frozenset(("write", "writelines"))
READS = frozenset(("read", "readline", "readlines", "read1", "getvalue", "getbuffer"))
# Attributes of library objects that are containers.
MEMBERS: dict[str, dict[str, str]] = {
    "requests.Session": {"headers": "dict", "cookies": "cookies", "params": "dict", "proxies": "dict", "hooks": "dict"},
    "httpx.Client": {"headers": "dict", "cookies": "cookies", "params": "dict"},
    "aiohttp.ClientSession": {"headers": "dict", "cookie_jar": "cookies"},
}
# Resets, and other changes of state, that cannot fail.
NEVER_FAIL: dict[str, frozenset[str]] = {
    "io": frozenset(("seek", "truncate")),
    **{name: frozenset(("clear",)) for name in ("list", "dict", "set", "bytearray", "array")},
    **{name: frozenset(("set", "clear")) for name in ("threading.Event", "asyncio.Event")},
    "contextvars.ContextVar": frozenset(("set", "reset")),
}
BUFFERS = frozenset(("bytearray", "array", "ndarray"))
BUILTIN = frozenset(("list", "dict", "set", *BUFFERS))

_WORDS = {
    "collections.deque": "list",
    "deque": "list",
    "collections.OrderedDict": "dict",
    "collections.defaultdict": "dict",
    "collections.Counter": "dict",
    "array.array": "array",
    "array": "array",
    "numpy.ndarray": "ndarray",
    "io.StringIO": "io",
    "io.BytesIO": "io",
    "io.TextIOWrapper": "io",
    "io.BufferedRandom": "io",
    "tempfile.TemporaryFile": "io",
    "tempfile.NamedTemporaryFile": "io",
    "tempfile.SpooledTemporaryFile": "io",
    "typing.IO": "io",
    "typing.BinaryIO": "io",
    "typing.TextIO": "io",
    "requests.session": "requests.Session",
    "requests.sessions.Session": "requests.Session",
    "httpx.AsyncClient": "httpx.Client",
}
_ARRAYS = re.compile(r"^numpy\.(?:zeros|ones|empty|full|array|arange|zeros_like|empty_like|frombuffer)$")
_CONNECTING = re.compile(r"(?:^|\.)(?:connect|Connect|Connection|connection|AsyncConnection|Connector)$")

# What opens a transaction with the first statement, by the module that connects.
IMPLICIT = frozenset(
    (
        "psycopg2", "psycopg", "pymysql", "MySQLdb", "mysql", "oracledb", "cx_Oracle", "pyodbc", "pg8000", "aiomysql",
        "asyncmy", "aioodbc", "pymssql", "ibm_db_dbi", "snowflake_never", "psycopg_pool", "psycopg2_pool", "mariadb",
    )
)  # fmt: skip
# Only statements that change something open one.
ON_CHANGE = frozenset(("sqlite3", "aiosqlite"))
OTHER_DRIVERS = frozenset(("asyncpg", "aiopg", "clickhouse_driver", "asynch", "databases"))
# Here SET takes effect at once; elsewhere the end of the transaction decides.
AT_ONCE = frozenset(
    (
        "pymysql",
        "MySQLdb",
        "mysql",
        "aiomysql",
        "asyncmy",
        "mariadb",
        "asyncpg",
        "aiopg",
        "pymssql",
        "pyodbc",
        "aioodbc",
    )
)

EXECUTES = frozenset(
    ("execute", "executemany", "fetch", "fetchval", "fetchrow", "exec_driver_sql", "execute_sync", "query")
)


def word(kind: Type | None) -> str:
    """The short word for a type."""
    if kind is None:
        return ""
    if kind.kind == "container" and kind.container is not None:
        return _WORDS.get(kind.container.id, kind.container.id)
    if kind.kind == "object" and kind.spec is not None:
        return "object"
    if kind.kind in ("external_instance", "external"):
        if _ARRAYS.match(kind.dotted):
            return "ndarray"
        return _WORDS.get(kind.dotted, kind.dotted)
    return ""


def driver(dotted: str) -> str:
    """The database driver whose connection a dotted name makes or is; "" for none."""
    module = dotted.partition(".")[0]
    if module in IMPLICIT | ON_CHANGE | OTHER_DRIVERS and _CONNECTING.search(dotted):
        return module
    return ""


_WHOLE = re.compile(
    r"^_*(?:re_?set|clear|recycle|wipe|purge|scrub|saniti[sz]e|cleanse|zero|re_?init(?:iali[sz]e)?)"
    r"(?:_?(?:all|state|self|for_\w+|everything|to_\w+|object|session|context|data|values|fields|scratch))?$"
)


def resets_all(name: str) -> bool:
    """Whether a method is, by its name, the reset of a whole object and not of a part."""
    return bool(_WHOLE.match(name))


def is_resetting(name: str) -> bool:
    """Whether a function or method is, by its name, a reset."""
    return bool(RESETTING.match(name)) and not _NOT_RESETTING.match(name)


@dataclass(frozen=True, slots=True)
class Sql:
    """What a statement does to its session.

    ``what`` is ``set``, ``reset``, ``commit``, ``rollback``, ``begin``, ``change`` or ``query``.

    ``kind`` is the kind of state as in the catalog, ``name`` what is set.
    """

    what: str
    kind: str = ""
    name: str = ""


_SET = re.compile(r"^SET\s+(?:SESSION\s+|@@session\.|@@)?(?P<name>[\w.@]+)\s*(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)


def sql(text: str) -> Sql:  # noqa: C901 - one case per kind of statement
    """What a statement does, by its first words."""
    plain = re.sub(r"^(?:\s|--[^\n]*\n|/\*.*?\*/)+", "", text, flags=re.DOTALL).strip()
    first, _, rest = plain.partition(" ")
    head = first.upper().rstrip(";")
    if head == "SET":
        return _setting(plain)
    if head in ("COMMIT", "END"):
        return Sql("commit")
    if head in ("ROLLBACK", "ABORT"):
        return Sql("rollback" if not rest.strip().upper().startswith("TO") else "query")
    if head == "BEGIN" or plain.upper().startswith("START TRANSACTION"):
        return Sql("begin")
    if head == "LISTEN":
        return Sql("set", "listen", f"LISTEN {rest.strip(' ;')}".strip())
    if head == "UNLISTEN":
        return Sql("reset", "listen", "*" if rest.strip(" ;") in ("*", "") else f"LISTEN {rest.strip(' ;')}")
    if head == "USE" and rest:
        return Sql("set", "database", "the database")
    if head == "RESET":
        name = rest.strip(" ;").lower()
        if name == "all":
            return Sql("reset", "session_variables", "*")
        if name in ("role", "session authorization"):
            return Sql("reset", "role", "*")
        return Sql("reset", "session_variables", name)
    if head == "DISCARD":
        return Sql("reset", "*", "*")
    if head in ("INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "WITH", "CREATE", "DROP", "ALTER"):
        return Sql("change" if head != "WITH" else "query")
    return Sql("query")


def _setting(plain: str) -> Sql:
    upper = " ".join(plain.upper().split())
    if re.match(r"SET (?:LOCAL|TRANSACTION|CONSTRAINTS?|GLOBAL|PERSIST|@@GLOBAL|IDENTITY_INSERT)\b", upper):
        return Sql("query")
    if upper.startswith("SET SESSION CHARACTERISTICS") or re.match(r"SET (?:SESSION )?TRANSACTION", upper):
        return (
            Sql("set", "isolation", "the isolation level")
            if "CHARACTERISTICS" in upper or upper.startswith("SET SESSION")
            else Sql("query")
        )
    if re.match(r"SET (?:SESSION )?ROLE\b|SET SESSION AUTHORIZATION\b", upper):
        if re.search(r"\b(?:NONE|DEFAULT)\b", upper):
            return Sql("reset", "role", "*")
        return Sql("set", "role", "the role")
    found = _SET.match(plain)
    if not found:
        return Sql("query")
    name = found["name"].lower()
    if re.match(r"(?:=|TO)?\s*DEFAULT\b", found["rest"].strip(), re.IGNORECASE):
        return Sql("reset", "session_variables", name)
    if name == "autocommit":
        return Sql("set", "autocommit", "autocommit")
    return Sql("set", "session_variables", name)
