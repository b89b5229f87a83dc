"""A quantity that a statement wants in a range, and how sure it is that it lies there or not.

Where all replications gave the same number the interval has no width, and Student's law says
nothing. Six of them then tell at 5 % that the number is the usual one (a sign test); fewer, as the
short version of a study has, leave the comparison open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from nodeb.base.student import t_quantile
from nodeb.stats import CONFIDENCE, Estimate

ERROR = 1 - CONFIDENCE
EQUAL = 6
"""Replications from which on it counts that they are all the same: 2 * 0.5^6 < 5 %."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Comparison:
    """A quantity that a claim wants in a range.

    Attributes:
        estimate: what was measured.
        low: lower end of the range.
        high: upper end of the range.
        strict: whether the ends themselves are outside.
        rivals: further estimates, all of which must be outside as well to contradict.
        repeatable: whether more replications make it known better.
        certain: whether nothing in it is left to chance, so that few equal replications tell all.
        name: what tells it from the others of its finding.
    """

    estimate: Estimate
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False
    rivals: tuple[Estimate, ...] = ()
    repeatable: bool = True
    certain: bool = False
    name: str = ""

    @property
    def holds(self) -> bool:
        """Whether the whole interval lies in the range."""
        if self._too_equal(self.estimate):
            return False
        low, high = _ends(self.estimate)
        if self.strict:
            return self.low < low and high < self.high
        return self.low <= low and high <= self.high

    @property
    def doubt(self) -> float:
        """Two-sided p-value of the quantity lying where it was measured, outside the range; else 1.

        At most 5 % where the 95 % interval excludes the range.
        """
        return max(self._doubt(one) for one in (self.estimate, *self.rivals))

    def _doubt(self, found: Estimate) -> float:
        low, high = _ends(found)
        if math.isnan(low) or math.isnan(high) or self._too_equal(found):
            return 1.0
        if found.value > self.high:
            return _p_value(found.value - self.high, found.value - low, found.runs)
        if found.value < self.low:
            return _p_value(self.low - found.value, high - found.value, found.runs)
        return 1.0

    def _too_equal(self, found: Estimate) -> bool:
        """Whether replications are all the same that are too few for that to mean anything."""
        equal = found.half_width <= ROUNDING * abs(found.value)
        return equal and not self.certain and 0 < found.runs < EQUAL

    def missing(self, level: float = ERROR) -> float:
        """Replications more that would decide, about; infinite where none would.

        The half-width falls with the root of their number, and has to come below the distance to
        the nearer end of the range.

        Args:
            level: error at which the range is to be excluded where the value lies outside.
        """
        found = self.estimate
        if not self.repeatable or found.runs < 2 or not math.isfinite(found.half_width):
            return math.inf
        if self._too_equal(found):
            return EQUAL - found.runs
        needed = min(abs(found.value - self.low), abs(self.high - found.value))
        if needed == 0:
            return math.inf
        width = found.half_width
        if not self.low <= found.value <= self.high:
            width *= _quantile(level, found.runs) / _quantile(ERROR, found.runs)
        return max(1.0, found.runs * ((width / needed) ** 2 - 1))


def _ends(found: Estimate) -> tuple[float, float]:
    """The interval; of a calculated number the number itself."""
    return (found.value, found.value) if found.runs == 0 else (found.low, found.high)


def _p_value(distance: float, half: float, runs: int) -> float:
    """Two-sided p-value of a distance, from the half of the 95 % interval on that side."""
    if half <= 0:
        return 0.0
    from scipy.special import stdtr  # a slow import

    return float(2 * stdtr(runs - 1, -_quantile(ERROR, runs) * distance / half))


def _quantile(level: float, runs: int) -> float:
    """Student's t of which a two-sided interval with that error is so many standard errors."""
    return float(t_quantile(runs - 1, 1 - level / 2))
