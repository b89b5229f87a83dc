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
from nodeb.report.answer import content
from nodeb.report.render import render
from nodeb.results.metrics import by_run

__all__ = ["page"]

MAX_DOTS = 100
"""Maximum number of pairs of replications drawn for each metric."""
WIDEST = 1.0
"""Maximum difference at the ends of the axis, as a share of the baseline's mean.

Pairs beyond the ends are counted, not drawn.
"""
LEAST = 0.05
"""Difference, as a share of the baseline's mean, that the axis always covers on both sides."""
REACH = 48.0
"""Distance from 0 to an end of the axis, % of the width, which leaves room for a mark there."""


def page(
    found: Comparison,
    tables: Mapping[str, Tables],
    causes: Sequence[Bars] = (),
    command: str = "",
) -> str:
    known = {name: by_run(one) for name, one in tables.items()}
    said = answers(found, causes)
    parts = [
        _part(found, tried, answer, known) for tried, answer in zip(found.tried, said, strict=True)
    ]
    return render(
        "compared.html",
        {
            "title": f"{joined([found.baseline, *(one.name for one in found.tried)])}, compared",
            "answer": content(said[0]) | {"table": None, "after": None, "everything": []},
            "banners": [],
            "sections": [
                *((part["anchor"], part["name"]) for part in parts),
                ("provenance", "Provenance"),
            ],
            "parts": parts,
            "facts": [
                ("pairs of replications", str(found.runs)),
                ("seed", str(found.seed)),
                ("version", _core.version()),
            ],
            "command": command,
            "version": _core.version(),
        },
    )


def _part(
    found: Comparison, tried: Tried, answer: Answer, known: Mapping[str, Table]
) -> dict[str, Any]:
    rows = [
        _row(one, *(known[name] for name in (found.baseline, tried.name)))
        for one in shown_of(tried)
        if one.baseline.mean
    ]
    reach = max([LEAST, found.margin, *(row["reach"] for row in rows)])
    edge = min(WIDEST, 1.05 * reach)
    return {
        "anchor": f"against-{found.tried.index(tried)}",
        "name": tried.name,
        "answer": content(answer),
        "rows": [_drawn(row, edge) for row in rows],
        "margin": [_at(-found.margin, edge), _at(found.margin, edge)],
        "ends": [f"\N{MINUS SIGN}{100 * edge:.3g} %", "0", f"+{100 * edge:.3g} %"],
        "pairs": min(found.runs, MAX_DOTS),
    }


def _row(one: Difference, base: Table, own: Table) -> dict[str, Any]:
    """Returns the data for the row of a metric in the figure of differences.

    These are the differences in at most `MAX_DOTS` pairs of replications, and the mean difference
    of all pairs with its interval, as fractions of the baseline's mean. `reach` is the 95 %
    quantile of the absolute values of these differences and of the interval's ends.
    """
    name = one.metric.name
    a, b = (
        np.asarray(table.where(table["group"] == one.group)[name], dtype=np.float64)
        for table in (base, own)
    )
    runs = min(len(a), len(b), MAX_DOTS)
    scale = abs(one.baseline.mean)
    pairs: NDArray[np.float64] = (b[:runs] - a[:runs]) / scale
    pairs = pairs[np.isfinite(pairs)]
    ends = [end / scale for end in (one.difference.low, one.difference.high)]
    sizes = [abs(end) for end in (*ends, *pairs) if math.isfinite(end)]
    return {
        "name": one.metric.label,
        "sign": sign_of(one),
        "kind": one.verdict.kind,
        "pairs": pairs,
        "mean": one.difference.mean / scale,
        "ends": ends,
        "reach": float(np.quantile(sizes, 0.95)) if sizes else 0.0,
    }


def _drawn(row: dict[str, Any], edge: float) -> dict[str, Any]:
    """Pairs beyond `edge` (the end of the axis) are not drawn but counted in `off`."""
    inside = [share for share in row["pairs"] if abs(share) <= edge]
    low, high = (end if math.isfinite(end) else row["mean"] for end in row["ends"])
    words = f"{row['name']}: {100 * row['mean']:+.3g} % ({100 * low:+.3g} to {100 * high:+.3g} %)"
    return {
        **row,
        "dots": [_at(share, edge) for share in inside],
        "off": len(row["pairs"]) - len(inside),
        "low": _at(low, edge),
        "width": _at(high, edge) - _at(low, edge),
        "at": _at(row["mean"], edge),
        "words": words,
    }


def _at(share: float, edge: float) -> float:
    return 50 + REACH * max(-1.0, min(1.0, share / edge))
