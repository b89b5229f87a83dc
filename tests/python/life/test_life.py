"""Packet timelines agree with the tables of the run, and their files are readable."""

import gzip
import json
from collections import Counter, defaultdict

import numpy as np
import pyarrow.parquet as pq
import pytest

import nodeb
from nodeb import cli
from nodeb.errors import InputError
from nodeb.scenario_types import Dch, Ftp, Hsdpa, UserGroup

LOSSY = """
name = "lossy"
runs = 2
[wired]
loss = 0.02
[radio.hs_dsch]
bler = 0.2
[[users]]
count = 2
traffic.ftp.size = "100 kB"
[record]
segments = true
cwnd = true
queue = true
"""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    file = tmp_path_factory.mktemp("life") / "lossy.toml"
    file.write_text(LOSSY)
    return nodeb.load(file)


@pytest.fixture(scope="module")
def life(scenario):
    return scenario.life()


def plain(table):
    """Returns a table as lists by column.

    NaN is replaced by `None`, because NaN would differ from itself.
    """
    return {
        name: [None if value != value else value for value in table[name].to_pylist()]
        for name in table.column_names
    }


def rows(table, **wanted):
    """Returns those rows of a table whose columns have the values in `wanted`."""
    found = table.to_pylist()
    return [row for row in found if all(row[name] == value for name, value in wanted.items())]


def test_timelines_agree_with_the_tables_of_the_run(scenario, life):
    result = scenario.run(runs=1)
    data = rows(life.packets, purpose="data")
    for user in (0, 1):
        own = [row for row in data if row["user"] == user]
        assert len(own) == result.flows["packets_sent"][user]
        assert sum(row["again"] for row in own) == result.flows["packets_retransmitted"][user]
    segments = Counter(result.segments["event"])
    assert segments["drop"] == sum(row["end"] == "lost" for row in data) > 0
    assert segments["deliver"] == sum(row["end"] == "received" for row in data)
    kinds = Counter(life.events["kind"].to_pylist())
    assert kinds["window"] == len(result.cwnd)
    assert kinds["queue"] == len(result.queue)
    assert sum(row["transmissions"] for row in rows(life.blocks)) == result.bearers["blocks"].sum()
    assert sum(row["failed"] for row in rows(life.blocks)) == result.bearers["blocks_failed"].sum()


UPLINK = """
duration = "3 s"
[radio.lte]
bandwidth = "1.4 MHz"
[[users]]
count = 2
traffic.ftp.size = "100 kB"
upload.ftp.size = "50 kB"
ue.channel.fading = { mean_snr_db = 8.0, speed = "30 km/h" }
"""


@pytest.fixture(scope="module")
def scheduled():
    scenario = nodeb.Scenario.from_toml(UPLINK)
    return scenario.run(runs=1), scenario.life()


def test_blocks_of_a_scheduled_uplink_are_shown(scheduled):
    result, life = scheduled
    up = rows(life.blocks, place="uplink")
    for user in (0, 1):
        own = [row for row in up if row["user"] == user]
        assert sum(row["transmissions"] for row in own) == result.uplinks["transmissions"][user]
        assert sum(row["outcome"] == "given up" for row in own) == result.uplinks["given_up"][user]
    down = rows(life.blocks, place="bearer")
    assert len(up) + len(down) == len(life.blocks)
    assert sum(row["transmissions"] for row in down) == result.bearers["blocks"].sum()
    assert sum(row["failed"] for row in up) > 0


def test_packets_from_phones_have_the_blocks_that_carried_them(scheduled):
    _, life = scheduled
    places = {row["block"]: row["place"] for row in rows(life.blocks)}
    waits = {row["packet"]: row for row in rows(life.hops, place="uplink", end="received")}
    packets = [row for row in rows(life.packets, end="received") if row["packet"] in waits]
    assert len(packets) > 50
    for packet in packets[::10]:
        own = life.packet(packet["packet"]).to_pylist()
        carried = [row for row in own if row["kind"] == "carries"]
        assert {places[row["block"]] for row in carried} == {"uplink"}
        assert sum(row["bytes"] for row in carried) >= packet["bytes"]
        begun = min(row["time_ns"] for row in carried)
        assert waits[packet["packet"]]["begun_ns"] == begun >= waits[packet["packet"]]["entered_ns"]


def test_packet_has_its_own_events_and_those_of_its_blocks(life):
    repeated = next(row for row in rows(life.packets, end="received") if row["repeats"] > 0)
    own = life.packet(repeated["packet"]).to_pylist()
    times = [row["time_ns"] for row in own]
    assert times == sorted(times)
    assert own[0]["kind"] == "sent" or own[0]["kind"] == "resent"
    assert (own[-1]["kind"], own[-1]["time_ns"]) == ("received", repeated["ended_ns"])
    carried = {row["block"] for row in own if row["kind"] == "carries"}
    assert len(carried) == repeated["blocks"]
    assert {row["block"] for row in own if row["kind"] == "block"} == carried
    assert sum(row["transmission"] > 1 for row in own) == repeated["repeats"]
    parts = sorted((row["value"], row["bytes"]) for row in own if row["kind"] == "carries")
    assert sum(size for _, size in parts) == repeated["bytes"]


def test_application_receives_all_data_in_order(scenario, life):
    for user in (0, 1):
        handed = [row for row in rows(life.packets, user=user) if row["handed_ns"]]
        handed.sort(key=lambda row: (row["handed_ns"], row["seq"]))
        assert [row["seq"] for row in handed] == list(range(1, len(handed) + 1))
        assert all(row["handed_ns"] >= row["ended_ns"] for row in handed)
        assert sum(row["bytes"] - 40 for row in handed) >= 100_000
        assert any(row["handed_ns"] > row["ended_ns"] for row in handed), "nothing had to wait"


def test_folder_contains_tables_page_and_trace(life, tmp_path):
    folder = life.save(tmp_path / "kept")
    assert sorted(file.name for file in folder.iterdir()) == [
        *("blocks.parquet", "events.parquet", "hops.parquet", "life.html"),
        *("packets.parquet", "provenance.json", "scenario.toml", "trace.json.gz"),
    ]
    for name, table in life.tables.items():
        assert plain(pq.read_table(folder / f"{name}.parquet")) == plain(table)
    about = json.loads((folder / "provenance.json").read_text())
    assert (about["kind"], about["seed"], about["run"]) == ("life", 1, 0)
    assert life.save(folder) == folder


def test_slices_of_a_thread_do_not_overlap(life):
    trace = json.loads(gzip.decompress(life.trace()))
    threads, kinds = defaultdict(list), Counter()
    for event in trace["traceEvents"]:
        kinds[event["ph"]] += 1
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for slices in threads.values():
        ends = [end for _, end in sorted(slices)]
        begins = [begin for begin, _ in sorted(slices)]
        assert all(end <= begin for end, begin in zip(ends, begins[1:], strict=False))
    sent = sum(life.blocks["transmissions"].to_pylist())
    assert kinds["X"] == len(life.hops) + sent
    assert kinds["i"] >= sum(row["end"] == "lost" for row in rows(life.packets))
    named = [event for event in trace["traceEvents"] if event["name"] == "thread_name"]
    assert {(event["pid"], event["tid"]) for event in named} == set(threads)


def test_window_is_a_part_of_the_whole(scenario, life):
    part = scenario.life(begin_s=1.0, end_s=2.0)
    times = np.asarray(life.events["time_ns"])
    inside = (times >= 1_000_000_000) & (times < 2_000_000_000)
    assert plain(part.events) == plain(life.events.filter(inside))
    assert (
        part.packets["sent_ns"].to_pylist()[0]
        < 1_000_000_000
        < part.packets["ended_ns"].to_pylist()[0]
    )


def test_replications_and_seeds_differ(scenario, life):
    other = scenario.life(run=1)
    assert plain(other.events) != plain(life.events)
    assert plain(scenario.life(run=1, seed=1).events) == plain(other.events)
    assert plain(scenario.life(seed=2).events) != plain(life.events)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"user": 2}, "user 2"),
        ({"user": -1}, "users"),
        ({"run": -1}, "replications"),
        ({"begin_s": 1e6}, "1000000 s"),
        ({"begin_s": 2.0, "end_s": 1.0}, "empty"),
        ({"begin_s": float("nan")}, "seconds"),
        ({"most": 100}, "100"),
        ({"most": 0}, "event"),
    ],
)
def test_invalid_arguments_are_reported(scenario, asked, name):
    with pytest.raises(nodeb.InputError, match=name):
        scenario.life(**asked)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY)
    return path


def test_command_saves_a_timeline(file):
    command = ["life", str(file), "--user", "1", "--from", "500ms", "--to", "2.5 s"]
    assert cli.invoke(command) == 0
    assert set(pq.read_table("out/lossy-life/packets.parquet")["user"].to_pylist()) == {1}


@pytest.mark.parametrize(
    ("more", "place"),
    [
        (["--from", "soon"], '--from is "soon"'),
        (["--to", "3"], '--to is "3"'),
        (["--user", "9"], "user 9"),
        (["--most", "10"], "--from, --to"),
    ],
)
def test_command_reports_errors_and_leaves_nothing(file, capsys, more, place):
    assert cli.invoke(["life", str(file), *more]) == cli.BAD_INPUT
    assert place in capsys.readouterr().err
    assert not list(file.parent.glob("out/*"))


def test_foreign_folder_is_kept(file, capsys):
    assert cli.invoke(["run", str(file), "--out", "out/kept"]) == 0
    assert cli.invoke(["life", str(file), "--out", "out/kept"]) == cli.BAD_INPUT
    assert "holds a run of lossy.toml" in capsys.readouterr().err
    assert cli.invoke(["life", str(file), "--out", "out/kept", "--force"]) == 0


def test_path_of_a_window_is_that_of_its_transfers(scenario):
    whole = scenario.life(user=0).critical_path
    assert whole.transfers[0] == 0
    explained = nodeb.explain(scenario, runs=1)
    first = [span for span in whole.spans if span.transfer == 0]
    assert [(span.begin, span.end, span.cause) for span in first] == [
        (row["begin_ns"], row["end_ns"], row["cause"]) for row in explained.spans
    ]
    end = first[-1].end
    cut = scenario.life(user=0, end_s=end / 2e9).critical_path
    assert cut.spans[-1].end == end // 2
    assert "not complete at the window's end" in cut.note


@pytest.mark.parametrize("end_s", [10, 10.5, 100])
def test_path_of_a_window_beyond_the_run_ends_with_the_run(end_s):
    users = [UserGroup(traffic=Ftp(size="2 MB"))]
    short = nodeb.Scenario(duration="10 s", radio=Hsdpa(), users=users)
    whole = short.life(user=0).critical_path
    assert "Transfer 0 was not complete at the run's end" in whole.note
    assert short.life(user=0, end_s=end_s).critical_path == whole


def test_transfers_of_a_late_window_are_found():
    web = nodeb.Scenario.from_dict(
        {
            "duration": "60 s",
            "radio": {"dch": {}},
            "users": [
                {
                    "traffic": {
                        "on_off": {"burst": {"exponential": {"mean": "5 kB"}}, "closed_loop": True}
                    }
                }
            ],
        }
    )
    whole = web.life(user=0).critical_path
    ends = [max(s.end for s in whole.spans if s.transfer == n) for n in whole.transfers]
    begin_s = (ends[4] + 1) / 1e9
    late = web.life(user=0, begin_s=begin_s).critical_path
    assert late.transfers[0] == 5
    assert [s for s in late.spans if s.transfer == 5] == [s for s in whole.spans if s.transfer == 5]
    beyond = web.life(user=0, begin_s=begin_s, end_s=1000).critical_path
    assert (beyond.transfers, beyond.note) == (late.transfers, late.note)


def test_result_shows_the_timeline_of_a_packet():
    users = [UserGroup(traffic=Ftp(size="20 kB"))]
    scenario = nodeb.Scenario(radio=Dch(bler=0.1), users=users)
    result = scenario.run(runs=2, seed=3)
    own, there = result.life(5, run=1), scenario.life(1, seed=3).packet(5)
    # The packets are compared as text, because NaN differs from itself.
    assert str(own.to_pylist()) == str(there.to_pylist())
    with pytest.raises(InputError, match="there is no replication 2; this result has 2"):
        result.life(5, run=2)
