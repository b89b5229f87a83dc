"""Tests: the answer of a sweep states the factor of a key only if its interval says something."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from nodeb.stats import Interval
from nodeb.sweep import Sweep
from nodeb.sweep.answer import answer
from nodeb.sweep.effects import Effect

GRID = """runs = 2
radio.dch = {}
[[users]]
traffic.ftp.size = "20 kB"
[sweep]
"radio.dch.bler" = [0.0, 0.3]
wired.delay = ["50 ms", "500 ms"]
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    file = folder / "s.toml"
    file.write_text(GRID)
    return Sweep.load(file).run(folder / "out")


@pytest.mark.parametrize(
    ("ratio", "is_stated"),
    [
        (Interval(0.4, 0.0, 220.0, 1.0, 5), False),
        (Interval(7.25, 0.9, 8.0, 1.0, 5), False),
        (Interval(7.25, 4.0, 14.0, 1.0, 5), False),
        (Interval(7.25, math.nan, math.nan, math.nan, 5), False),
        (Interval(7.25, 5.0, 9.5, 1.0, 5), True),
        (Interval(7.25, math.nan, math.nan, math.nan, 1), True),
    ],
)
def test_factor_is_stated_if_its_interval_is_narrow_and_above_1(outcome, ratio, is_stated):
    effects = [Effect("one.key", ratio), Effect("other.key", ratio)]
    headline = answer(replace(outcome, effects=effects)).headline
    assert headline.count("one.key") == headline.count("other.key") == 1
    factors = headline[headline.index("one.key") :]
    assert (" 7" in factors) == is_stated
    assert not any(number in factors for number in ("220", " 0.4", "0.9", "14"))
