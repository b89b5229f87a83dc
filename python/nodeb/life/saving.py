"""Writes the files of a packet timeline in pieces, between which signals are handled."""

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
PAGE_AT, TRACE_AT = 0.1, 0.2
"""Progress, 0 to 1, that is reported when the page and when the trace are begun."""


def write(life: Life, folder: Path, progress: ProgressCallback | None = None) -> None:
    report = progress or (lambda *_: None)
    write_bytes(folder / "scenario.toml", life.about.scenario.to_toml().encode())
    for number, (name, table) in enumerate(life.tables.items()):
        report(PAGE_AT * number / len(life.tables), f"saving {name}")
        replace(folder / f"{name}.parquet", partial(_write_table, table))
    report(PAGE_AT, "making the page")
    write_bytes(folder / "life.html", life.html().encode())

    def report_trace(share: float) -> None:
        report(TRACE_AT + (1 - TRACE_AT) * share, "making the trace")

    report_trace(0.0)
    write_bytes(folder / "trace.json.gz", trace(life, report_trace))
    report_trace(1.0)


def _write_table(table: pa.Table, path: Path) -> None:
    # Python opens the file, as Arrow cannot open file names that are not UTF-8.
    with path.open("wb") as file, pq.ParquetWriter(file, table.schema, **PARQUET) as writer:
        for begin in range(0, max(len(table), 1), ROWS):
            writer.write_table(table.slice(begin, ROWS))
