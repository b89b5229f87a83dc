"""Comparison of the cells of a sweep with their baseline cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nodeb.comparison.differences import Difference, differences
from nodeb.results.metrics import METRICS
from nodeb.stats import family_confidence
from nodeb.sweep.cells import Cell
from nodeb.sweep.results import Baseline, Known

__all__ = ["Against", "Compared", "against"]


@dataclass(frozen=True, slots=True)
class Compared:
    """A metric of a group of users in a cell, compared with the cell's baseline."""

    cell: Cell
    found: Difference


@dataclass(frozen=True)
class Against:
    """All cells except baseline cells, each compared with its own baseline cell."""

    baseline: Baseline
    metric: str
    confidence: float
    """Confidence of each interval: all intervals of a group of users together hold with 95 %."""
    margin: float
    compared: list[Compared]


def against(
    cells: Sequence[Cell], known: Known, baseline: Baseline, metric: str, margin: float
) -> Against:
    others = [cell for cell in cells if baseline.of(cell) != cell.places]
    confidence = family_confidence(len(others))
    found = []
    for cell in others:
        base, own = known(baseline.of(cell)), known(cell.places)
        chosen = [METRICS[metric]], margin, confidence
        lasting = base.duration_s, own.duration_s
        for one in differences(base.by_run, own.by_run, *chosen, lasting):
            share = min(each.covered[one.group][metric] for each in (base, own))
            found.append(Compared(cell, replace(one, covered=share)))
    return Against(baseline, metric, confidence, margin, found)
