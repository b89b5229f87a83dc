"""Stopping rules: when a scenario has enough replications.

A rule receives batches of replications in order. Its decision depends on the first n replications
only, not on batches or on replications beyond n, so the number of threads has no influence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from nodeb.base.student import t_quantile
from nodeb.stats import Precision, Stop, mean_interval

__all__ = ["RATES", "Count", "Rates", "Rounds", "Rule", "Sequential", "mean_rates", "rule_of"]

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

RATES = (
    "mean application bit rate",
    "mean bit rate received (not every transfer was completed)",
)
"""Names of the rates whose precision a rule judges; the rule uses one of them at a time.

A user who does not complete in time has none. A mean without such users would be a mean of
survivors, so the rule then uses the received bit rate.
"""
Rates = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Means of the rates in `RATES` over a replication's users, bit/s; NaN if a user has none."""
SAFETY = 1.1
"""Factor on the number of replications that the last interval requires; makes rounds fewer."""
NEAR = 1.001
"""Multiple of the requested half-width up to which an approximate one is computed exactly."""


class Rule(Protocol[T_contra]):
    """Interface of stopping rules, which decide on the number of replications of a scenario."""

    def take(self, outcome: T_contra, runs: int) -> None:
        """Receives the results of the next `runs` replications, in order."""
        ...

    def stop(self) -> Stop | None:
        """Returns the end of the experiment: `Stop.runs`, the number that suffices, and a
        reason."""
        ...

    def ahead(self) -> int:
        """Returns how many replications may be started in total, judging by the results so far."""
        ...

    def expected(self) -> int:
        """Returns the probable number of replications in total, for the progress report."""
        ...


class Count:
    """Stopping rule with a fixed number of replications, whatever their results are."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._seen = 0

    def take(self, outcome: Any, runs: int) -> None:
        del outcome
        self._seen += runs

    def stop(self) -> Stop | None:
        """Returns the end of the experiment, or `None` before the fixed number is reached."""
        if self._seen < self._runs:
            return None
        noun = "replication" if self._runs == 1 else "replications"
        return Stop(self._runs, True, f"{self._runs} {noun}, as asked")

    def ahead(self) -> int:
        return self._runs

    def expected(self) -> int:
        return self._runs


class Sequential:
    """Replicates until a mean is precise enough (`nodeb.stats.Precision`)."""

    def __init__(self, precision: Precision, measure: Callable[[Any], Rates]) -> None:
        self._limit = precision.max_runs
        self._precision, self._measure = precision, measure
        self._rates = [_Spread() for _ in RATES]
        self._stop: Stop | None = None

    def take(self, outcome: Any, runs: int) -> None:
        """Judges the precision after each replication from number `min_runs` on.

        Replications after the end of the experiment are not judged.
        """
        del runs
        widths = [s.extend(v) for s, v in zip(self._rates, self._measure(outcome), strict=True)]
        if self._stop is not None:
            return
        first = len(self._rates[0].values) - len(widths[0])
        for n in range(max(first + 1, self._precision.min_runs), first + len(widths[0]) + 1):
            known = next((i for i, s in enumerate(self._rates) if n <= s.known), len(RATES) - 1)
            width = widths[known][n - first - 1]
            if width > NEAR * self._precision.relative and n < self._limit:
                continue
            values = self._rates[known].values[:n]
            self._stop = self._precision.judge(values, RATES[known])
            if self._stop is not None:
                return

    def stop(self) -> Stop | None:
        """Returns the end of the experiment, or `None` if more replications are needed.

        The experiment ends if the precision or the maximum number is reached, or if the mean is 0
        or undefined.
        """
        return self._stop

    def ahead(self) -> int:
        """Returns the expected total, but at least one more than received and at most the
        maximum."""
        seen = len(self._rates[0].values)
        likely = self.expected() if seen >= self._precision.min_runs else self._precision.min_runs
        return min(max(likely, seen + 1), self._limit)

    def expected(self) -> int:
        """Returns the expected total, extrapolated from the last half-width.

        Without a half-width, the result is the maximum number.
        """
        seen = len(self._rates[0].values)
        spread = next((s for s in self._rates if s.known == math.inf), self._rates[-1])
        if seen < 2 or not math.isfinite(spread.width):
            return self._limit
        needed = seen * min(spread.width / self._precision.relative, 1e3) ** 2
        return min(max(math.ceil(needed), self._precision.min_runs, seen), self._limit)


class Rounds:
    """Replicates in rounds; the last interval determines how many replications the next round
    has."""

    def __init__(
        self,
        runs: int,
        max_runs: int,
        relative: float | None,
        measure: Callable[[Any], NDArray[np.float64]],
    ) -> None:
        self._limit, self._relative, self._measure = max_runs, relative, measure
        self._values: NDArray[np.float64] = np.empty(0)
        self._target = runs
        self._enough = False

    def take(self, outcome: Any, runs: int) -> None:
        """Judges the interval at the end of each round, not within a round."""
        del runs
        self._values = np.concatenate([self._values, self._measure(outcome)])
        while not self._enough and len(self._values) >= self._target:
            wanted = self._wanted(self._target)
            self._enough, self._target = wanted == self._target, wanted

    def stop(self) -> Stop | None:
        """Returns the end of the experiment, or `None` if more replications are needed.

        The experiment ends if the precision or the maximum number of replications is reached, or if
        a value is missing; without a precision, after the first round.
        """
        return Stop(self._target, True, "known well enough") if self._enough else None

    def ahead(self) -> int:
        return self._target

    def expected(self) -> int:
        return self._target

    def _wanted(self, done: int) -> int:
        """Returns the total number of replications needed, as estimated from the first `done`."""
        if self._relative is None or done >= self._limit:
            return done
        known = self._values[:done]
        # A missing value, such as the duration of an endless download, ends the replications,
        # because more of them cannot help.
        width = mean_interval(known).relative_half_width if np.isfinite(known).all() else 0.0
        if width <= self._relative:
            return done
        needed = math.ceil(done * (width / self._relative) ** 2 * SAFETY)
        return min(self._limit, max(done + 1, needed))


class _Spread:
    """Growing list of values, with the relative half-width of the first n values for each n.

    The widths are computed from running sums, so that no value is visited twice. Their relative
    error is about 1e-6, which suffices to decide whether the exact width must be computed.
    """

    def __init__(self) -> None:
        self.values: NDArray[np.float64] = np.empty(0)
        self.known = math.inf
        """Number of values before the first missing one; infinite if none is missing."""
        self.width = math.inf
        """Half-width of all values relative to their mean; infinite without values, NaN for one."""
        self._sums = np.zeros((2, 1))

    def extend(self, new: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the relative half-width after each value, NaN if undefined."""
        before = len(self.values)
        self.values = np.concatenate([self.values, new])
        if not new.size:
            return new
        missing = np.flatnonzero(~np.isfinite(new))
        if missing.size and self.known == math.inf:
            self.known = before + int(missing[0])
        n = np.arange(before + 1, before + len(new) + 1)
        # Subtracting the first value keeps the digits of the sums of squares if the mean is large.
        shifted = new - self.values[0]
        sums = np.cumsum([shifted, shifted * shifted], axis=1) + self._sums
        self._sums = sums[:, -1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.maximum(sums[1] - sums[0] ** 2 / n, 0.0) / (n - 1)
            half = t_quantile(n - 1, 0.975) * np.sqrt(variance / n)
            widths = np.asarray(half / np.abs(self.values[0] + sums[0] / n), dtype=np.float64)
        self.width = float(widths[-1])
        return widths


def mean_rates(tables: Mapping[str, Any]) -> Rates:
    """Returns the application and received bit rates of each replication, means over all users."""
    flows = tables["flows"]
    runs = len(np.unique(np.asarray(flows["run"])))
    application, received = (
        np.asarray(flows[name], dtype=np.float64).reshape(runs, -1).mean(axis=1)
        for name in ("application_bps", "received_bps")
    )
    return application, received


def rule_of(stop: int | Precision) -> Count | Sequential:
    return Sequential(stop, mean_rates) if isinstance(stop, Precision) else Count(stop)
