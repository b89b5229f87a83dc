"""Columns as bytes for a page: small, and turned into typed arrays without parsing numbers.

Times are kept as steps from row to row, which are small numbers; the bytes of a column are then put
in order of their significance, so that equal ones stand together, and the whole is deflated.
Numbers stay exact: nanoseconds below 2^53.
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
"""Of deflate: more takes much longer and saves little."""

PIECE = 1 << 20
"""Bytes that are deflated at a time: a signal comes through only between two calls."""


@dataclass
class Packed:
    """Columns that are put together."""

    layout: list[dict[str, Any]] = field(default_factory=list)
    """What a page needs to know of each: its table, name, type, length, and how it was written."""
    _parts: list[bytes] = field(default_factory=list)

    def add(self, table: str, name: str, values: NDArray[Any], **about: Any) -> None:
        """Adds a column.

        Args:
            table: its table.
            name: its name.
            values: whole numbers from 0 take as many bytes as the largest needs, others eight.
            about: what else the page is told of it.
        """
        kind, shuffled = _shuffled(values)
        self.layout.append(
            {"table": table, "name": name, "type": kind, "rows": len(values), **about}
        )
        self._parts.append(shuffled)

    def add_times(self, table: str, name: str, times: NDArray[np.int64]) -> None:
        """Adds a column of times in order, as the steps from each to the next."""
        first = int(times[0]) if len(times) else 0
        self.add(table, name, np.diff(times, prepend=np.int64(first)), first=first)

    def text(self) -> str:
        """All columns, in base64."""
        content = io.BytesIO()
        with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=LEVEL, mtime=0) as file:
            for part in self._parts:
                for begin in range(0, len(part), PIECE):
                    file.write(part[begin : begin + PIECE])
        return base64.b64encode(content.getvalue()).decode()


def _shuffled(values: NDArray[Any]) -> tuple[str, bytes]:
    """The type of a column, `u` or `f` and its width, and its bytes, the lowest first."""
    if values.dtype.kind == "f" or (len(values) and values.min() < 0):
        kind, kept, width = "f", values.astype("<f8"), 8
    else:
        most = int(values.max()) if len(values) else 0
        kind, kept, width = "u", values.astype("<u8"), max(1, (most.bit_length() + 7) // 8)
    planes = kept.view(np.uint8).reshape(len(kept), 8).T[:width]
    return f"{kind}{width}", np.ascontiguousarray(planes).tobytes()
