"""Tests of pairs of recordings, of a light and of a heavy load, from the files to the packets."""

from collections import deque
from itertools import count

import pytest

import nodeb

MS = 1_000_000
SCENARIO = """
runs = 1
duration = "60 s"
wired = {{ rate = "1 Gbps", delay = "7 ms" }}
radio.trace.queue.drop_tail.limit = 2000
radio.trace.down.file = "saturated"
radio.trace.light = {{ down.file = "trains", train = 4, gap = "{gap} ms" }}
tcp.linux.control = "cubic"
users = [{{ traffic.ftp.size = "{size}" }}]
"""
LIGHT_MS = 20
"""Interval of the opportunities of trains; those of the heavy load are 1 ms apart."""


def write(folder, gap=0, size="200 kB"):
    (folder / "saturated").write_text("".join(f"{ms}\n" for ms in range(1, 101)))
    (folder / "trains").write_text("".join(f"{ms}\n" for ms in range(LIGHT_MS, 401, LIGHT_MS)))
    (folder / "s.toml").write_text(SCENARIO.format(gap=gap, size=size))
    return folder / "s.toml"


def departures(arrivals, gap_ns):
    """Departures by the rule of CellReplay, and the number of opportunities of each recording."""
    gone, waiting, coming = [], deque(), deque(arrivals)
    sent, left, used = float("-inf"), 4, {"light": 0, "heavy": 0}
    for at in count(MS, MS):
        while coming and coming[0][0] < at:
            entered, size = coming.popleft()
            if not waiting and entered > sent + gap_ns:
                left = 4
            waiting.append(size + 4)
        if waiting and (left == 0 or at % (LIGHT_MS * MS) == 0):
            used["light" if left else "heavy"] += 1
            sent, left, room = at, max(left - 1, 0), 1504
            while room and waiting:
                part = min(room, waiting[0])
                room, waiting[0] = room - part, waiting[0] - part
                if not waiting[0]:
                    waiting.popleft()
                    gone.append(at)
        if len(gone) == len(arrivals):
            return gone, used


@pytest.mark.parametrize("gap", [0, 30, 100])
def test_packets_leave_at_the_times_of_both_files(tmp_path, gap):
    life = nodeb.load(write(tmp_path, gap)).life()
    packets = (life.packets[name].to_pylist() for name in ("packet", "bytes"))
    sizes = dict(zip(*packets, strict=True))
    hops = sorted(
        (hop["entered_ns"], hop["packet"], hop["left_ns"])
        for hop in life.hops.to_pylist()
        if hop["place"] == "bearer" and hop["end"] == "received"
    )
    wanted, used = departures([(entered, sizes[packet]) for entered, packet, _ in hops], gap * MS)
    assert [left for *_, left in hops] == wanted
    assert len(hops) > 130
    assert used["light"] >= 4
    assert used["heavy"] > 100


def test_scenario_of_a_pair_does_not_need_the_files(tmp_path):
    scenario = nodeb.load(write(tmp_path, size="20 kB"))
    changed = scenario.with_({"radio.trace.light.train": 1})
    for name in ("saturated", "trains"):
        (tmp_path / name).unlink()
    slow, fast = (one.run().flows["download_s"][0] for one in (scenario, changed))
    assert fast < slow
    again = nodeb.Scenario.from_dict(scenario.to_dict())
    assert again.run().flows["download_s"][0] == slow


def test_trains_from_a_phone_need_a_trace_of_its_uplink(tmp_path):
    with pytest.raises(nodeb.ScenarioError, match=r"radio.trace.light.up"):
        nodeb.load(write(tmp_path), ["radio.trace.light.up.times_ms=[5]"]).compiled()
