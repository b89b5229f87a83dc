"""Where a value lies that somebody printed from one run, or from a few."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from test_reproduce import cell, log_of

from nodeb.errors import InputError
from nodeb.reproduce import cells
from nodeb.reproduce.measure import Combined, Measured
from nodeb.reproduce.metrics import metric
from nodeb.stats import prediction_interval
from nodeb.study import cell as cell_module


def test_a_prediction_interval_is_the_textbook_one() -> None:
    # t(9, 0.975) = 2.262157 (tables); ten values 1..10: mean 5.5, s = 3.0277.
    found = prediction_interval(range(1, 11))
    assert found.half_width == pytest.approx(2.2621571628 * 3.0276503541 * math.sqrt(1.1))
    assert prediction_interval(range(1, 11), of=10).half_width == pytest.approx(
        2.2621571628 * 3.0276503541 * math.sqrt(0.2)
    )
    with pytest.raises(InputError, match="mean of 0 replications"):
        prediction_interval([1, 2], of=0)


@pytest.mark.parametrize("of", [1, 10])
def test_it_covers_as_often_as_it_says(of: int) -> None:
    chance, inside = np.random.default_rng(1), 0
    for _ in range(2000):
        found = prediction_interval(chance.normal(5, 2, 8), of)
        inside += chance.normal(5, 2, of).mean() in found
    assert inside / 2000 == pytest.approx(0.95, abs=0.015)


def test_a_published_value_is_held_against_the_scatter_of_as_few_runs() -> None:
    times = np.random.default_rng(5).normal(10, 1, 40)
    source = Measured(log_of(*times), metric("transfer_s"), {})
    one, ten = (cells._predicted(source, runs) for runs in (1, 10))
    assert one is not None
    assert ten is not None
    half = 2.022691 * np.std(times, ddof=1)  # t(39) at 97.5 %
    for found, share in ((one, 1), (ten, 0.1)):
        assert found.low == pytest.approx(times.mean() - half * math.sqrt(share + 1 / 40))
    assert cells._predicted(source, None) is None
    assert cells._predicted(Combined("ratio", source, source), 1) is None
    known = cell(9.0, 10.0)
    assert known.within is None
    assert replace(known, expected=cell_module.Prediction(1, 9.4, 11)).within is False
    assert replace(known, expected=cell_module.Prediction(1, 9.4, 11), rounding=0.5).within is True


def test_a_single_run_is_measured_as_all_are() -> None:
    log = log_of(1.0, 3.0)
    assert Measured(log, metric("application_kbps"), {}).singles().tolist() == [8.0, 8 / 3]
    one = Measured(log_of(1.0), metric("application_kbps"), {})
    assert one.singles().tolist() == [one.sample(1).value]
