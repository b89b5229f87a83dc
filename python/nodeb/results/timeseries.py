"""Averages over intervals of time of series that change in steps.

The series of a result have a row for each change; the value holds until the next row. Means and
batch means (`nodeb.stats`) need equal weights, which averages over equal intervals have.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nodeb.errors import InputError

__all__ = ["delivered_bytes", "held_values", "time_averages"]


class Columns(Protocol):
    """Columns by name, such as those of a table."""

    def __getitem__(self, name: str, /) -> Any: ...


def time_averages(times: ArrayLike, values: ArrayLike, edges: ArrayLike) -> NDArray[np.float64]:
    """Returns the average of a step function in each interval between two edges.

    Formula: the integral over the part of the interval in which the function is known, over the
    length of that part. The function is known from the first time to the last, so the last value
    does not count.

    Args:
        times: times at which the function changes, s, in order.
        values: value from each time on, any unit.
        edges: edges of the intervals, s, increasing; n + 1 for n intervals.

    Returns:
        One average per interval; NaN if the function is not known in it.

    Raises:
        InputError: times and values differ in number, times are not in order, or edges do not
            increase.
    """
    t, v, e = (np.asarray(a, dtype=np.float64) for a in (times, values, edges))
    if t.shape != v.shape or t.ndim != 1:
        raise InputError(f"there are {t.size} times and {v.size} values; expected equal numbers")
    if (np.diff(t) < 0).any():
        raise InputError("the times of a series are out of order; expected increasing times")
    if e.size < 2 or (np.diff(e) <= 0).any():
        raise InputError("the edges of intervals are invalid; expected at least two, increasing")
    if not t.size:
        return np.full(e.size - 1, np.nan)
    area = np.concatenate([[0.0], np.cumsum(np.diff(t) * v[:-1])])
    clipped = np.clip(e, t[0], t[-1])
    # `at` is the last of several changes at one time; the area up to that time is the same for all.
    at = np.searchsorted(t, clipped, side="right") - 1
    integral = area[at] + (clipped - t[at]) * v[at]
    length = np.diff(clipped)
    averages = np.full(e.size - 1, np.nan)
    np.divide(np.diff(integral), length, out=averages, where=length > 0)
    return averages


def held_values(times: ArrayLike, values: ArrayLike, at: ArrayLike) -> NDArray[np.float64]:
    """Returns the value of a step function at some times; before its first time, the first value.

    Args:
        times: times at which the function changes, s, in order.
        values: value from each time on, any unit.
        at: times of the wanted values, s.

    Returns:
        A value for each time of `at`; NaN if the series is empty.
    """
    t, v, looked = (np.asarray(a, dtype=np.float64) for a in (times, values, at))
    if not t.size:
        return np.full(looked.shape, np.nan)
    place = np.searchsorted(t, looked, side="right") - 1
    return np.asarray(v[np.clip(place, 0, None)])


def delivered_bytes(segments: Columns, total_bytes: float, edges: ArrayLike) -> NDArray[np.float64]:
    """Returns the bytes that arrived at a receiver in each interval between two edges.

    Each packet counts once, at its first arrival. It counts `total_bytes` divided by the number of
    packets that arrived.

    Args:
        segments: rows of one user of the table `segments`: columns `event`, `t_s`, `seq`.
        total_bytes: bytes that the user had received in order at the end.
        edges: edges of the intervals, s, increasing.
    """
    arrived = np.asarray(segments["event"]) == "deliver"
    _, first = np.unique(np.asarray(segments["seq"])[arrived], return_index=True)
    times = np.asarray(segments["t_s"], dtype=np.float64)[arrived][first]
    counts, _ = np.histogram(times, np.asarray(edges, dtype=np.float64))
    return np.asarray(counts * (total_bytes / max(1, len(times))), dtype=np.float64)
