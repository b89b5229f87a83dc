"""Files that are there as a whole or not at all, and tables in Parquet and CSV files.

A file is written under another name in the same folder, forced to the disk and then renamed:
whoever reads, and whatever kills the process or the machine, finds the old or the new file.
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
    "aside",
    "check_place",
    "csv_text",
    "digest_of",
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
"""Age, s, at which what another machine left unfinished must be that of a killed process."""
TRIES = 100
"""Attempts at a folder that others claim or replace at the same time."""
LONGEST = 255
"""Bytes of the longest name of a file that file systems in common use take."""
DIGITS = 10
"""Digits of the largest number of a process, or of files that a process writes."""
PARQUET: Mapping[str, Any] = {"compression": "zstd", "write_page_checksum": True}
"""How Parquet files are written."""
_HOST = re.sub(r"\W", "_", platform.node())
_ASIDE = re.compile(r"\.(?P<of>.+)\.(?P<host>\w*)-(?P<process>\d+)-\d+\.tmp")
_numbers = itertools.count()
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def aside(path: Path) -> Path:
    """Where a file or folder is made before it is put in place: beside it, hidden, one's own."""
    return path.with_name(f".{_abridged(path.name)}.{_HOST}-{os.getpid()}-{next(_numbers)}.tmp")


def _abridged(name: str) -> str:
    """Returns a name, or its hash if file systems would have no room for more than the name."""
    room = LONGEST - len(f"..{_HOST}--.tmp") - 2 * DIGITS
    data = os.fsencode(name)
    return name if len(data) <= room else hashlib.sha256(data).hexdigest()[:32]


@contextlib.contextmanager
def file_aside(path: Path) -> Iterator[Path]:
    """Where a file is made before it is put in place; what is left there in the end is removed."""
    part = aside(path)
    try:
        yield part
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def replace(path: Path, write: Callable[[Path], None], *, to_disk: bool = True) -> None:
    """Writes a file so that it is there as a whole or not at all.

    Args:
        path: the file.
        write: writes the content to the path that it is given.
        to_disk: wait until it would outlive a power failure.

    Raises:
        OSError: the file, which it names, cannot be written; what was there before stays.
        OutputError: something is there that is no file, such as a device, which renaming would
            take away.
    """
    if path.exists() and not path.is_file():
        raise OutputError(f"{path} is no file, but a folder, device or pipe, and stays as it is")
    with file_aside(path) as part:
        try:
            write(part)
            if to_disk:
                _to_disk(part, os.O_RDWR)
            part.replace(path)
            if to_disk:
                names_to_disk(path.parent)
        except OSError as error:
            error.filename = str(path)  # nobody knows the name aside, and a full disk tells none
            raise


def refuse_other(path: Path, begins: bytes, what: str, option: str) -> None:
    """Complains about a file that somebody put where another kind of file is to go.

    Args:
        path: where the file is to go; there may be none, or an empty one.
        begins: what such a file begins with.
        what: what it is, as in "a capture".
        option: where a person gives its name.

    Raises:
        OutputError: there is a file, and it is none of these.
    """
    if not path.is_file():  # nothing, or a device that keeps nothing
        return
    head = b""
    with contextlib.suppress(OSError), path.open("rb") as file:
        head = file.read(len(begins))
    if head not in (b"", begins):
        raise OutputError(
            f"{path} is there already and is not {what}; give another file with {option}"
        )


PAGE = re.compile(rb"<!doctype html>.*<meta name=\"generator\" content=\"nodeb ", re.DOTALL)
HEAD = 4096
"""Bytes of a page that say who made it."""


def refuse_other_page(path: Path, option: str) -> None:
    """Complains about a page that is not HTML, or somebody else's where one of nodeb's is to go.

    Args:
        path: where the page is to go; there may be none, or an empty file.
        option: where a person gives its name.

    Raises:
        OutputError: the name is that of another kind of file, or nodeb did not make what is there.
    """
    if path.suffix.lower() not in ("", ".html", ".htm"):
        raise OutputError(
            f"{option} {path}: the page is HTML, with its pictures in it; give a name that ends in "
            ".html"
        )
    if not path.is_file():
        return
    head = b""
    with contextlib.suppress(OSError), path.open("rb") as file:
        head = file.read(HEAD)
    if head and not PAGE.match(head):
        raise OutputError(
            f"{path} is there already and is not a page that nodeb made; give another file "
            f"with {option}"
        )


def check_place(path: Path, option: str) -> None:
    """Complains, before anything is done, about a place where no file can be put.

    Args:
        path: where a file is to go.
        option: where a person gives its name.

    Raises:
        OutputError: it names nothing, its folder is not there, or it is no file.
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


def write_bytes(path: Path, data: bytes, *, to_disk: bool = True) -> None:
    """Writes bytes as a whole or not at all; see `replace`."""

    def write(part: Path) -> None:
        part.write_bytes(data)

    replace(path, write, to_disk=to_disk)


def write(path: Path, content: str | bytes) -> None:
    """Writes a result atomically (`replace`); its folder is made if need be.

    Raises:
        OutputError: if it cannot be written.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    with writing(f"write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data)


def parquet(table: Table) -> bytes:
    """A table as the content of a Parquet file."""
    import pyarrow.parquet as pq

    content = io.BytesIO()
    pq.write_table(table.to_arrow(), content, **PARQUET)
    return content.getvalue()


def digest_of(path: Path) -> str:
    """Returns a hash of the content of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def csv_text(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as the text of a CSV file.

    Args:
        columns: their names.
        rows: the values of each, in this order.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def write_parquet(path: Path, table: Table, about: Mapping[str, str] | None = None) -> None:
    """Writes a table as a whole or not at all; see `replace`.

    Args:
        path: the file.
        table: its rows.
        about: texts to keep with the table, by name.
    """
    import pyarrow.parquet as pq

    arrow = table.to_arrow()
    if about is not None:
        arrow = arrow.replace_schema_metadata(dict(about))

    def write(part: Path) -> None:
        with part.open("wb") as file:  # Arrow opens no names that are no UTF-8
            pq.write_table(arrow, file, **PARQUET)

    replace(path, write)


def read_parquet(path: Path) -> tuple[Table, dict[str, str]]:
    """A table and the texts kept with it, verified by the checksums of its folder and its pages.

    Raises:
        OSError: there is no such file, or it cannot be read.
        InputError: it is not what the mark of its folder says.
        ValueError: it is not a Parquet file, or a damaged one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    def read() -> Any:
        with path.open("rb") as file:  # once: the name may be another file's a moment later
            marks.check(path, hashlib.file_digest(file, "sha256").hexdigest())
            file.seek(0)
            return pq.read_table(file, page_checksum_verification=True)

    try:
        arrow = marks.read_settled(path.parent, read)
        table = _from_arrow(arrow)
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None
    kept = arrow.schema.metadata or {}
    return table, {key.decode(): text.decode() for key, text in kept.items()}


def is_leftover(name: str) -> bool:
    """Whether a file or folder of this name is one that was never put in place."""
    return _ASIDE.fullmatch(name) is not None


def leftovers(folder: Path, of: str | None = None) -> list[Path]:
    """What killed processes left unfinished in a folder.

    Args:
        folder: where to look; it need not be there.
        of: only what was to become a file or folder of this name.
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
    """Removes what killed processes left unfinished in a folder; see `leftovers`."""
    for part in leftovers(folder, of):
        remove(part)


def remove(path: Path) -> None:
    """Removes a file or a folder with everything in it, as far as possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()


def swap(new: Path, old: Path) -> None:
    """Puts a folder in the place of another, which goes to where the new one was.

    Where the system can exchange two names nobody ever finds anything but one of the two folders;
    elsewhere there is none for a moment.

    Raises:
        OSError: it cannot be done; the old one stays.
    """
    for _ in range(TRIES):
        if _exchange(new, old):
            return
        with contextlib.suppress(OSError):
            new.rename(old)  # there is none, or it is empty
            return
    between = aside(old)
    old.rename(between)
    new.rename(old)
    between.rename(new)


def names_to_disk(folder: Path) -> None:
    """Forces the names in a folder to the disk, where folders have handles."""
    if os.name == "posix":
        _to_disk(folder, os.O_RDONLY)


def _from_arrow(arrow: Any) -> Table:
    """A `pyarrow.Table` as a table."""
    return Table(
        {name: column.to_numpy() for name, column in zip(arrow.column_names, arrow, strict=True)}
    )


def _exchange(one: Path, other: Path) -> bool:
    """Swaps two names in one step; whether the system could."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux
        return False
    names = os.fsencode(one), os.fsencode(other)
    done: int = rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    return done == 0


def _abandoned(part: Path, found: re.Match[str]) -> bool:
    """Whether the process that made a file is gone for certain, or must be."""
    if found["host"] == _HOST and os.name == "posix":
        try:
            os.kill(int(found["process"]), 0)
        except (ProcessLookupError, OverflowError):
            return True
        except OSError:  # another user's
            return False
        return False
    return time.time() - part.stat().st_mtime > LEFTOVER_S


def _to_disk(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
