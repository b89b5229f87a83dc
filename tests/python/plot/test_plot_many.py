"""Tests of figures of many users or points: users are selected, and curves are thinned."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_plot import recorded

import nodeb
from nodeb import plot
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.plot.series import MAX_POINTS, chosen, thinned


def result(**tables):
    return SimpleNamespace(scenario=SimpleNamespace(name="a test"), **tables)


def of_groups(**sizes):
    """Returns a result whose groups have these sizes.

    A user with a higher index has a higher bit rate.
    """
    groups = [name for name, size in sizes.items() for _ in range(size)]
    users = np.arange(len(groups))
    flows = {"run": users * 0, "user": users, "group": groups, "received_bps": users * 1e3}
    return result(flows=Table(flows))


def test_few_users_are_all_shown():
    assert chosen(of_groups(a=3, b=3)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        # Users are chosen at equal distances from the slowest to the fastest.
        ({"a": 30}, [0, 6, 12, 17, 23, 29]),
        ({"one": 1, "others": 29}, [0, 1, 8, 15, 22, 29]),
        ({"a": 10, "b": 10}, [0, 4, 9, 10, 14, 19]),
        # There are more groups than panels in the figure.
        ({str(n): 2 for n in range(10)}, [0, 4, 8, 11, 15, 19]),
    ],
)
def test_selection_of_many_users_covers_each_group(sizes, expected):
    assert chosen(of_groups(**sizes)) == expected


def test_requested_user_must_exist():
    assert chosen(of_groups(a=30), 17) == [17]
    with pytest.raises(InputError, match="there is no user 30"):
        chosen(of_groups(a=30), 30)


@pytest.mark.parametrize("kind", ["cwnd", "throughput", "queue"])
def test_many_users_have_panels_with_a_common_scale(kind):
    figure = getattr(plot, kind)(recorded(9))
    names = [f"user {user} (phone)" for user in chosen(recorded(9))]
    assert len(names) == 6
    assert [axes.get_title() for axes in figure.axes] == names
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert all(axes.get_ylim()[0] == 0 == axes.get_xlim()[0] for axes in figure.axes)
    assert "6 of 9 users" in figure.get_suptitle()


@given(st.integers(2, 9), st.integers(0, 2**32), st.sampled_from([0, 2, 9]))
def test_thinned_curve_keeps_its_ends_and_extremes(times_more, seed, digits):
    random, size = np.random.default_rng(seed), times_more * MAX_POINTS
    t, v = np.sort(random.random(size)), random.normal(size=size).round(digits)
    few_t, few_v = thinned(t, v)
    assert len(few_t) <= MAX_POINTS
    assert (few_t[0], few_t[-1]) == (t[0], t[-1])
    assert (few_v.min(), few_v.max()) == (v.min(), v.max())
    assert (np.diff(few_t) >= 0).all()
    assert set(zip(few_t, few_v, strict=True)) <= set(zip(t, v, strict=True))


def test_short_curves_are_unchanged():
    t, v = thinned([0.0, 1.0], [5, 6])
    assert (t.tolist(), v.tolist()) == ([0.0, 1.0], [5.0, 6.0])


def test_round_trip_curves_break_where_nothing_was_measured(small):
    done = small.with_(**{"record.rtt": True}).run(runs=1, jobs=1)
    figure = done.plot.rtt(user=0)
    (axes,) = figure.axes
    (line,) = axes.lines
    mine = done.rtt.where(np.asarray(done.rtt["user"]) == 0)
    known = np.asarray(line.get_ydata())[~np.isnan(line.get_ydata())]
    in_s = "(s)" in axes.get_ylabel()
    assert known == pytest.approx(np.asarray(mine["rtt_s"]) * (1 if in_s else 1000))
    pause = {"run": [0] * 4, "user": [0] * 4, "t_s": [0.1, 0.2, 9.0, 9.1], "rtt_s": [0.1] * 4}
    broken = plot.rtt(result(flows=done.flows, rtt=Table(pause)), user=0).axes[0].lines[0]
    assert np.isnan(broken.get_xdata()).tolist() == [False, False, True, False, False]


def test_channel_quality_is_drawn_over_time():
    scenario = nodeb.Scenario.from_dict(
        {
            "duration": "8 s",
            "radio": {"hsdpa": {"cell": {}}},
            "users": [{"traffic": {"ftp": {"size": "10 MB"}}}],
            "record": {"bandwidth": True},
        }
    )
    done = scenario.run(runs=1, jobs=1)
    (axes,) = done.plot.cqi().axes
    assert (axes.get_ylabel(), axes.get_ylim()[0]) == ("CQI", 0)
    (mean,) = axes.patches  # The samples are a line, so the mean is the only patch.
    assert np.nanmean(mean.get_data().values) == pytest.approx(done.bandwidth["cqi"].mean(), 0.02)
    adapted = scenario.with_(**{"radio.hsdpa.link_adaptation": "shannon"}).run(runs=1, jobs=1)
    assert adapted.plot.cqi().axes[0].get_ylabel() == "SNR (dB)"
    assert np.isfinite(adapted.bandwidth["cqi"]).all()
    with pytest.raises(InputError, match=r"record\.rtt = true"):
        done.plot.rtt()


def test_cumulative_distribution_counts_each_sample():
    samples = {"a": np.array([3.0, 1.0, np.nan, 2.0]), "none": np.array([np.nan])}
    (axes,) = plot.shares("t", "rtt_s", samples).axes
    (line,) = axes.lines
    assert line.get_xdata().tolist() == [1.0, 1.0, 2.0, 3.0]
    assert line.get_ydata() == pytest.approx([0, 100 / 3, 200 / 3, 100])
    assert axes.get_xlabel() == "Round-trip time (s)"
    with pytest.raises(InputError, match="no round-trip time"):
        plot.shares("t", "rtt_s", {"none": np.array([np.nan])})


def test_large_samples_are_drawn_by_quantiles():
    values = np.arange(1.0, 100_001.0)
    (line,) = plot.shares("t", "rtt_s", {"a": values}).axes[0].lines
    x, y = line.get_xdata(), line.get_ydata()
    assert len(x) < 500
    assert y[1:] == pytest.approx(x[1:] / 1000)


def test_phones_of_a_wcdma_map_are_shown_in_their_cell():
    scenario = nodeb.Scenario.from_dict(
        {
            "radio": {"wcdma": {"other_cells": "map"}},
            "users": [{"count": 3, "traffic": {"ftp": {"size": "10 kB"}}}],
        }
    )
    figure = scenario.run(runs=1, jobs=1).plot.cell()
    assert figure.axes[0].get_xlabel() == "East (cell radii)"
    nowhere = scenario.with_(**{"radio.wcdma.other_cells": "mean"}).run(runs=1, jobs=1)
    with pytest.raises(InputError, match=r"no phone has a position; it needs `other_cells.map`"):
        nowhere.plot.cell()
