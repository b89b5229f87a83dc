"""Page of a comparison: answer, differences of single pairs, and their causes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from nodeb import _core
from nodeb.answer.answer import Answer, Bars
from nodeb.answer.numbers import Shown
from nodeb.answer.words import joined
from nodeb.base.table import Table
from nodeb.comparison.answer import answers, shown_of
from nodeb.comparison.differences import Comparison, Difference
from nodeb.report.render import Content, render

MAX_DOTS = 100
"""Maximum number of pairs of replications drawn for each metric."""
WIDEST, LEAST = 1.0, 0.05
"""Largest and smallest difference at the ends of the axis, as a share of the baseline's mean.

Pairs beyond the ends are counted, not drawn.
"""
REACH = 48.0
"""Distance from 0 to an end of the axis, % of the width, which leaves room for a mark there."""


def page(
    comparison: Comparison,
    metrics: Mapping[str, Table],
    causes: Sequence[Bars] = (),
    command: str = "",
) -> str:
    """Page of a comparison; `metrics` has the values by group and run of each scenario."""
    said = [_with_units(answer) for answer in answers(comparison, causes)]
    parts = [
        {"anchor": f"against-{number}", "name": tried.name, "answer": answer}
        | _part(comparison, tried.name, rows, metrics)
        for number, (tried, rows, answer) in enumerate(
            zip(comparison.tried, shown_of(comparison), said, strict=True)
        )
    ]
    names = joined([comparison.baseline, *(tried.name for tried in comparison.tried)])
    anchors = [(part["anchor"], part["name"]) for part in parts]
    return render(
        "compared.html",
        {
            "title": f"{names}, compared",
            "answer": replace(said[0], table=None, after=None, everything=()),
            "banners": [],
            "sections": [*anchors, ("provenance", "Provenance")],
            "parts": parts,
            "margin": comparison.margin,
            "pairs": min(comparison.runs, MAX_DOTS),
            "facts": [
                ("pairs of replications", str(comparison.runs)),
                ("seed", str(comparison.seed)),
                ("version", _core.version()),
            ],
            "command": command,
        },
    )


def _with_units(answer: Answer) -> Answer:
    """Gives the means in tables the unit of their difference."""
    tables = [
        one and replace(one, rows=[_row_with_units(row) for row in one.rows])
        for one in (answer.table, *answer.everything)
    ]
    return replace(answer, table=tables[0], everything=[one for one in tables[1:] if one])


def _row_with_units(row: Sequence[str | Shown]) -> list[str | Shown]:
    name, before, after, difference, *more = row
    unit = str(difference).rpartition(" ")[2].replace("points", "%")
    if not unit or (not unit[0].isalpha() and unit != "%"):
        return [*row]
    return [name, f"{before} {unit}", f"{after} {unit}", difference, *more]


def _part(
    comparison: Comparison,
    name: str,
    differences: Sequence[tuple[Difference, str]],
    metrics: Mapping[str, Table],
) -> Content:
    """Rows of a scenario's metrics on one axis, which `at` maps to % of the width."""
    two = metrics[comparison.baseline], metrics[name]
    rows = [_row(one, *two) | {"sign": sign} for one, sign in differences if one.baseline.mean]
    # The 95 % quantile of the absolute values of pairs and of ends of intervals.
    reach = [float(np.quantile(np.abs(row["finite"]), 0.95)) for row in rows if len(row["finite"])]
    edge = min(WIDEST, 1.05 * max([LEAST, comparison.margin, *reach]))

    def at(share: float) -> float:
        return 50 + REACH * max(-1.0, min(1.0, share / edge))

    for row in rows:
        row["inside"] = row["pairs"][np.abs(row["pairs"]) <= edge]
    return {"rows": rows, "edge": edge, "at": at}


def _row(one: Difference, baseline: Table, own: Table) -> Content:
    """Differences in a metric as fractions of the baseline's mean.

    These are the differences of at most `MAX_DOTS` pairs, the mean of all pairs, and the ends of
    its interval (the mean if they are unknown).
    """
    before, after = (
        np.asarray(table.where(table["group"] == one.group)[one.metric.name], dtype=np.float64)
        for table in (baseline, own)
    )
    runs, scale = min(len(before), len(after), MAX_DOTS), abs(one.baseline.mean)
    pairs = (after[:runs] - before[:runs]) / scale
    pairs = pairs[np.isfinite(pairs)]
    interval = one.difference
    mean, *ends = (value / scale for value in (interval.mean, interval.low, interval.high))
    low, high = (end if math.isfinite(end) else mean for end in ends)
    return {
        "name": one.metric.label,
        "kind": one.verdict.kind,
        "pairs": pairs,
        "finite": [end for end in (*ends, *pairs) if math.isfinite(end)],
        "mean": mean,
        "low": low,
        "high": high,
    }
