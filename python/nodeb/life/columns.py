"""Converts tables of the core to Arrow tables; columns of name indices get dictionary encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["arrow", "code"]


def arrow(
    table: Mapping[str, Any], names: Mapping[str, Sequence[str]], about: Mapping[str, str]
) -> pa.Table:
    """Returns a table of the core as an Arrow table.

    Args:
        table: columns of the table.
        names: names by index, for each column of `table` that has indices of names.
        about: metadata of the Arrow table's schema.
    """
    columns = {name: _column(values, names.get(name)) for name, values in table.items()}
    return pa.table(columns).replace_schema_metadata(dict(about))


def code(column: pa.ChunkedArray, name: str) -> int:
    """Returns the index of a name in a column's dictionary, or -1 if the dictionary lacks it."""
    names: list[str] = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
    return names.index(name) if name in names else -1


def _column(values: Any, names: Sequence[str] | None) -> pa.Array:
    if names is None:
        return pa.array(values)
    codes = np.asarray(values, dtype=np.int16)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names, pa.string()))
