"""What ends when the processes of an emulation are killed one by one, or all at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from emulations import gone, long_time, processes

pytestmark = pytest.mark.usefixtures("real_packets")

MARK = f"sleep {long_time()}"
ASTRAY = f"(setsid {MARK} &); touch $0; exec {MARK}"
"""A command with a grandchild that went its own way: another session, and an orphan."""


def holders(of: int) -> list[int]:
    """The processes that hold the first phone's end of an emulation, parents first."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                text = (entry / "stat").read_text(errors="replace")
                parents[int(entry.name)] = int(text.rpartition(")")[2].split()[1])
    found = []
    for pid in sorted(parents):
        ancestor = pid
        while ancestor in parents and ancestor != of:
            ancestor = parents[ancestor]
        with suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            if ancestor == of and b"nodeb.emulate.host" in line and b'"number": 1' in line:
                found.append(pid)
    return found


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


def test_a_signal_to_the_whole_group_ends_it_in_order(astray):
    """As `timeout` sends it; the command's end is told, and not that of a namespace."""
    os.killpg(astray.pid, signal.SIGTERM)
    _, told = astray.communicate(timeout=30)
    assert astray.returncode == 128 + signal.SIGTERM, told
    assert "was killed" not in told
    assert gone(MARK)
