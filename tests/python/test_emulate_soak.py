"""A minute of real packets: no drift, memory flat, no descriptor left."""

from __future__ import annotations

import pytest

from soak import soak

pytestmark = pytest.mark.usefixtures("real_packets")

SECONDS = 60


def test_a_minute():
    found = soak(SECONDS)
    assert found.problems() == []
    assert found.samples.clock_s[-1] - found.samples.clock_s[0] > SECONDS - 5
    down, up = (found.report["phones"][0][way] for way in ("down", "up"))
    assert down["arrived_bytes"] > 1e6
    assert up["arrived_packets"] > 100
    assert found.report["waiting"] < 100
