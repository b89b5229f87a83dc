"""Causes of a transfer's duration: as ranked bars, and the largest ones in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nodeb.answer.answer import Bar, Bars
from nodeb.answer.numbers import parts, shown
from nodeb.answer.paints import paint
from nodeb.answer.words import fraction, joined, part_percent, sentence, spelled

if TYPE_CHECKING:
    from nodeb.explanation import Explanation

__all__ = ["OUTAGE", "cause_bars", "cause_name", "cause_percent", "main_causes"]

NAMED = 3
"""Minimum number of causes with bars of their own; the others share one bar."""
SMALL = 0.05
"""Share of a transfer's time below which a cause may have no bar of its own."""
OUTAGE = "outage"
"""Name of the step of a path that is the wait for the end of a link's outage."""


def cause_name(cause: str) -> str:
    return cause.removeprefix("window: ")


def cause_percent(found: Explanation, *causes: str) -> str:
    """Returns the share of some causes in a transfer's time, in whole per cent.

    The shares of all causes add up to 100 %.
    """
    table = found.table
    return part_percent(list(table["share"]), [list(table["cause"]).index(one) for one in causes])


def main_causes(found: Explanation, *, exact: bool = False) -> Iterator[str]:
    """Yields a sentence with the largest causes: as many as make up half of a transfer's time."""
    largest: list[str] = []
    whole = 0.0
    for row in found.table:
        largest.append(row["cause"])
        whole += row["share"]
        if whole >= 0.5:
            break
    names = [
        f"{cause_name(one)}{' (an outage)' if found.step(one) == OUTAGE else ''}" for one in largest
    ]
    if names:
        part = ("" if exact else fraction(whole)) or cause_percent(found, *largest)
        yield f"{sentence(part)} of that went into {joined(names)}."


def cause_bars(found: Explanation, head: str = "", small: float = SMALL) -> Bars:
    """The `NAMED` largest causes always have their own bars; so does a small cause if it would
    be alone in the common bar."""
    table = list(found.table)
    named = max(NAMED, sum(row["share"] >= small for row in table))
    if len(table) - named == 1:
        named += 1
    rest = table[named:]
    means = [row["mean_s"] for row in table[:named]]
    means += [sum(row["mean_s"] for row in rest)][: len(rest)]
    times = parts(means, "s")
    bars = [
        Bar(
            cause_name(row["cause"]),
            times[at],
            row["mean_s"],
            paint(row["cause"]),
            cause_percent(found, row["cause"]),
            shown(row["mean_s"], row["ci95_low"], row["ci95_high"], "s").interval,
            ends=(row["ci95_low"], row["ci95_high"]),
        )
        for at, row in enumerate(table[:named])
    ]
    if rest:
        name = f"{spelled(len(rest))} other causes"
        percent = cause_percent(found, *(row["cause"] for row in rest))
        bars.append(Bar(name, times[-1], means[-1], "k-many", percent))
    return Bars("Where the time went", bars, head)
