"""Labels of axes: names of columns of results tables, and units that suit their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.numbers import scale_of
from nodeb.results.metrics import METRICS

__all__ = ["Quantity"]

SUFFIXES = {
    "_bps": "bit/s",
    "_s": "s",
    "_bytes": "bytes",
    "_packets": "packets",
    "_m": "m",
    "_db": "dB",
}
"""Unit of a column in any table, by the suffix of the column's name."""
DIFFERENCE = "_diff"
NAMES = {name: metric.label for name, metric in METRICS.items()} | {
    "t_s": "time",
    "cwnd_packets": "congestion window",
    "begin_s": "begin",
    "rtt_s": "round-trip time",
    "snr_db": "mean SNR",
}


@dataclass(frozen=True)
class Quantity:
    """Quantity of a column: its name, and a unit that suits its values."""

    name: str
    unit: str
    factor: float
    """Factor that converts the column's values to the unit."""

    @classmethod
    def of(cls, column: str, values: NDArray[np.float64]) -> Quantity:
        """Returns the quantity of a column; the largest absolute value determines the unit."""
        metric = column.removesuffix(DIFFERENCE)
        suffix = next((s for s in SUFFIXES if metric.endswith(s)), "")
        known = values[np.isfinite(values)]
        largest = float(np.abs(known).max()) if known.size else 0.0
        plain = METRICS[metric].unit if metric in METRICS else SUFFIXES.get(suffix, "")
        is_percent = metric not in METRICS or METRICS[metric].percent
        unit, factor = scale_of(largest, plain, percent=is_percent)
        name = NAMES.get(metric, metric.removesuffix(suffix) or metric)
        prefix = "difference of " if metric != column else ""
        return cls(prefix + name, unit, factor)

    @property
    def title(self) -> str:
        """Name with a capital letter, for the beginning of a line.

        The name of a scenario key, which contains a dot, stays as it is.
        """
        return self.name if "." in self.name else self.name[:1].upper() + self.name[1:]

    @property
    def label(self) -> str:
        """Label of an axis: name and unit, such as `Delay (s)`; without a unit, only the name."""
        text = self.title.replace("_", " ") if "." not in self.name else self.title
        return f"{text} ({self.unit})" if self.unit else text
