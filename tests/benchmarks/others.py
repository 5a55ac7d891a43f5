"""What other linters report on the fixtures of POL1xx, and how often that is a line that must be reported.

usage: python -m tests.benchmarks.others [FOLDER]   (FOLDER: where their programs are; default: that of this Python)
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = {
    "ruff": ("check", "--isolated", "--no-cache", "--preview", "--select=SIM115,ASYNC,B", "--output-format=concise"),
    "pylint": ("--disable=all", "--enable=R1732", "--score=n"),
    "flake8": ("--isolated", "--select=ASYNC,B"),
}
# path:line:column: and a code, or a name where ruff is asked for rules in preview
REPORT = re.compile(r"(?P<path>[^:]+):(?P<line>\d+):\d+: (?P<code>[A-Za-z][\w-]*)")


def fixtures() -> dict[str, set[int]]:
    """The files that this Python can parse, each with the lines that must be reported."""
    found = {}
    for path in (ROOT / "fixtures" / "examples" / "orders.py", *sorted(ROOT.glob("fixtures/POL1*/*.py"))):
        text = path.read_text(encoding="utf-8")
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        lines = enumerate(text.split("\n"), 1)
        found[path.relative_to(ROOT).as_posix()] = {n for n, line in lines if re.search(r"# want: .*POL1", line)}
    return found


def main() -> int:
    """Print, for each program and code, how many lines it reports and how many of them are marked."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(sys.executable).parent
    wanted = fixtures()
    print(f"{len(wanted)} files, {sum(map(len, wanted.values()))} marked lines")
    for program, arguments in PROGRAMS.items():
        command = [str(folder.absolute() / program), *arguments, *wanted]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        reported: dict[str, set[tuple[str, int]]] = defaultdict(set)
        for line in done.stdout.splitlines():
            match = REPORT.match(line)
            if match and match["path"] in wanted:
                reported[match["code"]].add((match["path"], int(match["line"])))
        for code, lines in sorted(reported.items()):
            marked = sum(line in wanted[path] for path, line in lines)
            print(f"{program:7} {code:45} {len(lines):4} lines, {marked:3} of them marked")
        if not reported:
            print(f"{program:7} nothing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
