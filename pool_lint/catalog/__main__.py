"""Write ``prebuilt.json`` and ``words.json`` anew: ``python -m pool_lint.catalog``, after a TOML file has changed."""

from __future__ import annotations

import json

from pool_lint.catalog.load import PREBUILT, load_catalog, prebuild
from pool_lint.catalog.words import WORDS, words_of

if __name__ == "__main__":
    PREBUILT.write_text(prebuild(), encoding="utf-8", newline="\n")
    WORDS.write_text(json.dumps(words_of(load_catalog()), indent=1) + "\n", encoding="utf-8", newline="\n")
