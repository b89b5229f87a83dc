"""Three verdicts on a statement: it holds, it is contradicted, or the measurement leaves it open.

A claim is a set of comparisons: each says that a quantity lies in a range, above 0 for "more",
between two margins for "the same". A comparison *holds* where the 95 % interval lies within the
range, which for a range with two ends is a test of equivalence by two one-sided tests (Schuirmann
1987), is *contradicted* where the interval lies wholly outside, and is *undecided* otherwise.

A claim holds if all its comparisons do. To call a false claim true a comparison that is false has
to err, so 95 % for each is 95 % for the claim (intersection-union test, Berger 1982). It is
contradicted if one comparison is, and of 72 some would be by chance. There the error of 5 % is held
for the claim as a whole, by Holm's procedure (1979): it asks nothing of how the comparisons depend
on each other, which share their replications, and contradicts whatever Bonferroni's would and more.
A claim of one comparison is judged by its 95 % interval either way.

Where all replications gave the same number the interval has no width, and Student's law says
nothing. Six of them then tell at 5 % that the number is the usual one (a sign test); fewer, as the
short version of a study has, leave the comparison open.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nodeb.base.student import t_quantile
from nodeb.stats import CONFIDENCE, Estimate, holm
from nodeb.storage.files import csv_text

Judgement = Literal["holds", "contradicted", "undecided"]
JUDGEMENTS: tuple[Judgement, ...] = ("holds", "contradicted", "undecided")
COLUMNS = (
    "study",
    "id",
    "claim",
    "verdict",
    "comparisons",
    "hold",
    "contradicted",
    "undecided",
    "asked",
    "replications_missing",
    "evidence",
)
NEVER = 1_000_000
"""A margin that more replications than these would not tell from what was measured is met."""
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
        low, high = self.estimate.low, self.estimate.high
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
        low, high = found.low, found.high
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


def _p_value(distance: float, half: float, runs: int) -> float:
    """Two-sided p-value of a distance, from the half of the 95 % interval on that side."""
    if half <= 0:
        return 0.0
    from scipy.special import stdtr  # a slow import

    return float(2 * stdtr(runs - 1, -_quantile(ERROR, runs) * distance / half))


def _quantile(level: float, runs: int) -> float:
    """Student's t of which a two-sided interval with that error is so many standard errors."""
    return float(t_quantile(runs - 1, 1 - level / 2))


@dataclass(frozen=True)
class Finding:
    """A piece of evidence: comparisons that are told together.

    Attributes:
        text: what was measured.
        comparisons: what it is judged by.
    """

    text: str
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Verdict:
    """A claim and what the measurement says of it.

    Attributes:
        id: name of the claim.
        section: where the study says it.
        text: the claim in short words.
        judgement: what came out.
        counts: how many of its comparisons came out how.
        asked: the margins that they ask for.
        parts: each piece of evidence, and what came out of it.
        missing: replications more that would decide, about; NaN where nothing is open, or what is
            open was found beside the replications.
    """

    id: str
    section: str
    text: str
    judgement: Judgement
    counts: Counter[Judgement]
    asked: str
    parts: tuple[tuple[str, Judgement], ...]
    missing: float = math.nan

    @property
    def holds(self) -> bool:
        """Whether the measurement bears the claim out."""
        return self.judgement == "holds"

    @property
    def evidence(self) -> str:
        """The figures it was judged from."""
        return "; ".join(text for text, _ in self.parts)

    @property
    def against(self) -> tuple[str, ...]:
        """The evidence that keeps it from holding: what contradicts it, or else what is open."""
        wanted = self.judgement
        return tuple(t for t, found in self.parts if found == wanted) if wanted != "holds" else ()

    @property
    def summary(self) -> str:
        """The comparisons, counted: "68 of 72 comparisons hold, 4 undecided"."""
        total = self.counts.total()
        noun = "comparison holds" if total == 1 else "comparisons hold"
        rest = [f"{self.counts[kind]} {kind}" for kind in JUDGEMENTS[1:] if self.counts[kind]]
        return ", ".join([f"{self.counts['holds']} of {total} {noun}", *rest])

    @property
    def effort(self) -> str:
        """What would decide an open claim; empty where there is nothing to decide."""
        if self.judgement != "undecided" or math.isnan(self.missing):
            return ""
        if self.missing > NEVER:
            return (
                "a million replications more would not decide: what was measured is practically "
                "the margin itself"
            )
        number = rounded(self.missing)
        noun = "replication" if number == "1" else "replications"
        return f"about {number} {noun} more would decide"


def judge(
    findings: Sequence[Finding], *, name: str, text: str, asked: str = "", section: str = ""
) -> Verdict:
    """The verdict on a claim from its findings; there must be a comparison among them."""
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
    """Contradicted if one is, else undecided if one is."""
    worst: tuple[Judgement, ...] = ("contradicted", "undecided")
    return next((kind for kind in worst if kind in judged), "holds")


def _part(
    finding: Finding, judged: Sequence[tuple[Comparison, Judgement]]
) -> tuple[str, Judgement]:
    """The text of a finding, with what does not hold of it, and its judgement."""
    told = []
    for kind in JUDGEMENTS[1:]:
        some = [one.name for one, found in judged if found == kind]
        if some:
            named = ", ".join(name for name in some if name)
            told.append(f"{kind}: {named}" if named else kind)
    text = f"{finding.text} ({', '.join(told)})" if told else finding.text
    return text, _overall([found for _, found in judged])


def _missing(undecided: Sequence[Comparison], total: int) -> float:
    """Replications that would decide a claim: the first that contradicts, or all that may hold."""
    if not all(one.repeatable for one in undecided):
        return math.nan
    against = [one for one in undecided if not one.low <= one.estimate.value <= one.high]
    if against:
        return min(one.missing(ERROR / total) for one in against)
    return max(one.missing() for one in undecided)


def rounded(missing: float) -> str:
    """Replications, rounded up to the two digits that a guess is worth; empty if none decide."""
    if not missing <= NEVER:
        return ""
    step = 10 ** max(0, math.floor(math.log10(missing)) - 1)
    return str(math.ceil(missing / step) * step)


def to_csv(study: str, found: Iterable[Verdict]) -> str:
    """The text of `claims.csv`; what no number of replications decides has no number there."""
    return csv_text(COLUMNS, ([study, *_row(one)] for one in found))


def _row(one: Verdict) -> list[object]:
    counts = (one.counts.total(), *(one.counts[kind] for kind in JUDGEMENTS))
    missing = rounded(one.missing)
    return [one.id, one.text, one.judgement, *counts, one.asked, missing, one.evidence]
