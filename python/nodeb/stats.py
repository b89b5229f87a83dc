"""Confidence intervals, stopping rules and fairness indices.

Sources:
    Law, Kelton: Simulation Modeling and Analysis, 3rd ed., 2000, chapters 9 and 10.
    White: An effective truncation heuristic for bias reduction in simulation output,
        Simulation 69(6), 1997.
    White, Cobb, Spratt: A comparison of five steady-state truncation heuristics for simulation,
        Winter Simulation Conference, 2000 (MSER-5).
    Jain, Chiu, Hawe: A quantitative measure of fairness and discrimination for resource
        allocation in shared computer systems, DEC TR-301, 1984.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nodeb import _core
from nodeb.base.arguments import as_number, as_whole
from nodeb.errors import InputError

__all__ = [
    "CONFIDENCE",
    "BatchMeans",
    "Estimate",
    "Interval",
    "Precision",
    "Stop",
    "batch_means",
    "calculated",
    "family_confidence",
    "holm",
    "jackknife",
    "jain_index",
    "jain_indices",
    "mean_interval",
    "mser5",
    "paired_difference",
    "prediction_interval",
    "ratio_interval",
    "runs_needed",
]

CONFIDENCE = 0.95
"""Default confidence level of intervals."""
MSER_BATCH = 5
"""Number of observations in a batch of MSER-5."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its confidence interval, in the unit of the values."""

    mean: float
    low: float
    """Lower end of the interval; NaN if there is none, as for fewer than two values."""
    high: float
    """Upper end of the interval; NaN if there is none, as for fewer than two values."""
    stdev: float
    """Sample standard deviation of the values; NaN for fewer than two values and for a ratio."""
    n: int
    """Number of values, or of pairs of values, that the mean is computed from."""

    @property
    def half_width(self) -> float:
        """Half the length of the interval; NaN if it has no ends."""
        return (self.high - self.low) / 2

    @property
    def relative_half_width(self) -> float:
        """Half-width divided by the absolute mean.

        For a mean of 0, the result is 0 if two or more values are all 0, otherwise infinite.
        """
        if self.mean == 0:
            return 0.0 if self.half_width == 0 else math.inf
        return self.half_width / abs(self.mean)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def within(self, low: float, high: float) -> Interval:
        """Returns the interval cut to the possible range of the mean.

        The cut does not change the coverage of the interval.
        """
        if not (self.low < low or self.high > high):
            return self
        return replace(self, low=max(self.low, low), high=min(self.high, high))


@dataclass(frozen=True, slots=True)
class BatchMeans:
    """Mean of a steady-state series from one long run, with its interval over batches."""

    interval: Interval
    """Mean of the batches' means, with its interval."""
    warmup: int
    """Number of observations deleted as warm-up, without those dropped to fill whole batches."""
    batch_size: int
    """Number of observations in each batch."""


def _values(values: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InputError(f"the values {values!r} are invalid; expected numbers") from None
    if array.size == 0:
        raise InputError("there are no values; expected at least one")
    if not np.isfinite(array).all():
        raise InputError("the values contain NaN or infinity; remove these first")
    return array


def _check_confidence(confidence: float) -> None:
    if not 0 < as_number(confidence, "confidence") < 1:
        raise InputError(f"confidence {confidence} is out of range; expected 0 < confidence < 1")


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Returns the mean of independent replications with its Student-t interval.

    Formula: `m +- t(n-1, (1+c)/2) * s / sqrt(n)`, s the sample standard deviation. The ends and s
    are NaN for a single value.
    Source: Law and Kelton, section 9.4.1.

    Args:
        values: one value per replication, any unit.
        confidence: probability that the interval covers the true mean, in (0, 1).

    Raises:
        InputError: there are no values, some are not finite, or confidence is not in (0, 1).
    """
    _check_confidence(confidence)
    return Interval(*_core.mean_interval(_values(values), confidence))


def paired_difference(
    first: Sequence[float] | NDArray[np.float64],
    second: Sequence[float] | NDArray[np.float64],
    confidence: float = 0.95,
) -> Interval:
    """Returns the mean of `first - second` with its interval, for common random numbers.

    Common random numbers make the differences vary less than the values (Law and Kelton, section
    10.2.1). If only a rare event makes a difference, most differences are equal. Therefore two
    intervals are calculated: Student's t, with as many degrees of freedom as there are differences
    unequal to the most frequent one, and Hall's, which removes the skewness.
    On each side, the wider of the two is returned. The result need not be symmetric; for many
    values without skewness it is close to Student's interval.

    Args:
        first: one value per replication of the first system.
        second: one value per replication of the second system, in the same order of runs.
        confidence: probability that the interval covers the true difference, in (0, 1).

    Raises:
        InputError: the sequences have different lengths or no values, some are not finite, or
            confidence is not in (0, 1).
    """
    _check_confidence(confidence)
    return Interval(*_core.paired_difference(*_pairs(first, second), confidence))


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = _values(first), _values(second)
    if a.size != b.size:
        raise InputError(f"pairs need equal numbers of runs; these have {a.size} and {b.size}")
    return a, b


def runs_needed(
    stdev: float, half_width: float, confidence: float = CONFIDENCE, power: float = 0.5
) -> int:
    """Returns the number of replications for a half-width, or for detecting a difference.

    Formula: the least n, at least 2, with `(t(n-1, (1+c)/2) + z(p)) s / sqrt(n) <= w`. With p = 0.5
    the half-width is at most w, if s is the sample standard deviation. With p = 0.8, a true mean of
    w is significantly different from 0 in 80 % of experiments.

    Args:
        stdev: standard deviation of the values, or an estimate of it.
        half_width: w, above 0, in the unit of `stdev`.
        confidence: c, confidence of the interval, in (0, 1).
        power: p, probability of detecting a true mean of w, in (0, 1).
    """
    return _core.runs_needed(stdev, half_width, confidence, power)


def family_confidence(number: int) -> float:
    """Returns the confidence of each of several intervals for a joint confidence of 95 %.

    Formula: Bonferroni's `1 - 0.05 / k`, which holds however the intervals depend on each other.
    Source: Law and Kelton, section 10.3.1.

    Args:
        number: number of intervals; 0 counts as one.
    """
    return _core.family_confidence(number)


def mser5(series: ArrayLike) -> int:
    """Returns the number of warm-up observations to delete from the start of a series.

    Formula: over batch means `z_1..z_k` of five observations, the d that makes
    `sum_{j>d} (z_j - mean_d)^2 / (k-d)^2` least, d at most k/2. The result is 5 d,
    or 0 for fewer than ten observations.
    Source: White 1997; White, Cobb and Spratt 2000.

    Args:
        series: observations in order of time, equally spaced or one per event.

    Raises:
        InputError: there are no values or some are not finite.
    """
    array = _values(series)
    k = array.size // MSER_BATCH
    if k < 2:
        return 0
    z = array[: k * MSER_BATCH].reshape(k, MSER_BATCH).mean(axis=1)
    z = z - z.mean()  # Centred, so that the sums of squares below lose no digits to a large mean.
    left = np.arange(k, 0, -1)  # Number of batches that remain after deleting d = 0, 1, ...
    total = np.cumsum(z[::-1])[::-1]
    squares = np.cumsum((z * z)[::-1])[::-1]
    mser = (squares - total * total / left) / (left.astype(np.float64) ** 2)
    return int(np.argmin(mser[: k // 2 + 1])) * MSER_BATCH


def batch_means(
    series: ArrayLike, batches: int = 20, warmup: int | None = None, confidence: float = 0.95
) -> BatchMeans:
    """Returns the steady-state mean of one long run with its interval.

    Formula: delete the warm-up, cut the rest into equal batches, take the Student-t interval of
    their means. Observations that do not fill the batches are dropped at the start.
    Source: Law and Kelton, section 9.5.3, which advises 10 to 30 batches.

    Args:
        series: observations in order of time.
        batches: number of batches, at least 2.
        warmup: observations to delete at the start; None lets MSER-5 choose.
        confidence: probability that the interval covers the steady-state mean, in (0, 1).

    Raises:
        InputError: the series is too short for the batches, or an argument is out of range.
    """
    array = _values(series)
    deleted = mser5(array) if warmup is None else as_whole(warmup, "warmup")
    if as_whole(batches, "batches") < 2 or deleted < 0:
        raise InputError("batch means need at least 2 batches and a warm-up of 0 or more")
    size = (array.size - deleted) // batches
    if size < 1:
        raise InputError(
            f"{array.size} observations less {deleted} of warm-up do not fill {batches} batches"
        )
    kept = array[array.size - size * batches :].reshape(batches, size)
    interval = mean_interval(kept.mean(axis=1), confidence)
    return BatchMeans(interval, deleted, size)


def jain_index(shares: ArrayLike) -> float:
    """Returns Jain's fairness index of the users' shares.

    Formula: `(sum x)^2 / (n * sum x^2)`: 1 if all shares are equal, 1/n if one user has
    everything. If all shares are 0 the index is 1. Source: Jain, Chiu and Hawe 1984.

    Args:
        shares: one value per user, 0 or more, any unit.

    Raises:
        InputError: there are no values, some are negative or not finite.
    """
    return float(jain_indices(_values(shares)[np.newaxis])[0])


def jain_indices(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns Jain's fairness index of each row.

    Args:
        shares: a row for each experiment, with one value per user, 0 or more.

    Raises:
        InputError: there are no values, some are negative or not finite.
    """
    values = _values(shares)
    if (values < 0).any():
        raise InputError("a share cannot be negative")
    return _core.jain_indices(values, values.size // len(shares))


@dataclass(frozen=True, slots=True)
class Stop:
    """End of a sequential experiment: number of replications used, and the reason for the end."""

    runs: int
    """Number of replications that the experiment has used."""
    reached: bool
    """Whether the requested precision was reached; true for a fixed number of replications."""
    reason: str
    """Reason why the experiment ended, as a text for users."""


@dataclass(frozen=True, slots=True)
class Precision:
    """Sequential stopping rule: replicate until the mean has a relative precision.

    Stops after the first n >= `min_runs` replications whose 95 % half-width is at most
    `relative` times their absolute mean, or at `max_runs`. The minimum prevents an early stop
    on an interval that is short by chance. `relative` refers to the estimated mean, as intervals
    are reported; the error relative to the true mean is then at most `relative / (1 - relative)`,
    2.04 % for 2 %. For an error of at most g, set `relative` to `g / (1 + g)`. Source: Law and
    Kelton, section 9.4.1, "obtaining a specified precision".
    """

    relative: float
    """Ratio of half-width to mean at which to stop, above 0."""
    min_runs: int = 10
    """Replications before the rule is first applied, at least 2."""
    max_runs: int = 200
    """Replications after which to stop even if the precision is not reached."""

    def __post_init__(self) -> None:
        relative = as_number(self.relative, "precision")
        if not (relative > 0 and math.isfinite(self.relative)):
            raise InputError(
                f"precision {self.relative} is out of range; give a relative half-width "
                "above 0, such as 0.02 for 2 %"
            )
        least, most = as_whole(self.min_runs, "min_runs"), as_whole(self.max_runs, "max_runs")
        if least < 2 or most < least:
            raise InputError(
                f"precision needs 2 <= runs <= max_runs; here runs is {self.min_runs} and "
                f"max_runs is {self.max_runs}"
            )

    def judge(self, values: Iterable[float], mean: str = "mean") -> Stop | None:
        """Returns the end of the experiment, or None if it needs more replications.

        Stops without the precision if all values are 0 or one is not finite.

        Args:
            values: one value per run so far, in order of the runs.
            mean: name of the mean in the reason.
        """
        array = np.fromiter(values, dtype=np.float64)
        end = _core.judge_precision(self.relative, self.min_runs, self.max_runs, array, mean)
        return None if end is None else Stop(*end)


def ratio_interval(
    numerator: ArrayLike, denominator: ArrayLike, confidence: float = 0.95
) -> Interval:
    """Returns the ratio of the means of paired values with its interval.

    Formula: Fieller's method: all r for which the interval of the mean of `x - r y`, which is `(x -
    y) - (r - 1) y`, contains 0. The interval of the mean is calculated as in `paired_difference`,
    but with the reduced degrees of freedom for the spread of `x - y` only; the spread of `y` has
    n - 1. The ratio's interval therefore contains 1 if the interval of the difference contains 0.
    The interval is unbounded (NaN ends) if the mean of the denominator is not significantly
    different from 0.
    Source: Fieller: Some problems in interval estimation, J. R. Stat. Soc. B 16(2), 1954.

    Args:
        numerator: one value per replication.
        denominator: one value per replication, in the same order of runs.
        confidence: probability that the interval covers the true ratio, in (0, 1).

    Returns:
        The ratio; NaN if the mean of the denominator is 0. The ends are also NaN for a single
        replication. `stdev` is always NaN, because ratios of single replications are not used.

    Raises:
        InputError: the sequences have different lengths or no values, some are not finite, or
            confidence is not in (0, 1).
    """
    _check_confidence(confidence)
    return Interval(*_core.ratio_interval(*_pairs(numerator, denominator), confidence))


def prediction_interval(values: ArrayLike, of: int = 1, confidence: float = 0.95) -> Interval:
    """Returns the interval for the mean of further replications, such as a published value.

    Formula: `m +- t(n-1, (1+c)/2) * s * sqrt(1/k + 1/n)` for the mean of k further ones; normal
    values are assumed. With k = 1 it is the interval for a single run, which does not shrink to 0
    as n grows.
    Source: Hahn and Meeker, Statistical Intervals, 1991, section 4.7.

    Args:
        values: one value per replication, any unit.
        of: k, number of replications whose mean is predicted, at least 1.
        confidence: probability that the interval covers that mean, in (0, 1).

    Returns:
        An interval around the mean of the values; its ends are NaN for a single value.

    Raises:
        InputError: there are no values, some are not finite, or an argument is out of range.
    """
    if of < 1:
        raise InputError(f"of = {of} replications is out of range; expected at least 1")
    _check_confidence(confidence)
    return Interval(*_core.prediction_interval(_values(values), of, confidence))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value computed from replications or without any, with its 95 % confidence interval."""

    value: float
    """The estimated value; NaN if there is none."""
    low: float
    """Lower end of the interval; `value` if it was calculated, NaN for a single replication."""
    high: float
    """Upper end of the interval; `value` if it was calculated, NaN for a single replication."""
    runs: int
    """Number of replications; 0 for a value that was calculated without simulation."""

    @property
    def half_width(self) -> float:
        """Half the length of the interval; NaN if it has no ends."""
        return (self.high - self.low) / 2

    @property
    def known(self) -> bool:
        """Whether the estimate has a value, that is, a finite one."""
        return math.isfinite(self.value)


def calculated(value: float) -> Estimate:
    """Returns an estimate without simulation: its interval has length 0."""
    return Estimate(float(value), float(value), float(value), 0)


def jackknife(value: float, left_out: NDArray[np.float64]) -> Estimate:
    """Returns the value of a function of means, such as a ratio, with its interval.

    Formula: `v +- t(n-1, 0.975) * sqrt((n-1)/n * sum (v_i - mean)^2)`, v_i the function without
    replication i. For a plain mean this is the Student-t interval. Source: Efron and Tibshirani,
    An Introduction to the Bootstrap, 1993, chapter 11. With one replication the ends are NaN; with
    none (`left_out` is empty) both ends are `value`.

    Args:
        value: the function of the means over all replications.
        left_out: the function of the means without each replication in turn.
    """
    values = np.ascontiguousarray(left_out, dtype=np.float64)
    return Estimate(value, *_core.jackknife(value, values), len(values))


def holm(p_values: Sequence[float], level: float) -> list[bool]:
    """Returns, for each hypothesis, whether Holm's procedure rejects it at a family-wise `level`.

    Formula: the k-th smallest of m p-values is compared with level / (m - k + 1). The hypotheses
    before the first p-value that is larger are rejected, the others are not. Source: Holm 1979, A
    simple sequentially rejective multiple test procedure.
    """
    return _core.holm(list(p_values), level)
