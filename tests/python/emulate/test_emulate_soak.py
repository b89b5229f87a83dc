"""Test with one minute of real packets: time does not drift, and memory does not grow."""

from __future__ import annotations

import subprocess
import sys

import pytest

import soak

pytestmark = pytest.mark.usefixtures("real_packets")

SECONDS = 60


@pytest.mark.slow
def test_one_minute_without_drift_or_leak():
    """For a minute, virtual time must not drift and memory must not grow. The emulation has its own
    process, so that the memory of the tests does not count.
    """
    command = [sys.executable, soak.__file__, "--seconds", str(SECONDS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert int(done.stdout.split(" s, ")[0]) > SECONDS - 5


def test_drift_is_measured_despite_coarse_samples():
    def seen(world_s):
        samples = soak.Samples()
        for number in range(1000):
            clock = 0.13 * number
            samples.clock_s.append(clock)
            samples.world_s.append(world_s(clock))
        return samples.drift_s()

    def sampled(clock_s, offset_s=0.0):
        """Returns a virtual time that is reported only every 200 ms."""
        return (clock_s + offset_s) // 0.2 * 0.2 - offset_s

    assert seen(sampled) == 0
    assert seen(lambda clock: sampled(clock, 0.0 if clock < 60 else 0.17)) == 0
    assert seen(lambda clock: 0.99 * sampled(clock)) == pytest.approx(0.01 * 104, abs=0.3)
    assert seen(lambda clock: 1.01 * sampled(clock)) == pytest.approx(0.01 * 104, abs=0.3)
