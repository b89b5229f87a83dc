"""Differences between scenarios, replication by replication, and the verdict on each.

Replication i of every scenario uses the same random numbers (common random numbers); the core has
the statistics (`crates/answers/src/compare.rs`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.answer.answering import Answering
from nodeb.base.arguments import as_number
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.results.metrics import METRICS, Metric, by_run, chosen, own_values
from nodeb.stats import CONFIDENCE, Interval, family_confidence

if TYPE_CHECKING:
    from nodeb.answer import Answer

__all__ = [
    "MARGIN",
    "Comparison",
    "Difference",
    "MoreRuns",
    "Tried",
    "Verdict",
    "check_margin",
    "compare",
    "difference",
    "judge",
]

MARGIN = 0.02
"""Default equivalence margin, as a share of the baseline's mean."""
UNBOUNDED = (math.inf, math.inf)
"""Durations, s, assumed for the runs of baseline and other scenario if they are unknown."""

Array = NDArray[np.float64]
Tables = Mapping[str, Table]


@dataclass(frozen=True, slots=True)
class MoreRuns:
    """Usual and cautious number of further replications that would decide an undecided verdict.

    After so many replications the verdict is decided with a probability of 80 %. Both numbers are 0
    if the verdict is already decided.
    """

    low: float = 0.0
    """Usual number, which suffices for half of the plausible true differences.

    It is infinite for a single pair, and if more than a million replications in all are needed.
    """
    high: float = 0.0
    """Cautious number, which suffices for four in five of the plausible true differences.

    It also suffices if there is no difference. It is infinite for a single pair, for a margin of 0,
    and if more than a million replications in all are needed.
    """


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a difference, such as `better`, and further replications until it is decided."""

    kind: str
    """Kind of the verdict.

    One of: `better`; `worse`; `differs` for a metric of which neither direction is better; `same`
    if the interval lies within the margin; `equal` if there are at least two pairs, all equal to
    the last bit; `undecided`.
    """
    sign: int = 0
    """1 if the other scenario has more than the baseline, -1 if it has less.

    It is 0 if the kind is `same`, `equal` or `undecided`.
    """
    more_runs: MoreRuns = MoreRuns()
    """Numbers of further replications that would decide; 0 unless `kind` is `undecided`."""

    @property
    def word(self) -> str:
        """Kind of the verdict, with `more` or `less` in place of `differs`."""
        return self.kind if self.kind != "differs" else "more" if self.sign > 0 else "less"


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference between two scenarios in a metric of a group of users."""

    group: str
    metric: Metric
    baseline: Interval
    """Mean of the baseline over the pairs, with its 95 % interval."""
    other: Interval
    """Mean of the other scenario over the pairs, with its 95 % interval."""
    difference: Interval
    """Mean of other minus baseline over the pairs.

    Its interval has the level `Comparison.confidence`.
    """
    ratio: Interval
    """Ratio of the other scenario's mean to the baseline's.

    Its interval has the level `Comparison.confidence`.
    """
    verdict: Verdict
    unpaired: float
    """Width of the interval without pairing, relative to the width with pairing.

    It is above 1 if pairing narrows the interval; NaN if the differences of the pairs do not vary,
    or there is only one pair.
    """
    differing: int
    """Number of pairs whose two values differ; pairs with a missing value are not counted."""
    missing: int = 0
    """Number of pairs in which only one scenario has a value; the statistics exclude them."""
    covered: float = 1.0
    """Share of users or replications that have a value, in the scenario where it is smaller."""


@dataclass(frozen=True)
class Tried:
    """Differences of a scenario from the baseline, and what only one of the two has."""

    name: str
    differences: list[Difference]
    unknown: list[str]
    """Labels of metrics that have values in only one of the two scenarios."""
    only: dict[str, list[str]]
    """Groups that only one of the two scenarios has; the keys are the names of both scenarios."""
    empty: Sequence[str] = ()
    """Names of those of the two scenarios in which nothing arrived."""


@dataclass(frozen=True)
class Comparison(Answering):
    """Result of comparing one or several scenarios with a baseline, replication by replication."""

    baseline: str
    """Name of the baseline."""
    tried: list[Tried]
    runs: int
    """Number of pairs: the replications of the scenario with fewest."""
    seed: int
    margin: float
    """Equivalence margin, as a share of the baseline's mean."""
    duration_s: float = math.nan
    """Duration of the runs of the scenario with the shortest runs, s; NaN if unknown."""
    is_upload: bool = False
    """Whether all transfers of all scenarios are uploads."""

    @property
    def confidence(self) -> float:
        """Confidence level of each interval: 0.95 for one compared scenario, higher for several."""
        return family_confidence(len(self.tried))

    @property
    def table(self) -> Table:
        """Table of the differences: one row per scenario (except the baseline), group and metric.

        The documentation describes the columns. Without differences the table has no columns.
        """
        rows = [_row(self, tried, one) for tried in self.tried for one in tried.differences]
        return Table.of_rows(rows)

    @property
    def answers(self) -> Sequence[Answer]:
        """Answers, one for each scenario except the baseline: which is better, and by how much."""
        from nodeb.comparison.answer import answers

        return answers(self)


def compare(
    tables: Mapping[str, Tables],
    seed: int,
    margin: float = MARGIN,
    metrics: Sequence[str] = (),
    durations_s: Mapping[str, float] = MappingProxyType({}),
) -> Comparison:
    """Compares the replications of scenarios with those of the first scenario.

    Args:
        tables: result tables of each scenario by name, simulated with the same seed; the first
            scenario is the baseline. Of scenarios with unequal numbers of replications, only as
            many are used as the one with the fewest has.
        seed: seed of the replications.
        margin: equivalence margin, as a share of the baseline's mean, in [0, 1).
        metrics: names of metrics to compare; empty for all.
        durations_s: duration of a run, s, by name of the scenario; without limit if missing.

    Raises:
        InputError: there is nothing to compare, the margin is invalid, or a requested metric is
            unknown or has no values.
    """
    if len(tables) < 2:
        raise InputError("there is nothing to compare with; give at least two scenarios")
    margin, wanted = check_margin(margin), chosen(metrics)
    sides = [
        (name, one, own_values(one), durations_s.get(name, math.inf))
        for name, one in tables.items()
    ]
    others, runs, duration_s, is_upload = _core.compare_tables(sides, wanted, margin)
    tried = [
        Tried(
            name,
            [_difference(group, wanted[place], row) for group, place, row in rows],
            unknown,
            dict(only),
            empty,
        )
        for name, rows, unknown, only, empty in others
    ]
    if metrics:
        _check_known(wanted, tried, tables)
    return Comparison(next(iter(tables)), tried, runs, seed, margin, duration_s, is_upload)


def _check_known(
    wanted: Sequence[Metric], tried: Sequence[Tried], tables: Mapping[str, Tables]
) -> None:
    said = {one.metric.name for each in tried for one in each.differences}
    labels = {label for each in tried for label in each.unknown}
    missing = [one for one in wanted if one.name not in said and one.label not in labels]
    if not missing:
        return
    known = [by_run(one) for one in tables.values()]
    there = [
        name
        for name in METRICS
        if any(name in one.columns and np.isfinite(one[name]).any() for one in known)
    ]
    name = missing[0].name
    if name in there:
        raise InputError(
            f"no replication has a value of `{name}` for the same users in two of these "
            "scenarios; simulate more replications, or compare another metric"
        )
    raise InputError(f"none of these scenarios has `{name}` (they have: {', '.join(there)})")


def check_margin(margin: Any) -> float:
    """Returns an equivalence margin as a number.

    Raises:
        InputError: the margin is not in the range [0, 1).
    """
    share = as_number(margin, "margin")
    if not 0 <= share < 1:
        raise InputError(
            f"margin is {share:g}; expected a share of the baseline's mean, 0 or "
            "more and below 1, such as 0.02 for 2 %"
        )
    return share


def difference(
    group: str,
    metric: Metric,
    base: Array,
    own: Array,
    margin: float,
    confidence: float,
    durations_s: tuple[float, float] = UNBOUNDED,
) -> Difference | None:
    """Returns the difference of a metric, or None if no pair has both values.

    Args:
        group: name of the group.
        metric: metric of the values.
        base: values of the baseline, one per run; NaN for a missing value.
        own: values of the other scenario, likewise; runs that only one scenario has are ignored.
        margin: equivalence margin, as a share of the baseline's mean.
        confidence: confidence level of the intervals of the difference and the ratio.
        durations_s: duration of a run of the baseline and of the other scenario, s.
    """
    row = _core.metric_difference(metric, base, own, margin, confidence, durations_s)
    return None if row is None else _difference(group, metric, row)


def _difference(group: str, metric: Metric, row: tuple[Any, ...]) -> Difference:
    base, other, gap, ratio = (Interval(*ends) for ends in row[:4])
    return Difference(group, metric, base, other, gap, ratio, _verdict(*row[4]), *row[5:])


def judge(
    found: Interval, margin: float, better: str = "", confidence: float = CONFIDENCE
) -> Verdict:
    """Returns the verdict on the interval of a difference.

    Args:
        found: mean and interval of the differences, other scenario minus baseline.
        margin: equivalence margin in the unit of the values; its ends belong to it.
        better: direction that is better, `more` or `less`; "" if neither is.
        confidence: confidence level of the interval, in (0, 1).
    """
    return _verdict(*_core.judge(found, margin, better, confidence))


def _verdict(kind: str, sign: int, low: float, high: float) -> Verdict:
    return Verdict(kind, sign, MoreRuns(low, high))


def _row(comparison: Comparison, tried: Tried, one: Difference) -> dict[str, Any]:
    return {
        "scenario": tried.name,
        "baseline": comparison.baseline,
        "group": one.group,
        "metric": one.metric.name,
        "unit": one.metric.unit,
        "mean_baseline": one.baseline.mean,
        "mean": one.other.mean,
        "difference": one.difference.mean,
        "difference_low": one.difference.low,
        "difference_high": one.difference.high,
        "ratio": one.ratio.mean,
        "ratio_low": one.ratio.low,
        "ratio_high": one.ratio.high,
        "confidence": comparison.confidence,
        "margin": comparison.margin,
        "verdict": one.verdict.word,
        "more_runs_low": one.verdict.more_runs.low,
        "more_runs_high": one.verdict.more_runs.high,
        "pairs": one.difference.n,
        "differing": one.differing,
        "missing": one.missing,
        "covered": one.covered,
        "unpaired_width": one.unpaired,
        "seed": comparison.seed,
    }
