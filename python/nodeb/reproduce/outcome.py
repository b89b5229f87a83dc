"""Outcome of a reproduction: measured items, verdicts and counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nodeb.answer.answering import Answering
from nodeb.study.cell import Cell, Chart, Grid
from nodeb.study.targets import Checked
from nodeb.study.verdicts import Verdict

if TYPE_CHECKING:
    from nodeb.answer import Answer
    from nodeb.study.stage import Picture
    from nodeb.study.study import Study


@dataclass
class ReproduceOutcome(Answering):
    """Results of a reproduction so far, and the folder that they are in.

    Attributes:
        study: the reproduced study.
        items: requested tables and figures.
        seed: seed of all random streams.
        quick: true for the short version.
        out: results folder.
        measured: each measured table and figure, by name.
        pictures: pictures drawn by stages.
        claims: verdicts on all judged claims.
        targets: results of all targets.
        replications: number of replications used.
        scenarios: number of distinct scenarios.
        unfinished: sentences about downloads that did not complete.
        wall_s: duration, s.
        complete: true if everything was measured; false if it was interrupted.
        replaced: results of another study or command in the folder that were replaced.
    """

    study: Study
    items: list[str]
    seed: int
    quick: bool
    out: Path
    measured: dict[str, Grid | Chart] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)
    claims: list[Verdict] = field(default_factory=list)
    targets: list[Checked] = field(default_factory=list)
    replications: int = 0
    scenarios: int = 0
    unfinished: list[str] = field(default_factory=list)
    wall_s: float = 0.0
    complete: bool = False
    replaced: str | None = None

    @property
    def report(self) -> Path:
        """Path of the report, an HTML page, in the results folder."""
        return self.out / "report.html"

    @property
    def grids(self) -> dict[str, Grid]:
        """Measured tables, by name, such as "Table 12"."""
        return {name: one for name, one in self.measured.items() if isinstance(one, Grid)}

    @property
    def charts(self) -> dict[str, Chart]:
        """Measured figures, by name, such as "Figure 8"."""
        return {name: one for name, one in self.measured.items() if isinstance(one, Chart)}

    @property
    def cells(self) -> list[Cell]:
        """Every table cell and curve point, in the study's order."""
        shown = (self.measured.get(item, ()) for item in self.study.items())
        return [cell for item in shown for cell in item]

    @property
    def answer(self) -> Answer:
        """Answer that printing the outcome shows: how much of the published material agrees."""
        from nodeb.reproduce.answer import answer

        return answer(self)
