"""Tests of verdicts, and of the numbers of further replications that they suggest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nodeb import _core
from nodeb.comparison.differences import MoreRuns, Verdict, judge
from nodeb.stats import Interval, paired_difference


def interval(mean, half, n=20):
    stdev = half * math.sqrt(n) / _core.t_quantile(n - 1, 0.975)
    return Interval(mean, mean - half, mean + half, stdev, n)


@pytest.mark.parametrize(
    ("mean", "half", "better", "kind", "sign"),
    [
        (0.5, 1.0, "more", "same", 0),  # The interval is within the margin of 2 around 0.
        # The interval excludes 0. The mean is within the margin, but the interval is not.
        (1.5, 1.0, "more", "better", 1),
        (1.5, 1.6, "more", "undecided", 0),
        # The interval excludes 0 but is within the margin, so the difference does not matter.
        (1.5, 0.2, "more", "same", 0),
        (5.0, 1.0, "more", "better", 1),
        (5.0, 1.0, "less", "worse", 1),
        (-5.0, 1.0, "less", "better", -1),
        (-5.0, 1.0, "", "differs", -1),
        (5.0, 1.0, "", "differs", 1),
        (5.0, 6.0, "more", "undecided", 0),
    ],
)
def test_verdicts_follow_interval_and_margin(mean, half, better, kind, sign):
    found = judge(interval(mean, half), 2.0, better)
    assert (found.kind, found.sign) == (kind, sign)


def test_difference_without_better_direction_has_a_word():
    assert [Verdict("differs", sign).word for sign in (1, -1)] == ["more", "less"]
    assert Verdict("better", -1).word == "better"


def test_equal_pairs_do_not_exclude_rare_differences():
    found = judge(interval(0.0, 0.0), 0.0, "less")
    assert found.kind == "equal"


def test_suggested_replications_cover_no_difference():
    """With the larger suggestion, a true difference of 0 is found to be within the margin with a
    power of 80 %.
    """
    found = judge(interval(5.0, 6.0), 2.0, "more").more_runs
    assert 1 <= found.low < found.high < math.inf
    now = interval(0.0, 6.0)
    runs = found.high + 20
    needed = ((1.96 + 0.8416) * now.stdev / 2.0) ** 2
    assert needed < runs < 1.5 * needed


def test_no_suggestion_without_a_margin():
    found = judge(interval(1.0, 3.0), 0.0)
    assert found.more_runs.low < math.inf == found.more_runs.high
    assert judge(Interval(1.0, math.nan, math.nan, math.nan, 1), 0.1).more_runs == MoreRuns(
        math.inf, math.inf
    )


def test_too_large_suggestion_is_unbounded():
    found = judge(interval(0.0, 1.0), 1e-6)
    assert found.more_runs.high == math.inf


def test_few_differing_pairs_are_not_equivalent():
    """If one pair of 20 differs, the mean difference is a tenth of the margin, but the verdict is
    undecided.
    """
    own = np.full(20, 100.0)
    own[3] += 4.0
    found = paired_difference(own, np.full(20, 100.0))
    assert judge(found, 2.0, "less").kind == "undecided"


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.2, 3.0])
def test_upper_suggestion_decides_in_three_of_four_experiments(mean):
    """With the larger suggested number of further replications, at least 75 % of undecided
    experiments are decided, for true differences from 0 to three margins.
    """
    chance = np.random.default_rng(11)
    decided = []
    for _ in range(600):
        values = chance.normal(mean, 3.0, 10)
        found = judge(paired_difference(values, np.zeros(10)), 1.0, "less")
        if found.kind == "undecided":
            more = np.concatenate([values, chance.normal(mean, 3.0, int(found.more_runs.high))])
            later = judge(paired_difference(more, np.zeros(more.size)), 1.0, "less")
            decided.append(later.kind != "undecided")
    assert len(decided) > 100
    assert np.mean(decided) >= 0.75
