"""What an interval of a difference says, and how many replications more would decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from nodeb.stats import CONFIDENCE, Interval, runs_needed

__all__ = ["MoreRuns", "Verdict", "judge"]

MAX_RUNS = 1_000_000
"""Larger numbers of replications are reported as infinite."""
POWER = 0.8
"""Share of experiments that decide with the further replications that are named."""
PLAUSIBLE = 99
"""Plausible differences looked at, equally probable."""


@dataclass(frozen=True, slots=True)
class MoreRuns:
    """A range of further replications that decide in 80 % of experiments; 0 where decided."""

    low: float = 0.0
    """Sufficient for half of the differences that are plausible; infinite for a single pair."""
    high: float = 0.0
    """Sufficient for four in five, and if there is no difference; infinite if no number is."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an interval of a difference says."""

    kind: str
    """`better`, `worse`; `differs` where no direction is better; `same` within the margin; `equal`,
    all pairs to the last bit; `undecided`."""
    sign: int = 0
    """1 if the other has more, -1 if it has less, 0 if the two are not told apart."""
    more_runs: MoreRuns = MoreRuns()
    """Further replications that would decide; 0 where decided."""

    @property
    def word(self) -> str:
        """The kind; `more` or `less` instead of `differs`."""
        return self.kind if self.kind != "differs" else "more" if self.sign > 0 else "less"


def judge(
    found: Interval, margin: float, better: str = "", confidence: float = CONFIDENCE
) -> Verdict:
    """Returns what the interval of a difference says.

    The two are the same when the whole interval lies within the margin (an equivalence test, at
    half the error that 95 % would allow); one is better when the interval leaves out 0 and does not
    lie within. Pairs that are all equal tell of no difference, and of no margin either: what is
    rare may not have happened yet.

    Args:
        found: the interval of other less baseline.
        margin: in the unit of the values.
        better: whether `more` or `less` is.
        confidence: of the interval.
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
    """Returns the further replications that decide.

    A true difference d is told from 0, or found to be within the margin, by an interval that is
    narrow against the larger of |d| and margin - |d|. How large d is has to be guessed from the
    interval; without any difference only the margin decides, and a margin of 0 never does.
    """
    if not math.isfinite(found.half_width):
        return MoreRuns(math.inf, math.inf)  # one pair says nothing of their spread
    spread = _spread(found, confidence)
    targets = sorted(max(abs(d), margin - abs(d)) for d in _plausible(found.mean, spread))
    usual, small = targets[PLAUSIBLE // 2], targets[PLAUSIBLE // 5]

    def more(stdev: float, target: float) -> float:
        if target <= 0:
            return math.inf
        needed = runs_needed(stdev, target, confidence, POWER)
        return math.inf if needed > MAX_RUNS else float(max(needed - found.n, 1))

    widest = max(spread) * math.sqrt(found.n)  # the sample may lack what is rare
    return MoreRuns(more(found.stdev, usual), more(widest, min(small, margin)))


def _spread(found: Interval, confidence: float) -> tuple[float, float]:
    """Returns the standard errors of the mean, below and above, that the interval implies."""
    end = NormalDist().inv_cdf((1 + confidence) / 2)
    return (found.mean - found.low) / end, (found.high - found.mean) / end


def _plausible(mean: float, spread: tuple[float, float]) -> list[float]:
    """Returns true differences, equally probable, normal on either side of the mean."""
    normal = NormalDist()
    at = (normal.inv_cdf((place + 0.5) / PLAUSIBLE) for place in range(PLAUSIBLE))
    return [mean + spread[z > 0] * z for z in at]
