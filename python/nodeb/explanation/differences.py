"""Composition of a difference between two scenarios: by cause, in pairs of replications."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.explanation.causes import Explanation
from nodeb.explanation.replications import CAUSES
from nodeb.stats import Interval, paired_difference

__all__ = ["Part", "difference", "difference_table"]


@dataclass(frozen=True)
class Part:
    """Contribution of one cause, or of all causes together, to a difference in duration."""

    cause: str
    """Name of the cause; empty for the whole."""
    baseline_s: float
    """Mean time in the baseline, s."""
    other_s: float
    """Mean time in the other scenario, s."""
    difference: Interval
    """Mean of other minus baseline over the pairs of replications, s, with its interval."""


def difference(baseline: Explanation, other: Explanation) -> list[Part]:
    """Returns the difference `other` minus `baseline` by cause, and its sum as the last part.

    The causes are in order of decreasing absolute mean difference.

    The means by cause add up to the mean of the sum, because the causes add up to the duration in
    every replication.

    Raises:
        InputError: the explanations differ in seed or number of replications.
    """
    seeds = baseline.scenario.seed, other.scenario.seed
    if seeds[0] != seeds[1] or len(baseline.paths) != len(other.paths):
        raise InputError(
            "explanations are compared in pairs; expected the same seed and number of replications"
        )
    known = [name for name in CAUSES if name in baseline.causes or name in other.causes]
    parts = [_part(name, baseline.seconds(name), other.seconds(name)) for name in known]
    parts.sort(key=lambda part: -abs(part.difference.mean))
    return [*parts, _part("", baseline.times, other.times)]


def difference_table(parts: list[Part]) -> Table:
    """Returns a table of `cause`, `baseline_s`, `other_s`, `difference_s`, `low_s` and `high_s`.

    It has a row for each part. The row of the whole has the cause `sum`.
    """
    return Table(
        {
            "cause": [part.cause or "sum" for part in parts],
            "baseline_s": [part.baseline_s for part in parts],
            "other_s": [part.other_s for part in parts],
            "difference_s": [part.difference.mean for part in parts],
            "low_s": [part.difference.low for part in parts],
            "high_s": [part.difference.high for part in parts],
        }
    )


def _part(cause: str, base: np.ndarray, own: np.ndarray) -> Part:
    return Part(cause, float(base.mean()), float(own.mean()), paired_difference(own, base))
