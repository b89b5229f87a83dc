"""Atomic writing of files, and tables in Parquet and CSV files.

A file is written under another name in the same folder, forced to the disk and then renamed.
Readers find the old or the new file, even if the process is killed or the machine fails.
"""

from __future__ import annotations

import contextlib
import csv
import ctypes
import hashlib
import io
import itertools
import os
import platform
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeb.base.table import Table
from nodeb.errors import OutputError, writing
from nodeb.storage import marks

__all__ = [
    "PARQUET",
    "arrow_reader",
    "aside",
    "check_place",
    "csv_text",
    "file_aside",
    "is_leftover",
    "leftovers",
    "names_to_disk",
    "parquet",
    "read_parquet",
    "refuse_other",
    "remove",
    "remove_leftovers",
    "replace",
    "swap",
    "write",
    "write_bytes",
    "write_parquet",
]

LEFTOVER_S = 3600.0
"""Age, s, from which an unfinished file of another machine counts as left by a killed process."""
TRIES = 100
"""Attempts at a folder that other processes claim or replace at the same time."""
MAX_NAME = 255
"""Maximum length of a file name, bytes, in common file systems."""
DIGITS = 10
"""Maximum number of digits of a process ID, and of the count of files that a process writes."""
PARQUET: Mapping[str, Any] = {"compression": "zstd", "write_page_checksum": True}
"""Options of Parquet files: compression, and checksums of pages."""
_HOST = re.sub(r"\W", "_", platform.node())
_ASIDE = re.compile(r"\.(?P<of>.+)\.(?P<host>\w*)-(?P<process>\d+)-\d+\.tmp")
_numbers = itertools.count()
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def aside(path: Path) -> Path:
    """Returns a hidden temporary path next to a path, unique to this process."""
    return path.with_name(f".{_abridged(path.name)}.{_HOST}-{os.getpid()}-{next(_numbers)}.tmp")


def _abridged(name: str) -> str:
    """Returns a file's name, or its hash if a temporary name with it would exceed `MAX_NAME`."""
    room = MAX_NAME - len(f"..{_HOST}--.tmp") - 2 * DIGITS
    data = os.fsencode(name)
    return name if len(data) <= room else hashlib.sha256(data).hexdigest()[:32]


@contextlib.contextmanager
def file_aside(path: Path) -> Iterator[Path]:
    """Yields a temporary path next to `path`.

    If a file with the temporary name still exists at the end of the block, it is removed.
    """
    part = aside(path)
    try:
        yield part
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def replace(path: Path, write: Callable[[Path], None], *, to_disk: bool = True) -> None:
    """Writes a file atomically.

    Args:
        path: path of the file.
        write: function that writes the content to a given path.
        to_disk: wait until the file is safe from a power failure.

    Raises:
        OSError: the file, which the error names, cannot be written; a previous one is kept.
        OutputError: the path is not a file but, for instance, a device, which renaming would
            remove.
    """
    if path.exists() and not path.is_file():
        raise OutputError(
            f"{path} is a folder, device or pipe, which is not replaced; expected a file"
        )
    with file_aside(path) as part:
        try:
            write(part)
            if to_disk:
                _to_disk(part, os.O_RDWR)
            part.replace(path)
            if to_disk:
                names_to_disk(path.parent)
        except OSError as error:
            # The error has the temporary name, or none if the disk is full. Users know only `path`.
            error.filename = str(path)
            raise


def refuse_other(path: Path, begins: bytes, what: str, option: str) -> None:
    """Checks that a path holds no file of another kind than the one to be written.

    Args:
        path: path of the file to write; it may be missing or empty.
        begins: first bytes of every file of the kind to be written.
        what: kind of file in messages, such as "a capture".
        option: command-line option that gives the path, for messages.

    Raises:
        OutputError: there is a file of another kind.
    """
    _refuse_unless(path, lambda head: head.startswith(begins), what, option)


PAGE = re.compile(rb"<!doctype html>.*<meta name=\"generator\" content=\"nodeb ", re.DOTALL)
HEAD = 4096
"""Number of bytes read at the beginning of a file to recognise its kind.

In a page, they include the name of the generator.
"""


def refuse_other_page(path: Path, option: str) -> None:
    """Checks that a path is named as HTML, and holds no file that nodeb did not write.

    Args:
        path: path of the page to write; it may be missing or empty.
        option: command-line option that gives the path, for messages.

    Raises:
        OutputError: the name has the extension of another kind of file, or nodeb did not write the
            existing file.
    """
    if path.suffix.lower() not in ("", ".html", ".htm"):
        raise OutputError(
            f"{option} {path}: the page is HTML, with its pictures in it; give a name that ends in "
            ".html"
        )
    _refuse_unless(path, PAGE.match, "a page that nodeb made", option)


def _refuse_unless(path: Path, matches: Callable[[bytes], object], what: str, option: str) -> None:
    """Refuses an existing file whose first `HEAD` bytes do not match, unless it is empty."""
    if not path.is_file():  # There is no file, or the path is a device such as /dev/null.
        return
    head = b""
    with contextlib.suppress(OSError), path.open("rb") as file:
        head = file.read(HEAD)
    if head and not matches(head):
        raise OutputError(
            f"{path} is there already and is not {what}; give another file with {option}"
        )


def check_place(path: Path, option: str) -> None:
    """Checks, before a command starts its work, that a file can be written to a path.

    Removes temporary files that killed processes left when they wrote to the same path.

    Args:
        path: path of the file to write.
        option: command-line option that gives the path, for messages.

    Raises:
        OutputError: the name is empty, its folder does not exist or is read-only, or the path is
            that of a folder, device or pipe.
    """
    wrong = None
    if not path.name:
        wrong = "names no file"
    elif path.exists() and not path.is_file():
        wrong = f"is {path}, a folder, device or pipe"
    elif not path.parent.is_dir():
        wrong = f"is {path}, but there is no folder {path.parent}"
    if wrong is not None:
        raise OutputError(f"{option} {wrong}; expected the name of a file")
    place = path.resolve()
    remove_leftovers(place.parent, place.name)
    with writing(f"write {path}"), file_aside(place) as part:
        part.touch()


def write_bytes(path: Path, data: bytes, *, to_disk: bool = True) -> None:
    """Writes bytes atomically; see `replace`."""

    def write(part: Path) -> None:
        part.write_bytes(data)

    replace(path, write, to_disk=to_disk)


def write(path: Path, content: str | bytes) -> None:
    """Writes a result atomically (`replace`); its folder is created if missing.

    Raises:
        OutputError: the file cannot be written.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    with writing(f"write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data)


def parquet(table: Table) -> bytes:
    """Returns the content of a Parquet file with a table, as bytes."""
    import pyarrow.parquet as pq

    content = io.BytesIO()
    pq.write_table(table.to_arrow(), content, **PARQUET)
    return content.getvalue()


def csv_text(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Returns a table as the text of a CSV file.

    Args:
        columns: names of the columns.
        rows: values of each row, in this order.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def write_parquet(path: Path, table: Table, about: Mapping[str, str] | None = None) -> None:
    """Writes a table to a Parquet file atomically; see `replace`.

    Args:
        path: path of the file.
        table: table to write.
        about: texts to store with the table, by name.
    """
    import pyarrow.parquet as pq

    arrow = table.to_arrow()
    if about is not None:
        arrow = arrow.replace_schema_metadata(dict(about))

    def write(part: Path) -> None:
        with part.open("wb") as file:  # Arrow itself cannot open file names that are not UTF-8.
            pq.write_table(arrow, file, **PARQUET)

    replace(path, write)


def read_parquet(path: Path) -> tuple[Table, dict[str, str]]:
    """Reads a Parquet file: its table, and the texts stored with the table.

    Verifies the checksums of its Parquet pages, and that of the file if `provenance.json` lists it.

    Raises:
        OSError: the file does not exist, or cannot be read.
        InputError: the file differs from its checksum in `provenance.json`, or `provenance.json`
            is damaged.
        ValueError: the file is not a Parquet file, or is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    def read() -> Any:
        # The file is opened only once for checksum and content, as it may be replaced in between.
        with path.open("rb") as file:
            marks.check(path, marks.digest_of(file))
            file.seek(0)
            return pq.read_table(arrow_reader(file), page_checksum_verification=True)

    try:
        arrow = marks.read_settled(path.parent, read)
        table = _from_arrow(arrow)
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None
    kept = arrow.schema.metadata or {}
    return table, {key.decode(): text.decode() for key, text in kept.items()}


def arrow_reader(file: io.BufferedReader) -> Any:
    """Reads a file into memory that Arrow owns, from its position on. Returns a reader of that.

    Arrow's threads keep what they read from for some time. If that is a Python file and the process
    ends meanwhile, it is aborted ("terminate called without an active exception").
    """
    import pyarrow as pa

    size = os.fstat(file.fileno()).st_size - file.tell()
    content = pa.allocate_buffer(max(size, 0))
    count = file.readinto(memoryview(content))
    return pa.BufferReader(content.slice(0, count))


def is_leftover(name: str) -> bool:
    """Returns true if a name has the form of the temporary names that `aside` returns."""
    return _ASIDE.fullmatch(name) is not None


def leftovers(folder: Path, of: str | None = None) -> list[Path]:
    """Returns the temporary files that killed processes left in a folder.

    Args:
        folder: folder to search; it may be missing.
        of: return only temporary versions of this file or folder; None returns all.
    """
    parts: list[Path] = []
    wanted = None if of is None else _abridged(of)
    with contextlib.suppress(OSError):
        for part in folder.iterdir():
            found = _ASIDE.fullmatch(part.name)
            if found and wanted in (None, found["of"]) and _abandoned(part, found):
                parts.append(part)
    return parts


def remove_leftovers(folder: Path, of: str | None = None) -> None:
    """Removes the temporary files that killed processes left in a folder; see `leftovers`."""
    for part in leftovers(folder, of):
        remove(part)


def remove(path: Path) -> None:
    """Removes a file, or a folder with everything in it; what cannot be removed is left."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()


def swap(new: Path, old: Path) -> None:
    """Exchanges two folders or files, so that the new one is in the place of the old one.

    If `old` is a file, an empty folder or missing, the new one may only be moved, so that nothing
    remains at `new`. If the system can exchange two names in one step, readers always find one of
    the two folders; otherwise there is none for a moment.

    Raises:
        OSError: the exchange failed. The old folder stays, but under a temporary name if it could
            be moved away and the new one could not be moved to its place.
    """
    for _ in range(TRIES):
        if _exchange(new, old):
            return
        with contextlib.suppress(OSError):
            new.rename(old)  # This fails if `old` is a folder that is not empty.
            return
    between = aside(old)
    old.rename(between)
    new.rename(old)
    between.rename(new)


def names_to_disk(folder: Path) -> None:
    """Forces the names in a folder to the disk, on systems where folders can be opened."""
    if os.name == "posix":
        _to_disk(folder, os.O_RDONLY)


def _from_arrow(arrow: Any) -> Table:
    """Converts a `pyarrow.Table` to a `Table` of this package."""
    return Table(
        {name: column.to_numpy() for name, column in zip(arrow.column_names, arrow, strict=True)}
    )


def _exchange(one: Path, other: Path) -> bool:
    """Swaps two names in one step. Returns false if that fails, for instance if one is missing."""
    try:
        rename = ctypes.CDLL(None).renameat2
    # Without `renameat2` in the C library, names cannot be exchanged in one step.
    except (AttributeError, OSError, TypeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    done: int = rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    return done == 0


def _abandoned(part: Path, found: re.Match[str]) -> bool:
    """Returns true if the process that created a temporary file has ended.

    A process on another machine, or on a system without POSIX signals, counts as ended if the file
    is older than `LEFTOVER_S`.
    """
    if found["host"] == _HOST and os.name == "posix":
        try:
            os.kill(int(found["process"]), 0)
        except (ProcessLookupError, OverflowError):
            return True
        except OSError:  # The process exists, but this user may not send it signals.
            return False
        return False
    return time.time() - part.stat().st_mtime > LEFTOVER_S


def _to_disk(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
