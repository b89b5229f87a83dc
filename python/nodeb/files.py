"""Files that are there as a whole or not at all, tables in Parquet files, texts that are read.

A file is written under another name in the same folder, forced to the disk and then renamed:
whoever reads, and whatever kills the process or the machine, finds the old or the new file.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nodeb.errors import ScenarioError, os_reason
from nodeb.table import Table

__all__ = [
    "from_arrow",
    "read_parquet",
    "read_text",
    "remove_leftovers",
    "replace",
    "write_bytes",
    "write_parquet",
]

SUFFIX = ".tmp"
LEFTOVER_S = 3600.0
"""Age, s, at which an unfinished file must be that of a process that was killed."""


def replace(path: Path, write: Callable[[Path], None]) -> None:
    """Writes a file so that it is there as a whole or not at all.

    Args:
        path: the file.
        write: writes the content to the path that it is given.

    Raises:
        OSError: the file cannot be written; what was there before stays.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}{SUFFIX}")
    try:
        write(part)
        _to_disk(part, os.O_RDWR)
        part.replace(path)
        if os.name == "posix":  # the name is an entry of the folder, which elsewhere has no handle
            _to_disk(path.parent, os.O_RDONLY)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def read_text(path: Path) -> str:
    """The text of a file that a scenario names.

    Raises:
        ScenarioError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {os_reason(error)}") from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: this is not UTF-8 text") from None
    except ValueError as error:  # a name that no file can have
        raise ScenarioError(f"{path}: cannot be read: {error}") from None


def write_bytes(path: Path, data: bytes) -> None:
    """Writes bytes as a whole or not at all; see `replace`."""

    def write(part: Path) -> None:
        part.write_bytes(data)

    replace(path, write)


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
    replace(path, lambda part: pq.write_table(arrow, part, compression="zstd"))


def read_parquet(path: Path) -> tuple[Table, dict[str, str]]:
    """A table and the texts kept with it.

    Raises:
        OSError: there is no such file, or it cannot be read.
        ValueError: it is not a Parquet file, or a damaged one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        arrow = pq.read_table(path, partitioning=None)
    except pa.ArrowInvalid as error:
        raise ValueError(str(error)) from None
    kept = arrow.schema.metadata or {}
    return from_arrow(arrow), {key.decode(): text.decode() for key, text in kept.items()}


def from_arrow(arrow: Any) -> Table:
    """A `pyarrow.Table` as a table."""
    return Table(
        {name: column.to_numpy() for name, column in zip(arrow.column_names, arrow, strict=True)}
    )


def remove_leftovers(folder: Path) -> None:
    """Removes what killed processes left half written in a folder."""
    for part in folder.glob(f".*{SUFFIX}"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > LEFTOVER_S:
                part.unlink()


def _to_disk(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
