"""Two-sample tests of what errors look like in a row: gaps, bursts, lost PDUs of a block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodeb.fit.sequence import ErrorSequence, bursts, gaps

__all__ = ["LAWS", "Match", "match"]

Counts = NDArray[np.int64]

LEAST_EXPECTED, MAX_BINS = 5.0, 20


def lost_per_block(errors: ErrorSequence) -> Counts:
    """Lost PDUs of each block that lost one."""
    lost = errors.blocks.sum(axis=1, dtype=np.int64)
    return np.asarray(lost[lost > 0])


LAWS = {
    "gap": lambda errors: gaps(errors.errors),
    "burst": lambda errors: bursts(errors.errors),
    "lost_per_block": lost_per_block,
}
"""Name of a law -> its sample in a sequence."""


@dataclass(frozen=True)
class Match:
    """How well two samples agree."""

    p_value: float
    """Chance of samples as different or more if they had the same law; NaN if nothing can be said.
    Samples are taken as independent, and a model's as if it were not fitted to the other."""
    distance: float
    """Largest difference of the distribution functions (Kolmogorov and Smirnov)."""


def match(first: Counts, second: Counts) -> Match:
    """Chi-square test of homogeneity of two samples of whole numbers.

    Values are gathered, in order, in at most 20 bins of at least five expected from each sample:
    the samples have many ties, for which the test of Kolmogorov and Smirnov has no exact level.
    """
    from scipy import stats

    if min(len(first), len(second)) < LEAST_EXPECTED:
        return Match(float("nan"), float("nan"))
    distance = float(stats.ks_2samp(first, second, method="asymp").statistic)
    table = _binned(first, second)
    if table.shape[1] < 2:
        return Match(float("nan"), distance)
    return Match(float(stats.chi2_contingency(table, correction=False).pvalue), distance)


def _binned(first: Counts, second: Counts) -> Counts:
    """Counts of both samples in common bins, a row for each."""
    values, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    each = np.array(
        [
            np.bincount(part, minlength=len(values))
            for part in (places[: len(first)], places[len(first) :])
        ]
    )
    bins = _bins(each.sum(axis=0), min(len(first), len(second)))
    return np.array([np.bincount(bins, weights=row).astype(np.int64) for row in each])


def _bins(counts: Counts, smaller: int) -> Counts:
    """The bin of each value.

    What is left of the counts is shared out evenly to what is left of the bins, so that a value
    that is frequent does not swallow the others.
    """
    least = LEAST_EXPECTED * counts.sum() / smaller
    bins = np.empty(len(counts), dtype=np.int64)
    number, held, rest = 0, 0, int(counts.sum())
    for at, count in enumerate(counts):
        bins[at] = number
        held += count
        if held >= max(least, rest / (MAX_BINS - number)):
            number, rest, held = number + 1, rest - held, 0
    if 0 < held < least and number > 0:
        bins[bins == number] = number - 1
    return bins
