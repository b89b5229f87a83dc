"""Turns findings into pictures and a page."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from nodeb import plot
from nodeb.plot import Line
from nodeb.report import inline_svg, png, render, standalone_svg
from nodeb.reproduce.cells import Cell, Chart, Grid
from nodeb.reproduce.diagram import path_diagram
from nodeb.reproduce.verdicts import Verdict

if TYPE_CHECKING:
    from nodeb.reproduce.reproduction import Findings
    from nodeb.reproduce.traces import Picture

MARKS = {"near": "\N{CHECK MARK}", "off": "\N{ALMOST EQUAL TO}", "far": "\N{BALLOT X}", "open": "?"}
GRADES = {"holds": "near", "contradicted": "far", "undecided": "open"}
STATES = {"met": "near", "missed": "far", "undecided": "open"}
"""Judgements and targets are marked as cells are, by sign, word and colour."""
MINUS = "\N{MINUS SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
SHORT_EVIDENCE = 3
WIDEST = 9
"""More columns than these find no room beside each other."""
INDENT = "\N{EM SPACE}"
SIZE = (6.4, 4.1)
WIDE = (8.6, 4.4)
Content = dict[str, Any]


def anchor(text: str) -> str:
    """A name that is safe in a link and in a file name: "Table A.1" becomes "table-a-1"."""
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


def draw(chart: Chart, title: str) -> Figure:
    """A figure of the study with what was measured, and hollow what its tables imply."""
    spec = chart.spec
    data = [
        Line(
            label=curve.label,
            mean=[cell.measured.value for cell in curve.cells],
            low=[cell.measured.low for cell in curve.cells],
            high=[cell.measured.high for cell in curve.cells],
            published=implied,
        )
        for curve, implied in zip(chart.curves, chart.implied, strict=True)
    ]
    x = list(chart.curves[0].x)
    if spec.kind == "bars":
        return plot.bars(title, chart.x_label, spec.y_label, chart.x_ticks, data, size=SIZE)
    ticks = [f"{one:g}" for one in x]
    labels = (title, chart.x_label, spec.y_label, x)
    if spec.panels:
        parts: dict[str, list[Line]] = {}
        for curve, line in zip(chart.curves, data, strict=True):
            parts.setdefault(curve.panel, []).append(line)
        return plot.panels(*labels, parts, ticks=ticks, from_zero=spec.from_zero, size=WIDE)
    return plot.lines(*labels, data, ticks=ticks, from_zero=spec.from_zero, size=SIZE)


def figure_files(findings: Findings) -> dict[str, str | bytes]:
    """File name -> content of every figure, as PNG and SVG."""
    files: dict[str, str | bytes] = {}
    for item, chart in findings.charts.items():
        title = chart.spec.title if chart.spec.extra else f"{item}. {chart.spec.title}"
        figure = draw(chart, title)
        name = anchor(item)
        files[f"{name}.png"] = png(figure)
        figure.set_layout_engine("none")  # the layout stands; doing it again would only take time
        files[f"{name}.svg"] = standalone_svg(figure, name)
    return files


def html(findings: Findings) -> str:
    """The report: one self-contained page."""
    study = findings.study
    tables = [_table(grid) for item, grid in findings.grids.items()]
    content: Content = {
        "title": study.title,
        "subtitle": study.subtitle,
        "question": study.question,
        "reference": study.reference,
        "banners": _banners(findings),
        "tiles": _tiles(findings),
        "targets": [_target(target) for target in findings.targets if target.measured],
        "summary": study.summary,
        "limits": study.limits,
        "diagram": path_diagram(study.scenario),
        "tables": tables,
        "compared": any(table["compared"] for table in tables),
        "scattered": any(grid.spec.published_runs for grid in findings.grids.values()),
        "figures": [_figure(item, chart) for item, chart in findings.charts.items()]
        + [_picture(picture) for picture in findings.pictures],
        "figures_note": _figures_note(findings),
        "claims": [_claim(verdict) for verdict in findings.verdicts],
        "mismatches": _mismatches(findings),
        "assumptions": study.assumptions,
        "facts": _facts(findings),
        "version": _version()[0],
        "command": _command(findings),
        "scenario": study.scenario_text,
    }
    content["sections"] = _sections(content)
    return render("reproduction.html", content)


def _sections(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    names = [
        ("conformance", "Conformance", "targets"),
        ("model", "What was simulated", "summary"),
        ("tables", "Tables", "tables"),
        ("figures", "Figures", "figures"),
        ("claims", "Claims", "claims"),
        ("mismatch", "What does not match", "title"),
        ("assumptions", "Assumptions", "title"),
        ("provenance", "Provenance", "title"),
    ]
    return [(anchor_name, name) for anchor_name, name, key in names if content[key]]


def _banners(findings: Findings) -> list[str]:
    banners = []
    if not findings.complete:
        banners.append("This run was interrupted: only what it had measured is shown.")
    if findings.quick:
        banners.append(
            "A quick version: few or short replications, so the intervals are wide and many claims "
            "stay undecided."
        )
    return banners


def _tiles(findings: Findings) -> list[Content]:
    cells = [cell for cell in findings.cells() if cell.grade in ("near", "off", "far")]
    tiles = []
    checked = [target for target in findings.targets if target.measured]
    if checked:
        met = sum(target.met is True for target in checked)
        tiles.append(_tile("Targets met", f"{met} of {len(checked)}", "see Conformance"))
    if cells:
        near = sum(cell.grade == "near" for cell in cells)
        detail = "within the tolerance of their table"
        tiles.append(_tile("Cells near the published", f"{near} of {len(cells)}", detail))
    few = [cell.within for cell in findings.cells() if cell.within is not None]
    if few:
        detail = "published, where as few runs as the study's would be"
        tiles.append(_tile("Within the scatter", f"{sum(few)} of {len(few)}", detail))
    if findings.verdicts:
        counts = Counter(verdict.judgement for verdict in findings.verdicts)
        detail = f"{counts['contradicted']} contradicted, {counts['undecided']} undecided"
        tiles.append(_tile("Claims that hold", f"{counts['holds']} of {counts.total()}", detail))
    predicted = sum(
        len(list(grid)) for grid in findings.grids.values() if grid.spec.withheld
    ) + sum(
        len(curve.cells)
        for chart in findings.charts.values()
        for curve in chart.curves
        if chart.spec.withheld
    )
    if predicted:
        tiles.append(_tile("Predicted values", str(predicted), "no published value at hand"))
    detail = f"{findings.replications} replications of {findings.scenarios} scenarios"
    tiles.append(_tile("Wall time", f"{findings.wall_s:.1f} s", detail))
    return tiles


def _tile(name: str, value: str, detail: str) -> Content:
    return {"name": name, "value": value, "detail": detail}


def _target(target: Any) -> Content:
    return {
        **_marked(STATES[target.state], target.state),
        "text": target.text,
        "result": target.result,
    }


# ------------------------------------------------------------------------------------------- tables


def _table(grid: Grid) -> Content:
    """A table: its groups of columns side by side, or below each other where that is too wide."""
    spec, groups = grid.spec, _groups(grid)
    units = {cell.unit for cell in grid}
    by_column = [{row[at].unit for row in grid.cells} for at in range(len(grid.columns))]
    aligned = len(units) > 1 and all(len(one) == 1 for one in by_column)
    mixed = len(units) > 1 and not aligned
    stacked = len(groups) > 1 and len(groups) * len(grid.columns) > WIDEST
    return {
        "id": spec.id,
        "anchor": anchor(spec.id),
        "title": spec.title,
        "unit": _subtitle(grid, spec.unit if len(units) == 1 else ""),
        "compared": bool(spec.published),
        "prediction": spec.withheld,
        "corner": grid.corner,
        "columns": [
            f"{column} ({next(iter(one))})" if aligned else column
            for column, one in zip(grid.columns, by_column, strict=True)
        ],
        "heads": [] if stacked or len(groups) == 1 else list(groups.values()),
        "groups": [""] if stacked else list(groups),
        "rows": _stacked(grid, groups, mixed) if stacked else _rows(grid, groups, mixed),
        "note": spec.note,
    }


def _groups(grid: Grid) -> dict[str, str]:
    """What is shown of each cell, and the heading of that."""
    calculated = all(cell.measured.runs == 0 for cell in grid)
    measured = "calculated" if calculated else f"measured {PLUS_MINUS} 95 % CI"
    few = grid.spec.published_runs
    groups = {"published": "published"} if grid.spec.published else {}
    groups["measured"] = measured
    if few is not None:
        groups["predicted"] = "one run, 95 %" if few == 1 else f"mean of {few} runs, 95 %"
    return groups | ({"difference": "difference"} if grid.spec.published else {})


def _rows(grid: Grid, groups: Iterable[str], mixed: bool) -> list[Content]:
    rows = [
        {
            "label": label,
            "first": at > 0 and bool(grid.blocks[at]) and grid.blocks[at] != grid.blocks[at - 1],
            "cells": [_cell(cell, group, at) for group in groups for at, cell in enumerate(row)],
        }
        for at, (label, row) in enumerate(zip(grid.rows, grid.cells, strict=True))
    ]
    return _with_units(rows, grid) if mixed else rows


def _stacked(grid: Grid, groups: Mapping[str, str], mixed: bool) -> list[Content]:
    """A row for each group, those of one row of the study together."""
    rows = []
    for at, (label, row) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        unit = f" ({row[0].unit})" if mixed else ""
        for place, (group, heading) in enumerate(groups.items()):
            cells = [_cell(cell, group, column) for column, cell in enumerate(row)]
            name = f"{label}{unit}, {heading}" if place == 0 else INDENT + heading
            rows.append({"label": name, "first": place == 0 and at > 0, "cells": cells})
    return rows


def _subtitle(grid: Grid, unit: str) -> str:
    """Unit and column axis; the axis only where its labels are bare numbers."""
    bare = all(column[0].isdigit() for column in grid.columns)
    across = grid.across.replace(" (%)", "").lower().replace("internet", "Internet")
    by = f"by {across}" if bare and across else ""
    return ", ".join(part for part in (f"in {unit}" if unit else "", by) if part)


def _with_units(rows: list[Content], grid: Grid) -> list[Content]:
    """The unit behind each row's label, or behind the odd cells where it changes within a row."""
    for row, cells in zip(rows, grid.cells, strict=True):
        first = cells[0].unit
        row["label"] += f" ({first})"
        for at, shown in enumerate(row["cells"]):
            cell = cells[at % len(cells)]
            if cell.unit != first and shown["text"]:
                shown["text"] += f" {cell.unit}"
    return rows


def _cell(cell: Cell, group: str, column: int) -> Content:
    css = ["begin"] if column == 0 else []
    shown: Content = {"text": "", "interval": "", "mark": "", "hint": ""}
    if group == "published":
        shown["text"] = "" if cell.published is None else _number(cell.published, _decimals(cell))
    elif group == "measured":
        shown |= _measured(cell)
        css += ["open"] if cell.published is None else []
    elif group == "predicted":
        shown |= _predicted(cell)
        css += [] if cell.within is None else ["near" if cell.within else "far"]
    elif cell.deviation is not None:
        shown["text"] = _signed(cell.deviation, cell.digits)
        shown["mark"] = MARKS.get(cell.grade, "")
        shown["hint"] = f"{cell.grade}: {cell.item}, {cell.row}, {cell.column}"
        css.append(cell.grade)
    return shown | {"css": " ".join(css)}


def _measured(cell: Cell) -> Content:
    found = cell.measured
    if not found.known:
        return {"text": "\N{EN DASH}", "hint": "a download did not end"}
    interval = f"{PLUS_MINUS} {half_width(found.half_width, cell.digits)}" if found.runs > 1 else ""
    hint = f"{found.runs} replications" if found.runs else "calculated"
    return {"text": _number(found.value, cell.digits), "interval": interval, "hint": hint}


def _predicted(cell: Cell) -> Content:
    """Where so few runs as the study's lie, and whether the published value is there."""
    found = cell.expected
    if found is None:
        return {"text": "\N{EN DASH}", "hint": "not known for a difference of two scenarios"}
    width = found.high - found.low
    digits = max(0, min(cell.digits, 1 - math.floor(math.log10(width)))) if width else cell.digits
    ends = f"{_number(found.low, digits)} .. {_number(found.high, digits)}"
    if cell.within is None:
        return {"text": ends, "hint": ""}
    inside = "inside" if cell.within else "outside"
    mark = MARKS["near" if cell.within else "far"]
    return {"text": ends, "mark": mark, "hint": f"the published value lies {inside}"}


def half_width(value: float, digits: int) -> str:
    """A half-width with the decimals of its value, or with one digit where those would be zeros."""
    if not 0 < value < 0.5 * 10**-digits:
        return f"{value:.{digits}f}"
    places = min(digits + 2, -math.floor(math.log10(value)))
    return f"{value:.{places}f}"


def _decimals(cell: Cell) -> int:
    """As many decimals as the study printed."""
    text = f"{cell.published:g}"
    return len(text.partition(".")[2])


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", MINUS)


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", MINUS)


# ------------------------------------------------------------------------------------------ figures


def _figure(item: str, chart: Chart) -> Content:
    name = anchor(item)
    description = f"{chart.spec.title}. {chart.spec.y_label} by {chart.x_label}. {_spoken(chart)}"
    return {
        "id": item,
        "anchor": name,
        "title": chart.spec.title,
        "prediction": chart.spec.withheld,
        "note": chart.spec.note,
        "svg": inline_svg(draw(chart, ""), name, description),
    }


def _picture(picture: Picture) -> Content:
    name = anchor(picture.id)
    description = f"{picture.title}. {picture.spoken}"
    return {
        "id": picture.id,
        "anchor": name,
        "title": picture.title,
        "prediction": True,
        "note": picture.note,
        "svg": inline_svg(picture.figure, name, description),
    }


def _spoken(chart: Chart) -> str:
    """The values of a figure for those who cannot see it."""
    values = {
        f"{curve.panel} {curve.label}".strip(): [
            _number(cell.measured.value, chart.spec.digits) for cell in curve.cells
        ]
        for curve in chart.curves
    }
    return "; ".join(f"{label}: {', '.join(texts)}" for label, texts in values.items())


def _figures_note(findings: Findings) -> str:
    if any(any(v is not None for v in one) for c in findings.charts.values() for one in c.implied):
        return (
            "The study's figures are pictures without numbers; the hollow markers (diamonds on "
            "bars) are what its tables of utilization, rounded as printed, say about the same."
        )
    return ""


# ------------------------------------------------------------------------- claims and mismatches


def _claim(verdict: Verdict) -> Content:
    short = len(verdict.parts) <= SHORT_EVIDENCE
    return {
        **_marked(GRADES[verdict.judgement], verdict.judgement),
        "text": verdict.text,
        "section": verdict.section,
        "counts": "; ".join(
            part for part in (verdict.summary, f"asked: {verdict.asked}", verdict.effort) if part
        ),
        "against": [] if short else verdict.against,
        "evidence": [text for text, _ in verdict.parts],
        "short": short,
    }


def _marked(grade: str, word: str) -> Content:
    return {"grade": grade, "verdict": f"{MARKS[grade]} {word}"}


def _mismatches(findings: Findings) -> list[Content]:
    """Targets missed, cells beyond their tolerance, claims contradicted, endless downloads."""
    found = [
        _mismatch("far", "missed", target.text, target.result)
        for target in findings.targets
        if target.met is False
    ]
    for item, grid in findings.grids.items():
        worse = [cell for cell in grid if cell.grade in ("off", "far")]
        if worse:
            grade = "far" if any(cell.grade == "far" for cell in worse) else "off"
            compared = sum(cell.published is not None for cell in grid)
            note = f" {grid.spec.note}" if grid.spec.note else ""
            text = f"{item}: {len(worse)} of {compared} cells lie beyond the tolerance.{note}"
            found.append(_mismatch(grade, "far" if grade == "far" else "off", text, _list(worse)))
    found += [
        _mismatch("far", "contradicted", verdict.text, "; ".join(verdict.against))
        for verdict in findings.verdicts
        if verdict.judgement == "contradicted"
    ]
    found += [_mismatch("far", "unfinished", text, "") for text in findings.unfinished]
    return found


def _mismatch(grade: str, verdict: str, text: str, detail: str) -> Content:
    return {**_marked(grade, verdict), "text": text, "detail": detail}


def _list(cells: list[Cell]) -> str:
    return "; ".join(
        f"{cell.row}, {cell.column}: {_number(cell.measured.value, cell.digits)} against "
        f"{_number(cell.published or 0.0, _decimals(cell))} {cell.unit}"
        for cell in cells
    )


# --------------------------------------------------------------------------------------- provenance


def _facts(findings: Findings) -> Content:
    version, git = _version()
    rows = [
        ("Study", findings.study.name),
        ("Seed", str(findings.seed)),
        ("nodeb", version if git is None else f"{version} ({git[:12]}{git[40:]})"),
        ("Python", platform.python_version()),
        ("Machine", f"{platform.system()} {platform.machine()}"),
        ("Replications", f"{findings.replications} of {findings.scenarios} distinct scenarios"),
        ("Wall time", f"{findings.wall_s:.1f} s"),
        ("Warm-up", f"{findings.study.warm_up_s(findings.quick):g} s of each replication left out"),
        ("Intervals", "95 %, Student t over replications; jackknife for rates and spreads"),
        ("Files", "cells.csv (every cell and curve point), claims.csv, figures/ (PNG and SVG)"),
    ]
    return {"version": version, "list": rows}


def _version() -> tuple[str, str | None]:
    try:
        from nodeb import _core
        from nodeb.results.provenance import git_hash

        return _core.version(), git_hash()
    except ImportError:  # a page of stored results can be made without the extension
        return "unknown", None


def _command(findings: Findings) -> str:
    parts = [f"nodeb reproduce {findings.study.name}", f"--seed {findings.seed}"]
    parts += ["--quick"] if findings.quick else []
    if findings.items != findings.study.items():
        parts += [f'--item "{item}"' for item in findings.items]
    return " ".join(parts)
