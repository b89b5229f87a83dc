"""Tests of the commands of an emulation: their streams, identity, signals and end."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest

from emulations import PATIENT, gone, long_time, nodeb, processes, python

pytestmark = pytest.mark.usefixtures("real_packets")


def test_exit_status_streams_and_environment_belong_to_the_command(link):
    program = "read line; echo $line $NODEB_PHONE $HERE; echo told >&2; exit 7"
    environment = {**os.environ, "HERE": "there"}
    done = nodeb(link, *PATIENT, "--", "sh", "-c", program, input="hello\n", env=environment)
    assert done.returncode == 7
    assert done.stdout == "hello 10.64.0.2 there\n"
    assert "told" in done.stderr


def test_command_keeps_user_and_files(link, tmp_path):
    program = f"id -u; echo mine > {tmp_path}/file"
    done = nodeb(link, *PATIENT, "--", "sh", "-c", program)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == os.geteuid()
    assert (tmp_path / "file").stat().st_uid == os.geteuid()


def test_command_ended_by_a_signal_gives_the_status_of_shells(link):
    assert nodeb(link, *PATIENT, "--", "sh", "-c", "kill -15 $$").returncode == 128 + 15


@pytest.mark.parametrize(("command", "status"), [("no-such-command", 127), ("/etc/hostname", 126)])
def test_command_that_cannot_be_started_is_reported(link, command, status):
    done = nodeb(link, *PATIENT, "--", command)
    assert done.returncode == status
    assert "the command of `phone` cannot be started" in done.stderr


def test_duration_stops_the_command(link):
    mark = f"sleep {long_time()}"
    begun = time.monotonic()
    done = nodeb(link, *PATIENT, "--duration", "1 s", "--", *mark.split())
    assert done.returncode == 124
    assert "the command was stopped after 1 s (--duration)" in done.stderr
    assert time.monotonic() - begun < 30
    assert gone(mark)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_signal_leaves_no_process_or_namespace(link, number, tmp_path):
    """A killed or terminated emulation leaves no child of its command, even if the child is in
    another session.
    """
    started, mark = tmp_path / "started", f"sleep {long_time()}"
    program = f"setsid {mark}1 & {mark}2 & touch {started}; wait"
    command = [sys.executable, "-m", "nodeb", "emulate", link, "--server", f"{mark}3"]
    with subprocess.Popen([*command, "--", "sh", "-c", program], stderr=subprocess.PIPE) as run:
        until = time.monotonic() + 30
        while not started.exists():
            assert run.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        assert len(processes(mark)) >= 3
        run.send_signal(number)
        run.wait(20)
    assert gone(mark)
    assert gone(f"{link.parent}")


def test_command_handles_ctrl_c(link):
    """The command handles Ctrl-C itself, and its exit status becomes that of nodeb."""
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


def test_two_real_phones_share_the_cell(link):
    """Each real phone has its own IP address, and both reach the server through the cell."""
    address = "ip=$NODEB_PHONE; echo $ip; ping -c 1 -W 5 10.64.0.1 > /dev/null && echo reached"
    done = nodeb(link, *PATIENT, "--phone", f"other: sh -c '{address}'", "--", "sh", "-c", address)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["10.64.0.2", "10.64.0.3", "reached", "reached"]


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
WHO = "sh -c 'echo $NODEB_PHONE'"


@pytest.fixture
def real(tmp_path):
    file = tmp_path / "real.toml"
    file.write_text(REAL)
    return file


def test_scenario_can_select_the_real_users(real, tmp_path):
    """A group of real phones has one command for all phones or one for each. The command after `--`
    is that of the first phone.
    """
    out = tmp_path / "out"
    more = ("--phone", f"fleet: {WHO}", "--out", out)
    done = nodeb(real, *PATIENT, *more, "--", *shlex.split(WHO))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["10.64.0.2", "10.64.0.3", "10.64.0.4"]
    exits = json.loads((out / "provenance.json").read_text())["emulation"]["exits"]
    assert exits == {"a": 0, "fleet 1": 0, "fleet 2": 0}
    each = ("--phone", "fleet: echo one", "--phone", "fleet: echo other", "--phone", "a: echo a")
    done = nodeb(real, *PATIENT, *each)
    assert sorted(done.stdout.split()) == ["a", "one", "other"], done.stderr


REAL_BAD = {
    "one without a command": (
        ["--", "true"],
        "user `fleet` is real but has no command; give --phone 'fleet: COMMAND'",
    ),
    "too many": (
        ["--phone", "fleet: true"] + 2 * ["--phone", "fleet: false"] + ["--", "true"],
        "user `fleet` has 2 phones and was given 3 commands; expected one for all of them, or",
    ),
    "two commands": (
        ["--phone", "a: true", "--phone", "fleet: true", "--", "true"],
        "user `a` was given 2 commands, but a phone runs one",
    ),
    "three commands": (
        [*2 * ["--phone", "a: true"], "--phone", "fleet: true", "--", "true"],
        "user `a` was given 3 commands, but a phone runs one",
    ),
    "nobody": ([], "no phone has a command"),
    "idle": (
        ["--set", "users.0.traffic.ftp.size=1 kB", "--", "true"],
        "users.0.traffic: this has no effect: the phones are real, so that commands decide",
    ),
}


@pytest.mark.parametrize("case", REAL_BAD)
def test_mismatched_real_users_and_commands_are_rejected(case, real):
    arguments, message = REAL_BAD[case]
    done = nodeb(real, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_run_rejects_real_users_and_validate_accepts_them(real, call):
    status, _, errors = call("run", real)
    assert status == 2
    assert "users.0.real: packets of these users come from outside" in errors
    assert call("validate", real)[0] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root enters the namespaces of others")
def test_ends_can_join_existing_namespaces(link):
    """nodeb's device in the joined namespace exists only during the emulation, and packets of the
    namespace cross the cell.
    """
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
    assert done.returncode == 2
    assert "/run/netns/no-such-namespace: no such file or directory" in done.stderr
    done = nodeb(link, "--attach", "sever=x", "--", "true")
    assert done.returncode == 2
    assert "no endpoint `sever`; did you mean `server`?" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="others are without these rights anyway")
def test_emulation_works_without_root(link):
    """Without root, the emulation uses a user namespace in which it has the rights and the command
    keeps the user's identity.
    """
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
    """Returns the next output on a terminal, or nothing if no process can write to it any more."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_terminal_shows_a_status_line(link):
    """The status line appears only if stderr is a terminal, and it is removed at the end."""
    import pty

    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--", "sleep", "3"]
    with subprocess.Popen(command, stderr=terminal) as run:
        os.close(terminal)
        text = b"".join(iter(lambda: _read(main), b""))
        run.wait(30)
    os.close(main)
    assert re.search(rb"\r\x1b\[K\d+ s down \S+ \S+ up ", text)
    assert text.count(b"\r\x1b[K") >= 2
    assert "\x1b" not in nodeb(link, *PATIENT, "--", "sleep", "2").stderr
