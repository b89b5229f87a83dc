"""Tests of means that do not cover all users, and of what else an answer calculates."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nodeb
from nodeb import _core
from nodeb.base.table import Table
from nodeb.results.answer import answer
from nodeb.results.metrics import METRICS
from nodeb.stats import mean_interval

CELL = """
duration = "10 s"
radio.hsdpa = {}
[[users]]
name = "one"
count = 9
traffic.ftp.size = "300 kB"
[[users]]
name = "two"
traffic.ftp.size = "300 kB"
"""
STAGGERED = """
duration = "6 s"
radio.dch.bler = 0.1
wired.loss = 0.02
[[users]]
traffic.ftp.size = "100 kB"
stagger = "300 ms"
count = 3
"""
UNLIKE = """
duration = "6 s"
radio.dch.bler = 0.1
[[users]]
name = "big"
count = 2
traffic.ftp.size = "300 kB"
[[users]]
name = "small"
count = 3
start = "1 s"
traffic.ftp.size = "20 kB"
"""


def run(text, runs=3):
    return nodeb.Scenario.from_toml(text).run(runs=runs)


def test_suggested_duration_is_sufficient():
    result = run(CELL)
    survivors = _core.unfinished(result.tables, 10.0)
    assert 0 < survivors.count < 30
    longer = result.scenario.with_(duration=f"{survivors.enough_s:g} s").run(runs=3)
    assert longer.flows["complete"].mean() >= 0.95


@pytest.mark.parametrize(
    ("received", "is_known"), [([50.0, 0.0, 0.0], False), ([50.0, 50.0, 0.0], True)]
)
def test_no_duration_is_enough_if_most_transfers_have_received_nothing(received, is_known):
    zero, nothing = np.zeros(3), np.full(3, math.nan)
    flows = {"endless": zero, "download_s": nothing, "start_s": zero, "complete": zero}
    flows |= {"app_bytes": np.full(3, 100.0), "delivered_bytes": np.array(received)}
    enough_s = _core.unfinished({"flows": Table(flows)}, 1.0).enough_s
    assert enough_s >= 2.0 if is_known else math.isnan(enough_s)


@given(st.lists(st.tuples(st.integers(1, 800), st.booleans()), min_size=1, max_size=40))
def test_median_over_all_agrees_with_scipy(rows):
    from scipy.stats import CensoredData, ecdf

    times, done = np.array([r[0] / 8 for r in rows]), np.array([r[1] for r in rows])
    end_s, zero = 100.0, np.zeros(len(rows))
    flows = {"endless": zero, "download_s": np.where(done, times, math.nan), "complete": done}
    flows |= {"start_s": end_s - times, "app_bytes": zero, "delivered_bytes": zero}
    median = _core.unfinished({"flows": Table(flows)}, end_s).median_s
    if not done.any():
        assert math.isnan(median)
        return
    curve = ecdf(CensoredData.right_censored(times, ~done)).sf
    below = curve.quantiles[curve.probabilities <= 0.5 + 1e-12]
    assert (median == below[0]) if len(below) else math.isnan(median)


def test_interval_of_times_ends_with_the_run():
    rows = [row for row in run(STAGGERED, 10).summary if row["unit"] == "s" and row["runs"] > 1]
    assert max(row["ci95_high"] for row in rows) == 6.0


def test_headline_has_total_and_group_rates():
    result = run(UNLIKE)
    headline = answer(result, None).headline
    total_kbps = result.flows["delivered_bytes"].sum() * 8 / 3 / 6.0 / 1e3
    assert float(headline.split(" receive ")[1].split()[0]) == pytest.approx(total_kbps, rel=0.01)
    means = {r["group"]: r["mean"] for r in result.summary if r["metric"] == "received_bps"}
    for group in ("big", "small"):
        kbps = float(headline.split(f" kbit/s ({group})")[0].split()[-1])
        assert kbps == pytest.approx(means[group] / 1e3, rel=0.01)


def test_bars_add_up_to_the_download_time():
    result = run('radio.dch = {}\n[[users]]\ntraffic.ftp.size = "50 kB"\n')
    bars = answer(result).picture.bars
    assert sum(bar.size for bar in bars) == pytest.approx(result.flows["download_s"].mean())


def test_every_partly_covered_metric_is_marked():
    result = run(CELL)
    partial = {
        METRICS[row["metric"]].label
        for row in result.summary
        if row["group"] == "all" and 0 < row["covered"] < 1 and METRICS[row["metric"]].completed
    }
    rows = {row[0]: row for row in answer(result, None).everything[0].rows}
    assert partial
    for label in partial & set(rows):
        assert any("\N{DAGGER}" in getattr(cell, "unit", "") for cell in rows[label]), label


def test_mean_of_finished_downloads_is_theirs():
    result = run(CELL)
    (row,) = (r for r in result.summary if (r["group"], r["metric"]) == ("all", "download_s"))
    flows = result.flows
    by_run = [np.nanmean(flows["download_s"][flows["run"] == number]) for number in range(3)]
    assert row["mean"] == pytest.approx(mean_interval(by_run).mean)
    assert row["covered"] == pytest.approx(np.isfinite(flows["download_s"]).mean())
