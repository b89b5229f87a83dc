"""Composition of a difference between two transfer times, as bars and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nodeb.answer.answer import Bar, Bars, Rows
from nodeb.answer.numbers import Shown, difference, scale_of, shown, signed
from nodeb.answer.numbers import parts as in_parts
from nodeb.answer.paints import paint
from nodeb.answer.words import spelled
from nodeb.results.causes import cause_name

if TYPE_CHECKING:
    from nodeb.explanation.differences import Part

__all__ = ["difference_bars", "difference_rows"]

SHOWN_PARTS = 5
"""Maximum number of causes that have a bar of their own; the other causes share one bar."""
SMALL = 0.01
"""Fraction of the larger mean time below which a difference is shown in a smaller unit."""


def difference_bars(parts: Sequence[Part], title: str) -> Bars:
    """Parts with a mean of 0 have no bar, nor has the sum. Of the other parts, the largest
    `SHOWN_PARTS` have a bar each, and the rest shares one."""
    own = [one for one in parts[:-1] if one.difference.mean]
    rest = own[SHOWN_PARTS:]
    means = [one.difference.mean for one in own[:SHOWN_PARTS]]
    means += [sum(one.difference.mean for one in rest)][: len(rest)]
    values = [signed(one) for one in in_parts(means, "s")]
    bars = [
        Bar(
            cause_name(one.cause),
            values[at],
            one.difference.mean,
            paint(one.cause),
            interval=difference(
                one.difference.mean, one.difference.low, one.difference.high, "s"
            ).interval,
        )
        for at, one in enumerate(own[:SHOWN_PARTS])
    ]
    if rest:
        name = f"{spelled(len(rest))} other causes" if len(rest) > 1 else cause_name(rest[0].cause)
        bars.append(Bar(name, values[-1], means[-1], "k-many"))
    return Bars(title, bars, head=f"{title}:" if bars else "")


def difference_rows(parts: Sequence[Part], baseline: str, other: str, title: str = "") -> Rows:
    """Returns the parts of a difference as a table; its last row is the sum.

    If there are several pairs, causes without a difference in any pair are left out.
    """
    rows: list[list[str | Shown]] = []
    for part in parts:
        gap = part.difference
        if part.cause and gap.mean == 0 and not gap.stdev:
            continue
        largest = max(part.baseline_s, part.other_s)
        scale = scale_of(largest, "s")
        means = [shown(one, unit="s", scale=scale) for one in (part.baseline_s, part.other_s)]
        own = None if abs(gap.mean) < SMALL * largest else scale
        change = difference(gap.mean, gap.low, gap.high, "s", scale=own).in_one_cell
        rows.append([cause_name(part.cause) or "sum", *means, change])
    return Rows(("cause", baseline, other, "difference (95 %)"), rows, title)
