"""The study with a watched session: its bins and metrics, its pictures, its scenarios."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from nodeb import _core
from nodeb.plot import Line, panels
from nodeb.reproduce import cells, grid, session, study
from nodeb.reproduce.diagram import path_diagram
from nodeb.reproduce.log import Log, Run
from nodeb.reproduce.metrics import metric

FIORENZI = study.load("fiorenzi")
SPEC = {"user": 1, "bin_s": 0.5, "packet_bytes": 1500, "data_bytes": 1000}


def tables() -> dict[str, dict[str, Any]]:
    """Two seconds of user 1, beside another user: 2, 1, 0 and 1 packets in four bins."""
    arrivals = [0.1, 0.2, 0.6, 1.7]
    return {
        "bearers": {"end_s": np.array([2.0])},
        "flows": {"delivered_bytes": np.array([99.0, 4000.0])},
        "segments": {
            "user": np.array([0, *[1] * 5]),
            "event": np.array(["deliver"] * 5 + ["send"]),
            "t_s": np.array([0.1, *arrivals, 1.8]),
            "seq": np.array([7, 1, 2, 3, 4, 5]),
        },
        "bandwidth": {
            "user": np.array([1, 1, 0, 1, 1]),
            "t_s": np.array([0.5, 1.0, 1.0, 1.5, 2.0]),
            "available_bytes": np.array([3000.0, 4500.0, 9e9, 6000.0, 7500.0]),
        },
        "cwnd": {
            "user": np.array([1, 0, 1, 1]),
            "t_s": np.array([0.0, 0.1, 0.7, 1.9]),
            "cwnd_packets": np.array([2.0, 50.0, 4.0, 3.0]),
        },
        "proxies": {"server_timeouts": np.array([5, 2])},
    }


def test_a_session_is_kept_in_bins() -> None:
    found = session.reduce(tables(), SPEC)
    assert found["bin_received_bytes"].tolist() == [3000, 1500, 0, 1500]
    assert found["bin_available_bytes"].tolist() == [3000, 1500, 1500, 1500]
    assert found["bin_window"].tolist() == [2, 4, 4, 3]
    assert found["server_timeouts"].tolist() == [2]


def test_metrics_of_a_session_are_those_of_its_bins() -> None:
    log = Log()
    log.add(Run(session.reduce(tables(), SPEC), 0))
    means = {name: values.mean(axis=0) for name, values in log.stacked().items()}
    value = {
        name: float(metric(name).of(means, {"first": 0, "end": 2}))
        for name in (
            "session_kbps",
            "available_kbps",
            "used_percent",
            "session_bin_kbps",
            "window_bin_packets",
            "tracking_error_percent",
            "window_roughness_percent",
        )
    }
    assert value["session_kbps"] == pytest.approx(24)  # 6000 bytes in 2 s
    assert value["available_kbps"] == pytest.approx(30)
    assert value["used_percent"] == pytest.approx(80)
    assert value["session_bin_kbps"] == pytest.approx(36)  # 4500 bytes in 1 s
    assert value["window_bin_packets"] == pytest.approx(3)
    # One gap of 1500 bytes in four bins, over a mean of 1875.
    assert value["tracking_error_percent"] == pytest.approx(100 * 750 / 1875)
    assert value["window_roughness_percent"] == pytest.approx(100 * (2 + 0 + 1) / 3 / 3.25)


def test_a_change_may_ask_for_a_key_to_be_there() -> None:
    for proxy in ({}, {"proxy": "split"}, {"proxy": {"split": {}}}):
        document: dict[str, Any] = dict(proxy)
        grid.put(document, "proxy?.rnf?.interval", "80 ms")
        assert document == proxy
    document = {"proxy": {"rnf": {}}}
    grid.put(document, "proxy?.rnf?.interval", "80 ms")
    assert document == {"proxy": {"rnf": {"interval": "80 ms"}}}


def test_every_scenario_of_the_study_can_be_run() -> None:
    items = [cells.table_selections(FIORENZI, table) for table in FIORENZI.tables.values()]
    items += [cells.figure_selections(FIORENZI, figure) for figure in FIORENZI.figures.values()]
    texts = {json.dumps(grid.scenario(FIORENZI, one)) for item in items for one in item}
    assert len({_core.resolve(text) for text in texts}) > 100


def test_panels_share_a_scale_and_a_legend() -> None:
    lines = [Line("a", [1.0, 2.0]), Line("b", [3.0, 4.0])]
    figure = panels("title", "x", "y", [0, 1], {"one": lines, "two": lines, "three": lines})
    assert [axes.get_title(loc="center") for axes in figure.axes] == ["one", "two", "three"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_panels_stand_in_rows_of_the_first_axis() -> None:
    lines = [Line("a", [1.0, 2.0])]
    cases = dict.fromkeys(("one", "two", "three", "four", "five", "six"), lines)
    figure = panels("title", "x", "y", [0, 1], cases, rows=3)
    shape = figure.axes[0].get_subplotspec().get_gridspec().get_geometry()
    assert shape == (3, 2)
    assert [axes.get_title(loc="center") for axes in figure.axes] == list(cases)


def test_figures_by_interval_show_every_queue_beside_the_base() -> None:
    for number in (6, 7, 8, 9):
        figure = FIORENZI.figures[f"Figure {number}, by interval"]
        shown = [choice.label for choice in FIORENZI.choices(figure.series[0])]
        assert [text.split()[0] for text in shown[:3]] == ["72", "52", "50"]
        assert figure.against == ("relative", "interval:i80")
        assert not figure.withheld


def test_the_diagram_names_the_links_of_the_core_network() -> None:
    svg = str(path_diagram(FIORENZI.scenario))
    for text in ("Gateway", "Gn, Iu, Iub", "10 + 0.4 + 15 ms", "HSDPA"):
        assert text in svg
