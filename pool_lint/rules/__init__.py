"""The rules: one module each, loaded in the order of their codes."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from pool_lint.rules.base import LoadedRule, Rule


@cache
def load_rules() -> tuple[LoadedRule, ...]:
    """Return every rule; raises ValueError for a module without code, documentation or check."""
    loaded = []
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda each: each.name):
        if not info.name.startswith("pol"):
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        rule = getattr(module, "RULE", None)
        check = getattr(module, "check", None)
        if not isinstance(rule, Rule) or check is None or not module.__doc__:
            raise ValueError(f"{info.name}: a rule module needs RULE, check and a docstring")
        loaded.append(LoadedRule(rule, module.__doc__, check))
    return tuple(loaded)
