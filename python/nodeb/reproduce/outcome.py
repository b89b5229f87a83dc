"""What a reproduction has found, and the few lines of it that a terminal shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nodeb.study.cell import Cell, Chart, Grid
from nodeb.study.targets import Checked
from nodeb.study.verdicts import Verdict

if TYPE_CHECKING:
    from nodeb.study.stage import Picture
    from nodeb.study.study import Study


@dataclass
class ReproduceOutcome:
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
    def headline(self) -> tuple[str, list[str], list[list[str]]]:
        """A small table that says most in least space: its title, columns and rows."""
        return _headline(self)

    @property
    def summary_lines(self) -> list[str]:
        """Sentences about targets, claims and effort, for a terminal."""
        return _summary(self)


def _headline(found: ReproduceOutcome) -> tuple[str, list[str], list[list[str]]]:
    """The study's headline table if it was measured, else the first item that was."""
    if (shown := found.study.headline) is not None and shown[1] in found.grids:
        title, table, columns = shown
        grid = found.grids[table]
        return title, *_rows(grid, [column for column in grid.columns if column in columns])
    if found.grids:
        grid = next(iter(found.grids.values()))
        return (f"{grid.spec.id}: {grid.spec.title}", *_rows(grid, list(grid.columns)))
    chart = next(iter(found.charts.values()))
    rows = [
        [label, *(_value(curve.cells[at]) for curve in chart.curves)]
        for at, label in enumerate(chart.x_ticks)
    ]
    title = f"{chart.spec.id}: {chart.spec.title} ({chart.spec.unit})"
    return title, [chart.x_label, *(curve.label for curve in chart.curves)], rows


def _rows(grid: Grid, wanted: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    compared = bool(grid.spec.published)
    columns = [""]
    for column in wanted:
        columns += [f"{column} published", "measured"] if compared else [column]
    rows = []
    for label, row in zip(grid.rows, grid.cells, strict=True):
        texts = [label]
        for cell in row:
            if cell.column in wanted:
                published = "-" if cell.published is None else f"{cell.published:g}"
                texts += [published, _value(cell)] if compared else [_value(cell)]
        rows.append(texts)
    return columns, rows


def _value(cell: Cell) -> str:
    found = cell.measured
    if not found.known:
        return "no value"
    if found.runs < 2:
        return f"{found.value:.{cell.digits}f}"
    return f"{found.value:.{cell.digits}f} \N{PLUS-MINUS SIGN} {found.half_width:.{cell.digits}f}"


def _summary(found: ReproduceOutcome) -> list[str]:
    lines = []
    if states := Counter(target.state for target in found.targets if target.measured):
        unmeasured = sum(not target.measured for target in found.targets)
        counted = [f"{states['met']} of {states.total()} met"]
        counted += [f"{states['undecided']} undecided"] if states["undecided"] else []
        counted += [f"{unmeasured} not measured"] if unmeasured else []
        lines.append(f"Targets: {', '.join(counted)}.")
        lines += [f"  missed: {t.text} ({t.result})" for t in found.targets if t.met is False]
    if found.claims:
        counts = Counter(verdict.judgement for verdict in found.claims)
        lines.append(
            f"Claims: {counts['holds']} of {counts.total()} hold, "
            f"{counts['contradicted']} contradicted, {counts['undecided']} undecided."
        )
        refuted = [one for one in found.claims if one.judgement == "contradicted"]
        lines += [f"  contradicted: {one.text}" for one in refuted]
    lines.append(
        f"{found.replications} replications of {found.scenarios} scenarios, "
        f"seed {found.seed}, {found.wall_s:.1f} s."
    )
    return lines
