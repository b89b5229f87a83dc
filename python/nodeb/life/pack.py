"""Columns of tables as compressed bytes, which the page of a packet timeline decodes quickly.

Sorted times are stored as differences between rows, which are small numbers. The bytes of a
column are then ordered by significance, so that equal bytes are adjacent. Numbers are exact:
nanoseconds below 2^53 fit a JavaScript number.
"""

from __future__ import annotations

import base64
import gzip
import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packed"]

LEVEL = 6
"""Compression level of gzip, 0 to 9: higher levels take much longer and save little."""

PIECE = 1 << 20
"""Bytes that are compressed at a time: Python handles signals only between two calls."""


@dataclass
class Packed:
    """Columns of tables, collected with `add` and compressed with `text`."""

    layout: list[dict[str, Any]] = field(default_factory=list)
    """Description of each column for the page: table, name, type, length and encoding."""
    _parts: list[bytes] = field(default_factory=list)

    def add(self, table: str, name: str, values: NDArray[Any], **about: Any) -> None:
        kind, shuffled = _shuffled(values)
        self.layout.append(
            {"table": table, "name": name, "type": kind, "rows": len(values), **about}
        )
        self._parts.append(shuffled)

    def add_times(self, table: str, name: str, times: NDArray[np.int64]) -> None:
        """Adds a column of sorted times, ns, as the first time and the differences between rows."""
        first = int(times[0]) if len(times) else 0
        self.add(table, name, np.diff(times, prepend=np.int64(first)), first=first)

    def text(self) -> str:
        """Returns all columns as one text: their bytes in the order of `layout`, gzip, base64."""
        content = io.BytesIO()
        with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=LEVEL, mtime=0) as file:
            for part in self._parts:
                for begin in range(0, len(part), PIECE):
                    file.write(part[begin : begin + PIECE])
        return base64.b64encode(content.getvalue()).decode()


def _shuffled(values: NDArray[Any]) -> tuple[str, bytes]:
    """Returns the type of a column and its bytes, ordered by significance over all values."""
    if values.dtype.kind == "f" or (len(values) and values.min() < 0):
        kind, kept, width = "f", values.astype("<f8"), 8
    else:
        most = int(values.max()) if len(values) else 0
        kind, kept, width = "u", values.astype("<u8"), max(1, (most.bit_length() + 7) // 8)
    planes = kept.view(np.uint8).reshape(len(kept), 8).T[:width]
    return f"{kind}{width}", np.ascontiguousarray(planes).tobytes()
