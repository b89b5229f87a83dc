"""Figures of a report, on the page and as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from nodeb.report import inline_svg, png, standalone_svg
from nodeb.reproduce.charts import draw
from nodeb.reproduce.shown import Content, number
from nodeb.study.axis import anchor
from nodeb.study.cell import Chart

if TYPE_CHECKING:
    from nodeb.study.stage import Picture


def files(charts: Mapping[str, Chart]) -> dict[str, str | bytes]:
    """Returns the figures as PNG and SVG files: content by file name."""
    made: dict[str, str | bytes] = {}
    for item, chart in charts.items():
        title = chart.spec.title if chart.spec.extra else f"{item}. {chart.spec.title}"
        figure = draw(chart, title)
        name = anchor(item)
        made[f"{name}.png"] = png(figure)
        # The layout was computed for the PNG file, and computing it again would take time.
        figure.set_layout_engine("none")
        made[f"{name}.svg"] = standalone_svg(figure, name)
    return made


def content(item: str, chart: Chart) -> Content:
    """Returns a figure of the study in the form that the page's template expects."""
    name = anchor(item)
    description = f"{chart.spec.title}. {chart.spec.y_label} by {chart.x_label}. {_spoken(chart)}"
    return {
        "id": item,
        "anchor": name,
        "title": chart.spec.title,
        "note": " ".join(part for part in (chart.spec.note, _said(chart)) if part),
        "svg": inline_svg(draw(chart, ""), name, description),
    }


def of_picture(picture: Picture) -> Content:
    """Returns a picture of a stage in the form that the page's template expects."""
    picture.figure.suptitle("")  # The page shows the title in the caption, so the picture has none.
    name = anchor(picture.id)
    description = f"{picture.title}. {picture.spoken}"
    return {
        "id": picture.id,
        "anchor": name,
        "title": picture.title,
        "note": picture.note,
        "svg": inline_svg(picture.figure, name, description),
    }


def _said(chart: Chart) -> str:
    return f"The paper: {chart.spec.said}" if chart.spec.said else ""


def _spoken(chart: Chart) -> str:
    values = {
        f"{curve.panel} {curve.label}".strip(): [
            number(cell.measured.value, chart.spec.digits) for cell in curve.cells
        ]
        for curve in chart.curves
    }
    return "; ".join(f"{label}: {', '.join(texts)}" for label, texts in values.items())


def note(charts: Iterable[Chart]) -> str:
    """Returns a text that explains hollow markers and dotted lines in figures."""
    drawn = list(charts)
    texts = []
    if any(value is not None for chart in drawn for one in chart.implied for value in one):
        texts.append(
            "The paper's figures are pictures without numbers; the hollow markers (diamonds on "
            "bars) are what its tables, rounded as printed, or its text say about the same."
        )
    if any(chart.spec.marks for chart in drawn):
        texts.append("Dotted lines show what the paper's text says about a figure.")
    return " ".join(texts)
