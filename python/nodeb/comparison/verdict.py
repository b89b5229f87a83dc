"""Verdict on a difference by its interval, and further replications until it is decided."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from nodeb.stats import CONFIDENCE, Interval, runs_needed

__all__ = ["MoreRuns", "Verdict", "judge"]

MAX_RUNS = 1_000_000
"""Maximum total of replications for a decision; a larger total is reported as infinite."""
POWER = 0.8
"""Probability with which the stated number of further replications decides a true difference."""
PLAUSIBLE = 99
"""Number of plausible values of the true difference that are considered, all equally probable."""


@dataclass(frozen=True, slots=True)
class MoreRuns:
    """Usual and cautious number of further replications that would decide an undecided verdict.

    After so many replications the verdict is decided with a probability of 80 %. Both numbers are 0
    if the verdict is already decided.
    """

    low: float = 0.0
    """Usual number, which suffices for half of the plausible true differences.

    It is infinite for a single pair, and if more than `MAX_RUNS` replications in all are needed.
    """
    high: float = 0.0
    """Cautious number, which suffices for four in five of the plausible true differences.

    It also suffices if there is no difference. It is infinite for a single pair, for a margin of 0,
    and if more than `MAX_RUNS` replications in all are needed.
    """


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a difference, such as `better`, and further replications until it is decided."""

    kind: str
    """Kind of the verdict.

    One of: `better`; `worse`; `differs` for a metric of which neither direction is better; `same`
    if the interval lies within the margin; `equal` if there are at least two pairs, all equal to
    the last bit; `undecided`.
    """
    sign: int = 0
    """1 if the other scenario has more than the baseline, -1 if it has less.

    It is 0 if the kind is `same`, `equal` or `undecided`.
    """
    more_runs: MoreRuns = MoreRuns()
    """Numbers of further replications that would decide; 0 unless `kind` is `undecided`."""

    @property
    def word(self) -> str:
        """Kind of the verdict, with `more` or `less` in place of `differs`."""
        return self.kind if self.kind != "differs" else "more" if self.sign > 0 else "less"


def judge(
    found: Interval, margin: float, better: str = "", confidence: float = CONFIDENCE
) -> Verdict:
    """Returns the verdict on the interval of a difference.

    The other scenario and the baseline are the same if the whole interval lies within the margin.
    This is an equivalence test; with a 95 % interval its error probability is 2.5 %. They differ if
    the interval excludes 0 and does not lie within the margin. If all pairs are equal, the verdict
    is `equal`. That proves neither a difference nor equivalence: a rare event may not have happened
    yet.

    Args:
        found: mean and interval of the differences, other scenario minus baseline.
        margin: equivalence margin in the unit of the values; its ends belong to it.
        better: direction that is better, `more` or `less`; "" if neither is.
        confidence: confidence level of the interval, in (0, 1).
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

    An interval decides a true difference d in two cases. Its half-width is small against |d|, so
    that it excludes 0; or it is small against margin - |d|, so that it lies within the margin.
    With a margin of 0 the cautious number is infinite, because no number suffices if d is 0.
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
    """Returns the standard errors of a normal distribution that give an interval its ends."""
    end = NormalDist().inv_cdf((1 + confidence) / 2)
    return (found.mean - found.low) / end, (found.high - found.mean) / end


def _plausible(mean: float, spread: tuple[float, float]) -> list[float]:
    """Returns `PLAUSIBLE` equally probable values of the true difference, for an observed mean.

    They are quantiles of a normal distribution around the mean, but with different standard
    deviations below and above the mean: those of `spread`.
    """
    normal = NormalDist()
    at = (normal.inv_cdf((place + 0.5) / PLAUSIBLE) for place in range(PLAUSIBLE))
    return [mean + spread[z > 0] * z for z in at]
