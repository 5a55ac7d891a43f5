"""Names by which methods lend and take back, where nothing else is known of a pool."""

from __future__ import annotations

# A borrow method, and the methods that, given the object, return it.  The pair alone is evidence.
PAIRS: dict[str, frozenset[str]] = {
    "getconn": frozenset(("putconn",)),
    "get_conn": frozenset(("put_conn", "putconn", "release_conn", "return_conn", "release", "release_connection")),
    "_get_conn": frozenset(("_put_conn",)),
    "get_connection": frozenset(
        ("release", "release_connection", "return_connection", "put_connection", "giveback_connection", "put_back")
    ),
    "get_connection_from_pool": frozenset(("release_connection", "return_connection", "return_connection_to_pool")),
    "acquire": frozenset(("release", "give_back", "put_back")),
    "acquire_connection": frozenset(("release_connection", "release")),
    "checkout": frozenset(("checkin", "check_in", "release")),
    "check_out": frozenset(("check_in", "checkin")),
    "borrow": frozenset(("give_back", "return_", "release", "put_back", "giveback", "return_object", "return_to_pool")),
    "borrow_object": frozenset(("return_object",)),
    "lease": frozenset(("release", "unlease", "give_back", "return_lease")),
    "allocate": frozenset(("release", "free", "deallocate")),
    "get_client": frozenset(("release_client", "return_client", "put_client", "release")),
    "get_session": frozenset(("release_session", "return_session", "put_session", "release")),
    "get_resource": frozenset(("return_resource", "release_resource", "release")),
    "get_object": frozenset(("return_object", "release_object", "release")),
    "get_cursor": frozenset(("release_cursor", "return_cursor", "put_cursor")),
    "take": frozenset(("give", "give_back", "put_back")),
    "rent": frozenset(("return_", "give_back")),
}

# How the names of methods that lend begin, as a part of a regular expression.
LENDING = (
    r"_*(?:try_?)?(?:acquire|borrow|check_?out|lease|allocate|obtain|rent|take|claim|reserve|lend|get|connection|client|"
    r"session|connect|open)"
)
