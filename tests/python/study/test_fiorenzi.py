"""Tests of Fiorenzi's study: the bins of a session and their metrics, scenarios, and figures."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest

from nodeb.reproduce import page
from nodeb.studies import fiorenzi, fiorenzi_session
from nodeb.study import Means
from small_study import resolved

STUDY = fiorenzi.study


def tables():
    """Returns a session of two seconds with two users.

    The reference user receives 2, 1, 0 and 1 packets in its four bins.
    """
    arrivals = [0.1, 0.2, 0.6, 1.7]
    return {
        "bearers": {"end_s": np.array([2.0])},
        "flows": {"delivered_bytes": np.array([4 * 1460.0, 99.0])},
        "segments": {
            "user": np.array([1, *[0] * 5]),
            "event": np.array(["deliver"] * 5 + ["send"]),
            "t_s": np.array([0.1, *arrivals, 1.8]),
            "seq": np.array([7, 1, 2, 3, 4, 5]),
        },
        "bandwidth": {
            "user": np.array([0, 0, 1, 0, 0]),
            "t_s": np.array([0.5, 1.0, 1.0, 1.5, 2.0]),
            "available_bytes": np.array([3000.0, 4500.0, 9e9, 6000.0, 7500.0]),
        },
        "cwnd": {
            "user": np.array([0, 1, 0, 0]),
            "t_s": np.array([0.0, 0.1, 0.7, 1.9]),
            "cwnd_packets": np.array([2.0, 50.0, 4.0, 3.0]),
        },
        "proxies": {"server_timeouts": np.array([2, 5])},
    }


def test_session_is_stored_in_bins():
    found = fiorenzi_session.reduce(tables())
    assert found["bin_received_bytes"].tolist() == [3000, 1500, 0, 1500]
    assert found["bin_available_bytes"].tolist() == [3000, 1500, 1500, 1500]
    assert found["bin_window"].tolist() == [2, 4, 4, 3]
    assert found["server_timeouts"].tolist() == [2]


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (fiorenzi.throughput, 24),  # The user receives 6000 bytes in 2 s.
        (fiorenzi.available, 30),
        (fiorenzi.used, 80),
        (fiorenzi.throughput_in(second=1), 36),  # The user receives 4500 bytes in 1 s.
        (fiorenzi.window_in(second=1), 3),
        # In one of the four bins, 1500 available bytes were not received, so the root mean square
        # of the four differences is 1500 / sqrt(4) = 750. The mean of the available bytes is 1875.
        (fiorenzi.tracking_error, 100 * 750 / 1875),
        (fiorenzi.roughness, 100 * (2 + 0 + 1) / 3 / 3.25),
    ],
)
def test_metrics_of_a_session_follow_from_its_bins(metric, value):
    found = fiorenzi_session.reduce(tables())
    assert float(metric.value(Means(found.__getitem__))) == pytest.approx(value)


def test_only_the_rnf_proxy_receives_messages():
    place = *fiorenzi.SHOWN[:2], fiorenzi.MAX_CI
    for tcp in fiorenzi.TCP:
        made = json.loads(resolved(fiorenzi.session(*place, tcp, fiorenzi.SELDOM)))
        notified = tcp in (fiorenzi.RNF, fiorenzi.RNF_PLUS)
        assert ("rnf" in json.dumps(made.get("proxy", {}))) == notified, tcp
        if notified:
            assert made["proxy"]["rnf"]["interval"] == "500 ms"


def test_every_scenario_of_the_study_runs():
    items = [*STUDY.tables.values(), *STUDY.figures.values()]
    cases = {case for item in items for case in item.cases()}
    assert len(set(map(resolved, cases))) > 100


def test_figures_by_interval_show_every_queue_next_to_the_base():
    for number in (6, 7, 8, 9):
        figure = STUDY.figures[f"Figure {number}, by interval"]
        shown = list(dict.fromkeys(str(setting) for setting, *_ in figure.rows))
        assert [text.split()[0] for text in shown[:3]] == ["72", "52", "50"]
        assert {mark.x for mark in figure.marks} == {place.x for place in figure.columns[1:2]}


def test_path_names_the_links_of_the_core_network():
    path = page._path(tomllib.loads(STUDY.scenario_text))
    assert [node for (node, _), _ in path] == ["Server", "Gateway", "Node B", "Phone"]
    assert path[1][1] == ["Gn, Iu, Iub", "10 + 0.4 + 15 ms"]
    assert path[2][1][0] == "HSDPA"
