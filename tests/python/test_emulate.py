"""Real packets through the cell, in network namespaces that each test has for itself."""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

LINK = """
name = "a link"
[wired]
rate = "100 Mbps"
delay = "10 ms"
[uplink]
rate = "100 Mbps"
delay = "5 ms"
[radio.link]
rate = "2 Mbps"
delay = "15 ms"
[[users]]
name = "phone"
traffic = "external"
[[users]]
name = "other"
count = 3
traffic = { ftp = { size = "20 kB" } }
"""
PATIENT = ("--late", "10 s")
"""For tests of anything but time: the machine may be loaded."""
MARK = "nodeb.emulate.host"
"""What is in the command line of a process that holds a namespace."""


def nodeb(*arguments, **options):
    """The result of `nodeb emulate`."""
    return subprocess.run(
        [sys.executable, "-m", "nodeb", "emulate", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        **options,
    )


@cache
def forbidden() -> str:
    """Why this machine does not let real packets through; empty if it does."""
    if not sys.platform.startswith("linux"):
        return "only Linux has network namespaces"
    from nodeb.emulate.check import allowed

    return allowed() or ""


@pytest.fixture(autouse=True)
def _allowed():
    if why := forbidden():
        pytest.skip(f"real packets are not let through here: {why}")


@pytest.fixture
def link(tmp_path):
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    return file


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def processes(text: str) -> list[str]:
    """Command lines of all processes that have a text in them."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if text in line:
                found.append(line)
    return found


def gone(text: str) -> bool:
    """Whether the processes that have a text in their command line end soon."""
    until = time.monotonic() + 10
    while processes(text):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


ECHO = """
import os, socket, struct, sys, time
server = os.environ["NODEB_SERVER"]
"""

UDP_SERVER = (
    ECHO
    + """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((server, 5000))
while True:
    data, who = s.recvfrom(65536)
    s.sendto(data, who)
"""
)

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


def test_delay_is_that_of_the_closed_form(link):
    """128 B of IP: 10 us on each 100 Mb/s link, 512 us at 2 Mb/s, 40 ms of propagation."""
    server = f"{sys.executable} -c '{UDP_SERVER}'"
    done = nodeb(link, *PATIENT, "--server", server, "--", *python(UDP_ECHOES))
    assert done.returncode == 0, done.stderr
    times = [float(word) for word in done.stdout.split()]
    wanted = 0.040 + 8 * 128 * (3 / 100e6 + 1 / 2e6)
    assert len(times) == 40
    assert min(times) > wanted, "nothing is faster than the cell"
    assert statistics.median(times) < wanted + 0.010


DOWNLOAD_SERVER = (
    ECHO
    + """
s = socket.create_server((server, 5001))
while True:
    c, _ = s.accept()
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    c.sendall(bytes(int(c.recv(100))))
    c.close()
"""
)

DOWNLOAD = (
    ECHO
    + """
begun = time.monotonic()
c = socket.create_connection((server, 5001))
c.sendall(b"150000")
got = 0
while part := c.recv(65536):
    got += len(part)
print(got, time.monotonic() - begun)
"""
)

RADIOS = {
    "dch": "[radio.dch]\nbler = 0.1\n",
    "hs_dsch": "[radio.hs_dsch]\nchannels = 5\nbler = 0.1\n",
}


@pytest.mark.parametrize("radio", RADIOS)
def test_a_download_takes_as_long_as_simulated(radio, tmp_path):
    text = (
        f'name = "{radio}"\ntcp.linux.control = "reno"\n[wired]\nrate = "10 Mbps"\n'
        f'delay = "50 ms"\n[uplink]\nrate = "384 kbps"\n'
        f'delay = "20 ms"\n{RADIOS[radio]}[[users]]\nname = "phone"\n'
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

    simulated = load(file).run(runs=5).flows["download_s"].mean()
    # Loosely, as the machine may be loaded; benches/emulate.py has the figures.
    assert 0.9 * simulated < float(took) < 1.25 * simulated + 0.2


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
def test_bytes_come_out_as_they_went_in(link, version, tmp_path):
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


def test_simulated_users_live_beside_the_real_one(link, tmp_path):
    out = tmp_path / "out"
    done = nodeb(link, *PATIENT, "--out", out, "--", "sleep", "3")
    assert done.returncode == 0, done.stderr
    import pyarrow.parquet

    flows = pyarrow.parquet.read_table(out / "flows.parquet").to_pydict()
    assert flows["group"] == ["phone", "other", "other", "other"]
    assert [flows["app_bytes"][user] for user in (1, 2, 3)] == [20_000] * 3


def test_exit_status_streams_and_environment_are_the_commands(link):
    program = "read line; echo $line $NODEB_PHONE $HERE; echo told >&2; exit 7"
    environment = {**os.environ, "HERE": "there"}
    done = nodeb(link, *PATIENT, "--", "sh", "-c", program, input="hello\n", env=environment)
    assert done.returncode == 7
    assert done.stdout == "hello 10.64.0.2 there\n"
    assert "told" in done.stderr


def test_the_command_keeps_identity_and_files(link, tmp_path):
    program = f"id -u; echo mine > {tmp_path}/file"
    done = nodeb(link, *PATIENT, "--", "sh", "-c", program)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == os.geteuid()
    assert (tmp_path / "file").stat().st_uid == os.geteuid()


def test_a_command_ended_by_a_signal_is_told_as_shells_do(link):
    assert nodeb(link, *PATIENT, "--", "sh", "-c", "kill -15 $$").returncode == 128 + 15


@pytest.mark.parametrize(("command", "status"), [("no-such-command", 127), ("/etc/hostname", 126)])
def test_a_command_that_cannot_be_started(link, command, status):
    done = nodeb(link, *PATIENT, "--", command)
    assert done.returncode == status
    assert "the command of `phone` cannot be started" in done.stderr


def test_a_duration_that_ends_before_the_command_stops_it(link):
    mark = "sleep 300.125"
    begun = time.monotonic()
    done = nodeb(link, *PATIENT, "--duration", "1 s", "--", *mark.split())
    assert done.returncode == 124
    assert "1 s were over before the command had ended" in done.stderr
    assert time.monotonic() - begun < 30
    assert gone(mark)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_after_a_signal(link, number, tmp_path):
    """Neither process nor namespace, though the command has children that went their own way."""
    started = tmp_path / "started"
    program = f"setsid sleep 300.25 & sleep 300.5 & touch {started}; wait"
    command = [sys.executable, "-m", "nodeb", "emulate", link, "--server", "sleep 300.75"]
    with subprocess.Popen([*command, "--", "sh", "-c", program], stderr=subprocess.PIPE) as run:
        until = time.monotonic() + 30
        while not started.exists():
            assert run.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        assert len(processes("sleep 300.")) >= 3
        run.send_signal(number)
        run.wait(20)
    assert gone("sleep 300.")
    assert gone(f"{link.parent}")


def test_ctrl_c_is_the_commands(link):
    """The command decides what Ctrl-C means, here an exit status of its own."""
    program = (
        "import signal, sys, time\nsignal.signal(2, lambda *_: sys.exit(42))\n"
        "print('up', flush=True)\ntime.sleep(60)"
    )
    command = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--", *python(program)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as run:
        assert run.stdout.readline() == b"up\n"
        os.killpg(run.pid, signal.SIGINT)
        run.communicate(timeout=30)
    assert run.returncode == 42


def test_a_flood_beyond_the_rate_is_bounded(link, tmp_path):
    """More than the uplink takes is dropped as the scenario says, and memory is bounded."""
    flood = (
        ECHO
        + """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
until = time.monotonic() + 2
while time.monotonic() < until:
    s.sendto(bytes(1000), (server, 9))
    time.sleep(0.0001)
"""
    )
    out = tmp_path / "out"
    more = ("--set", "uplink.rate=1 Mbps", "--set", "uplink.queue.drop_tail.limit=50")
    done = nodeb(link, *PATIENT, *more, "--out", out, "--", *python(flood))
    assert done.returncode == 0, done.stderr
    about = json.loads((out / "provenance.json").read_text())["emulation"]
    up = about["phones"][0]["up"]
    assert up["offered_packets"] > 1000
    assert up["lost_overflow"] > 0.5 * up["offered_packets"]
    assert up["arrived_bytes"] * 8 <= 1e6 * (about["lasted_s"] + 0.1)
    assert about["memory_bytes"] < 2 << 20


def test_two_real_phones(link):
    """Each with its own address, and the second sees the first only through the server."""
    address = "ip=$NODEB_PHONE; echo $ip; ping -c 1 -W 5 10.64.0.1 > /dev/null && echo reached"
    done = nodeb(link, *PATIENT, "--phone", f"other: sh -c '{address}'", "--", "sh", "-c", address)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["10.64.0.2", "10.64.0.3", "reached", "reached"]


BAD = {
    "no real user": (
        ["--set", "users.0.traffic={ftp={size='1 kB'}}", "--", "true"],
        "no user of the scenario is real",
    ),
    "no such user": (["--as", "fone", "--", "true"], "no user `fone`; did you mean `phone`?"),
    "two commands": (["--phone", "phone: true", "--", "true"], "two commands"),
    "no command": ([], "nothing runs as a phone"),
    "no command of a phone": (["--phone", "phone:"], "expected a user and a command"),
    "odd duration": (["--duration", "soon", "--", "true"], "expected a time with a unit"),
    "odd mtu": (["--mtu", "12", "--", "true"], "expected 1280"),
    "no place for a log": (["--record", "/no/such/log", "--", "true"], "cannot record to /no/such"),
    "no such server": (
        ["--server", "no-such-server", "--", "true"],
        "server cannot be started",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told(case, link):
    arguments, message = BAD[case]
    done = nodeb(link, *arguments)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert re.match(r"error: ", done.stderr)


def test_late_deliveries_fail_the_run(link):
    """Nothing is delivered within a nanosecond."""
    ping = ("ping", "-c", "2", "-i", "0.2", "10.64.0.1")
    done = nodeb(link, "--late", "1 ns", "--", *ping)
    assert done.returncode == 1
    assert "not true to time: 100.00% of the deliveries were more than 1e-06 ms late" in done.stderr


def test_a_recorded_flight_is_flown_again_to_the_nanosecond(tmp_path):
    """The same packets, in the same order, at the same times, and the same tables of everybody."""
    file = tmp_path / "cell.toml"
    file.write_text(
        '[wired]\nloss = 0.01\n[radio.hsdpa]\n[[users]]\nname = "phone"\n'
        'traffic = "external"\n[[users]]\nname = "others"\ncount = 4\ntraffic.ftp.size = "1 MB"\n'
    )
    log, out, again = tmp_path / "flight.log", tmp_path / "out", tmp_path / "again"
    server = f"{sys.executable} -c '{DOWNLOAD_SERVER}'"
    options = (*PATIENT, "--record", log, "--out", out, "--server", server)
    done = nodeb(file, *options, "--", *python(DOWNLOAD))
    assert done.returncode == 0, done.stderr
    flown = replay(log, "--out", again)
    assert flown.returncode == 0, flown.stderr
    emulated = json.loads((out / "provenance.json").read_text())["emulation"]
    replayed = json.loads((again / "provenance.json").read_text())["replay"]
    (phone,) = emulated["phones"]
    counted = sum(
        phone[way]["arrived_packets"] + sum(phone[way][key] for key in phone[way] if "lost_" in key)
        for way in ("down", "up")
    )
    assert replayed["same"] == counted > 100
    for way in ("down", "up"):
        assert replayed["phones"][0][way] == phone[way]
    for table in ("flows", "bearers", "links"):
        assert rows_of(out / f"{table}.parquet") == rows_of(again / f"{table}.parquet")


def rows_of(file: Path) -> str:
    """All values of a table as text, so that what is no number is equal to itself."""
    import pyarrow.parquet

    return repr(pyarrow.parquet.read_table(file).to_pydict())


def replay(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "nodeb", "replay", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root enters the namespaces of others")
def test_ends_in_namespaces_that_are_there(link):
    """The device comes and goes; what runs there meets the cell."""
    holder = "import time; print('up', flush=True); time.sleep(60)"
    with subprocess.Popen(
        ["unshare", "-n", *python(holder)], stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout.readline() == "up\n"
            place = f"server=/proc/{other.pid}/ns/net"
            look = f"nsenter --net=/proc/{other.pid}/ns/net cat /proc/self/net/dev"
            command = f"ping -c 1 -W 5 10.64.0.1 > /dev/null && {look}"
            done = nodeb(link, *PATIENT, "--attach", place, "--", "sh", "-c", command)
            assert done.returncode == 0, done.stderr
            assert "nodeb0" in done.stdout
            left = subprocess.run(look.split(), capture_output=True, text=True, check=True).stdout
            assert "nodeb0" not in left
        finally:
            other.kill()
    done = nodeb(link, "--attach", "server=no-such-namespace", "--", "true")
    assert done.returncode == 1
    assert "a namespace that is there was refused (no such file or directory)" in done.stderr
    done = nodeb(link, "--attach", "sever=x", "--", "true")
    assert done.returncode == 2
    assert "no end `sever`; did you mean `server`?" in done.stderr


def test_logs_that_are_cut_off_damaged_or_none(link, tmp_path):
    log = tmp_path / "flight.log"
    ping = ("ping", "-c", "10", "-i", "0.1", "10.64.0.1")
    assert nodeb(link, *PATIENT, "--record", log, "--", *ping).returncode == 0
    whole = log.read_bytes()
    cut, damaged = tmp_path / "cut.log", tmp_path / "damaged.log"
    cut.write_bytes(whole[:-100])
    done = replay(cut)
    assert (done.returncode, "the log was cut off" in done.stderr) == (0, True)
    # The last record is the end; another time before it is a packet that the flight does not know.
    late = bytearray(whole)
    late[-9 - 26 + 9] ^= 1
    damaged.write_bytes(late)
    done = replay(damaged)
    assert done.returncode == 1
    assert "not the same: in the flight packet" in done.stderr
    for text in (b"", b"nodeb", whole[:100], b"nodeb flight 1\r\n\x02\0\0\0{}"):
        damaged.write_bytes(text)
        done = replay(damaged)
        assert done.returncode == 2, done.stderr
        assert re.match(r"error: .*damaged.log", done.stderr)


@pytest.mark.skipif(os.geteuid() != 0, reason="others are without these rights anyway")
def test_without_the_rights_of_root(link):
    """A user namespace has them, and one's own identity in it; ping is allowed."""
    drop = "-sys_admin,-net_admin,-net_raw,-sys_nice"
    without = ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"]
    ping = "ping -c 2 -i 0.2 10.64.0.1 > /dev/null && ping -c 1 $NODEB_SERVER6 > /dev/null && id -u"
    run = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--", "sh", "-c", ping]
    done = subprocess.run(
        [*without, *map(str, run)], capture_output=True, text=True, timeout=90, check=False
    )
    if "a user namespace" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert "SCHED_FIFO was refused" in done.stderr


def _read(terminal: int) -> bytes:
    """What was shown on a terminal; nothing when the last that wrote there has gone."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_a_terminal_is_told_how_it_stands(link):
    """On a line of its own that is taken away; off a terminal there is none."""
    import pty

    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--", "sleep", "3"]
    with subprocess.Popen(command, stderr=terminal) as run:
        os.close(terminal)
        text = b"".join(iter(lambda: _read(main), b""))
        run.wait(30)
    os.close(main)
    assert re.search(rb"\r\x1b\[K\d+ s  down \S+ \S+  up ", text)
    assert text.count(b"\r\x1b[K") >= 2
    assert "\x1b" not in nodeb(link, *PATIENT, "--", "sleep", "2").stderr


HOSTILE = (
    ECHO
    + """
import random, subprocess
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("nodeb1", 0x0800))
draw = random.Random(1)
whole = b"\\x45\\x00\\x00\\x64" + bytes(12) + bytes([10, 64, 0, 1]) + bytes(80)
for number in range(600):
    kind = number % 3
    if kind == 0:
        data = draw.randbytes(draw.randrange(1, 1400))
    elif kind == 1:
        data = whole[:draw.randrange(1, 99)]
    else:
        data = bytearray(whole)
        data[draw.randrange(4)] ^= 1 << draw.randrange(8)
    s.send(bytes(data))
    time.sleep(0.0005)
subprocess.run("ip link set nodeb1 mtu 9000".split(), check=True)
giant = b"\\x45\\x00\\x13\\x88" + bytes(12) + bytes([10, 64, 0, 1]) + bytes(4980)
for number in range(20):
    s.send(giant)
sys.exit(subprocess.call("ping -c 2 -i 0.2 -W 5 10.64.0.1".split(), stdout=subprocess.DEVNULL))
"""
)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes packets of any kind")
def test_whatever_a_device_is_given_is_refused_or_carried(link, tmp_path):
    """Random bytes, truncated headers, wrong lengths, giants; and the cell works afterwards."""
    out = tmp_path / "out"
    done = nodeb(link, *PATIENT, "--out", out, "--", *python(HOSTILE))
    assert done.returncode == 0, done.stderr
    about = json.loads((out / "provenance.json").read_text())["emulation"]
    assert about["malformed"] > 300
    assert about["too_long"] == 20
    up = about["phones"][0]["up"]
    taken = up["offered_packets"] + about["malformed"] + about["too_long"] + about["stray"]
    assert taken + about["phones"][0]["device"].get("dropped", 0) >= 620


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
    """Round trips of packets of 32 B beyond 15 ms and their time on the wires.

    Both ends go before all else. Skips where the machine is too busy for times to mean anything.
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
def test_delays_over_a_dch_are_distributed_as_the_closed_form_says(tmp_path):
    """A packet of 32 B is one PDU: it waits for the next TTI of 10 ms, which is uniform.

    With a probability of 0.3 each it is repeated 99 ms later, in the next TTI: steps of 100 ms,
    geometric. What both hosts take to wake up is known from a link without delay.
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
