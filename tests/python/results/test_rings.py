"""Tests of phones by their distance."""

import nodeb
from nodeb.results.rings import Rings

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
    rings = Rings.of(nodeb.Scenario.from_toml(CELL).run(runs=1))
    assert sorted(map(len, rings.of_each(rings.distance_m))) == [0, 0, 0, 0, 12]
