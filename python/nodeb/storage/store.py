"""Cells: files with the tables of one scenario's replications, named by a hash of the inputs.

A cell is an Arrow stream followed by its checksum, which Arrow readers ignore: without a checksum,
flipped bits on a disk would be read as other numbers. A damaged cell counts as missing, and is
reported. The stream has one row: a table's column is stored as one list, in the stream's column
`table.column`. Arrow's own format is used because Parquet takes ten times as long to read with many
columns and few rows.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.errors import writing
from nodeb.storage.files import is_leftover, remove_leftovers, write_bytes

__all__ = ["CELLS", "Store", "Tables", "name_of", "other_files"]

CELLS = "cells"
"""Name of the folder of cells (stored replications) within a folder of results."""

Tables = Mapping[str, Table]
IDENTITY, SCENARIO = "nodeb.cell", "nodeb.scenario"
PACKED = 1 << 16
"""Size above which a cell is compressed, bytes: for small cells compression dominates the time."""
# Earlier versions of nodeb wrote cells as Parquet.
_CELL = re.compile(r"[0-9a-f]{32}\.(arrow|parquet)")
END = ".arrow"
_HEX = re.compile(r"[0-9a-f]{16}")
CHECKSUM = hashlib.sha256().digest_size
"""Size of the checksum after the stream, bytes."""


def other_files(folder: Path) -> list[str]:
    """Returns the names of files in a folder that are neither cells nor temporary files.

    A cell is a file with the tables of one scenario's replications. The list is empty if the folder
    does not exist.
    """
    if not folder.is_dir():
        return []
    return [
        file.name
        for file in sorted(folder.iterdir())
        if not (_CELL.fullmatch(file.name) and file.is_file()) and not is_leftover(file.name)
    ]


class Store:
    """Folder of cells (files with the tables of one scenario's replications); loads and saves them.

    Args:
        folder: folder of the cells; created by `open`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged: list[Path] = []
        """Files that were found to be damaged."""

    def open(self) -> None:
        """Creates the folder, and removes temporary files of killed processes.

        Raises:
            OutputError: the folder cannot be created.
        """
        with self._writing():
            self.folder.mkdir(exist_ok=True)
        remove_leftovers(self.folder)

    def identities(self) -> set[str]:
        """Returns the identities (hashes of the inputs) of the cells that have a file."""
        with os.scandir(self.folder) as files:
            return {file.name.removesuffix(END) for file in files if file.name.endswith(END)}

    def missing(self, identities: Iterable[str]) -> int:
        """Returns the number of cells that have no file; takes 16 bytes of memory per cell."""
        with os.scandir(self.folder) as files:
            there = _short(file.name for file in files if file.name.endswith(END))
        return int((~np.isin(_short(identities), there)).sum())

    def load(self, identity: str) -> Tables | None:
        """Returns the tables of a cell, or `None` if its file is missing or damaged.

        A damaged file is added to `damaged`.
        """
        file = self._file(identity)
        try:
            return _read(file.read_bytes(), identity)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            if file not in self.damaged:
                self.damaged.append(file)
            return None

    def save(self, identity: str, scenario: str, tables: Tables) -> None:
        """Writes a cell to its file, atomically.

        Args:
            identity: identity of the cell.
            scenario: scenario of the cell, for readers of the file.
            tables: content of the cell. It is not forced to the disk: a cell lost in a power
                failure is simulated again.

        Raises:
            OutputError: the file cannot be written; a previous one is kept.
        """
        data = _stream(tables, {IDENTITY: identity, SCENARIO: scenario})
        with self._writing():
            write_bytes(self._file(identity), data + _checksum(data), to_disk=False)

    def _file(self, identity: str) -> Path:
        return self.folder / f"{identity}{END}"

    def _writing(self) -> AbstractContextManager[None]:
        return writing(f"write results to {self.folder}")


def name_of(parts: Mapping[str, Any]) -> str:
    """Returns the identity of a cell: a hash of everything that its content depends on.

    Args:
        parts: inputs by name, as data that JSON supports.
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _short(identities: Iterable[str]) -> NDArray[np.uint64]:
    """Returns the first 64 bits of each identity, which identify cells with little memory.

    File names that begin with an identity are accepted, too; other names are skipped.
    """
    return np.fromiter((int(one[:16], 16) for one in identities if _HEX.match(one)), np.uint64)


def _stream(tables: Tables, about: Mapping[str, str]) -> bytes:
    import pyarrow as pa
    from pyarrow import ipc

    columns = {
        f"{name}.{column}": values
        for name, table in tables.items()
        for column, values in table.to_arrays().items()
    }
    # The stream has a single row: in it, each column of a table is one entry, a list.
    ends = {n: pa.array([0, n], pa.int64()) for n in map(len, tables.values())}
    lists = [pa.LargeListArray.from_arrays(ends[len(one)], one) for one in columns.values()]
    batch = pa.RecordBatch.from_arrays(lists, list(columns))
    schema = batch.schema.with_metadata(dict(about))
    stream = pa.BufferOutputStream()
    packing = "zstd" if batch.nbytes > PACKED else None
    with ipc.new_stream(stream, schema, options=ipc.IpcWriteOptions(compression=packing)) as writer:
        writer.write_batch(batch.replace_schema_metadata(schema.metadata))
    content: bytes = stream.getvalue().to_pybytes()
    return content


def _read(file: bytes, identity: str) -> Tables:
    """Parses the content of a cell's file to tables by name.

    Raises:
        ValueError: the file is damaged, or belongs to another cell.
    """
    import pyarrow as pa
    from pyarrow import ipc

    data = file[:-CHECKSUM]
    # The checksum is compared before Arrow parses the data, because Arrow does not verify data.
    if file[-CHECKSUM:] != _checksum(data):
        raise ValueError("wrong checksum")
    try:
        batch = ipc.open_stream(pa.BufferReader(data)).read_next_batch()
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None
    if (batch.schema.metadata or {}).get(IDENTITY.encode()) != identity.encode():
        raise ValueError("this is another cell")
    tables: dict[str, dict[str, Any]] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        table, _, of = name.partition(".")
        tables.setdefault(table, {})[of] = column.values.to_numpy(zero_copy_only=False)
    return {name: Table(columns) for name, columns in tables.items()}


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
