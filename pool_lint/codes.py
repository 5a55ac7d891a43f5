"""Codes that mean something before any rule is loaded."""

from __future__ import annotations

INTERNAL_ERROR = "POL000"

# Codes that stay off until a user selects them; the tests compare them with the rules' own flags.
# They are named here and not asked of the rules, so that flake8 can start without loading the analysis.
OFF_BY_DEFAULT = (INTERNAL_ERROR, "POL405", "POL407")
