"""Scenarios that many tests use, and what they need of the machine."""

import sys
from pathlib import Path

import pytest

from nodeb.replication.cells import ReplicationWork
from nodeb.replication.work import Source

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))

needs_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="devices, pipes and signals of Linux"
)
"""What such a test is about does not exist elsewhere; on Linux it always runs."""

SMALL = """
name = "small"
runs = 4
[radio.dch]
bler = 0.1
[[users]]
count = 2
traffic.ftp.size = "20 kB"
"""


class Fails(ReplicationWork):
    """Replications of which number `wrong` fails, in whatever batch it is."""

    def __init__(self, scenario, wrong):
        super().__init__(Source(scenario.compiled().to_json(), None))
        self.wrong = wrong

    def replicate(self, seed, runs, control):
        if self.wrong in runs:
            raise ValueError("something odd")
        return super().replicate(seed, runs, control)
