"""Page of a sweep: its answer, and a curve of the metric over each axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nodeb import _core, plot
from nodeb.errors import InputError
from nodeb.plot.style import NARROW
from nodeb.report.render import Content, figure, render, section
from nodeb.results.metrics import METRICS
from nodeb.sweep.answer import answer
from nodeb.sweep.axes import Axis
from nodeb.sweep.sweep import Outcome

MANY = 12
"""Number of curves above which a figure is left out: they could not be told apart."""


def page(outcome: Outcome, command: str = "") -> str:
    """Returns a self-contained page about a sweep.

    Args:
        outcome: the sweep with its table.
        command: command line that creates the page, shown at its end.
    """
    plan, metric = outcome.plan, METRICS[outcome.metric]
    drawn = list(_figures(outcome))
    words = [(metric.label, f"{metric.meaning} `{metric.name}`")]
    parts = [
        *([section("curves", "Over each swept key", "", drawn)] if drawn else []),
        section("words", "What the metric means", "", words=words),
    ]
    return render(
        "page.html",
        {
            "title": plan.name or "A sweep",
            "answer": replace(answer(outcome), folded=""),
            "banners": plan.warnings(),
            "parts": parts,
            "facts": [
                ("cells", str(len(plan.cells))),
                ("replications of a cell", _range(outcome)),
                ("seed", str(plan.seed)),
                ("version", _core.version()),
            ],
            "command": command,
            "scenario": plan.text,
        },
    )


def _range(outcome: Outcome) -> str:
    runs = outcome.table["runs"]
    return str(runs.min()) if runs.min() == runs.max() else f"{runs.min()} to {runs.max()}"


def _figures(outcome: Outcome) -> Iterator[Content]:
    """Yields a figure for each axis; its curves are the combinations of the other axes."""
    axes = [axis for axis in outcome.plan.axes if len(axis) > 1]
    for place, axis in enumerate(axes):
        others = [other for other in axes if other is not axis]
        curves = 1
        for other in others:
            curves *= len(other)
        if curves > MANY:
            continue
        try:
            drawn = plot.curves(
                outcome.table, _column(axis), outcome.metric, [_column(other) for other in others]
            )
        except InputError:  # No cell has a value of the metric.
            return
        drawn.set_size_inches(*NARROW)
        yield figure(f"axis-{place}", f"Over {_column(axis)}", drawn)


def _column(axis: Axis) -> str:
    return axis.swept[0].key
