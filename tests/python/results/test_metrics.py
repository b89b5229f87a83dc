"""Tests of metrics: user experience, ranges of intervals, and missing values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nodeb
from nodeb.base.table import Table
from nodeb.comparison import differences
from nodeb.errors import InputError
from nodeb.results import metrics
from nodeb.results.metrics import ALL, METRICS, Group, by_run
from nodeb.scenario_types import Ftp, HsDsch, UserGroup
from nodeb.stats import jain_index, jain_indices


def run(runs=5, **more):
    data = {"radio": {"dch": {"bler": 0.1}}, "users": [{"traffic": {"ftp": {"size": "50 kB"}}}]}
    return nodeb.Scenario.from_dict({**data, **more}).run(runs=runs)


def said(result):
    return {row["metric"]: row for row in result.summary if row["group"] == ALL}


def test_page_counts_as_one_load_and_has_quantiles():
    result = run(duration="2000 s", users=[{"count": 3, "traffic": {"web": {}}}])
    flows = result.flows
    assert (flows["loads"] > 5).all()
    # A page may need two transfers, so there can be fewer loads than transfers.
    assert (flows["loads"] <= flows["transfers"]).all()
    assert (flows["load_median_s"] <= flows["load_p95_s"]).all()
    found = said(result)
    assert found["load_median_s"]["mean"] == pytest.approx(
        flows["load_median_s"].reshape(5, 3).mean()
    )
    assert "complete" not in found  # Users who load pages without end have no metric `complete`.
    assert "loads" not in found


def test_group_all_has_no_load_time_if_files_and_pages_are_mixed():
    groups = [
        {"name": "files", "traffic": {"ftp": {"size": "50 kB"}}},
        {"name": "pages", "traffic": {"web": {}}},
    ]
    found = {
        (row["group"], row["metric"])
        for row in run(duration="2000 s", users=groups, runs=2).summary
    }
    assert ("pages", "load_median_s") in found
    assert not {("all", "load_median_s"), ("all", "load_p95_s")} & found
    same = [{"name": name, "traffic": {"web": {}}} for name in ("near", "far")]
    found = said(run(duration="2000 s", users=same, runs=2))
    assert "load_median_s" in found


def test_load_ends_when_the_phone_has_received_it():
    result = run(runs=3)
    flows = result.flows
    assert flows["load_mean_s"] == pytest.approx(flows["download_s"])
    assert flows["loads"].tolist() == [1, 1, 1]
    # For a single file, the download time replaces these metrics.
    assert not {"load_median_s", "load_p95_s"} & set(said(result))
    assert said(result)["complete"]["mean"] == 1.0


def test_empty_network_has_no_queueing_delay():
    light = {"cbr": {"size": "100 B", "interval": "2 s"}}
    quiet = said(run(duration="60 s", radio={"dch": {}}, users=[{"traffic": light}]))
    busy = said(run(radio={"dch": {}}))
    assert quiet["queueing_delay_s"]["mean"] < 0.01
    assert busy["queueing_delay_s"]["mean"] > 0.05
    assert busy["rtt_mean_s"]["mean"] > busy["queueing_delay_s"]["mean"]


def test_no_recovery_without_losses():
    clean = run(radio={"dch": {}})
    assert not clean.flows["recovery_s"].any()
    lossy = run(wired={"loss": 0.05})
    repaired = lossy.flows["recovery_s"]
    assert (repaired > 0).any()
    assert (repaired < lossy.flows["transfer_s"]).all()


def test_timeout_of_seconds_is_a_stall():
    lossy = run(runs=40, wired={"loss": 0.15})
    flows = lossy.flows
    assert flows["stalls"].sum() > 0
    assert (flows["stalled_s"] >= flows["stalls"]).all()  # A stall lasts at least one second.
    assert not run(radio={"dch": {}}).flows["stalls"].any()


def test_intervals_stay_within_the_range_of_the_quantity():
    """With few and very different values, a symmetric interval would begin below zero.

    The interval must be cut there.
    """
    result = run(runs=4, wired={"loss": 0.06})
    found = said(result)
    for row in found.values():
        metric = METRICS[row["metric"]]
        if math.isfinite(row["ci95_low"]):
            assert metric.low <= row["ci95_low"] <= row["mean"] <= row["ci95_high"] <= metric.high
    half = found["stalled_s"]["ci95_high"] - found["stalled_s"]["mean"]
    assert half > found["stalled_s"]["mean"]
    assert found["stalled_s"]["ci95_low"] == 0.0


def test_cell_edge_rate_needs_twenty_users():
    few = run(
        runs=2, radio={"hs_dsch": {}}, users=[{"count": 19, "traffic": {"ftp": {"size": "5 kB"}}}]
    )
    many = run(
        runs=2, radio={"hs_dsch": {}}, users=[{"count": 20, "traffic": {"ftp": {"size": "5 kB"}}}]
    )
    assert "received_bps_p5" not in said(few)
    rates = many.flows["received_bps"].reshape(2, 20)
    expected = np.quantile(rates, 0.05, axis=1).mean()
    assert said(many)["received_bps_p5"]["mean"] == pytest.approx(expected)


def test_blocks_of_a_group_are_those_of_its_bearers():
    users = [
        {"name": "a", "count": 2, "traffic": {"ftp": {"size": "50 kB"}}},
        {"name": "b", "traffic": {"ftp": {"size": "10 kB"}}},
    ]
    own = run(users=users)
    table = by_run(own.tables)
    bearers = own.bearers
    for group, mine in (("a", bearers["bearer"] < 2), ("b", bearers["bearer"] == 2)):
        found = table["block_errors"][table["group"] == group]
        sums = [
            bearers[name][mine].reshape(5, -1).sum(axis=1) for name in ("blocks_failed", "blocks")
        ]
        assert found == pytest.approx(sums[0] / sums[1])
    shared = by_run(run(radio={"hs_dsch": {}}, users=users).tables)
    # A shared channel has no block errors of a single group, only of all users.
    assert np.isnan(shared["block_errors"][shared["group"] != ALL]).all()
    assert np.isfinite(shared["block_errors"][shared["group"] == ALL]).all()


def test_group_uses_only_rows_of_its_users():
    tables = {
        "flows": Table(
            {
                "run": [0, 0, 1, 1],
                "user": [0, 1, 0, 1],
                "group": ["a", "b"] * 2,
                "x": [1.0, 2, 3, 4],
            }
        ),
        "phones": Table({"run": [0, 0, 1, 1], "user": [0, 1, 0, 1], "y": [5.0, 6, 7, math.nan]}),
    }
    group = Group(tables, "b")
    assert group.mean("flows", group.column("flows", "x")).tolist() == [2.0, 4.0]
    found = group.mean("phones", group.column("phones", "y"))
    assert found[0] == 6.0
    assert math.isnan(found[1])
    assert not group.has("channels")


# --- Tests with many replications ---


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(0, 2**32))
def test_function_of_each_run_receives_its_users(users, seed):
    chance = np.random.default_rng(seed)
    run = np.repeat(np.arange(len(users)), users)
    rates = chance.choice([0.0, 1e-300, 1.0], len(run)) * chance.uniform(0.1, 1e6, len(run))
    group = Group({"flows": Table({"run": run, "user": np.arange(len(run))})})
    index = group.each("flows", rates, jain_indices)
    assert index.tolist() == [jain_index(rates[run == one]) for one in range(len(users))]
    edge = group.each("flows", rates, lambda rows: np.quantile(rows, 0.05, axis=1))
    assert edge.tolist() == [np.quantile(rates[run == one], 0.05) for one in range(len(users))]


def test_custom_metric_is_summarised_and_compared(monkeypatch):
    monkeypatch.setattr(metrics, "METRICS", dict(METRICS))
    monkeypatch.setattr(differences, "METRICS", metrics.METRICS)

    def longest(group):
        return group.each("flows", group.column("flows", "transfer_s"), lambda rows: rows.max(1))

    metrics.add(metrics.Metric("longest_s", "s", "The longest transfer.", "longest", longest))
    with pytest.raises(InputError, match="there is a metric `longest_s` already"):
        metrics.add(metrics.METRICS["longest_s"])
    phones = [UserGroup(count=3, traffic=Ftp(size="50 kB"))]
    scenario = nodeb.Scenario(radio=HsDsch(channels=3), users=phones)
    result = scenario.run(runs=4)
    (row,) = [one for one in result.summary if one["metric"] == "longest_s"]
    times = result.flows["transfer_s"].reshape(4, 3)
    assert row["mean"] == pytest.approx(times.max(axis=1).mean())
