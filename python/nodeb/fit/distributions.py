"""Two-sample tests of distributions of errors: gaps, bursts, PDUs lost per block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodeb.fit.sequence import ErrorSequence, bursts, gaps

__all__ = ["DISTRIBUTIONS", "Match", "match"]

Counts = NDArray[np.int64]

MIN_EXPECTED, MAX_BINS = 5.0, 20
"""Chi-square test: expected number of values that a bin needs, and maximum number of bins."""


def lost_per_block(errors: ErrorSequence) -> Counts:
    lost = errors.blocks.sum(axis=1, dtype=np.int64)
    return np.asarray(lost[lost > 0])


DISTRIBUTIONS = {
    "gap": lambda errors: gaps(errors.errors),
    "burst": lambda errors: bursts(errors.errors),
    "lost_per_block": lost_per_block,
}


@dataclass(frozen=True)
class Match:
    """Agreement of two samples: result of a chi-square test, and distance."""

    p_value: float
    """Probability of samples that differ at least as much if they had the same distribution.

    It is NaN if a sample has fewer than five values, or all values are in one bin. The samples are
    treated as independent, although the model was fitted to one of them.
    """
    distance: float
    """Maximum difference of the samples' distribution functions (Kolmogorov and Smirnov), 0 to 1.

    It is NaN if a sample has fewer than five values.
    """


def match(first: Counts, second: Counts) -> Match:
    """Tests if two samples of whole numbers are homogeneous, by chi-square.

    Values are grouped, in order, into at most 20 bins with at least five values expected from each
    sample: the samples have many ties, for which the Kolmogorov-Smirnov test has no exact level.
    """
    from scipy import stats

    if min(len(first), len(second)) < MIN_EXPECTED:
        return Match(float("nan"), float("nan"))
    distance = float(stats.ks_2samp(first, second, method="asymp").statistic)
    table = _binned(first, second)
    if table.shape[1] < 2:
        return Match(float("nan"), distance)
    return Match(float(stats.chi2_contingency(table, correction=False).pvalue), distance)


def _binned(first: Counts, second: Counts) -> Counts:
    """Returns how many values of each sample (row) are in each common bin (column)."""
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
    """Returns the index of the bin of each distinct value, for a chi-square test.

    A bin is full once it has enough expected values and its part of the remaining counts. That
    part is an even share for each remaining bin. So a frequent value, which fills a bin alone,
    leaves enough bins for the other values.
    """
    min_count = MIN_EXPECTED * counts.sum() / smaller
    bins = np.empty(len(counts), dtype=np.int64)
    number, held, rest = 0, 0, int(counts.sum())
    for at, count in enumerate(counts):
        bins[at] = number
        held += count
        if held >= max(min_count, rest / (MAX_BINS - number)):
            number, rest, held = number + 1, rest - held, 0
    if 0 < held < min_count and number > 0:
        bins[bins == number] = number - 1
    return bins
