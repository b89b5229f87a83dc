"""Row of the comparison table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """Comparison of one quantity with one reference."""

    witness: str
    compared: str
    count: int
    distance: str
    limit: str
    command: str


def spread(ratios: Iterable[float]) -> str:
    """Returns mean and range of the deviations from 1: "-0.3 % in the mean, -4.1 to +2.2 %"."""
    percent = [100 * (ratio - 1) for ratio in ratios]
    mean = sum(percent) / len(percent)
    return f"{mean:+.1f} % in the mean, {min(percent):+.1f} to {max(percent):+.1f} %"
