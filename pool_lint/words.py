"""Names by which methods lend and take back, where nothing else is known of a pool."""

from __future__ import annotations

import re

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

# Names of functions that take out of, or put into, what may be a pool: evidence where nothing better is known.
BORROWING = re.compile(
    r"^_*(?:try_?)?(?:acquire|borrow|check_?out|lease|allocate|alloc|obtain|rent|take|claim|reserve|lend|grab|hire|"
    r"get_?conn|get_?connection|get_?client|get_?session|get_?resource|get_?object|connection|client|session|"
    r"fetch_?connection|pop_?connection|get|open)(?:_|$|\w*)"
)
RETURNING = re.compile(
    r"^_*(?:release|give|give_?back|check_?in|return|put_?back|put_?conn|restore|recycle|replace|free|dealloc|deallocate|"
    r"repool|requeue|hand_?back|bring_?back|surrender|yield_?back|drop|relinquish|reclaim|finish|done|unlease|end|take_?back|"
    r"put_?connection|put_?client|put_?session|put_?resource|put_?object|put_?idle|back)(?:_\w*|$|[a-z]*)"
)
LENDING_METHOD = re.compile(
    r"^_*(?:try_?)?(?:acquire|borrow|check_?out|lease|allocate|alloc|obtain|rent|take|claim|reserve|lend|grab|hire|"
    r"get_?(?:conn|connection|client|session|resource|object|worker|channel))(?:_|$|\w*)"
)
FILLING = re.compile(
    r"^_*(?:__init__|__post_init__|__aenter__|__enter__|__new__|a?init\w*|start\w*|fill\w*|open\w*|connect\w*|setup\w*|set_up|"
    r"set_?up\w*|populate\w*|prepare\w*|warm\w*|boot\w*|create\w*|grow\w*|make\w*|build\w*|refill\w*|prefill\w*|load\w*|"
    r"initiali[sz]e\w*|preload\w*|spawn\w*|__await__|_run|run|main|add_\w*|_add\w*|ensure\w*|on_start\w*|launch\w*)$"
)
# The name of a method that reads on in a stream: what is put back beside it was pushed back.
READING = re.compile(r"^(?:read\w*|recv\w*|next\w*|__next__|peek\w*|get_?(?:c|ch|char|token|line|byte)s?)$")
# The name of a method that hands out what a permit or a count stands for.
LENDING_NAME = re.compile(
    r"^_*(?:try_?)?(?:(?:acquire|borrow|check_?out|lease|allocate|obtain|rent|take|claim|reserve|lend)(?:_\w+)?|get|"
    r"get_?\w*(?:conn|connection|client|session|resource|object|channel|worker)|connection|client|session|connect|open)$"
)
