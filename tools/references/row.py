"""What a witness says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        witness: who or what nodeb is compared with.
        compared: what of it.
        count: how many of these.
        distance: how far nodeb is from it.
        limit: what a test asks for; empty where none does.
        command: what shows it again.
    """

    witness: str
    compared: str
    count: int
    distance: str
    limit: str
    command: str


def spread(ratios: Iterable[float]) -> str:
    """How far ratios are from 1: "-0.3 % in the mean, -4.1 to +2.2 %"."""
    percent = [100 * (ratio - 1) for ratio in ratios]
    mean = sum(percent) / len(percent)
    return f"{mean:+.1f} % in the mean, {min(percent):+.1f} to {max(percent):+.1f} %"
