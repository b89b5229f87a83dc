"""Tests of recorded delays of links: from the file to the arrival of each packet."""

import numpy as np
import pytest

import nodeb

SCENARIO = """
runs = 1
duration = "3 s"
wired = { rate = "1 Gbps", delay = "7 ms" }
core = [{ rate = "1 Gbps", delay = "3 ms" }, { name = "iub", rate = "1 Gbps", delay = "2 ms" }]
uplink = { rate = "1 Gbps", delay = "11 ms" }
radio.link = { rate = "1 Gbps", delay = "5 ms" }
users = [{ traffic.cbr = { size = "100 B", interval = "10 ms" } }]
"""
PLACES = {"wired": "wired down", "core.1": "iub up", "uplink": "uplink", "radio.link": "bearer"}
DELAYS_MS = {"wired": 7, "core.1": 2, "uplink": 11, "radio.link": 5}
POINTS = "0,4\n0.5,30\n1,6.5\n"


def write(folder, header="time_s,delay_ms", points=POINTS):
    (folder / "delays.csv").write_text(f"{header}\n{points}")
    (folder / "s.toml").write_text(SCENARIO)
    return folder / "s.toml"


def times_ms(scenario, place):
    """End of the transmission and arrival of each packet that passed a link of 1 Gbit/s."""
    life = scenario.life()
    packets = (life.packets[name].to_pylist() for name in ("packet", "bytes"))
    sizes = dict(zip(*packets, strict=True))
    rows, free = [], 0
    for hop in life.hops.to_pylist():
        if hop["place"] == place and hop["end"] == "received":
            free = max(free, hop["entered_ns"]) + 8 * sizes[hop["packet"]]
            rows.append((free, hop["left_ns"]))
    assert len(rows) > 50
    return np.array(rows).T / 1e6


@pytest.mark.parametrize("link", PLACES)
def test_packets_meet_the_delays_of_a_file(tmp_path, link):
    scenario = nodeb.load(write(tmp_path), [f"{link}.jitter.trace.file=delays.csv"])
    sent, arrived = times_ms(scenario, PLACES[link])
    wanted = DELAYS_MS[link] + np.interp(sent % 1000, [0, 500, 1000], [4, 30, 6.5])
    # Where the recording starts again, its delay falls by 2.5 ms, less than packets are apart.
    assert arrived - sent == pytest.approx(wanted, abs=2e-6)


def test_delays_in_ms_hold_after_the_end(tmp_path):
    file = write(tmp_path, "time_ms,delay_ms", "0,4\n500,30\n1e3,6.5\n")
    of_file = '{ file = "delays.csv", at_end = "stop" }'
    sent, arrived = times_ms(nodeb.load(file, [f"wired.jitter.trace={of_file}"]), "wired down")
    assert arrived - sent == pytest.approx(
        7 + np.interp(sent, [0, 500, 1000], [4, 30, 6.5]), abs=2e-6
    )


def test_delays_of_a_loaded_scenario_do_not_need_the_file(tmp_path):
    scenario = nodeb.load(write(tmp_path), ["wired.jitter.trace.file=delays.csv"])
    (tmp_path / "delays.csv").unlink()
    again = nodeb.Scenario.from_dict(scenario.to_dict())
    assert times_ms(again, "wired down").tolist() == times_ms(scenario, "wired down").tolist()


def test_another_file_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scenario = nodeb.load(write(tmp_path), ["core.1.jitter.trace.file=delays.csv"])
    (tmp_path / "other.csv").write_text("time_ms,delay_ms\n250,0.5\n")
    changed = scenario.with_({"core.1.jitter.trace.file": "other.csv", "wired.delay": "9 ms"})
    table = changed.to_dict()["core"][1]["jitter"]["trace"]
    assert (table["times"], table["delays"]) == (["250 ms"], ["500 us"])
    assert changed.to_dict()["wired"]["delay"] == "9 ms"
