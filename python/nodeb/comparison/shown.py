"""Formatting of differences: signs of verdicts, means, intervals, confidence levels."""

from __future__ import annotations

import math

from nodeb.answer.answer import SURVIVORS
from nodeb.answer.numbers import Shown, difference, scale_of, shown
from nodeb.answer.words import counted
from nodeb.comparison.differences import Difference
from nodeb.comparison.verdict import MoreRuns

__all__ = [
    "LESS",
    "MORE",
    "SIGNS",
    "difference_of",
    "level",
    "mark_of",
    "means_of",
    "more_text",
    "ratio_of",
    "sign_of",
]

SIGNS = {"better": "\N{CHECK MARK}", "worse": "\N{BALLOT X}", "same": "=", "equal": "="}
MORE, LESS, OPEN = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}", "?"


def sign_of(one: Difference) -> str:
    """Returns the sign of a verdict.

    It is a check mark for `better`, a cross for `worse`, "=" for `same` and `equal`, an arrow up or
    down for `differs`, and "?" for `undecided`.
    """
    way = MORE if one.verdict.sign > 0 else LESS if one.verdict.sign < 0 else OPEN
    return SIGNS.get(one.verdict.kind, way)


def _scale(one: Difference) -> tuple[str, float]:
    largest = max(abs(one.baseline.mean), abs(one.other.mean))
    return scale_of(largest, one.metric.unit, percent=one.metric.percent)


def means_of(one: Difference) -> tuple[Shown, Shown]:
    """Returns a metric's means as text, in one unit: the baseline's, then the other scenario's."""
    before, now = (
        shown(each.mean, each.low, each.high, one.metric.unit, scale=_scale(one)).marked(
            mark_of(one)
        )
        for each in (one.baseline, one.other)
    )
    return before, now


def difference_of(one: Difference, scale: tuple[str, float] | None = None) -> Shown:
    """The unit is that of `scale` (unit and factor), or that of `means_of` without it."""
    unit, factor = scale or _scale(one)
    unit = "points" if unit == "%" else unit
    gap = one.difference
    return difference(gap.mean, gap.low, gap.high, scale=(unit, factor)).marked(mark_of(one))


def ratio_of(one: Difference) -> Shown:
    """Returns the other scenario's mean in per cent of the baseline's, with its interval."""
    ratio = one.ratio
    found = shown(ratio.mean, ratio.low, ratio.high, "1", percent=True)
    return found.marked(mark_of(one)) if found.unit else found


def mark_of(one: Difference) -> str:
    """Returns the mark for means that exclude users or replications without a value; else ""."""
    return SURVIVORS if one.covered < 1 else ""


def level(confidence: float) -> str:
    return f"{100 * confidence:.4g} %"


def more_text(runs: MoreRuns) -> str:
    """Returns a clause with the number of further replications that would decide a verdict."""
    if math.isinf(runs.low):
        return "no number of replications that can be named would decide"
    low = f"{counted(round(runs.low), 'replication')} more"
    if math.isinf(runs.high):
        return (
            f"{low} would decide if the difference is about as large as here; if there is none, no "
            "number that can be named would"
        )
    if runs.low == runs.high:
        return f"{low} would decide"
    return f"{runs.low:.0f} to {runs.high:.0f} replications more would decide"
