"""Tests of quantities: values and intervals of artificial replications are computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.stats import Estimate, jackknife, prediction_interval
from nodeb.studies.wang import utilization
from nodeb.study import change, metric
from nodeb.study.campaign import Log
from nodeb.study.case import Settings
from nodeb.study.items import Cell, _expected, number
from nodeb.study.quantity import Measured, quantity


@metric("s")
def time(m):
    return m.transfer_s.mean(axis=-1)


@metric("kb/s")
def rate(m):
    return (m.app_bytes / m.transfer_s).mean(axis=-1) * 8 / 1000


def log_of(*times: float, bearers: int = 1, users: int = 1, **columns) -> Log:
    """Returns artificial replications in which users take `times` seconds to receive 1000 bytes."""
    runs = len(times) // users
    flows = {"run": np.repeat(range(runs), users), "transfer_s": np.array(times)}
    flows |= {"app_bytes": np.full(len(times), 1000.0), "ip_bytes": np.full(len(times), 1000.0)}
    flows |= {"start_s": np.zeros(len(times)), "complete": np.isfinite(times)}
    radio = {"run": np.repeat(range(runs), bearers), "bler": np.full(runs * bearers, 0.2)}
    radio |= {"channel_rate_bps": np.full(runs * bearers, 10_000.0)}
    tables = {"flows": Table(flows | columns), "bearers": Table(radio)}
    return Log(tables, runs, Settings())


def measured(metric, log: Log):
    """Returns a metric of the replications in `log`, and a campaign that consists of them."""
    return Measured(metric, log), SimpleNamespace(log=lambda case: case, facts={})


def estimate(metric, log: Log) -> Estimate:
    of, work = measured(metric, log)
    return of.estimate(work)


def test_plain_mean_has_students_interval():
    found = estimate(time, log_of(1.0, 2.0, 3.0))
    # The factor is the 97.5 % quantile of Student's t with 2 degrees of freedom.
    half = 4.302653 * 1.0 / math.sqrt(3)
    assert (found.value, found.runs) == (pytest.approx(2.0), 3)
    assert found.high - found.value == pytest.approx(half, rel=1e-6)


def test_rate_is_data_over_the_mean_time():
    assert estimate(rate, log_of(1.0, 3.0)).value == pytest.approx(4.0), "not 5.3"
    of, work = measured(rate, log_of(1.0, 3.0))
    assert of.singles(work).tolist() == pytest.approx([8.0, 8 / 3])


def test_common_random_numbers_cancel():
    noise = np.random.default_rng(1).standard_normal(20)
    left, work = measured(time, log_of(*(10 + noise)))
    right, _ = measured(time, log_of(*(11 + noise)))
    gap = (right - left).estimate(work)
    assert gap.value == pytest.approx(1.0)
    assert gap.half_width < 1e-6 < left.estimate(work).half_width


def test_quantities_combine_with_numbers():
    of, work = measured(time, log_of(1.0, 3.0))
    assert change(3, 2).estimate(work).value == pytest.approx(50)
    assert (quantity(3) / 2).estimate(work).runs == 0
    assert ((10 - of).estimate(work).value, (of / 4).estimate(work).value) == (8.0, 0.5)
    assert (10 / of).estimate(work).runs == 2


def test_endless_download_has_no_value():
    log = log_of(1.0, math.nan)
    found = estimate(rate, log)
    assert (found.known, number(found.value), log.unfinished) == (False, "", 1)


def test_shared_channel_is_used_until_the_last_user_ends():
    shared = estimate(utilization, log_of(2.0, 4.0, users=2))
    assert shared.value == pytest.approx(100 * 16_000 / 4 / 0.8 / 10_000)
    own = estimate(utilization, log_of(2.0, 4.0, users=2, bearers=2))
    assert own.value == pytest.approx(100 * (8000 / 2 + 8000 / 4) / 2 / 0.8 / 10_000)


def test_few_replications_have_no_interval():
    one = estimate(time, log_of(2.0))
    assert (one.value, one.runs, math.isnan(one.low)) == (2.0, 1, True)
    assert jackknife(5.0, np.empty(0)) == Estimate(5.0, 5.0, 5.0, 0)


# --- Tests of prediction intervals ---


def test_prediction_interval_matches_the_textbook():
    # From tables, t(9, 0.975) = 2.262157. The ten values 1 to 10 have mean 5.5 and deviation
    # 3.0277.
    found = prediction_interval(range(1, 11))
    assert found.half_width == pytest.approx(2.2621571628 * 3.0276503541 * math.sqrt(1.1))
    assert prediction_interval(range(1, 11), of=10).half_width == pytest.approx(
        2.2621571628 * 3.0276503541 * math.sqrt(0.2)
    )
    with pytest.raises(InputError, match="of = 0 replications is out of range"):
        prediction_interval([1, 2], of=0)


@pytest.mark.parametrize("of", [1, 10])
def test_prediction_interval_has_its_nominal_coverage(of):
    chance, inside = np.random.default_rng(1), 0
    for _ in range(2000):
        found = prediction_interval(chance.normal(5, 2, 8), of)
        inside += chance.normal(5, 2, of).mean() in found
    assert inside / 2000 == pytest.approx(0.95, abs=0.015)


def cell(published: float | None, value: float, tolerance: float | None = None) -> Cell:
    found = Estimate(value, value - 0.1, value + 0.1, 10)
    return Cell("Table 1", "r", "c", "%", published, found, 1, tolerance)


def test_published_value_is_compared_with_the_scatter_of_as_few_runs():
    times = np.random.default_rng(5).normal(10, 1, 40)
    of, work = measured(time, log_of(*times))
    one, ten = (_expected(work, of, runs) for runs in (1, 10))
    # The factor is the 97.5 % quantile of Student's t with 39 degrees of freedom.
    half = 2.022691 * np.std(times, ddof=1)
    for found, share in ((one, 1), (ten, 0.1)):
        assert found[0] == pytest.approx(times.mean() - half * math.sqrt(share + 1 / 40))
    assert _expected(work, of, None) is None
    assert _expected(work, of / of, 1) is None
    known = cell(9.0, 10.0)
    assert known.within is None
    assert replace(known, expected=(9.4, 11)).within is False
    assert replace(known, expected=(9.4, 11), rounding=0.5).within is True


@pytest.mark.parametrize(
    ("published", "value", "near"),
    [(50, 51.5, True), (50, 51.6, False), (None, 1, None), (50, math.nan, False)],
)
def test_cell_is_near_within_the_tolerance(published, value, near):
    assert cell(published, value, 1.5).near == near
    assert cell(published, value).near is None
