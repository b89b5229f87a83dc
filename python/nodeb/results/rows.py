"""Rows of a summary as text, and tables of all metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nodeb.answer.answer import SURVIVORS, Rows
from nodeb.answer.numbers import ALWAYS, Shown, scale_of, shown
from nodeb.results.metrics import METRICS

if TYPE_CHECKING:
    from nodeb.results.result import Result

__all__ = ["all_metrics", "row_text"]


def row_text(row: dict[str, Any], scale: tuple[str, float] | None = None) -> Shown:
    ends = (row["mean"], row["ci95_low"], row["ci95_high"])
    is_percent = METRICS[row["metric"]].percent
    return shown(*ends, row["unit"], percent=is_percent, scale=scale)


def all_metrics(result: Result) -> Iterator[Rows]:
    """Metrics whose mean and interval are 0 in every group are listed in a second table, if
    there are any."""
    summary = result.summary
    groups = summary.distinct("group")
    rows: dict[str, dict[str, dict[str, Any]]] = {group: {} for group in groups}
    for row in summary:
        rows[row["group"]][row["metric"]] = row
    zero, table = [], []
    for name, metric in METRICS.items():
        found = [rows[group].get(name) for group in groups]
        known = [one for one in found if one is not None and math.isfinite(one["mean"])]
        if not known:
            continue
        if all(one["mean"] == one["ci95_low"] == one["ci95_high"] == 0 for one in known):
            zero.append(metric.label)
            continue
        scale = scale_of(
            max(abs(one["mean"]) for one in known), metric.unit, percent=metric.percent
        )
        cells: list[str | Shown] = [metric.label]
        for one in found:
            if one is None:
                cells += [Shown("\N{EN DASH}", ""), ""]
                continue
            text = row_text(one, scale)
            mark = SURVIVORS if one["covered"] < 1 and math.isfinite(one["mean"]) else ""
            cells += [Shown(text.number, f"{text.unit} {mark}".strip()), text.interval]
        table.append(cells)
    head = ["", *(text for group in groups for text in (group if len(groups) > 1 else "", ""))]
    yield Rows(head, table, "All metrics")
    if zero:
        yield Rows(("",), [[name] for name in zero], f"0 {ALWAYS}")
