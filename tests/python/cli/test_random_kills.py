"""Tests: a killed command leaves nothing behind, and its repetition gives the same results."""

from __future__ import annotations

import pytest

from random_kills import COMMANDS, campaign
from scenarios import needs_linux

pytestmark = [needs_linux, pytest.mark.usefixtures("real_packets")]


@pytest.mark.slow
def test_commands_killed_at_any_moment_leave_nothing(tmp_path):
    found = campaign(tmp_path, seed=1, kills=2 * len(COMMANDS))
    assert found.counts["kills"] == 2 * len(COMMANDS)
    assert not found.faults
