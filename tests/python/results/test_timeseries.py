"""Averages over time agree with hand computation, and batch means with the mean of a queue."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeb.errors import InputError
from nodeb.results.timeseries import delivered_bytes, held_values, time_averages
from nodeb.stats import batch_means


def test_step_function_is_averaged_by_hand():
    # The step function is 2 from 1 s on, 6 from 2 s on, and 0 from 4 s to its end at 5 s.
    found = time_averages([1, 2, 4, 5], [2, 6, 0, 9], [0, 1, 2, 3, 4.5, 5, 6])
    # Expected: unknown, 2, 6, (6 * 1 + 0 * 0.5) / 1.5, 0, unknown.
    assert found[1:5].tolist() == [2, 6, 4, 0]
    assert math.isnan(found[0])
    assert math.isnan(found[5])


def test_partially_known_interval_has_the_average_of_the_known_part():
    assert time_averages([1, 2, 3], [4, 8, 0], [0, 2, 10]).tolist() == [4, 8]


def test_last_of_simultaneous_changes_counts():
    assert time_averages([0, 1, 1, 2], [1, 5, 3, 0], [0, 1, 2]).tolist() == [1, 3]


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(-5, 5)), min_size=2, max_size=30))
def test_averages_weighted_by_length_add_up_to_the_area(steps):
    times = np.cumsum([step for step, _ in steps])
    values = np.array([value for _, value in steps])
    area = float((np.diff(times) * values[:-1]).sum())
    edges = np.linspace(times[0] - 1, times[-1] + 1, 17)
    found = time_averages(times, values, edges)
    lengths = np.diff(np.clip(edges, times[0], times[-1]))
    assert float(np.nansum(found * lengths)) == pytest.approx(area, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([0, 1], [1], [0, 1]), "there are 2 times and 1 values"),
        (([1, 0], [1, 2], [0, 1]), "out of order"),
        (([0, 1], [1, 2], [0]), "at least two"),
        (([0, 1], [1, 2], [0, 0]), "at least two, increasing"),
    ],
)
def test_invalid_series_are_rejected(arguments, expected):
    with pytest.raises(InputError, match=expected):
        time_averages(*arguments)


def test_empty_series_is_nan_everywhere():
    assert np.isnan(time_averages([], [], [0, 1, 2])).all()


def test_batch_means_of_an_mm1_queue_cover_its_mean():
    """An interval covers 1, the mean number of customers in an M/M/1 queue at load rho = 0.5, in at
    least 86 of 100 trials. The mean is rho / (1 - rho).
    """
    hits, trials = 0, 100
    for seed in range(trials):
        rng, n = np.random.default_rng(seed), 12_000
        # In the embedded chain the number rises with probability 0.5 / 1.5 and falls otherwise; at
        # 0 it always rises.
        up, pause = rng.random(n) < 1 / 3, rng.exponential(1.0, n)
        number, t, times, values = 0, 0.0, [], []
        for i in range(n):
            times.append(t)
            values.append(number)
            t += pause[i] / (0.5 if number == 0 else 1.5)
            number += 1 if number == 0 or up[i] else -1
        averages = time_averages(times, values, np.arange(0.0, times[-1], 2.0))
        hits += 1.0 in batch_means(averages).interval
    # With 100 trials the standard error is 2.2 %. The limit is lower than 95 %, because batches are
    # correlated.
    assert 0.86 <= hits / trials <= 1.0


def test_held_value_is_the_last_one_set() -> None:
    found = held_values([1.0, 2.0, 2.0], [5.0, 6.0, 7.0], [0.5, 1.0, 1.9, 2.0, 9.0])
    assert found.tolist() == [5, 5, 5, 7, 7]
    assert np.isnan(held_values([], [], [1.0])).all()


def test_packet_that_arrives_twice_counts_once() -> None:
    segments = {
        "event": ["deliver", "deliver", "deliver", "send"],
        "t_s": [0.2, 0.4, 1.1, 1.2],
        "seq": [1, 1, 2, 3],
    }
    assert delivered_bytes(segments, 200.0, [0.0, 1.0, 2.0]).tolist() == [100, 100]
