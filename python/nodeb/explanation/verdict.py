"""How a simulated gain agrees with what the path says, in words.

Two questions are asked of the gain's interval: whether it leaves out 0, and so is surely a gain or
a loss; and whether it leaves out what the path says, and so is surely less or more. Only what it
leaves out is denied, and only what it is sharp enough for is confirmed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nodeb.answer.numbers import number
from nodeb.stats import Interval

if TYPE_CHECKING:
    from nodeb.explanation.differences import Part

__all__ = ["effects", "verdict"]

SHARP = 0.25
"""An interval is sharp whose half is at most this share of what the path says."""
LITTLE = 0.02
"""At most this share of the transfer's time is little."""
SLACK, LEAST_SLACK_S = 0.02, 1e-6
"""By so much of itself, and at least by so much, what the path says may be missed."""
WANTED = "more replications tell"


def verdict(gain: Interval, path_s: float, parts: Sequence[Part], causes: Sequence[str]) -> str:
    """What is told of a gain.

    Args:
        gain: what is won, s; of one pair it has no interval, and its mean alone is told of.
        path_s: what the path says, s.
        parts: what the difference, changed less plain, is made of; the last is the whole.
        causes: what the change was aimed at.
    """
    low, high = _ends(gain)
    slack = max(SLACK * path_s, LEAST_SLACK_S)
    if low == high == 0:
        return "as the path says" if path_s == 0 else "it changes nothing here"
    if low > path_s + slack:
        return f"more{_mover(False, parts, causes) or ' than the path says'}"
    if high >= path_s - slack:
        return _not_denied(low, high, path_s, LITTLE * parts[-1].baseline_s)
    why = _mover(True, parts, causes) or _in_part(path_s - slack, parts, causes)
    if high < 0:
        return f"a loss{why}"
    return f"less{why or ' than the path says'}" if low > 0 else f"less, if anything{why}"


def _not_denied(low: float, high: float, path_s: float, little_s: float) -> str:
    """What is told where the interval does not leave out what the path says."""
    is_little = max(abs(low), abs(high)) <= max(little_s, LEAST_SLACK_S)
    if (high - low) / 2 <= SHARP * path_s or (path_s == 0 and is_little):
        return "as the path says"
    if low > 0:
        return f"a gain; how much is undecided: {WANTED}"
    if is_little:
        return f"undecided, but little: within {100 * LITTLE:.0f} % of the time"
    return f"undecided: {WANTED}"


def effects(parts: Sequence[Part], causes: Sequence[str]) -> list[Part]:
    """Returns the causes but for some that surely grew or shrank, the largest difference first."""
    others = (part for part in parts if part.cause and part.cause not in causes)
    moved = [part for part in others if _moves(part, grows=True) or _moves(part, grows=False)]
    return sorted(moved, key=lambda part: -abs(part.difference.mean))


def _mover(less: bool, parts: Sequence[Part], causes: Sequence[str]) -> str:
    """The other cause that surely moved most in the way that makes a gain less, or more."""
    most = next((part for part in effects(parts, causes) if _moves(part, grows=less)), None)
    if most is None:
        return ""
    way = "grows" if less else "shrinks"
    return f": {most.cause} {way} by {number(abs(most.difference.mean), 's')}"


def _in_part(path_s: float, parts: Sequence[Part], causes: Sequence[str]) -> str:
    """That the causes aimed at shrink by less than the path says, where they do."""
    own = [-part.difference.mean for part in parts if part.cause in causes]
    return ": it goes only in part" if own and sum(own) < path_s else ""


def _moves(part: Part, grows: bool) -> bool:
    """Whether a cause surely grows, or surely shrinks."""
    low, high = _ends(part.difference)
    return low > 0 if grows else high < 0


def _ends(interval: Interval) -> tuple[float, float]:
    """Both ends of an interval, or twice the one value that there is."""
    if math.isnan(interval.low):
        return interval.mean, interval.mean
    return interval.low, interval.high
