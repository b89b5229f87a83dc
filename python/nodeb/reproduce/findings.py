"""What a reproduction has measured so far, and the few lines of it that a terminal shows."""

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
    targets: list[Checked] = field(default_factory=list)
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


@dataclass
class ReproduceOutcome:
    """What a reproduction found and where it wrote it.

    Attributes:
        headline_title: title of a small table that says most in least space.
        headline_columns: its column labels.
        headline_rows: its rows.
        report: path of `report.html`.
        summary_lines: sentences about targets, claims and effort, for a terminal.
        cells: every table cell and curve point.
        claims: every claim that was judged.
        targets: every target.
        replaced: what of another study or command was in the folder and was replaced.
        damaged: kept replications that were damaged, and simulated again.
    """

    headline_title: str
    headline_columns: list[str]
    headline_rows: list[list[str]]
    report: Path
    summary_lines: list[str]
    cells: list[Cell] = field(default_factory=list)
    claims: list[Verdict] = field(default_factory=list)
    targets: list[Checked] = field(default_factory=list)
    replaced: str | None = None
    damaged: list[Path] = field(default_factory=list)


def outcome(findings: Findings, report: Path) -> ReproduceOutcome:
    """What came of a reproduction, for a terminal."""
    title, columns, rows = _headline(findings)
    return ReproduceOutcome(
        headline_title=title,
        headline_columns=columns,
        headline_rows=rows,
        report=report,
        summary_lines=_summary(findings),
        cells=findings.cells(),
        claims=findings.verdicts,
        targets=findings.targets,
    )


def _headline(findings: Findings) -> tuple[str, list[str], list[list[str]]]:
    """The study's headline table if it was measured, else the first item that was."""
    if (shown := findings.study.headline) is not None and shown[1] in findings.grids:
        title, table, columns = shown
        grid = findings.grids[table]
        return title, *_rows(grid, [column for column in grid.columns if column in columns])
    if findings.grids:
        grid = next(iter(findings.grids.values()))
        return (f"{grid.spec.id}: {grid.spec.title}", *_rows(grid, list(grid.columns)))
    chart = next(iter(findings.charts.values()))
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


def _summary(findings: Findings) -> list[str]:
    lines = []
    if states := Counter(target.state for target in findings.targets if target.measured):
        unmeasured = sum(not target.measured for target in findings.targets)
        counted = [f"{states['met']} of {states.total()} met"]
        counted += [f"{states['undecided']} undecided"] if states["undecided"] else []
        counted += [f"{unmeasured} not measured"] if unmeasured else []
        lines.append(f"Targets: {', '.join(counted)}.")
        lines += [f"  missed: {t.text} ({t.result})" for t in findings.targets if t.met is False]
    if findings.verdicts:
        counts = Counter(verdict.judgement for verdict in findings.verdicts)
        lines.append(
            f"Claims: {counts['holds']} of {counts.total()} hold, "
            f"{counts['contradicted']} contradicted, {counts['undecided']} undecided."
        )
        refuted = [one for one in findings.verdicts if one.judgement == "contradicted"]
        lines += [f"  contradicted: {one.text}" for one in refuted]
    lines.append(
        f"{findings.replications} replications of {findings.scenarios} scenarios, "
        f"seed {findings.seed}, {findings.wall_s:.1f} s."
    )
    return lines
