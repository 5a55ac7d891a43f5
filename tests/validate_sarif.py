"""Validate a SARIF file against a JSON schema: ``python tests/validate_sarif.py SCHEMA FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from jsonschema.validators import validator_for


def main(schema_path: str, path: str) -> int:
    """Print what the schema forbids in the file, and how much of what is in it."""
    schema, log = (json.loads(Path(each).read_text(encoding="utf-8")) for each in (schema_path, path))
    validator = validator_for(schema)
    validator.check_schema(schema)
    faults = [f"{path}: {fault.json_path}: {fault.message}" for fault in validator(schema).iter_errors(log)]
    results = [result for run in log["runs"] for result in run["results"]]
    flows = sum("codeFlows" in result for result in results)
    sys.stdout.writelines(f"{fault}\n" for fault in faults)
    sys.stdout.write(f"{path}: {len(results)} results, {flows} with a code flow, {len(faults)} faults\n")
    return 1 if faults or not results else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
