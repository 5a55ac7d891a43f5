"""``pool-lint calibrate`` and ``pool-lint profile``: measure an interpreter, and look at what was measured."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint.config import load_settings
from pool_lint.cost.bench import FULL, QUICK, calibrate, facts_of, warnings_of
from pool_lint.cost.picture import colour, heat_map, page, ratio_text, svg
from pool_lint.cost.profile import (
    cache_file,
    diff_rows,
    find_profile,
    key_of,
    merge_profiles,
    named_profile,
    save_profile,
    show_lines,
)
from pool_lint.files import PoolLintError, write_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from pool_lint.cost.picture import HeatMap
    from pool_lint.cost.profile import Profile

_EXTERNAL = frozenset(("socket", "subprocess", "ssl", "http", "sqlite3", "smtplib", "ftplib", "multiprocessing"))

# Five letters each, so that the map fits a terminal of 80 columns.
_SHORT = {
    "simple_queue": "SimpQ", "list_lock": "lock", "condition": "cond", "semaphore": "sema", "lifo_queue": "Lifo",
    "thread_local": "local", "context_var": "cvar", "asyncio_queue": "aioQ", "asyncio_lock": "aioL",
}  # fmt: skip


def run_calibrate(arguments: argparse.Namespace) -> int:
    """Measure, save the profile and draw it."""
    if arguments.report and Path(arguments.report).suffix not in (".svg", ".html"):
        # said before the measuring begins
        raise PoolLintError(f"--report {arguments.report}: must end in .svg or .html")
    python = arguments.python or sys.executable
    facts = facts_of(python)
    for warning in warnings_of(facts):
        _say(f"warning: {warning}")
    extra = [_measured(text) for text in arguments.measure]
    effort = QUICK if arguments.quick else FULL
    profile = _with_progress(
        lambda progress: calibrate(facts, effort, arguments.threads, extra, progress), quiet=arguments.no_picture
    )
    path = Path(arguments.output) if arguments.output else cache_file(facts)
    save_profile(profile, path)
    maps = [heat_map(profile, n) for n in dict.fromkeys((1, min(8, arguments.threads)))]
    if not arguments.no_picture:
        _draw(maps)
    if arguments.report:
        _report(Path(arguments.report), maps, f"pool_lint: what is worth pooling, by profile {profile.name}")
    for key in sorted(key for key in profile.costs if key.startswith("measured/")):
        cost = profile.costs[key]
        _say(f"{key.partition('/')[2]}: {cost.mid:.0f} ns [{cost.low:.0f}, {cost.high:.0f}]")
    for key in sorted(profile.convoys):
        _say(f"convoy: {key} hands the lock from thread to thread")
    unsteady = profile.about.get("unsteady")
    if isinstance(unsteady, list) and unsteady:
        _say(f"unsteady: {len(unsteady)} figures of several threads differ between workers by more than a fifth")
    sys.stdout.write(f"profile {profile.name} written to {path}\n")
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"pool-lint: {text}\n")


def _measured(text: str) -> dict[str, object]:
    """The task for a class of the user's: ``package.module:Class`` or ``package.module:Class(arg, ...)``."""
    module, colon, call = text.partition(":")
    name, paren, _ = call.partition("(")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise PoolLintError(f"--measure {text}: must look like package.module:Class or package.module:Class(1, 'a')")
    call = call if paren else f"{call}()"
    try:
        parsed = ast.parse(call, mode="eval").body
    except SyntaxError as error:
        raise PoolLintError(f"--measure {text}: {error.msg}") from error
    if not isinstance(parsed, ast.Call):
        raise PoolLintError(f"--measure {text}: must be one call")
    try:
        for value in (*parsed.args, *(keyword.value for keyword in parsed.keywords)):
            ast.literal_eval(value)
    except ValueError as error:
        raise PoolLintError(f"--measure {text}: its arguments must be literals") from error
    if module.partition(".")[0] in _EXTERNAL:
        _say(f"warning: {module} may open something outside the process; it is opened many times")
    # the worker constructs it only because it was named
    return {
        "key": f"measured/{module}:{call}",
        "kind": "loop",
        "setup": f"_made = measured.{name}",
        "stmt": f"measured.{call}",
        "imports": module,
    }


def _with_progress(work: Callable[[Callable[[float], None]], Profile], *, quiet: bool) -> Profile:
    """Run the work with a bar on the terminal, where there is one."""
    from rich.console import Console  # noqa: PLC0415 - the analysis never draws
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - as above

    console = Console(stderr=True)
    with Progress(
        TextColumn("calibrating"), BarColumn(), TimeElapsedColumn(), console=console, disable=quiet, transient=True
    ) as bar:
        task = bar.add_task("", total=1.0)
        return work(lambda share: bar.update(task, completed=share))


def _draw(maps: list[HeatMap]) -> None:
    """The heat maps in the terminal."""
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console()
    for heat in maps:
        table = Table(
            title=f"n = {heat.threads}: constructor over borrow and return (green: pooling pays)", box=None, padding=0
        )
        table.add_column("", max_width=20, no_wrap=True)
        for shape, _ in heat.columns:
            table.add_column(_SHORT.get(shape, shape), justify="right", no_wrap=True, width=5)
        breaks = heat.breaks()
        for row, (name, _) in enumerate(heat.rows):
            cells = [Text(name)]
            for column in range(len(heat.columns)):
                # the break-even line is drawn under the last cell of a column that pays
                line = " underline" if row + 1 == breaks[column] else ""
                cells.append(
                    Text(
                        f"{ratio_text(2 ** heat.cell(row, column)):>5}",
                        style=f"white on {colour(heat.cell(row, column))}{line}",
                    )
                )
            table.add_row(*cells)
        console.print(table)


def _report(path: Path, maps: list[HeatMap], title: str) -> None:
    picture = svg(maps, title)
    write_text(path, page(picture, title) if path.suffix == ".html" else picture)


def run_profile(arguments: argparse.Namespace) -> int:
    """Show, compare or merge profiles."""
    names: Sequence[str] = arguments.profiles
    if arguments.action == "show":
        profile = named_profile(names[0]) if names else find_profile(load_settings(Path.cwd()).profile)
        for line in show_lines(profile):
            sys.stdout.write(line + "\n")
        _note_if_foreign(profile)
        return 0
    if len(names) < 2:  # noqa: PLR2004 - two can be compared
        raise PoolLintError(f"profile {arguments.action}: needs two profiles or more")
    profiles = [named_profile(name) for name in names]
    if arguments.action == "diff":
        for key, one, two, ratio in diff_rows(profiles[0], profiles[1]):
            sys.stdout.write(f"{key:48} {one:12.1f} {two:12.1f} ns  {ratio:6.2f}x\n")
        return 0
    if not arguments.output:
        raise PoolLintError("profile merge: needs --output FILE")
    merged = merge_profiles(profiles, Path(arguments.output).stem)
    save_profile(merged, Path(arguments.output))
    sys.stdout.write(f"profile {merged.name} holds for {len(profiles)} machines: {arguments.output}\n")
    return 0


def _note_if_foreign(profile: Profile) -> None:
    from pool_lint.cost.worker import facts  # noqa: PLC0415 - only here

    key = profile.about.get("key")
    if key is not None and key != key_of(facts()):
        _say(f"note: profile {profile.name} was measured on another interpreter or build than this one")
