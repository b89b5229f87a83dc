"""Differences between scenarios, replication by replication.

Replication i of every scenario uses the same random numbers (common random numbers). The statistics
are those of differences within pairs, which vary less than the values (Law and Kelton: Simulation
Modeling and Analysis, 3rd ed., sections 10.2.1 and 11.2). A pair consists of replication i of the
baseline and replication i of the other scenario. It counts once, regardless of the number of users.

If several scenarios are compared with a baseline, each interval has a confidence of `1 - 0.05 / k`,
so that all k intervals of a metric hold together with 95 % (Bonferroni; Law and Kelton, section
10.3.1). There is no such correction for several metrics or groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.answering import Answering
from nodeb.base.arguments import as_number
from nodeb.base.table import Table
from nodeb.comparison.verdict import Verdict, judge
from nodeb.errors import InputError
from nodeb.results.group import ALL, ALL_UP
from nodeb.results.metrics import METRICS, Group, Metric, by_run, chosen
from nodeb.results.summary import coverage
from nodeb.stats import (
    Interval,
    family_confidence,
    mean_interval,
    paired_difference,
    ratio_interval,
)

if TYPE_CHECKING:
    from nodeb.answer import Answer

__all__ = [
    "MARGIN",
    "Comparison",
    "Difference",
    "Tried",
    "check_margin",
    "compare",
    "difference",
    "difference_within",
    "differences",
]

MARGIN = 0.02
"""Default equivalence margin, as a share of the baseline's mean."""

RATES = ("received_bps", "received_bps_p5", "received_bps_p50", "cell_bps", "application_bps")
"""Metrics that are rates of data to users."""
UNBOUNDED = (math.inf, math.inf)
"""Durations, s, assumed for the runs of baseline and other scenario if they are unknown."""

Array = NDArray[np.float64]
Tables = Mapping[str, Table]


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
    known = _by_direction({name: by_run(one) for name, one in tables.items()}, tables)
    runs = min(len(np.unique(one["run"])) for one in known.values())
    known = {name: one.where(one["run"] < runs) for name, one in known.items()}
    (first, base), *others = known.items()
    confidence = family_confidence(len(others))
    tried = [
        Tried(
            name,
            [
                _judged(each, tables[first], tables[name])
                for each in _covered(
                    differences(
                        *(base, one, wanted, margin, confidence),
                        (durations_s.get(first, math.inf), durations_s.get(name, math.inf)),
                    ),
                    (tables[first], base),
                    (tables[name], one),
                )
            ],
            list(_unknown(base, one, wanted)),
            {
                first: [g for g in base.distinct("group") if g not in one.distinct("group")],
                name: [g for g in one.distinct("group") if g not in base.distinct("group")],
            },
            [one for one in (first, name) if not tables[one]["flows"]["delivered_bytes"].any()],
        )
        for name, one in others
    ]
    if metrics:
        _check_known(wanted, tried, known)
    ends = [float(np.max(one["bearers"]["end_s"], initial=0.0)) for one in tables.values()]
    is_upload = all(_are_uploads(one["flows"]) for one in tables.values())
    return Comparison(first, tried, runs, seed, margin, min(ends), is_upload)


def _by_direction(known: Mapping[str, Table], tables: Mapping[str, Tables]) -> dict[str, Table]:
    """Renames the group `all` of scenarios with uploads only to `all up`, if others have
    downloads, with which they would be compared otherwise."""
    only_up = {name for name, one in tables.items() if _are_uploads(one["flows"])}
    if len(only_up) == len(tables):
        return dict(known)
    return {name: _as_uploads(one) if name in only_up else one for name, one in known.items()}


def _as_uploads(one: Table) -> Table:
    groups = np.where(one["group"] == ALL, ALL_UP, one["group"])
    return Table({**one.to_arrays(), "group": groups})


def _are_uploads(flows: Table) -> bool:
    return "direction" in flows.columns and flows.distinct("direction") == ["up"]


def _covered(found: Iterator[Difference], *sides: tuple[Tables, Table]) -> Iterator[Difference]:
    """Yields the differences with `covered` set.

    It is the share of users or replications that have a value, in the scenario where it is
    smaller.
    """
    for one in found:
        shares = [
            coverage(one.metric, Group(tables, one.group), _values(known, one))
            for tables, known in sides
        ]
        yield replace(one, covered=min(shares))


def _judged(one: Difference, *sides: Tables) -> Difference:
    """A rate of finite transfers is neutral: who sends less receives less."""
    is_rate = one.metric.name in RATES
    if not is_rate or not all(_are_finite(Group(tables, one.group)) for tables in sides):
        return one
    kind = "differs" if one.verdict.sign else one.verdict.kind
    return replace(one, verdict=replace(one.verdict, kind=kind))


def _are_finite(group: Group) -> bool:
    """Returns true if no transfer of a group is endless, and some are finished."""
    endless, took_s = (group.column("flows", name) for name in ("endless", "download_s"))
    return not endless.any() and bool(np.isfinite(took_s).any())


def _values(known: Table, one: Difference) -> Array:
    return np.asarray(known.where(known["group"] == one.group)[one.metric.name])


def _check_known(
    wanted: Sequence[Metric], tried: Sequence[Tried], known: Mapping[str, Table]
) -> None:
    said = {one.metric.name for each in tried for one in each.differences}
    labels = {label for each in tried for label in each.unknown}
    for metric in wanted:
        if metric.name in said or metric.label in labels:
            continue
        if any(_has_values(one, metric) for one in known.values()):
            raise InputError(
                f"no replication has a value of `{metric.name}` for the same users in two of these "
                "scenarios; simulate more replications, or compare another metric"
            )
        there = [
            one.name for one in METRICS.values() if any(_has_values(t, one) for t in known.values())
        ]
        raise InputError(
            f"none of these scenarios has `{metric.name}` (they have: {', '.join(there)})"
        )


def _has_values(table: Table, metric: Metric) -> bool:
    return metric.name in table.columns and bool(np.isfinite(table[metric.name]).any())


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


def differences(
    base: Table,
    own: Table,
    metrics: Sequence[Metric],
    margin: float,
    confidence: float,
    durations_s: tuple[float, float] = UNBOUNDED,
) -> Iterator[Difference]:
    """Yields the differences in all groups and metrics that both tables have.

    Metrics without a pair of two values are omitted.

    Args:
        base: result of `by_run` for the baseline.
        own: result of `by_run` for the other scenario.
        metrics: metrics to compare.
        margin: equivalence margin, as a share of the baseline's mean.
        confidence: confidence level of the intervals of differences and ratios.
        durations_s: duration of a run of the baseline and of the other scenario, s.
    """
    for group in (group for group in base.distinct("group") if group in own.distinct("group")):
        one, other = (table.where(table["group"] == group) for table in (base, own))
        for metric in metrics:
            if metric.name in one.columns and metric.name in other.columns:
                values = one[metric.name], other[metric.name]
                found = difference(group, metric, *values, margin, confidence, durations_s)
                if found is not None:
                    yield found


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
    runs = min(len(base), len(own))
    base, own = base[:runs], own[:runs]
    both = np.isfinite(base) & np.isfinite(own)
    either = np.isfinite(base) | np.isfinite(own)
    if not both.any():
        return None
    a, b = base[both], own[both]
    paired = paired_difference(b, a, confidence)
    mean = abs(float(a.mean()))
    verdict = judge(paired, margin * mean, metric.better, confidence)
    mean_a, mean_b = (
        metric.within(mean_interval(one), duration_s)
        for one, duration_s in zip((a, b), durations_s, strict=True)
    )
    apart = math.hypot(mean_a.stdev, mean_b.stdev)
    gain = apart / paired.stdev if paired.stdev > 0 else math.nan
    ratio = ratio_interval(b, a, confidence)
    if metric.low >= 0:
        most = metric.highest(durations_s[1])
        ratio = ratio.within(0.0, most / mean_a.low if mean_a.low > 0 else math.inf)
    paired = difference_within(metric, paired, mean_a, durations_s[1])
    missing = int((either & ~both).sum())
    differing = int((a != b).sum())
    return Difference(
        group, metric, mean_a, mean_b, paired, ratio, verdict, gain, differing, missing
    )


def difference_within(
    metric: Metric, difference: Interval, base: Interval, duration_s: float
) -> Interval:
    """Truncates the interval of a difference to the range of differences that can occur.

    It follows from the metric's range and the ends of the baseline's interval.

    Args:
        metric: metric of the values.
        difference: mean of the other scenario minus that of the baseline, with its interval.
        base: mean of the baseline, with its interval.
        duration_s: duration of a run of the other scenario, s.
    """
    return difference.within(metric.low - base.high, metric.highest(duration_s) - base.low)


def _unknown(base: Table, own: Table, wanted: Sequence[Metric]) -> Iterator[str]:
    for metric in wanted:
        known = [_has_values(table, metric) for table in (base, own)]
        if any(known) and not all(known):
            yield metric.label


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
