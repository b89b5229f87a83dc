"""All replications of a sweep as a dataset: partitioned Parquet, readable by polars and DuckDB.

`dataset/<table>/part-00000.parquet` and the following files contain a results table of every cell
in order, so that writing a sweep of any size needs only the memory of one part. The columns are
`cell` (its index in the sweep), the swept keys as in `sweep.parquet`, and the table's own columns
(`nodeb.results.glossary`). The table `metrics` has a row for each cell, replication and group, with
every metric of `nodeb list metrics` that applies. For a metric that excludes users in any cell, a
further column has the share of users with a value (`download_s_covered`). All parts of a table have
the same columns and types; missing values are null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.base.table import Table
from nodeb.results.metrics import METRICS as KNOWN
from nodeb.results.metrics import own_values
from nodeb.storage.files import PARQUET
from nodeb.sweep.cells import Cell, Cells
from nodeb.sweep.results import COVERED, swept_columns

DATASET, METRICS = "dataset", "metrics"
PART = 500
"""Number of cells in each part of a table; the last part may have fewer."""

Load = Callable[[Cell], Mapping[str, Table]]
"""Function that returns the tables of a cell."""


def write(folder: Path, cells: Cells, load: Load, partial: Sequence[str] = ()) -> None:
    """Writes the dataset of a sweep. `partial` has the metrics that exclude users in any cell."""
    swept = swept_columns(cells)
    written: dict[Path, Any] = {}
    for part, first in enumerate(range(0, len(cells), PART)):
        chosen = range(first, min(first + PART, len(cells)))
        for name, table in _part(chosen, cells, swept, load, partial).items():
            (folder / name).mkdir(exist_ok=True)
            file = folder / name / f"part-{part:05}.parquet"
            _write(table, file)
            written[file] = table.schema
    _widen(written)


def _write(table: Any, file: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, file, **PARQUET)


def _read(file: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.read_table(pa.BufferReader(file.read_bytes()))


def _widen(written: Mapping[Path, Any]) -> None:
    """Gives all parts of a table the same columns and types, because readers use those of part 0.

    Args:
        written: schema of each part.
    """
    import pyarrow as pa

    for folder in {file.parent for file in written}:
        parts = {file: schema for file, schema in written.items() if file.parent == folder}
        every = pa.unify_schemas(list(parts.values()), promote_options="permissive")
        for file, schema in parts.items():
            if not schema.equals(every):
                _write(_joined([every.empty_table(), _read(file)]), file)


def _part(
    numbers: range,
    cells: Sequence[Cell],
    swept: Mapping[str, Sequence[Any]],
    load: Load,
    partial: Sequence[str],
) -> dict[str, Any]:
    """Returns the Arrow tables of some cells by name; values of missing columns are null."""
    found: dict[str, list[Any]] = {}
    for number in numbers:
        about = {"cell": number, **{name: values[number] for name, values in swept.items()}}
        tables = load(cells[number])
        for name, table in {METRICS: _metrics(tables, partial), **tables}.items():
            found.setdefault(name, []).append(_with(about, table).to_arrow())
    return {name: _with_nulls(_joined(tables)) for name, tables in found.items()}


def _joined(tables: Sequence[Any]) -> Any:
    """Returns tables concatenated; values of missing columns are null."""
    import pyarrow as pa

    return pa.concat_tables(tables, promote_options="permissive").combine_chunks()


def _with_nulls(table: Any) -> Any:
    """Replaces NaN by null, because readers skip null in a mean, but not NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            values = table.column(place)
            nothing = pa.scalar(None, field.type)
            table = table.set_column(place, field, pc.if_else(pc.is_nan(values), nothing, values))
    return table


def _metrics(tables: Mapping[str, Table], partial: Sequence[str]) -> Table:
    """Returns each metric by replication and group.

    For the metrics in `partial`, a column has the share of users that have a value.
    """
    own = own_values(tables)
    columns: dict[str, Any] = {}
    for name, values in _core.by_run(tables, own).items():
        columns[name] = values
        if name in partial:
            columns[name + COVERED] = _core.coverage_by_run(tables, own, KNOWN[name])
    return Table(columns)


def _with(about: Mapping[str, Any], table: Table) -> Table:
    """Returns a table with constant columns in front of its own."""
    front = {name: np.full(len(table), value) for name, value in about.items()}
    return Table({**front, **{name: table[name] for name in table.columns}})
