"""Composition of a difference between two scenarios: by cause, in pairs of replications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nodeb.answer.answer import Bar, Bars, Rows
from nodeb.answer.numbers import Shown, scale_of, shown, signed
from nodeb.answer.numbers import difference as shown_difference
from nodeb.answer.numbers import parts as in_parts
from nodeb.answer.paints import paint
from nodeb.answer.words import spelled
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.explanation.causes import Explanation
from nodeb.explanation.replications import CAUSES
from nodeb.results.causes import cause_name
from nodeb.stats import Interval, paired_difference

__all__ = ["Part", "difference", "difference_bars", "difference_rows", "difference_table"]

SHOWN_PARTS = 5
"""Maximum number of causes that have a bar of their own; the other causes share one bar."""
SMALL = 0.01
"""Fraction of the larger mean time below which a difference is shown in a smaller unit."""


@dataclass(frozen=True)
class Part:
    """Contribution of one cause, or of all causes together, to a difference in duration."""

    cause: str
    """Name of the cause; empty for the whole."""
    baseline_s: float
    """Mean time in the baseline, s."""
    other_s: float
    """Mean time in the other scenario, s."""
    difference: Interval
    """Mean of other minus baseline over the pairs of replications, s, with its interval."""


def difference(baseline: Explanation, other: Explanation) -> list[Part]:
    """Returns the difference `other` minus `baseline` by cause, and its sum as the last part.

    The causes are in order of decreasing absolute mean difference.

    The means by cause add up to the mean of the sum, because the causes add up to the duration in
    every replication.

    Raises:
        InputError: the explanations differ in seed or number of replications.
    """
    seeds = baseline.scenario.seed, other.scenario.seed
    if seeds[0] != seeds[1] or len(baseline.paths) != len(other.paths):
        raise InputError(
            "explanations are compared in pairs; expected the same seed and number of replications"
        )
    known = [name for name in CAUSES if name in baseline.causes or name in other.causes]
    parts = [_part(name, baseline.seconds(name), other.seconds(name)) for name in known]
    parts.sort(key=lambda part: -abs(part.difference.mean))
    return [*parts, _part("", baseline.times, other.times)]


def difference_table(parts: list[Part]) -> Table:
    """Returns a table of `cause`, `baseline_s`, `other_s`, `difference_s`, `low_s` and `high_s`.

    It has a row for each part. The row of the whole has the cause `sum`.
    """
    return Table(
        {
            "cause": [part.cause or "sum" for part in parts],
            "baseline_s": [part.baseline_s for part in parts],
            "other_s": [part.other_s for part in parts],
            "difference_s": [part.difference.mean for part in parts],
            "low_s": [part.difference.low for part in parts],
            "high_s": [part.difference.high for part in parts],
        }
    )


def _part(cause: str, base: np.ndarray, own: np.ndarray) -> Part:
    return Part(cause, float(base.mean()), float(own.mean()), paired_difference(own, base))


def difference_bars(parts: Sequence[Part], title: str) -> Bars:
    """Parts with a mean of 0 have no bar, nor has the sum. Of the other parts, the largest
    `SHOWN_PARTS` have a bar each, and the rest shares one."""
    own = [one for one in parts[:-1] if one.difference.mean]
    rest = own[SHOWN_PARTS:]
    means = [one.difference.mean for one in own[:SHOWN_PARTS]]
    means += [sum(one.difference.mean for one in rest)][: len(rest)]
    values = [signed(one) for one in in_parts(means, "s")]
    bars = [
        Bar(
            cause_name(one.cause),
            values[at],
            one.difference.mean,
            paint(one.cause),
            interval=shown_difference(
                one.difference.mean, one.difference.low, one.difference.high, "s"
            ).interval,
        )
        for at, one in enumerate(own[:SHOWN_PARTS])
    ]
    if rest:
        name = f"{spelled(len(rest))} other causes" if len(rest) > 1 else cause_name(rest[0].cause)
        bars.append(Bar(name, values[-1], means[-1], "k-many"))
    return Bars(title, bars, head=f"{title}:" if bars else "")


def difference_rows(parts: Sequence[Part], baseline: str, other: str, title: str = "") -> Rows:
    """Returns the parts of a difference as a table; its last row is the sum.

    If there are several pairs, causes without a difference in any pair are left out.
    """
    rows: list[list[str | Shown]] = []
    for part in parts:
        gap = part.difference
        if part.cause and gap.mean == 0 and not gap.stdev:
            continue
        largest = max(part.baseline_s, part.other_s)
        scale = scale_of(largest, "s")
        means = [shown(one, unit="s", scale=scale) for one in (part.baseline_s, part.other_s)]
        own = None if abs(gap.mean) < SMALL * largest else scale
        change = shown_difference(gap.mean, gap.low, gap.high, "s", scale=own).in_one_cell
        rows.append([cause_name(part.cause) or "sum", *means, change])
    return Rows(("cause", baseline, other, "difference (95 %)"), rows, title)
