"""What a command is, and what commands share: exit statuses, complaints, kinds of argument."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pool_lint.files import PoolLintError

if TYPE_CHECKING:
    from collections.abc import Callable

CLEAN, FOUND, FAILED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name, what its help says, what declares its arguments, what runs it to an exit status.

    ``more`` is what its own help says beyond that.
    """

    name: str
    help: str
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    more: str = ""

    @property
    def description(self) -> str:
        """What the command's own help begins with: sentences."""
        return f"{self.help[0].upper()}{self.help[1:]}. {self.more}".strip()


def complain(text: str) -> None:
    """Say on standard error what went wrong."""
    # what was found so far comes first, also where both streams end in one file
    sys.stdout.flush()
    sys.stderr.write(f"pool-lint: {text}\n")


def positive(text: str) -> int:
    """Return the number that an argument stands for, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def file_and_line(place: str) -> tuple[str, int]:
    """Return the two parts of ``FILE:LINE``."""
    name, colon, line = place.rpartition(":")
    if not colon or not line.isdecimal():
        raise PoolLintError(f"{place}: must be FILE:LINE")
    return name, int(line)
