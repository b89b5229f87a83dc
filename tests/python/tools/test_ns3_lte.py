"""Tests of the comparison with ns-3: predictions, recorded results, and nodeb's part of them."""

import os

import ns3_lte
import pytest
from ns3 import ours
from ns3.cases import Prediction, Result, read_cases, read_results, write_results

CASES = {case.name: case for case in read_cases()}
RESULTS = {(one.case, one.quantity): one for one in read_results()}
MISSED = {
    ("a, 20 dB", "rate_mbps", "ns3"),
    ("b, 10 users, RR", "rate_mbps", "nodeb"),
    ("b, 10 users, RR", "jain", "nodeb"),
    ("b, 30 users, RR", "rate_mbps", "nodeb"),
    ("b, 30 users, RR", "jain", "nodeb"),
    ("c, 20 kB, 10 dB", "download_s", "nodeb"),
    ("c, 200 kB, 10 dB", "download_s", "nodeb"),
    ("c, 10 MB, 10 dB", "speed", "ns3"),
}
"""Missed predictions, which docs/models/lte-ns3.md explains."""
NS3 = os.environ.get("NS3_PYTHON")


def test_missed_predictions_are_those_that_the_page_explains():
    predicted = [(case.name, quantity) for case in CASES.values() for quantity in case.predictions]
    assert list(RESULTS) == predicted
    missed = {
        (*key, simulator)
        for key, one in RESULTS.items()
        for simulator in ("nodeb", "ns3")
        if not CASES[key[0]].predictions[key[1]].is_met(simulator, getattr(one, simulator))
    }
    assert missed == MISSED


@pytest.mark.parametrize(
    ("name", "quantity"),
    [("a, 8 dB", "rate_mbps"), ("a, 16 dB", "rate_mbps"), ("c, 200 kB, 10 dB", "download_s")],
)
def test_nodeb_gives_the_recorded_results(name, quantity, monkeypatch):
    monkeypatch.setattr(ours, "speed", lambda scenario: 1.0)
    value = ours.simulate(CASES[name].settings)[quantity]
    assert value == pytest.approx(RESULTS[name, quantity].nodeb, rel=1e-4)


@pytest.mark.skipif(NS3 is None, reason="NS3_PYTHON names no Python that has ns-3")
def test_ns3_gives_the_recorded_result():
    case = CASES["a, 8 dB"]
    (values,) = ns3_lte.simulate_ns3([case], NS3)
    assert values["rate_mbps"] == pytest.approx(RESULTS[case.name, "rate_mbps"].ns3, rel=1e-3)


def test_deviations_count_in_both_directions():
    prediction = Prediction("speed", 100.0, 1.0, 1.0, "")
    verdicts = [prediction.is_met("nodeb", value) for value in (49, 51, 199, 201)]
    assert verdicts == [False, True, True, False]


def test_results_are_read_as_written(tmp_path):
    written = [Result("a, 0 dB", "rate_mbps", 7.25, 10.5)]
    write_results(written, "ns-3 1", tmp_path / "results.csv")
    assert read_results(tmp_path / "results.csv") == written
