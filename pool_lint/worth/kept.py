"""What a container pool keeps: who constructs its objects, how they are borrowed, what resets them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.pools.types import decorator_names
from pool_lint.typestate.made import comes_back, made_of, makers_of
from pool_lint.walk import names_read, statement_parts, walk_expressions, walk_statements

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pool_lint.pools.containers import ContainerUse, Put
    from pool_lint.typestate.file import FileAnalysis
    from pool_lint.typestate.made import Made

RESETTING = re.compile(r"^_*(?:reset|re_?init|clear|blank|wipe|zero|recycle|clean|scrub|erase|restore|purge|empty)")


@dataclass(frozen=True, slots=True, eq=False)
class KeptPool:
    """A container used as a pool.

    ``built`` is what constructs it, ``scope`` where; ``made`` what constructs its objects (None: not all is seen).
    ``shape`` and ``wrapping`` name the cheapest way in which the file borrows from it, as the profile does.
    """

    use: ContainerUse
    built: ir.Expr
    name: str
    made: tuple[Made, ...] | None
    shape: str
    wrapping: str


def kept_pools(file: FileAnalysis) -> Iterable[KeptPool]:
    """Yield the container pools of a file in the order in which they are built."""
    found = []
    pools = file.containers.pools()
    pools += [use for use in file.containers.own_uses() if use not in pools and _is_free_list(file, use)]
    for use in pools:
        built = _built(file, use)
        if built is None:
            continue
        wrapping = _wrapping(file, use)
        shape = _shape(file, use, built)
        if shape is not None:
            found.append(KeptPool(use, built, _name(use), made_of(file, use), shape, wrapping))
    return sorted(found, key=lambda pool: (pool.built.line, pool.built.col))


def _is_free_list(file: FileAnalysis, use: ContainerUse) -> bool:
    """Whether objects are made where none is left, and come back from where they lived in between.

    No borrow in the sense of the other rules, as they live on in another container; but a pool all the same.
    """
    if not use.takes or not use.puts or use.escapes or any(take.form.keyed for take in use.takes):
        return False
    back = [put for put in use.puts if comes_back(file, put, use)]
    if not back or not all(put.what == "made" or put in back for put in use.puts):
        return False
    if file.containers.made_when_empty(use):
        return True
    # Filled in the beginning with objects of which each is as good as the next: no list of tasks.
    makers = [makers_of(file, put.value, put.function) for put in use.puts if put not in back]
    return bool(makers) and all(makers)


def _name(use: ContainerUse) -> str:
    owner, name = use.key
    return f"self.{name}" if isinstance(owner, ir.Klass) and _is_attribute(use, name) else name


def _is_attribute(use: ContainerUse, name: str) -> bool:
    """Whether the file reaches it through ``self``."""
    return any(
        isinstance(expr, ir.Attr) and expr.name == name and isinstance(expr.value, ir.Name) and expr.value.id == "self"
        for take in use.takes
        for expr in walk_expressions([ir.ExprStmt(0, 0, take.call)])
    )


def _built(file: FileAnalysis, use: ContainerUse) -> ir.Expr | None:
    """What constructs the container: the first value that it is given."""
    owner, name = use.key
    if isinstance(owner, ir.Klass):
        bindings = file.types.attrs_of(owner).get(name, [])
    else:
        bindings, _ = file.types.bindings(name, owner if isinstance(owner, ir.Function) else None)
    values = [b for b in bindings if b.how == "value" and isinstance(b.expr, (ir.Call, ir.Seq, ir.Comp, ir.DictLit))]
    values.sort(key=lambda binding: (binding.expr.line, binding.expr.col) if binding.expr is not None else (0, 0))
    return values[0].expr if values else None


def _wrapping(file: FileAnalysis, use: ContainerUse) -> str:
    """How the cheapest of the borrows reaches the container."""
    found = set()
    givers = {put.function for put in use.puts if put.what == "given"}
    for take in use.takes:
        if take.function is None or take.function in givers:
            lends = take.function is not None and "contextmanager" in str(sorted(decorator_names(take.function)))
            found.add("context_manager" if lends else "bare")
        else:
            found.add("method" if _hands_out(file, take.function, use) else "bare")
    return next(each for each in ("bare", "method", "context_manager") if each in found)


def _hands_out(file: FileAnalysis, function: ir.Function, use: ContainerUse) -> bool:
    """Whether a function that takes an object returns it, so that each borrow is a call of it."""
    taken = {id(take.call) for take in use.takes}
    names = {
        name
        for name, values in file.containers.assigned(function).items()
        if any(id(expr) in taken for value in values for expr in walk_expressions([ir.ExprStmt(0, 0, value)]))
    }
    return any(
        isinstance(stmt, ir.Return)
        and stmt.value is not None
        and any(
            id(expr) in taken or (isinstance(expr, ir.Name) and expr.id in names)
            for expr in walk_expressions([ir.ExprStmt(0, 0, stmt.value)])
        )
        for stmt in walk_statements(function.body)
    )


def _shape(file: FileAnalysis, use: ContainerUse, built: ir.Expr) -> str | None:
    kind = use.container.id
    dotted = file.types.dotted(built.func) if isinstance(built, ir.Call) else ""
    if kind == "queue.Queue":
        return "lifo_queue" if dotted == "queue.LifoQueue" else "queue"
    if kind == "queue.SimpleQueue":
        return "simple_queue"
    if kind == "asyncio.Queue":
        return "asyncio_queue"
    if kind in ("list", "collections.deque"):
        locks = [_lock_around(file, take.function, take.call) for take in use.takes]
        if all(locks):
            return next((lock for lock in ("list_lock", "condition", "asyncio_lock") if lock in locks), None)
        return "list" if kind == "list" else "deque"
    return "list" if kind in ("dict", "set") else None


def _lock_around(file: FileAnalysis, function: ir.Function | None, call: ir.Call) -> str:
    """The lock that is held while an object is taken: "" for none."""
    if function is None:
        return ""
    for stmt in walk_statements(function.body):
        if not isinstance(stmt, ir.With) or not any(expr is call for expr in walk_expressions(stmt.body)):
            continue
        for item in stmt.items:
            kind = file.types.of(item.context, function)
            if kind is not None and kind.kind == "lock":
                if stmt.is_async:
                    return "asyncio_lock"
                return "condition" if _is_condition(file, item.context, function) else "list_lock"
    return ""


def _is_condition(file: FileAnalysis, expr: ir.Expr, function: ir.Function) -> bool:
    if not isinstance(expr, ir.Attr) or function.owner is None:
        return False
    return any(
        isinstance(binding.expr, ir.Call) and file.types.dotted(binding.expr.func).endswith("Condition")
        for binding in file.types.attrs_of(function.owner).get(expr.name, [])
    )


def grows(file: FileAnalysis, pool: KeptPool) -> bool:
    """Whether a borrower makes a buffer longer: then a new one costs more than its construction."""
    functions = {take.function for take in pool.use.takes} | {put.function for put in pool.use.puts}
    functions |= {function for function in file.tree.functions if file.handle_names(function)}
    for function in functions:
        if function is None:
            continue
        longer = {
            expr.func.value.id
            for expr in walk_expressions(function.body)
            if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr) and isinstance(expr.func.value, ir.Name)
            if expr.func.name in ("extend", "append", "insert", "resize")
        } | {
            stmt.target.id
            for stmt in walk_statements(function.body)
            if isinstance(stmt, ir.AugAssign) and isinstance(stmt.target, ir.Name)
        }
        assigned = file.containers.assigned(function)
        if any(file.is_borrow(value, function) for name in longer for value in assigned.get(name, ())):
            return True
    return False


def keeps_work(file: FileAnalysis, klass: ir.Klass) -> bool:
    """Whether an object grows more valuable with use: a cache of its own, or what a method fetched from elsewhere."""
    for each in file.types.bases_of(klass):
        for method in each.methods.values():
            if method.name == "__init__" or RESETTING.match(method.name):
                continue
            if _fills_lazily(method, method.params[0].name if method.params else ""):
                return True
            if any(_stores_work(file, stmt, method) for stmt in walk_statements(method.body)):
                return True
    return False


def _stores_work(file: FileAnalysis, stmt: ir.Stmt, method: ir.Function) -> bool:
    """Whether a statement puts something into an attribute of the object that it has fetched or worked out."""
    if not isinstance(stmt, ir.Assign) or stmt.value is None:
        return False
    for target in stmt.targets:
        if isinstance(target, ir.Sub) and _is_own(target.value, method):
            return True
        if isinstance(target, ir.Attr) and _is_own(target, method) and isinstance(stmt.value, ir.Call):
            kind = file.types.of(stmt.value.func, method)
            if kind is None or kind.kind not in ("class", "external"):
                return True
    return False


def filled_by_borrowers(file: FileAnalysis) -> bool:
    """Whether a borrower completes an object that lacks something: what it adds is kept, and costs more than known."""
    return any(
        _fills_lazily(function, str(name)) for function in file.tree.functions for name in file.handle_names(function)
    )


def _fills_lazily(function: ir.Function, name: str) -> bool:
    """Whether ``if x.attribute is None: x.attribute = ...`` stands in a function."""
    for stmt in walk_statements(function.body):
        if not isinstance(stmt, ir.If):
            continue
        asked = {
            expr.name
            for expr in walk_expressions([ir.ExprStmt(0, 0, stmt.test)])
            if isinstance(expr, ir.Attr) and isinstance(expr.value, ir.Name) and expr.value.id == name
        }
        stored = {
            target.name
            for inner in walk_statements([*stmt.body, *stmt.orelse])
            if isinstance(inner, ir.Assign) and not isinstance(inner.value, ir.Const)
            for target in inner.targets
            if isinstance(target, ir.Attr) and isinstance(target.value, ir.Name) and target.value.id == name
        }
        if asked & stored:
            return True
    return False


def _is_own(expr: ir.Expr, method: ir.Function) -> bool:
    return (
        isinstance(expr, ir.Attr)
        and isinstance(expr.value, ir.Name)
        and bool(method.params)
        and expr.value.id == method.params[0].name
    )


# What resets them.


def resets(pool: KeptPool) -> Iterable[tuple[ir.Function, list[ir.Stmt], str]]:
    """The statements that reset an object on its way back: the function, they, and the object's name there."""
    for put in pool.use.puts:
        if put.function is None or put.what not in ("given", "param") or not isinstance(put.value, ir.Name):
            continue
        name = put.value.id
        body = _block_of(put.function.body, put)
        if put.what == "given":
            body = [stmt for stmt in body if _is_reset_call(stmt, name) or _is_zeroing(stmt, name)]
        stmts = [stmt for stmt in body if _touches(stmt, name)]
        if stmts:
            yield put.function, stmts, name


def _block_of(body: list[ir.Stmt], put: Put) -> list[ir.Stmt]:
    """The statements before the put, in the block that holds it."""
    for index, stmt in enumerate(body):
        parts, bodies = statement_parts(stmt)
        if stmt is put.node or any(
            expr is put.node for part in parts for expr in walk_expressions([ir.ExprStmt(0, 0, part)])
        ):
            return body[:index]
        for inner in bodies:
            if any(each is put.node for each in (*walk_expressions(inner), *walk_statements(inner))):
                return [*body[:index], *_block_of(inner, put)]
    return []


def _is_reset_call(stmt: ir.Stmt, name: str) -> bool:
    if not isinstance(stmt, ir.ExprStmt) or not isinstance(stmt.value, ir.Call):
        return False
    func = stmt.value.func
    if isinstance(func, ir.Attr):
        return isinstance(func.value, ir.Name) and func.value.id == name and bool(RESETTING.match(func.name))
    return isinstance(func, ir.Name) and bool(RESETTING.match(func.id))


def _is_zeroing(stmt: ir.Stmt, name: str) -> bool:
    """Whether a statement overwrites all of a buffer with zeros: ``row[:] = bytes(len(row))``, or a loop over it."""
    if isinstance(stmt, ir.For):
        turn = set(names_read(stmt.target))
        return all(
            isinstance(inner, ir.Assign)
            and isinstance(inner.value, ir.Const)
            and all(_is_item_of(target, name) and turn & set(names_read(target)) for target in inner.targets)
            for inner in stmt.body
        )
    return (
        isinstance(stmt, ir.Assign)
        and isinstance(stmt.value, (ir.Call, ir.Op))
        and all(
            _is_item_of(target, name)
            and isinstance(target, ir.Sub)
            and isinstance(target.index, ir.Op)
            and not target.index.parts
            for target in stmt.targets
        )
        and not any(isinstance(expr, ir.Name) and expr.id == name for expr in _outside_len(stmt.value))
    )


def _is_item_of(target: ir.Expr, name: str) -> bool:
    return isinstance(target, ir.Sub) and isinstance(target.value, ir.Name) and target.value.id == name


def _outside_len(value: ir.Expr) -> Iterable[ir.Expr]:
    """The parts of an expression but for arguments of ``len``."""
    sized = {
        id(arg)
        for expr in walk_expressions([ir.ExprStmt(0, 0, value)])
        if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Name) and expr.func.id == "len"
        for arg in expr.args
    }
    return (expr for expr in walk_expressions([ir.ExprStmt(0, 0, value)]) if id(expr) not in sized)


def _touches(stmt: ir.Stmt, name: str) -> bool:
    return any(isinstance(expr, ir.Name) and expr.id == name for expr in walk_expressions([stmt]))
