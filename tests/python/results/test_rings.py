"""Tests of phones by their distance."""

import numpy as np

import nodeb
from nodeb import _core

CELL = """
duration = "1 s"
[radio.lte]
[[users]]
count = 12
traffic.ftp.size = "20 kB"
ue.channel.cell = { distance = "200 m", profile = "extended_pedestrian_a", speed = "3 km/h" }
"""


def test_equal_distances_are_in_one_ring():
    """Their positions give 200 m but for rounding, and a ring ends at 200 m."""
    _, edges_m, places = _core.rings(nodeb.Scenario.from_toml(CELL).run(runs=1).tables)
    assert edges_m[-1] == 200
    assert np.bincount(places).tolist() == [0, 0, 0, 0, 12]
