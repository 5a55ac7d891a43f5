"""The flake8 plugin: hand flake8's view of a file to the engine and its findings back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from flake8.exceptions import ExecutionError

from pool_lint import __version__
from pool_lint.codes import OFF_BY_DEFAULT
from pool_lint.config import (
    MAY_RAISE,
    Settings,
    load_settings,
    override,
    override_baseline,
    override_costs,
    project_root,
)
from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    import argparse
    import ast
    from collections.abc import Iterator, Sequence

    from flake8.options.manager import OptionManager

    from pool_lint.finding import Finding


class PoolLintPlugin:
    """One file as flake8 hands it over; ``run`` gives its findings."""

    name = "pool_lint"
    version = __version__
    settings: ClassVar[Settings] = Settings()
    known: ClassVar[frozenset[str]] = frozenset()
    hidden: ClassVar[frozenset[str]] = frozenset(OFF_BY_DEFAULT)

    def __init__(self, tree: ast.Module, lines: Sequence[str], filename: str) -> None:
        self._tree = tree
        self._lines = lines
        self._filename = filename

    @staticmethod
    def add_options(manager: OptionManager) -> None:
        """Declare the options, on the command line and in flake8's configuration, and what is off by default."""
        manager.extend_default_ignore(list(OFF_BY_DEFAULT))
        manager.add_option(
            "--pool-lint-may-raise",
            metavar="WHAT",
            parse_from_config=True,
            help=f"what is taken to raise: {', '.join(MAY_RAISE)} (default: {Settings().may_raise})",
        )
        manager.add_option(
            "--pool-lint-no-raise",
            metavar="NAMES",
            parse_from_config=True,
            comma_separated_list=True,
            help="functions (dotted names) and methods (names) that never raise, comma-separated",
        )
        for name, metavar, text in (
            ("margin", "FACTOR", f"by how much pooling must lose to be reported (default: {Settings().margin})"),
            ("threads", "N", f"how many threads contend for a pool (default: {Settings().threads})"),
            ("profile", "FILE", "the measured costs to use, as `pool-lint calibrate` writes them"),
        ):
            manager.add_option(f"--pool-lint-{name}", metavar=metavar, parse_from_config=True, help=text)
        manager.add_option(
            "--pool-lint-baseline",
            metavar="FILE",
            parse_from_config=True,
            normalize_paths=True,
            help="do not report the findings in this file, which `pool-lint check --write-baseline` writes",
        )

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Take the settings of pyproject.toml and, over them, those given to flake8."""
        try:
            cls.settings = override(
                load_settings(Path.cwd()),
                options.pool_lint_may_raise,
                options.pool_lint_no_raise,
                "flake8 option pool_lint_",
            )
            cls.settings = override_costs(
                cls.settings,
                options.pool_lint_margin,
                options.pool_lint_threads,
                options.pool_lint_profile,
                "flake8 option pool_lint_",
            )
            cls.settings = override_baseline(cls.settings, options.pool_lint_baseline, "flake8 option pool_lint_")
            cls.known = frozenset()
            if cls.settings.baseline:
                from pool_lint.baseline import known_fingerprints  # noqa: PLC0415 - not where there is none

                cls.known = known_fingerprints(cls.settings.baseline)
            if cls.settings.profile:
                # what is named is read at once, so that a broken file is said before the first finding
                from pool_lint.cost.profile import find_profile  # noqa: PLC0415 - not where none is named

                find_profile(cls.settings.profile)
        except PoolLintError as error:
            raise ExecutionError(str(error)) from error
        # flake8 forgets the default ignore list as soon as a user sets `ignore`; opt-in rules stay off even then
        selected = (*(options.select or ()), *(options.extend_select or ()))
        cls.hidden = frozenset(code for code in OFF_BY_DEFAULT if not code.startswith(selected))

    def run(self) -> Iterator[tuple[int, int, str, type[PoolLintPlugin]]]:
        """Yield line, column and text of each finding."""
        # the analysis and its parser are loaded when the first file needs them, not for `flake8 --help`
        from pool_lint.engine import check_text  # noqa: PLC0415

        text = "".join(self._lines)
        found = check_text(text, self._filename, self.settings, self._tree)
        for finding in self._unknown(found, text) if self.known else found:
            if finding.code not in self.hidden:
                yield finding.line, finding.column, f"{finding.code} {finding.message}", type(self)

    def _unknown(self, findings: list[Finding], text: str) -> list[Finding]:
        """The findings that the baseline does not hold."""
        from pool_lint.fingerprint import anchors, relative_path  # noqa: PLC0415 - only a baseline asks for them

        where = anchors(findings, text, relative_path(self._filename, project_root(Path.cwd())), self._tree)
        return [finding for finding in findings if where[finding].fingerprint not in self.known]
