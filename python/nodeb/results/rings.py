"""Phones of a cell by their distance from the Node B."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.answer import Rows
from nodeb.answer.numbers import scale_of, shown
from nodeb.results.group import is_mixed

if TYPE_CHECKING:
    from nodeb.results.result import Result

__all__ = ["Rings", "distance_table"]

RINGS = 5


@dataclass(frozen=True)
class Rings:
    """Phones of a cell grouped by their distance from the Node B."""

    distance_m: NDArray[np.float64]
    edges_m: NDArray[np.float64]
    """Distances from the Node B that separate the rings, m; the first is 0."""

    @classmethod
    def of(cls, result: Result) -> Rings | None:
        """Returns the rings of a result, or `None` if it has no distances or too few phones.

        At least two phones per ring are needed on average.
        """
        phones = result.tables.get("phones")
        if phones is None or len(phones) < 2 * RINGS:
            return None
        # Positions from a distance and an angle differ from it by rounding, perhaps at an edge.
        distance = np.round(np.asarray(phones["distance_m"], dtype=float), 3)
        if (
            is_mixed(result.flows)
            or len(distance) != len(result.flows)
            or not np.isfinite(distance).all()
        ):
            return None
        return cls(distance, np.linspace(0.0, _round_up(float(distance.max())), RINGS + 1))

    def of_each(self, values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Groups values, one per phone, by ring; the ring nearest to the Node B comes first."""
        ring = np.clip(np.digitize(self.distance_m, self.edges_m) - 1, 0, RINGS - 1)
        return [values[ring == one] for one in range(RINGS)]


def distance_table(result: Result) -> Rows | None:
    """Returns `None` for a result without distances or with too few phones (see `Rings.of`)."""
    found = Rings.of(result)
    if found is None:
        return None
    each = found.of_each(result.flows["received_bps"])
    means = [part.mean() if len(part) else math.nan for part in each]
    unit, factor = scale_of(max(one for one in means if math.isfinite(one)), "bit/s")
    head = ["distance, up to", *(f"{edge:g} m" for edge in found.edges_m[1:])]
    cells = [shown(one, unit="bit/s", scale=("", factor)).number for one in means]
    counts = [str(len(part)) for part in each]
    return Rows(head, [[f"mean received, {unit}", *cells], ["phones", *counts]])


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value)) / 2 if value > 0 else 1.0
    return math.ceil(value / power) * power
