"""What did not finish, and what can be said of all transfers nevertheless."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table

__all__ = ["NOTHING", "Unfinished", "median_of_all", "nothing_arrived", "unfinished"]

ROOM = 1.25
"""A suggested duration is longer by this factor than what the transfers seem to need."""
MOST = 0.95
"""Share of the transfers for which it is long enough."""
DURATIONS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""First digits of a suggested duration."""
ROUNDING = 1e-12
"""Products of shares are this exact."""
LONG_S = 1000.0
"""A run of so many seconds is long enough for any delays."""
LEAST_LONGER_S = 10.0
"""A longer run that is suggested where nothing arrived has so many seconds at least."""
LONGEST = 100.0
"""A suggested duration is at most so many times the present one."""


@dataclass(frozen=True)
class Unfinished:
    """The transfers of a result that were under way when their run ended."""

    transfers: int
    """All transfers that have an end."""
    count: int
    """Those that were not complete."""
    received: float
    """Share of their bytes that had arrived, on average."""
    at_least_s: float
    """Mean download time of all transfers is not below: who did not finish counts until the end."""
    median_s: float
    """Kaplan-Meier estimate of the median download time of all; NaN where fewer than half ended."""
    starved: float
    """Share of those that were not complete of which nothing had arrived."""
    enough_s: float
    """A duration in which 95 of 100 of which something had arrived would finish at their pace; NaN
    where it is more than `LONGEST` times the present one."""

    @property
    def share(self) -> float:
        """Share of the transfers that were not complete."""
        return self.count / self.transfers if self.transfers else 0.0

    def __add__(self, other: Unfinished) -> Unfinished:
        """Those of both, of whose times together nothing is said but the longer duration."""
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


NOTHING = Unfinished(0, 0, 1.0, math.nan, math.nan, 0.0, math.nan)
"""Of no transfers at all; added to others it changes nothing but what is estimated."""


def unfinished(flows: Table, duration_s: float) -> Unfinished:
    """What did not finish of the transfers in a table `flows`.

    Args:
        flows: of one or more replications.
        duration_s: when a run ends.
    """
    ends = flows["endless"] == 0
    # A download is complete for its user when the last byte is there, before its last ACK.
    took, begin = flows["download_s"][ends], flows["start_s"][ends]
    complete = np.isfinite(took) | (flows["complete"] > 0)[ends]
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
        _enough(begin[open_], times[open_], received, duration_s),
    )


def nothing_arrived(duration_s: float) -> str:
    """Asks why nothing arrived, and names a longer run unless it is long already."""
    longer = max(LEAST_LONGER_S, 10 * duration_s)
    how = f' (--set duration="{longer:g} s" is longer)' if duration_s < LONG_S else ""
    return f"is the run long enough for the delays{how}, and does the radio carry packets?"


def median_of_all(times: NDArray[np.float64], complete: NDArray[np.bool_]) -> float:
    """Median of times of which some are only known to be longer; NaN where it is not reached.

    Formula: the time at which the product-limit estimate of the share that is still under way
    falls to a half. Source: Kaplan and Meier, Nonparametric estimation from incomplete
    observations, J. Am. Stat. Assoc. 53, 1958.

    Args:
        times: how long each was observed, s.
        complete: whether it ended then.
    """
    under_way, left = 1.0, len(times)
    for time in np.unique(times):
        at = times == time
        under_way *= 1 - complete[at].sum() / left
        if under_way <= 0.5 + ROUNDING:
            return float(time)
        left -= int(at.sum())
    return math.nan


def _enough(
    begin: NDArray[np.float64],
    elapsed: NDArray[np.float64],
    received: NDArray[np.float64],
    duration_s: float,
) -> float:
    """A round duration in which transfers finish that go on at their pace."""
    goes_on = received > 0
    if not goes_on.any():
        return math.nan
    ends = begin[goes_on] + elapsed[goes_on] / received[goes_on]
    needed = ROOM * float(np.quantile(ends, MOST))
    if not needed <= LONGEST * duration_s:
        return math.nan
    power = 10.0 ** math.floor(math.log10(needed))
    return next(digit * power for digit in DURATIONS if digit * power >= needed)
