"""Comparison of a simulated gain with the time on the path, in words.

Two properties of the gain's interval are used: if it excludes 0, there is a gain or a loss; if it
excludes the time on the path, the gain is smaller or larger. Agreement is stated only if the
interval is narrow enough.

A gain differs from the time on the path by what the causes change in addition to their targeted
time. The cause that does most of that is the reason for a gain that is smaller or larger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nodeb.answer.numbers import number
from nodeb.results.causes import cause_name
from nodeb.stats import Interval

if TYPE_CHECKING:
    from nodeb.explanation.differences import Part

__all__ = ["agreement", "reason"]

SHARP = 0.25
"""Largest half-width of an interval that counts as narrow, as a share of the time on the path."""
LEAST_REASON = 0.5
"""Smallest share that a cause has in the difference between gain and time on the path."""
LITTLE = 0.02
"""Largest effect that counts as little, as a share of the transfer's time."""
SLACK, LEAST_SLACK_S = 0.02, 1e-6
"""Tolerance for the time on the path: relative, and absolute in s; the larger one counts."""
WANTED = "more replications are needed"


def agreement(gain: Interval, path_s: float, whole_s: float) -> str:
    """A gain, s, in comparison with the time on the path that the change targets, in words."""
    low, high = _ends(gain)
    slack = max(SLACK * path_s, LEAST_SLACK_S)
    if low == high == 0:
        return "as the path says" if path_s == 0 else "no effect here"
    if low > path_s + slack:
        return "more"
    if high >= path_s - slack:
        return _compatible(low, high, path_s, LITTLE * whole_s)
    if high < 0:
        return "a loss"
    return "less" if low > 0 else "less, if anything"


def _compatible(low: float, high: float, path_s: float, little_s: float) -> str:
    """`agreement` for an interval that contains the time on the path."""
    is_little = max(abs(low), abs(high)) <= max(little_s, LEAST_SLACK_S)
    if (high - low) / 2 <= SHARP * path_s or (path_s == 0 and is_little):
        return "as the path says"
    if low > 0:
        return f"a gain of undecided size: {WANTED}"
    if is_little:
        return f"undecided, but little: within {100 * LITTLE:.0f} % of the time"
    return f"undecided: {WANTED}"


def reason(gain: Interval, targets: Mapping[str, float], parts: Sequence[Part]) -> str:
    """The cause that makes a gain differ most from the time on the path, with its change.

    It is "" if the gain does not differ, or no cause changes significantly by enough to be the
    reason. `targets` is the targeted time, s, by cause; the last one of `parts` is the whole.
    """
    path_s = sum(targets.values())
    slack = max(SLACK * path_s, LEAST_SLACK_S)
    low, high = _ends(gain)
    if low > path_s + slack:
        sign = -1
    elif high < path_s - slack and (low, high) != (0, 0):
        sign = 1
    else:
        return ""
    differ = [part for part in parts[:-1] if _exceeds(part, targets, sign)]
    most = max(differ, key=lambda part: sign * _beyond(part, targets), default=None)
    if most is None or _beyond(most, targets) / (path_s - gain.mean) < LEAST_REASON:
        return ""
    change, target = most.difference.mean, targets.get(most.cause)
    way = (
        f"{'grows' if change > 0 else 'shrinks'} by {number(abs(change), 's')}"
        if change
        else "stays"
    )
    text = f"{cause_name(most.cause)} {way}"
    if not target:
        return text
    instead = number(target, "s") if change < 0 else f"shrinking by {number(target, 's')}"
    return f"{text} instead of {instead}"


def _beyond(part: Part, targets: Mapping[str, float]) -> float:
    """Change of a cause's time, s, in addition to the targeted reduction."""
    return part.difference.mean + targets.get(part.cause, 0.0)


def _exceeds(part: Part, targets: Mapping[str, float], sign: int) -> bool:
    ends = (end + targets.get(part.cause, 0.0) for end in _ends(part.difference))
    return min(sign * end for end in ends) > 0


def _ends(interval: Interval) -> tuple[float, float]:
    """An interval of a single pair has no ends (NaN): then it is the mean twice."""
    if math.isnan(interval.low):
        return interval.mean, interval.mean
    return interval.low, interval.high
