"""Tests: delays, contents and losses of real packets agree with the scenario."""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from emulations import (
    DOWNLOAD,
    DOWNLOAD_SERVER,
    ECHO,
    PATIENT,
    PROBE,
    UDP_SERVER,
    nodeb,
    python,
    server,
)
from nodeb.cli import invoke

pytestmark = pytest.mark.usefixtures("real_packets")

UPLINK = '[uplink]\nrate = "384 kbps"\ndelay = "20 ms"\n'
RADIOS = {
    "dch": UPLINK + "[radio.dch]\nbler = 0.1\n",
    "hs_dsch": UPLINK + "[radio.hs_dsch]\nchannels = 5\nbler = 0.1\n",
    "lte": "[radio.lte]\nuplink.scheduled = {}\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("radio", RADIOS)
def test_download_takes_as_long_as_simulated(radio, tmp_path):
    file = tmp_path / "cell.toml"
    file.write_text(
        f'name = "{radio}"\ntcp.linux.control = "reno"\n[wired]\nrate = "10 Mbps"\n'
        f'delay = "50 ms"\n{RADIOS[radio]}[[users]]\nname = "phone"\n'
        'traffic.ftp.size = "150 kB"\n'
    )
    done = nodeb(file, *PATIENT, "--as", "phone", *server(DOWNLOAD_SERVER), "--", *python(DOWNLOAD))
    assert done.returncode == 0, done.stderr
    got, took = done.stdout.split()
    assert int(got) == 150_000
    from nodeb import load

    simulated = load(file).run(runs=20).flows["download_s"]
    # A download is one of many possible ones, and other programs may load the machine. Accuracy is
    # measured by `nodeb emulate --check`.
    assert 0.9 * simulated.min() < float(took) < 1.25 * simulated.max() + 0.2


CHECKSUMS = (
    ECHO
    + """
import hashlib, random
s = socket.socket(socket.AF_INET6 if int(sys.argv[1]) == 6 else socket.AF_INET, socket.SOCK_DGRAM)
server = os.environ["NODEB_SERVER6" if int(sys.argv[1]) == 6 else "NODEB_SERVER"]
s.settimeout(3)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
draw = random.Random(1)
sent = {}
for number in range(300):
    data = struct.pack("!I", number) + draw.randbytes(draw.randrange(1400))
    sent[number] = hashlib.sha256(data).digest()
    s.sendto(data, (server, 5000))
    time.sleep(0.003)
came = wrong = 0
try:
    while came < 300:
        data = s.recv(65536)
        number = struct.unpack("!I", data[:4])[0]
        wrong += hashlib.sha256(data).digest() != sent.pop(number)
        came += 1
except TimeoutError:
    pass
print(came, wrong)
"""
)


@pytest.mark.parametrize("version", [4, pytest.param(6, marks=pytest.mark.slow)])
def test_bytes_arrive_unchanged_and_simulated_users_share_the_cell(link, version, tmp_path):
    echo, out = UDP_SERVER, tmp_path / "out"
    if version == 6:
        echo = echo.replace("NODEB_SERVER", "NODEB_SERVER6").replace("AF_INET", "AF_INET6")
    more = ("--set", "wired.loss=0.05", "--out", out)
    done = nodeb(link, *PATIENT, *more, *server(echo), "--", *python(CHECKSUMS), str(version))
    assert done.returncode == 0, done.stderr
    came, wrong = map(int, done.stdout.split())
    assert wrong == 0
    about = json.loads((out / "provenance.json").read_text())["emulation"]
    up, down = about["phones"][0]["up"], about["phones"][0]["down"]
    assert up["offered_packets"] == 300
    lost = sum(way[key] for way in (up, down) for key in way if key.startswith("lost_"))
    assert lost == 300 - came > 0
    assert about["stray"] == about["malformed"] == about["unwritten"] == 0
    assert about["lateness"]["count"] == up["arrived_packets"] + down["arrived_packets"]
    flows = pq.read_table(out / "flows.parquet").to_pydict()
    assert flows["group"] == ["phone", "other", "other", "other"]
    assert [flows["app_bytes"][user] for user in (1, 2, 3)] == [20_000] * 3


@pytest.mark.slow
def test_late_deliveries_fail_the_run(link):
    """Every delivery is later than 1 ns."""
    done = nodeb(link, "--late", "1 ns", "--", *python(PROBE))
    assert (done.returncode, "100.00%" in done.stderr) == (1, True)


DRIVE = """
name = "a drive"
[wired]
rate = "1 Gbps"
delay = "5 ms"
[uplink]
delay = "0 s"
[radio.trace]
down.file = "down"
up.file = "up"
[[users]]
name = "phone"
traffic = "external"
"""
OPPORTUNITY, HEADER = 1504, 4
"""Bytes of an opportunity, and bytes of a packet in addition to those of IP."""


@pytest.mark.slow
def test_download_takes_the_time_of_the_trace(tmp_path):
    """150 kB take at least 104 opportunities, here 8 ms apart; a replay gives the same table."""
    (tmp_path / "down").write_text("".join(f"{ms}\n" for ms in range(8, 801, 8)))
    (tmp_path / "up").write_text("".join(f"{ms}\n" for ms in range(5, 501, 5)))
    file, out, log = tmp_path / "drive.toml", tmp_path / "out", tmp_path / "flight.log"
    file.write_text(DRIVE)
    options = (*PATIENT, "--out", out, "--record", log, *server(DOWNLOAD_SERVER))
    done = nodeb(file, *options, "--", *python(DOWNLOAD))
    assert done.returncode == 0, done.stderr
    got, took = done.stdout.split()
    assert int(got) == 150_000
    assert 0.103 * 8 < float(took) < 5 * 0.103 * 8
    table = pq.read_table(out / "opportunities.parquet").to_pydict()
    (phone,) = json.loads((out / "provenance.json").read_text())["emulation"]["phones"]
    assert table["way"] == ["down", "up"]
    for row, way in enumerate(table["way"]):
        assert table["used"][row] + table["wasted"][row] == table["offered"][row]
        assert table["offered_bytes"][row] == table["offered"][row] * OPPORTUNITY
        assert table["used_bytes"][row] + table["wasted_bytes"][row] == table["offered_bytes"][row]
        used = phone[way]["arrived_bytes"] + HEADER * phone[way]["arrived_packets"]
        left = phone[way]["offered_packets"] - phone[way]["arrived_packets"]
        assert used <= table["used_bytes"][row] <= used + OPPORTUNITY * left
    assert invoke(["replay", str(log), "--out", str(tmp_path / "again")]) == 0
    assert pq.read_table(tmp_path / "again" / "opportunities.parquet").to_pydict() == table


PINGS = 250
PING = (
    ECHO
    + """
import random
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(10)
draw = random.Random(1)
for number in range(int(sys.argv[1])):
    time.sleep(0.002 + 0.02 * draw.random())
    begun = time.monotonic()
    s.sendto(bytes(4), (server, 5000))
    s.recv(1000)
    print(time.monotonic() - begun)
"""
)


def round_trips(folder: Path, radio: str, count: int) -> list[float]:
    """Returns the round-trip times of 32 B packets in seconds, without those of the wires.

    Both ends run with real-time priority. Skips the test if the machine is too busy to measure.
    """
    file, out = folder / f"{radio[7:10]}.toml", folder / radio[7:10]
    file.write_text(
        '[wired]\nrate = "100 Mbps"\ndelay = "5 ms"\n[uplink]\nrate = "10 Mbps"\n'
        f'delay = "5 ms"\n{radio}\n[[users]]\nname = "phone"\ntraffic = "external"\n'
    )
    first = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))\n"
    command = (*server(first + UDP_SERVER), "--", *python(first + PING), str(count))
    done = nodeb(file, *PATIENT, "--out", out, *command)
    assert done.returncode == 0, done.stderr
    late = json.loads((out / "provenance.json").read_text())["emulation"]["lateness"]
    if late["p99_s"] > 0.0005:
        pytest.skip("the machine is too busy to measure times")
    wires = 0.015 + 8 * 32 * (1 / 10e6 + 2 / 100e6)
    return [float(word) - wires for word in done.stdout.split()]


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root goes before what else the machine does")
def test_delays_over_a_dch_follow_the_closed_form_distribution(tmp_path):
    """Delays over a DCH follow from the wait for a TTI and a retransmission probability of 0.3.

    A packet of 32 B is one PDU. Its wait for the next TTI of 10 ms is uniform. It is retransmitted
    99 ms later with a probability of 0.3, in the next TTI: the number of steps of 100 ms is
    geometric. The wake-up times of both hosts are those of a link without delay.
    """
    from scipy import stats

    waking = round_trips(tmp_path, '[radio.link]\nrate = "100 Gbps"\ndelay = "0 s"', 60)
    assert min(waking) > 0, "nothing is faster than the cell"
    beyond = [time - 0.010 for time in round_trips(tmp_path, "[radio.dch]\nbler = 0.3", PINGS)]
    assert len(beyond) == PINGS
    assert min(beyond) > 0, "nothing is faster than the cell"
    steps = [int(time // 0.1) for time in beyond]
    rest = [time - 0.1 * step for time, step in zip(beyond, steps, strict=True)]
    within = [time - statistics.median(waking) for time in rest]
    assert stats.kstest(within, stats.uniform(0, 0.010).cdf).pvalue > 1e-3
    repeated = sum(step > 0 for step in steps)
    assert stats.binomtest(repeated, PINGS, 0.3).pvalue > 1e-3
    again = sum(step > 1 for step in steps)
    assert stats.binomtest(again, repeated, 0.3).pvalue > 1e-3
