"""Verdicts from comparisons: the error of a claim, and the replications that would decide it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nodeb.stats import Estimate, calculated, holm, mean_interval
from nodeb.study.verdicts import Comparison, Finding, Verdict, judge, rounded


def interval(low: float, high: float, runs: int = 20) -> Estimate:
    return Estimate((low + high) / 2, low, high, runs)


def verdict(*comparisons: Comparison) -> Verdict:
    found = [Finding("text", (one,)) for one in comparisons]
    return judge(found, name="x", text="says", asked="more")


@pytest.mark.parametrize(
    ("found", "judgement"),
    [
        (interval(1, 2), "holds"),
        (interval(-1, 2), "undecided"),
        (interval(-2, 1), "undecided"),
        (interval(-2, -1), "contradicted"),
        # An event that was not observed may still occur, so the claim is undecided.
        (interval(0, 0), "undecided"),
        (calculated(1), "holds"),
        (calculated(-1), "contradicted"),
        (Estimate(math.nan, math.nan, math.nan, 20), "undecided"),
        (Estimate(1, math.nan, math.nan, 1), "undecided"),
    ],
)
def test_more_is_judged_by_the_interval(found: Estimate, judgement: str) -> None:
    assert verdict(Comparison(found, low=0, strict=True)).judgement == judgement


@pytest.mark.parametrize(
    ("found", "judgement"),
    [
        (interval(-1.9, 1.9), "holds"),
        (interval(-2.1, 1.9), "undecided"),
        (interval(-3, 3), "undecided"),
        (interval(1.9, 4), "undecided"),
        (interval(2.1, 4), "contradicted"),
        (interval(-4, -2.1), "contradicted"),
        (calculated(2), "holds"),
    ],
)
def test_same_is_a_test_of_equivalence(found: Estimate, judgement: str) -> None:
    assert verdict(Comparison(found, -2, 2)).judgement == judgement


def test_few_equal_replications_prove_little() -> None:
    above, below = interval(1, 1, 5), interval(-1, -1, 5)
    for found in (above, below):
        open_one = verdict(Comparison(found, low=0))
        assert (open_one.judgement, open_one.missing) == ("undecided", 1)
    assert verdict(Comparison(above, low=0, certain=True)).judgement == "holds"
    assert verdict(Comparison(interval(1, 1, 6), low=0)).judgement == "holds"
    assert verdict(Comparison(interval(-1, -1, 6), low=0)).judgement == "contradicted"


def test_doubt_is_the_p_value_of_students_t_test() -> None:
    from scipy.stats import ttest_1samp

    values = np.random.default_rng(1).normal(-1, 2, 12)
    found = mean_interval(values)
    comparison = Comparison(Estimate(found.mean, found.low, found.high, 12), low=0.0, strict=True)
    assert comparison.doubt == pytest.approx(ttest_1samp(values, 0).pvalue, rel=1e-9)


def test_one_weak_comparison_of_many_does_not_contradict() -> None:
    weak, good = Comparison(interval(-2, -0.1), low=0, strict=True), Comparison(interval(1, 2), 0)
    assert verdict(weak).judgement == "contradicted"
    assert verdict(weak, *[good] * 71).judgement == "undecided"
    strong = Comparison(interval(-2, -1.5), low=0, strict=True)
    assert verdict(strong, *[good] * 71).judgement == "contradicted"


def test_true_claim_of_many_comparisons_is_rarely_contradicted() -> None:
    """A true claim with 30 comparisons is contradicted in at most 5 % of the cases.

    At its limit, a single comparison alone would contradict it in one of forty cases.
    """
    chance, refuted = np.random.default_rng(3), 0
    for _ in range(400):
        found = [mean_interval(values) for values in chance.normal(0, 1, (30, 8))]
        estimates = [Estimate(one.mean, one.low, one.high, 8) for one in found]
        claim = verdict(*(Comparison(one, low=0.0, strict=True) for one in estimates))
        refuted += claim.judgement == "contradicted"
    assert refuted <= 0.05 * 400


def test_holm_correction_matches_hand_computation() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005], 0.05) == [True, False, False, True]
    assert holm([], 0.05) == []


def test_comparisons_are_counted() -> None:
    good, unknown = Comparison(interval(1, 2), 0), Comparison(interval(-1, 2), 0)
    claim = verdict(*[good] * 68, *[unknown] * 4)
    assert claim.summary == "68 of 72 comparisons hold, 4 undecided"
    assert verdict(good).summary == "1 of 1 comparison holds"
    assert [text for text, kind in claim.parts if kind == "undecided"] == ["text (undecided)"] * 4


def test_required_replications_follow_from_the_half_width() -> None:
    # The half-width of 2 is twice the distance of the mean, 1, from the limit, 0. So four times the
    # 20 replications are required, which is 60 more.
    claim = verdict(Comparison(interval(-1, 3, 20), low=0, strict=True))
    assert claim.missing == pytest.approx(60)
    assert claim.effort == "replications that would decide: about 60"
    # The comparison that needs most replications decides, among those that may still hold. This one
    # needs (1.5 / 0.5)^2 = 9 times as many.
    other = Comparison(interval(-1, 2, 20), low=0, strict=True)  # (1.5 / 0.5)^2
    assert verdict(Comparison(interval(-1, 3, 20), low=0, strict=True), other).missing == (
        pytest.approx(160)
    )
    same = verdict(Comparison(interval(-1, 1, 20), low=0, strict=True))
    assert "a million" in same.effort
    assert verdict(Comparison(interval(1, 2), low=0)).effort == ""


def test_required_replications_use_the_error_of_the_whole_claim() -> None:
    worse = Comparison(interval(-3, 1, 20), low=0, strict=True)
    good = Comparison(interval(1, 2), 0)
    assert verdict(worse).missing == pytest.approx(60)
    assert verdict(worse, *[good] * 9).missing > 100


def test_required_replications_are_rounded_up() -> None:
    assert [rounded(n) for n in (1, 60.0, 161, 12_345)] == ["1", "60", "170", "13000"]
    assert rounded(math.inf) == rounded(math.nan) == ""


def test_contradiction_needs_all_rivals_outside() -> None:
    worse, open_one = interval(-3, -1), interval(-2, 1)
    assert verdict(Comparison(worse, 0, strict=True, rivals=(worse,))).judgement == "contradicted"
    assert verdict(Comparison(worse, 0, strict=True, rivals=(open_one,))).judgement == "undecided"
