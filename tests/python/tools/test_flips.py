"""Tests: every flipped bit in results of any kind is detected."""

from __future__ import annotations

import sys
from collections import Counter

import flips
import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="emulations are recorded on Linux only"
)


def test_every_flipped_bit_is_detected(tmp_path):
    kinds = list(flips.made(tmp_path))
    found = flips.campaign(kinds, 10 * len(kinds), seed=7)
    every = sum(found.values(), Counter())
    assert every["silent"] == every["unnamed"] == 0, found
    assert every["refused"] + every["same"] == 10 * len(kinds)
