"""Series over time that change in steps: averages over intervals of time.

The series of a result have a row for each change; between rows the last value holds. Means and
batch means (`nodeb.stats`) need equal weights, which averages over equal intervals have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nodeb.errors import InputError

__all__ = ["time_averages"]


def time_averages(times: ArrayLike, values: ArrayLike, edges: ArrayLike) -> NDArray[np.float64]:
    """Average of a step function in each interval between two edges.

    Formula: the integral over the part of the interval in which the function is known, over the
    length of that part. It is known from the first time to the last; the last value has no length.

    Args:
        times: when the function changes, s, in order.
        values: its value from each time on, any unit.
        edges: ends of the intervals, s, increasing; n + 1 for n intervals.

    Returns:
        One average per interval; NaN for one in which the function is not known.

    Raises:
        InputError: times and values differ in number, times are not in order, or edges do not
            increase.
    """
    t, v, e = (np.asarray(a, dtype=np.float64) for a in (times, values, edges))
    if t.shape != v.shape or t.ndim != 1:
        raise InputError(f"times and values must be equally many; these are {t.size} and {v.size}")
    if (np.diff(t) < 0).any():
        raise InputError("the times of a series must be in order")
    if e.size < 2 or (np.diff(e) <= 0).any():
        raise InputError("the edges of intervals must increase, and be at least two")
    if not t.size:
        return np.full(e.size - 1, np.nan)
    area = np.concatenate([[0.0], np.cumsum(np.diff(t) * v[:-1])])
    clipped = np.clip(e, t[0], t[-1])
    # At equal times the last value counts, and the area up to there is the same for all of them.
    at = np.searchsorted(t, clipped, side="right") - 1
    integral = area[at] + (clipped - t[at]) * v[at]
    length = np.diff(clipped)
    averages = np.full(e.size - 1, np.nan)
    np.divide(np.diff(integral), length, out=averages, where=length > 0)
    return averages
