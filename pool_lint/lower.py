"""Lower a libcst module to the small tree of `ir.py`, with lines and columns."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

import libcst as cst
from libcst._nodes.internal import CodegenState

from pool_lint import ir
from pool_lint.literals import string_value
from pool_lint.lowering import Lowering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import _GeneratorContextManager
    from typing import Literal

    from pool_lint.lowering import LoopSource, ParamKind, ParamSource


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


def lower_text(module: cst.Module, text: str) -> ir.ModuleTree | None:
    """As `lower_module`; None where libcst would write the module otherwise than in ``text``.

    Lines and columns are counted in what it would write: its parser drops blanks and continued lines before the colon
    of an ``except``, for one.
    """
    lowering = _Lowering(module)
    return lowering.module() if lowering.code == text else None


class _Lowering(Lowering[cst.CSTNode, cst.BaseSuite]):
    def __init__(self, module: cst.Module) -> None:
        super().__init__()
        state = _Marks(module)
        # libcst has no public hook for cheap positions.
        module._codegen(state)
        self._module = module
        self._marks = state.marks
        self._places = state.places()
        self._tokens = state.tokens

    @property
    def code(self) -> str:
        """The module as libcst writes it."""
        return "".join(self._tokens)

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
        return self._import_of(line, col, [_alias(alias) for alias in node.names])

    def _import_from(self, node: cst.ImportFrom, line: int, col: int) -> ir.Stmt:
        base = "." * len(node.relative) + (_dotted(node.module) if node.module is not None else "")
        aliases = node.names if not isinstance(node.names, cst.ImportStar) else ()
        return self._import_from_of(line, col, base, [_alias(alias) for alias in aliases])

    def _global(self, node: cst.Global | cst.Nonlocal, line: int, col: int) -> ir.Stmt:
        names = [item.name.value for item in node.names]
        return self._global_of(line, col, names, nonlocal_=isinstance(node, cst.Nonlocal))

    def _if(self, node: cst.If, line: int, col: int) -> ir.Stmt:
        links: list[tuple[int, int, cst.CSTNode, cst.BaseSuite]] = [(line, col, node.test, node.body)]
        while isinstance(node.orelse, cst.If):
            node = node.orelse
            links.append((*self._at(node), node.test, node.body))
        return self._if_of(links, node.orelse.body if node.orelse is not None else None)

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
            name = (
                handler.name.name.value
                if handler.name is not None and isinstance(handler.name.name, cst.Name)
                else None
            )
            handlers.append(self._handler_of(*self._at(handler), handler.type, name, handler.body))
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
        return self._function_of(
            line,
            col,
            node.name.value,
            _params(node.params),
            node.returns.annotation if node.returns is not None else None,
            [decorator.decorator for decorator in node.decorators],
            node.body,
            is_async=node.asynchronous is not None,
        )

    def _class_def(self, node: cst.ClassDef, line: int, col: int) -> ir.Stmt:
        return self._class_of(
            line,
            col,
            node.name.value,
            [arg.value for arg in node.bases],
            [decorator.decorator for decorator in node.decorators],
            [arg.value for arg in node.keywords if arg.keyword is not None and arg.keyword.value == "metaclass"],
            node.body,
        )

    # Expressions.

    def expr(self, node: cst.CSTNode) -> ir.Expr:
        method = _EXPRESSIONS.get(type(node))
        if method is None:
            raise AssertionError(type(node))
        at = self._marks.get(node)
        line, col = self._places[at] if at is not None else (0, 0)
        return method(self, node, line, col)

    def _target_names(self, node: cst.CSTNode) -> list[str]:
        if isinstance(node, cst.Name):
            return [node.value]
        if isinstance(node, (cst.Tuple, cst.List)):
            return [name for element in node.elements for name in self._target_names(element.value)]
        if isinstance(node, cst.StarredElement):
            return self._target_names(node.value)
        return []

    def _name(self, node: cst.Name, line: int, col: int) -> ir.Expr:
        name = node.value
        if name in _CONSTANTS:
            return ir.Const(line, col, _CONSTANTS[name])
        return ir.Name(line, col, self._renamed.get(name, name))

    def _literal(self, node: cst.Integer | cst.Float | cst.Imaginary, line: int, col: int) -> ir.Expr:
        return ir.Const(line, col, node.evaluated_value)

    def _string(self, node: cst.SimpleString | cst.ConcatenatedString, line: int, col: int) -> ir.Expr:
        if isinstance(node, cst.SimpleString):
            return ir.Const(line, col, string_value(node.value))
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
        if isinstance(node.value, cst.From):
            return self._yield_of(line, col, node.value.item, delegates=True)
        return self._yield_of(line, col, node.value, delegates=False)

    def _binary(self, node: cst.BinaryOperation, line: int, col: int) -> ir.Expr:
        operands: list[cst.CSTNode] = []
        left: cst.BaseExpression = node
        while isinstance(left, cst.BinaryOperation):
            operands.append(left.right)
            left = left.left
        operands.append(left)
        return self._binary_of(line, col, type(node.operator).__name__, operands)

    def _boolean(self, node: cst.BooleanOperation, line: int, col: int) -> ir.Expr:
        rest: list[tuple[Literal["and", "or"], cst.CSTNode]] = []
        left: cst.BaseExpression = node
        while isinstance(left, cst.BooleanOperation):
            rest.append(("and" if isinstance(left.operator, cst.And) else "or", left.right))
            left = left.left
        return self._boolean_of(line, col, left, reversed(rest))

    def _unary(self, node: cst.UnaryOperation, line: int, col: int) -> ir.Expr:
        return self._unary_of(line, col, type(node.operator).__name__, node.expression)

    def _compare(self, node: cst.Comparison, line: int, col: int) -> ir.Expr:
        rights = [(_COMPARISONS[type(part.operator)], part.comparator) for part in node.comparisons]
        return self._compare_of(line, col, node.left, rights)

    def _if_exp(self, node: cst.IfExp, line: int, col: int) -> ir.Expr:
        return ir.Cond(line, col, self.expr(node.test), self.expr(node.body), self.expr(node.orelse))

    def _walrus(self, node: cst.NamedExpr, line: int, col: int) -> ir.Expr:
        name = node.target.value if isinstance(node.target, cst.Name) else "_"
        return self._walrus_of(line, col, name, node.value)

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
        assert isinstance(node, (cst.DictComp, cst.BaseSimpleComp))
        key, elt = (node.key, node.value) if isinstance(node, cst.DictComp) else (None, node.elt)
        return self._comprehension_of(line, col, _COMPREHENSIONS[type(node)], key, elt, _loops(node.for_in))

    def _lambda(self, node: cst.Lambda, line: int, col: int) -> ir.Expr:
        return self._lambda_of(line, col, _params(node.params), node.body)

    def _ellipsis(self, node: cst.Ellipsis, line: int, col: int) -> ir.Expr:
        return ir.Const(line, col, ...)

    def _from_target_element(self, node: cst.Element, line: int, col: int) -> ir.Expr:
        return self.expr(node.value)


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def _alias(node: cst.ImportAlias) -> tuple[str, str | None]:
    local = node.asname.name if node.asname is not None else None
    return _dotted(node.name), local.value if isinstance(local, cst.Name) else None


def _params(params: cst.Parameters) -> list[ParamSource[cst.CSTNode]]:
    found = [_param(param, "positional") for param in (*params.posonly_params, *params.params)]
    if isinstance(params.star_arg, cst.Param):
        found.append(_param(params.star_arg, "star"))
    found.extend(_param(param, "keyword") for param in params.kwonly_params)
    if params.star_kwarg is not None:
        found.append(_param(params.star_kwarg, "kwargs"))
    return found


def _param(node: cst.Param, kind: ParamKind) -> ParamSource[cst.CSTNode]:
    annotation = node.annotation.annotation if node.annotation is not None else None
    return node.name.value, annotation, node.default, kind


def _loops(node: cst.CompFor | None) -> Iterator[LoopSource[cst.CSTNode]]:
    while node is not None:
        yield node.target, node.iter, [test.test for test in node.ifs], node.asynchronous is not None
        node = node.inner_for_in


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
