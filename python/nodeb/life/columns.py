"""Columns of packet timelines: as Arrow tables, as NumPy arrays, and compressed for the page.

Names have dictionary encoding: codes and the names that they stand for.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

LEVEL = 6
"""Compression level of gzip, 0 to 9: higher levels take much longer and save little."""

Values = NDArray[Any]


def arrow(
    table: Mapping[str, Any], names: Mapping[str, Sequence[str]], about: Mapping[str, str]
) -> pa.Table:
    def column(name: str, values: Any) -> pa.Array:
        if name not in names:
            return pa.array(values)
        codes = pa.array(np.asarray(values, dtype=np.int16))
        return pa.DictionaryArray.from_arrays(codes, pa.array(names[name], pa.string()))

    columns = {name: column(name, values) for name, values in table.items()}
    return pa.table(columns).replace_schema_metadata(dict(about))


def values_of(column: pa.ChunkedArray) -> Values:
    """Returns a column as an array; of a column of names, the codes."""
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column)
    return np.asarray(column.combine_chunks().indices)


def names_of(column: pa.ChunkedArray) -> list[str]:
    names: list[str] = column.combine_chunks().dictionary.to_pylist()
    return names


def texts_of(column: pa.ChunkedArray) -> Values:
    return np.array(names_of(column), dtype=str)[values_of(column)]


def of_kind(events: pa.Table, *kinds: str) -> pa.Table:
    return events.filter(pc.is_in(events["kind"], pa.array(kinds)))


@dataclass
class Packed:
    """Columns of tables as compressed bytes, which the page of a packet timeline decodes quickly.

    Sorted times are stored as differences between rows, which are small numbers. The bytes of a
    column are then ordered by significance, so that equal bytes are adjacent. Numbers are exact:
    nanoseconds below 2^53 fit a JavaScript number.
    """

    layout: list[dict[str, Any]] = field(default_factory=list)
    """Description of each column for the page: table, name, type, length and encoding."""
    _parts: list[bytes] = field(default_factory=list)

    def add(self, table: str, name: str, values: Values | pa.ChunkedArray, **about: Any) -> None:
        if isinstance(values, pa.ChunkedArray):
            values = values_of(values)
        if values.dtype.kind == "f" or (len(values) and values.min() < 0):
            kind, kept, width = "f", values.astype("<f8"), 8
        else:
            kind, kept = "u", values.astype("<u8")
            width = max(1, (int(values.max(initial=0)).bit_length() + 7) // 8)
        planes = kept.view(np.uint8).reshape(len(kept), 8).T[:width]
        about = {"type": f"{kind}{width}", "rows": len(values), **about}
        self.layout.append({"table": table, "name": name, **about})
        self._parts.append(np.ascontiguousarray(planes).tobytes())

    def add_times(self, table: str, name: str, times: Values | pa.ChunkedArray) -> None:
        """Adds a column of sorted times, ns, as the first time and the differences between rows."""
        whole = np.asarray(times).astype(np.int64)
        first = int(whole[0]) if len(whole) else 0
        self.add(table, name, np.diff(whole, prepend=np.int64(first)), first=first)

    def text(self) -> str:
        """Returns all columns as one text: their bytes in the order of `layout`, gzip, base64."""
        return base64.b64encode(gzip.compress(b"".join(self._parts), LEVEL, mtime=0)).decode()
