"""Confidence intervals of means of values that are skewed, or mostly equal.

Student's t assumes that the spread is estimated from n - 1 independent deviations. The values here
are often differences that only a rare event makes. Then most values are equal, and the others lie
on one side of them. The spread is estimated from few values, and a sample may lack the event. There
are two corrections, in closed form:

* The degrees of freedom are the number of values that differ from the commonest one.
* The skewness is removed by Hall's monotone transformation of the t statistic.

On each side of the mean, two limits are calculated: Student's with these degrees of freedom, and
Hall's. The interval ends at the one farther from the mean.

Sources:
    Hall: On the removal of skewness by transformation, J. R. Stat. Soc. B 54(1), 1992, pp. 221-228.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodeb.base.student import t_quantile

__all__ = ["Reach", "varied"]

ROUNDING = 1e-9
"""Relative rounding error: neighbouring values that differ by no more than this count as equal.

It is relative to the largest number that the values were calculated from.
"""
NO_SKEWNESS = 1e-6
"""Absolute value of the skewness below which Hall's transformation is taken as linear."""


def varied(values: NDArray[np.float64], scale: float) -> int:
    ends = np.flatnonzero(np.diff(np.sort(values)) > ROUNDING * scale) + 1
    commonest = int(np.diff(np.concatenate(([0], ends, [values.size]))).max())
    return max(values.size - commonest, 1)


@dataclass(frozen=True, slots=True)
class Reach:
    """Parameters that determine how far the ends of an interval lie from the mean of `n` values."""

    n: int
    t_all: float
    """Quantile of Student's t for n - 1 degrees of freedom."""
    t_varied: float
    """Quantile of Student's t for the degrees of freedom from `varied`, at most n - 1."""

    @classmethod
    def of(cls, n: int, degrees: int, confidence: float) -> Reach:
        quantiles = t_quantile(np.array([n - 1, min(degrees, n - 1)]), (1 + confidence) / 2)
        return cls(n, float(quantiles[0]), float(quantiles[1]))

    def ends(self, mean: float, half: float, second: float, third: float) -> tuple[float, float]:
        """Returns the ends of the confidence interval of a mean.

        Both ends are the mean if the values do not vary.
        """
        deviation = math.sqrt(max(second, 0.0))
        if deviation**3 == 0:
            return mean, mean
        largest = (self.n - 2) / math.sqrt(self.n - 1)  # No n values have a larger skewness.
        skewness = min(max(third / deviation**3, -largest), largest)
        stdev = deviation * math.sqrt(self.n / (self.n - 1))
        above = max(half, -self._transformed(skewness, -self.t_all) * stdev)
        below = max(half, self._transformed(skewness, self.t_all) * stdev)
        return mean - below, mean + above

    def half_width(self, squares: float) -> float:
        return math.sqrt(max(squares, 0.0) / (self.n - 1))

    def _transformed(self, skewness: float, t: float) -> float:
        """Returns the mean minus an end of the interval, in sample standard deviations: the
        lower end for a positive `t`, the upper end for a negative one."""
        z = t / math.sqrt(self.n) - skewness / (6 * self.n)
        if abs(skewness) < NO_SKEWNESS:
            return z
        return 3 / skewness * (float(np.cbrt(1 + skewness * z)) - 1)
