"""Statistics agree with closed forms, and intervals have their coverage in simulations."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.special import stdtr, stdtrit

from nodeb import _core
from nodeb.errors import InputError
from nodeb.stats import (
    Precision,
    batch_means,
    jain_index,
    mean_interval,
    mser5,
    paired_difference,
    ratio_interval,
)


def test_student_interval_matches_the_textbook():
    # From tables, t(9, 0.975) = 2.262157. The ten values 1 to 10 have mean 5.5 and deviation
    # 3.0277.
    interval = mean_interval(range(1, 11))
    assert interval.mean == 5.5
    assert interval.stdev == pytest.approx(3.0276503540974917)
    assert interval.half_width == pytest.approx(
        2.2621571627982 * 3.0276503540974917 / math.sqrt(10)
    )
    assert 5.5 in interval
    assert 8.0 not in interval


def test_quantiles_and_tails_match_scipy():
    degrees = np.array([*range(1, 300), 997, 1003, 10**4, 10**6])
    for probability in (0.975, 0.95, 0.9995, 0.6, 0.01):
        found = [_core.t_quantile(int(n), probability) for n in degrees]
        np.testing.assert_allclose(found, stdtrit(degrees, probability), rtol=1e-12)
    for t in (-1.0, 0.3, 2.0, 5.0):
        found = [_core.t_upper_tail(int(n), t) for n in degrees]
        np.testing.assert_allclose(found, stdtr(degrees, -t), rtol=1e-10)
    assert math.isnan(_core.t_quantile(0, 0.975))


def test_two_values_use_the_cauchy_quantile():
    # Student's t with one degree of freedom is the Cauchy distribution, whose quantiles are tan(pi
    # * (p - 1/2)).
    interval = mean_interval([0.0, 2.0], confidence=0.9)
    assert interval.half_width == pytest.approx(math.tan(math.pi * 0.45))


def test_one_value_has_no_interval_and_equal_values_have_zero_width():
    assert math.isnan(mean_interval([3.0]).low)
    equal = mean_interval([0.1] * 7)
    assert (equal.low, equal.high, equal.relative_half_width) == (0.1, 0.1, 0.0)


def test_interval_has_its_nominal_coverage():
    rng = np.random.default_rng(1)
    hits = sum(5.0 in mean_interval(rng.normal(5.0, 2.0, 10)) for _ in range(4000))
    # With 4000 trials the standard error is 0.35 %. The tolerance is four of them.
    assert hits / 4000 == pytest.approx(0.95, abs=0.014)


@pytest.mark.parametrize("confidence", [-1, 0, 1, 1.5, math.nan])
def test_confidence_out_of_range_is_rejected(confidence):
    for interval in (mean_interval, partial(ratio_interval, [1.0, 2.0, 4.0])):
        with pytest.raises(InputError, match="expected 0 < confidence < 1"):
            interval([1.0, 2.0, 3.0], confidence=confidence)


@pytest.mark.parametrize("bad", [[], [1.0, math.nan], [math.inf]])
def test_values_without_a_mean_are_rejected(bad):
    with pytest.raises(InputError):
        mean_interval(bad)


def test_paired_difference_is_narrower_with_common_random_numbers():
    rng = np.random.default_rng(2)
    common = rng.normal(100, 20, 30)
    a, b = common + rng.normal(1, 1, 30), common + rng.normal(0, 1, 30)
    paired = paired_difference(a, b)
    assert 1.0 in paired
    assert paired.half_width < mean_interval(a).half_width / 5
    with pytest.raises(InputError, match="30 and 29"):
        paired_difference(a, b[1:])


def naive_mser5(series):
    k = len(series) // 5
    z = np.array([np.mean(series[5 * j : 5 * j + 5]) for j in range(k)])
    scores = [((z[d:] - z[d:].mean()) ** 2).sum() / (k - d) ** 2 for d in range(k // 2 + 1)]
    return 5 * int(np.argmin(scores))


@given(st.integers(0, 2**32 - 1), st.integers(10, 300))
def test_mser5_equals_its_definition(seed, n):
    rng = np.random.default_rng(seed)
    series = rng.normal(1000, 1, n) + 50 * np.exp(-np.arange(n) / (n / 10))
    assert mser5(series) == naive_mser5(series)


def test_mser5_deletes_a_transient_and_keeps_a_stationary_series():
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 1, 5000)
    transient = 30 * np.exp(-np.arange(5000) / 100)
    assert 250 <= mser5(noise + transient) <= 900
    assert mser5(noise) < 500
    assert mser5([1.0, 2.0]) == 0


def ar1(rng, n, rho):
    x = np.empty(n)
    x[0] = 0.0
    for i, e in enumerate(rng.normal(0, 1, n - 1)):
        x[i + 1] = rho * x[i] + e
    return x


def test_batch_means_cover_the_mean_of_a_correlated_series():
    rng = np.random.default_rng(4)
    hits = sum(0.0 in batch_means(ar1(rng, 4000, 0.7), warmup=0).interval for _ in range(200))
    assert hits / 200 >= 0.89


def stationary(rho, trials, n):
    """Returns AR(1) series `x_i = rho x_{i-1} + e_i` with mean 0 that begin in the steady state."""
    noise = np.random.default_rng(11).normal(0, 1, (trials, n))
    noise[:, 0] /= math.sqrt(1 - rho * rho)
    return lfilter([1.0], [1.0, -rho], noise, axis=1)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_batch_means_of_ar1_match_width_and_coverage_of_the_closed_form(rho):
    """For large n, the mean of n values of an AR(1) series has variance 1 / (n (1 - rho)^2)."""
    n, trials = 20_000, 400
    found = [batch_means(7 + one, warmup=0).interval for one in stationary(rho, trials, n)]
    # The factors are t(19, 0.975) and the mean ratio of the sample deviation of 20 values to the
    # true deviation.
    half = 2.09302 * 0.98693 / (math.sqrt(n) * (1 - rho))
    # With 400 trials of 20 batches the standard error is 0.8 %. The tolerance is larger, because
    # batches are correlated.
    assert np.mean([one.half_width for one in found]) == pytest.approx(half, rel=0.03)
    # The tolerance is three standard errors of 1.1 %.
    assert np.mean([7.0 in one for one in found]) == pytest.approx(0.95, abs=0.033)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_mser5_removes_the_warm_up_of_a_long_run(rho):
    """The warm-up is removed from a run that begins far from its steady state.

    The warm-up decays exponentially, with a time constant of 200 observations.
    """
    n, trials = 20_000, 200
    series = 7 + stationary(rho, trials, n) + 40 * np.exp(-np.arange(n) / 200)
    found = [batch_means(one) for one in series]
    assert all(200 < one.warmup < 1500 for one in found)
    # MSER-5 leaves only a negligible part of the warm-up. With 200 trials the standard error is 1.5
    # %.
    assert np.mean([7.0 in one.interval for one in found]) > 0.95 - 3 * 0.015
    left_in = [batch_means(one, warmup=0) for one in series]
    for with_it, without in zip(left_in, found, strict=True):
        assert with_it.interval.half_width > 3 * without.interval.half_width


def test_batch_means_cut_equal_batches_from_the_end():
    result = batch_means(np.arange(103.0), batches=10, warmup=3)
    assert (result.warmup, result.batch_size) == (3, 10)
    assert result.interval.mean == pytest.approx(np.arange(3, 103).mean())
    with pytest.raises(InputError, match="do not fill"):
        batch_means([1.0, 2.0], batches=10)


def test_jain_index_at_its_bounds():
    assert jain_index([7, 7, 7]) == pytest.approx(1)
    assert jain_index([1, 0, 0, 0]) == pytest.approx(0.25)
    assert jain_index([0, 0]) == 1
    assert jain_index([1, 2]) == pytest.approx(9 / 10)


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20))
def test_jain_index_is_between_1_over_n_and_1(shares):
    assert 1 / len(shares) - 1e-9 <= jain_index(shares) <= 1 + 1e-9


def test_precision_stops_at_the_first_precise_run():
    rng = np.random.default_rng(5)
    values = rng.normal(100, 10, 500)
    rule = Precision(0.02, min_runs=10, max_runs=500)
    stops = [rule.judge(values[:n]) for n in range(1, 501)]
    first = next(stop for stop in stops if stop)
    # The expected number of runs is (1.96 * 10 / 2)^2 = 96.
    assert first.reached
    assert 60 < first.runs < 140
    assert mean_interval(values[: first.runs]).relative_half_width <= 0.02
    assert mean_interval(values[: first.runs - 1]).relative_half_width > 0.02


def test_precision_gives_up_at_the_limit_and_says_so():
    values = np.tile([1.0, 1000.0], 10)
    rule = Precision(0.01, min_runs=2, max_runs=20)
    assert rule.judge(values[:19]) is None
    stop = rule.judge(values)
    assert stop is not None
    assert not stop.reached
    assert "limit" in stop.reason


def test_precision_gives_up_without_values():
    rule = Precision(0.01, min_runs=3, max_runs=20)
    for values in ([0.0, 0.0, 0.0], [1.0, math.nan, 2.0]):
        assert rule.judge(values[:2]) is None
        stop = rule.judge(values, "mean bit rate")
        assert (stop.runs, stop.reached) == (3, False)
        assert stop.reason == "precision not reached: there is no mean bit rate after 3 runs"


def test_precision_bounds_the_error_as_documented():
    # If the half-width is 20 % of the estimated mean, the estimate exceeds the true mean by at most
    # 25 %: 1 / (1 - 0.2).
    interval = mean_interval([1.0, 1.2, 0.9, 1.1])
    gamma = interval.relative_half_width
    assert interval.mean / interval.low - 1 == pytest.approx(gamma / (1 - gamma))


def test_precision_interval_still_covers_the_mean():
    """Sequential stopping reduces the coverage of 95 % a little, but to no less than 90 %."""
    rng = np.random.default_rng(6)
    rule = Precision(0.05, min_runs=10, max_runs=400)
    hits = 0
    for _ in range(300):
        values = list(rng.normal(100, 25, 10))
        while (stop := rule.judge(values)) is None:
            values.append(rng.normal(100, 25))
        hits += 100 in mean_interval(values[: stop.runs])
    assert hits / 300 >= 0.90


@pytest.mark.parametrize("rule", [{"relative": 0}, {"relative": 0.1, "min_runs": 1}])
def test_impossible_rules_are_rejected(rule):
    with pytest.raises(InputError):
        Precision(**rule)
