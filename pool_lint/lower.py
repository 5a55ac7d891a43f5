"""Lower a libcst module to the small tree of `ir.py`, with lines and columns."""

from __future__ import annotations

import ast
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

import libcst as cst
from libcst._nodes.internal import CodegenState

from pool_lint import ir

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import _GeneratorContextManager
    from typing import Literal


class _Marks(CodegenState):
    """Remembers before which token each node begins.

    libcst's own position provider builds two objects per node and costs two to three parses; code generation
    alone costs a third of one, and the places of the nodes asked about can be counted from its tokens.
    """

    def __init__(self, module: cst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.marks: dict[cst.CSTNode, int] = {}

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.marks[node] = len(self.tokens)

    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _GeneratorContextManager[None]:
        self.marks[node] = len(self.tokens)
        return cast("_GeneratorContextManager[None]", _NOTHING)

    def places(self) -> list[tuple[int, int]]:
        """The (line, column) before each token, and one past the last."""
        line, col = 1, 0
        places: list[tuple[int, int]] = []
        add = places.append
        for token in self.tokens:
            add((line, col))
            if "\n" in token or "\r" in token:
                unified = token.replace("\r\n", "\n").replace("\r", "\n")
                line += unified.count("\n")
                col = len(unified) - unified.rindex("\n") - 1
            else:
                col += len(token)
        add((line, col))
        return places


# What libcst enters around each node; its own is a generator made anew for each.
_NOTHING = nullcontext()


def lower_module(module: cst.Module) -> ir.ModuleTree:
    """Return the tree of a whole module.

    Raises RecursionError for expressions nested deeper than the interpreter's own limit.
    """
    return _Lowering(module).module()


class _Lowering:
    def __init__(self, module: cst.Module) -> None:
        state = _Marks(module)
        # libcst has no public hook for cheap positions.
        module._codegen(state)
        self._module = module
        self._marks = state.marks
        self._places = state.places()
        self._functions: list[ir.Function] = []
        self._classes: list[ir.Klass] = []
        self._function: ir.Function | None = None
        self._klass: ir.Klass | None = None
        self._prefix = ""
        self._renamed: list[dict[str, str]] = []
        self._comprehensions = 0

    def module(self) -> ir.ModuleTree:
        body = self._body(self._module.body)
        return ir.ModuleTree(body, self._functions, self._classes)

    # Statements.

    def _at(self, node: cst.CSTNode) -> tuple[int, int]:
        return self._places[self._marks.get(node, 0)]

    def _body(self, nodes: Sequence[cst.CSTNode]) -> list[ir.Stmt]:
        out: list[ir.Stmt] = []
        for node in nodes:
            if isinstance(node, cst.SimpleStatementLine):
                for small in node.body:
                    self._statement(small, out)
            else:
                self._statement(node, out)
        return out

    def _suite(self, node: cst.BaseSuite) -> list[ir.Stmt]:
        if isinstance(node, cst.SimpleStatementSuite):
            out: list[ir.Stmt] = []
            for small in node.body:
                self._statement(small, out)
            return out
        return self._body(node.body)

    def _statement(self, node: cst.CSTNode, out: list[ir.Stmt]) -> None:
        method = _STATEMENTS.get(type(node))
        if method is None:
            raise AssertionError(type(node))
        line, col = self._at(node)
        out.append(method(self, node, line, col))

    def _expr_stmt(self, node: cst.Expr, line: int, col: int) -> ir.Stmt:
        return ir.ExprStmt(line, col, self.expr(node.value))

    def _assign(self, node: cst.Assign, line: int, col: int) -> ir.Stmt:
        value = self.expr(node.value)
        return ir.Assign(line, col, [self._target(target.target) for target in node.targets], value)

    def _ann_assign(self, node: cst.AnnAssign, line: int, col: int) -> ir.Stmt:
        annotation = self.expr(node.annotation.annotation)
        value = self.expr(node.value) if node.value is not None else None
        target = self._target(node.target) if value is not None else self.expr(node.target)
        return ir.Assign(line, col, [target], value, annotation)

    def _aug_assign(self, node: cst.AugAssign, line: int, col: int) -> ir.Stmt:
        op = type(node.operator).__name__
        return ir.AugAssign(line, col, self._target(node.target), op, self.expr(node.value))

    def _return(self, node: cst.Return, line: int, col: int) -> ir.Stmt:
        return ir.Return(line, col, self.expr(node.value) if node.value is not None else None)

    def _raise(self, node: cst.Raise, line: int, col: int) -> ir.Stmt:
        exc = self.expr(node.exc) if node.exc is not None else None
        cause = self.expr(node.cause.item) if node.cause is not None else None
        return ir.Raise(line, col, exc, cause)

    def _assert(self, node: cst.Assert, line: int, col: int) -> ir.Stmt:
        return ir.Assert(line, col, self.expr(node.test), self.expr(node.msg) if node.msg is not None else None)

    def _del(self, node: cst.Del, line: int, col: int) -> ir.Stmt:
        target = self._target(node.target)
        return ir.Del(line, col, target.items if isinstance(target, ir.Seq) else [target])

    def _pass(self, node: cst.CSTNode, line: int, col: int) -> ir.Stmt:
        return ir.Pass(line, col)

    def _break(self, node: cst.Break, line: int, col: int) -> ir.Stmt:
        return ir.Break(line, col)

    def _continue(self, node: cst.Continue, line: int, col: int) -> ir.Stmt:
        return ir.Continue(line, col)

    def _import(self, node: cst.Import, line: int, col: int) -> ir.Stmt:
        names = []
        for alias in node.names:
            dotted = _dotted(alias.name)
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                names.append((dotted, alias.asname.name.value))
            else:
                top = dotted.split(".")[0]
                names.append((top, top))
        self._bind(*(local for _, local in names))
        return ir.Import(line, col, names)

    def _import_from(self, node: cst.ImportFrom, line: int, col: int) -> ir.Stmt:
        base = "." * len(node.relative) + (_dotted(node.module) if node.module is not None else "")
        names = []
        if not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                name = _dotted(alias.name)
                local = name
                if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                    local = alias.asname.name.value
                joint = "" if base.endswith(".") else "."
                names.append((f"{base}{joint}{name}", local))
        self._bind(*(local for _, local in names))
        return ir.Import(line, col, names)

    def _global(self, node: cst.Global | cst.Nonlocal, line: int, col: int) -> ir.Stmt:
        names = [item.name.value for item in node.names]
        if self._function is not None:
            self._function.outer.update(names)
        return ir.Global(line, col, names, isinstance(node, cst.Nonlocal))

    def _if(self, node: cst.If, line: int, col: int) -> ir.Stmt:
        # A long elif chain is a deep tree; it is lowered from its end so that depth costs no recursion.
        chain = [node]
        while isinstance(chain[-1].orelse, cst.If):
            chain.append(chain[-1].orelse)
        last = chain[-1].orelse
        lowered = [(link, self.expr(link.test), self._suite(link.body)) for link in chain]
        orelse = self._suite(last.body) if isinstance(last, cst.Else) else []
        for link, test, body in reversed(lowered):
            at = self._at(link)
            orelse = [ir.If(at[0], at[1], test, body, orelse)]
        return orelse[0]

    def _while(self, node: cst.While, line: int, col: int) -> ir.Stmt:
        test, body = self.expr(node.test), self._suite(node.body)
        return ir.While(line, col, test, body, self._suite(node.orelse.body) if node.orelse is not None else [])

    def _for(self, node: cst.For, line: int, col: int) -> ir.Stmt:
        iterable, target = self.expr(node.iter), self._target(node.target)
        body = self._suite(node.body)
        orelse = self._suite(node.orelse.body) if node.orelse is not None else []
        return ir.For(line, col, target, iterable, body, orelse, node.asynchronous is not None)

    def _try(self, node: cst.Try | cst.TryStar, line: int, col: int) -> ir.Stmt:
        body = self._suite(node.body)
        handlers = []
        for handler in node.handlers:
            kind = self.expr(handler.type) if handler.type is not None else None
            name = (
                handler.name.name.value
                if handler.name is not None and isinstance(handler.name.name, cst.Name)
                else None
            )
            if name is not None:
                self._bind(name)
            at = self._at(handler)
            handlers.append(ir.Handler(at[0], at[1], kind, name, self._suite(handler.body)))
        orelse = self._suite(node.orelse.body) if node.orelse is not None else []
        final = self._suite(node.finalbody.body) if node.finalbody is not None else []
        return ir.Try(line, col, body, handlers, orelse, final, isinstance(node, cst.TryStar))

    def _with(self, node: cst.With, line: int, col: int) -> ir.Stmt:
        items = [
            ir.WithItem(self.expr(item.item), self._target(item.asname.name) if item.asname is not None else None)
            for item in node.items
        ]
        return ir.With(line, col, items, self._suite(node.body), node.asynchronous is not None)

    def _match(self, node: cst.Match, line: int, col: int) -> ir.Stmt:
        subject = self.expr(node.subject)
        cases = []
        for case in node.cases:
            values: list[ir.Expr] = []
            binds: list[str] = []
            self._pattern(case.pattern, values, binds)
            whole = _whole_names(case.pattern)
            self._bind(*binds)
            guard = self.expr(case.guard) if case.guard is not None else None
            irrefutable = guard is None and _is_irrefutable(case.pattern)
            cases.append(ir.Case(self._at(case)[0], values, binds, whole, irrefutable, guard, self._suite(case.body)))
        return ir.Match(line, col, subject, cases)

    def _pattern(self, node: cst.MatchPattern, values: list[ir.Expr], binds: list[str]) -> None:
        if isinstance(node, cst.MatchValue):
            values.append(self.expr(node.value))
        elif isinstance(node, cst.MatchAs):
            if node.pattern is not None:
                self._pattern(node.pattern, values, binds)
            if node.name is not None:
                binds.append(node.name.value)
        elif isinstance(node, cst.MatchOr):
            for element in node.patterns:
                self._pattern(element.pattern, values, binds)
        elif isinstance(node, cst.MatchClass):
            values.append(self.expr(node.cls))
            for positional in node.patterns:
                self._pattern(positional.value, values, binds)
            for keyword in node.kwds:
                self._pattern(keyword.pattern, values, binds)
        elif isinstance(node, cst.MatchMapping):
            for pair in node.elements:
                self._pattern(pair.pattern, values, binds)
            if node.rest is not None:
                binds.append(node.rest.value)
        elif isinstance(node, cst.MatchSequence):
            for member in node.patterns:
                if isinstance(member, cst.MatchStar):
                    if member.name is not None:
                        binds.append(member.name.value)
                else:
                    self._pattern(member.value, values, binds)

    def _function_def(self, node: cst.FunctionDef, line: int, col: int) -> ir.Stmt:
        decorators = [self.expr(decorator.decorator) for decorator in node.decorators]
        self._bind(node.name.value)
        function = self._make_function(
            node.name.value, line, col, node.params, node.returns, decorators, is_async=node.asynchronous is not None
        )
        self._fill(function, lambda: self._suite(node.body))
        if function.owner is not None:
            function.owner.methods[function.name] = function
        return ir.FuncDef(line, col, function)

    def _class_def(self, node: cst.ClassDef, line: int, col: int) -> ir.Stmt:
        self._bind(node.name.value)
        bases = [self.expr(arg.value) for arg in node.bases]
        decorators = [self.expr(decorator.decorator) for decorator in node.decorators]
        klass = ir.Klass(
            node.name.value, self._prefix + node.name.value, line, col, bases, decorators, [], self._function
        )
        for arg in node.keywords:
            if arg.keyword is not None and arg.keyword.value == "metaclass":
                klass.metaclass = self.expr(arg.value)
        self._classes.append(klass)
        saved = self._klass, self._prefix
        self._klass, self._prefix = klass, klass.qualname + "."
        klass.body = self._suite(node.body)
        self._klass, self._prefix = saved
        return ir.ClassDef(line, col, klass)

    # Functions.

    def _make_function(
        self,
        name: str,
        line: int,
        col: int,
        params: cst.Parameters,
        returns: cst.Annotation | None,
        decorators: list[ir.Expr],
        *,
        is_async: bool,
    ) -> ir.Function:
        lowered = [self._param(param, "positional") for param in (*params.posonly_params, *params.params)]
        if isinstance(params.star_arg, cst.Param):
            lowered.append(self._param(params.star_arg, "star"))
        lowered.extend(self._param(param, "keyword") for param in params.kwonly_params)
        if params.star_kwarg is not None:
            lowered.append(self._param(params.star_kwarg, "kwargs"))
        function = ir.Function(
            name,
            self._prefix + name,
            line,
            col,
            lowered,
            self.expr(returns.annotation) if returns is not None else None,
            [],
            decorators,
            is_async,
            self._klass,
            self._function,
        )
        function.assigned.update(param.name for param in lowered)
        self._functions.append(function)
        if self._function is not None:
            self._function.nested.append(function)
        return function

    def _param(self, node: cst.Param, kind: Literal["positional", "star", "keyword", "kwargs"]) -> ir.Param:
        annotation = self.expr(node.annotation.annotation) if node.annotation is not None else None
        default = self.expr(node.default) if node.default is not None else None
        return ir.Param(node.name.value, annotation, default, kind)

    def _fill(self, function: ir.Function, body: Callable[[], list[ir.Stmt]]) -> None:
        saved = self._function, self._klass, self._prefix
        self._function, self._klass, self._prefix = function, None, function.qualname + "."
        self._renamed.append({param.name: param.name for param in function.params})
        function.body = body()
        self._renamed.pop()
        self._function, self._klass, self._prefix = saved

    def _bind(self, *names: str) -> None:
        if self._function is not None and self._klass is None:
            self._function.assigned.update(names)

    # Expressions.

    def expr(self, node: cst.CSTNode) -> ir.Expr:
        method = _EXPRESSIONS.get(type(node))
        if method is None:
            raise AssertionError(type(node))
        at = self._marks.get(node)
        line, col = self._places[at] if at is not None else (0, 0)
        return method(self, node, line, col)

    def _target(self, node: cst.CSTNode) -> ir.Expr:
        target = self.expr(node)
        self._bind_target(target)
        return target

    def _bind_target(self, target: ir.Expr) -> None:
        if isinstance(target, ir.Name):
            self._bind(target.id)
        elif isinstance(target, ir.Seq):
            for item in target.items:
                self._bind_target(item)
        elif isinstance(target, ir.Star):
            self._bind_target(target.value)

    def _name(self, node: cst.Name, line: int, col: int) -> ir.Expr:
        name = node.value
        if name in _CONSTANTS:
            return ir.Const(line, col, _CONSTANTS[name])
        for scope in reversed(self._renamed):
            if name in scope:
                name = scope[name]
                break
        return ir.Name(line, col, name)

    def _literal(self, node: cst.Integer | cst.Float | cst.Imaginary, line: int, col: int) -> ir.Expr:
        return ir.Const(line, col, node.evaluated_value)

    def _string(self, node: cst.SimpleString | cst.ConcatenatedString, line: int, col: int) -> ir.Expr:
        if isinstance(node, cst.SimpleString):
            return ir.Const(line, col, _string_value(node.value))
        parts: list[ir.Expr] = []
        piece: cst.CSTNode = node
        while isinstance(piece, cst.ConcatenatedString):
            parts.append(self.expr(piece.left))
            piece = piece.right
        parts.append(self.expr(piece))
        if all(isinstance(part, ir.Const) for part in parts):
            return ir.Const(line, col, "".join(str(part.value) for part in parts if isinstance(part, ir.Const)))
        return ir.Op(line, col, parts, "fstring")

    def _fstring(self, node: cst.FormattedString | cst.TemplatedString, line: int, col: int) -> ir.Expr:
        parts: list[ir.Expr] = []
        for part in node.parts:
            # By attributes, not by classes: those of template strings are not in every libcst.
            if hasattr(part, "expression") and hasattr(part, "format_spec"):
                parts.append(self.expr(part.expression))
                if part.format_spec is not None:
                    parts.extend(self.expr(spec.expression) for spec in part.format_spec if hasattr(spec, "expression"))
            elif hasattr(part, "value"):
                at = self._at(part)
                parts.append(ir.Const(at[0], at[1], part.value))
        return ir.Op(line, col, parts, "fstring")

    def _attribute(self, node: cst.Attribute, line: int, col: int) -> ir.Expr:
        return ir.Attr(line, col, self.expr(node.value), node.attr.value)

    def _subscript(self, node: cst.Subscript, line: int, col: int) -> ir.Expr:
        value = self.expr(node.value)
        parts = [self._slice(element.slice, line, col) for element in node.slice]
        index = parts[0] if len(parts) == 1 else ir.Seq(line, col, "tuple", parts)
        return ir.Sub(line, col, value, index)

    def _slice(self, node: cst.BaseSlice, line: int, col: int) -> ir.Expr:
        if isinstance(node, cst.Index):
            value = self.expr(node.value)
            return ir.Star(line, col, value) if node.star is not None else value
        assert isinstance(node, cst.Slice)
        parts = [self.expr(part) for part in (node.lower, node.upper, node.step) if part is not None]
        return ir.Op(line, col, parts, "slice")

    def _starred(self, node: cst.StarredElement, line: int, col: int) -> ir.Expr:
        return ir.Star(line, col, self.expr(node.value))

    def _call(self, node: cst.Call, line: int, col: int) -> ir.Expr:
        func = self.expr(node.func)
        args: list[ir.Expr] = []
        keywords: list[tuple[str | None, ir.Expr]] = []
        for arg in node.args:
            value = self.expr(arg.value)
            if arg.star == "*":
                args.append(ir.Star(value.line, value.col, value))
            elif arg.star == "**":
                keywords.append((None, value))
            elif arg.keyword is not None:
                keywords.append((arg.keyword.value, value))
            else:
                args.append(value)
        return ir.Call(line, col, func, args, keywords)

    def _await(self, node: cst.Await, line: int, col: int) -> ir.Expr:
        return ir.Await(line, col, self.expr(node.expression))

    def _yield(self, node: cst.Yield, line: int, col: int) -> ir.Expr:
        if self._function is not None:
            self._function.is_generator = True
        if isinstance(node.value, cst.From):
            return ir.Yield(line, col, self.expr(node.value.item), delegates=True)
        return ir.Yield(line, col, self.expr(node.value) if node.value is not None else None, delegates=False)

    def _binary(self, node: cst.BinaryOperation, line: int, col: int) -> ir.Expr:
        parts: list[ir.Expr] = []
        left: cst.BaseExpression = node
        while isinstance(left, cst.BinaryOperation):
            parts.append(self.expr(left.right))
            left = left.left
        parts.append(self.expr(left))
        parts.reverse()
        return ir.Op(line, col, parts, "binary", type(node.operator).__name__)

    def _boolean(self, node: cst.BooleanOperation, line: int, col: int) -> ir.Expr:
        spine: list[cst.BooleanOperation] = []
        left: cst.BaseExpression = node
        while isinstance(left, cst.BooleanOperation):
            spine.append(left)
            left = left.left
        result = self.expr(left)
        for link in reversed(spine):
            right = self.expr(link.right)
            result = ir.Bool(line, col, "and" if isinstance(link.operator, cst.And) else "or", result, right)
        return result

    def _unary(self, node: cst.UnaryOperation, line: int, col: int) -> ir.Expr:
        value = self.expr(node.expression)
        if isinstance(node.operator, cst.Not):
            return ir.Not(line, col, value)
        if (
            isinstance(node.operator, cst.Minus)
            and isinstance(value, ir.Const)
            and isinstance(value.value, (int, float))
        ):
            return ir.Const(line, col, -value.value)
        return ir.Op(line, col, [value], "unary", type(node.operator).__name__)

    def _compare(self, node: cst.Comparison, line: int, col: int) -> ir.Expr:
        rights = [(_COMPARISONS[type(part.operator)], self.expr(part.comparator)) for part in node.comparisons]
        return ir.Compare(line, col, self.expr(node.left), rights)

    def _if_exp(self, node: cst.IfExp, line: int, col: int) -> ir.Expr:
        return ir.Cond(line, col, self.expr(node.test), self.expr(node.body), self.expr(node.orelse))

    def _walrus(self, node: cst.NamedExpr, line: int, col: int) -> ir.Expr:
        name = node.target.value if isinstance(node.target, cst.Name) else "_"
        self._bind(name)
        return ir.Walrus(line, col, name, self.expr(node.value))

    def _tuple(self, node: cst.Tuple, line: int, col: int) -> ir.Expr:
        return ir.Seq(line, col, "tuple", self._elements(node.elements))

    def _list(self, node: cst.List, line: int, col: int) -> ir.Expr:
        return ir.Seq(line, col, "list", self._elements(node.elements))

    def _set(self, node: cst.Set, line: int, col: int) -> ir.Expr:
        return ir.Seq(line, col, "set", self._elements(node.elements))

    def _elements(self, elements: Sequence[cst.BaseElement]) -> list[ir.Expr]:
        out: list[ir.Expr] = []
        for element in elements:
            value = self.expr(element.value)
            out.append(ir.Star(value.line, value.col, value) if isinstance(element, cst.StarredElement) else value)
        return out

    def _dict(self, node: cst.Dict, line: int, col: int) -> ir.Expr:
        items: list[tuple[ir.Expr | None, ir.Expr]] = []
        for element in node.elements:
            key = self.expr(element.key) if isinstance(element, cst.DictElement) else None
            items.append((key, self.expr(element.value)))
        return ir.DictLit(line, col, items)

    def _comprehension(self, node: cst.BaseComp, line: int, col: int) -> ir.Expr:
        self._comprehensions += 1
        scope: dict[str, str] = {}
        fors: list[ir.CompFor] = []
        part: cst.CompFor | None = node.for_in
        depth = 0
        while part is not None:
            iterable = self.expr(part.iter)
            for name in _target_names(part.target):
                scope[name] = f"{name}'{self._comprehensions}"
            if depth == 0:
                self._renamed.append(scope)
                depth = 1
            target = self._target(part.target)
            ifs = [self.expr(test.test) for test in part.ifs]
            fors.append(ir.CompFor(target, iterable, ifs, part.asynchronous is not None))
            part = part.inner_for_in
        key = self.expr(node.key) if isinstance(node, cst.DictComp) else None
        assert isinstance(node, (cst.DictComp, cst.BaseSimpleComp))
        elt = self.expr(node.value if isinstance(node, cst.DictComp) else node.elt)
        self._renamed.pop()
        return ir.Comp(line, col, _COMPREHENSIONS[type(node)], key, elt, fors)

    def _lambda(self, node: cst.Lambda, line: int, col: int) -> ir.Expr:
        saved = self._klass
        self._klass = None
        function = self._make_function("<lambda>", line, col, node.params, None, [], is_async=False)
        self._klass = saved

        def body() -> list[ir.Stmt]:
            value = self.expr(node.body)
            return [ir.Return(value.line, value.col, value)]

        self._fill(function, body)
        return ir.Lambda(line, col, function)

    def _ellipsis(self, node: cst.Ellipsis, line: int, col: int) -> ir.Expr:
        return ir.Const(line, col, ...)

    def _from_target_element(self, node: cst.Element, line: int, col: int) -> ir.Expr:
        return self.expr(node.value)


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def _string_value(source: str) -> object:
    try:
        value = ast.literal_eval(source)
    except (SyntaxError, ValueError):
        return source
    return value if isinstance(value, str) else source


def _target_names(node: cst.CSTNode) -> list[str]:
    if isinstance(node, cst.Name):
        return [node.value]
    if isinstance(node, (cst.Tuple, cst.List)):
        return [name for element in node.elements for name in _target_names(element.value)]
    if isinstance(node, cst.StarredElement):
        return _target_names(node.value)
    return []


def _is_irrefutable(pattern: cst.MatchPattern) -> bool:
    if isinstance(pattern, cst.MatchAs):
        return pattern.pattern is None or _is_irrefutable(pattern.pattern)
    return isinstance(pattern, cst.MatchOr) and any(_is_irrefutable(part.pattern) for part in pattern.patterns)


def _whole_names(pattern: cst.MatchPattern) -> list[str]:
    """Names bound to the subject itself."""
    names = []
    while isinstance(pattern, cst.MatchAs):
        if pattern.name is not None:
            names.append(pattern.name.value)
        if pattern.pattern is None:
            break
        pattern = pattern.pattern
    return names


_CONSTANTS: dict[str, object] = {"None": None, "True": True, "False": False}

_COMPARISONS: dict[type[cst.CSTNode], str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}

_COMPREHENSIONS: dict[type[cst.CSTNode], Literal["list", "set", "dict", "generator"]] = {
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.DictComp: "dict",
    cst.GeneratorExp: "generator",
}

_STATEMENTS: dict[type[cst.CSTNode], Callable[[_Lowering, Any, int, int], ir.Stmt]] = {
    cst.Expr: _Lowering._expr_stmt,
    cst.Assign: _Lowering._assign,
    cst.AnnAssign: _Lowering._ann_assign,
    cst.AugAssign: _Lowering._aug_assign,
    cst.Return: _Lowering._return,
    cst.Raise: _Lowering._raise,
    cst.Assert: _Lowering._assert,
    cst.Del: _Lowering._del,
    cst.Pass: _Lowering._pass,
    cst.TypeAlias: _Lowering._pass,
    cst.Break: _Lowering._break,
    cst.Continue: _Lowering._continue,
    cst.Import: _Lowering._import,
    cst.ImportFrom: _Lowering._import_from,
    cst.Global: _Lowering._global,
    cst.Nonlocal: _Lowering._global,
    cst.If: _Lowering._if,
    cst.While: _Lowering._while,
    cst.For: _Lowering._for,
    cst.Try: _Lowering._try,
    cst.TryStar: _Lowering._try,
    cst.With: _Lowering._with,
    cst.Match: _Lowering._match,
    cst.FunctionDef: _Lowering._function_def,
    cst.ClassDef: _Lowering._class_def,
}

_EXPRESSIONS: dict[type[cst.CSTNode], Callable[[_Lowering, Any, int, int], ir.Expr]] = {
    cst.Name: _Lowering._name,
    cst.Integer: _Lowering._literal,
    cst.Float: _Lowering._literal,
    cst.Imaginary: _Lowering._literal,
    cst.SimpleString: _Lowering._string,
    cst.ConcatenatedString: _Lowering._string,
    cst.FormattedString: _Lowering._fstring,
    cst.Attribute: _Lowering._attribute,
    cst.Subscript: _Lowering._subscript,
    cst.StarredElement: _Lowering._starred,
    cst.Call: _Lowering._call,
    cst.Await: _Lowering._await,
    cst.Yield: _Lowering._yield,
    cst.BinaryOperation: _Lowering._binary,
    cst.BooleanOperation: _Lowering._boolean,
    cst.UnaryOperation: _Lowering._unary,
    cst.Comparison: _Lowering._compare,
    cst.IfExp: _Lowering._if_exp,
    cst.NamedExpr: _Lowering._walrus,
    cst.Tuple: _Lowering._tuple,
    cst.List: _Lowering._list,
    cst.Set: _Lowering._set,
    cst.Dict: _Lowering._dict,
    cst.ListComp: _Lowering._comprehension,
    cst.SetComp: _Lowering._comprehension,
    cst.DictComp: _Lowering._comprehension,
    cst.GeneratorExp: _Lowering._comprehension,
    cst.Lambda: _Lowering._lambda,
    cst.Ellipsis: _Lowering._ellipsis,
    cst.Element: _Lowering._from_target_element,
}
if hasattr(cst, "TemplatedString"):
    _EXPRESSIONS[cst.TemplatedString] = _Lowering._fstring
