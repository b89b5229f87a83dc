"""Tables as aligned plain text, and numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nodeb.base.arguments import is_number
from nodeb.base.streams import printable
from nodeb.base.table import Table
from nodeb.errors import InputError, nearest
from nodeb.results.metrics import ALL, METRICS

__all__ = [
    "align",
    "decimals_of",
    "shown_unit",
    "sweep_text",
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
SHOWN_ROWS = 30
"""Rows of a sweep that a terminal is shown."""


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


def sweep_text(table: Table, metric: str = "application_bps") -> str:
    """A metric of each cell of a sweep as text; the rest is in the table.

    Raises:
        InputError: no cell has it.
    """
    if metric not in table.columns:
        there = [name for name in table.columns if name in METRICS]
        raise InputError(f"no cell of the sweep has `{metric}`{nearest(metric, there)}")
    swept = table.columns[: table.columns.index("group")]
    shown = [*swept, *(["group"] if set(table["group"].tolist()) != {ALL} else [])]
    rows = [
        [_plain(row[name]) for name in shown] + _numbers(_of_metric(row, metric))
        for row, _ in zip(table, range(SHOWN_ROWS), strict=False)
    ]
    text = align([*shown, METRICS[metric].label, "95 % interval", "unit"], rows)
    rest = len(table) - len(rows)
    return text + (f"\n... and {rest} more rows" if rest else "")


def _of_metric(row: dict[str, Any], metric: str) -> dict[str, Any]:
    """A metric in a row of a sweep, in the form of the summary."""
    ends = {end: row[f"{metric}_{end}"] for end in ("ci95_low", "ci95_high")}
    return {"metric": metric, "unit": METRICS[metric].unit, "mean": row[metric], **ends}


def _plain(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _numbers(row: dict[str, Any]) -> list[str]:
    """Mean, interval and unit of a row of the summary."""
    mean, low, high = row["mean"], row["ci95_low"], row["ci95_high"]
    unit = shown_unit(row["metric"], row["unit"], mean)
    if not math.isfinite(mean):
        return ["-", "", unit]
    factor = FACTORS.get(unit, 1.0)
    decimals = decimals_of(mean * factor)
    ends = [f"{end * factor:.{decimals}f}" for end in (low, high) if math.isfinite(end)]
    return [f"{mean * factor:.{decimals}f}", " .. ".join(ends), unit]


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
