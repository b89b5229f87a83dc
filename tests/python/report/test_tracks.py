"""Tests of tracks on a page: short spans share a box, and steps end where the axis ends."""

from __future__ import annotations

import numpy as np
import pytest

import nodeb
from nodeb.report.tracks import SHARED, strip
from nodeb.scenario_types import Dch, Ftp, HsDsch, UserGroup


def explained(radio, size, count=1):
    users = [UserGroup(count=count, traffic=Ftp(size=size))]
    return nodeb.explain(nodeb.Scenario(radio=radio, users=users), runs=3).typical


@pytest.mark.parametrize(("radio", "size"), [(Dch(bler=0.1), "50 kB"), (HsDsch(bler=0.2), "5 MB")])
def test_boxes_cover_the_axis_with_the_time_of_every_cause(radio, size):
    path = explained(radio, size, count=2)
    boxes = strip(path, path.time_ns / 1e9)["boxes"]
    assert len(boxes) <= 2 / SHARED + 1
    ends = [0.0] + [box["left"] + box["width"] for box in boxes]
    np.testing.assert_allclose([box["left"] for box in boxes], ends[:-1], atol=1e-6)
    assert ends[-1] == pytest.approx(100)
    mixed = [box for box in boxes if box["parts"]]
    assert all(sum(part["height"] for part in box["parts"]) == pytest.approx(100) for box in mixed)
    transmission = sum(
        box["width"] * (part["height"] / 100 if part else 1)
        for box in boxes
        for part in (box["parts"] or [None])
        if (part or box)["paint"] == "k-transmission"
    )
    assert transmission == pytest.approx(100 * path.causes["transmission"] / path.time_ns)
