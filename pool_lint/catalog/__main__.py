"""Write ``prebuilt.json`` anew: ``python -m pool_lint.catalog``, after a TOML file of the catalog has changed."""

from __future__ import annotations

from pool_lint.catalog.load import PREBUILT, prebuild

if __name__ == "__main__":
    PREBUILT.write_text(prebuild(), encoding="utf-8", newline="\n")
