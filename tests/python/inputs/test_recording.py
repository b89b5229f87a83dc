"""Tests: scenarios replay recordings in trace files, and invalid files are rejected."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest

import nodeb
from nodeb.inputs import trace as traces
from nodeb.sweep import Sweep
from scenarios import needs_linux

TRAFFIC = "# nodeb trace 1\n# kind: traffic\n# count: {}\ntime_s,bytes\n{}"
CHANNEL = "# nodeb trace 1\n# kind: {}\n# step: {}\n# count: {}\n{}\n"

SCENARIO = """
runs = 1
[[users]]
traffic.replay.file = "traffic.trace"
"""
CELL = """
runs = 1
duration = "4 s"
[radio.hsdpa]
[[users]]
traffic.ftp.size = "1 kB"
ue.channel.trace = { file = "channel.trace", at_end = "loop" }
"""


def traffic(folder: Path, rows: str) -> Path:
    count = sum(bool(row.strip()) for row in rows.splitlines())
    (folder / "traffic.trace").write_text(TRAFFIC.format(count, rows))
    (folder / "scenario.toml").write_text(SCENARIO)
    return folder / "scenario.toml"


def channel(folder: Path, kind: str, rows: str, step: str = "2 ms") -> Path:
    count = len(rows.splitlines()) - 1
    (folder / "channel.trace").write_text(CHANNEL.format(kind, step, count, rows))
    (folder / "cell.toml").write_text(CELL)
    return folder / "cell.toml"


def lists(file: Path) -> dict:
    return nodeb.load(file).to_dict()["users"][0]["ue"]["channel"]["trace"]


def test_traffic_is_replayed(tmp_path):
    scenario = nodeb.load(traffic(tmp_path, "0,1000\n\n0.25, 20000\n0.25,1\n"))
    result = scenario.run()
    assert list(result.flows["delivered_bytes"]) == [21_001]
    assert list(result.flows["transfers"]) == [3]
    # The loaded scenario contains the recording, so the file is not needed any more.
    (tmp_path / "traffic.trace").unlink()
    assert "250 ms" in scenario.to_toml()
    assert list(nodeb.Scenario.from_dict(scenario.to_dict()).run().flows["app_bytes"]) == [21_001]


def test_channels_of_every_kind_are_replayed(tmp_path):
    rows = "snr_db,second_db,third_db,cqi\n-10.5,-7.5,-5.7,6\n-2, 1, 2.8, 14"
    file = channel(tmp_path, "combined", rows)
    assert list(nodeb.load(file).run().flows["complete"]) == [True]
    trace = lists(file)
    assert (trace["snrs_db"], trace["third_db"]) == ([-10.5, -2], [-5.7, 2.8])
    assert trace["cqi"] == [6, 14]
    assert lists(channel(tmp_path, "snr", "snr_db\n3\n4.5"))["snrs_db"] == [3, 4.5]
    assert lists(channel(tmp_path, "rate", "rate_bps\n1e6\n3000000"))["rates"] == [
        "1000000 bps",
        "3000000 bps",
    ]
    trace = lists(channel(tmp_path, "cqi", "cqi\n0\n16\n30"))
    assert trace["cqi"] == [0, 16, 30]
    # Each SNR must be one for which the UE reports the recorded CQI.
    assert [np.floor(snr / 1.02 + 16.62) for snr in trace["snrs_db"]] == [0, 16, 30]


def test_entries_are_valid_for_their_step(tmp_path):
    file = channel(tmp_path, "snr", "snr_db\n3\n4", step="6 ms")
    assert lists(file)["snrs_db"] == [3] * 3 + [4] * 3
    # The three values are valid from 0, 3 and 6 ms on.
    file = channel(tmp_path, "snr", "snr_db\n1\n2\n3", step="3 ms")
    assert lists(file)["snrs_db"] == [1, 1, 2, 3, 3]
    file = channel(tmp_path, "rate", "rate_bps\n1000\n2000\n3000", step="1 ms")
    # The last value is valid for only half of the last TTI.
    assert lists(file)["rates"] == ["1500 bps", "3000 bps"]


def test_entries_are_valid_until_the_next_time(tmp_path):
    head = "# nodeb trace 1\n# kind: rate\n# end: 8 ms\n# count: 2\n"
    file = channel(tmp_path, "rate", "rate_bps\n1")
    (tmp_path / "channel.trace").write_text(head + "time_s,rate_bps\n0,1000\n0.005,9000")
    assert lists(file)["rates"] == ["1000 bps", "1000 bps", "5000 bps", "9000 bps"]


def test_a_recording_has_an_entry_per_tti_of_the_radio_that_replays_it(tmp_path):
    file = channel(tmp_path, "snr", "snr_db\n3\n4", step="3 ms")
    assert lists(file)["snrs_db"] == [3, 3, 4]
    file.write_text(CELL.replace("radio.hsdpa", "radio.lte"))
    assert lists(file)["snrs_db"] == [3] * 3 + [4] * 3
    file.write_text(CELL.replace("[radio.hsdpa]", 'radio = "lte"'))
    assert lists(file)["snrs_db"] == [3] * 3 + [4] * 3


def test_cqis_of_lte_keep_their_values_and_get_no_snrs_of_hsdpa(tmp_path):
    file = channel(tmp_path, "cqi", "cqi\n0\n7\n15", step="1 ms")
    file.write_text(CELL.replace("radio.hsdpa", "radio.lte"))
    trace = lists(file)
    assert trace["cqi"] == [0, 7, 15]
    assert not trace["snrs_db"]


def test_cqis_of_hsdpa_are_refused_on_lte(tmp_path):
    file = channel(tmp_path, "cqi", "cqi\n3\n22", step="1 ms")
    file.write_text(CELL.replace("radio.hsdpa", "radio.lte"))
    with pytest.raises(nodeb.ScenarioError, match=r"trace\.cqi: entry 1 is 22"):
        nodeb.load(file)


def test_cqis_without_snrs_are_refused_on_hsdpa(tmp_path):
    file = tmp_path / "cell.toml"
    file.write_text(
        "radio.hsdpa = {}\n[[users]]\ntraffic.ftp.size = '1 kB'\n"
        "ue.channel.trace = { cqi = [3], at_end = 'loop' }\n"
    )
    with pytest.raises(
        nodeb.ScenarioError, match=r"cell\.toml:4: users\.0\.ue\.channel\.trace\.cqi: "
    ):
        nodeb.load(file)


def test_imported_rates_drive_lte(tmp_path, call):
    """All bytes but headers arrive at the recorded rates, 4 s of 4 Mbit/s and 4 s of 12 Mbit/s."""
    recording = tmp_path / "drive.csv"
    recording.write_text("time_s,rate_mbps\n0,4\n4,12\n")
    assert call("import", recording, "--as", "rates", "--out", tmp_path / "drive.trace")[0] == 0
    file = tmp_path / "cell.toml"
    file.write_text(
        "duration = '8 s'\n[radio.lte]\n[[users]]\ntraffic.ftp.size = '1 GB'\n"
        "ue.channel.trace.file = 'drive.trace'\n"
    )
    result = nodeb.load(file).run(runs=1)
    share = result.flows["delivered_bytes"][0] / (8e6 * 1448 / 1500)
    assert 0.95 < share <= 1
    assert result.bearers["blocks_failed"][0] == 0


def test_a_recording_lasts_as_long_on_lte_as_it_was_recorded(tmp_path):
    rows = "snr_db\n" + "\n".join(["-30"] * 1000 + ["20"] * 1000)  # No data for the first second.
    file = channel(tmp_path, "snr", rows, step="1 ms")
    file.write_text(CELL.replace("radio.hsdpa", "radio.lte"))
    assert 1.0 < nodeb.load(file).run().flows["download_s"][0] < 1.6


def test_channel_shorter_than_the_run_needs_an_explicit_end(tmp_path):
    file = channel(tmp_path, "snr", "snr_db\n5\n6")
    file.write_text(CELL.replace(', at_end = "loop"', ""))
    with pytest.raises(nodeb.ScenarioError, match="ends at 4 ms, the run at 4 s; expected `loop`"):
        nodeb.load(file)


def test_changes_keep_a_recording_and_another_file_replaces_it(tmp_path):
    scenario = nodeb.load(channel(tmp_path, "snr", "snr_db\n5\n6"))
    changed = scenario.with_(**{"wired.delay": "5 ms"})
    assert list(changed.users[0].ue.channel.snrs_db) == [5, 6]
    assert changed.users[0].ue.channel == scenario.users[0].ue.channel
    other = tmp_path / "other.trace"
    traces.write(other, traces.Trace("snr", {"snr_db": np.array([7.0])}, "x", 2_000_000))
    another = scenario.with_(**{"users.0.ue.channel.trace.file": str(other)})
    assert list(another.resolved().users[0].ue.channel.snrs_db) == [7]
    plain = scenario.with_(**{"users.0.ue.channel": {"constant": {"snr_db": 3}}})
    assert plain.resolved().users[0].ue.channel.snr_db == 3


def test_changed_recording_is_read_again(tmp_path):
    file = channel(tmp_path, "snr", "snr_db\n5\n6")
    assert lists(file)["snrs_db"] == [5, 6]
    channel(tmp_path, "snr", "snr_db\n7\n8\n9")
    assert lists(file)["snrs_db"] == [7, 8, 9]


@needs_linux
def test_endless_files_are_rejected(monkeypatch):
    with pytest.raises(nodeb.ScenarioError, match="at most 64 MiB"):
        nodeb.load("/dev/zero")
    monkeypatch.setattr(traces, "MAX_BYTES", 1 << 20)
    with pytest.raises(nodeb.ScenarioError, match="at most 1 MiB"):
        traces.read(Path("/dev/zero"))


@needs_linux
def test_pipe_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("traffic = 3\n",))
    writer.start()
    with pytest.raises(nodeb.ScenarioError, match="unknown key"):
        nodeb.load(pipe)
    writer.join()


def test_sweep_resimulates_changed_recordings(tmp_path):
    scenario = CELL.replace(
        '{ file = "channel.trace", at_end = "loop" }', '{ file = "a.trace", at_end = "loop" }'
    )
    sweep = '[sweep]\n"users.0.ue.channel.trace.file" = ["a.trace", "b.trace"]\n'
    (tmp_path / "s.toml").write_text(scenario + sweep)

    def write(name, snr):
        trace = traces.Trace("snr", {"snr_db": np.array([snr])}, "x", 2_000_000)
        traces.write(tmp_path / name, trace)

    write("a.trace", 5.0)
    write("b.trace", -9.0)
    plan = tmp_path / "s.toml"
    assert Sweep.load(plan).run(tmp_path / "out").simulated == 2
    assert Sweep.load(plan).run(tmp_path / "out").simulated == 0
    write("b.trace", 1.0)
    assert Sweep.load(plan).run(tmp_path / "out").simulated == 1
