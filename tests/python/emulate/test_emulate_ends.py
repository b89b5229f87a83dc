"""Tests of how emulations start and end: options, servers, signals, and what is left behind."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import time

import pytest

from emulations import (
    ECHO,
    PATIENT,
    PROBE,
    begun,
    gone,
    holders,
    long_time,
    nodeb,
    processes,
    python,
    server,
)

BAD = {
    "no real user": (["--set", "users.0.traffic={ftp={size='1 kB'}}", "--", "true"], "real"),
    "no such user": (["--as", "fone", "--", "true"], "`fone`; did you mean `phone`"),
    "two commands": (["--phone", "phone: true", "--", "true"], "2 commands"),
    "no command": ([], "command"),
    "no command of a phone": (["--phone", "phone:"], "--phone"),
    "odd duration": (["--duration", "soon", "--", "true"], "--duration"),
    "odd mtu": (["--mtu", "12", "--", "true"], "1280"),
    "no place for a log": (["--record", "/no/such/log", "--", "true"], "/no/such"),
    "no namespace": (["--attach", "server=nowhere", "--", "true"], "/run/netns/nowhere"),
    "no endpoint": (["--attach", "sever=x", "--", "true"], "`sever`; did you mean `server`"),
    "nat and attached": (["--nat", "--attach", "server=x", "--", "true"], "--attach"),
    "no nameserver": (["--nameserver", "nobody", "--", "true"], "--nameserver nobody"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_reported(case, link, call):
    arguments, place = BAD[case]
    status, out, err = call("emulate", link, *arguments)
    assert (status in (1, 2), out) == (True, "")
    assert err.startswith("error: ")
    assert place in err


REAL = """
[radio.link]
[[users]]
name = "a"
real = true
[[users]]
name = "fleet"
count = 2
real = true
[[users]]
name = "simulated"
traffic.ftp.size = "1 kB"
"""
REAL_BAD = {
    "one without a command": ["--", "true"],
    "too many": ["--phone", "fleet: true", *2 * ["--phone", "fleet: false"], "--", "true"],
    "two commands": ["--phone", "a: true", "--phone", "fleet: true", "--", "true"],
    "nobody": [],
    "idle": ["--set", "users.0.traffic.ftp.size=1 kB", "--", "true"],
}


@pytest.fixture
def real(tmp_path):
    file = tmp_path / "real.toml"
    file.write_text(REAL)
    return file


@pytest.mark.parametrize("case", REAL_BAD)
def test_mismatched_real_users_and_commands_are_rejected(case, real, call):
    status, out, err = call("emulate", real, *REAL_BAD[case])
    assert (status, out) == (2, "")
    assert re.search(r"`fleet`|`a`|no phone|users\.0\.traffic", err)


def test_run_rejects_real_users_and_validate_accepts_them(real, call):
    status, _, err = call("run", real)
    assert (status, "users.0.real: " in err) == (2, True)
    assert call("validate", real)[0] == 0


def test_machine_that_slept_is_late():
    from nodeb.emulate.session import Outcome

    lateness = {"limit_s": 0.002, "share_beyond": 0.0}

    def too_late(slept_s):
        report = {"lateness": lateness, "late_share": 0.01, "slept_s": slept_s}
        return Outcome(report, None, {"phone": 0}, {}, "command", False, 1.0).too_late

    assert too_late(0.001) is None
    assert "7.0 s" in too_late(7.0)


# --- Tests with real packets ---


@pytest.mark.usefixtures("real_packets")
def test_duration_stops_the_command(link):
    mark = f"sleep {long_time()}"
    done = nodeb(link, *PATIENT, "--duration", "1 s", "--", *mark.split())
    assert (done.returncode, "--duration" in done.stderr) == (124, True)
    assert gone(mark)


@pytest.mark.usefixtures("real_packets")
def test_real_phones_share_the_cell(real, tmp_path):
    """The command after `--` is the first phone's, and `fleet` has one for both phones."""
    probe = "import os; print(os.environ['NODEB_PHONE'])\n" + PROBE
    each = ("--phone", f"fleet: {shlex.join(python(probe))}", "--out", tmp_path / "out")
    done = nodeb(real, *PATIENT, *each, "--", *python(probe))
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"10\.64\.0\.(\d)", done.stdout)) == ["2", "3", "4"]
    assert done.stdout.count("reached") == 3
    exits = json.loads((tmp_path / "out/provenance.json").read_text())["emulation"]["exits"]
    assert exits == {"a": 0, "fleet 1": 0, "fleet 2": 0}


@pytest.mark.usefixtures("real_packets")
def test_server_that_fails_at_once_is_reported(link, tmp_path):
    log, failing = tmp_path / "flight.log", "sh -c 'exit 3'"
    done = nodeb(link, *PATIENT, "--record", log, "--server", failing, "--", "echo", "began")
    assert (done.returncode, done.stdout) == (1, "")
    assert "3" in done.stderr
    assert not log.exists()


ASTRAY = "(setsid {0} &); echo up; exec {0}"
"""Command with a grandchild that has left its session and lost its parent."""


def started(run):
    assert run.stdout.readline() == "up\n"


@pytest.mark.usefixtures("real_packets")
@pytest.mark.parametrize(
    "kill",
    [
        lambda run: os.killpg(run.pid, signal.SIGKILL),
        *(
            pytest.param(kill, marks=pytest.mark.slow)
            for kill in (
                lambda run: run.kill(),
                lambda run: run.terminate(),
                lambda run: os.killpg(run.pid, signal.SIGTERM),
                lambda run: (os.killpg(run.pid, signal.SIGSTOP), run.kill()),
                lambda run: os.kill(holders(run.pid)[0], signal.SIGKILL),
                lambda run: os.kill(holders(run.pid)[-1], signal.SIGKILL),
            )
        ),
    ],
    ids=["group killed", "killed", "ended", "group ended", "stopped", "holder", "last holder"],
)
def test_killed_emulation_leaves_no_process(link, kill):
    mark = f"sleep {long_time()}"
    with begun(link, *PATIENT, "--server", mark, "--", "sh", "-c", ASTRAY.format(mark)) as run:
        started(run)
        kept = holders(run.pid)
        kill(run)
        _, err = run.communicate(timeout=30)
        assert "Traceback" not in err
    assert kept
    assert gone(mark, *kept)


@pytest.mark.usefixtures("real_packets")
@pytest.mark.parametrize(
    ("send", "after_s"),
    [
        (os.killpg, 0.0),
        *(
            pytest.param(send, after_s, marks=pytest.mark.slow)
            for send in (os.killpg, os.kill)
            for after_s in (0.1, 1.0)
        ),
    ],
)
def test_interrupt_during_start_ends_the_emulation(link, tmp_path, send, after_s):
    """The start lasts 5 s, because the server never listens."""
    mark, log = f"sleep {long_time()}", tmp_path / "flight.log"
    with begun(link, *PATIENT, "--record", log, "--server", mark, "--", "echo", "began") as run:
        until = time.monotonic() + 60
        while not any(pid != run.pid for pid in processes(mark)):
            assert time.monotonic() < until
            time.sleep(0.02)
        time.sleep(after_s)
        send(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=30)
    assert (run.returncode, out, len(err.splitlines())) == (130, "", 1)
    assert gone(mark)
    assert not log.exists(), "what was recorded is of an emulation that has not begun"


@pytest.mark.slow
@pytest.mark.usefixtures("real_packets")
@pytest.mark.parametrize(
    ("handler", "status"), [("lambda *_: sys.exit(42)", 42), ("lambda *_: print('had')", 0)]
)
def test_command_handles_ctrl_c(link, handler, status):
    program = f"import signal, sys, time\nsignal.signal(2, {handler})\n"
    program += "print('up', flush=True)\ntime.sleep(2)"
    with begun(link, *PATIENT, "--", *python(program)) as run:
        started(run)
        os.killpg(run.pid, signal.SIGINT)
        run.communicate(timeout=30)
    assert run.returncode == status


@pytest.mark.slow
@pytest.mark.usefixtures("real_packets")
@pytest.mark.parametrize(
    ("command", "status"),
    [(["sh", "-c", "kill -15 $$"], 128 + 15), (["no-such-command"], 127), (["/etc/hostname"], 126)],
)
def test_exit_status_is_that_of_shells(link, command, status):
    assert nodeb(link, *PATIENT, "--", *command).returncode == status


@pytest.mark.slow
@pytest.mark.usefixtures("real_packets")
@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("", 0),
        ("s = socket.create_server((server, 9)); s.accept(); sys.exit(5)", 0),
        ("time.sleep(1); socket.create_server((server, 9)).accept()", 0),
    ],
    ids=["without listening", "later", "listening late"],
)
def test_command_runs_whatever_its_server_does(link, program, status):
    done = nodeb(link, *PATIENT, *server(ECHO + program), "--", *python(PROBE + "time.sleep(1)"))
    assert (done.returncode, "reached" in done.stdout) == (status, True), done.stderr


@pytest.mark.slow
@pytest.mark.needs("setpriv", "unshare")
@pytest.mark.usefixtures("real_packets")
@pytest.mark.skipif(os.geteuid() != 0, reason="others are without these rights anyway")
def test_emulation_works_without_root(link, tmp_path):
    """Without root, a user namespace gives the rights, and the command keeps its identity."""
    drop = "-sys_admin,-net_admin,-net_raw,-sys_nice"
    without = ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"]
    program = PROBE + "print(os.geteuid())"
    done = nodeb(link, *PATIENT, "--", *python(program), before=without)
    if "a user namespace" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout.split()[-1]) == (0, "0"), done.stderr
    as_another = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--net"]
    done = nodeb(link, "--nat", "--", "true", before=as_another)
    assert (done.returncode, "sysctl" in done.stderr) == (1, False), "it would not help there"


@pytest.mark.slow
@pytest.mark.needs("unshare", "nsenter")
@pytest.mark.usefixtures("real_packets")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root enters the namespaces of others")
def test_ends_can_join_existing_namespaces(link):
    """nodeb's device in the joined namespace exists only during the emulation."""
    import subprocess

    holder = ["unshare", "-n", *python("import time; print('up', flush=True); time.sleep(60)")]
    with subprocess.Popen(holder, stdout=subprocess.PIPE, text=True) as other:
        try:
            started(other)
            net = f"/proc/{other.pid}/ns/net"
            look = ["nsenter", f"--net={net}", "cat", "/proc/self/net/dev"]
            program = f"{PROBE}\nimport subprocess; subprocess.run({look})"
            done = nodeb(link, *PATIENT, "--attach", f"server={net}", "--", *python(program))
            assert done.returncode == 0, done.stderr
            assert "reached" in done.stdout
            assert "nodeb0" in done.stdout
            assert b"nodeb0" not in subprocess.run(look, capture_output=True, check=True).stdout
        finally:
            other.kill()


HOSTILE = (
    PROBE
    + """
import fcntl, random
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
SIOCSIFMTU = 0x8922
fcntl.ioctl(s, SIOCSIFMTU, struct.pack("16si12x", b"nodeb1", 9000))
giant = b"\\x45\\x00\\x13\\x88" + bytes(12) + bytes([10, 64, 0, 1]) + bytes(4980)
for number in range(20):
    s.send(giant)
print("after", probe())
"""
)


@pytest.mark.slow
@pytest.mark.usefixtures("real_packets")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes packets of any kind")
def test_arbitrary_bytes_are_rejected_or_carried(link, tmp_path):
    done = nodeb(link, *PATIENT, "--out", tmp_path / "out", "--", *python(HOSTILE))
    assert (done.returncode, "after 0." in done.stdout) == (0, True), done.stderr
    about = json.loads((tmp_path / "out/provenance.json").read_text())["emulation"]
    assert about["malformed"] > 300
    assert about["too_long"] == 20
    up = about["phones"][0]["up"]
    taken = up["offered_packets"] + about["malformed"] + about["too_long"] + about["stray"]
    assert taken + about["phones"][0]["device"].get("dropped", 0) >= 620


@pytest.mark.slow
@pytest.mark.usefixtures("real_packets")
def test_overload_drops_packets_and_keeps_memory_bounded(link, tmp_path):
    flood = (
        ECHO + "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nuntil = time.monotonic() + 2"
    )
    flood += "\nwhile time.monotonic() < until:\n    s.sendto(bytes(1000), (server, 9))\n"
    flood += "    time.sleep(0.0001)"
    more = ("--set", "uplink.rate=1 Mbps", "--set", "uplink.queue.drop_tail.limit=50")
    done = nodeb(link, *PATIENT, *more, "--out", tmp_path / "out", "--", *python(flood))
    assert done.returncode == 0, done.stderr
    about = json.loads((tmp_path / "out/provenance.json").read_text())["emulation"]
    up = about["phones"][0]["up"]
    assert up["offered_packets"] > 1000
    assert up["lost_overflow"] > 0.5 * up["offered_packets"]
    assert up["arrived_bytes"] * 8 <= 1e6 * (about["lasted_s"] + 0.1)
    assert about["memory_bytes"] < 2 << 20


@pytest.mark.slow
@pytest.mark.usefixtures("real_packets")
def test_second_emulation_of_one_folder_or_recording_is_rejected(link, tmp_path):
    places = ("--out", tmp_path / "out", "--record", tmp_path / "log")
    with begun(link, *PATIENT, *places, "--", "sh", "-c", "echo up; exec sleep 60") as run:
        started(run)
        for more in (places[:2], (*places[:2], "--force"), places[2:]):
            done = nodeb(link, *PATIENT, *more, "--", "true")
            assert (done.returncode, str(more[1]) in done.stderr) == (2, True)
        os.killpg(run.pid, signal.SIGTERM)
        run.communicate(timeout=30)
    assert processes(str(tmp_path)) == []


@pytest.mark.slow
@pytest.mark.needs("prlimit")
@pytest.mark.usefixtures("real_packets")
def test_full_disk_does_not_lose_results(link, tmp_path):
    """Results are printed and saved although the recording exceeds a limit on sizes of files."""
    log = tmp_path / "small.log"
    arguments = (link, *PATIENT, "--record", log, "--out", tmp_path / "out")
    limit = ["prlimit", "--fsize=30000"]
    done = nodeb(*arguments, "--", *python(PROBE), "300", before=limit)
    assert done.returncode == 1
    assert "a link: " in done.stderr
    assert str(log) in done.stderr.splitlines()[-1]
    assert (tmp_path / "out" / "flows.parquet").exists()
