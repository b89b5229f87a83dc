"""Columns as bytes for a page: small, and turned into typed arrays without parsing numbers.

Times are kept as steps from row to row, which are small numbers; the bytes of a column are then put in order of their significance, so that equal ones stand
together, and the whole is deflated. Numbers stay exact: nanoseconds below 2^53.
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packed"]

LEVEL = 6
"""Of deflate: more takes much longer and saves little."""


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
            values: whole numbers become the narrowest unsigned type that holds them; others doubles.
            about: what else the page is told of it.
        """
        kept = _narrow(values)
        kind = kept.dtype.str.lstrip("<|")
        self.layout.append(
            {"table": table, "name": name, "type": kind, "rows": len(kept), **about}
        )
        shuffled = kept.view(np.uint8).reshape(len(kept), kept.dtype.itemsize).T
        self._parts.append(np.ascontiguousarray(shuffled).tobytes())

    def add_times(self, table: str, name: str, times: NDArray[np.int64]) -> None:
        """Adds a column of times in order, as the steps from each to the next."""
        first = int(times[0]) if len(times) else 0
        self.add(table, name, np.diff(times, prepend=np.int64(first)), first=first)

    def text(self) -> str:
        """All columns, in base64."""
        data = gzip.compress(b"".join(self._parts), LEVEL, mtime=0)
        return base64.b64encode(data).decode()


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "b":
        return values.astype(np.uint8)
    if values.dtype.kind == "f":
        return np.ascontiguousarray(values, dtype="<f8")
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    for kind in ("<u1", "<u2", "<u4"):
        if least >= 0 and most <= np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype("<f8")
