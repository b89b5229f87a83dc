"""Comparisons: what changes from one scenario to another, replication by replication.

Replication i of every scenario meets the same random numbers (common random numbers), so what is
looked at are differences within pairs, which vary less than the values do (Law and Kelton:
Simulation Modeling and Analysis, 3rd ed., sections 10.2.1 and 11.2). A pair is one replication,
whatever the number of its users.

Several scenarios are compared with one baseline, each at a confidence of `1 - 0.05 / k`, so that
all k intervals of a metric hold together with 95 % (Bonferroni; Law and Kelton, section 10.3.1).
Metrics and groups are questions of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.answering import Answering
from nodeb.base.arguments import as_number
from nodeb.base.table import Table
from nodeb.comparison.verdict import Verdict, judge
from nodeb.errors import InputError
from nodeb.results.coverage import coverage
from nodeb.results.metrics import METRICS, Group, Metric, by_run, chosen
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
    "differences",
]

MARGIN = 0.02
"""Share of the baseline's mean within which two are the same, unless somebody says otherwise."""

Array = NDArray[np.float64]
Tables = Mapping[str, Table]


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric of a group in two scenarios."""

    group: str
    metric: Metric
    baseline: Interval
    """The mean of the baseline."""
    other: Interval
    """The mean of the other."""
    difference: Interval
    """Other less baseline, over the pairs, at the confidence of the family."""
    ratio: Interval
    """Other over baseline."""
    verdict: Verdict
    unpaired: float
    """How many times as wide the interval would be had the runs not been paired."""
    differing: int
    """Pairs whose two values differ."""
    missing: int = 0
    """Replications of which one of the two has no value."""
    covered: float = 1.0
    """Share of the users that have a value, in the one of the two where fewer have."""


@dataclass(frozen=True)
class Tried:
    """A scenario that was compared with the baseline."""

    name: str
    differences: list[Difference]
    unknown: list[str]
    """What only one of the two has values of, as a person calls it."""
    only: dict[str, list[str]]
    """Groups that only one of the two has, by its name."""
    empty: Sequence[str] = ()
    """Those of the two in which nothing arrived, by name."""


@dataclass(frozen=True)
class Comparison(Answering):
    """Scenarios, each compared with a baseline."""

    baseline: str
    """What the baseline is called."""
    tried: list[Tried]
    runs: int
    """Replications of each."""
    seed: int
    margin: float
    """Share of the baseline's mean within which two are the same."""
    duration_s: float = math.nan
    """When the runs of the shortest scenario end, s."""

    @property
    def confidence(self) -> float:
        """The confidence of each interval of a difference."""
        return family_confidence(len(self.tried))

    @property
    def table(self) -> Table:
        """One row per scenario, group and metric; a note on each column is in the documentation."""
        rows = [_row(self, tried, one) for tried in self.tried for one in tried.differences]
        return Table({name: [row[name] for row in rows] for name in rows[0]} if rows else {})

    @property
    def answers(self) -> Sequence[Answer]:
        """What it says of each scenario: which is better, by how much, how sure."""
        from nodeb.comparison.answer import answers

        return answers(self)


def compare(
    tables: Mapping[str, Tables], seed: int, margin: float = MARGIN, metrics: Sequence[str] = ()
) -> Comparison:
    """Compares the replications of scenarios with those of the first.

    Args:
        tables: of each scenario by its name, with the same seed; the first is the baseline.
        seed: that seed.
        margin: share of the baseline's mean within which two are the same, 0 or more.
        metrics: only these; empty for all.

    Raises:
        InputError: there is nothing to compare, or the margin makes no sense.
    """
    if len(tables) < 2:
        raise InputError("there is nothing to compare with; give at least two scenarios")
    margin, wanted = check_margin(margin), chosen(metrics)
    known = {name: by_run(one) for name, one in tables.items()}
    runs = min(len(np.unique(one["run"])) for one in known.values())
    known = {name: one.where(one["run"] < runs) for name, one in known.items()}
    (first, base), *others = known.items()
    confidence = family_confidence(len(others))
    tried = [
        Tried(
            name,
            list(
                _covered(
                    differences(base, one, wanted, margin, confidence),
                    (tables[first], base),
                    (tables[name], one),
                )
            ),
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
        _refuse_unknown(wanted, tried, known)
    ends = [float(np.max(one["bearers"]["end_s"], initial=0.0)) for one in tables.values()]
    return Comparison(first, tried, runs, seed, margin, min(ends))


def _covered(found: Iterator[Difference], *sides: tuple[Tables, Table]) -> Iterator[Difference]:
    """Differences with the share of users that have a value.

    Args:
        found: the differences.
        sides: of each of the two scenarios its tables, and what `by_run` says of them.
    """
    for one in found:
        shares = [
            coverage(one.metric, Group(tables, one.group), _values(known, one))
            for tables, known in sides
        ]
        yield replace(one, covered=min(shares))


def _values(known: Table, one: Difference) -> Array:
    return np.asarray(known.where(known["group"] == one.group)[one.metric.name])


def _refuse_unknown(
    wanted: Sequence[Metric], tried: Sequence[Tried], known: Mapping[str, Table]
) -> None:
    """Complains about metrics that somebody named and that no scenario has."""
    said = {one.metric.name for each in tried for one in each.differences}
    labels = {label for each in tried for label in each.unknown}
    for metric in wanted:
        if metric.name not in said and metric.label not in labels:
            there = [name for name in METRICS if any(name in one.columns for one in known.values())]
            raise InputError(
                f"none of these scenarios has `{metric.name}` (they have: {', '.join(there)})"
            )


def check_margin(margin: Any) -> float:
    """A margin, if it makes sense.

    Raises:
        InputError: it does not.
    """
    share = as_number(margin, "margin")
    if not 0 <= share < 1:
        raise InputError(
            f"a margin of {share:g} makes no sense; it is a share of the baseline's mean, 0 or "
            "more and below 1, such as 0.02 for 2 %"
        )
    return share


def differences(
    base: Table, own: Table, metrics: Sequence[Metric], margin: float, confidence: float
) -> Iterator[Difference]:
    """The metrics of all groups that two scenarios have, from what `by_run` says of each."""
    for group in (group for group in base.distinct("group") if group in own.distinct("group")):
        one, other = (table.where(table["group"] == group) for table in (base, own))
        for metric in metrics:
            if metric.name in one.columns and metric.name in other.columns:
                values = one[metric.name], other[metric.name]
                found = difference(group, metric, *values, margin, confidence)
                if found is not None:
                    yield found


def difference(
    group: str, metric: Metric, base: Array, own: Array, margin: float, confidence: float
) -> Difference | None:
    """A metric of a group by run in two scenarios; None where one has no value at all.

    Args:
        group: its name.
        metric: what the values are.
        base: of the baseline, by run; what the other has not is left aside.
        own: of the other, by run, and the reverse.
        margin: share of the baseline's mean within which two are the same.
        confidence: of the interval of the difference.
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
    mean_a, mean_b = (mean_interval(one).within(metric.low, metric.high) for one in (a, b))
    apart = math.hypot(mean_a.stdev, mean_b.stdev)
    gain = apart / paired.stdev if paired.stdev > 0 else math.nan
    ratio = ratio_interval(b, a, confidence)
    if metric.low >= 0:
        ratio = ratio.within(0.0, math.inf)
    paired = paired.within(metric.low - mean_a.high, metric.high - mean_a.low)
    missing = int((either & ~both).sum())
    differing = int((a != b).sum())
    return Difference(
        group, metric, mean_a, mean_b, paired, ratio, verdict, gain, differing, missing
    )


def _unknown(base: Table, own: Table, wanted: Sequence[Metric]) -> Iterator[str]:
    for metric in wanted:
        known = [
            metric.name in table.columns and bool(np.isfinite(table[metric.name]).any())
            for table in (base, own)
        ]
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
