"""Page of a comparison: answer, differences of single pairs, and their causes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.answer.answer import Answer, Bars
from nodeb.answer.words import joined
from nodeb.base.table import Table
from nodeb.comparison.answer import answers, shown_of
from nodeb.comparison.differences import Comparison, Difference, Tables, Tried
from nodeb.comparison.shown import sign_of
from nodeb.report.render import Content, content, render
from nodeb.results.metrics import by_run

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
    tables: Mapping[str, Tables],
    causes: Sequence[Bars] = (),
    command: str = "",
) -> str:
    metrics = {name: by_run(one) for name, one in tables.items()}
    said = answers(comparison, causes)
    parts = [
        _part(comparison, number, tried, answer, metrics)
        for number, (tried, answer) in enumerate(zip(comparison.tried, said, strict=True))
    ]
    names = joined([comparison.baseline, *(tried.name for tried in comparison.tried)])
    anchors = [(part["anchor"], part["name"]) for part in parts]
    return render(
        "compared.html",
        {
            "title": f"{names}, compared",
            "answer": content(said[0]) | {"table": None, "after": None, "everything": []},
            "banners": [],
            "sections": [*anchors, ("provenance", "Provenance")],
            "parts": parts,
            "facts": [
                ("pairs of replications", str(comparison.runs)),
                ("seed", str(comparison.seed)),
                ("version", _core.version()),
            ],
            "command": command,
            "version": _core.version(),
        },
    )


def _part(
    comparison: Comparison, number: int, tried: Tried, answer: Answer, metrics: Mapping[str, Table]
) -> Content:
    two = metrics[comparison.baseline], metrics[tried.name]
    shown = [one for one in shown_of(tried) if one.baseline.mean]
    shares = [_shares(one, *two) for one in shown]
    # The 95 % quantile of the absolute values of pairs and of ends of intervals.
    reach = [float(np.quantile(np.abs(all_), 0.95)) for *_, all_ in shares if len(all_)]
    edge = min(WIDEST, 1.05 * max([LEAST, comparison.margin, *reach]))

    def at(share: float) -> float:
        return 50 + REACH * max(-1.0, min(1.0, share / edge))

    rows = []
    for one, (pairs, mean, low, high, _) in zip(shown, shares, strict=True):
        inside = pairs[np.abs(pairs) <= edge].tolist()
        ends = f"{100 * low:+.3g} to {100 * high:+.3g} %"
        rows.append(
            {
                "name": one.metric.label,
                "sign": sign_of(one),
                "kind": one.verdict.kind,
                "words": f"{one.metric.label}: {100 * mean:+.3g} % ({ends})",
                "dots": [at(share) for share in inside],
                "off": len(pairs) - len(inside),
                "low": at(low),
                "width": at(high) - at(low),
                "at": at(mean),
            }
        )
    return {
        "anchor": f"against-{number}",
        "name": tried.name,
        "answer": content(answer),
        "rows": rows,
        "margin": [at(-comparison.margin), at(comparison.margin)],
        "ends": [f"\N{MINUS SIGN}{100 * edge:.3g} %", "0", f"+{100 * edge:.3g} %"],
        "pairs": min(comparison.runs, MAX_DOTS),
    }


def _shares(
    one: Difference, baseline: Table, own: Table
) -> tuple[NDArray[np.float64], float, float, float, NDArray[np.float64]]:
    """Returns differences as fractions of the baseline's mean.

    These are the differences of at most `MAX_DOTS` pairs, the mean of all pairs, the ends of its
    interval (the mean if they are unknown), and all finite ones of pairs and ends.
    """
    values: list[Any] = [
        np.asarray(table.where(table["group"] == one.group)[one.metric.name], dtype=np.float64)
        for table in (baseline, own)
    ]
    runs, scale = min(*map(len, values), MAX_DOTS), abs(one.baseline.mean)
    pairs = (values[1][:runs] - values[0][:runs]) / scale
    pairs = pairs[np.isfinite(pairs)]
    interval = one.difference
    mean, *ends = (value / scale for value in (interval.mean, interval.low, interval.high))
    finite = [end for end in ends if math.isfinite(end)]
    low, high = (end if math.isfinite(end) else mean for end in ends)
    return pairs, mean, low, high, np.concatenate([finite, pairs])
