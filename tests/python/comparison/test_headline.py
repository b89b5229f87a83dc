"""Tests: what a comparison says first, and which differences it judges."""

import numpy as np
import pytest

import nodeb
from nodeb.comparison.answer import answers
from nodeb.comparison.differences import Comparison, Tried, difference
from nodeb.results.metrics import METRICS

RUNS = 20
FINITE = """runs = 6
radio.dch.bler = 0.1
[[users]]
traffic.ftp.size = "{}"
"""


WORDS = {
    "download_s": "the download takes",
    "rtt_mean_s": "the round-trip time",
    "block_errors": "the share of block errors",
    "utilization": "channel utilization",
    "cell_bps": "the cell delivers",
    "jain_index": "fairness",
    "complete": "acknowledged in full",
}


def named(**shifts):
    """Metrics that the headline of a comparison mentions, of those that are shifted by a share, or
    drawn anew if it is None.
    """
    rng = np.random.default_rng(1)
    rows = []
    for name, shift in shifts.items():
        base = rng.uniform(99.0, 101.0, RUNS)
        own = rng.normal(100.0, 30.0, RUNS) if shift is None else base * (1 + shift)
        own = own + (np.tile([0.1, -0.1], RUNS // 2) if shift else 0)
        rows.append(difference("all", METRICS[name], base, own, 0.02, 0.95))
    tried = Tried("other", rows, [], {})
    comparison = Comparison("plain", [tried], RUNS, 1, 0.02)
    headline = answers(comparison)[0].headline
    assert headline.count("%") <= 6
    return [name for name in shifts if WORDS[name] in headline]


@pytest.mark.parametrize(
    ("shifts", "expected"),
    [
        ({"download_s": -0.96, "rtt_mean_s": 0.012}, ["download_s"]),
        ({"download_s": -0.96, "rtt_mean_s": 0.2}, ["download_s"]),
        ({"download_s": -0.03, "rtt_mean_s": 0.01}, ["download_s"]),
        ({"download_s": -0.96, "rtt_mean_s": 0.3}, ["download_s", "rtt_mean_s"]),
        ({"download_s": -0.03, "rtt_mean_s": 0.03}, ["download_s", "rtt_mean_s"]),
        ({"download_s": -0.96, "rtt_mean_s": -0.5}, ["download_s"]),
        ({"download_s": -0.5, "block_errors": 0.9, "utilization": -0.5}, ["download_s"]),
        ({"cell_bps": 0.001, "rtt_mean_s": -0.5}, ["cell_bps", "rtt_mean_s"]),
        ({"cell_bps": None, "jain_index": 0.4}, ["cell_bps", "jain_index"]),
        ({"cell_bps": -0.3, "rtt_mean_s": -0.5}, ["cell_bps", "rtt_mean_s"]),
        ({"cell_bps": 0.001, "complete": 0.01, "jain_index": 0.4}, ["cell_bps", "jain_index"]),
        ({"block_errors": 0.5}, ["block_errors"]),
    ],
)
def test_headline_has_the_main_metric_and_what_is_large_against_it(shifts, expected):
    """Small: within the margin of 2 %, or below a quarter of the change of the first metric."""
    assert named(**shifts) == expected


def kinds_of(one, other):
    (tried,) = nodeb.compare({"A": one.run(), "B": other.run()}).tried
    return {each.metric.name: each.verdict.kind for each in tried.differences}


def test_rates_of_finite_transfers_are_neutral():
    """Half of the file takes less time, so that its lower rate is no loss."""
    one, other = (nodeb.Scenario.from_toml(FINITE.format(size)) for size in ("60 kB", "30 kB"))
    kinds = kinds_of(one, other)
    assert kinds["download_s"] == "better"
    assert {kinds["received_bps"], kinds["application_bps"]} == {"differs"}


def test_rates_of_transfers_without_end_are_judged():
    one = nodeb.Scenario.from_toml(FINITE.format("100 MB")).with_(duration="20 s")
    kinds = kinds_of(one, one.with_({"radio.dch.bler": 0.5}))
    assert (kinds["received_bps"], kinds["block_errors"]) == ("worse", "differs")
