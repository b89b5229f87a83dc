"""Verdicts on a claim: it holds, it is contradicted, or it is undecided.

Each states that a quantity lies in a range: above 0 for "more", between two margins for "the
same". A comparison *holds* if the 95 % interval lies within the range, which for a range with
two ends is a test of equivalence by two one-sided tests (Schuirmann 1987).

A false claim is accepted only if a false comparison is, so 95 % for each comparison is 95 % for
the claim (intersection-union test, Berger 1982). A claim is contradicted if one comparison is;
of 72 comparisons, some would be contradicted by chance. For contradictions the error of 5 %
therefore applies to the claim as a whole, by Holm's procedure (1979). It makes no assumption on
the dependence between comparisons, which share their replications, and it contradicts every
comparison that Bonferroni's correction would, and more. A claim of one comparison is judged by
its 95 % interval either way.

If all replications give the same number, the interval has no width and Student's distribution
does not apply. Six equal replications then show at an error of 5 % that the number is the median
(sign test). Fewer, as in the short version of a study, leave the comparison undecided.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nodeb import _core
from nodeb.stats import CONFIDENCE, Estimate, holm
from nodeb.storage.files import csv_text

Judgement = Literal["holds", "contradicted", "undecided"]
JUDGEMENTS: tuple[Judgement, ...] = ("holds", "contradicted", "undecided")
COLUMNS = (
    *("study", "id", "claim", "verdict", "comparisons", "hold", "contradicted", "undecided"),
    *("asked", "replications_missing", "evidence"),
)
MAX_MISSING = 1_000_000
"""Number of further replications above which a value counts as equal to the margin."""
ERROR = 1 - CONFIDENCE
MIN_EQUAL = 6
"""Smallest number of equal replications that is conclusive: 2 * 0.5^6 < 5 %."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Comparison:
    """A quantity, and the range that a claim requires."""

    estimate: Estimate
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False
    """True if the ends are excluded from the range."""
    rivals: tuple[Estimate, ...] = ()
    """Further estimates, all of which must also lie outside the range for a contradiction."""
    repeatable: bool = True
    """True if more replications reduce the uncertainty."""
    certain: bool = False
    """True if nothing in the scenario is random, so that a few equal replications decide."""
    name: str = ""
    """Distinguishes the comparison from others of its finding."""

    @property
    def holds(self) -> bool:
        """True if the whole 95 % interval lies in the range; false if there is no interval."""
        if self._too_equal(self.estimate):
            return False
        low, high = self.estimate.low, self.estimate.high
        if self.strict:
            return self.low < low and high < self.high
        return self.low <= low and high <= self.high

    @property
    def doubt(self) -> float:
        """Two-sided p-value of the hypothesis that the true value lies in the range.

        It is 1 if the measured value lies in the range, has no interval, or comes from fewer than
        `MIN_EQUAL` replications that are all equal (unless the comparison is `certain`). Otherwise
        it is at most 5 % if the 95 % interval excludes the range. With rivals, it is the largest of
        their p-values and that of the measured value.
        """
        return max(self._doubt(one) for one in (self.estimate, *self.rivals))

    def _doubt(self, found: Estimate) -> float:
        low, high = found.low, found.high
        if math.isnan(low) or math.isnan(high) or self._too_equal(found):
            return 1.0
        if found.value > self.high:
            return _p_value(found.value - self.high, found.value - low, found.runs)
        if found.value < self.low:
            return _p_value(self.low - found.value, high - found.value, found.runs)
        return 1.0

    def _too_equal(self, found: Estimate) -> bool:
        """Whether fewer than `MIN_EQUAL` replications are all equal, so that none decides."""
        equal = found.half_width <= ROUNDING * abs(found.value)
        return equal and not self.certain and 0 < found.runs < MIN_EQUAL

    def missing(self, level: float = ERROR) -> float:
        """About how many further replications would decide; infinity if no number would.

        The half-width decreases with the square root of the number of replications, and must fall
        below the distance to the nearer end of the range. `level` is the two-sided error of the
        interval that decides.
        """
        found = self.estimate
        if not self.repeatable or found.runs < 2 or not math.isfinite(found.half_width):
            return math.inf
        if self._too_equal(found):
            return MIN_EQUAL - found.runs
        needed = min(abs(found.value - self.low), abs(self.high - found.value))
        if needed == 0:
            return math.inf
        width = found.half_width
        if not self.low <= found.value <= self.high:
            width *= _quantile(level, found.runs) / _quantile(ERROR, found.runs)
        return max(1.0, found.runs * ((width / needed) ** 2 - 1))


def _p_value(distance: float, half: float, runs: int) -> float:
    """Returns 0 for a half-width of 0."""
    if half <= 0:
        return 0.0
    return 2 * _core.t_upper_tail(runs - 1, _quantile(ERROR, runs) * distance / half)


def _quantile(level: float, runs: int) -> float:
    """Returns the quantile of Student's t for a two-sided interval with error `level`."""
    return _core.t_quantile(runs - 1, 1 - level / 2)


@dataclass(frozen=True)
class Finding:
    """Evidence for a claim: comparisons that are reported together."""

    text: str
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Verdict:
    """Judgement of a claim by the measurement."""

    id: str
    section: str
    text: str
    judgement: Judgement
    counts: Counter[Judgement]
    """Number of comparisons by judgement."""
    asked: str
    """The required margins, in words."""
    parts: tuple[tuple[str, Judgement], ...]
    """Text and judgement of each piece of evidence."""
    missing: float = math.nan
    """About how many further replications would decide, infinite if no number would; NaN if the
    claim is decided, or if an undecided value comes from a stage."""
    cause: str = ""
    """Why the claim is contradicted, if the study says so."""

    @property
    def holds(self) -> bool:
        return self.judgement == "holds"

    @property
    def evidence(self) -> str:
        return "; ".join(text for text, _ in self.parts)

    @property
    def summary(self) -> str:
        """Counts of comparisons, such as "68 of 72 comparisons hold, 4 undecided"."""
        total = self.counts.total()
        noun = "comparison holds" if total == 1 else "comparisons hold"
        rest = [f"{self.counts[kind]} {kind}" for kind in JUDGEMENTS[1:] if self.counts[kind]]
        return ", ".join([f"{self.counts['holds']} of {total} {noun}", *rest])

    @property
    def effort(self) -> str:
        """Number of further replications that would decide, in words; "" if it is not known."""
        if self.missing > MAX_MISSING:
            return "a million replications more would not decide: the value is at the margin"
        number = rounded(self.missing)
        return f"replications that would decide: about {number}" if number else ""


def judge(
    findings: Sequence[Finding], *, name: str, text: str, asked: str = "", section: str = ""
) -> Verdict:
    comparisons = [one for finding in findings for one in finding.comparisons]
    doubts = [one.doubt for one in comparisons]
    refuted = holm(doubts, ERROR)
    judged: list[Judgement] = [
        "holds" if one.holds else "contradicted" if no else "undecided"
        for one, no in zip(comparisons, refuted, strict=True)
    ]
    counts: Counter[Judgement] = Counter(judged)
    left = iter(zip(comparisons, judged, strict=True))
    parts = tuple(_part(finding, [next(left) for _ in finding.comparisons]) for finding in findings)
    judgement = _overall(judged)
    open_ones = [c for c, found in zip(comparisons, judged, strict=True) if found == "undecided"]
    missing = _missing(open_ones, len(comparisons)) if judgement == "undecided" else math.nan
    return Verdict(name, section, text, judgement, counts, asked, parts, missing)


def _overall(judged: Sequence[Judgement]) -> Judgement:
    """Returns "contradicted" if any judgement is, else "undecided" if any is, else "holds"."""
    worst: tuple[Judgement, ...] = ("contradicted", "undecided")
    return next((kind for kind in worst if kind in judged), "holds")


def _part(
    finding: Finding, judged: Sequence[tuple[Comparison, Judgement]]
) -> tuple[str, Judgement]:
    notes = []
    for kind in JUDGEMENTS[1:]:
        some = [one.name for one, found in judged if found == kind]
        if some:
            named = ", ".join(name for name in some if name)
            notes.append(f"{kind}: {named}" if named else kind)
    text = f"{finding.text} ({', '.join(notes)})" if notes else finding.text
    return text, _overall([found for _, found in judged])


def _missing(undecided: Sequence[Comparison], total: int) -> float:
    """Returns the number of further replications that would decide a claim.

    The number suffices for the first contradiction if a value lies outside its range, or else for
    all comparisons to hold. It is NaN if an undecided value comes from a stage, so that more
    replications do not help, and infinite if no number suffices.
    """
    if not all(one.repeatable for one in undecided):
        return math.nan
    against = [one for one in undecided if not one.low <= one.estimate.value <= one.high]
    if against:
        return min(one.missing(ERROR / total) for one in against)
    return max(one.missing() for one in undecided)


def rounded(missing: float) -> str:
    """Returns "" for NaN and for more than `MAX_MISSING`."""
    if not missing <= MAX_MISSING:
        return ""
    step = 10 ** max(0, math.floor(math.log10(missing)) - 1)
    return str(math.ceil(missing / step) * step)


def to_csv(verdicts: Iterable[tuple[str, Verdict]]) -> str:
    """Returns the text of `claims.csv` from verdicts, each with the name of its study."""
    return csv_text(COLUMNS, ([study, *_row(verdict)] for study, verdict in verdicts))


def _row(one: Verdict) -> list[object]:
    counts = (one.counts.total(), *(one.counts[kind] for kind in JUDGEMENTS))
    missing = rounded(one.missing)
    return [one.id, one.text, one.judgement, *counts, one.asked, missing, one.evidence]
