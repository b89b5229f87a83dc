"""Cells: tables of a scenario's replications, in one SQLite file a folder, by a hash of inputs.

WAL without `synchronous=FULL`: a process killed at any moment loses no committed cell and costs no
fsync; after a power failure the last cells can be missing, and are simulated again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nodeb.base.table import Table
from nodeb.errors import FullError, OutputError

CELLS = "cells.sqlite"
FILES = (CELLS, f"{CELLS}-wal", f"{CELLS}-shm", f"{CELLS}-journal")
Tables = Mapping[str, Table]
PACKED = 1 << 16
"""Size above which a cell is compressed, bytes: for small cells compression dominates the time."""
SETUP = """
PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS cells (identity TEXT PRIMARY KEY, scenario TEXT, tables BLOB);
"""


class Store:
    """The cells of a folder; `open` creates the file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self) -> None:
        """Opens the file, and keeps other processes out of it until `close`.

        Raises:
            OutputError: the file cannot be written, is damaged, or another process uses it.
        """
        self._do(self._connect)

    def close(self) -> None:
        self._database.close()

    def missing(self, identities: Iterable[str]) -> int:
        """The number of cells that are not stored."""
        return sum(self._row("SELECT 1", one) is None for one in identities)

    def load(self, identity: str) -> Tables | None:
        """The tables of a cell; None if it is not stored, or is damaged."""
        row = self._row("SELECT tables", identity)
        try:
            return None if row is None else _unpacked(row[0])
        except (ValueError, OSError):
            return None

    def save(self, identity: str, scenario: str, tables: Tables) -> None:
        """Stores a cell; `scenario` is for readers of the file."""
        row = identity, scenario, _packed(tables)
        self._do(lambda: self._database.execute("REPLACE INTO cells VALUES (?, ?, ?)", row))

    def _connect(self) -> None:
        import sqlite3

        self._database = sqlite3.connect(self.folder / CELLS, timeout=0, isolation_level=None)
        self._database.executescript(SETUP)

    def _row(self, select: str, identity: str) -> Any:
        query = f"{select} FROM cells WHERE identity = ?"
        return self._do(lambda: self._database.execute(query, (identity,)).fetchone())

    def _do(self, work: Any) -> Any:
        import sqlite3

        try:
            return work()
        except sqlite3.Error as error:
            kind = FullError if error.sqlite_errorname == "SQLITE_FULL" else OutputError
            damaged = error.sqlite_errorname in ("SQLITE_CORRUPT", "SQLITE_NOTADB")
            hint = "; remove this file, and its cells are simulated again" if damaged else ""
            raise kind(f"{self.folder / CELLS}: {error}{hint}") from None


def name_of(parts: Mapping[str, Any]) -> str:
    """A hash of inputs by name, which are data that JSON supports."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _packed(tables: Tables) -> bytes:
    """An Arrow stream with a single row: each column of a table is one entry, a list."""
    import pyarrow as pa
    from pyarrow import ipc

    columns, names = [], []
    for name, table in tables.items():
        ends = pa.array([0, len(table)], pa.int64())
        for column, values in table.to_arrays().items():
            names.append(f"{name}.{column}")
            columns.append(pa.LargeListArray.from_arrays(ends, values))
    batch = pa.RecordBatch.from_arrays(columns, names)
    packing = ipc.IpcWriteOptions(compression="zstd" if batch.nbytes > PACKED else None)
    stream = pa.BufferOutputStream()
    with ipc.new_stream(stream, batch.schema, options=packing) as writer:
        writer.write_batch(batch)
    content: bytes = stream.getvalue().to_pybytes()
    return content


def _unpacked(data: bytes) -> Tables:
    import pyarrow as pa
    from pyarrow import ipc

    batch = ipc.open_stream(pa.BufferReader(data)).read_next_batch()
    tables: dict[str, dict[str, Any]] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        table, _, of = name.partition(".")
        tables.setdefault(table, {})[of] = column.values.to_numpy(zero_copy_only=False)
    return {name: Table(columns) for name, columns in tables.items()}
