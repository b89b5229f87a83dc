"""Tables as aligned plain text, and numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nodeb.base.arguments import is_number
from nodeb.base.streams import printable
from nodeb.results.metrics import METRICS

__all__ = [
    "align",
    "decimals_of",
    "shown_unit",
]

SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "bit/s": ((1e6, "Mbit/s"), (1e3, "kbit/s"), (0.0, "bit/s")),
    "s": ((1.0, "s"), (0.0, "ms")),
    "bytes": ((1e6, "MB"), (1e3, "kB"), (0.0, "bytes")),
}
"""Unit -> (least value, shown unit), largest first."""
FACTORS = {"Mbit/s": 1e-6, "kbit/s": 1e-3, "ms": 1e3, "%": 1e2, "MB": 1e-6, "kB": 1e-3}
DIGITS = 4
"""Significant digits of a mean."""


def align(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns and rows as text with a rule under the head; columns of numbers are right-aligned."""
    table = [[printable(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(columns))]
    numeric = [rows and all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in table
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _is_number(cell: str) -> bool:
    head = cell.strip().split(" ")[0].rstrip("%")
    return head in ("", "-") or is_number(head)


def decimals_of(value: float) -> int:
    """Decimals that show `DIGITS` significant digits of a value."""
    size = abs(value)
    if size == 0 or not math.isfinite(size):
        return 0
    return min(max(DIGITS - 1 - math.floor(math.log10(size)), 0), DIGITS)


def shown_unit(metric: str, unit: str, value: float) -> str:
    """The unit in which a value of a metric reads well; `FACTORS` says how to get there."""
    if unit == "1":
        return "%" if metric not in METRICS or METRICS[metric].percent else ""
    for least, name in SCALES.get(unit, ()):
        if abs(value) >= least:
            return name
    return unit
