"""What one operation does to the state of a borrowed object.

`Reader.changes` takes an operation and a fact that says where the object is, and gives the changes in order.  A state
is named by its path from the object: ``(".headers", "['Authorization']")``; database sessions have paths that begin
with ``"db"``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pool_lint import ir
from pool_lint.pools import state as known
from pool_lint.typestate.resolve import text_of
from pool_lint.typestate.state import DERIVED, OBJECT, Fact, Place
from pool_lint.walk import names_read, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pool_lint.flow.cfg import Point
    from pool_lint.pools.types import Type
    from pool_lint.typestate.file import FileAnalysis

Path = tuple[str, ...]
CONTENT, POSITION, ITEMS = "contents", "position", "[]"
TRANSACTION: Path = ("db", "transaction")


class Change(NamedTuple):
    """One change.  ``what`` is one of these.

    ``set`` (replaced as a whole; ``clean`` says whether by what it was in the beginning, ``value`` is a constant's
    text), ``mutate`` (changed in part), ``reset`` (everything under the path is as in the beginning), ``erase`` (what
    was there is overwritten, with no state of its own), ``use`` (whoever does this may read everything under the
    path), ``commit``, ``rollback``.

    ``kind`` is the kind of state as in the catalog.  ``call``: the reset is a call.  ``sure``: it happens even where
    the operation raises.  ``soft``: it may have happened, nobody knows.
    """

    what: str
    path: Path
    line: int
    text: str = ""
    kind: str = ""
    clean: bool = False
    value: str = ""
    call: bool = False
    sure: bool = True
    soft: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Home:
    """What the objects of one pool are: their type in a word, their class, their database driver.

    ``implicit``: a statement opens a transaction; ``on_change``: only one that changes something does.
    ``at_once``: SET takes effect at once and not with the commit.  ``resets``: what a return resets.
    """

    word: str = ""
    klass: ir.Klass | None = None
    driver: str = ""
    implicit: bool = False
    on_change: bool = False
    at_once: bool = False
    resets: frozenset[str] = frozenset()
    database: bool = False


@dataclass(slots=True, eq=False)
class Reader:
    """Reads the operations of one function."""

    file: FileAnalysis
    function: ir.Function
    home: Home
    values: dict[int, ir.Expr | None] = field(init=False)
    heads: set[int] = field(init=False)
    cut: set[int] = field(init=False)
    last: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.values, self.heads = _stores(self.function)
        self.last = _stored_last(self.function)
        # What only a slice is read of: `stream.getbuffer()[:used]`.
        self.cut = {
            id(expr.value)
            for expr in walk_expressions(self.function.body)
            if isinstance(expr, ir.Sub) and isinstance(expr.index, ir.Op) and expr.index.parts
        }

    # Where an expression is, seen from the object.

    def chain(self, expr: ir.Expr, fact: Fact) -> Path | None:
        """The path from the object to an expression; calls are segments that end in ``()``."""
        return self._chain(expr, fact, set())

    def _chain(self, expr: ir.Expr, fact: Fact, tried: set[str]) -> Path | None:
        """``tried`` are the names that have been followed: each once, however often a name is given its own value."""
        place = _place(expr)
        if place is not None and (place, OBJECT) in fact.places:
            return ()
        if isinstance(expr, ir.Name):
            if (place, DERIVED) in fact.places and not self._bound(expr.id):
                return ("()",)
            if expr.id in tried:
                return None
            tried.add(expr.id)
            for value, tail in self._bound(expr.id):
                found = self._chain(value, fact, tried)
                if found is not None:
                    return (*found, *tail)
            return None
        if isinstance(expr, ir.Attr):
            return _joined(self._chain(expr.value, fact, tried), "." + expr.name)
        if isinstance(expr, ir.Sub):
            return _joined(self._chain(expr.value, fact, tried), _index(expr.index))
        if isinstance(expr, (ir.Await, ir.Walrus)):
            return self._chain(expr.value, fact, tried)
        if isinstance(expr, ir.Call):
            if isinstance(expr.func, ir.Attr):
                return _joined(self._chain(expr.func, fact, tried), "()")
            if self.file.types.dotted(expr.func) in _TRANSPARENT and expr.args:
                return self._chain(expr.args[-1], fact, tried)
        return None

    def _bound(self, name: str) -> list[tuple[ir.Expr, Path]]:
        out: list[tuple[ir.Expr, Path]] = []
        for binding in self.file.types.locals_of(self.function).get(name, []):
            if binding.expr is not None and binding.how in ("value", "with"):
                out.append((binding.expr, ()))
            elif binding.expr is not None and binding.how == "for":
                if isinstance(binding.expr, ir.Seq):
                    out.extend((item, ()) for item in binding.expr.items)
                else:
                    out.append((binding.expr, ("[]",)))
        return out

    # Changes.

    def changes(self, point: Point, fact: Fact) -> list[Change]:
        """What an operation changes, resets and uses."""
        method = _READERS.get(point.kind)
        return list(method(self, point, fact)) if method is not None else []

    def _store_attr(self, point: Point, fact: Fact) -> Iterator[Change]:
        target = point.node
        if not isinstance(target, ir.Attr):
            return
        base = self.chain(target.value, fact)
        if base is None:
            yield from self._kept(point, fact)
            return
        value = self.values.get(id(target))
        for change in self.assigned((*base, "." + target.name), target.name, value, target.line, root=base):
            settled = isinstance(value, ir.Const) and id(target) in self.last and change.path[:1] != ("db",)
            yield change._replace(clean=True) if settled else change

    def _kept(self, point: Point, fact: Fact) -> Iterator[Change]:
        """The object itself is stored somewhere: whoever has it may use it."""
        root = point.srcs[1] if len(point.srcs) > 1 else None
        if root is not None and OBJECT in fact.roles((root,)):
            yield Change("use", (), point.line)

    def assigned(self, path: Path, name: str, value: ir.Expr | None, line: int, *, root: Path) -> Iterator[Change]:
        """An attribute is given a value."""
        if self.home.database and not root and name in _CONNECTION_ATTRIBUTES:
            kind, text = _CONNECTION_ATTRIBUTES[name]
            yield from self._connection_value(kind, text, name, value, line)
            return
        if any(segment.endswith("()") for segment in path[:-1]):
            return
        clean = value is None or self.is_clean(value, name, self._class_at(root))
        yield Change("set", path, line, _words(path), clean=clean, value=_constant(value))

    def _connection_value(self, kind: str, text: str, name: str, value: ir.Expr | None, line: int) -> Iterator[Change]:
        """``connection.autocommit = value``: a value that cannot be seen is not taken for the bad one."""
        path = ("db", kind)
        if kind == "factory":
            # The same for whoever sets it, but not for those who do not: a global is as good as a constant.
            local = value is None or any(each in self.function.assigned for each in names_read(value))
            clean = local or (isinstance(value, ir.Const) and value.value is None)
            yield Change("set", (*path, name), line, text, kind, clean=clean, value=text_of(value))
        elif value is None or not isinstance(value, (ir.Const, ir.Attr, ir.Name)):
            yield Change("set", path, line, clean=True)
        elif isinstance(value, ir.Const):
            clean = value.value in (None, False, 0, "")
            yield Change("set", path, line, text, kind, clean=clean, value=repr(value.value))
            if name == "autocommit" and not clean:
                yield Change("reset", TRANSACTION, line)
        else:
            seen = value.name.isupper() if isinstance(value, ir.Attr) else value.id.isupper()
            yield Change("set", path, line, text, kind, clean=not seen, value=text_of(value))

    def _class_at(self, path: Path) -> ir.Klass | None:
        return self.home.klass if not path else None

    def _store_item(self, point: Point, fact: Fact) -> Iterator[Change]:
        target = point.node
        if not isinstance(target, ir.Sub):
            return
        index = target.index
        base = self.chain(target.value, fact)
        if base is None:
            yield from self._kept(point, fact)
            return
        if any(segment.endswith("()") for segment in base):
            return
        value = self.values.get(id(index))
        clean = value is not None and self.is_clean(value, "", None)
        if self._is_whole(index, target.value):
            yield Change("set", base, target.line, _words(base), clean=clean)
            return
        path = (*base, _index(index))
        yield Change("set" if not clean else "reset", path, target.line, _words(base), value=_constant(value))

    def _is_whole(self, index: ir.Expr, owner: ir.Expr) -> bool:
        """``x[:]``, ``x[...]``, or ``x[i]`` where i runs over all of x."""
        if isinstance(index, ir.Op) and index.kind == "slice":
            return not index.parts
        if isinstance(index, ir.Const):
            return index.value is Ellipsis
        if not isinstance(index, ir.Name):
            return False
        name = text_of(owner)
        for value in self.file.containers.assigned(self.function).get(index.id, []):
            loop = value.value if isinstance(value, ir.Star) else value
            if isinstance(loop, ir.Call) and text_of(loop.func) in ("range", "enumerate") and len(loop.args) == 1:
                inner = loop.args[0]
                if isinstance(inner, ir.Call) and text_of(inner.func) == "len" and inner.args:
                    inner = inner.args[0]
                if text_of(inner) == name:
                    return True
            elif text_of(loop) == name or (isinstance(loop, ir.Call) and loop.args and text_of(loop.args[0]) == name):
                return True
        return False

    def _del_item(self, point: Point, fact: Fact) -> Iterator[Change]:
        target = point.node
        if isinstance(target, ir.Sub):
            base = self.chain(target.value, fact)
            if base is not None:
                whole = self._is_whole(target.index, target.value) or not isinstance(target.index, ir.Const)
                yield Change("reset", base if whole else (*base, _index(target.index)), target.line)

    def _aug_attr(self, point: Point, fact: Fact) -> Iterator[Change]:
        node = point.node
        if isinstance(node, ir.AugAssign) and isinstance(node.target, ir.Attr):
            base = self.chain(node.target.value, fact)
            if base is not None and not any(segment.endswith("()") for segment in base):
                path = (*base, "." + node.target.name)
                yield Change("use", path, node.line)
                if not isinstance(node.value, ir.Const):  # a count of its uses is nobody's state
                    yield Change("mutate", path, node.line, _words(path))

    def _aug_item(self, point: Point, fact: Fact) -> Iterator[Change]:
        node = point.node
        if isinstance(node, ir.AugAssign) and isinstance(node.target, ir.Sub):
            base = self.chain(node.target.value, fact)
            if base is not None and not any(segment.endswith("()") for segment in base):
                path = (*base, _index(node.target.index))
                yield Change("use", path, node.line)
                yield Change("mutate", path, node.line, _words(base))

    def _aug(self, point: Point, fact: Fact) -> Iterator[Change]:
        if isinstance(point.dst, str) and self.home.word in known.BUILTIN and (((point.dst,), OBJECT) in fact.places):
            yield Change("mutate", (ITEMS,), point.line, CONTENT)

    def _attr(self, point: Point, fact: Fact) -> Iterator[Change]:
        node = point.node
        if not isinstance(node, ir.Attr) or id(node) in self.heads:
            return
        path = self.chain(node, fact)
        if path:
            yield Change("use", path, node.line)

    def _yields(self, point: Point, fact: Fact) -> Iterator[Change]:
        root = point.srcs[0] if point.srcs else None
        if root is not None and any(role == OBJECT for _, role in fact.below(root)):
            yield Change("use", (), point.line)

    def _closure(self, point: Point, fact: Fact) -> Iterator[Change]:
        for root in point.srcs:
            if root is not None and any(role == OBJECT for _, role in fact.below(root)):
                yield Change("use", (), point.line)

    def _iterates(self, point: Point, fact: Fact) -> Iterator[Change]:
        """A loop: what its body clears for each element is cleared when it is over, however often it runs."""
        for stmt in walk_statements(self.function.body):
            if isinstance(stmt, ir.For) and stmt.iter is point.node:
                yield from self._cleared_by_loop(stmt, fact)
        root = point.srcs[0] if point.srcs else None
        if root is not None and OBJECT in fact.roles((root,)):
            yield Change("use", (), point.line)

    def _cleared_by_loop(self, loop: ir.For, fact: Fact) -> Iterator[Change]:
        names = {expr.id for expr in walk_expressions([ir.ExprStmt(0, 0, loop.target)]) if isinstance(expr, ir.Name)}
        for expr in walk_expressions(loop.body):
            if not isinstance(expr, ir.Call):
                continue
            func, args = expr.func, expr.args
            keyed = any(isinstance(arg, ir.Name) and arg.id in names for arg in args)
            if isinstance(func, ir.Name) and func.id in ("setattr", "delattr") and args:
                path = self.chain(args[0], fact)
                if path is not None and keyed:
                    yield Change("reset", path, expr.line)
            elif isinstance(func, ir.Attr) and isinstance(func.value, ir.Name) and func.value.id in names:
                if known.is_resetting(func.name) and isinstance(loop.iter, ir.Seq):
                    for item in loop.iter.items:
                        path = self.chain(item, fact)
                        if path is not None:
                            yield Change("reset", ("?" + "".join(path) + "." + func.name,), expr.line)
                            yield Change("reset", path, expr.line, "".join(path).lstrip("."), call=func.name == "clear")
            elif isinstance(func, ir.Attr) and func.name in ("pop", "discard", "remove", "__delitem__") and keyed:
                path = self.chain(func.value, fact)
                if path:
                    yield Change("reset", path, expr.line)
        for stmt in walk_statements(loop.body):
            targets = stmt.targets if isinstance(stmt, (ir.Assign, ir.Del)) else []
            for target in targets:
                if isinstance(target, ir.Sub) and isinstance(target.index, ir.Name) and target.index.id in names:
                    path = self.chain(target.value, fact)
                    clean = isinstance(stmt, ir.Del) or (
                        isinstance(stmt, ir.Assign) and stmt.value is not None and self.is_clean(stmt.value, "", None)
                    )
                    if path is not None and (clean or self._is_whole(target.index, target.value)):
                        yield Change("reset" if clean else "erase", path, stmt.line)

    # Calls.

    def _call(self, point: Point, fact: Fact) -> Iterator[Change]:
        if isinstance(point.node, ir.Call):
            yield from self.of_call(point.node, fact)

    def of_call(self, call: ir.Call, fact: Fact) -> Iterator[Change]:
        """What a call changes that runs no function of this file."""
        if isinstance(call.func, ir.Attr):
            path = self.chain(call.func.value, fact)
            if path is not None:
                yield from self._method(call, call.func.name, path, fact)
                return
        yield from self._arguments(call, fact)

    def _method(self, call: ir.Call, name: str, path: Path, fact: Fact) -> Iterator[Change]:
        line = call.line
        if path[:1] == (".__dict__",):
            yield Change("reset", (), line)
            return
        word = self.word_at(path)
        derived = any(segment.endswith("()") for segment in path)
        if self.home.database:
            found = list(self._database(call, name, path))
            if found:
                yield from found
                return
        if word == "io" and not derived:
            if not (id(call) in self.cut and name in ("getvalue", "getbuffer")):
                yield from _stream(call, name, path)
            return
        if known.is_resetting(name) or name in known.MESSAGE_RESETS or (not path and name in ("__init__", "close")):
            if derived:
                return
            if name != "close":
                yield Change("reset", ("?" + "".join(path) + "." + name,), line, call=True)
                partial = bool(path) and not word and name != "clear"
                yield Change("reset", path, line, "".join(path).lstrip("."), call=name == "clear" and not partial)
            return
        if derived:
            return
        if name in ("pop", "__delitem__", "popitem", "discard", "remove") and path and word != "list":
            if call.args:
                # Which one a variable names cannot be seen: it is taken for the one that was put in.
                one = isinstance(call.args[0], ir.Const)
                yield Change("reset", (*path, _index(call.args[0])) if one else path, line)
            return
        if name in known.MESSAGE_MUTATORS:
            if name in known.MESSAGE_OVERWRITES:
                yield Change("erase", path, line)
            yield Change("mutate", (*path, ITEMS), line, CONTENT)
            return
        if name == "fill" and word == "ndarray":
            clean = bool(call.args) and self.is_clean(call.args[0], "", None)
            yield Change("set", path, line, _words(path), clean=clean)
            return
        if name in known.MUTATORS.get(word, frozenset()):
            yield from self._mutation(call, name, path, word)
            return
        if name in _HARMLESS:
            return
        yield Change("use", path, line)

    def _mutation(self, call: ir.Call, name: str, path: Path, word: str) -> Iterator[Change]:
        if word == "cookies" and name == "set" and call.args:
            yield Change("mutate", (*path, _index(call.args[0])), call.line, _words(path), sure=False)
            return
        if word == "dict" and name in ("update", "setdefault"):
            keys = [
                _index(key)
                for arg in call.args
                if isinstance(arg, ir.DictLit)
                for key, _ in arg.items
                if key is not None
            ]
            keys += [f"[{key!r}]" for key, _ in call.keywords if key is not None]
            if name == "setdefault" and call.args:
                keys = [_index(call.args[0])]
            if keys:
                for key in keys:
                    yield Change("set", (*path, key), call.line, _words(path), sure=False)
                return
        if word not in known.BUFFERS or not any(_pads(arg) for arg in call.args):
            yield Change("mutate", (*path, ITEMS), call.line, _words(path), sure=False)

    def _arguments(self, call: ir.Call, fact: Fact) -> Iterator[Change]:
        """The object is an argument of a call that cannot be seen, or of a builtin."""
        dotted = self.file.types.dotted(call.func)
        last = call.func.name if isinstance(call.func, ir.Attr) else dotted.rpartition(".")[2]
        listed = [*((None, arg) for arg in call.args), *call.keywords]
        for keyword, arg in listed:
            expr = arg.value if isinstance(arg, ir.Star) else arg
            undone = self._undone(expr, call, last, fact)
            if undone is not None:
                yield Change("shield", undone, call.line)
                continue
            path = self.chain(expr, fact)
            if path is None and not isinstance(expr, ir.Attr):
                continue
            if path is None or any(segment.endswith("()") for segment in path):
                continue
            if keyword == "out":
                yield Change("erase", path, call.line)
                continue
            if dotted == "setattr" and expr is call.args[0]:
                yield from self._setattr(call, path)
                return
            if dotted in _READ_ONLY:
                continue
            if known.is_resetting(last) or self._is_hook(call):
                yield Change("reset", path, call.line, call=False)
                continue
            if self.word_at(path) == "io":
                yield Change("use", path, call.line)
                yield Change("mutate", (*path, CONTENT), call.line, CONTENT, soft=True)
                yield Change("mutate", (*path, POSITION), call.line, POSITION, soft=True)
                continue
            yield Change("use", path, call.line)

    def _undone(self, expr: ir.Expr, call: ir.Call, registering: str, fact: Fact) -> Path | None:
        """What an argument will reset when it is called: a method of the object, ``stack.callback(x.headers.pop, k)``.

        ``setattr`` and a ``lambda`` count where they are registered to be called at the end.
        """
        registers = registering in _REGISTERING
        if isinstance(expr, ir.Lambda) and registers:
            body = expr.function.body
            inner = body[0].value if len(body) == 1 and isinstance(body[0], ir.Return) else None
            expr = inner.func if isinstance(inner, ir.Call) else expr
        if isinstance(expr, ir.Attr):
            undoes = known.is_resetting(expr.name) or (registers and expr.name in _UNDOING)
            return self.chain(expr.value, fact) if undoes else None
        if registers and isinstance(expr, ir.Name) and expr.id in ("setattr", "delattr") and len(call.args) > 1:
            return self.chain(call.args[1], fact) if expr is call.args[0] else None
        return None

    def calls_hook(self) -> bool:
        """Whether this function hands an object to what the pool's maker has given it."""
        params = {param.name for param in self.function.params}
        return any(
            isinstance(expr, ir.Call) and any(isinstance(arg, ir.Name) and arg.id in params for arg in expr.args)
            and self._is_hook(expr)
            for expr in walk_expressions(self.function.body)
        )  # fmt: skip

    def _is_hook(self, call: ir.Call) -> bool:
        """Whether a pool's method calls what its maker has given it (``self._on_return(item)``)."""
        owner = self.function.owner
        if owner is None or not self.function.params or not isinstance(call.func, (ir.Attr, ir.Name)):
            return False
        if not any(
            each in self.file.types.bases_of(owner)
            for each, _ in self.file.containers.uses
            if isinstance(each, ir.Klass)
        ):
            return False
        own = self.function.params[0].name
        func = call.func
        if isinstance(func, ir.Name):
            return any(
                isinstance(value, ir.Attr) and isinstance(value.value, ir.Name) and value.value.id == own
                for value in self.file.containers.assigned(self.function).get(func.id, [])
            )
        return (
            isinstance(func.value, ir.Name) and func.value.id == own
            and self.file.types.method(owner, func.name) is None and func.name in self.file.types.attrs_of(owner)
        )  # fmt: skip

    def _setattr(self, call: ir.Call, path: Path) -> Iterator[Change]:
        if len(call.args) == 3 and isinstance(call.args[1], ir.Const):  # noqa: PLR2004 - setattr(object, name, value)
            name = str(call.args[1].value)
            yield from self.assigned((*path, "." + name), name, call.args[2], call.line, root=path)
        else:
            # Which attributes, nobody can tell: a loop over all of them may clear or restore each.
            yield Change("reset", path, call.line)

    # Databases.

    def _database(self, call: ir.Call, name: str, path: Path) -> Iterator[Change]:
        line = call.line
        if name == "rollback" and (not path or path == ("()",) or path[-1] == ".connection"):
            yield Change("reset", ("?" + "".join(path) + ".rollback",), line)
            yield Change("rollback", (), line)
        elif name == "commit":
            yield Change("commit", (), line)
        elif not path and name in ("reset", "cmd_reset_connection", "reset_session", "cmd_change_user", "change_user"):
            yield Change("reset", ("?." + name,), line)
            yield Change("reset", (), line)
        elif not path and name in _CONNECTION_METHODS:
            kind, text = _CONNECTION_METHODS[name]
            value = call.args[0] if call.args else None
            if kind in ("database", "session_variables") and value is not None:
                yield Change("set", ("db", kind), line, text, kind, value=_constant(value), sure=False)
            else:
                yield from _unsure(self._connection_value(kind, text, name, value, line))
        elif not path and name == "set_session":
            for keyword, value in call.keywords:
                if keyword in _CONNECTION_ATTRIBUTES:
                    kind, text = _CONNECTION_ATTRIBUTES[keyword]
                    yield from _unsure(self._connection_value(kind, text, keyword, value, line))
        elif not path and name == "execution_options":
            for keyword, value in call.keywords:
                if keyword == "isolation_level":
                    yield from self._connection_value("isolation", "isolation_level", keyword, value, line)
        elif name in known.EXECUTES and call.args:
            yield from self._statement(call)
        elif name in ("cursor", "close", "fetchone", "fetchall", "fetchmany", "transaction", "begin", "ping"):
            yield Change("reset", ("?none",), line)

    def _statement(self, call: ir.Call) -> Iterator[Change]:
        line = call.line
        text = self.text(call.args[0], 0)
        done = known.sql(text) if text else known.Sql("query")
        if done.what == "commit":
            yield Change("commit", (), line)
            return
        if done.what == "rollback":
            yield Change("rollback", (), line)
            return
        if done.what == "reset":
            yield Change("reset", _variable(done), line)
        elif done.what == "set":
            yield Change("set", _variable(done), line, done.name, done.kind, value=text, sure=False)
        else:
            yield Change("use", ("db",), line)
        opens = self.home.implicit and (not self.home.on_change or done.what in ("change", "begin"))
        if opens:
            yield Change("mutate", TRANSACTION, line, "an open transaction", "transaction", sure=False)

    def text(self, expr: ir.Expr, depth: int) -> str:
        """The beginning of an SQL text; "" where it cannot be seen."""
        if depth > _DEEPEST:
            return ""
        if isinstance(expr, ir.Const):
            return expr.value if isinstance(expr.value, str) else ""
        if isinstance(expr, ir.Op):
            if expr.kind == "fstring":
                return "".join(str(part.value) if isinstance(part, ir.Const) else "?" for part in expr.parts)
            return self.text(expr.parts[0], depth + 1) if expr.parts else ""
        if isinstance(expr, ir.Call):
            if isinstance(expr.func, ir.Attr) and expr.func.name in ("format", "strip", "join", "bindparams"):
                return self.text(expr.func.value, depth + 1)
            dotted = self.file.types.dotted(expr.func).rpartition(".")[2]
            if dotted in ("SQL", "text", "dedent", "Composed", "DDL") and expr.args:
                return self.text(expr.args[0], depth + 1)
            return ""
        if isinstance(expr, ir.Name):
            bindings, _ = self.file.types.bindings(expr.id, self.function)
            if len(bindings) == 1 and bindings[0].how == "value" and bindings[0].expr is not None:
                return self.text(bindings[0].expr, depth + 1)
        return ""

    # Values and types.

    def word_at(self, path: Path) -> str:
        """The type, in a word, of what is at a path."""
        if not path:
            return self.home.word
        if len(path) == 1 and path[0].startswith("."):
            name = path[0][1:]
            member = known.MEMBERS.get(self.home.word, {}).get(name)
            if member is not None:
                return member
            if self.home.klass is not None:
                return known.word(attribute_type(self.file, self.home.klass, name))
        return ""

    def is_clean(self, value: ir.Expr, name: str, klass: ir.Klass | None, depth: int = 0) -> bool:
        """Whether a value is what an attribute has in the beginning: empty, a constant default, the one it had."""
        if depth > _DEEPEST:
            return False
        if isinstance(value, ir.Const):
            if not value.value and value.value is not Ellipsis:
                return True
            return self._is_initial(value, name, klass)
        if isinstance(value, (ir.Seq, ir.DictLit)):
            return not value.items or self._is_initial(value, name, klass)
        if isinstance(value, ir.Op):
            return value.kind == "unary" and isinstance(value.parts[0], ir.Const)
        if isinstance(value, ir.Cond):
            return all(self.is_clean(part, name, klass, depth + 1) for part in (value.body, value.orelse))
        if isinstance(value, ir.Call):
            return self._is_fresh(value) or self._is_initial(value, name, klass)
        if isinstance(value, ir.Attr):
            if value.name.isupper():
                return True
            own = self.function.params[0].name if self.function.owner is not None and self.function.params else ""
            return self._is_steady(value) or (
                isinstance(value.value, ir.Name)
                and value.value.id == own
                and self.home.klass is not self.function.owner
            )
        if isinstance(value, ir.Name):
            own = self.function.params[0].name if self.function.owner is not None and self.function.params else ""
            if value.id not in self.function.assigned or value.id == own:
                return True
            given = self.file.containers.assigned(self.function).get(value.id, [])
            if any(isinstance(each, ir.Attr) and each.name == name for each in given):
                return True
            if any(isinstance(each, ir.Call) and name and _reads_attribute(each, name) for each in given):
                return True
            params = {param.name for param in self.function.params}
            return bool(given) and value.id not in params and all(
                self.is_clean(each, name, klass, depth + 1) for each in given
            )  # fmt: skip
        return False

    def _is_steady(self, value: ir.Attr) -> bool:
        """An attribute of a module or of something global: the same for every borrower."""
        names = names_read(value)
        return bool(names) and all(name not in self.function.assigned for name in names)

    def _is_fresh(self, call: ir.Call) -> bool:
        dotted = self.file.types.dotted(call.func)
        last = dotted.rpartition(".")[2] or (call.func.name if isinstance(call.func, ir.Attr) else "")
        if dotted.startswith(("time.", "datetime.", "threading.", "asyncio.", "os.getpid")):
            return True
        parts = [*call.args, *(value for _, value in call.keywords)]
        reads = {name for part in parts for name in names_read(part)}
        if isinstance(call.func, ir.Attr):
            reads |= set(names_read(call.func.value))
        local = reads & self.function.assigned
        if local:
            # `bytes(len(row))`, `type(x)()`: only sizes of the object itself.
            return last in ("bytes", "bytearray") and all(
                isinstance(part, ir.Call) and text_of(part.func) == "len" for part in parts
            )
        return last in _EMPTY or last[:1].isupper() or "default" in last or last in ("copy", "deepcopy") or bool(parts)

    def _is_initial(self, value: ir.Expr, name: str, klass: ir.Klass | None) -> bool:
        if klass is None or not name:
            return False
        text = _dump(value)
        for each in self.file.types.bases_of(klass):
            for binding in self.file.types.attrs_of(each).get(name, []):
                initial = binding.how == "value" and (binding.scope is None or binding.scope.name == "__init__")
                if initial and binding.expr is not None and _dump(binding.expr) == text:
                    return True
        return False


def attribute_type(file: FileAnalysis, klass: ir.Klass, name: str) -> Type | None:
    """The type of an attribute of a class: by its values first, for annotations are wide."""
    found: Type | None = None
    for each in file.types.bases_of(klass):
        for binding in file.types.attrs_of(each).get(name, []):
            if binding.expr is None:
                continue
            if binding.how == "value":
                kind = file.types.of(binding.expr, binding.scope)
                if known.word(kind):
                    return kind
            elif binding.how == "annotation":
                found = found or file.types.annotation(binding.expr, binding.scope)
    return found if found is not None else file.types.attr_type(klass, name)


def _stream(call: ir.Call, name: str, path: Path) -> Iterator[Change]:
    """A method of a file or an in-memory stream."""
    line = call.line
    first = call.args[0] if call.args else None
    zero = isinstance(first, ir.Const) and first.value == 0
    content, position = (*path, CONTENT), (*path, POSITION)
    if name in known.WRITES:
        yield Change("use", position, line)
        yield Change("mutate", content, line, CONTENT)
        yield Change("mutate", position, line, POSITION)
    elif name == "seek" and zero and len(call.args) == 1:
        yield Change("reset", position, line, "seek(0)", call=True)
    elif name == "seek":
        yield Change("mutate", position, line, POSITION, soft=True)
    elif name == "truncate" and zero:
        yield Change("reset", content, line, "truncate(0)", call=True)
    elif name == "truncate" and not call.args:
        yield Change("truncate", path, line)
    elif known.is_resetting(name):
        yield Change("reset", path, line)
    elif name in known.READS:
        if not call.args:
            yield Change("use", content, line)
        if name not in ("getvalue", "getbuffer"):
            yield Change("mutate", position, line, POSITION, soft=True)
    elif name not in ("close", "flush", "fileno", "isatty", "tell"):
        yield Change("use", path, line)


def _pads(value: ir.Expr) -> bool:
    """Whether a value is there to make a buffer longer: ``bytes(size - len(buffer))``."""
    return any(
        isinstance(expr, ir.Call)
        and text_of(expr.func) == "bytes"
        and any(isinstance(part, ir.Call) and text_of(part.func) == "len" for arg in expr.args for part in _parts(arg))
        for expr in _parts(value)
    )


def _parts(expr: ir.Expr) -> Iterator[ir.Expr]:
    yield from walk_expressions([ir.ExprStmt(0, 0, expr)])


def _unsure(changes: Iterator[Change]) -> Iterator[Change]:
    """The changes of a call: where it raises, what it was to set is not set; what it was to reset counts as reset."""
    for change in changes:
        yield change if change.clean or change.what == "reset" else change._replace(sure=False)


def _variable(done: known.Sql) -> Path:
    if done.name == "*":
        return ("db",) if done.kind == "*" else ("db", done.kind)
    return ("db", done.kind, done.name)


def _joined(base: Path | None, segment: str) -> Path | None:
    if base is None:
        return None
    if segment == "()" and base:
        return (*base[:-1], base[-1] + "()")
    return (*base, segment)


def _index(index: ir.Expr) -> str:
    if isinstance(index, ir.Op) and index.kind == "slice":
        return ITEMS
    if isinstance(index, ir.Const) and not isinstance(index.value, str):
        return ITEMS
    return f"[{text_of(index)}]"


def _place(expr: ir.Expr) -> Place | None:
    parts: list[str | int] = []
    while True:
        if isinstance(expr, ir.Attr):
            parts.append("." + expr.name)
            expr = expr.value
        elif isinstance(expr, ir.Sub) and isinstance(expr.index, ir.Const) and isinstance(expr.index.value, int):
            parts.append(expr.index.value)
            expr = expr.value
        elif isinstance(expr, ir.Name):
            return (expr.id, *reversed(parts))
        else:
            return None


def _words(path: Path) -> str:
    """A path in the words of a message."""
    text = "".join(segment for segment in path if segment not in (ITEMS, "[]")).lstrip(".")
    return text or CONTENT


def _constant(value: ir.Expr | None) -> str:
    if isinstance(value, ir.Const):
        return repr(value.value)
    return _dump(value) if isinstance(value, ir.Attr) and value.name.isupper() else ""


def _dump(expr: ir.Expr) -> str:
    """A text that two expressions share when they are written alike."""
    if isinstance(expr, ir.Const):
        return repr(expr.value)
    if isinstance(expr, (ir.Seq, ir.DictLit)):
        kind = expr.kind if isinstance(expr, ir.Seq) else "dict"
        items = [_dump(part) for part in expr.items] if isinstance(expr, ir.Seq) else [
            f"{_dump(key) if key is not None else '**'}:{_dump(value)}" for key, value in expr.items
        ]  # fmt: skip
        return f"{kind}({','.join(items)})"
    if isinstance(expr, ir.Call):
        parts = [_dump(arg) for arg in expr.args] + [f"{name}={_dump(value)}" for name, value in expr.keywords]
        return f"{_dump(expr.func)}({','.join(parts)})"
    if isinstance(expr, ir.Op):
        return f"{expr.kind}{expr.op}({','.join(_dump(part) for part in expr.parts)})"
    return text_of(expr)


def _reads_attribute(call: ir.Call, name: str) -> bool:
    return any(
        (isinstance(expr, ir.Attr) and expr.name == name) or (isinstance(expr, ir.Const) and expr.value == name)
        for expr in walk_expressions([ir.ExprStmt(0, 0, call)])
    )


def _stores(function: ir.Function) -> tuple[dict[int, ir.Expr | None], set[int]]:
    """What each stored attribute or item is given, and the expressions that are read only to store or call there."""
    values: dict[int, ir.Expr | None] = {}
    heads: set[int] = set()

    def store(target: ir.Expr, value: ir.Expr | None, *, known_value: bool) -> None:
        if isinstance(target, ir.Attr):
            values[id(target)] = value if known_value else _UNKNOWN
            heads.add(id(target.value))
        elif isinstance(target, ir.Sub):
            values[id(target.index)] = value if known_value else _UNKNOWN
            heads.add(id(target.value))
        elif isinstance(target, ir.Seq):
            same = isinstance(value, ir.Seq) and len(value.items) == len(target.items)
            for position, item in enumerate(target.items):
                part = value.items[position] if same and isinstance(value, ir.Seq) else None
                store(item, part, known_value=part is not None)

    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.Assign) and stmt.value is not None:
            for target in stmt.targets:
                store(target, stmt.value, known_value=True)
        elif isinstance(stmt, ir.AugAssign) and isinstance(stmt.target, (ir.Attr, ir.Sub)):
            heads.add(id(stmt.target.value))
        elif isinstance(stmt, ir.Del):
            heads.update(id(target.value) for target in stmt.targets if isinstance(target, (ir.Attr, ir.Sub)))
        elif isinstance(stmt, (ir.For, ir.With)):
            loops = [stmt.target] if isinstance(stmt, ir.For) else [item.target for item in stmt.items]
            for each in loops:
                if each is not None:
                    store(each, None, known_value=False)
    for expr in walk_expressions(function.body):
        if isinstance(expr, ir.Attr):
            heads.add(id(expr.value))
        elif isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr):
            heads.add(id(expr.func))
            heads.add(id(expr.func.value))
    return values, heads


def _stored_last(function: ir.Function) -> set[int]:
    """The attributes that are stored in a ``finally`` block, or after the ``yield`` of a block that lends.

    What every user leaves behind there is the same: a constant is what the next one expects.
    """
    found: list[ir.Stmt] = []
    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.Try):
            found += stmt.final
    lent = [expr.line for expr in walk_expressions(function.body) if isinstance(expr, ir.Yield)]
    return {
        id(target)
        for stmts, after in ((found, 0), (function.body if len(lent) == 1 else [], lent[0] if lent else 0))
        for stmt in walk_statements(stmts)
        if isinstance(stmt, ir.Assign) and stmt.line > after
        for target in stmt.targets
        if isinstance(target, ir.Attr)
    }


_UNKNOWN = ir.Star(0, 0, ir.Name(0, 0, "?"))
_DEEPEST = 4
_TRANSPARENT = frozenset(("typing.cast", "typing_extensions.cast", "contextlib.closing", "contextlib.aclosing"))
_EMPTY = frozenset(
    ("list", "dict", "set", "deque", "bytearray", "bytes", "str", "frozenset", "tuple", "int", "float", "bool",
     "object", "defaultdict")
)  # fmt: skip
_READ_ONLY = frozenset(("len", "isinstance", "id", "type", "hasattr", "repr", "callable", "memoryview", "bool", "vars"))
_HARMLESS = frozenset(
    ("close", "aclose", "keys", "ping", "is_connected", "closed", "fileno", "sort_keys", "copy_defaults")
)
_REGISTERING = frozenset(("callback", "push_async_callback", "addCleanup", "addfinalizer", "finalize"))
_UNDOING = frozenset(("pop", "discard", "remove", "update", "__delitem__", "__setitem__", "setdefault"))
_CONNECTION_ATTRIBUTES = {
    "autocommit": ("autocommit", "autocommit"),
    "isolation_level": ("isolation", "isolation_level"),
    "readonly": ("isolation", "readonly"),
    "read_only": ("isolation", "read_only"),
    "deferrable": ("isolation", "deferrable"),
    "row_factory": ("factory", "row_factory"),
    "cursor_factory": ("factory", "cursor_factory"),
    "text_factory": ("factory", "text_factory"),
}
_CONNECTION_METHODS = {
    "autocommit": ("autocommit", "autocommit"),
    "set_autocommit": ("autocommit", "autocommit"),
    "set_isolation_level": ("isolation", "isolation_level"),
    "set_read_only": ("isolation", "read_only"),
    "set_deferrable": ("isolation", "deferrable"),
    "select_db": ("database", "the database"),
    "set_client_encoding": ("session_variables", "client_encoding"),
    "set_charset": ("session_variables", "character set"),
}

_READERS = {
    "store_attr": Reader._store_attr,
    "store_item": Reader._store_item,
    "del_item": Reader._del_item,
    "aug_attr": Reader._aug_attr,
    "aug_item": Reader._aug_item,
    "aug": Reader._aug,
    "attr": Reader._attr,
    "yield": Reader._yields,
    "ret": Reader._yields,
    "closure": Reader._closure,
    "iter": Reader._iterates,
    "call": Reader._call,
}
