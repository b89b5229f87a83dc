"""Everything that a reproduction has measured so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nodeb.study.cell import Cell, Chart, Grid
from nodeb.study.targets import Target
from nodeb.study.verdicts import Verdict

if TYPE_CHECKING:
    from nodeb.study.stage import Picture
    from nodeb.study.study import Study


@dataclass
class Findings:
    """Everything measured so far."""

    study: Study
    seed: int
    quick: bool
    items: list[str]
    grids: dict[str, Grid] = field(default_factory=dict)
    charts: dict[str, Chart] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    replications: int = 0
    scenarios: int = 0
    unfinished: list[str] = field(default_factory=list)
    wall_s: float = 0.0
    complete: bool = False

    def cells(self) -> list[Cell]:
        """Cells of the tables and points of the figures, in the study's order."""
        found: list[Cell] = []
        for item in self.study.items():
            if item in self.grids:
                found += self.grids[item]
            elif item in self.charts:
                found += [cell for curve in self.charts[item].curves for cell in curve.cells]
        return found
