"""Curves of many points as curves of few that look the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["MAX_POINTS", "thinned"]

PARTS = 400
"""Intervals of a picture's width, each about a pixel wide."""
MAX_POINTS = 4 * PARTS
"""A curve of no more points than this is drawn as it is."""


def thinned(times: ArrayLike, values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The points of a series that can be seen: of each small interval first, last and extremes.

    That is the aggregation M4 (Jugel and others, VLDB 2014), with which a line has the same pixels.

    Args:
        times: in order.
        values: one for each time.
    """
    t, v = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(t) <= MAX_POINTS:
        return t, v
    part = np.minimum((PARTS * (t - t[0]) / max(t[-1] - t[0], 1e-12)).astype(int), PARTS - 1)
    order = np.lexsort((v, part))  # by part, and within it from the lowest value to the highest
    begins = np.concatenate([[0], np.flatnonzero(np.diff(part)) + 1])
    ends = np.concatenate([begins[1:], [len(t)]]) - 1
    kept = np.unique(np.concatenate([begins, ends, order[begins], order[ends]]))
    return t[kept], v[kept]
