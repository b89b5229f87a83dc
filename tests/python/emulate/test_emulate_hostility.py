"""Tests: an emulation rejects invalid options and survives malformed packets."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from emulations import ECHO, PATIENT, nodeb, python, replay

pytestmark = pytest.mark.usefixtures("real_packets")

BAD = {
    "no real user": (
        ["--set", "users.0.traffic={ftp={size='1 kB'}}", "--", "true"],
        "no user of the scenario is real",
    ),
    "no such user": (["--as", "fone", "--", "true"], "no user `fone`; did you mean `phone`?"),
    "two commands": (["--phone", "phone: true", "--", "true"], "given 2 commands"),
    "no command": ([], "no phone has a command"),
    "no command of a phone": (["--phone", "phone:"], "expected a user and a command"),
    "odd duration": (["--duration", "soon", "--", "true"], "expected a time with a unit"),
    "odd mtu": (["--mtu", "12", "--", "true"], "greater than or equal to 1280"),
    "no place for a log": (["--record", "/no/such/log", "--", "true"], "cannot record to /no/such"),
    "no such server": (
        ["--server", "no-such-server", "--", "true"],
        "server cannot be started",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_reported(case, link):
    arguments, message = BAD[case]
    done = nodeb(link, *arguments)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert re.match(r"error: ", done.stderr)


FORBIDS = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-sys_admin "


def test_missing_permission_for_namespaces_is_reported(link):
    """If no user may create namespaces, the error message says so and names the sysctl to raise."""
    run = f"{FORBIDS} --inh-caps=-sys_admin {sys.executable} -m nodeb emulate {link} -- true"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", run],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    if "nodeb" not in done.stderr and done.returncode != 1:
        pytest.skip(done.stderr)
    assert done.returncode == 1
    assert done.stderr.startswith("error: a network namespace was refused (")
    assert "raise `sysctl user.max_user_namespaces`" in done.stderr


def test_suspend_makes_the_emulation_late(link):
    """The simulated cell stops while the machine is suspended. An emulation fails if the suspension
    takes longer than the limit of the lateness, even if no delivery was late.
    """
    from nodeb.emulate.session import Outcome

    lateness = {"limit_s": 0.002, "share_beyond": 0.0}

    def suspended(slept_s):
        report = {"lateness": lateness, "late_share": 0.01, "slept_s": slept_s}
        return Outcome(report, None, {"phone": 0}, {}, "command", False, 1.0).too_late

    assert suspended(0.001) is None
    assert suspended(7.0) == "the machine slept for 7.0 s, and the cell with it"


def test_offset_of_the_monotonic_clock_does_not_matter(link):
    """Packets are delivered in time although a time namespace shifts the zero of the monotonic
    clock.
    """
    if subprocess.run(["unshare", "-T", "true"], capture_output=True, check=False).returncode:
        pytest.skip("time namespaces are not for us here")
    ahead = ["unshare", "-T", "--monotonic", "9000", "--boottime", "9000", "--fork"]
    run = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--duration", "2 s"]
    done = subprocess.run(
        [*ahead, *map(str, run), "--", "sh", "-c", "ping -c 2 -i 0.2 10.64.0.1; sleep 60"],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 124, done.stderr
    assert "2 received" in done.stdout


def test_overload_drops_packets_and_keeps_memory_bounded(link, tmp_path):
    """Packets beyond the uplink rate are dropped by the queue of the scenario, and memory stays
    below 2 MiB.
    """
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
def test_arbitrary_bytes_are_rejected_or_carried(link, tmp_path):
    """The cell continues to work after random bytes, truncated headers, wrong lengths and packets
    that are too long.
    """
    out = tmp_path / "out"
    done = nodeb(link, *PATIENT, "--out", out, "--", *python(HOSTILE))
    assert done.returncode == 0, done.stderr
    about = json.loads((out / "provenance.json").read_text())["emulation"]
    assert about["malformed"] > 300
    assert about["too_long"] == 20
    up = about["phones"][0]["up"]
    taken = up["offered_packets"] + about["malformed"] + about["too_long"] + about["stray"]
    assert taken + about["phones"][0]["device"].get("dropped", 0) >= 620


def test_existing_files_are_not_overwritten_by_a_recording(link, tmp_path):
    """A recording never replaces a file, and leaves no file if the emulation cannot start."""
    log = tmp_path / "flight.log"
    assert nodeb(link, *PATIENT, "--record", log, "--", "true").returncode == 0
    before, scenario = log.read_bytes(), link.read_bytes()
    for there in (log, link):
        done = nodeb(link, *PATIENT, "--record", there, "--", "true")
        assert done.returncode == 2
        assert f"{there} exists, and a recording is never overwritten" in done.stderr
    assert (log.read_bytes(), link.read_bytes()) == (before, scenario)
    done = replay(log, "--pcap", log)
    assert "is there already and is not a capture" in done.stderr
    assert log.read_bytes() == before
    new = tmp_path / "new.log"
    assert nodeb(link, "--attach", f"server={link}", "--record", new, "--", "true").returncode == 1
    assert not new.exists()


def test_unrepeatable_results_are_replaced_only_on_request(link, tmp_path):
    out = tmp_path / "out"
    assert nodeb(link, *PATIENT, "--out", out, "--", "true").returncode == 0
    done = nodeb(link, *PATIENT, "--out", out, "--", "true")
    assert done.returncode == 2
    assert "an emulation cannot be repeated; --force replaces them" in done.stderr
    assert nodeb(link, *PATIENT, "--out", out, "--force", "--", "true").returncode == 0


def test_second_of_two_simultaneous_recordings_is_rejected(link, tmp_path):
    log = tmp_path / "one.log"
    command = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--record", log, "--"]
    both = [
        subprocess.Popen([*command, "sleep", "1"], stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    errors = {process.communicate(timeout=90)[1]: process.returncode for process in both}
    assert sorted(errors.values()) == [0, 2], errors
    (error,) = [text for text, status in errors.items() if status]
    assert f"{log} exists, and a recording is never overwritten" in error
    assert replay(log).returncode == 0


def test_folder_of_a_running_emulation_is_rejected(link, tmp_path):
    """A folder in which an emulation is writing cannot be used by a second emulation, even with
    --force.
    """
    out = tmp_path / "out"
    command = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--out", out, "--"]
    with subprocess.Popen(
        [*command, "sh", "-c", "echo up; read line"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        assert run.stdout.readline() == b"up\n"
        for more in ([], ["--force"]):
            done = nodeb(link, *PATIENT, "--out", out, *more, "--", "true")
            assert done.returncode == 2
            assert f"another nodeb is at work in {out}; wait for it" in done.stderr
        run.communicate(b"end\n", timeout=30)
    assert run.returncode == 0
    assert (out / "flows.parquet").exists()


def test_folder_of_a_killed_emulation_is_used_again(link, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--out", out, "--"]
    with subprocess.Popen(
        [*command, "sh", "-c", "echo up; sleep 60"], stdout=subprocess.PIPE
    ) as run:
        assert run.stdout.readline() == b"up\n"
        run.kill()
    assert nodeb(link, *PATIENT, "--out", out, "--", "true").returncode == 0
    assert (out / "flows.parquet").exists()


def test_unwritable_tables_and_a_truncated_recording_are_both_reported(link, tmp_path):
    """Both errors are printed. The answer is printed too, but it does not name the results folder,
    which has no tables.
    """
    out, log = tmp_path / "out", tmp_path / "small.log"
    spoil = f"ping -q -i 0.01 -c 200 10.64.0.1; rm -r '{out}'; echo mine > '{out}'"
    emulate = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--record", log]
    done = subprocess.run(
        ["prlimit", "--fsize=30000", *map(str, emulate), "--out", out, "--", "sh", "-c", spoil],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "a link: the link delivered 16.8 kB to phone" in done.stderr
    assert "The tables are in" not in done.stderr
    assert f"error: the recording {log} is incomplete: File too large" in done.stderr
    assert f"error: cannot write results to {out}" in done.stderr
    assert out.read_text() == "mine\n"


def test_terminated_emulation_fails(link):
    """SIGTERM makes the emulation fail, though its command handles the signal and exits with 0."""
    command = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--"]
    program = "trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done"
    with subprocess.Popen(
        [*command, "sh", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout.readline() == b"up\n"
        run.terminate()
        run.communicate(timeout=30)
    assert run.returncode == 128 + signal.SIGTERM


def test_full_disk_does_not_lose_results(link, tmp_path):
    """Results are printed and saved although the recording of an emulation or the capture of a
    replay cannot be written completely.

    The recording exceeds a limit on the size of files. The replay reads another recording, which is
    complete, and writes its capture to `/dev/full`.
    """
    out = tmp_path / "out"
    ping = ("ping", "-q", "-i", "0.01", "-c", "200", "10.64.0.1")
    whole = nodeb(link, *PATIENT, "--record", tmp_path / "whole.log", "--", *ping)
    assert whole.returncode == 0
    small, command = tmp_path / "small.log", [sys.executable, "-m", "nodeb", "emulate"]
    more = ["--record", small, "--out", out, "--", *ping]
    done = subprocess.run(
        ["prlimit", f"--fsize={30_000}", *map(str, [*command, link, *PATIENT, *more])],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 1
    assert "a link: the link delivered 16.8 kB to phone" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"error: the recording {small} is incomplete: File too large"), last
    assert (out / "flows.parquet").exists()
    assert small.stat().st_size <= 30_000 < (tmp_path / "whole.log").stat().st_size
    done = replay(tmp_path / "whole.log", "--pcap", "/dev/full", "--out", tmp_path / "again")
    assert done.returncode == 1
    assert "a link: the same: 400 packets arrived or were lost" in done.stdout
    assert "No space left on device" in done.stderr.splitlines()[-1]
    assert "Packets: " not in done.stdout
    assert (tmp_path / "again" / "flows.parquet").exists()
