"""The statements of a study as comparisons, judged by the measurements alone.

A claim is a generator that yields checks. A check compares quantities under common random numbers
with a stated margin: "more" is a paired difference above 0 or above `margin`, "less" one below 0,
"the same" a change within a tolerance. `nodeb.study.verdicts` derives the verdict of the claim.

Functions that return checks take further positional arguments (`*context`): points or texts with
which the evidence begins. The default of `unit` is the unit of the quantities; `digits` is the
number of decimals shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from nodeb.base.arguments import as_number
from nodeb.errors import InputError
from nodeb.stats import Estimate
from nodeb.study import verdicts
from nodeb.study.axis import Key, context_of, label_of
from nodeb.study.quantity import Fact, Quantity, Value, change, in_order, quantity, value_of
from nodeb.study.verdicts import Comparison, Finding, Verdict

if TYPE_CHECKING:
    from nodeb.study.campaign import Campaign

ARROW = " \N{RIGHTWARDS ARROW} "
ABOVE = partial(Comparison, low=0.0, strict=True)
Series = Mapping[Key, Quantity]
"""Quantities along an axis, by key of the axis."""


@dataclass(frozen=True)
class Check:
    """A comparison of quantities; several comparisons may be reported together as one check."""

    quantities: Sequence[Value]
    asked: str
    """The required margin, in words, such as "at most 10 %"."""
    findings: Callable[[Campaign], list[Finding]]
    """Returns the evidence: its text, and the comparisons that decide the verdict."""


@dataclass(frozen=True)
class Claim:
    """A statement of a study, with its checks. For the fields see `nodeb.study.Study.claim`."""

    id: str
    section: str
    text: str
    items: tuple[str, ...]
    checks: Callable[[], Iterable[Check]]
    cause: str = ""

    def judge(self, work: Campaign) -> Verdict:
        """Returns the verdict on the claim.

        Raises:
            InputError: the claim compares nothing.
        """
        checks = list(self.checks() or ())
        if not all(isinstance(check, Check) for check in checks):
            right = "checks that are yielded, such as `yield at_least(quantity, 1)`"
            raise InputError(f"claim `{self.id}` yields {checks!r}; expected {right}")
        work.measure(case for check in checks for one in check.quantities for case in one.cases())
        findings = [finding for check in checks for finding in check.findings(work)]
        if not any(finding.comparisons for finding in findings):
            raise InputError(f"claim `{self.id}` makes no comparison")
        asked = ", ".join(dict.fromkeys(check.asked for check in checks))
        verdict = verdicts.judge(
            findings, name=self.id, text=self.text, asked=asked, section=self.section
        )
        return replace(verdict, cause=self.cause if verdict.judgement == "contradicted" else "")


def between(
    of: Value | float,
    low: float,
    high: float,
    *context: Any,
    unit: str | None = None,
    digits: int = 1,
    name: str = "",
    certain: bool = False,
) -> Check:
    """Returns a check that a quantity lies between two numbers.

    Args:
        of: the quantity.
        low: the smallest accepted value.
        high: the largest accepted value.
        context: prefix of the evidence.
        unit: unit of the limits; None for the quantity's unit.
        digits: number of decimals shown.
        name: text before the measured value in the evidence.
        certain: true if nothing in the scenario is random, so that a few equal replications are
            conclusive.
    """
    if not as_number(low, "low") <= as_number(high, "high"):
        raise InputError(f"`between` has the limits {low} and {high}; expected the lower one first")
    of = value_of(of)
    fact, behind = isinstance(of, Fact), _unit([of], unit)
    asked = f"{low:g} to {high:g}"
    if math.isinf(low) or math.isinf(high):
        asked = f"at most {high:g}" if math.isinf(low) else f"at least {low:g}"

    def findings(work: Campaign) -> list[Finding]:
        value = of.estimate(work)
        shown = _shown(value, ".3g" if fact else f".{digits}f", behind)
        # The short version may simulate another scenario, whose result may be random.
        sure = certain and not work.settings.quick
        comparison = Comparison(value, low, high, repeatable=not fact, certain=sure)
        text = f"{_prefix(context)}{f'{name} {shown}'.strip()}"
        return [Finding(text, (comparison,))]

    return Check((of,), f"{asked}{behind}", findings)


def at_most(of: Value | float, high: float, *context: Any, **options: Any) -> Check:
    """Returns a check that a quantity is at most `high`; options are those of `between`."""
    return between(of, -math.inf, high, *context, **options)


def at_least(of: Value | float, low: float, *context: Any, **options: Any) -> Check:
    """Returns a check that a quantity is at least `low`; options are those of `between`."""
    return between(of, low, math.inf, *context, **options)


def rising(series: Series, *context: Any, **options: Any) -> Check:
    """Returns a check that each quantity of a series exceeds the one before it.

    Options are `unit` and `digits`.
    """
    return _trend(series, "rising", lambda a, b: b - a, ABOVE, context, **options)


def falling(series: Series, *context: Any, **options: Any) -> Check:
    """Returns a check that each quantity of a series is below the one before it.

    Options are `unit` and `digits`.
    """
    return _trend(series, "falling", lambda a, b: a - b, ABOVE, context, **options)


def flat(series: Series, tolerance: float, *context: Any, **options: Any) -> Check:
    """Returns a check that each quantity of a series is close to the one before it.

    It differs from that one by at most a fraction `tolerance`. Options are `unit` and `digits`.
    """
    if not as_number(tolerance, "tolerance") >= 0:
        raise InputError(f"the tolerance of `flat` is {tolerance}; expected a share such as 0.05")
    most = 100 * tolerance
    near, asked = partial(Comparison, low=-most, high=most), f"within {most:g} %"
    return _trend(series, asked, lambda a, b: change(b, a), near, context, **options)


def _trend(
    series: Series,
    asked: str,
    step: Callable[[Quantity, Quantity], Quantity],
    compare: Callable[..., Comparison],
    context: tuple[Any, ...],
    unit: str | None = None,
    digits: int = 1,
) -> Check:
    """A check that compares by `compare` the `step` from each quantity to the next one."""
    of, labels = tuple(map(quantity, series.values())), list(map(label_of, series))
    behind = _unit(of, unit)
    names = map(ARROW.join, pairwise(labels))
    steps = [(name, step(*pair)) for name, pair in zip(names, pairwise(of), strict=True)]

    def findings(work: Campaign) -> list[Finding]:
        values = ARROW.join(f"{one.estimate(work).value:.{digits}f}" for one in of)
        comparisons = tuple(compare(one.estimate(work), name=name) for name, one in steps)
        return [Finding(f"{_prefix(context)}{values}{behind}", comparisons)]

    return Check(of, f"each step {asked}", findings)


def ordered(
    terms: Mapping[Key, Quantity | float],
    *context: Any,
    margin: float = 0.0,
    unit: str | None = None,
    digits: int = 1,
) -> Check:
    """Returns a check that each named quantity exceeds the next one by more than `margin`."""
    of, names = tuple(map(quantity, terms.values())), list(map(label_of, terms))
    behind, form = _unit(of, unit), f".{digits}f"
    pairs = [
        (*above, *below, above[1] - below[1])
        for above, below in pairwise(zip(names, of, strict=True))
    ]

    def findings(work: Campaign) -> list[Finding]:
        found = []
        for name, left, other, right, pair in pairs:
            gap, runs = pair.estimate(work), pair.runs(work)
            # Both means are over the replications that the difference is computed from.
            a, b = (side.sample(work, runs).value for side in (left, right))
            text = (
                f"{_prefix(context)}{name} {a:{form}}, {other} {b:{form}}, "
                f"difference {_shown(gap, form, behind)}"
            )
            found.append(Finding(text, (Comparison(gap, low=margin, strict=True),)))
        return found

    return Check(of, f"differences above {margin:g}{behind}", findings)


def least_at(series: Series, places: Iterable[Key] | None, *context: Any, **options: Any) -> Check:
    """Returns a check that a series has its minimum at one of the given keys.

    If `places` is None, the minimum must be anywhere but at the two ends. Options are `unit` and
    `digits`.
    """
    return _extreme("least", series, places, context, **options)


def most_at(series: Series, places: Iterable[Key] | None, *context: Any, **options: Any) -> Check:
    """Returns a check that a series has its maximum at one of the given keys.

    If `places` is None, the maximum must be anywhere but at the two ends. Options are `unit` and
    `digits`.
    """
    return _extreme("most", series, places, context, **options)


def _extreme(
    find: str,
    series: Series,
    chosen: Iterable[Key] | None,
    context: tuple[Any, ...],
    unit: str | None = None,
    digits: int = 1,
) -> Check:
    """Returns a check that the best of the chosen keys is better than each key not chosen.

    Better is a smaller quantity if `find` is "least", a larger one if it is "most". If `chosen` is
    None, all keys but the first and the last are chosen. The claim is contradicted if another key
    is better than every chosen one. The same replications select the best key and compare it with
    the others, so the intervals are slightly too short.
    """
    sign, keys = 1 if find == "least" else -1, tuple(series)
    of = tuple(map(quantity, series.values()))
    named = keys[1:-1] if chosen is None else tuple(chosen)
    places = [at for at, key in enumerate(keys) if key in named]
    others = [at for at in range(len(keys)) if at not in places]
    if not others or not places or len(places) < len(named):
        raise InputError("expected keys of the series, and at least one other key to compare with")
    behind, form = _unit(of, unit), f".{digits}f"
    where = "between the ends" if chosen is None else f"at {', '.join(map(label_of, named))}"

    def findings(work: Campaign) -> list[Finding]:
        means = [sign * one.estimate(work).value for one in of]
        best = min(places, key=lambda at: in_order(means[at]))

        def worse(at: int, than: int) -> Estimate:
            more, less = (of[at], of[than])[::sign]
            return (more - less).estimate(work)

        comparisons = tuple(
            ABOVE(
                worse(at, best),
                rivals=tuple(worse(at, than) for than in places if than != best),
                name=label_of(keys[at]),
            )
            for at in others
        )
        found = min(range(len(keys)), key=lambda at: in_order(means[at]))
        value = _shown(of[found].estimate(work), form, behind)
        parts = [f"{_prefix(context)}{find} at {context_of(keys[found])}, {value}"]
        if chosen is None:
            parts += [
                f"{context_of(keys[at])} worse by {_shown(one.estimate, form, behind)}"
                for at, one in zip(others, comparisons, strict=True)
            ]
        return [Finding(", ".join(parts), comparisons)]

    return Check(of, f"{find} {where}, others worse", findings)


def _prefix(context: tuple[Any, ...]) -> str:
    """Returns the prefix of a piece of evidence: its context and a colon, or ""."""
    names = context_of(context)
    return f"{names}: " if names else ""


def _unit(of: Sequence[Value], unit: str | None) -> str:
    """Returns the unit that follows a number, after a space; "" without a unit.

    It is `unit` or, if that is None, the first unit that one of the quantities has.
    """
    if not of:
        raise InputError("there are no quantities to compare")
    text = next((one.unit for one in of if one.unit), "") if unit is None else unit
    return f" {text}" if text else ""


def _shown(value: Estimate, form: str, behind: str) -> str:
    """Returns a value as text with its unit, and with its interval if there are several runs."""
    interval = f" [{value.low:{form}}, {value.high:{form}}]" if value.runs > 1 else ""
    return f"{value.value:{form}}{interval}{behind}"
