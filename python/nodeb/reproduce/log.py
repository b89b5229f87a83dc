"""The quantities of the replications of one scenario: a few numbers per user, for metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodeb.reproduce import series as series_module
from nodeb.reproduce.arrays import Array, Tables
from nodeb.stats import mean_interval

_FLOW_COLUMNS = (
    "transfer_s",
    "download_s",
    "app_bytes",
    "ip_bytes",
    "packets_sent",
    "packets_retransmitted",
    "timeouts",
    "fast_retransmits",
    "rtt_mean_s",
)
_STATES = ("pch_s", "paging_s", "fach_s", "setting_up_s", "dch_s", "releasing_s")


@dataclass(frozen=True)
class Run:
    """One replication.

    Attributes:
        quantities: name -> a value per user, or a single one.
        unfinished: downloads that did not end; sources that go on for ever have none.
    """

    quantities: Mapping[str, Array]
    unfinished: int


def reduce(
    tables: Tables,
    warm_up_s: float = 0.0,
    endless: bool = False,
    series: Mapping[str, Array] | None = None,
) -> Run:
    """The quantities of a replication.

    Args:
        tables: as the simulation core returns them.
        warm_up_s: bursts (rows of the table `transfers`) count if they end later than this.
        endless: downloads are not meant to end; what they had delivered at the end counts.
        series: what was kept of the series; None reduces those that are among the tables.
    """
    if series is None:
        series = series_module.bursts(tables, warm_up_s)
    quantities = _downloads(tables["flows"]) | _bearer(tables["bearers"]) | dict(series)
    if endless:
        return Run(quantities | _delivered(tables), 0)
    if "bursts" not in series:
        complete = np.asarray(tables["flows"]["complete"], dtype=bool)
        return Run(quantities, int(np.sum(~complete)))
    if "channels" in tables:
        quantities |= _channels(tables["channels"], warm_up_s)
    return Run(quantities, 0)


def _downloads(flows: Mapping[str, Any]) -> dict[str, Array]:
    order = np.argsort(np.asarray(flows["user"]), kind="stable")
    found = {name: np.asarray(flows[name], dtype=float)[order] for name in _FLOW_COLUMNS}
    start = np.asarray(flows["start_s"], dtype=float)
    # The end of the last download, counted from the first one's start.
    found["last_s"] = np.array([np.max(start[order] + found["transfer_s"]) - np.min(start)])
    found["rate_stdev_bps"] = np.array([_spread(found["app_bytes"] * 8 / found["transfer_s"])])
    return found


def _spread(rates: Array) -> float:
    """Sample standard deviation over users; NaN of a single one."""
    return float(np.std(rates, ddof=1)) if len(rates) > 1 else math.nan


def _delivered(tables: Tables) -> dict[str, Array]:
    """Bytes in order at each phone by the end of the run, and when that was."""
    flows, bearers = tables["flows"], tables["bearers"]
    order = np.argsort(np.asarray(flows["user"]), kind="stable")
    return {
        "delivered_bytes": np.asarray(flows["delivered_bytes"], dtype=float)[order],
        "end_s": np.asarray(bearers["end_s"], dtype=float)[:1],
    }


def _bearer(bearers: Mapping[str, Any]) -> dict[str, Array]:
    return {
        "bearers": np.array([float(len(np.asarray(bearers["bler"])))]),
        "bler": np.asarray(bearers["bler"], dtype=float)[:1],
        "channel_rate_bps": np.asarray(bearers["channel_rate_bps"], dtype=float)[:1],
    }


def _channels(channels: Mapping[str, Any], warm_up_s: float) -> dict[str, Array]:
    spent = np.sum([np.asarray(channels[state], dtype=float) for state in _STATES], axis=0)
    return {
        "set_ups": np.asarray(channels["set_ups"], dtype=float),
        "observed_s": spent[:1] - warm_up_s,  # every user is in some state all the time
    }


class Log:
    """The replications of one scenario: per quantity an array of runs by users."""

    def __init__(self) -> None:
        self._runs: list[Mapping[str, Array]] = []
        self._stacked: dict[str, Array] | None = None
        self.unfinished = 0

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, run: Run) -> None:
        """Append one replication."""
        self.unfinished += run.unfinished
        self._runs.append(run.quantities)
        self._stacked = None

    def stacked(self) -> dict[str, Array]:
        """Quantity -> array of runs by users."""
        if self._stacked is None:
            keys = self._runs[0].keys()
            self._stacked = {key: np.stack([run[key] for run in self._runs]) for key in keys}
        return self._stacked

    def relative_half_width(self) -> float:
        """Half-width of the 95 % interval of the mean download time, relative to it.

        Where downloads are endless it is that of the mean amount delivered.
        """
        quantities = self.stacked()
        known = quantities.get("delivered_bytes", quantities["transfer_s"]).mean(axis=1)
        # More replications cannot help where a download never ended.
        return mean_interval(known).relative_half_width if np.all(np.isfinite(known)) else 0.0
