"""Tests: long replays, explanations and timelines report progress and can be interrupted."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

import nodeb
from emulations import REAL, made_by_hand, over
from nodeb import _core
from nodeb.emulate import connections, recordings, timeline
from result_folders import interrupted
from scenarios import needs_linux

pytestmark = needs_linux


@pytest.fixture
def log(tmp_path):
    """Returns the log of a day: the real phone is idle, and simulated users load the cell."""
    users = [REAL, {"name": "others", "count": 10, "traffic": {"ftp": {"size": "100 GB"}}}]
    return made_by_hand(tmp_path / "silent.log", users, over(86_400))


@pytest.mark.parametrize("command", ["replay", "life"])
def test_ctrl_c_ends_the_processing_of_a_recording(log, command):
    run = [sys.executable, "-m", "nodeb", command, str(log)]
    looking = subprocess.Popen(
        run, cwd=log.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(2)
    assert looking.poll() is None, "the day is over already"
    out, errors = interrupted(looking)
    assert (looking.returncode, out) == (130, "")
    assert errors.startswith("error: interrupted")
    assert len(errors.splitlines()) == 1
    assert sorted(file.name for file in log.parent.glob("**/*.*")) == ["silent.log"]


def test_progress_callback_can_abort_a_replay(log):
    shares = []

    def impatient(share, _):
        shares.append(share)
        if len(shares) == 3:
            raise BrokenPipeError("of whoever shows it, not of the log")

    with pytest.raises(BrokenPipeError, match="whoever shows it"):
        recordings.read(log).replay(progress=impatient)
    assert shares == sorted(shares)
    assert 0 < shares[-1] < 0.9


def test_cancellation_of_a_replay_is_reported(log):
    control = _core.Control()
    control.cancel()
    recording = recordings.read(log)
    arguments = recording.path, recording.scenario.compiled(), recording.seed, recording.users
    calls = [
        lambda: _core.replay_flight(*arguments, control),
        lambda: _core.flight_timeline(*arguments, control),
        lambda: _core.flight_explain(*arguments, 0, control),
        lambda: _core.flight_connections(recording.path, control),
        lambda: _core.flight_packets(recording.path, control),
    ]
    for call in calls:
        with pytest.raises(_core.Cancelled):
            call()
    assert connections.connections(recording).all == []
    with pytest.raises(nodeb.InputError, match="there are no events"):
        timeline.recorded_life(recording, 0, (0, 10**9))
