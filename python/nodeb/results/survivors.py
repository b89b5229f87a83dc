"""Statistics of unfinished transfers, and of all transfers including unfinished ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table, unique

__all__ = [
    "NO_TRANSFERS",
    "Unfinished",
    "finished",
    "median_of_all",
    "no_arrival_hint",
    "unfinished",
]

MARGIN = 1.25
"""Factor between the duration that transfers seem to need and the suggested one."""
FINISHED_SHARE = 0.95
"""Share of the transfers that would finish within a suggested duration divided by `MARGIN`."""
DURATIONS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
ROUNDING = 1e-12
LONG_S = 1000.0
"""Duration, s, from which on a run counts as long.

If nothing arrived in a long run, a longer one is not suggested.
"""
MIN_LONGER_S = 10.0
MAX_FACTOR = 100.0
"""Maximum ratio of a suggested duration to the present one."""


@dataclass(frozen=True)
class Unfinished:
    """Statistics of a result's transfers that were in progress when their run ended."""

    transfers: int
    """Number of transfers, finished or not, without endless ones."""
    count: int
    """Number of transfers of which the receiver had not received everything."""
    received: float
    """Mean share of bytes that had arrived of an unfinished transfer; 1 if none is unfinished."""
    at_least_s: float
    """Lower bound of the mean download time of all transfers, s; NaN without transfers.

    An unfinished transfer counts as if it had ended with the run.
    """
    median_s: float
    """Kaplan-Meier estimate of all transfers' median download time, s; NaN if it is not reached."""
    starved: float
    """Share of the unfinished transfers of which nothing had arrived; 0 if none is unfinished."""
    enough_s: float
    """Suggested duration of a run, s, rounded up, in which most unfinished transfers would finish.

    At their pace, 95 % of those of which something had arrived would finish before this duration
    divided by `MARGIN`. NaN if these are fewer than half of the unfinished transfers, or if the
    duration exceeds `MAX_FACTOR` times the present one.
    """

    @property
    def share(self) -> float:
        """Share of all transfers that were not complete; 0 if there are no transfers."""
        return self.count / self.transfers if self.transfers else 0.0

    def __add__(self, other: Unfinished) -> Unfinished:
        """Mean and median times become NaN;"""
        if not self.count or not other.count:
            found = self if self.count else other
            return replace(
                found,
                transfers=self.transfers + other.transfers,
                at_least_s=math.nan,
                median_s=math.nan,
            )
        count = self.count + other.count
        part = self.count / count

        def mixed(one: float, another: float) -> float:
            return part * one + (1 - part) * another

        return Unfinished(
            self.transfers + other.transfers,
            count,
            mixed(self.received, other.received),
            math.nan,
            math.nan,
            mixed(self.starved, other.starved),
            float(np.fmax(self.enough_s, other.enough_s)),
        )


NO_TRANSFERS = Unfinished(0, 0, 1.0, math.nan, math.nan, 0.0, math.nan)
"""No transfers at all; adding it keeps counts and shares, but not estimated times."""


def unfinished(flows: Table, duration_s: float) -> Unfinished:
    ends = flows["endless"] == 0
    took, begin = flows["download_s"][ends], flows["start_s"][ends]
    complete = finished(flows)[ends]
    times = np.where(np.isfinite(took), took, duration_s - begin)
    size, arrived = flows["app_bytes"][ends], flows["delivered_bytes"][ends]
    open_ = ~complete
    received = np.divide(arrived, size, out=np.zeros(len(size)), where=size > 0)[open_]
    return Unfinished(
        len(complete),
        int(open_.sum()),
        float(received.mean()) if received.size else 1.0,
        float(times.mean()) if times.size else math.nan,
        median_of_all(times, complete),
        float((received == 0).mean()) if received.size else 0.0,
        _sufficient_duration(begin[open_], times[open_], received, duration_s),
    )


def finished(flows: Table) -> NDArray[np.bool_]:
    """Returns for each row of `flows` whether the receiver has the last byte, even if not ACKed."""
    found: NDArray[np.bool_] = np.isfinite(flows["download_s"]) | (flows["complete"] > 0)
    return found


def no_arrival_hint(duration_s: float) -> str:
    """Returns a question about why nothing arrived.

    It suggests a longer run if `duration_s` is below `LONG_S`.
    """
    longer = max(MIN_LONGER_S, 10 * duration_s)
    how = f' (--set duration="{longer:g} s" is longer)' if duration_s < LONG_S else ""
    return f"is the run long enough for the delays{how}, and does the radio carry packets?"


def median_of_all(times: NDArray[np.float64], complete: NDArray[np.bool_]) -> float:
    """NaN if it is not reached.

    Formula: the time at which the product-limit estimate of the share that is still in progress
    falls to a half. Assoc. 53, 1958.
    """
    under_way, left = 1.0, len(times)
    for time in unique(times):
        at = times == time
        under_way *= 1 - complete[at].sum() / left
        if under_way <= 0.5 + ROUNDING:
            return float(time)
        left -= int(at.sum())
    return math.nan


def _sufficient_duration(
    begin: NDArray[np.float64],
    elapsed: NDArray[np.float64],
    received: NDArray[np.float64],
    duration_s: float,
) -> float:
    """Returns a round duration, s, in which 95 of 100 transfers would finish at their pace.

    NaN if they are more than half of all, as the pace of most is then unknown, or if the
    duration is more than `MAX_FACTOR` times the present one.
    """
    goes_on = received > 0
    if not goes_on.any() or goes_on.mean() < 0.5:
        return math.nan
    ends = begin[goes_on] + elapsed[goes_on] / received[goes_on]
    needed = MARGIN * float(np.quantile(ends, FINISHED_SHARE))
    if not needed <= MAX_FACTOR * duration_s:
        return math.nan
    power = 10.0 ** math.floor(math.log10(needed))
    return next(digit * power for digit in DURATIONS if digit * power >= needed)
