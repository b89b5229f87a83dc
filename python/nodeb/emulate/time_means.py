"""Means over the time of one emulation, with confidence intervals by the batch means method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.numbers import shown
from nodeb.answer.words import percent
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.stats import batch_means

__all__ = ["Means", "means"]

BATCHES = 10
"""Number of batches: the minimum that Law and Kelton advise (section 9.5.3), as most emulations are
short."""
MIN_INTERVALS = 4 * BATCHES
NOTE = (
    "Means over time with 95 % intervals from {batches} batch means after the warm-up (MSER-5). "
    "They show the variation within this emulation, and nothing about other emulations."
)


@dataclass(frozen=True)
class Means:
    """Table of means over time: heads of its columns, rows of texts, and a note below it."""

    columns: list[str]
    rows: list[list[str]]
    note: str


def means(phones: Table, cell: Table, names: Mapping[int, str]) -> Means:
    """Returns a table of means over time with 95 % intervals: bit rates, queue lengths and CQI.

    Quantities with too few recorded intervals, unknown values or only zeros have no row.
    """
    rows = [row for name, values in _series(phones, cell, names) if (row := _row(name, values))]
    columns = ["quantity", "mean", "95 % interval", "warm-up deleted"]
    return Means(columns, rows, NOTE.format(batches=BATCHES))


def _series(
    phones: Table, cell: Table, names: Mapping[int, str]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yields the name of each quantity, and its value in every recorded interval of time.

    The last interval is omitted, because it may be incomplete.
    """
    for user, name in names.items():
        for way in ("down", "up"):
            mine = (phones["user"] == user) & (np.asarray(phones["way"]) == way)
            rows = phones.where(mine)
            yield f"{name} {way}, kbit/s", _kbps(rows, "arrived_bytes")
            yield f"{name} {way}, packets waiting", rows["queue_packets"][:-1]
            if way == "down":
                yield f"{name}, CQI", rows["cqi"][:-1]
    yield "all simulated down, kbit/s", _kbps(cell, "simulated_down_bytes")


def _kbps(rows: Table, column: str) -> NDArray[np.float64]:
    rates: NDArray[np.float64] = 8e-3 * rows[column] / (rows["end_s"] - rows["begin_s"])
    return rates[:-1]


def _row(name: str, values: NDArray[np.float64]) -> list[str]:
    """Returns a row of the table, or an empty list if a mean would be meaningless.

    That is the case if values are too few, some are NaN or all are 0, or if too few remain after
    the warm-up.
    """
    if len(values) < MIN_INTERVALS or not np.isfinite(values).all() or not values.any():
        return []
    try:
        found = batch_means(values, BATCHES)
    except InputError:
        return []
    mean = shown(found.interval.mean, found.interval.low, found.interval.high)
    return [name, mean.number, mean.interval, percent(found.warmup / len(values))]
