"""What is measured from the replications of one scenario, and how sure it is.

A metric is a function of *mean* per-user quantities over the replications. A rate is therefore the
data divided by the mean download time, as the study defines it, and the spread among users is that
of their mean rates. The 95 % interval of such a function is the jackknife's: leave out one
replication at a time (Efron and Tibshirani 1993, ch. 11), with Student's t. For a plain mean this
is the usual interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nodeb.errors import InputError
from nodeb.reproduce.study import nearest
from nodeb.stats import mean_interval

Array = NDArray[np.float64]
Means = Mapping[str, Array]
Tables = Mapping[str, Mapping[str, Any]]
CONFIDENCE = 0.95
BITS_PER_KILOBYTE = 8 / 1000  # bytes/s -> kb/s

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


class Log:
    """The replications of one scenario: per quantity an array of runs by users."""

    def __init__(self) -> None:
        self._runs: list[dict[str, Array]] = []
        self._stacked: dict[str, Array] | None = None
        self.unfinished = 0

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, tables: Tables) -> None:
        """Append one replication, given the tables of the simulation core."""
        flows, bearers = tables["flows"], tables["bearers"]
        order = np.argsort(np.asarray(flows["user"]), kind="stable")
        run = {name: np.asarray(flows[name], dtype=float)[order] for name in _FLOW_COLUMNS}
        end = np.asarray(flows["start_s"], dtype=float)[order] + run["transfer_s"]
        # The end of the last download, counted from the first one's start.
        run["last_s"] = np.array([np.max(end) - np.min(np.asarray(flows["start_s"], dtype=float))])
        run["bearers"] = np.array([float(len(np.asarray(bearers["bler"])))])
        run["bler"] = np.asarray(bearers["bler"], dtype=float)[:1]
        run["channel_rate_bps"] = np.asarray(bearers["channel_rate_bps"], dtype=float)[:1]
        self.unfinished += int(np.sum(~np.asarray(flows["complete"], dtype=bool)))
        self._runs.append(run)
        self._stacked = None

    def stacked(self) -> dict[str, Array]:
        """Quantity -> array of runs by users."""
        if self._stacked is None:
            keys = self._runs[0].keys()
            self._stacked = {key: np.stack([run[key] for run in self._runs]) for key in keys}
        return self._stacked

    def relative_half_width(self) -> float:
        """Half-width of the 95 % interval of the mean download time, relative to it."""
        times = self.stacked()["transfer_s"].mean(axis=1)
        # More replications cannot help where a download never ended.
        return mean_interval(times).relative_half_width if np.all(np.isfinite(times)) else 0.0


@dataclass(frozen=True)
class Estimate:
    """A measured value with its 95 % confidence interval.

    Attributes:
        value: the estimate.
        low: lower end of the interval.
        high: upper end of the interval.
        runs: replications that it comes from; 0 for a value that was calculated.
    """

    value: float
    low: float
    high: float
    runs: int

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    @property
    def known(self) -> bool:
        """Whether there is a value at all (a download that never ended leaves none)."""
        return math.isfinite(self.value)


@dataclass(frozen=True)
class Sample:
    """A value and what it becomes without each replication in turn."""

    value: float
    left_out: Array

    def estimate(self) -> Estimate:
        """Value with its jackknife interval."""
        n = len(self.left_out)
        if n < 2:
            nan = math.nan
            return Estimate(self.value, nan if n else self.value, nan if n else self.value, n)
        spread = float(np.sum((self.left_out - np.mean(self.left_out)) ** 2))
        half = _t(n) * math.sqrt(spread * (n - 1) / n)
        return Estimate(self.value, self.value - half, self.value + half, n)


class Quantity(Protocol):
    """Something whose value follows from replications: a metric of a scenario, or a combination."""

    def runs(self) -> int:
        """Replications at hand."""
        ...

    def sample(self, n: int) -> Sample:
        """Value from the first `n` replications."""
        ...


def estimate(quantity: Quantity) -> Estimate:
    """Value and interval of a quantity from all its replications."""
    return quantity.sample(quantity.runs()).estimate()


@dataclass(frozen=True)
class Measured:
    """A metric of one scenario."""

    log: Log
    metric: Metric
    params: Mapping[str, Any]

    def runs(self) -> int:
        """Replications of the scenario."""
        return len(self.log)

    def sample(self, n: int) -> Sample:
        """Metric from the first `n` replications."""
        columns = {key: values[:n] for key, values in self.log.stacked().items()}
        means = {key: values.mean(axis=0) for key, values in columns.items()}
        value = float(self.metric.of(means, self.params))
        if n < 2:
            return Sample(value, np.full(n, value))
        rest = {key: (n * means[key] - values) / (n - 1) for key, values in columns.items()}
        return Sample(value, np.broadcast_to(self.metric.of(rest, self.params), (n,)))


@dataclass(frozen=True)
class Combined:
    """Two quantities under common random numbers: replication i of both met the same radio."""

    operation: str
    left: Quantity
    right: Quantity

    def runs(self) -> int:
        """Replications that both have."""
        return min(n for n in (self.left.runs(), self.right.runs()) if n) if self._random() else 0

    def _random(self) -> bool:
        return self.left.runs() > 0 or self.right.runs() > 0

    def sample(self, n: int) -> Sample:
        """The combination of the first `n` replications."""
        left, right = self.left.sample(n), self.right.sample(n)
        operate = OPERATIONS[self.operation]
        return Sample(
            float(operate(np.asarray(left.value), np.asarray(right.value))),
            np.asarray(operate(left.left_out, right.left_out)),
        )


@dataclass(frozen=True)
class Constant:
    """A calculated number."""

    value: float

    def runs(self) -> int:
        """None: nothing was simulated."""
        return 0

    def sample(self, n: int) -> Sample:
        """The number itself."""
        return Sample(self.value, np.full(n, self.value))


def _ratio(left: Array, right: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return left / right


OPERATIONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "difference": lambda left, right: left - right,
    "relative": lambda left, right: 100 * (_ratio(left, right) - 1),
    "ratio": _ratio,
}


@dataclass(frozen=True)
class Metric:
    """A function of the mean quantities per user (last axis: users).

    Attributes:
        name: as written in study files.
        unit: unit of its values.
        text: what it is.
        of: means, parameters -> value.
    """

    name: str
    unit: str
    text: str
    of: Callable[[Means, Mapping[str, Any]], Array]


def _application(means: Means) -> Array:
    return means["app_bytes"] / means["transfer_s"] * BITS_PER_KILOBYTE


def _retransmit(means: Means) -> Array:
    carried = means["ip_bytes"] / means["transfer_s"] * BITS_PER_KILOBYTE
    return np.asarray(carried / (1 - means["bler"]))


def _utilization(means: Means) -> Array:
    """Of a channel per user: each over its own time. Of a shared one: all over the last time.

    With a single user the two are the same.
    """
    if means["bearers"].flat[0] > 1:
        return _mean(np.asarray(100 * 1000 * _retransmit(means) / means["channel_rate_bps"]))
    everything = np.sum(means["ip_bytes"], axis=-1) / means["last_s"][..., 0] * 8
    channel = means["channel_rate_bps"][..., 0] * (1 - means["bler"][..., 0])
    return np.asarray(100 * everything / channel)


def _mean(values: Array) -> Array:
    return np.asarray(np.mean(values, axis=-1))


_METRICS = (
    Metric(
        "application_kbps",
        "kb/s",
        "application bit rate, mean over users: file size / mean transfer time",
        lambda means, _: _mean(_application(means)),
    ),
    Metric(
        "user_application_kbps",
        "kb/s",
        "application bit rate of user number `user`",
        lambda means, params: _application(means)[..., params["user"]],
    ),
    Metric(
        "application_stdev_kbps",
        "kb/s",
        "sample standard deviation over users of their application bit rates",
        lambda means, _: np.asarray(np.std(_application(means), axis=-1, ddof=1)),
    ),
    Metric(
        "retransmit_kbps",
        "kb/s",
        "file with TCP/IP headers / mean transfer time / (1 - BLER), mean over users",
        lambda means, _: _mean(_retransmit(means)),
    ),
    Metric(
        "utilization_percent",
        "%",
        "retransmit bit rate / channel bit rate: mean over users, or on a shared channel that of "
        "all bytes over the time of the last user",
        lambda means, _: _utilization(means),
    ),
    Metric(
        "rtt_ms",
        "ms",
        "mean round-trip time of data packets as the TCP sender measures it",
        lambda means, _: 1000 * _mean(means["rtt_mean_s"]),
    ),
    Metric(
        "transfer_s",
        "s",
        "mean transfer time",
        lambda means, _: _mean(means["transfer_s"]),
    ),
    Metric(
        "retransmitted_packets",
        "packets",
        "data packets that TCP sent again, per replication, all users",
        lambda means, _: np.asarray(np.sum(means["packets_retransmitted"], axis=-1)),
    ),
    Metric(
        "timeouts_per_1000_packets",
        "",
        "retransmission timeouts per thousand data packets sent",
        lambda means, _: np.asarray(
            1000 * np.sum(means["timeouts"], axis=-1) / np.sum(means["packets_sent"], axis=-1)
        ),
    ),
)
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _METRICS}


def metric(name: str) -> Metric:
    """Look up a metric.

    Raises:
        InputError: if there is no such metric.
    """
    try:
        return METRICS[name]
    except KeyError:
        raise InputError(f"unknown metric `{name}`; {nearest(name, METRICS)}") from None


def _t(n: int) -> float:
    from scipy.special import stdtrit  # a slow import

    return float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
