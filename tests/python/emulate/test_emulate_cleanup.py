"""Tests: nothing is left after the processes of an emulation are killed, one by one or together."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from emulations import gone, holders, long_time, processes, python

pytestmark = pytest.mark.usefixtures("real_packets")

MARK = f"sleep {long_time()}"
ASTRAY = f"(setsid {MARK} &); touch $0; exec {MARK}"
"""Command with a grandchild that has left its session and lost its parent."""


@pytest.fixture
def astray(link, tmp_path):
    """Starts an emulation whose command leaves a grandchild process behind, and yields the
    emulation's process.
    """
    started = tmp_path / "started"
    command = [sys.executable, "-m", "nodeb", "emulate", link, "--", "sh", "-c", ASTRAY, started]
    pipes = {"stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as run:
        try:
            until = time.monotonic() + 30
            while not started.exists() or len(processes(MARK)) < 3:
                assert run.poll() is None
                assert time.monotonic() < until
                time.sleep(0.05)
            yield run
        finally:
            run.kill()
    for pid in processes(MARK, pids=True):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("which", [0, -1])
def test_killing_a_namespace_holder_leaves_nothing(astray, which):
    os.kill(holders(astray.pid)[which], signal.SIGKILL)
    _, errors = astray.communicate(timeout=30)
    assert astray.returncode == 1
    assert "the process that holds the namespace of the phone was killed" in errors
    assert gone(MARK)


def test_killing_the_process_group_leaves_nothing(astray):
    """A killed process group leaves nothing. A shell kills it like this for `kill -9 %1`."""
    os.killpg(astray.pid, signal.SIGKILL)
    assert gone(MARK)


def test_killing_a_stopped_process_leaves_nothing(astray):
    """A process that was stopped by Ctrl-Z and then killed by `kill -9` cannot react, but leaves
    nothing.
    """
    guard_and_holder = holders(astray.pid)
    os.killpg(astray.pid, signal.SIGSTOP)
    astray.kill()
    assert gone(MARK)
    assert guard_and_holder
    assert gone(*guard_and_holder)


def test_signal_to_the_group_ends_the_emulation_in_order(astray):
    """A signal to the whole process group, as `timeout` sends it, must end the emulation in order,
    so that no end of a process is reported as a failure.
    """
    os.killpg(astray.pid, signal.SIGTERM)
    _, errors = astray.communicate(timeout=30)
    assert astray.returncode == 128 + signal.SIGTERM, errors
    assert "was killed" not in errors
    assert gone(MARK)


SIGNALLED_AS_IT_ENDS = """
import os, signal, socket
from nodeb.emulate.endpoint_process import EndpointProcess
ours, its = socket.socketpair()
process = EndpointProcess(its, {})
process.start(["true"], {}, silent=True)
os.waitid(os.P_PID, process.command.pid, os.WEXITED | os.WNOWAIT)
process._handle({"signal": signal.SIGTERM})
process._reap()
print(ours.recv(100).decode())
"""


def test_command_signalled_while_it_ends_counts_as_ended():
    """The exit status of a command is reported even if a signal arrives just when it has ended."""
    end = subprocess.run(python(SIGNALLED_AS_IT_ENDS), capture_output=True, text=True, timeout=30)
    assert json.loads(end.stdout) == {"exit": 0}, end.stderr
