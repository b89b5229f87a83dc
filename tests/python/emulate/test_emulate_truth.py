"""Tests: delays, contents and losses of real packets agree with the scenario."""

from __future__ import annotations

import json
import os
import statistics
import sys
from pathlib import Path

import pytest

from emulations import DOWNLOAD, DOWNLOAD_SERVER, ECHO, PATIENT, UDP_SERVER, nodeb, python

pytestmark = pytest.mark.usefixtures("real_packets")

UDP_ECHOES = (
    ECHO
    + """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
times = []
for number in range(40):
    begun = time.monotonic()
    s.sendto(bytes(100), (server, 5000))
    s.recv(1000)
    times.append(time.monotonic() - begun)
print(*times)
"""
)


def test_delay_matches_the_closed_form(link):
    """The round-trip time of 128 B is at least 40 ms of propagation plus the transmission times, 10
    us on each 100 Mb/s link and 512 us at 2 Mb/s.
    """
    server = f"{sys.executable} -c '{UDP_SERVER}'"
    done = nodeb(link, *PATIENT, "--server", server, "--", *python(UDP_ECHOES))
    assert done.returncode == 0, done.stderr
    times = [float(word) for word in done.stdout.split()]
    wanted = 0.040 + 8 * 128 * (3 / 100e6 + 1 / 2e6)
    assert len(times) == 40
    assert min(times) > wanted, "nothing is faster than the cell"
    # A quarter of the packets must be in time, because other programs may delay the rest. Accuracy
    # is measured by benches/emulate.py.
    assert sorted(times)[len(times) // 4] < wanted + 0.010


UPLINK = '[uplink]\nrate = "384 kbps"\ndelay = "20 ms"\n'

RADIOS = {
    "dch": UPLINK + "[radio.dch]\nbler = 0.1\n",
    "hs_dsch": UPLINK + "[radio.hs_dsch]\nchannels = 5\nbler = 0.1\n",
    "lte": "[radio.lte]\nuplink.scheduled = {}\n",
}


@pytest.mark.parametrize("radio", RADIOS)
def test_download_takes_as_long_as_simulated(radio, tmp_path):
    text = (
        f'name = "{radio}"\ntcp.linux.control = "reno"\n[wired]\nrate = "10 Mbps"\n'
        f'delay = "50 ms"\n{RADIOS[radio]}[[users]]\nname = "phone"\n'
        'traffic.ftp.size = "150 kB"\n'
    )
    file = tmp_path / "cell.toml"
    file.write_text(text)
    server = f"{sys.executable} -c '{DOWNLOAD_SERVER}'"
    done = nodeb(file, *PATIENT, "--as", "phone", "--server", server, "--", *python(DOWNLOAD))
    assert done.returncode == 0, done.stderr
    got, took = done.stdout.split()
    assert int(got) == 150_000
    from nodeb import load

    simulated = load(file).run(runs=20).flows["download_s"]
    # A download is one of many possible ones. The limits are wide, because other programs may load
    # the machine. Accuracy is measured by benches/emulate.py.
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


@pytest.mark.parametrize("version", [4, 6])
def test_bytes_arrive_unchanged(link, version, tmp_path):
    address = "NODEB_SERVER6" if version == 6 else "NODEB_SERVER"
    family = "AF_INET6" if version == 6 else "AF_INET"
    server = UDP_SERVER.replace("NODEB_SERVER", address).replace("AF_INET", family)
    server = f"{sys.executable} -c '{server}'"
    out = tmp_path / "out"
    command = [*python(CHECKSUMS), str(version)]
    more = ("--set", "wired.loss=0.05", "--out", out)
    done = nodeb(link, *PATIENT, *more, "--server", server, "--", *command)
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


def test_simulated_users_share_the_cell_with_the_real_one(link, tmp_path):
    out = tmp_path / "out"
    done = nodeb(link, *PATIENT, "--out", out, "--", "sleep", "3")
    assert done.returncode == 0, done.stderr
    import pyarrow.parquet

    flows = pyarrow.parquet.read_table(out / "flows.parquet").to_pydict()
    assert flows["group"] == ["phone", "other", "other", "other"]
    assert [flows["app_bytes"][user] for user in (1, 2, 3)] == [20_000] * 3


def test_late_deliveries_fail_the_run(link):
    """The emulation fails if deliveries are later than the limit, here 1 ns, which every delivery
    exceeds.
    """
    ping = ("ping", "-c", "2", "-i", "0.2", "10.64.0.1")
    done = nodeb(link, "--late", "1 ns", "--", *ping)
    assert done.returncode == 1
    assert "inaccurate timing: 100.00% of the deliveries were more than 1e-06 ms" in done.stderr


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
    """Returns the round-trip times of 32 B packets in seconds, minus the propagation and
    transmission times of the wires.

    Both ends run with real-time priority. Skips the test if the machine is too busy to measure
    times.
    """
    file, out = folder / f"{radio[7:10]}.toml", folder / radio[7:10]
    file.write_text(
        '[wired]\nrate = "100 Mbps"\ndelay = "5 ms"\n[uplink]\nrate = "10 Mbps"\n'
        f'delay = "5 ms"\n{radio}\n[[users]]\nname = "phone"\ntraffic = "external"\n'
    )
    server = f"chrt -f 5 {sys.executable} -c '{UDP_SERVER}'"
    command = ("chrt", "-f", "5", *python(PING), str(count))
    done = nodeb(file, *PATIENT, "--out", out, "--server", server, "--", *command)
    assert done.returncode == 0, done.stderr
    late = json.loads((out / "provenance.json").read_text())["emulation"]["lateness"]
    if late["p99_s"] > 0.0005:
        pytest.skip(f"the machine is too busy: 1 % were more than {late['p99_s']} s late")
    wires = 0.015 + 8 * 32 * (1 / 10e6 + 2 / 100e6)
    return [float(word) - wires for word in done.stdout.split()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root goes before what else the machine does")
def test_delays_over_a_dch_follow_the_closed_form_distribution(tmp_path):
    """Delays over a DCH follow from the wait for a TTI and a retransmission probability of 0.3.

    A packet of 32 B is one PDU. The packet's wait for the next TTI of 10 ms is uniform. It is
    retransmitted 99 ms later with a probability of 0.3, in the next TTI: the number of steps of
    100 ms is geometric. The wake-up times of both hosts are known from a link without delay.
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
