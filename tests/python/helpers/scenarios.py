"""Scenarios that several tests use, and a mark for tests that need Linux."""

import sys
from pathlib import Path

import pytest

from nodeb.replication.cells import ReplicationWork
from nodeb.replication.work import Source

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))

needs_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="devices, pipes and signals of Linux"
)
"""Skips tests of features that exist only on Linux."""

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
    """Work whose replication number `wrong` fails.

    The whole batch of replications that contains it fails too.
    """

    def __init__(self, scenario, wrong):
        super().__init__(Source(scenario.compiled().to_json(), None))
        self.wrong = wrong

    def replicate(self, seed, runs, control):
        if self.wrong in runs:
            raise ValueError("something odd")
        return super().replicate(seed, runs, control)
