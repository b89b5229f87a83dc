"""Tests of the first lines of a link experiment in different cases."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nodeb.answer import text
from nodeb.link.answer import answer
from nodeb.link.result import LinkResult, Point, Rate


def point(eb_n0_db, errors, trials=100):
    share = errors / trials if trials else float("nan")
    rate = Rate(trials, errors, share, max(share - 0.05, 0.0), min(share + 0.05, 1.0))
    rates = dict.fromkeys(("bits", "pdus", "blocks", "raw", "signalling"), rate)
    return Point(eb_n0_db, 1, np.zeros(trials, np.uint8), rates, 0, 1.0, 0.01)


def said(*points):
    about = SimpleNamespace(seed=1, wall_time_s=0.5)
    return answer(LinkResult(SimpleNamespace(name="a link"), points, about), "out/l")


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], "nothing was simulated."),
        ([point(4, 0, 0)], "nothing was simulated."),
        ([point(4, 20)], "20 % (95 %: 15 to 25 %) of the blocks failed at 4 dB."),
        ([point(4, 0)], "no block failed at 4 dB."),
        ([point(4, 0), point(5, 0)], "no block failed at any Eb/N0."),
        ([point(2, 100), point(3, 100)], "every block failed, up to 3 dB."),
        (
            [point(4, 8), point(2, 90), point(3, 40)],
            "90 % (95 %: 85 to 95 %) of the blocks failed at 2 dB, and 8 % (3 to 13 %) at 4 dB. "
            "A tenth fails between 3 and 4 dB.",
        ),
        (
            [point(2, 90), point(3, 40)],
            "90 % (95 %: 85 to 95 %) of the blocks failed at 2 dB, and 40 % (35 to 45 %) at 3 dB.",
        ),
    ],
)
def test_headline_matches_the_points(points, expected):
    assert said(*points).headline == expected


def test_table_keeps_the_order_of_points_and_all_adds_the_bits():
    found = said(point(4, 8), point(2, 90))
    assert [row[0] for row in found.table.rows] == ["4 dB", "2 dB"]
    assert found.notes[-1] == "Draw it: nodeb link curve out/l"
    assert "signalling" in text(found, everything=True)
    assert "signalling" not in text(found)
