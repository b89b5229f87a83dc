"""Tests of figures: points are side by side, markers are those of the study, and titles fit."""

from __future__ import annotations

from itertools import pairwise

import pytest
from matplotlib.text import Text

from nodeb import studies
from nodeb.plot import Line, panels
from nodeb.reproduce.figures import draw
from nodeb.stats import Estimate
from nodeb.study import Axis, Mark
from nodeb.study.items import Cell, Cells, Figure

HOSSAIN = studies.load("hossain")
INTERVAL = Axis(["80", "250", "500"], x=float)


def measured(spec: Figure) -> Cells:
    def point(value: float) -> Cell:
        return Cell("F", "r", "c", "s", None, Estimate(value, value - 1, value + 1, 9))

    columns = len(spec.columns)
    return Cells(spec, tuple(tuple(map(point, range(5, 5 + columns))) for _ in spec.rows))


def figure_of(curves: int = 1, cases: int = 1, **options) -> Figure:
    keys = [("row", f"p{p}", f"c{c}") for p in range(cases) for c in range(curves)]
    return Figure("F", "", {key: dict.fromkeys(INTERVAL, 1) for key in keys}, "s", **options)


def test_points_at_the_same_place_are_drawn_side_by_side() -> None:
    spec = figure_of(6, 3, panels=True, marks=[Mark("best", x=250)])
    figure = draw(measured(spec), "title")
    assert len(figure.axes) == 3
    for axes in figure.axes:
        places = sorted(float(x) for container in axes.containers for x in container[0].get_xdata())
        assert len(places) == 18
        gaps = [b - a for a, b in pairwise(places)]
        assert min(gaps) > 0.09, "no two intervals on one line"
        assert [text.get_text() for text in axes.texts] == ["best"]
        (line,) = [one for one in axes.lines if one.get_linestyle() == ":"]
        assert set(line.get_xdata()) == {1}, "250 is the second place"


def test_long_title_is_wrapped() -> None:
    name = "Figure 5. Throughput per connection for different E_b/N_o, model B"
    figure = draw(measured(HOSSAIN.figures["Figure 5"]), name)
    title = figure.axes[0].get_title(loc="left")
    assert title.split() == name.split()
    assert "\n" in title
    figure.draw_without_rendering()
    (shown,) = figure.findobj(lambda one: isinstance(one, Text) and one.get_text() == title)
    assert shown.get_window_extent().x1 <= figure.bbox.x1


def test_marks_are_labelled_lines() -> None:
    spec = figure_of(marks=[Mark("most", y=7.5), Mark("here", x=80)])
    (axes,) = draw(measured(spec), "").axes
    assert [text.get_text() for text in axes.texts] == ["most", "here"]


def test_legends_explain_the_numbers() -> None:
    names = {window.context for _, window in HOSSAIN.figures["Figure 8"].rows}
    assert names == {"W = 2", "W = 5", "W = 30"}


@pytest.mark.parametrize("name", ["fiorenzi", "prabhu"])
def test_marks_are_drawn_at_their_places(name: str) -> None:
    for figure in studies.load(name).figures.values():
        places = {place.x for place in figure.columns}
        assert {mark.x for mark in figure.marks} <= places


def test_panels_share_a_scale_and_a_legend() -> None:
    lines = [Line("a", [1.0, 2.0]), Line("b", [3.0, 4.0])]
    figure = panels("title", "x", "y", [0, 1], {"one": lines, "two": lines, "three": lines})
    assert [axes.get_title(loc="center") for axes in figure.axes] == ["one", "two", "three"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_panels_are_arranged_in_rows_of_the_first_axis() -> None:
    lines = [Line("a", [1.0, 2.0])]
    cases = dict.fromkeys(("one", "two", "three", "four", "five", "six"), lines)
    figure = panels("title", "x", "y", [0, 1], cases, rows=3)
    shape = figure.axes[0].get_subplotspec().get_gridspec().get_geometry()
    assert shape == (3, 2)
    assert [axes.get_title(loc="center") for axes in figure.axes] == list(cases)
