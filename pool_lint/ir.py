"""The small syntax tree that the analysis reads: libcst without its punctuation.

libcst keeps every comma and comment, which fixes need and an analysis does not.  `lower.py` turns the libcst
tree into these nodes once, and `lower_ast.py` makes the same of Python's own tree; everything after them handles
about thirty plain kinds instead of some two hundred.
Lines count from 1, columns from 0 (characters).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(slots=True, eq=False)
class Expr:
    """An expression and where it begins."""

    line: int
    col: int


@dataclass(slots=True, eq=False)
class Name(Expr):
    """``text``: how the program spells it, where ``id`` is the name of a thing of another module."""

    id: str
    text: str = ""


@dataclass(slots=True, eq=False)
class Const(Expr):
    """A literal: None, True, False, Ellipsis, a number or a string (bytes count as strings)."""

    value: object


@dataclass(slots=True, eq=False)
class Attr(Expr):
    value: Expr
    name: str


@dataclass(slots=True, eq=False)
class Sub(Expr):
    value: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Star(Expr):
    """``*value`` in a call, display or target."""

    value: Expr


@dataclass(slots=True, eq=False)
class Call(Expr):
    """``keywords`` holds (name, value); the name is None for ``**value``."""

    func: Expr
    args: list[Expr]
    keywords: list[tuple[str | None, Expr]]


@dataclass(slots=True, eq=False)
class Await(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Yield(Expr):
    value: Expr | None
    delegates: bool


@dataclass(slots=True, eq=False)
class Op(Expr):
    """Any operator whose parts are merely evaluated: arithmetic, f-strings, slices, unary minus."""

    parts: list[Expr]
    kind: Literal["binary", "unary", "fstring", "slice"] = "binary"
    op: str = ""


@dataclass(slots=True, eq=False)
class Compare(Expr):
    left: Expr
    rights: list[tuple[str, Expr]]


@dataclass(slots=True, eq=False)
class Not(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Bool(Expr):
    """``and`` / ``or`` of two."""

    op: Literal["and", "or"]
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Cond(Expr):
    test: Expr
    body: Expr
    orelse: Expr


@dataclass(slots=True, eq=False)
class Walrus(Expr):
    name: str
    value: Expr


@dataclass(slots=True, eq=False)
class Seq(Expr):
    kind: Literal["tuple", "list", "set"]
    items: list[Expr]


@dataclass(slots=True, eq=False)
class DictLit(Expr):
    """Items are (key, value); the key is None for ``**value``."""

    items: list[tuple[Expr | None, Expr]]


@dataclass(slots=True, eq=False)
class CompFor:
    target: Expr
    iter: Expr
    ifs: list[Expr]
    is_async: bool


@dataclass(slots=True, eq=False)
class Comp(Expr):
    """A comprehension; ``key`` only in a dict comprehension."""

    kind: Literal["list", "set", "dict", "generator"]
    key: Expr | None
    elt: Expr
    fors: list[CompFor]


@dataclass(slots=True, eq=False)
class Lambda(Expr):
    function: Function


@dataclass(slots=True, eq=False)
class Stmt:
    """A statement and where it begins."""

    line: int
    col: int


@dataclass(slots=True, eq=False)
class ExprStmt(Stmt):
    value: Expr


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    """Plain and annotated assignment; ``value`` is None for a bare annotation."""

    targets: list[Expr]
    value: Expr | None
    annotation: Expr | None = None


@dataclass(slots=True, eq=False)
class AugAssign(Stmt):
    target: Expr
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class Return(Stmt):
    value: Expr | None


@dataclass(slots=True, eq=False)
class Raise(Stmt):
    exc: Expr | None
    cause: Expr | None


@dataclass(slots=True, eq=False)
class Assert(Stmt):
    test: Expr
    msg: Expr | None


@dataclass(slots=True, eq=False)
class Del(Stmt):
    targets: list[Expr]


@dataclass(slots=True, eq=False)
class Pass(Stmt):
    """``pass``, ``type X = ...`` and other statements without effect on control or handles."""


@dataclass(slots=True, eq=False)
class Break(Stmt):
    pass


@dataclass(slots=True, eq=False)
class Continue(Stmt):
    pass


@dataclass(slots=True, eq=False)
class Import(Stmt):
    """``names`` holds (dotted source name, local name); relative imports keep their leading dots."""

    names: list[tuple[str, str]]


@dataclass(slots=True, eq=False)
class Global(Stmt):
    """``global`` and ``nonlocal``."""

    names: list[str]
    nonlocal_: bool


@dataclass(slots=True, eq=False)
class If(Stmt):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@dataclass(slots=True, eq=False)
class While(Stmt):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@dataclass(slots=True, eq=False)
class For(Stmt):
    target: Expr
    iter: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    is_async: bool


@dataclass(slots=True, eq=False)
class Handler:
    line: int
    col: int
    type: Expr | None
    name: str | None
    body: list[Stmt]


@dataclass(slots=True, eq=False)
class Try(Stmt):
    body: list[Stmt]
    handlers: list[Handler]
    orelse: list[Stmt]
    final: list[Stmt]
    star: bool


@dataclass(slots=True, eq=False)
class WithItem:
    context: Expr
    target: Expr | None


@dataclass(slots=True, eq=False)
class With(Stmt):
    items: list[WithItem]
    body: list[Stmt]
    is_async: bool


@dataclass(slots=True, eq=False)
class Case:
    """One ``case``: ``values`` are evaluated (and may raise), ``binds`` are assigned when it matches.

    ``irrefutable`` is true for a bare name or ``_`` without a guard.
    """

    line: int
    values: list[Expr]
    binds: list[str]
    whole: list[str]
    irrefutable: bool
    guard: Expr | None
    body: list[Stmt]


@dataclass(slots=True, eq=False)
class Match(Stmt):
    subject: Expr
    cases: list[Case]


@dataclass(slots=True, eq=False)
class FuncDef(Stmt):
    function: Function


@dataclass(slots=True, eq=False)
class ClassDef(Stmt):
    klass: Klass


@dataclass(slots=True, eq=False)
class Param:
    name: str
    annotation: Expr | None
    default: Expr | None
    kind: Literal["positional", "keyword", "star", "kwargs"]


@dataclass(slots=True, eq=False)
class Function:
    """A ``def`` or ``lambda``; a lambda's body is one ``return``.

    ``owner`` is the class whose body holds it, ``parent`` the function around it (through a class too).
    ``assigned`` are the names it binds (parameters included), ``outer`` those it declares global or nonlocal.
    """

    name: str
    qualname: str
    line: int
    col: int
    params: list[Param]
    returns: Expr | None
    body: list[Stmt]
    decorators: list[Expr]
    is_async: bool
    owner: Klass | None
    parent: Function | None
    is_generator: bool = False
    assigned: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    nested: list[Function] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Klass:
    name: str
    qualname: str
    line: int
    col: int
    bases: list[Expr]
    decorators: list[Expr]
    body: list[Stmt]
    parent: Function | None
    metaclass: Expr | None = None
    methods: dict[str, Function] = field(default_factory=dict)


class Body(list[Stmt]):
    """A body that no longer changes, with what is under it: `walk` lists it once, as many questions ask for it."""

    __slots__ = ("expressions", "statements")

    def __init__(self, body: Iterable[Stmt]) -> None:
        super().__init__(body)
        self.statements: list[Stmt] | None = None
        self.expressions: list[Expr] | None = None


@dataclass(slots=True, eq=False)
class ModuleTree:
    body: list[Stmt]
    functions: list[Function]
    classes: list[Klass]

    def settle(self) -> None:
        """Say that the tree no longer changes."""
        self.body = Body(self.body)
        for function in self.functions:
            function.body = Body(function.body)
        for klass in self.classes:
            klass.body = Body(klass.body)
