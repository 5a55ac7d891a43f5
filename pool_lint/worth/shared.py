"""Whether the objects of a pool are immutable, so that one could be shared by all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.pools.types import decorator_names
from pool_lint.walk import walk_statements

if TYPE_CHECKING:
    from pool_lint.typestate.file import FileAnalysis
    from pool_lint.worth.kept import KeptPool

# What constructs something that can never change, and what messages call that.
_IMMUTABLE = {
    "frozenset": "frozenset", "re.compile": "compiled pattern", "re.Pattern": "compiled pattern",
    "typing.Pattern": "compiled pattern", "str": "str", "bytes": "bytes", "int": "int", "float": "float",
    "complex": "complex", "bool": "bool", "decimal.Decimal": "Decimal", "fractions.Fraction": "Fraction",
    "datetime.datetime": "datetime", "datetime.date": "date", "datetime.timedelta": "timedelta",
    "datetime.time": "time", "datetime.timezone": "timezone", "zoneinfo.ZoneInfo": "ZoneInfo", "uuid.UUID": "UUID",
    "pathlib.Path": "Path", "pathlib.PurePath": "PurePath", "types.MappingProxyType": "", "struct.Struct": "Struct",
    "ipaddress.ip_network": "network", "ipaddress.ip_address": "address", "operator.itemgetter": "itemgetter",
    "operator.attrgetter": "attrgetter", "string.Template": "",
}  # fmt: skip
_IMMUTABLE_FIELDS = frozenset(
    ("str", "int", "float", "bool", "bytes", "complex", "None", "frozenset", "Decimal", "Fraction")
)
# What is told from others by its value is a token, not one object of a kind.
_TOKENS = frozenset(("int", "float", "str", "bytes", "bool", "UUID", "address", "Path"))


def immutable_kind(file: FileAnalysis, pool: KeptPool) -> str:
    """What the pooled objects are, if all of them are immutable and alike; else ""."""
    kinds = {_kind(file, expr, scope, 0) for expr, scope in pool.made or ()}
    if len(kinds) != 1:
        return ""
    kind = kinds.pop()
    return "" if kind in _TOKENS else kind


def _kind(file: FileAnalysis, expr: ir.Expr, scope: ir.Function | None, depth: int) -> str:
    if not isinstance(expr, ir.Call) or depth > _DEEPEST:
        return ""
    kind = file.types.of(expr.func, scope)
    if kind is not None and kind.kind == "function" and kind.function is not None:
        return _returned(file, kind.function, depth)
    if kind is not None and kind.kind == "class" and kind.klass is not None:
        return kind.klass.name if _is_frozen(file, kind.klass) else ""
    dotted = kind.dotted if kind is not None and kind.kind == "external" else file.types.dotted(expr.func)
    return _IMMUTABLE.get(dotted.removeprefix("builtins."), "")


def _returned(file: FileAnalysis, function: ir.Function, depth: int) -> str:
    """What a function of the file returns, where every return agrees."""
    if function.is_generator or function.is_async or decorator_names(function) - {"staticmethod", "classmethod"}:
        return ""
    kinds = set()
    for stmt in walk_statements(function.body):
        if isinstance(stmt, ir.Return):
            if stmt.value is None:
                return ""
            values = [stmt.value]
            if isinstance(stmt.value, ir.Name):
                values = file.containers.assigned(function).get(stmt.value.id, [])
            kinds |= {_kind(file, value, function, depth + 1) for value in values} or {""}
    return kinds.pop() if len(kinds) == 1 else ""


def _is_frozen(file: FileAnalysis, klass: ir.Klass) -> bool:
    """Whether a class is a frozen dataclass or a NamedTuple whose fields are immutable too."""
    if file.types.unseen_bases(klass) or len(file.types.bases_of(klass)) != 1:
        return False
    named = any(file.types.dotted(base).rpartition(".")[2] == "NamedTuple" for base in klass.bases)
    frozen = any(
        isinstance(decorator, ir.Call)
        and file.types.dotted(decorator.func).rpartition(".")[2] in ("dataclass", "define", "frozen")
        and any(
            name == "frozen" and isinstance(value, ir.Const) and value.value is True
            for name, value in decorator.keywords
        )
        for decorator in klass.decorators
    )
    if not named and not frozen:
        return False
    fields = [stmt for stmt in klass.body if isinstance(stmt, ir.Assign) and stmt.annotation is not None]
    return bool(fields) and all(_is_immutable_field(file, stmt.annotation) for stmt in fields)


def _is_immutable_field(file: FileAnalysis, annotation: ir.Expr | None) -> bool:
    if isinstance(annotation, ir.Const) and annotation.value is None:
        return True
    if isinstance(annotation, ir.Op) and annotation.op == "BitOr":
        return all(_is_immutable_field(file, part) for part in annotation.parts)
    if isinstance(annotation, ir.Sub):
        head = file.types.dotted(annotation.value).rpartition(".")[2]
        if head in ("tuple", "Tuple", "frozenset", "FrozenSet", "Optional"):
            inner = annotation.index.items if isinstance(annotation.index, ir.Seq) else [annotation.index]
            return all(
                (isinstance(part, ir.Const) and part.value is Ellipsis) or _is_immutable_field(file, part)
                for part in inner
            )
        return head == "Pattern"
    return annotation is not None and file.types.dotted(annotation).rpartition(".")[2] in _IMMUTABLE_FIELDS


_DEEPEST = 3
