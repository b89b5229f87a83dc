"""Reduction of curves with many points to curves with few that look the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["MAX_POINTS", "thinned"]

PARTS = 400
"""Number of intervals across a figure, each one to three pixels wide."""
MAX_POINTS = 4 * PARTS
"""Largest number of points of a curve that is drawn unchanged."""


def thinned(times: ArrayLike, values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the visible points of a series: first, last and extremes of each small interval.

    This is the aggregation M4 (Jugel and others, VLDB 2014), which leaves the pixels of a line
    unchanged if an interval is a pixel wide. A series of at most `MAX_POINTS` points is returned
    whole.
    """
    t, v = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(t) <= MAX_POINTS:
        return t, v
    part = np.minimum((PARTS * (t - t[0]) / max(t[-1] - t[0], 1e-12)).astype(int), PARTS - 1)
    # Points are sorted by interval, and within an interval from the lowest to the highest value.
    order = np.lexsort((v, part))
    begins = np.concatenate([[0], np.flatnonzero(np.diff(part)) + 1])
    ends = np.concatenate([begins[1:], [len(t)]]) - 1
    kept = np.unique(np.concatenate([begins, ends, order[begins], order[ends]]))
    return t[kept], v[kept]
