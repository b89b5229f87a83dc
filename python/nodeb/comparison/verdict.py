"""Verdict on a difference from its interval, and the further replications that would decide it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from nodeb.stats import CONFIDENCE, Interval, runs_needed

__all__ = ["MoreRuns", "Verdict", "judge"]

MAX_RUNS = 1_000_000
"""Maximum total of replications that would decide; larger totals are reported as infinite."""
POWER = 0.8
"""Probability of a decision with the stated number of further replications."""
PLAUSIBLE = 99
"""Number of equally probable values of the true difference that are considered."""


@dataclass(frozen=True, slots=True)
class MoreRuns:
    """Range of the number of further replications after which 80 % of experiments are decided.

    Both ends are 0 if the verdict is already decided.
    """

    low: float = 0.0
    """Number of replications that suffices for half of the plausible differences.

    It is infinite for a single pair, and if more than `MAX_RUNS` replications would be needed.
    """
    high: float = 0.0
    """Number of replications that suffices for four in five of the plausible differences.

    It also suffices if there is no difference; it is infinite if no number does.
    """


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a difference, such as `better` or `undecided`, and further runs that it needs."""

    kind: str
    """`better`, `worse`; `differs` if neither direction is better; `same` within the margin;
    `equal` if all of at least two pairs are equal to the last bit; `undecided`.
    """
    sign: int = 0
    """1 if the other scenario has more than the baseline, -1 for less; otherwise 0."""
    more_runs: MoreRuns = MoreRuns()
    """Further replications that would decide; 0 if decided."""

    @property
    def word(self) -> str:
        """Kind of the verdict, with `more` or `less` in place of `differs`."""
        return self.kind if self.kind != "differs" else "more" if self.sign > 0 else "less"


def judge(
    found: Interval, margin: float, better: str = "", confidence: float = CONFIDENCE
) -> Verdict:
    """Returns the verdict on the interval of a difference.

    Other and baseline are the same if the whole interval lies within the margin (an equivalence
    test; with a 95 % interval its error probability is 2.5 %). They differ if the interval excludes
    0 and does not lie within the margin. If all pairs are equal, this shows neither a difference
    nor equivalence: a rare event may not have happened yet.

    Args:
        found: interval of other minus baseline.
        margin: equivalence margin in the unit of the values.
        better: better direction, `more` or `less`; "" if neither.
        confidence: confidence of the interval.
    """
    if found.low == found.high == 0:
        return Verdict("equal")
    if found.low >= -margin and found.high <= margin:
        return Verdict("same")
    if found.low > 0 or found.high < 0:
        sign, way = (1, "more") if found.low > 0 else (-1, "less")
        return Verdict("differs" if not better else "better" if way == better else "worse", sign)
    return Verdict("undecided", more_runs=_more_runs(found, margin, confidence))


def _more_runs(found: Interval, margin: float, confidence: float) -> MoreRuns:
    """Returns the numbers of further replications that would decide: a usual and a cautious one.

    A true difference d is decided by an interval that is narrow against |d|, as it then excludes 0,
    or against margin - |d|, as it then lies within the margin. The easier of these cases counts.
    The plausible values of d follow from the given interval. With a margin of 0 the cautious number
    is infinite, as no number suffices if d is 0.
    """
    if not math.isfinite(found.half_width):
        # A single pair does not show how much pairs vary, so the number is unknown (infinite).
        return MoreRuns(math.inf, math.inf)
    spread = _spread(found, confidence)
    targets = sorted(max(abs(d), margin - abs(d)) for d in _plausible(found.mean, spread))
    usual, small = targets[PLAUSIBLE // 2], targets[PLAUSIBLE // 5]

    def more(stdev: float, target: float) -> float:
        if target <= 0:
            return math.inf
        needed = runs_needed(stdev, target, confidence, POWER)
        return math.inf if needed > MAX_RUNS else float(max(needed - found.n, 1))

    # The larger of the two standard errors is taken, because the sample may lack rare values.
    widest = max(spread) * math.sqrt(found.n)
    return MoreRuns(more(found.stdev, usual), more(widest, min(small, margin)))


def _spread(found: Interval, confidence: float) -> tuple[float, float]:
    """Returns the standard errors that the sides of an interval imply: below and above the mean."""
    end = NormalDist().inv_cdf((1 + confidence) / 2)
    return (found.mean - found.low) / end, (found.high - found.mean) / end


def _plausible(mean: float, spread: tuple[float, float]) -> list[float]:
    """Returns `PLAUSIBLE` equally probable values of the true difference, for an observed mean.

    They are quantiles of a normal distribution around the mean, with one standard deviation below
    the mean and another above it.
    """
    normal = NormalDist()
    at = (normal.inv_cdf((place + 0.5) / PLAUSIBLE) for place in range(PLAUSIBLE))
    return [mean + spread[z > 0] * z for z in at]
