"""The core's tables as Arrow has them: numbers that stand for names become dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["arrow", "code"]


def arrow(
    table: Mapping[str, Any], names: Mapping[str, Sequence[str]], about: Mapping[str, str]
) -> pa.Table:
    """A table of the core.

    Args:
        table: its columns.
        names: for columns of names, what their numbers stand for.
        about: what is kept with the table.
    """
    columns = {name: _column(values, names.get(name)) for name, values in table.items()}
    return pa.table(columns).replace_schema_metadata(dict(about))


def code(column: pa.ChunkedArray, name: str) -> int:
    """The number that stands for a name in a column; -1 if it has no such name."""
    names: list[str] = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
    return names.index(name) if name in names else -1


def _column(values: Any, names: Sequence[str] | None) -> pa.Array:
    if names is None:
        return pa.array(values)
    codes = np.asarray(values, dtype=np.int16)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names, pa.string()))
