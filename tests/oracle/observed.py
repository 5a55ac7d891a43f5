"""What is recorded of a function: each loan of one run, and over all runs what became of each borrow."""

from __future__ import annotations

from dataclasses import dataclass, field

Line = int
Lines = tuple[Line, ...]  # of one event: in the innermost frame first, in the target last
Site = tuple[Line, int]  # of a borrow: its line, and which of several on that line


@dataclass(slots=True)
class Loan:
    """One object that was borrowed in one run."""

    site: Site
    pool: object
    born: int  # how many exceptions had been raised when it was borrowed
    entries: tuple[int, ...]  # how often each `try` had been entered by then
    managed: bool = False  # a context manager returns it: no duty of the target
    released: Line = 0
    returns: int = 0
    used_after: bool = False
    wrong: bool = False
    given: bool = False  # to an opaque callee
    transferred: bool = False
    closed: bool = False  # in itself, which does not free its slot
    registered: Line = 0  # where something was told to return it
    yielded: bool = False
    derived_out: bool = False  # something derived from it left the function
    inner: bool = False  # still in the hands of a helper that borrowed it
    orphan: bool = False  # lost by a helper, whose fault it is
    lost: int = -1  # how many exceptions had been raised when the last reference went
    over: bool = False


@dataclass(slots=True)
class Fate:
    """What became of the objects of one borrow site, over all runs."""

    released: bool = False
    released_soft: bool = False
    transferred: bool = False
    transferred_soft: bool = False
    given: bool = False
    wrong: bool = False
    loaned: bool = False  # yielded, and returned later
    loaned_soft: bool = False
    derived_out: bool = False
    deferred: bool = False  # a later turn returned the object of an earlier one
    closed: bool = False  # and given to an opaque callee
    leaks: set[tuple[str, bool, bool]] = field(default_factory=set)  # kind, soft, yielded


@dataclass(slots=True)
class Seen:
    """All that was observed of one target."""

    function: str
    paths: int = 0
    skipped: str = ""
    closures: bool = False
    doubtful: bool = False  # a name was tested before it was bound
    fates: dict[Site, Fate] = field(default_factory=dict)
    doubles: dict[tuple[Site, Line], set[tuple[Lines, str, bool]]] = field(default_factory=dict)
    uses: dict[tuple[Site, Line], set[tuple[Lines, bool]]] = field(default_factory=dict)
    wrong_sites: set[Site] = field(default_factory=set)
    wrongs: set[tuple[Lines, bool]] = field(default_factory=set)
    bads: dict[int, set[tuple[Lines, bool]]] = field(default_factory=dict)
    attempts: set[Line] = field(default_factory=set)  # where a borrow was tried
    optional: set[tuple[Line, str]] = field(default_factory=set)
