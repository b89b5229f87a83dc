"""Tests of interrupts at any moment of an emulation, and of servers that fail to start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from emulations import PATIENT, gone, holders, long_time, nodeb, python

pytestmark = pytest.mark.usefixtures("real_packets")

AS_ANOTHER = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
"""A user other than root, with access to the files of the user who runs the tests."""


@contextmanager
def begun(link, *arguments):
    """Starts an emulation in its own process group, as shells do, and yields the process."""
    command = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as run:
        try:
            yield run
        finally:
            run.kill()


@pytest.mark.parametrize("send", [os.killpg, os.kill])
@pytest.mark.parametrize("after_s", [0.1, 0.3, 0.4, 0.5, 0.6, 2.0])
def test_interrupt_during_start_ends_the_emulation(link, tmp_path, send, after_s):
    """An interrupt at any moment of the start ends the emulation. The start lasts 5 s, because the
    server never listens.
    """
    mark, log = f"sleep {long_time()}", tmp_path / "flight.log"
    with begun(link, "--record", log, "--server", mark, "--", "echo", "began") as run:
        time.sleep(after_s)
        begun_s = time.monotonic()
        send(run.pid, signal.SIGINT)
        out, errors = run.communicate(timeout=30)
    assert (run.returncode, out, errors) == (130, "", "error: interrupted\n")
    assert time.monotonic() - begun_s < 3
    assert gone(mark)
    assert not log.exists(), "what was recorded is of an emulation that has not begun"


def test_interrupt_while_the_command_starts_is_not_lost(link):
    """An interrupt is not lost, whether it arrives before the command has started (nodeb handles
    it) or later (the command ends).
    """
    mark = f"sleep {long_time()}"
    for step in range(8):
        with begun(link, "--", *mark.split()) as run:
            until = time.monotonic() + 30
            while not holders(run.pid):
                assert time.monotonic() < until
            time.sleep(step * 0.01)
            os.killpg(run.pid, signal.SIGINT)
            _, errors = run.communicate(timeout=30)
        assert run.returncode == 130, errors
        assert "error: interrupted" in errors
        assert "Traceback" not in errors
    assert gone(mark)


def test_interrupt_of_nodeb_alone_ends_the_emulation(link):
    """If only nodeb is interrupted, it forwards the signal to the command, which ends. The answer
    so far is printed.
    """
    mark = f"sleep {long_time()}"
    with begun(link, "--", "sh", "-c", f"echo up; exec {mark}") as run:
        assert run.stdout.readline() == "up\n"
        os.kill(run.pid, signal.SIGINT)
        _, errors = run.communicate(timeout=30)
    assert run.returncode == 130
    assert errors.startswith("a link: ")
    assert errors.endswith("error: interrupted\n")
    assert gone(mark)


def test_interrupt_survived_by_the_command_does_not_end_the_emulation(link):
    """If the command survives two interrupts, the emulation continues, and its exit status is that
    of the command.
    """
    program = (
        "import signal, time\nsignal.signal(2, lambda *_: print('had', flush=True))\n"
        "print('up', flush=True)\ntime.sleep(2)"
    )
    with begun(link, "--", *python(program)) as run:
        assert run.stdout.readline() == "up\n"
        for _ in range(2):
            os.killpg(run.pid, signal.SIGINT)
            assert run.stdout.readline() == "had\n"
        _, errors = run.communicate(timeout=30)
    assert run.returncode == 0, errors


@pytest.mark.parametrize(
    ("server", "how"),
    [("exit 3", "with exit status 3"), ("kill -9 $$", "by SIGKILL")],
)
def test_server_that_fails_at_once_is_reported(link, tmp_path, server, how):
    log = tmp_path / "flight.log"
    server = f"sh -c '{server}'"
    done = nodeb(link, *PATIENT, "--record", log, "--server", server, "--", "echo", "began")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: the server ended {how} before anything listened: {server}\n"
    assert not log.exists()


def test_server_that_exits_without_listening_is_reported(link):
    """A server that exits with 0 before it listens is reported, but the command runs, as such a
    server may have prepared something.
    """
    done = nodeb(link, *PATIENT, "--server", "true", "--", "echo", "began")
    assert (done.returncode, done.stdout) == (0, "began\n")
    warning = "warning: the server ended with exit status 0 before anything listened\n"
    assert warning in done.stderr


def test_server_that_fails_later_is_reported(link):
    listens = "import socket, sys; s = socket.create_server(('', 5001)); s.accept(); sys.exit(5)"
    connects = (
        "import os, socket, time; socket.create_connection((os.environ['NODEB_SERVER'], 5001)); "
        "time.sleep(1)"
    )
    server = f'{sys.executable} -c "{listens}"'
    done = nodeb(link, *PATIENT, "--server", server, "--", *python(connects))
    assert done.returncode == 0
    assert "warning: the server ended with exit status 5 while commands ran\n" in done.stderr


def test_server_that_becomes_a_daemon_is_awaited(link):
    """nodeb waits for a daemon to listen, even if the server's first process exits with 0 long
    before.
    """
    later = "import socket, time; time.sleep(1); socket.create_server(('', 5001)).accept()"
    server = f"sh -c '{sys.executable} -c \"{later}\" & sleep 0.1'"
    server = server.replace("('', 5001)", "((None or str(), 5001))")
    connects = "import os, socket; socket.create_connection((os.environ['NODEB_SERVER'], 5001))"
    done = nodeb(link, *PATIENT, "--server", server, "--", *python(connects))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="others are not root anyway")
def test_unprivileged_server_listens_on_the_documented_port(link):
    if subprocess.run([*AS_ANOTHER, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no user namespaces")
    asks = (
        "import os, socket; socket.create_connection((os.environ['NODEB_SERVER'], 80)); "
        "print(os.geteuid())"
    )
    server = f"{sys.executable} -m http.server --directory {link.parent} 80"
    run = [sys.executable, "-m", "nodeb", "emulate", link, *PATIENT, "--server", server, "--"]
    done = subprocess.run(
        [*AS_ANOTHER, *map(str, run), *python(asks)],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "1000"


@pytest.mark.skipif(os.geteuid() != 0, reason="others are not root anyway")
def test_sysctl_is_not_suggested_without_rights(link):
    """No sysctl is suggested in a separate network namespace, where setting the host's sysctl would
    not help.
    """
    run = [sys.executable, "-m", "nodeb", "emulate", link, "--nat", "--", "true"]
    done = subprocess.run(
        [*AS_ANOTHER, "--net", *map(str, run)],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 1
    assert "--nat needs root, or CAP_NET_ADMIN" in done.stderr
    assert "sysctl" not in done.stderr
