"""What ends when the processes of an emulation are killed one by one, or all at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from emulations import gone, holders, long_time, processes

pytestmark = pytest.mark.usefixtures("real_packets")

MARK = f"sleep {long_time()}"
ASTRAY = f"(setsid {MARK} &); touch $0; exec {MARK}"
"""A command with a grandchild that went its own way: another session, and an orphan."""


@pytest.fixture
def astray(link, tmp_path):
    """An emulation whose command has gone astray."""
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
def test_nothing_is_left_when_who_holds_a_namespace_is_killed(astray, which):
    os.kill(holders(astray.pid)[which], signal.SIGKILL)
    _, told = astray.communicate(timeout=30)
    assert astray.returncode == 1
    assert "the process that holds the namespace of the phone was killed" in told
    assert gone(MARK)


def test_nothing_is_left_when_a_whole_group_of_processes_is_killed(astray):
    """As a shell's `kill -9 %1` does."""
    os.killpg(astray.pid, signal.SIGKILL)
    assert gone(MARK)


def test_nothing_is_left_when_what_was_stopped_is_killed(astray):
    """As Ctrl-Z and `kill -9` do: what is stopped does not notice."""
    os.killpg(astray.pid, signal.SIGSTOP)
    astray.kill()
    assert gone(MARK)
    assert gone('"device": "nodeb1"'), "nor guard and holder"


def test_a_signal_to_the_whole_group_ends_it_in_order(astray):
    """As `timeout` sends it; the command's end is told, and not that of a namespace."""
    os.killpg(astray.pid, signal.SIGTERM)
    _, told = astray.communicate(timeout=30)
    assert astray.returncode == 128 + signal.SIGTERM, told
    assert "was killed" not in told
    assert gone(MARK)
