"""Which axes of a sweep have changed nothing in its results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from nodeb.sweep.axes import Axis
from nodeb.table import Table

__all__ = ["without_effect"]


def without_effect(table: Table, axes: Sequence[Axis]) -> list[str]:
    """The swept keys on which no result depends, to the last bit.

    Args:
        table: that of the sweep: its first columns are the swept keys in the order of the axes,
            the others what came of each cell; see `nodeb.sweep.results.results`.
        axes: what is swept.

    Returns:
        For each axis of several values that has changed nothing its keys, parted by commas.
    """
    width = sum(len(axis.swept) for axis in axes)
    rows = [tuple(map(repr, row.values())) for row in table]
    outcomes: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
    for row in rows:
        outcomes[row[:width]].append(row[width:])
    idle, begin = [], 0
    for axis in axes:
        end = begin + len(axis.swept)
        if len(axis) > 1 and not _matters(outcomes, begin, end):
            idle.append(", ".join(one.key for one in axis.swept))
        begin = end
    return idle


def _matters(outcomes: dict[tuple[str, ...], list[tuple[str, ...]]], begin: int, end: int) -> bool:
    """Whether two cells that differ only in these swept keys came out differently."""
    first: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    return any(
        first.setdefault(values[:begin] + values[end:], found) != found
        for values, found in outcomes.items()
    )
