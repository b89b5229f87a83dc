"""The files of a life: tables, page and trace, in pieces between which a signal comes through."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from nodeb.life.trace import trace
from nodeb.storage.files import PARQUET, replace, write_bytes
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    from nodeb.life.life import Life

__all__ = ["write"]

ROWS = 1 << 20
"""Rows of a group in a Parquet file."""
PAGE_AT, TRACE_AT = 0.1, 0.2
"""When the page is begun and when the trace, as shares of the time that saving takes."""


def write(life: Life, folder: Path, progress: ProgressCallback | None = None) -> None:
    """Writes the files of a life to a folder.

    Args:
        life: what happened.
        folder: where they go.
        progress: called with the fraction done and a few words.
    """
    tell = progress or (lambda *_: None)
    write_bytes(folder / "scenario.toml", life.about.scenario.to_toml().encode())
    for number, (name, table) in enumerate(life.tables.items()):
        tell(PAGE_AT * number / len(life.tables), f"saving {name}")
        replace(folder / f"{name}.parquet", partial(_write_table, table))
    tell(PAGE_AT, "making the page")
    write_bytes(folder / "life.html", life.html().encode())

    def tell_of_trace(share: float) -> None:
        tell(TRACE_AT + (1 - TRACE_AT) * share, "making the trace")

    tell_of_trace(0.0)
    write_bytes(folder / "trace.json.gz", trace(life, tell_of_trace))
    tell_of_trace(1.0)


def _write_table(table: pa.Table, path: Path) -> None:
    # Arrow opens no names that are no UTF-8.
    with path.open("wb") as file, pq.ParquetWriter(file, table.schema, **PARQUET) as writer:
        for begin in range(0, max(len(table), 1), ROWS):
            writer.write_table(table.slice(begin, ROWS))
