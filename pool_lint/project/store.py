"""Keep outlines on disk under the hash of the text that they were made from.

A file of the cache names no path and no machine, so a cache may be carried from one to another.  What is read is
checked before it is used, and what is broken or foreign is not used; where nothing can be written, nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import tempfile
from pathlib import Path

from pool_lint import __version__
from pool_lint.project.outline import CLASS, FUNCTION, Chain, Outline, Piece

SCHEMA = 3
_LARGEST = 16 * 1024 * 1024  # bytes; the outline of any source file is far smaller


class Store:
    """A folder of outlines; without a folder, nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def load(self, text: str) -> Outline | None:
        """Return the outline that is kept for a text, if there is a sound one."""
        if self._folder is None:
            return None
        key = _key(text)
        try:
            with (self._folder / key[:2] / f"{key}.json").open("rb") as stream:
                data = stream.read(_LARGEST)
            head, _, body = data.partition(b"\n")
            if head.decode("ascii") != _seal(key, body):
                return None
            return _outline(json.loads(body))
        except (OSError, ValueError, TypeError, RecursionError, MemoryError):
            return None

    def save(self, text: str, outline: Outline) -> None:
        """Keep an outline, if that can be done; two that write the same file write the same bytes."""
        if self._folder is None:
            return
        key = _key(text)
        body = json.dumps(_plain(outline), separators=(",", ":"), ensure_ascii=True).encode("ascii")
        folder = self._folder / key[:2]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=folder, prefix=key[:8], suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(_seal(key, body).encode("ascii") + b"\n" + body)
                Path(name).replace(folder / f"{key}.json")
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(name).unlink(missing_ok=True)
                raise
        except OSError:
            self._folder = None  # a disk that is full or not ours to write on: no cache for the rest of the run


def _key(text: str) -> str:
    digest = hashlib.sha256(f"pool_lint {__version__} outline {SCHEMA}\n".encode())
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _seal(key: str, body: bytes) -> str:
    """What the first line says: which text this belongs to, and that the rest is whole."""
    return f"{key} {hashlib.sha256(body).hexdigest()}"


def _plain(outline: Outline) -> dict[str, object]:
    return {
        "pieces": [
            [
                piece.first,
                piece.last,
                list(piece.names),
                [_joint(chain) for chain in piece.uses],
                sorted(piece.attributes),
                sorted(piece.inside),
                piece.makes,
                [_joint(chain) for chain in piece.flows],
                sorted(piece.givers),
                piece.kind,
            ]
            for piece in outline.pieces
        ],
        "imports": outline.imports,
        "stars": list(outline.stars),
        "passes": outline.passes,
    }


def _outline(data: object) -> Outline:
    """Return the outline that plain data describes; raises ValueError or TypeError where it does not."""
    if not isinstance(data, dict) or data.keys() != {"pieces", "imports", "stars", "passes"}:
        raise ValueError("not an outline")
    imports = data["imports"]
    if not isinstance(imports, dict) or not isinstance(data["pieces"], list) or type(data["passes"]) is not bool:
        raise TypeError("not an outline")
    pieces = [_piece(entry) for entry in data["pieces"]]
    if any(one.last >= other.first for one, other in itertools.pairwise(pieces)):
        raise ValueError("pieces out of order")
    named = dict(zip(_texts(list(imports)), _texts(list(imports.values())), strict=True))
    return Outline(tuple(pieces), named, _texts(data["stars"]), data["passes"])


def _piece(entry: object) -> Piece:
    if not isinstance(entry, list):
        raise TypeError("not a piece")
    first, last, names, uses, attributes, inside, makes, flows, givers, kind = entry
    if (
        type(first) is not int
        or type(last) is not int
        or not 1 <= first <= last
        or type(makes) is not str
        or kind not in ("", CLASS, FUNCTION)
    ):
        raise ValueError("not a piece")
    return Piece(
        first,
        last,
        _texts(names),
        _chains(uses),
        frozenset(_texts(attributes)),
        frozenset(_texts(inside)),
        makes,
        _chains(flows),
        frozenset(_texts(givers)),
        kind,
    )


def _joint(chain: Chain) -> str:
    return ".".join(chain)


def _chains(value: object) -> tuple[Chain, ...]:
    """Paths; one that begins with a dot is the name of a method."""
    return tuple((text,) if text.startswith(".") else tuple(text.split(".")) for text in _texts(value))


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(type(each) is str and each for each in value):
        raise TypeError("not a list of names")
    return tuple(value)
