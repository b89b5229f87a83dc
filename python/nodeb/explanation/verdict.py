"""Comparison of a simulated gain with the time on the path, in words.

Two properties of the gain's interval are used: if it excludes 0, there is a gain or a loss; if it
excludes the time on the path, the gain is smaller or larger. Agreement is stated only if the
interval is narrow enough.
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
"""Largest half-width of an interval that counts as narrow, as a share of the time on the path."""
LITTLE = 0.02
"""Largest effect that counts as little, as a share of the transfer's time."""
SLACK, LEAST_SLACK_S = 0.02, 1e-6
"""Tolerance for the time on the path: relative, and absolute in s; the larger one counts."""
WANTED = "more replications are needed"


def verdict(gain: Interval, path_s: float, parts: Sequence[Part], causes: Sequence[str]) -> str:
    """Compares a gain with the time on the path. Returns the result in words.

    Args:
        gain: saved time, s; of a single pair it has no interval, and only its mean is used.
        path_s: time on the path that the change targets, s.
        parts: difference, changed minus unchanged, by cause; the last is the whole.
        causes: targeted causes; empty if the change targets steps or places of the path.
    """
    low, high = _ends(gain)
    slack = max(SLACK * path_s, LEAST_SLACK_S)
    if low == high == 0:
        return "as the path says" if path_s == 0 else "no effect here"
    if low > path_s + slack:
        return f"more{_largest_side_effect(False, parts, causes) or ' than the path says'}"
    if high >= path_s - slack:
        return _compatible(low, high, path_s, LITTLE * parts[-1].baseline_s)
    why = _largest_side_effect(True, parts, causes) or _partial(path_s - slack, parts, causes)
    if high < 0:
        return f"a loss{why}"
    return f"less{why or ' than the path says'}" if low > 0 else f"less, if anything{why}"


def _compatible(low: float, high: float, path_s: float, little_s: float) -> str:
    """Returns the result of `verdict` for an interval that contains the time on the path.

    Args:
        low: lower end of the interval of the gain, s.
        high: upper end of this interval, s.
        path_s: time on the path, s.
        little_s: largest effect that counts as little, s.
    """
    is_little = max(abs(low), abs(high)) <= max(little_s, LEAST_SLACK_S)
    if (high - low) / 2 <= SHARP * path_s or (path_s == 0 and is_little):
        return "as the path says"
    if low > 0:
        return f"a gain of undecided size: {WANTED}"
    if is_little:
        return f"undecided, but little: within {100 * LITTLE:.0f} % of the time"
    return f"undecided: {WANTED}"


def effects(parts: Sequence[Part], causes: Sequence[str]) -> list[Part]:
    """Returns the causes outside `causes` that significantly grew or shrank, by decreasing size."""
    others = (part for part in parts if part.cause and part.cause not in causes)
    moved = [part for part in others if _moves(part, grows=True) or _moves(part, grows=False)]
    return sorted(moved, key=lambda part: -abs(part.difference.mean))


def _largest_side_effect(less: bool, parts: Sequence[Part], causes: Sequence[str]) -> str:
    """Returns a text on the largest significant change of a cause outside `causes`.

    If `less`, it is the cause that grew most, which makes the gain smaller; otherwise, the cause
    that shrank most. Returns "" if there is no such cause.
    """
    most = next((part for part in effects(parts, causes) if _moves(part, grows=less)), None)
    if most is None:
        return ""
    way = "grows" if less else "shrinks"
    return f": {most.cause} {way} by {number(abs(most.difference.mean), 's')}"


def _partial(path_s: float, parts: Sequence[Part], causes: Sequence[str]) -> str:
    """Returns a text that states that the targeted causes shrink only in part.

    Returns "" if they shrink by at least `path_s`, or if no part belongs to a targeted cause.
    """
    own = [-part.difference.mean for part in parts if part.cause in causes]
    return ": the cause shrinks only in part" if own and sum(own) < path_s else ""


def _moves(part: Part, grows: bool) -> bool:
    """Returns true if a cause significantly grows or, if not `grows`, significantly shrinks."""
    low, high = _ends(part.difference)
    return low > 0 if grows else high < 0


def _ends(interval: Interval) -> tuple[float, float]:
    """Returns the ends of an interval; for an interval without ends (NaN), the mean twice."""
    if math.isnan(interval.low):
        return interval.mean, interval.mean
    return interval.low, interval.high
