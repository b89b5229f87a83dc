"""Marks of folders of results: what they say, their checksums, and files verified by them.

The mark, `provenance.json`, has the SHA-256 of every file of a complete folder (`sha256`), and on
its first line that of all its other lines (`checksum`). Whatever nodeb reads is compared with the
mark of its folder, if that lists it: a few wrong bits read as other numbers.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nodeb.errors import InputError

__all__ = ["MARK", "SUMS", "Mark", "check", "parse", "read_settled", "sums", "text"]

MARK = "provenance.json"
SUMS = "sha256"
"""In the mark: the checksum of each file, by its path in the folder."""
CHECKSUM = "checksum"
"""In the mark: its own."""
HEX = re.compile(r"[0-9a-f]{64}")
DEEP = 3
"""Folders above a file in which its mark may be."""
TRIES = 100
"""Attempts to read a folder that is replaced meanwhile."""

Mark = dict[str, Any]
Found = TypeVar("Found")


def text(mark: Mapping[str, Any]) -> bytes:
    """Returns the content of the file of a mark, with its checksum."""
    said = {name: value for name, value in mark.items() if name != CHECKSUM}
    checksum = hashlib.sha256(_json(said)).hexdigest()
    return _json({CHECKSUM: checksum, **said})


def parse(data: bytes) -> Mark:
    """Returns what the file of a mark says.

    Raises:
        ValueError: it is damaged, or no mark; the message goes on a sentence with the file.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError("cannot be understood")
    first = next(iter(found.values()), None)
    is_sealed = CHECKSUM in found or (isinstance(first, str) and HEX.fullmatch(first))
    if is_sealed and text(found) != data:  # the name of the checksum may be what is damaged
        raise ValueError("is damaged: its content differs from its checksum")
    return found


def sums(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Returns the checksums of files by their path in a folder.

    Args:
        folder: where they are.
        names: files, and folders with files; one with a mark of its own is left to that.
    """
    found: dict[str, str] = {}
    for name in sorted(names):
        for file in _files(folder / name):
            with file.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            found[file.relative_to(folder).as_posix()] = digest
    return found


def check(file: Path, digest: str) -> None:
    """Complains about a file that differs from what the mark of its folder says.

    Args:
        file: what was read.
        digest: SHA-256 of its content.

    Raises:
        InputError: it is damaged, or the mark is.
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
    """Reads from a folder of results, again if it was replaced meanwhile.

    Args:
        folder: whose mark tells that it was replaced.
        read: reads what is wanted.

    Raises:
        InputError: it is replaced all the time; or what `read` raises.
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
    raise InputError(f"{folder} is replaced by others all the time")


def _files(path: Path) -> Iterator[Path]:
    """All files in a folder, in a fixed order; or the file itself."""
    if path.is_dir() and not (path / MARK).exists():
        yield from sorted(file for file in path.rglob("*") if file.is_file())
    elif path.is_file():
        yield path


def _content(folder: Path) -> bytes | None:
    """What is in the file of a folder's mark; None if there is none that can be read."""
    with contextlib.suppress(OSError):
        return (folder / MARK).read_bytes()
    return None


def _json(data: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(data, indent=2)}\n".encode()
