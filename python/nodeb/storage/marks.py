"""Marks of folders of results: content, checksums, and verification of files.

The mark, `provenance.json`, has the SHA-256 of every file of a complete folder except its cells
(`sha256`), and as its first entry the hash of its other entries (`checksum`). Flipped bits would be
read as other numbers. Therefore nodeb compares a file that it reads with the nearest mark, in the
file's folder or up to two folders above, if that mark lists the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nodeb.errors import InputError

__all__ = ["MARK", "SUMS", "Mark", "check", "digest_of", "parse", "read_settled", "sums", "text"]

MARK = "provenance.json"
SUMS = "sha256"
"""Key in `provenance.json` of the checksums of files, by path within the folder."""
CHECKSUM = "checksum"
"""Key in `provenance.json` of the checksum of its other entries."""
HEX = re.compile(r"[0-9a-f]{64}")
DEEP = 3
"""Number of folders in which a file's `provenance.json` is searched: its own and those above."""
TRIES = 100
"""Attempts to read a folder that is replaced meanwhile."""

Mark = dict[str, Any]
Found = TypeVar("Found")


def text(mark: Mapping[str, Any]) -> bytes:
    """Returns the text of `provenance.json` for its entries, with their checksum as first entry."""
    said = {name: value for name, value in mark.items() if name != CHECKSUM}
    checksum = hashlib.sha256(_json(said)).hexdigest()
    return _json({CHECKSUM: checksum, **said})


def parse(data: bytes) -> Mark:
    """Parses the content of `provenance.json`.

    Raises:
        ValueError: the content is damaged or invalid; the message continues a sentence that begins
            with the name of the file.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError("cannot be understood")
    first = next(iter(found.values()), None)
    is_sealed = CHECKSUM in found or (isinstance(first, str) and HEX.fullmatch(first))
    # A checksum whose key is damaged is recognised by its value, 64 hexadecimal digits.
    if is_sealed and text(found) != data:
        raise ValueError("is damaged: its content differs from its checksum")
    return found


def sums(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Returns the checksums of files by their path in a folder.

    Args:
        folder: folder of the files.
        names: files, and folders with files; a folder with its own `provenance.json` is skipped.
    """
    found: dict[str, str] = {}
    for name in sorted(names):
        for file in _files(folder / name):
            found[file.relative_to(folder).as_posix()] = digest_of(file)
    return found


def digest_of(file: Path | io.BufferedReader) -> str:
    """Returns the SHA-256 of the content of a file, given by its path or opened."""
    if isinstance(file, Path):
        with file.open("rb") as content:
            return digest_of(content)
    return hashlib.file_digest(file, "sha256").hexdigest()


def check(file: Path, digest: str) -> None:
    """Checks that a file agrees with its checksum in `provenance.json`, if it has one there.

    Args:
        file: file that was read.
        digest: SHA-256 of the file's content.

    Raises:
        InputError: the file or `provenance.json` is damaged.
    """
    place = file.absolute()
    for folder in place.parents[:DEEP]:
        data = _content(folder)
        if data is None:
            continue
        mark = folder / MARK
        try:
            noted = parse(data).get(SUMS, {})
        except ValueError as error:
            raise InputError(f"{file} cannot be verified: {mark} {error}") from None
        if noted.get(place.relative_to(folder).as_posix(), digest) != digest:
            raise InputError(
                f"{file} is not what nodeb wrote: it differs from its checksum in {mark}. Make it "
                "again, or copy it to another folder if it was changed on purpose"
            )
        return


def read_settled(folder: Path, read: Callable[[], Found]) -> Found:
    """Reads data from a folder of results. Reads again if the folder was replaced meanwhile.

    All data that are returned belong to the same results.

    Args:
        folder: folder whose `provenance.json` shows if it was replaced.
        read: function that reads the data.

    Raises:
        InputError: the folder is replaced repeatedly; or any error of `read`.
    """
    for _ in range(TRIES):
        before = _content(folder)
        try:
            found = read()
        except (OSError, ValueError):
            if _content(folder) == before:
                raise
        else:
            if _content(folder) == before:
                return found
    raise InputError(f"{folder} is replaced by other processes repeatedly")


def _files(path: Path) -> Iterator[Path]:
    """Yields all files in a folder, in a fixed order, or `path` itself if it is a file.

    Yields nothing for a folder with its own `provenance.json`.
    """
    if path.is_dir() and not (path / MARK).exists():
        yield from sorted(file for file in path.rglob("*") if file.is_file())
    elif path.is_file():
        yield path


def _content(folder: Path) -> bytes | None:
    """Returns the content of a folder's `provenance.json`; `None` if it cannot be read."""
    with contextlib.suppress(OSError):
        return (folder / MARK).read_bytes()
    return None


def _json(data: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(data, indent=2)}\n".encode()
