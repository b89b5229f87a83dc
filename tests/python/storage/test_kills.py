"""Tests: a command killed at any moment gives the same results when it is repeated."""

from __future__ import annotations

import pytest

from kills import COMMANDS, Kills
from scenarios import needs_linux

pytestmark = needs_linux


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_command_gives_the_same_bytes_when_repeated(tmp_path, name):
    kills = Kills(tmp_path, seed=1)
    kills.run(8, name)
    assert not kills.faults
