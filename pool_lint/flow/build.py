"""Build the control-flow graph of a function body."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.flow.cfg import RET, Cfg, Point, Root, Test
from pool_lint.walk import names_read, path_of, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def build_cfg(function: ir.Function) -> Cfg:
    """Return the graph of a function's body."""
    return _Builder(function).build()


def pure_text(expr: ir.Expr) -> tuple[str, frozenset[str]] | None:
    """The text of an expression of names, attributes, constants and operators, and the names it reads.

    Evaluating such an expression twice gives the same value as long as none of the names is assigned in between.
    """
    if isinstance(expr, ir.Const):
        return repr(expr.value), frozenset()
    if isinstance(expr, ir.Name):
        return expr.id, frozenset((expr.id,))
    if isinstance(expr, ir.Attr):
        inner = pure_text(expr.value)
        return (f"{inner[0]}.{expr.name}", inner[1]) if inner else None
    if isinstance(expr, ir.Compare):
        return _joined([("", expr.left), *expr.rights])
    if isinstance(expr, ir.Op) and expr.kind in ("binary", "unary"):
        return _joined([(expr.op, part) for part in expr.parts])
    if isinstance(expr, ir.Seq):
        return _joined([(expr.kind, part) for part in expr.items])
    if isinstance(expr, ir.Sub):
        return _joined([("", expr.value), ("[", expr.index)])
    if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Name) and expr.func.id in ("isinstance", "len", "bool"):
        return _joined([(expr.func.id, part) for part in expr.args])
    return None


def _joined(parts: Iterable[tuple[str, ir.Expr]]) -> tuple[str, frozenset[str]] | None:
    text, reads = [], frozenset[str]()
    for operator, part in parts:
        inner = pure_text(part)
        if inner is None:
            return None
        text.append(f"{operator} {inner[0]}")
        reads |= inner[1]
    return "(" + " ".join(text) + ")", reads


@dataclass(slots=True, eq=False)
class _Finally:
    """A finally body or with-exit around the statements that are being built."""

    entry: int
    table: dict[str, int] = field(default_factory=dict)
    pushes: dict[str, int] = field(default_factory=dict)
    depths: tuple[int, int] = (0, 0)


@dataclass(slots=True, eq=False)
class _Loop:
    number: int
    on_break: int
    on_continue: int
    depths: tuple[int, int] = (0, 0)


class _Builder:
    def __init__(self, function: ir.Function) -> None:
        self._function = function
        self._points: list[Point] = []
        self._tail: tuple[Point, str] | None = None
        self._frames: list[_Finally | _Loop] = []
        self._temps = 0
        self._loops = 0
        self._loop_depth = 0
        self._line = function.line
        self._col = function.col
        self._pend_depth = 0
        self._handling_depth = 0
        self._tries: dict[int, ir.Try] = {}
        self._in_tries: tuple[tuple[int, str], ...] = ()
        self._tested = _tested_names(function)
        self._end = self._label("end")
        self._fail = self._label("fail")
        self._exc = self._fail

    def build(self) -> Cfg:
        entry = self._label()
        self._place(entry)
        self._body(self._function.body)
        if self._tail is not None:
            self._emit("ret", name="implicit")
            self._goto(self._route("return"))
        return Cfg(self._function, self._points, entry, self._tries)

    # Points and labels.

    def _new(self, kind: str) -> tuple[int, Point]:
        point = Point(kind, self._line, self._col, tries=self._in_tries, repeats=self._loop_depth > 0)
        self._points.append(point)
        return len(self._points) - 1, point

    def _label(self, kind: str = "nop") -> int:
        return self._new(kind)[0]

    def _place(self, label: int) -> None:
        """Go on building at a label."""
        if self._tail is not None:
            self._goto(label)
        self._tail = (self._points[label], "next")

    def _goto(self, label: int) -> None:
        if self._tail is not None:
            setattr(self._tail[0], self._tail[1], label)
            self._tail = None

    def _emit(
        self,
        kind: str,
        dst: Root | None = None,
        srcs: tuple[Root | None, ...] = (),
        name: str = "",
        node: object = None,
        *,
        raises: bool = False,
    ) -> Point:
        index, point = self._new(kind)
        point.dst, point.srcs, point.name, point.node = dst, srcs, name, node
        if raises:
            point.exc = self._exc
        if self._tail is not None:
            setattr(self._tail[0], self._tail[1], index)
        self._tail = (point, "next")
        return point

    def _temp(self) -> int:
        self._temps += 1
        return self._temps

    def _depths(self) -> tuple[int, int]:
        return self._pend_depth, self._handling_depth

    # Jumps.

    def _route(self, label: str, loop: _Loop | None = None) -> int:
        """Where a jump goes first: through the finally bodies between here and its target."""
        return self._route_from(len(self._frames), label, loop)

    def _route_from(self, above: int, label: str, loop: _Loop | None) -> int:
        for position in range(above - 1, -1, -1):
            frame = self._frames[position]
            if frame is loop:
                break
            if isinstance(frame, _Finally):
                known = frame.pushes.get(label)
                if known is None:
                    known, push = self._new("push")
                    frame.pushes[label] = known
                    push.name, push.depths, push.next = label, frame.depths, frame.entry
                    frame.table[label] = self._route_from(position, label, loop)
                return known
        if loop is None:
            return self._end
        trim, point = self._new("trim")
        point.depths = loop.depths
        point.next = loop.on_break if label.startswith("break") else loop.on_continue
        return trim

    def _loop(self) -> _Loop | None:
        for frame in reversed(self._frames):
            if isinstance(frame, _Loop):
                return frame
        return None

    # Statements.

    def _body(self, body: Sequence[ir.Stmt]) -> None:
        for statement in body:
            self._line, self._col = statement.line, statement.col
            _STATEMENTS[type(statement)](self, statement)

    def _expr_stmt(self, node: ir.ExprStmt) -> None:
        self._expr(node.value)

    def _assign(self, node: ir.Assign) -> None:
        if node.value is None:
            return
        if len(node.targets) == 1 and isinstance(node.targets[0], ir.Name):
            self._assign_name(node.targets[0].id, node.value)
            return
        if (
            len(node.targets) == 1
            and isinstance(node.targets[0], ir.Seq)
            and isinstance(node.value, ir.Seq)
            and len(node.targets[0].items) == len(node.value.items)
            and not any(isinstance(item, ir.Star) for item in (*node.targets[0].items, *node.value.items))
        ):
            # A tuple-literal swap is no unpacking: it cannot fail.
            temps: list[Root | None] = []
            for item in node.value.items:
                temp = self._temp()
                self._into(temp, item)
                temps.append(temp)
            for target, temp_ in zip(node.targets[0].items, temps, strict=True):
                self._store(target, temp_)
            return
        value = self._expr(node.value)
        for target in node.targets:
            self._store(target, value)

    def _assign_name(self, name: str, value: ir.Expr) -> None:
        if name in self._tested and self._is_test(value):
            yes, no, done = self._label(), self._label(), self._label()
            self._test(value, yes, no)
            for label, constant in ((yes, True), (no, False)):
                self._place(label)
                self._emit("const", name, node=constant)
                self._goto(done)
            self._place(done)
            return
        self._into(name, value)

    def _is_test(self, value: ir.Expr) -> bool:
        if isinstance(value, ir.Not):
            return True
        if isinstance(value, ir.Bool):
            return self._is_test(value.left) and self._is_test(value.right)
        return isinstance(value, ir.Compare) and pure_text(value) is not None

    def _into(self, dst: Root, value: ir.Expr) -> None:
        """Evaluate and put the value into a root."""
        if isinstance(value, ir.Const):
            self._emit("const", dst, node=value.value)
            return
        root = self._expr(value, dst)
        if root != dst:
            self._emit("move", dst, () if root is None else (root,))

    def _store(self, target: ir.Expr, value: Root | None) -> None:
        if isinstance(target, ir.Name):
            self._emit("move", target.id, () if value is None else (value,))
        elif isinstance(target, ir.Attr):
            base = self._expr(target.value)
            self._emit("store_attr", None, (base, value), target.name, target)
        elif isinstance(target, ir.Sub):
            base = self._expr(target.value)
            self._expr(target.index)
            self._emit("store_item", None, (base, value), node=target)
        elif isinstance(target, ir.Seq):
            self._unpack(target.items, value)
        elif isinstance(target, ir.Star):
            self._store(target.value, value)

    def _unpack(self, targets: list[ir.Expr], value: Root | None) -> None:
        temps: list[Root | None] = []
        starred = -1
        for position, target in enumerate(targets):
            inner = target
            if isinstance(target, ir.Star):
                starred, inner = position, target.value
            temps.append(inner.id if isinstance(inner, ir.Name) else self._temp())
        point = self._emit("unpack", None, (value,), raises=True)
        point.dsts, point.starred = tuple(temps), starred
        for target, temp in zip(targets, temps, strict=True):
            inner = target.value if isinstance(target, ir.Star) else target
            if not isinstance(inner, ir.Name):
                self._store(inner, temp)

    def _aug_assign(self, node: ir.AugAssign) -> None:
        value = self._expr(node.value)
        if isinstance(node.target, ir.Name):
            self._emit("aug", node.target.id, (node.target.id, value))
        elif isinstance(node.target, ir.Attr):
            base = self._expr(node.target.value)
            self._emit("aug_attr", None, (base, value), node.target.name, node)
        elif isinstance(node.target, ir.Sub):
            base = self._expr(node.target.value)
            self._expr(node.target.index)
            self._emit("aug_item", None, (base, value), node=node)

    def _return(self, node: ir.Return) -> None:
        value = self._expr(node.value) if node.value is not None else None
        self._line, self._col = node.line, node.col
        is_none = node.value is None or (isinstance(node.value, ir.Const) and node.value.value is None)
        self._emit("ret", RET, (value,), "none" if is_none else "")
        self._goto(self._route("return"))

    def _raise(self, node: ir.Raise) -> None:
        name = "*"
        if node.exc is not None:
            callee = node.exc.func if isinstance(node.exc, ir.Call) else node.exc
            path = path_of(callee)
            if isinstance(node.exc, ir.Call) and path is not None:
                # Making the exception is part of raising it: its arguments may raise something else, it may not.
                for part in (*node.exc.args, *(value for _, value in node.exc.keywords)):
                    self._operand(part)
            else:
                self._expr(node.exc)
            name = "".join(str(part) for part in path) if path else ""
        if node.cause is not None:
            self._expr(node.cause)
        self._line, self._col = node.line, node.col
        self._emit("raise", name=name, raises=True)
        self._tail = None

    def _assert(self, node: ir.Assert) -> None:
        yes, no = self._label(), self._label()
        self._test(node.test, yes, no)
        self._place(no)
        if node.msg is not None:
            self._expr(node.msg)
        self._emit("raise", name="AssertionError", raises=True)
        self._tail = None
        self._place(yes)

    def _del(self, node: ir.Del) -> None:
        for target in node.targets:
            if isinstance(target, ir.Name):
                self._emit("delete", target.id)
            elif isinstance(target, ir.Attr):
                base = self._expr(target.value)
                self._emit("store_attr", None, (base, None), target.name, target)
            elif isinstance(target, ir.Sub):
                base = self._expr(target.value)
                self._expr(target.index)
                self._emit("del_item", None, (base,), node=target)

    def _pass(self, node: ir.Stmt) -> None:
        """Nothing happens."""

    def _break(self, node: ir.Break) -> None:
        loop = self._loop()
        if loop is not None:
            self._goto(self._route(f"break{loop.number}", loop))

    def _continue(self, node: ir.Continue) -> None:
        loop = self._loop()
        if loop is not None:
            self._goto(self._route(f"continue{loop.number}", loop))

    def _import(self, node: ir.Import) -> None:
        self._emit("import", raises=True)
        for _, local in node.names:
            self._emit("move", local)

    def _if(self, node: ir.If) -> None:
        done = self._label()
        # An elif chain is walked here, not by recursion.
        link: ir.If | None = node
        while link is not None:
            yes, no = self._label(), self._label()
            self._line, self._col = link.line, link.col
            self._test(link.test, yes, no)
            self._place(yes)
            self._body(link.body)
            self._goto(done)
            self._place(no)
            if len(link.orelse) == 1 and isinstance(link.orelse[0], ir.If):
                link = link.orelse[0]
            else:
                self._body(link.orelse)
                link = None
        self._goto(done)
        self._place(done)

    def _new_loop(self, on_break: int, on_continue: int) -> _Loop:
        self._loops += 1
        return _Loop(self._loops, on_break, on_continue, self._depths())

    def _while(self, node: ir.While) -> None:
        head, body, otherwise, done = self._label(), self._label(), self._label(), self._label()
        self._place(head)
        self._loop_depth += 1
        first = len(self._points)
        self._test(node.test, body, otherwise)
        for point in self._points[first:]:
            if point.kind == "branch":
                point.name = "while"
        self._frames.append(self._new_loop(done, head))
        self._place(body)
        self._body(node.body)
        self._goto(head)
        self._frames.pop()
        self._loop_depth -= 1
        self._place(otherwise)
        self._body(node.orelse)
        self._goto(done)
        self._place(done)

    def _for(self, node: ir.For) -> None:
        iterable = self._expr(node.iter)
        iterator = self._temp()
        self._line, self._col = node.line, node.col
        self._emit("iter", iterator, (iterable,), "async" if node.is_async else "", node.iter, raises=True)
        head, otherwise, done = self._label(), self._label(), self._label()
        self._place(head)
        item: Root = node.target.id if isinstance(node.target, ir.Name) else self._temp()
        step = self._emit("step", item, (iterator,), "async" if node.is_async else "", node.iter, raises=True)
        step.alt = otherwise
        if not isinstance(node.target, ir.Name):
            self._store(node.target, item)
        self._frames.append(self._new_loop(done, head))
        self._loop_depth += 1
        self._body(node.body)
        self._loop_depth -= 1
        self._goto(head)
        self._frames.pop()
        self._place(otherwise)
        self._body(node.orelse)
        self._goto(done)
        self._place(done)

    def _try(self, node: ir.Try) -> None:
        number = len(self._tries) + 1
        self._tries[number] = node
        self._emit("try", name=str(number))
        if not node.final:
            self._try_except(node, number)
            return

        def final() -> None:
            with self._region(number, "final"):
                self._body(node.final)

        self._guarded(lambda: self._try_except(node, number), final, node.line, node.col)

    @contextmanager
    def _region(self, number: int, region: str) -> Iterator[None]:
        saved = self._in_tries
        self._in_tries = (*saved, (number, region))
        yield
        self._in_tries = saved

    def _guarded(self, body: Callable[[], None], final: Callable[[], None], line: int, col: int) -> None:
        """Build ``body`` so that every way out of it, an exception too, runs ``final`` first."""
        frame = _Finally(self._label(), depths=self._depths())
        outer = self._exc
        catch, point = self._new("catch")
        point.depths, point.next = frame.depths, frame.entry
        after = self._label()
        self._exc = catch
        self._frames.append(frame)
        body()
        self._frames.pop()
        if self._tail is not None:
            push = self._emit("push", name="fall")
            push.depths = frame.depths
            self._goto(frame.entry)
        self._exc = outer
        frame.table["fall"] = after
        self._place(frame.entry)
        self._pend_depth += 1
        self._line, self._col = line, col
        final()
        self._pend_depth -= 1
        if self._tail is not None:
            end = self._emit("end_finally", raises=True)
            end.table = frame.table
            self._tail = None
        self._place(after)

    def _try_except(self, node: ir.Try, number: int) -> None:
        if not node.handlers:
            with self._region(number, "body"):
                self._body(node.body)
            self._body(node.orelse)
            return
        _, dispatch = self._new("dispatch")
        index = len(self._points) - 1
        dispatch.exc, dispatch.depths = self._exc, self._depths()
        dispatch.line, dispatch.col = node.line, node.col
        done = self._label()
        outer = self._exc
        self._exc = index
        with self._region(number, "body"):
            self._body(node.body)
        self._exc = outer
        self._body(node.orelse)
        self._goto(done)
        self._handling_depth += 1
        for handler in node.handlers:
            self._line, self._col = handler.line, handler.col
            entry = self._label("caught")
            caught = self._points[entry]
            caught.dst = handler.name
            dispatch.handlers.append((handler, entry))
            self._tail = (caught, "next")
            with self._region(number, "handler"):
                self._body(handler.body)
            self._emit("uncaught")
            self._goto(done)
        self._handling_depth -= 1
        self._place(done)

    def _with(self, node: ir.With) -> None:
        self._with_items(node, 0)

    def _with_items(self, node: ir.With, position: int) -> None:
        if position == len(node.items):
            self._body(node.body)
            return
        item = node.items[position]
        how = "async" if node.is_async else ""
        context = self._temp()
        self._into(context, item.context)
        self._line, self._col = node.line, node.col
        value: Root = item.target.id if isinstance(item.target, ir.Name) else self._temp()
        self._emit("enter", value, (context,), how, item, raises=True)

        def body() -> None:
            if item.target is not None and not isinstance(item.target, ir.Name):
                self._store(item.target, value)
            self._with_items(node, position + 1)

        def final() -> None:
            self._emit("exit", None, (context,), how, item)

        self._guarded(body, final, node.line, node.col)

    def _match(self, node: ir.Match) -> None:
        subject = self._expr(node.subject)
        done = self._label()
        for case in node.cases:
            self._line = case.line
            following = self._label()
            for value in case.values:
                self._expr(value)
            if not case.irrefutable:
                branch = self._emit("branch")
                branch.test = Test("opaque")
                branch.alt = following
            for name in case.binds:
                self._emit("move", name, (subject,) if name in case.whole and subject is not None else ())
            if case.guard is not None:
                taken = self._label()
                self._test(case.guard, taken, following)
                self._place(taken)
            self._body(case.body)
            self._goto(done)
            self._tail = (self._points[following], "next")
            if case.irrefutable:
                self._tail = None
        self._goto(done)
        self._place(done)

    def _func_def(self, node: ir.FuncDef) -> None:
        function = node.function
        root: Root = function.name
        self._emit("closure", root, tuple(sorted(_captured(function, self._function))), node=function)
        for decorator in function.decorators:
            self._expr(decorator)
            if isinstance(decorator, ir.Call):
                continue
            self._emit("use", None, ())

    def _class_def(self, node: ir.ClassDef) -> None:
        self._emit("move", node.klass.name)

    # Tests.

    def _test(self, expr: ir.Expr, yes: int, no: int) -> None:
        """Evaluate a condition and go to one of two labels."""
        if isinstance(expr, ir.Not):
            self._test(expr.value, no, yes)
            return
        if isinstance(expr, ir.Bool):
            spine, left = [expr], expr.left
            while isinstance(left, ir.Bool) and left.op == expr.op:
                spine.append(left)
                left = left.left
            parts = [left, *(link.right for link in reversed(spine))]
            for part in parts[:-1]:
                middle = self._label()
                if expr.op == "and":
                    self._test(part, middle, no)
                else:
                    self._test(part, yes, middle)
                self._place(middle)
            self._test(parts[-1], yes, no)
            return
        if isinstance(expr, ir.Const):
            self._goto(yes if expr.value else no)
            return
        if isinstance(expr, ir.Walrus):
            self._expr(expr)
            self._branch(Test("truth", (expr.name,)), yes, no)
            return
        if isinstance(expr, ir.Cond):
            first, second = self._label(), self._label()
            self._test(expr.test, first, second)
            self._place(first)
            self._test(expr.body, yes, no)
            self._place(second)
            self._test(expr.orelse, yes, no)
            return
        if (
            isinstance(expr, ir.Compare)
            and len(expr.rights) == 1
            and (self._none_test(expr, yes, no) or self._identity_test(expr, yes, no))
        ):
            return
        path = path_of(expr)
        if path is not None:
            root = self._expr(expr)
            self._branch(Test("truth", path), yes, no, root)
            return
        pure = pure_text(expr)
        root = self._expr(expr)
        if pure is not None and pure[1]:
            self._branch(Test("predicate", text=pure[0], reads=pure[1]), yes, no)
        elif root is not None:
            self._branch(Test("truth", (root,)), yes, no)
        else:
            self._branch(Test("opaque"), yes, no)

    def _none_test(self, expr: ir.Compare, yes: int, no: int) -> bool:
        operator, right = expr.rights[0]
        left = expr.left
        if isinstance(left, ir.Const):
            left, right = right, left
        if not (isinstance(right, ir.Const) and right.value is None and operator in ("is", "is not", "==", "!=")):
            return False
        if operator in ("is not", "!="):
            yes, no = no, yes
        path: tuple[Root, ...] | None = path_of(left) if not isinstance(left, ir.Walrus) else None
        root = self._expr(left)
        if isinstance(left, ir.Walrus):
            path = (left.name,)
        if path is None and root is not None:
            path = (root,)
        self._branch(Test("none", path) if path is not None else Test("opaque"), yes, no, root)
        return True

    def _identity_test(self, expr: ir.Compare, yes: int, no: int) -> bool:
        """``a is b`` of two paths, and ``"a" in locals()``."""
        operator, right = expr.rights[0]
        if (
            operator in ("in", "not in")
            and isinstance(expr.left, ir.Const)
            and isinstance(expr.left.value, str)
            and isinstance(right, ir.Call)
            and path_of(right.func) in (("locals",), ("vars",), ("dir",))
        ):
            ways = (yes, no) if operator == "in" else (no, yes)
            self._branch(Test("bound", (expr.left.value,)), *ways)
            return True
        left, other = path_of(expr.left), path_of(right)
        if operator not in ("is", "is not", "==", "!=") or left is None or other is None:
            return False
        self._expr(expr.left)
        self._expr(right)
        names = sorted((".".join(map(str, left)), ".".join(map(str, other))))
        test = Test("same", left, f"is {names}", frozenset((str(left[0]), str(other[0]))), other)
        self._branch(test, *((yes, no) if operator in ("is", "==") else (no, yes)))
        return True

    def _branch(self, test: Test, yes: int, no: int, root: Root | None = None) -> None:
        point = self._emit("branch", None, (root,) if root is not None else ())
        point.test, point.next, point.alt = test, yes, no
        self._tail = None

    # Expressions: each returns the root that holds the value, or None for a value of no interest.

    def _expr(self, expr: ir.Expr, dst: Root | None = None) -> Root | None:
        return _EXPRESSIONS[type(expr)](self, expr, dst)

    def _at(self, expr: ir.Expr) -> None:
        if expr.line:
            self._line, self._col = expr.line, expr.col

    def _name(self, expr: ir.Name, dst: Root | None) -> Root | None:
        return expr.id

    def _const(self, expr: ir.Const, dst: Root | None) -> Root | None:
        return None

    def _attr(self, expr: ir.Attr, dst: Root | None) -> Root | None:
        base = self._expr(expr.value)
        if base is None:
            return None
        dst = dst if dst is not None else self._temp()
        self._at(expr)
        self._emit("attr", dst, (base,), expr.name, expr, raises=True)
        return dst

    def _sub(self, expr: ir.Sub, dst: Root | None) -> Root | None:
        base = self._expr(expr.value)
        self._expr(expr.index)
        dst = dst if dst is not None else self._temp()
        self._at(expr)
        self._emit("item", dst, (base,), node=expr.index, raises=True)
        return dst

    def _star(self, expr: ir.Star, dst: Root | None) -> Root | None:
        return self._expr(expr.value)

    def _call(self, expr: ir.Call, dst: Root | None) -> Root | None:
        func = expr.func
        receiver = self._expr(func.value) if isinstance(func, ir.Attr) else self._expr(func)
        roots = [receiver, *(self._operand(arg) for arg in (*expr.args, *(value for _, value in expr.keywords)))]
        dst = dst if dst is not None else self._temp()
        self._at(expr)
        name = func.name if isinstance(func, ir.Attr) else ""
        self._emit("call", dst, tuple(roots), name, expr, raises=True)
        return dst

    def _operand(self, expr: ir.Expr) -> Root | None:
        """An argument, without the star before it."""
        return self._expr(expr.value if isinstance(expr, ir.Star) else expr)

    def _await(self, expr: ir.Await, dst: Root | None) -> Root | None:
        value = self._expr(expr.value)
        dst = dst if dst is not None else self._temp()
        self._at(expr)
        self._emit("await", dst, (value,), node=expr, raises=True)
        return dst

    def _yield(self, expr: ir.Yield, dst: Root | None) -> Root | None:
        value = self._expr(expr.value) if expr.value is not None else None
        dst = dst if dst is not None else self._temp()
        self._at(expr)
        self._emit("yield", dst, (value,), "from" if expr.delegates else "", expr, raises=True)
        return dst

    def _op(self, expr: ir.Op, dst: Root | None) -> Root | None:
        roots = [root for part in expr.parts if (root := self._expr(part)) is not None]
        if roots:
            self._at(expr)
            self._emit("use", None, tuple(roots), raises=True)
        return None

    def _compare(self, expr: ir.Compare, dst: Root | None) -> Root | None:
        # Comparing is no use of an object: neither identity nor a test of its class tells of a fault.
        self._expr(expr.left)
        for _, right in expr.rights:
            self._expr(right)
        return None

    def _not(self, expr: ir.Not, dst: Root | None) -> Root | None:
        self._expr(expr.value)
        return None

    def _bool(self, expr: ir.Bool, dst: Root | None) -> Root | None:
        dst = self._temp()
        spine: list[ir.Bool] = []
        left: ir.Expr = expr
        while isinstance(left, ir.Bool):
            spine.append(left)
            left = left.left
        self._into(dst, left)
        path = path_of(left)
        for link in reversed(spine):
            more, done = self._label(), self._label()
            test = Test("truth", path if path is not None else (dst,))
            self._branch(test, *((done, more) if link.op == "or" else (more, done)))
            self._place(more)
            self._into(dst, link.right)
            self._goto(done)
            self._place(done)
            path = None
        return dst

    def _cond(self, expr: ir.Cond, dst: Root | None) -> Root | None:
        dst = dst if isinstance(dst, int) else self._temp()
        yes, no, done = self._label(), self._label(), self._label()
        self._test(expr.test, yes, no)
        for label, value in ((yes, expr.body), (no, expr.orelse)):
            self._place(label)
            self._into(dst, value)
            self._goto(done)
        self._place(done)
        return dst

    def _walrus(self, expr: ir.Walrus, dst: Root | None) -> Root | None:
        self._into(expr.name, expr.value)
        return expr.name

    def _seq(self, expr: ir.Seq, dst: Root | None) -> Root | None:
        roots = [self._operand(item) for item in expr.items]
        dst = self._temp()
        kind = expr.kind if not any(isinstance(item, ir.Star) for item in expr.items) else "spread"
        self._at(expr)
        self._emit("build", dst, tuple(roots), kind, expr)
        return dst

    def _dict(self, expr: ir.DictLit, dst: Root | None) -> Root | None:
        roots = []
        for key, value in expr.items:
            if key is not None:
                self._expr(key)
            roots.append(self._expr(value))
        dst = self._temp()
        self._at(expr)
        spread = any(key is None for key, _ in expr.items)
        self._emit("build", dst, tuple(roots), "spread" if spread else "dict", expr)
        return dst

    def _comp(self, expr: ir.Comp, dst: Root | None) -> Root | None:
        if expr.kind == "generator":
            return self._generator(expr)
        result = self._temp()
        self._at(expr)
        self._emit("build", result, (), expr.kind, expr)
        self._comp_for(expr, 0, result)
        return result

    def _comp_for(self, expr: ir.Comp, depth: int, result: Root) -> None:
        if depth == len(expr.fors):
            if expr.key is not None:
                self._expr(expr.key)
            value = self._expr(expr.elt)
            self._emit("add", None, (result, value))
            return
        part = expr.fors[depth]
        iterable = self._expr(part.iter)
        iterator = self._temp()
        how = "async" if part.is_async else ""
        self._emit("iter", iterator, (iterable,), how, part.iter, raises=True)
        head, done = self._label(), self._label()
        self._place(head)
        item: Root = part.target.id if isinstance(part.target, ir.Name) else self._temp()
        step = self._emit("step", item, (iterator,), how, part.iter, raises=True)
        step.alt = done
        if not isinstance(part.target, ir.Name):
            self._store(part.target, item)
        for condition in part.ifs:
            wanted = self._label()
            self._test(condition, wanted, head)
            self._place(wanted)
        self._comp_for(expr, depth + 1, result)
        self._goto(head)
        self._place(done)

    def _generator(self, expr: ir.Comp) -> Root | None:
        """A generator expression runs later, if at all: only its first iterable is evaluated here."""
        first = self._expr(expr.fors[0].iter)
        reads: dict[str, None] = {}
        inner = [expr.elt, *(part.iter for part in expr.fors[1:])]
        inner += [condition for part in expr.fors for condition in part.ifs]
        for part_ in inner + ([expr.key] if expr.key is not None else []):
            for name in names_read(part_):
                reads[name] = None
        dst = self._temp()
        self._at(expr)
        self._emit("closure", dst, (first, *reads), "generator", expr)
        return dst

    def _lambda(self, expr: ir.Lambda, dst: Root | None) -> Root | None:
        dst = self._temp()
        self._at(expr)
        self._emit("closure", dst, tuple(sorted(_captured(expr.function, self._function))), node=expr.function)
        return dst


def _captured(function: ir.Function, outer: ir.Function) -> set[str]:
    """Variables of the function around that a nested one reads."""
    found: set[str] = set()
    own = function.assigned - function.outer
    for expr in walk_expressions(function.body):
        if isinstance(expr, ir.Name) and expr.id not in own:
            found.add(expr.id)
    for param in function.params:
        if param.default is not None:
            found.update(names_read(param.default))
    for inner in function.nested:
        found |= _captured(inner, function) - own
    return found & (outer.assigned | {name for name in found if "'" in name})


def _tested_names(function: ir.Function) -> set[str]:
    """Variables whose truth or identity some condition asks for."""
    found: set[str] = set()

    def visit(test: ir.Expr) -> None:
        if isinstance(test, ir.Name):
            found.add(test.id)
        elif isinstance(test, (ir.Not, ir.Walrus)):
            visit(test.value)
        elif isinstance(test, ir.Bool):
            visit(test.left)
            visit(test.right)
        elif isinstance(test, ir.Compare):
            for part in (test.left, *(right for _, right in test.rights)):
                visit(part)

    for stmt in walk_statements(function.body):
        if isinstance(stmt, (ir.If, ir.While, ir.Assert)):
            visit(stmt.test)
        if isinstance(stmt, ir.Match):
            for case in stmt.cases:
                if case.guard is not None:
                    visit(case.guard)
    for expr in walk_expressions(function.body):
        if isinstance(expr, ir.Cond):
            visit(expr.test)
        elif isinstance(expr, (ir.Bool, ir.Not)):
            visit(expr)
    return found


_STATEMENTS: dict[type[ir.Stmt], Callable[..., None]] = {
    ir.ExprStmt: _Builder._expr_stmt,
    ir.Assign: _Builder._assign,
    ir.AugAssign: _Builder._aug_assign,
    ir.Return: _Builder._return,
    ir.Raise: _Builder._raise,
    ir.Assert: _Builder._assert,
    ir.Del: _Builder._del,
    ir.Pass: _Builder._pass,
    ir.Global: _Builder._pass,
    ir.Break: _Builder._break,
    ir.Continue: _Builder._continue,
    ir.Import: _Builder._import,
    ir.If: _Builder._if,
    ir.While: _Builder._while,
    ir.For: _Builder._for,
    ir.Try: _Builder._try,
    ir.With: _Builder._with,
    ir.Match: _Builder._match,
    ir.FuncDef: _Builder._func_def,
    ir.ClassDef: _Builder._class_def,
}

_EXPRESSIONS: dict[type[ir.Expr], Callable[..., Root | None]] = {
    ir.Name: _Builder._name,
    ir.Const: _Builder._const,
    ir.Attr: _Builder._attr,
    ir.Sub: _Builder._sub,
    ir.Star: _Builder._star,
    ir.Call: _Builder._call,
    ir.Await: _Builder._await,
    ir.Yield: _Builder._yield,
    ir.Op: _Builder._op,
    ir.Compare: _Builder._compare,
    ir.Not: _Builder._not,
    ir.Bool: _Builder._bool,
    ir.Cond: _Builder._cond,
    ir.Walrus: _Builder._walrus,
    ir.Seq: _Builder._seq,
    ir.DictLit: _Builder._dict,
    ir.Comp: _Builder._comp,
    ir.Lambda: _Builder._lambda,
}
