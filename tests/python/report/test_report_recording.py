"""Tests: the replication on a page is one that was measured, and its size is limited."""

from __future__ import annotations

import numpy as np
import pytest

import nodeb
from nodeb.base.table import Table
from nodeb.errors import RunError
from nodeb.report import recording
from nodeb.report.run import html, packet_delays
from nodeb.scenario_types import Record
from nodeb.storage.files import read_parquet
from scenarios import EXAMPLES

SERIES = ("cwnd", "segments", "rtt", "queue", "transfers")


@pytest.fixture(
    scope="module", params=["dch-50k", "hsdpa-cell", "lte-cell", "switching", "wcdma", "rlc-am"]
)
def result(request):
    (file,) = (one for one in EXAMPLES if one.stem == request.param)
    return nodeb.load(file, ["runs=2", 'duration="40 s"', "record={}"]).run(jobs=1)


def rows(table):
    return [tuple(row.values()) for row in table]


def test_recorded_series_belong_to_the_measured_replication(result):
    before = {name: rows(table) for name, table in result.tables.items()}
    found = recording.record(result)
    assert (found.until_s, found.problem, found.is_again) == (None, "", True)
    assert all(len(found.result.tables[name]) for name in ("cwnd", "segments", "queue"))
    for name in ("flows", "bearers", "links"):
        mine = result.tables[name].where(np.asarray(result.tables[name]["run"]) == 0)
        assert repr(rows(mine)) == repr(rows(found.result.tables[name]))
    assert repr({name: rows(table) for name, table in result.tables.items()}) == repr(before)


def test_first_part_of_a_long_recording_is_shown_unchanged(result):
    whole = recording.record(result).result
    most = sum(len(whole.tables[name]) for name in SERIES) // 3
    part = recording.record(result, max_rows=most)
    assert part.until_s < float(np.max(result.bearers["end_s"]))
    assert f"the first {part.until_s:g} s" in part.summary
    for name in SERIES:
        # The comparison covers only events before the end of the part, because the part may contain
        # some later events.
        short, long = (
            rows(one.tables[name].where(_times(one.tables[name]) < part.until_s))
            for one in (part.result, whole)
        )
        assert repr(short) == repr(long)
    assert sum(len(part.result.tables[name]) for name in SERIES) <= 1.2 * most


def _times(table):
    begun = "begin_s" in table.columns
    return table["begin_s"] + table["delay_s"] if begun else table["t_s"]


def test_recorded_replication_is_not_simulated_again(small, monkeypatch):
    result = small.with_(record=Record(**dict.fromkeys(SERIES, True))).run(jobs=1)
    monkeypatch.setattr(recording, "replicated", None)
    found = recording.record(result)
    assert set(found.result.segments["run"].tolist()) == {0}
    assert not found.is_again


@pytest.mark.parametrize("error", [RunError("something odd"), MemoryError()])
def test_page_without_series_states_the_reason(small, monkeypatch, error):
    result = small.run(jobs=1)

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(recording, "replicated", fail)
    page = html(result)
    summary = "something odd" if isinstance(error, RunError) else "not enough memory"
    assert summary in page
    assert 'id="transfers"' in page
    assert 'id="cwnd"' not in page


def test_report_changes_no_file_of_a_run(call, scenario_file):
    for folder, more in (("plain", ()), ("shown", ("--report",))):
        assert call("run", scenario_file, "--out", folder, *more)[0] == 0
    plain, shown = (scenario_file.parent / name for name in ("plain", "shown"))
    names = {file.name for file in shown.iterdir()}
    assert names == {file.name for file in plain.iterdir()} | {"report.html"}
    for file in plain.glob("*.parquet"):
        first, second = (read_parquet(folder / file.name)[0] for folder in (plain, shown))
        assert repr(rows(first)) == repr(rows(second))


def test_packets_sent_twice_have_no_delay():
    events = [
        (0.0, 0, "send", 1),
        (0.1, 0, "send", 2),
        (0.3, 0, "deliver", 1),
        (0.5, 0, "send", 2),
        (0.6, 0, "deliver", 2),
        (0.7, 1, "send", 1),
        (0.8, 0, "send", 3),
        (0.9, 1, "deliver", 1),
        (0.95, 1, "deliver", 1),
    ]
    times, users, kinds, numbers = zip(*events, strict=True)
    columns = {"run": [0] * 9, "user": users, "t_s": times, "event": kinds, "seq": numbers}
    found = packet_delays(Table(columns))
    assert found["user"].tolist() == [0, 1]
    assert found["delay_s"] == pytest.approx([0.3, 0.2])


def test_download_shows_the_replication_nearest_the_median(call, scenario_file):
    result = nodeb.load(scenario_file, ["users.0.count=1", "runs=9"]).run(jobs=1)
    found = result.explain()
    path = found.typical
    assert path.time_ns / 1e9 == pytest.approx(float(np.median(found.times)))
    assert path.run == int(np.argmin(np.abs(found.times - np.median(found.times))))
    again = recording.replicated(result.scenario, result.provenance.seed, path.run)
    assert set(again.flows["run"].tolist()) == {path.run}
    mine = result.flows.where(np.asarray(result.flows["run"]) == path.run)
    assert repr(rows(mine)) == repr(rows(again.flows))
    text = html(result).replace("\u00a0", " ")
    assert f"replication {path.run}, which took" in text
    assert f"Replication {path.run} (of 0 to 8)" in text
    spans = path.spans
    assert int(spans["end_ns"][-1] - spans["begin_ns"][0]) == path.time_ns
