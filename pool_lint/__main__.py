"""Run the command line as ``python -m pool_lint``."""

from pool_lint.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
