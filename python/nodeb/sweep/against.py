"""The cells of a sweep against their baseline, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nodeb.base.table import Table
from nodeb.comparison.differences import Difference, differences
from nodeb.comparison.text import HEAD, difference_cells, percent
from nodeb.results.metrics import ALL, METRICS
from nodeb.stats import family_confidence
from nodeb.sweep.cells import Cell
from nodeb.sweep.columns import plain
from nodeb.sweep.results import Baseline
from nodeb.terminal.text import SHOWN_ROWS, align

__all__ = ["Against", "against"]


@dataclass(frozen=True)
class Against:
    """Each cell but those of the baseline, compared with its own cell of the baseline."""

    metric: str
    confidence: float
    """Of each interval, so that all hold together with 95 %."""
    margin: float
    compared: list[tuple[Cell, Difference]]

    def __str__(self) -> str:
        shown = {one.group for _, one in self.compared} != {ALL}
        keys = list(self.compared[0][0].values) if self.compared else []
        head = [*keys, *(["group"] if shown else []), *HEAD[1:]]
        head[-3] = f"difference ({percent(self.confidence)})"
        rows = [
            [
                *(str(plain(value)) for value in cell.values.values()),
                *([one.group] if shown else []),
                *difference_cells(one, self.margin)[1:],
            ]
            for cell, one in self.compared[:SHOWN_ROWS]
        ]
        rest = len(self.compared) - len(rows)
        more = f"\n... and {rest} more rows" if rest else ""
        return f"{METRICS[self.metric].label}, against the baseline\n\n{align(head, rows)}{more}"


def against(
    cells: Sequence[Cell],
    known: Callable[[tuple[int, ...]], tuple[Table, bool]],
    baseline: Baseline,
    metric: str,
    margin: float,
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
        base, own = known(baseline.of(cell))[0], known(cell.places)[0]
        all_found = differences(base, own, [METRICS[metric]], margin, confidence)
        found += [(cell, one) for one in all_found]
    return Against(metric, confidence, margin, found)
