"""Read files, and name what is wrong with them in one line that the user can act on."""

from __future__ import annotations

import io
import os
import tokenize
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


def read_json(path: Path) -> object:
    """Return the parsed JSON file at ``path``."""
    import json  # noqa: PLC0415 - most runs read none

    try:
        data: object = json.loads(path.read_bytes())
    except OSError as error:
        raise PoolLintError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise PoolLintError(f"{path}: is not valid JSON: {one_line(error)}") from error
    return data


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, as `write_bytes` does."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old one or the new one, never half of it; missing folders are made."""
    import tempfile  # noqa: PLC0415 - most runs write nothing

    try:
        # what a link points to is written, not the link
        target = path.resolve()
        if target.exists() and not target.is_file():
            # a terminal or a pipe cannot be replaced
            target.write_bytes(data)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode if target.exists() else 0o644
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(name).chmod(mode & 0o7777)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise PoolLintError(f"{path}: cannot be written: {error.strerror or one_line(error)}") from error


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
