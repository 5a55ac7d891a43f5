"""Read files, and name what is wrong with them in one line that the user can act on."""

from __future__ import annotations

import io
import tokenize
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class PoolLintError(Exception):
    """Something that the user can mend: one line that names the file and the key; exit status 2."""


def read_toml(path: Path) -> dict[str, object]:
    """Return the parsed TOML file at ``path``."""
    import tomli  # noqa: PLC0415 - flake8 starts the plugin where there is no such file too

    try:
        return tomli.loads(path.read_bytes().decode())
    except OSError as error:
        raise PoolLintError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise PoolLintError(f"{path}: is not valid TOML: not UTF-8 at byte {error.start}") from error
    except tomli.TOMLDecodeError as error:
        raise PoolLintError(f"{path}: is not valid TOML: {one_line(error)}") from error


def read_source(path: Path) -> str:
    """Return the text of the Python file at ``path``, decoded as Python would decode it."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PoolLintError(f"{path}: cannot be read: {error.strerror or error}") from error
    return decode_source(data, str(path))


def decode_source(data: bytes, where: str) -> str:
    """Return Python source as text: byte order mark and coding cookie obeyed, every line end a newline."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise PoolLintError(f"{where}: cannot be decoded: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """Return the first line of an error's text, or its type where it has none."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
