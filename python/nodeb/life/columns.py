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
    columns = {name: _column(values, names.get(name)) for name, values in table.items()}
    return pa.table(columns).replace_schema_metadata(dict(about))


def code(column: pa.ChunkedArray, name: str) -> int:
    names: list[str] = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
    return names.index(name) if name in names else -1


def _column(values: Any, names: Sequence[str] | None) -> pa.Array:
    if names is None:
        return pa.array(values)
    codes = np.asarray(values, dtype=np.int16)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names, pa.string()))
