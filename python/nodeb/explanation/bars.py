"""What a difference in the time of a transfer is made of, as bars on both sides of zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nodeb.answer.answer import Bar, Bars
from nodeb.answer.numbers import difference
from nodeb.answer.paints import paint
from nodeb.answer.words import spelled
from nodeb.results.answer import called

if TYPE_CHECKING:
    from nodeb.explanation.differences import Part

__all__ = ["difference_bars"]

SHOWN_PARTS = 5
"""Causes of a difference that are shown, before the rest is one bar."""


def difference_bars(parts: Sequence[Part], title: str) -> Bars:
    """What a difference is made of, as bars on both sides of zero; small parts are one.

    Args:
        parts: of `differences.difference`, the whole as the last.
        title: what differs.
    """
    own = [one for one in parts[:-1] if one.difference.mean]
    bars = [
        Bar(
            called(one.cause),
            difference(one.difference.mean, math.nan, math.nan, "s").value,
            one.difference.mean,
            paint(one.cause),
            interval=difference(
                one.difference.mean, one.difference.low, one.difference.high, "s"
            ).interval,
        )
        for one in own[:SHOWN_PARTS]
    ]
    rest = own[SHOWN_PARTS:]
    if rest:
        mean = sum(one.difference.mean for one in rest)
        name = f"{spelled(len(rest))} other causes" if len(rest) > 1 else called(rest[0].cause)
        bars.append(Bar(name, difference(mean, math.nan, math.nan, "s").value, mean, "k-many"))
    return Bars(title, bars, head=f"{title}:")
