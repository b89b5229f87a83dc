"""What a reproduction has found."""

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
    """What a reproduction found so far and where it wrote it.

    Attributes:
        study: what is reproduced.
        items: tables and figures that were asked for.
        seed: seed of all random streams.
        quick: whether it is the short version.
        out: the folder.
        measured: each table and figure with its values, by name.
        pictures: what stages drew.
        claims: every claim that was judged.
        targets: every target.
        replications: so many.
        scenarios: distinct ones.
        unfinished: sentences about downloads that did not end.
        wall_s: duration, s.
        complete: whether everything was measured; else it was interrupted.
        replaced: what of another study or command was in the folder and was replaced.
        damaged: kept replications that were damaged, and simulated again.
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
    damaged: list[Path] = field(default_factory=list)

    @property
    def report(self) -> Path:
        """Path of the page."""
        return self.out / "report.html"

    @property
    def grids(self) -> dict[str, Grid]:
        """The tables."""
        return {name: one for name, one in self.measured.items() if isinstance(one, Grid)}

    @property
    def charts(self) -> dict[str, Chart]:
        """The figures."""
        return {name: one for name, one in self.measured.items() if isinstance(one, Chart)}

    @property
    def cells(self) -> list[Cell]:
        """Every table cell and curve point, in the study's order."""
        shown = (self.measured.get(item, ()) for item in self.study.items())
        return [cell for item in shown for cell in item]

    @property
    def answer(self) -> Answer:
        """What it says first: how much of what was published agrees."""
        from nodeb.reproduce.answer import answer

        return answer(self)
