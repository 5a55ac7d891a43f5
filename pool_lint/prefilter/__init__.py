"""Whether a file can have findings at all: asked before libcst, the catalog or the analysis is loaded.

Two sieves, each of which lets everything through that it cannot rule out.  The first looks for words in the text,
which costs microseconds; the second looks at the few statements of flake8's own tree that have such words.  Names of
libraries, containers, methods and constructors come from the catalog, from the user's models and from the recognisers
themselves (`words`), so that a new one cannot be forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pool_lint.prefilter.connections import keeps_connections
from pool_lint.prefilter.known import known
from pool_lint.prefilter.loans import counts, lends_from_container, lends_per_thread, uses_pair
from pool_lint.prefilter.text import imported_words
from pool_lint.prefilter.tree import Tree

if TYPE_CHECKING:
    import ast

    from pool_lint.config import Settings


def may_have_findings(text: str, settings: Settings, tree: ast.Module | None = None) -> bool:
    """Whether some rule's finding may stand in ``text``; ``tree`` is its parsed form, where the caller has it."""
    words = known(settings)
    imported = imported_words(text)
    if not words.packages.isdisjoint(imported):
        return True
    looked_up = Tree(text, tree)
    return (
        lends_from_container(text, looked_up, words)
        or uses_pair(text)
        or counts(text, looked_up)
        or lends_per_thread(text)
        or keeps_connections(text, looked_up, words, imported)
    )
