"""The cells of a sweep against their baseline."""

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
    """A metric of a group in a cell, compared with the cell of the baseline."""

    cell: Cell
    found: Difference


@dataclass(frozen=True)
class Against:
    """Each cell but those of the baseline, compared with its own cell of the baseline."""

    baseline: Baseline
    metric: str
    confidence: float
    """Of each interval, so that all hold together with 95 %."""
    margin: float
    compared: list[Compared]


def against(
    cells: Sequence[Cell], known: Known, baseline: Baseline, metric: str, margin: float
) -> Against:
    """Compares cells with the baseline.

    Args:
        cells: the cells.
        known: gives the metrics of a cell by run.
        baseline: what each is compared with.
        metric: what is compared.
        margin: share of the baseline's mean within which two are the same.
    """
    others = [cell for cell in cells if baseline.of(cell) != cell.places]
    confidence = family_confidence(len(others))
    found = []
    for cell in others:
        base, own = known(baseline.of(cell)), known(cell.places)
        chosen = [METRICS[metric]], margin, confidence
        for one in differences(base.by_run, own.by_run, *chosen):
            share = min(each.covered[one.group][metric] for each in (base, own))
            found.append(Compared(cell, replace(one, covered=share)))
    return Against(baseline, metric, confidence, margin, found)
