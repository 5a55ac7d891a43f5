"""Lower Python's own `ast` tree to the small tree of `ir.py`: the same tree that `lower.py` makes of libcst's.

flake8 hands the ast tree over, and libcst's parser takes ten times as long as Python's.  Where the two trees part,
this module follows libcst: the inside of parentheses begins a tuple or a generator, `ast` joins what stands in
several string literals, and its columns are bytes.  The source text is asked only about those places.

Three oddities are not followed.  libcst drops a form feed in front of a statement and blanks after the conversion of
an f-string's field, so that its columns fall short after them; and it leaves names as they are spelled, where Python
folds compatibility characters (a ligature is its letters).
"""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Any

from pool_lint import ir
from pool_lint.literals import Field, Text, after_blank, pieces, string_value
from pool_lint.lowering import Lowering
from pool_lint.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Literal

    from pool_lint.literals import Piece
    from pool_lint.lowering import LoopSource, ParamSource


def lower_ast(tree: ast.Module, text: str) -> ir.ModuleTree:
    """Return the tree of a whole module, whose source is ``text``.

    Raises RecursionError for expressions nested deeper than the interpreter's own limit.
    """
    return _Lowering(text).module(tree)


class _Lowering(Lowering[ast.expr, "list[ast.stmt]"]):
    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._places = Places(text)
        self._wide = self._places.wide

    def module(self, tree: ast.Module) -> ir.ModuleTree:
        body = self._suite(tree.body)
        return ir.ModuleTree(body, self._functions, self._classes)

    # Places.

    def _start(self, node: ast.expr) -> int:
        return self._places.offset(node.lineno, self._places.column(node.lineno, node.col_offset))

    def _end(self, node: ast.expr | ast.stmt) -> int:
        line, col = node.end_lineno, node.end_col_offset
        assert line is not None
        assert col is not None
        return self._places.offset(line, self._places.column(line, col))

    def _inside(self, line: int, col: int) -> tuple[int, int]:
        """Return the place of the first token after the bracket at a place."""
        return self._places.place(after_blank(self._text, self._places.offset(line, col) + 1))

    def _is_bare(self, node: ast.Tuple) -> bool:
        """Whether a tuple has no parentheses of its own."""
        if not node.elts:
            return False
        first = node.elts[0]
        if first.col_offset == node.col_offset and first.lineno == node.lineno:
            return True
        # `(a, b)` and `(a), b` begin alike: what counts is whether the first element's own are closed before the comma
        text = self._text
        depth, at, end = 0, self._start(node), self._start(first)
        while at < end:
            depth += 1
            at = after_blank(text, at + 1)
        at = after_blank(text, self._end(first))
        while text.startswith(")", at):
            depth -= 1
            at = after_blank(text, at + 1)
        return depth == 0

    # Statements.

    def _suite(self, node: list[ast.stmt]) -> list[ir.Stmt]:
        out: list[ir.Stmt] = []
        for stmt in node:
            method = _STATEMENTS.get(type(stmt))
            if method is None:
                raise AssertionError(type(stmt))
            line, col = stmt.lineno, stmt.col_offset
            if line in self._wide:
                col = self._places.column(line, col)
            out.append(method(self, stmt, line, col))
        return out

    def _expr_stmt(self, node: ast.Expr, line: int, col: int) -> ir.Stmt:
        return ir.ExprStmt(line, col, self.expr(node.value))

    def _assign(self, node: ast.Assign, line: int, col: int) -> ir.Stmt:
        value = self.expr(node.value)
        return ir.Assign(line, col, [self._target(target) for target in node.targets], value)

    def _ann_assign(self, node: ast.AnnAssign, line: int, col: int) -> ir.Stmt:
        annotation = self.expr(node.annotation)
        value = self.expr(node.value) if node.value is not None else None
        target = self._target(node.target) if value is not None else self.expr(node.target)
        return ir.Assign(line, col, [target], value, annotation)

    def _aug_assign(self, node: ast.AugAssign, line: int, col: int) -> ir.Stmt:
        op = _OPERATORS[type(node.op)] + "Assign"
        return ir.AugAssign(line, col, self._target(node.target), op, self.expr(node.value))

    def _return(self, node: ast.Return, line: int, col: int) -> ir.Stmt:
        return ir.Return(line, col, self.expr(node.value) if node.value is not None else None)

    def _raise(self, node: ast.Raise, line: int, col: int) -> ir.Stmt:
        exc = self.expr(node.exc) if node.exc is not None else None
        cause = self.expr(node.cause) if node.cause is not None else None
        return ir.Raise(line, col, exc, cause)

    def _assert(self, node: ast.Assert, line: int, col: int) -> ir.Stmt:
        return ir.Assert(line, col, self.expr(node.test), self.expr(node.msg) if node.msg is not None else None)

    def _del(self, node: ast.Delete, line: int, col: int) -> ir.Stmt:
        targets = node.targets
        only = targets[0]
        # one tuple or list is what `del` deletes the elements of, unless it is the element of a tuple itself
        if len(targets) == 1 and isinstance(only, (ast.Tuple, ast.List)) and not self._has_comma(only, node):
            targets = only.elts
        lowered = self._elements(targets)
        for target in lowered:
            self._bind_target(target)
        return ir.Del(line, col, lowered)

    def _has_comma(self, target: ast.expr, node: ast.Delete) -> bool:
        at, end = self._end(target), self._end(node)
        while at < end and self._text[at] != ",":
            at = after_blank(self._text, at + 1)
        return at < end

    def _pass(self, node: ast.stmt, line: int, col: int) -> ir.Stmt:
        return ir.Pass(line, col)

    def _break(self, node: ast.Break, line: int, col: int) -> ir.Stmt:
        return ir.Break(line, col)

    def _continue(self, node: ast.Continue, line: int, col: int) -> ir.Stmt:
        return ir.Continue(line, col)

    def _import(self, node: ast.Import, line: int, col: int) -> ir.Stmt:
        return self._import_of(line, col, [(alias.name, alias.asname) for alias in node.names])

    def _import_from(self, node: ast.ImportFrom, line: int, col: int) -> ir.Stmt:
        base = "." * (node.level or 0) + (node.module or "")
        aliases = [(alias.name, alias.asname) for alias in node.names if alias.name != "*"]
        return self._import_from_of(line, col, base, aliases)

    def _global(self, node: ast.Global | ast.Nonlocal, line: int, col: int) -> ir.Stmt:
        return self._global_of(line, col, list(node.names), nonlocal_=isinstance(node, ast.Nonlocal))

    def _if(self, node: ast.If, line: int, col: int) -> ir.Stmt:
        links: list[tuple[int, int, ast.expr, list[ast.stmt]]] = [(line, col, node.test, node.body)]
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            links.append((node.lineno, self._places.column(node.lineno, node.col_offset), node.test, node.body))
        return self._if_of(links, node.orelse)

    def _while(self, node: ast.While, line: int, col: int) -> ir.Stmt:
        test, body = self.expr(node.test), self._suite(node.body)
        return ir.While(line, col, test, body, self._suite(node.orelse))

    def _for(self, node: ast.For | ast.AsyncFor, line: int, col: int) -> ir.Stmt:
        iterable, target = self.expr(node.iter), self._target(node.target)
        body, orelse = self._suite(node.body), self._suite(node.orelse)
        return ir.For(line, col, target, iterable, body, orelse, isinstance(node, ast.AsyncFor))

    def _try(self, node: ast.Try, line: int, col: int) -> ir.Stmt:
        body = self._suite(node.body)
        handlers = [
            self._handler_of(
                handler.lineno,
                self._places.column(handler.lineno, handler.col_offset),
                handler.type,
                handler.name,
                handler.body,
            )
            for handler in node.handlers
        ]
        orelse, final = self._suite(node.orelse), self._suite(node.finalbody)
        return ir.Try(line, col, body, handlers, orelse, final, not isinstance(node, ast.Try))

    def _with(self, node: ast.With | ast.AsyncWith, line: int, col: int) -> ir.Stmt:
        items = [
            ir.WithItem(
                self.expr(item.context_expr),
                self._target(item.optional_vars) if item.optional_vars is not None else None,
            )
            for item in node.items
        ]
        return ir.With(line, col, items, self._suite(node.body), isinstance(node, ast.AsyncWith))

    def _match(self, node: ast.Match, line: int, col: int) -> ir.Stmt:
        subject = self.expr(node.subject)
        cases = []
        before: ast.expr | ast.stmt = node.subject
        for case in node.cases:
            values: list[ir.Expr] = []
            binds: list[str] = []
            self._pattern(case.pattern, values, binds)
            whole = _whole_names(case.pattern)
            self._bind(*binds)
            guard = self.expr(case.guard) if case.guard is not None else None
            irrefutable = guard is None and _is_irrefutable(case.pattern)
            at = self._case_line(case.pattern, before)
            cases.append(ir.Case(at, values, binds, whole, irrefutable, guard, self._suite(case.body)))
            before = case.body[-1]
        return ir.Match(line, col, subject, cases)

    def _case_line(self, pattern: ast.pattern, before: ast.expr | ast.stmt) -> int:
        """Return the line of a ``case``, whose place is not in the ast tree; ``before`` is what ends ahead of it."""
        start = self._places.offset(pattern.lineno, 0)
        end = start + self._places.column(pattern.lineno, pattern.col_offset)
        if _CASE.match(self._text, start, end) is not None:
            return pattern.lineno
        # the pattern begins on a line below the word, in parentheses
        between = _BEFORE_CASE.match(self._text, self._end(before))
        assert between is not None
        return self._places.place(between.end())[0]

    def _pattern(self, node: ast.pattern, values: list[ir.Expr], binds: list[str]) -> None:
        if isinstance(node, ast.MatchValue):
            values.append(self.expr(node.value))
        elif isinstance(node, ast.MatchAs):
            if node.pattern is not None:
                self._pattern(node.pattern, values, binds)
            if node.name is not None:
                binds.append(node.name)
        elif isinstance(node, (ast.MatchOr, ast.MatchSequence)):
            for part in node.patterns:
                self._pattern(part, values, binds)
        elif isinstance(node, ast.MatchClass):
            values.append(self.expr(node.cls))
            for part in (*node.patterns, *node.kwd_patterns):
                self._pattern(part, values, binds)
        elif isinstance(node, ast.MatchMapping):
            for part in node.patterns:
                self._pattern(part, values, binds)
            if node.rest is not None:
                binds.append(node.rest)
        elif isinstance(node, ast.MatchStar) and node.name is not None:
            binds.append(node.name)

    def _function_def(self, node: ast.FunctionDef | ast.AsyncFunctionDef, line: int, col: int) -> ir.Stmt:
        return self._function_of(
            line,
            col,
            node.name,
            _params(node.args),
            node.returns,
            node.decorator_list,
            node.body,
            is_async=isinstance(node, ast.AsyncFunctionDef),
        )

    def _class_def(self, node: ast.ClassDef, line: int, col: int) -> ir.Stmt:
        return self._class_of(
            line,
            col,
            node.name,
            [base.value if isinstance(base, ast.Starred) else base for base in node.bases],
            node.decorator_list,
            [keyword.value for keyword in node.keywords if keyword.arg == "metaclass"],
            node.body,
        )

    # Expressions.

    def expr(self, node: ast.expr) -> ir.Expr:
        line, col = node.lineno, node.col_offset
        if line in self._wide:
            col = self._places.column(line, col)
        method = _EXPRESSIONS.get(type(node))
        if method is None:
            raise AssertionError(type(node))
        return method(self, node, line, col)

    def _target_names(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Name):
            return [node.id]
        if isinstance(node, (ast.Tuple, ast.List)):
            return [name for element in node.elts for name in self._target_names(element)]
        return self._target_names(node.value) if isinstance(node, ast.Starred) else []

    def _name(self, node: ast.Name, line: int, col: int) -> ir.Expr:
        return ir.Name(line, col, self._renamed.get(node.id, node.id))

    def _constant(self, node: ast.Constant, line: int, col: int) -> ir.Expr:
        value = node.value
        if isinstance(value, bytes):
            found = pieces(self._text, self._start(node), self._end(node))
            return ir.Const(line, col, "".join(self._text[piece.start : piece.end] for piece in found))
        return ir.Const(line, col, value)

    def _joined(self, node: ast.JoinedStr, line: int, col: int) -> ir.Expr:
        fields = _fields(node)
        found = pieces(self._text, self._start(node), self._end(node))
        parts = [self._piece(piece, fields) for piece in found]
        return parts[0] if len(parts) == 1 else ir.Op(line, col, parts, "fstring")

    def _piece(self, piece: Piece, fields: Iterator[ast.FormattedValue]) -> ir.Expr:
        line, col = self._places.place(piece.start)
        if not piece.is_formatted:
            return ir.Const(line, col, string_value(self._text[piece.start : piece.end]))
        parts: list[ir.Expr] = []
        for part in piece.parts:
            if isinstance(part, Text):
                parts.append(ir.Const(*self._places.place(part.start), part.value))
            else:
                field = next(fields)
                parts.append(self._field(part, field.value))
                if part.nested and field.format_spec is not None:
                    inner = _fields(field.format_spec)
                    parts.extend(self._field(nested, next(inner).value) for nested in part.nested)
        return ir.Op(line, col, parts, "fstring")

    def _field(self, field: Field, value: ast.expr) -> ir.Expr:
        if _FIELDS_ARE_PLACED:
            return self.expr(value)
        # Before Python 3.12 the places inside f-strings are wrong where they span lines or nest: parsed again.
        parsed = ast.parse(f"({self._text[field.start : field.end]})", mode="eval").body
        line, col = self._places.place(field.start)
        shift = self._places.byte_column(line, col) - 1
        for node in ast.walk(parsed):
            if isinstance(node, (ast.expr, ast.keyword, ast.arg)):
                node.col_offset += shift if node.lineno == 1 else 0
                if node.end_lineno is not None and node.end_col_offset is not None:
                    node.end_col_offset += shift if node.end_lineno == 1 else 0
                    node.end_lineno += line - 1
                node.lineno += line - 1
        return self.expr(parsed)

    def _attribute(self, node: ast.Attribute, line: int, col: int) -> ir.Expr:
        return ir.Attr(line, col, self.expr(node.value), node.attr)

    def _subscript(self, node: ast.Subscript, line: int, col: int) -> ir.Expr:
        value, index = self.expr(node.value), node.slice
        if isinstance(index, ast.Tuple) and self._is_bare(index):
            parts = [self._index(part, line, col) for part in index.elts]
            return ir.Sub(line, col, value, parts[0] if len(parts) == 1 else ir.Seq(line, col, "tuple", parts))
        return ir.Sub(line, col, value, self._index(index, line, col))

    def _index(self, node: ast.expr, line: int, col: int) -> ir.Expr:
        if isinstance(node, ast.Starred):
            return ir.Star(line, col, self.expr(node.value))
        if isinstance(node, ast.Slice):
            parts = [self.expr(part) for part in (node.lower, node.upper, node.step) if part is not None]
            return ir.Op(line, col, parts, "slice")
        return self.expr(node)

    def _starred(self, node: ast.Starred, line: int, col: int) -> ir.Expr:
        return ir.Star(line, col, self.expr(node.value))

    def _elements(self, nodes: list[ast.expr]) -> list[ir.Expr]:
        """Return elements or arguments; one with a star begins where its value does."""
        expr = self.expr
        return [expr(node) if not isinstance(node, ast.Starred) else self._star(node) for node in nodes]

    def _star(self, node: ast.Starred) -> ir.Expr:
        value = self.expr(node.value)
        return ir.Star(value.line, value.col, value)

    def _call(self, node: ast.Call, line: int, col: int) -> ir.Expr:
        func = self.expr(node.func)
        if node.keywords and node.args and isinstance(node.args[-1], ast.Starred):
            return self._mixed_call(node, line, col, func)
        args = self._elements(node.args)
        return ir.Call(line, col, func, args, [(keyword.arg, self.expr(keyword.value)) for keyword in node.keywords])

    def _mixed_call(self, node: ast.Call, line: int, col: int, func: ir.Expr) -> ir.Expr:
        """Return a call in which a starred argument may follow a keyword: lowered in the order of the source."""
        args: list[ir.Expr] = []
        keywords: list[tuple[str | None, ir.Expr]] = []
        given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        for arg in sorted(given, key=lambda arg: (arg.lineno, arg.col_offset)):
            if isinstance(arg, ast.keyword):
                keywords.append((arg.arg, self.expr(arg.value)))
            else:
                args.extend(self._elements([arg]))
        return ir.Call(line, col, func, args, keywords)

    def _await(self, node: ast.Await, line: int, col: int) -> ir.Expr:
        return ir.Await(line, col, self.expr(node.value))

    def _yield(self, node: ast.Yield, line: int, col: int) -> ir.Expr:
        return self._yield_of(line, col, node.value, delegates=False)

    def _yield_from(self, node: ast.YieldFrom, line: int, col: int) -> ir.Expr:
        return self._yield_of(line, col, node.value, delegates=True)

    def _binary(self, node: ast.BinOp, line: int, col: int) -> ir.Expr:
        operands: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            operands.append(left.right)
            left = left.left
        operands.append(left)
        return self._binary_of(line, col, _OPERATORS[type(node.op)], operands)

    def _boolean(self, node: ast.BoolOp, line: int, col: int) -> ir.Expr:
        spine: list[ast.BoolOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BoolOp):
            spine.append(left)
            left = left.values[0]
        rest = [(_BOOLEANS[type(link.op)], right) for link in reversed(spine) for right in link.values[1:]]
        return self._boolean_of(line, col, left, rest)

    def _unary(self, node: ast.UnaryOp, line: int, col: int) -> ir.Expr:
        return self._unary_of(line, col, _UNARY[type(node.op)], node.operand)

    def _compare(self, node: ast.Compare, line: int, col: int) -> ir.Expr:
        ops = [_COMPARISONS[type(op)] for op in node.ops]
        return self._compare_of(line, col, node.left, zip(ops, node.comparators, strict=True))

    def _if_exp(self, node: ast.IfExp, line: int, col: int) -> ir.Expr:
        return ir.Cond(line, col, self.expr(node.test), self.expr(node.body), self.expr(node.orelse))

    def _walrus(self, node: ast.NamedExpr, line: int, col: int) -> ir.Expr:
        return self._walrus_of(line, col, node.target.id, node.value)

    def _tuple(self, node: ast.Tuple, line: int, col: int) -> ir.Expr:
        if not self._is_bare(node):
            line, col = self._inside(line, col)
        return ir.Seq(line, col, "tuple", self._elements(node.elts))

    def _list(self, node: ast.List, line: int, col: int) -> ir.Expr:
        return ir.Seq(line, col, "list", self._elements(node.elts))

    def _set(self, node: ast.Set, line: int, col: int) -> ir.Expr:
        return ir.Seq(line, col, "set", self._elements(node.elts))

    def _dict(self, node: ast.Dict, line: int, col: int) -> ir.Expr:
        expr = self.expr
        items = [
            (expr(key) if key is not None else None, expr(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return ir.DictLit(line, col, items)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, line: int, col: int) -> ir.Expr:
        if isinstance(node, ast.GeneratorExp):
            line, col = self._inside(line, col)
        kind = _COMPREHENSIONS[type(node)]
        return self._comprehension_of(line, col, kind, None, node.elt, _loops(node.generators))

    def _dict_comprehension(self, node: ast.DictComp, line: int, col: int) -> ir.Expr:
        return self._comprehension_of(line, col, "dict", node.key, node.value, _loops(node.generators))

    def _lambda(self, node: ast.Lambda, line: int, col: int) -> ir.Expr:
        return self._lambda_of(line, col, _params(node.args), node.body)


def _params(args: ast.arguments) -> list[ParamSource[ast.expr]]:
    plain = [*args.posonlyargs, *args.args]
    defaults = [*[None] * (len(plain) - len(args.defaults)), *args.defaults]
    found: list[ParamSource[ast.expr]] = [
        (arg.arg, arg.annotation, default, "positional") for arg, default in zip(plain, defaults, strict=True)
    ]
    if args.vararg is not None:
        found.append((args.vararg.arg, args.vararg.annotation, None, "star"))
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append((arg.arg, arg.annotation, default, "keyword"))
    if args.kwarg is not None:
        found.append((args.kwarg.arg, args.kwarg.annotation, None, "kwargs"))
    return found


def _loops(generators: Sequence[ast.comprehension]) -> list[LoopSource[ast.expr]]:
    return [(part.target, part.iter, part.ifs, bool(part.is_async)) for part in generators]


def _fields(node: ast.expr) -> Iterator[Any]:
    """Yield the fields of an f-string or t-string in order, those that implicit concatenation joined too."""
    parts: list[ast.expr] = getattr(node, "values", [])  # by the attribute: t-strings are newer than Python 3.10
    return iter([part for part in parts if not isinstance(part, ast.Constant)])


def _is_irrefutable(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or _is_irrefutable(pattern.pattern)
    return isinstance(pattern, ast.MatchOr) and any(_is_irrefutable(part) for part in pattern.patterns)


def _whole_names(pattern: ast.pattern) -> list[str]:
    """Names bound to the subject itself."""
    names = []
    while isinstance(pattern, ast.MatchAs):
        if pattern.name is not None:
            names.append(pattern.name)
        if pattern.pattern is None:
            break
        pattern = pattern.pattern
    return names


_FIELDS_ARE_PLACED = sys.version_info >= (3, 12)
# What may stand between the subject, or a body, and the ``case`` after it.
_BEFORE_CASE = re.compile(r"(?:[ \t\f\r\n\\),:;]|#[^\r\n]*)*")
_CASE = re.compile(r"[ \t\f]*case\b")

_BOOLEANS: dict[type[ast.boolop], Literal["and", "or"]] = {ast.And: "and", ast.Or: "or"}

# libcst's names of the operators.
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "Add",
    ast.Sub: "Subtract",
    ast.Mult: "Multiply",
    ast.Div: "Divide",
    ast.FloorDiv: "FloorDivide",
    ast.Mod: "Modulo",
    ast.Pow: "Power",
    ast.MatMult: "MatrixMultiply",
    ast.LShift: "LeftShift",
    ast.RShift: "RightShift",
    ast.BitAnd: "BitAnd",
    ast.BitOr: "BitOr",
    ast.BitXor: "BitXor",
}

_UNARY: dict[type[ast.unaryop], str] = {
    ast.Not: "Not",
    ast.USub: "Minus",
    ast.UAdd: "Plus",
    ast.Invert: "BitInvert",
}

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}

_COMPREHENSIONS: dict[type[ast.expr], Literal["list", "set", "generator"]] = {
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.GeneratorExp: "generator",
}

_STATEMENTS: dict[type[ast.stmt], Callable[[_Lowering, Any, int, int], ir.Stmt]] = {
    ast.Expr: _Lowering._expr_stmt,
    ast.Assign: _Lowering._assign,
    ast.AnnAssign: _Lowering._ann_assign,
    ast.AugAssign: _Lowering._aug_assign,
    ast.Return: _Lowering._return,
    ast.Raise: _Lowering._raise,
    ast.Assert: _Lowering._assert,
    ast.Delete: _Lowering._del,
    ast.Pass: _Lowering._pass,
    ast.Break: _Lowering._break,
    ast.Continue: _Lowering._continue,
    ast.Import: _Lowering._import,
    ast.ImportFrom: _Lowering._import_from,
    ast.Global: _Lowering._global,
    ast.Nonlocal: _Lowering._global,
    ast.If: _Lowering._if,
    ast.While: _Lowering._while,
    ast.For: _Lowering._for,
    ast.AsyncFor: _Lowering._for,
    ast.Try: _Lowering._try,
    ast.With: _Lowering._with,
    ast.AsyncWith: _Lowering._with,
    ast.Match: _Lowering._match,
    ast.FunctionDef: _Lowering._function_def,
    ast.AsyncFunctionDef: _Lowering._function_def,
    ast.ClassDef: _Lowering._class_def,
}

_EXPRESSIONS: dict[type[ast.expr], Callable[[_Lowering, Any, int, int], ir.Expr]] = {
    ast.Name: _Lowering._name,
    ast.Constant: _Lowering._constant,
    ast.JoinedStr: _Lowering._joined,
    ast.Attribute: _Lowering._attribute,
    ast.Subscript: _Lowering._subscript,
    ast.Starred: _Lowering._starred,
    ast.Call: _Lowering._call,
    ast.Await: _Lowering._await,
    ast.Yield: _Lowering._yield,
    ast.YieldFrom: _Lowering._yield_from,
    ast.BinOp: _Lowering._binary,
    ast.BoolOp: _Lowering._boolean,
    ast.UnaryOp: _Lowering._unary,
    ast.Compare: _Lowering._compare,
    ast.IfExp: _Lowering._if_exp,
    ast.NamedExpr: _Lowering._walrus,
    ast.Tuple: _Lowering._tuple,
    ast.List: _Lowering._list,
    ast.Set: _Lowering._set,
    ast.Dict: _Lowering._dict,
    ast.ListComp: _Lowering._comprehension,
    ast.SetComp: _Lowering._comprehension,
    ast.DictComp: _Lowering._dict_comprehension,
    ast.GeneratorExp: _Lowering._comprehension,
    ast.Lambda: _Lowering._lambda,
}
# What newer Pythons have.
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = _Lowering._try
if hasattr(ast, "TypeAlias"):
    _STATEMENTS[ast.TypeAlias] = _Lowering._pass
if hasattr(ast, "TemplateStr"):
    _EXPRESSIONS[ast.TemplateStr] = _Lowering._joined
