"""Tests of the page of a run, and of the figure of its cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nodeb
from nodeb.cli import invoke
from nodeb.errors import InputError, ScenarioError
from nodeb.report.run import html

CELL = """
name = "a small cell"
duration = "2 s"
runs = 2

[radio.hsdpa]

[[users]]
name = "near"
count = 2
traffic.ftp.size = "100 MB"
ue.channel.cell.distance = "100 m"

[[users]]
name = "far"
traffic.ftp.size = "100 MB"
ue.channel.cell.position_m = [600, -300]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cell") / "cell.toml"
    path.write_text(CELL, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def result(file: Path) -> nodeb.Result:
    return nodeb.load(file).run()


def test_phones_are_shown_at_their_positions_with_their_rates(result: nodeb.Result) -> None:
    phones = result.phones
    assert len(phones) == 6
    far = phones.where(np.asarray(phones["user"]) == 2)
    assert set(far["x_m"].tolist()) == {600.0}
    assert set(far["y_m"].tolist()) == {-300.0}
    near = phones.where(np.asarray(phones["user"]) < 2)
    distance = np.hypot(near["x_m"], near["y_m"])
    assert distance == pytest.approx(np.full(4, 100.0))


def test_endless_downloads_have_a_rate(result: nodeb.Result) -> None:
    rows = {(row["group"], row["metric"]): row["mean"] for row in result.summary}
    assert rows["near", "received_bps"] > 0
    flows = result.flows
    expected = np.asarray(flows["delivered_bytes"]) * 8 / 2.0
    assert flows["received_bps"] == pytest.approx(expected, rel=1e-9)


def test_map_peaks_at_the_node_b_and_ends_at_the_cell_edge(file: Path) -> None:
    found = nodeb.load(file).cell_map(side=41)
    snr = found["snr_db"]
    assert snr.shape == (41, 41)
    assert np.nanargmax(snr) == 20 * 41 + 20
    assert np.isnan(snr[0, 0])
    assert found["sites_m"].tolist() == [[0.0, 0.0]]


def test_radio_without_positions_has_no_map() -> None:
    dch = nodeb.load("examples/dch-50k.toml")
    with pytest.raises(ScenarioError, match="a dch has no cell to map; expected `hsdpa`"):
        dch.cell_map()
    with pytest.raises(InputError, match='`radio = "hsdpa"`'):
        dch.run(runs=1).plot.cell()


def test_picture_shows_groups_and_both_scales(result: nodeb.Result) -> None:
    figure = result.plot.cell(run=1)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Node B", "near", "far"]
    labels = {label for axes in figure.axes for label in (axes.get_xlabel(), axes.get_ylabel())}
    assert {"North (km)", "Mean SNR (dB)", "Received in order (kbit/s)"} <= labels
    with pytest.raises(InputError, match=r"there is no run 7 \(runs: 0, 1\)"):
        result.plot.cell(run=7)


def test_page_shows_the_cell(result: nodeb.Result) -> None:
    page = html(result)
    assert page.startswith("<!doctype html>")
    assert 'id="cell"' in page
    assert "received by the phone" in page
    assert "; the channel was busy" in page
    assert "<script" not in page


def test_run_writes_its_page_on_request(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", str(file), "--report", "--out", str(tmp_path / "out")]) == 0
    assert f"Page: {tmp_path / 'out' / 'report.html'}" in capsys.readouterr().out
    assert "a small cell" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
