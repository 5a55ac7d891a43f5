"""Compile a module with hooks where names are bound and read, and where control leaves."""

# The methods are named for syntax nodes, whose transformer is untyped.
# ruff: noqa: ANN401, D102
from __future__ import annotations

import ast
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from .flavours import FLAVOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .observed import Line

FILENAME = "<generated>"
MAX_TURNS = 3
FEWER_TURNS = 2  # where there are too many paths
MAX_ITEMS = 8  # of a list that the function itself has filled
SERVICE = "Service"  # the class whose methods are targets
BORROWS = frozenset({"getconn", "acquire"})
RETURNS = frozenset({"putconn", "release", "terminate"})


@dataclass(frozen=True, slots=True)
class Region:
    """The lines of a `try` statement: its body, and its handlers and `finally`."""

    body: tuple[Line, Line]
    cleanups: tuple[tuple[Line, Line], ...]


class Module:
    """One generated module, compiled with hooks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.functions = functions(self.tree.body)
        for statement in self.tree.body:
            if isinstance(statement, ast.ClassDef) and statement.name == SERVICE:
                self.functions += functions(statement.body)
        self.managers = frozenset(
            node.name
            for node in self.functions
            if any("contextmanager" in ast.unparse(decorator) for decorator in node.decorator_list)
        )
        self.tries: list[Region] = []
        self.loops = 0
        self.names = Names(self.tree)
        self.crowded = frozenset(line for line, count in Counter(self.names.borrows).items() if count > 1)
        self._cleanups: dict[Line, tuple[int, ...]] = {}
        instrument = Instrument(self)
        tree = ast.fix_missing_locations(instrument.visit(self.tree))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.code = compile(tree, FILENAME, "exec", dont_inherit=True)

    def targets(self) -> list[tuple[str, dict[str, str]]]:
        """The functions to run, each with its parameters and how they are filled in."""
        found = []
        service: dict[str, str] = {}
        for node in self.functions:
            parameters = {
                argument.arg: ast.unparse(argument.annotation) if argument.annotation else ""
                for argument in node.args.args
            }
            for argument in node.args.args[len(parameters) - len(node.args.defaults) :]:
                parameters[argument.arg] = parameters[argument.arg] or "None"
            if node.name == "__init__":
                service = parameters
            elif "self" in parameters:
                found.append((node.name, {**parameters, "self": service["pool"]}))
            elif any(annotation in FLAVOURS for annotation in parameters.values()):
                found.append((node.name, parameters))
        return found

    def cleanups_at(self, line: Line) -> tuple[int, ...]:
        """The `try` statements that have this line in a handler or `finally`."""
        if line not in self._cleanups:
            self._cleanups[line] = tuple(
                index
                for index, region in enumerate(self.tries)
                if any(first <= line <= last for first, last in region.cleanups)
            )
        return self._cleanups[line]

    def cleanup_of_borrow(self, line: Line) -> int | None:
        """The `try` that has this line in its cleanup and a borrow in its body."""
        for index in self.cleanups_at(line):
            if self.names.borrowed_in(self.tries[index].body, line):
                return index
        return None


class Names:
    """Which names are borrowed and returned on which lines."""

    def __init__(self, tree: ast.Module) -> None:
        self.borrows: list[Line] = []
        self.bound: dict[Line, set[str]] = {}
        self.returned: dict[Line, set[str]] = {}
        self.aliases: list[tuple[Line, set[str]]] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self.read(node)
            elif isinstance(node, (ast.Assign, ast.NamedExpr)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
                self.bound.setdefault(node.lineno, set()).update(names)
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                names |= {value.id for value in values if isinstance(value, ast.Name)}
                self.aliases.append((node.lineno, names))

    def read(self, node: ast.Call) -> None:
        """Note a call that borrows or returns."""
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
        if name in BORROWS or name.startswith("take"):
            self.borrows.append(node.lineno)
        elif name in RETURNS or name.startswith("give_back"):
            parts: list[ast.expr] = [*node.args, function]
            names = {part.id for value in parts for part in ast.walk(value) if isinstance(part, ast.Name)}
            self.returned.setdefault(node.lineno, set()).update(names)

    def borrowed_in(self, lines: tuple[Line, Line], line: Line) -> bool:
        """Whether the name that is returned on a line is borrowed between two others."""
        first, last = lines
        names = set(self.returned.get(line, ()))
        for _ in range(2):  # a name of a name
            names.update(*(group for at, group in self.aliases if group & names and first <= at <= last))
        return any(first <= borrow <= last and self.bound.get(borrow, set()) & names for borrow in self.borrows)


def functions(body: Sequence[ast.stmt]) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions among the statements."""
    return [node for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def span(nodes: Sequence[ast.stmt] | Sequence[ast.excepthandler]) -> tuple[Line, Line]:
    """The lines from the first of the nodes to the last."""
    return nodes[0].lineno, cast("int", nodes[-1].end_lineno)


class Instrument(ast.NodeTransformer):
    """Put the hooks into the functions of a module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.stack: list[tuple[str, frozenset[str]]] = []

    def call(self, hook: str, at: ast.AST, *values: ast.expr | str | int) -> ast.Call:
        arguments = [value if isinstance(value, ast.expr) else ast.Constant(value) for value in values]
        node = ast.Call(ast.Name(f"__{hook}__", ast.Load()), arguments, [])
        return ast.copy_location(node, at)

    def statement(self, hook: str, at: ast.AST, *values: ast.expr | str | int) -> ast.stmt:
        return ast.copy_location(ast.Expr(self.call(hook, at, *values)), at)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self.generic_visit(node) if node.name == SERVICE else node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self.function(node)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        parameters = {argument.arg for argument in node.args.args}
        names = assigned(node.body) - parameters
        tested = names | ({"conn"} & parameters)
        if self.stack:
            tested |= self.stack[-1][1]
        self.stack.append((node.name if not self.stack else "", frozenset(tested)))
        node.body = [part for statement in node.body for part in as_list(self.visit(statement))]
        self.stack.pop()
        if names:
            unbound = ast.Assign(
                [ast.Name(name, ast.Store()) for name in sorted(names)], ast.Name("__unbound__", ast.Load())
            )
            node.body.insert(0, ast.copy_location(unbound, node))
        return node

    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [part for statement in statements for part in as_list(self.visit(statement))]

    def visit_Raise(self, node: ast.Raise) -> Any:
        self.generic_visit(node)
        return [self.statement("raise", node, node.exc is None), node]

    def visit_Assert(self, node: ast.Assert) -> Any:
        test = self.test(self.visit(node.test))
        failure = ast.Raise(ast.Name("AssertionError", ast.Load()), None)
        statements = [self.statement("raise", node, 0), ast.copy_location(failure, node)]
        return ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), test), statements, []), node)

    def visit_Delete(self, node: ast.Delete) -> Any:
        if not all(isinstance(target, ast.Name) for target in node.targets):
            return node
        targets: list[ast.expr] = [ast.Name(cast("ast.Name", target).id, ast.Store()) for target in node.targets]
        return ast.copy_location(ast.Assign(targets, ast.Name("__unbound__", ast.Load())), node)

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if not self.stack or not self.stack[-1][0]:
            return node
        if node.value is None:
            none = ast.Constant(None)
            return [self.statement("return", node, self.stack[-1][0], node.lineno, none), node]
        node.value = self.call("return", node, self.stack[-1][0], node.lineno, node.value)
        return node

    def visit_Yield(self, node: ast.Yield) -> Any:
        self.generic_visit(node)
        if self.stack and self.stack[-1][0]:
            value = node.value or ast.Constant(None)
            node.value = self.call("yield", node, self.stack[-1][0], node.lineno, value)
        return node

    def visit_Try(self, node: ast.Try) -> Any:
        return self.attempt(node)

    def visit_TryStar(self, node: Any) -> Any:
        return self.attempt(node)

    def attempt(self, node: Any) -> Any:
        index = len(self.module.tries)
        cleanups = [span(handler.body) for handler in node.handlers]
        if node.finalbody:
            cleanups.append(span(node.finalbody))
        self.module.tries.append(Region(span(node.body), tuple(cleanups)))
        node.body = [self.statement("try", node, index), *self.body(node.body)]
        for handler in node.handlers:
            handler.body = [self.statement("caught", handler), *self.body(handler.body)]
        node.orelse = self.body(node.orelse)
        node.finalbody = self.body(node.finalbody)
        return node

    def visit_While(self, node: ast.While) -> Any:
        node.test = self.test(self.visit(node.test))
        return self.loop(node)

    def visit_For(self, node: ast.For) -> Any:
        node.iter = self.visit(node.iter)
        return self.loop(node)

    def loop(self, node: ast.While | ast.For) -> Any:
        index = self.module.loops
        self.module.loops += 1
        most = 0 if isinstance(node, ast.While) else MAX_ITEMS  # 0: as the world says
        node.body = [self.statement("loop", node, index, most), *self.body(node.body)]
        node.orelse = self.body(node.orelse)
        return [self.statement("loop_start", node, index), node]

    def visit_If(self, node: ast.If) -> Any:
        node.test = self.test(self.visit(node.test))
        node.body = self.body(node.body)
        node.orelse = self.body(node.orelse)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        node.test = self.test(node.test)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute):
            function.value = self.receiver(function.value, function.attr)
            if function.attr == "append":
                node.args = [self.call("store", value, value) for value in node.args]
        return node

    def visit_withitem(self, node: ast.withitem) -> Any:
        self.generic_visit(node)
        node.context_expr = self.receiver(node.context_expr, "")
        return node

    def receiver(self, value: ast.expr, method: str) -> ast.expr:
        if self.stack and isinstance(value, ast.Name) and value.id in self.stack[-1][1]:
            return self.call("receiver", value, method, value)
        return value

    def test(self, node: ast.expr) -> ast.expr:
        """A test in which each local name is looked at first."""
        if isinstance(node, ast.Name):
            if self.stack and node.id in self.stack[-1][1]:
                return self.call("test", node, node)
        elif isinstance(node, ast.BoolOp):
            node.values = [self.test(value) for value in node.values]
        elif isinstance(node, ast.UnaryOp):
            node.operand = self.test(node.operand)
        elif isinstance(node, ast.Compare):
            node.left = self.test(node.left)
        return node


def as_list(value: Any) -> list[ast.stmt]:
    """The statements that a visit returned."""
    return value if isinstance(value, list) else [value]


def assigned(body: Sequence[ast.AST]) -> set[str]:
    """The names that are assigned in a body, not counting nested functions."""
    names: set[str] = set()
    outer: set[str] = set()
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        todo.extend(ast.iter_child_nodes(node))
    return names - outer
