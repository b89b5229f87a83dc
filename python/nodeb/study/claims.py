"""The statements of a study as comparisons, judged from the measurement alone.

A claim is a generator that yields checks. A check compares quantities under common random numbers,
and says with which margin: "more" and "less" are paired differences above 0, or above the `margin`
asked; "the same" is a change within a tolerance. What comes of that: `nodeb.study.verdicts`.

The arguments behind the first ones of a check are its context: points or texts that its evidence
begins with. `unit` is that of the quantities unless it is given.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nodeb.errors import InputError
from nodeb.stats import Estimate
from nodeb.study import verdicts
from nodeb.study.axis import Key, context_of, label_of
from nodeb.study.comparison import Comparison
from nodeb.study.quantity import Fact, Quantity, Work, change, quantity
from nodeb.study.verdicts import Finding, Verdict

__all__ = [
    "Check",
    "Claim",
    "at_least",
    "at_most",
    "between",
    "falling",
    "flat",
    "least_at",
    "most_at",
    "ordered",
    "rising",
]

ARROW = " \N{RIGHTWARDS ARROW} "
Series = Mapping[Key, Quantity]
"""Quantities along an axis."""


@dataclass(frozen=True)
class Claim:
    """A statement of a study.

    Attributes:
        id: its name.
        section: where the study says it.
        text: the statement, in short words.
        items: the tables and figures that it is about: it is judged when all were measured, and
            only with all of the study where there are none.
        checks: makes the checks.
    """

    id: str
    section: str
    text: str
    items: tuple[str, ...]
    checks: Callable[[], Iterable[Check]]

    def judge(self, work: Work) -> Verdict:
        """What the measurement says of it.

        Raises:
            InputError: it compares nothing.
        """
        checks = list(self.checks())
        work.measure(case for check in checks for one in check.quantities for case in one.cases())
        findings = [finding for check in checks for finding in check.findings(work)]
        if not any(finding.comparisons for finding in findings):
            raise InputError(f"claim `{self.id}` checks nothing")
        asked = ", ".join(dict.fromkeys(check.asked for check in checks))
        about = {"id": self.id, "section": self.section, "text": self.text}
        return verdicts.judge(findings, about, asked)


class Check(ABC):
    """A comparison of quantities, or several that are told together."""

    quantities: Sequence[Quantity]
    context: tuple[Any, ...]
    unit: str
    digits: int

    @property
    @abstractmethod
    def asked(self) -> str:
        """The margin that it asks for."""

    @abstractmethod
    def findings(self, work: Work) -> list[Finding]:
        """What was measured, and what it is judged by."""

    @property
    def prefix(self) -> str:
        """Begin of a piece of evidence."""
        names = context_of(self.context)
        return f"{names}: " if names else ""

    @property
    def spaced(self) -> str:
        """The unit behind a number."""
        return f" {self.unit}" if self.unit else ""

    def shown(self, value: Estimate) -> str:
        """A value, its interval where it has one, and its unit."""
        digits = self.digits
        interval = f" [{value.low:.{digits}f}, {value.high:.{digits}f}]" if value.runs > 1 else ""
        return f"{value.value:.{digits}f}{interval}{self.spaced}"


@dataclass(frozen=True)
class _Between(Check):
    quantities: tuple[Quantity, ...]
    low: float
    high: float
    context: tuple[Any, ...]
    unit: str
    digits: int
    name: str
    certain: bool

    @property
    def asked(self) -> str:
        if math.isinf(self.low):
            return f"at most {self.high:g}{self.spaced}"
        if math.isinf(self.high):
            return f"at least {self.low:g}{self.spaced}"
        return f"{self.low:g} to {self.high:g}{self.spaced}"

    def findings(self, work: Work) -> list[Finding]:
        (of,) = self.quantities
        value, fact = of.estimate(work), isinstance(of, Fact)
        shown = f"{_significant(value)}{self.spaced}" if fact else self.shown(value)
        # The short version of a study may be another scenario, whose number is not the study's.
        certain = self.certain and not work.quick
        limits = self.low, self.high
        comparison = Comparison(value, *limits, repeatable=not fact, certain=certain)
        name = f"{self.name} " if self.name else ""
        return [Finding(f"{self.prefix}{name}{shown}", (comparison,))]


def _significant(found: Estimate) -> str:
    interval = f" [{found.low:.3g}, {found.high:.3g}]" if found.runs > 1 else ""
    return f"{found.value:.3g}{interval}"


def between(
    of: Quantity | float,
    low: float,
    high: float,
    *context: Any,
    unit: str | None = None,
    digits: int = 1,
    name: str = "",
    certain: bool = False,
) -> Check:
    """A quantity lies between two numbers.

    Args:
        of: the quantity.
        low: the smallest number that is asked for.
        high: the largest.
        context: what the evidence begins with.
        unit: of the numbers; None for that of the quantity.
        digits: decimals shown.
        name: stands before the number in the evidence.
        certain: whether nothing in it is left to chance, so that few equal replications tell all.
    """
    found = quantity(of)
    unit = found.unit if unit is None else unit
    return _Between((found,), low, high, context, unit, digits, name, certain)


def at_most(of: Quantity | float, high: float, *context: Any, **options: Any) -> Check:
    """A quantity is at most a number; options as for `between`."""
    return between(of, -math.inf, high, *context, **options)


def at_least(of: Quantity | float, low: float, *context: Any, **options: Any) -> Check:
    """A quantity is at least a number; options as for `between`."""
    return between(of, low, math.inf, *context, **options)


@dataclass(frozen=True)
class _Trend(Check):
    kind: str
    labels: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    context: tuple[Any, ...]
    unit: str
    digits: int
    tolerance: float

    @property
    def asked(self) -> str:
        if self.kind == "flat":
            return f"each step within {100 * self.tolerance:g} %"
        return f"each step {self.kind}"

    def findings(self, work: Work) -> list[Finding]:
        values = [f"{one.estimate(work).value:.{self.digits}f}" for one in self.quantities]
        text = f"{self.prefix}{ARROW.join(values)}{self.spaced}"
        moves = zip(pairwise(self.labels), pairwise(self.quantities), strict=True)
        return [Finding(text, tuple(self._move(work, ARROW.join(n), *pair) for n, pair in moves))]

    def _move(self, work: Work, name: str, first: Quantity, second: Quantity) -> Comparison:
        """One step."""
        if self.kind == "flat":
            most = 100 * self.tolerance
            return Comparison(change(second, first).estimate(work), -most, most, name=name)
        step = (second - first).estimate(work)
        if self.kind == "rising":
            return Comparison(step, low=0.0, strict=True, name=name)
        return Comparison(step, high=0.0, strict=True, name=name)


def _trend(
    kind: str,
    series: Series,
    context: tuple[Any, ...],
    unit: str | None,
    digits: int,
    tolerance: float = 0.0,
) -> Check:
    labels, of = tuple(map(label_of, series)), tuple(series.values())
    unit = _unit(of, unit)
    return _Trend(kind, labels, of, context, unit, digits, tolerance)


def _unit(of: Sequence[Quantity], unit: str | None) -> str:
    if not of:
        raise InputError("there are no quantities to compare")
    return of[0].unit if unit is None else unit


def rising(series: Series, *context: Any, unit: str | None = None, digits: int = 1) -> Check:
    """Along a series each quantity is more than the one before."""
    return _trend("rising", series, context, unit, digits)


def falling(series: Series, *context: Any, unit: str | None = None, digits: int = 1) -> Check:
    """Along a series each quantity is less than the one before."""
    return _trend("falling", series, context, unit, digits)


def flat(
    series: Series, tolerance: float, *context: Any, unit: str | None = None, digits: int = 1
) -> Check:
    """Along a series no quantity differs from the one before by more than a part of it."""
    return _trend("flat", series, context, unit, digits, tolerance)


@dataclass(frozen=True)
class _Ordered(Check):
    names: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    context: tuple[Any, ...]
    unit: str
    digits: int
    margin: float

    @property
    def asked(self) -> str:
        return f"differences above {self.margin:g}{self.spaced}"

    def findings(self, work: Work) -> list[Finding]:
        found, digits = [], self.digits
        for (name, left), (other, right) in pairwise(zip(self.names, self.quantities, strict=True)):
            pair = left - right
            gap, runs = pair.estimate(work), pair.runs(work)
            # The values of the replications that make up the difference.
            a, b = (side.sample(work, runs).value for side in (left, right))
            text = (
                f"{self.prefix}{name} {a:.{digits}f}, {other} {b:.{digits}f}, "
                f"difference {self.shown(gap)}"
            )
            found.append(Finding(text, (Comparison(gap, low=self.margin, strict=True),)))
        return found


def ordered(
    terms: Mapping[Key, Quantity | float],
    *context: Any,
    margin: float = 0.0,
    unit: str | None = None,
    digits: int = 1,
) -> Check:
    """Each of some quantities, by name, is more than the next, by more than a margin."""
    of = tuple(map(quantity, terms.values()))
    if unit is None:
        unit = next((one.unit for one in of if one.unit), "")
    return _Ordered(tuple(map(label_of, terms)), of, context, unit, digits, margin)


@dataclass(frozen=True)
class _Extreme(Check):
    """The best place is chosen from the same replications: the intervals are a little short."""

    find: str
    keys: tuple[Key, ...]
    quantities: tuple[Quantity, ...]
    places: tuple[Key, ...] | None
    context: tuple[Any, ...]
    unit: str
    digits: int

    @property
    def asked(self) -> str:
        where = "between the ends"
        if self.places is not None:
            where = f"at {', '.join(map(label_of, self.places))}"
        return f"{self.find} {where}, others worse"

    def findings(self, work: Work) -> list[Finding]:
        """Each other place is compared with the best of those named: it must be worse.

        It contradicts where it is better than every one of them.
        """
        sign, series, keys = 1 if self.find == "least" else -1, self.quantities, self.keys
        means = [sign * one.estimate(work).value for one in series]
        chosen = keys[1:-1] if self.places is None else self.places
        places = [at for at, key in enumerate(keys) if key in chosen]
        others = [at for at in range(len(keys)) if at not in places]
        best = min(places, key=lambda at: means[at])

        def worse(at: int, than: int) -> Estimate:
            more, less = (series[at], series[than])[::sign]
            return (more - less).estimate(work)

        comparisons = tuple(
            Comparison(
                worse(at, best),
                low=0.0,
                strict=True,
                rivals=tuple(worse(at, than) for than in places if than != best),
                name=label_of(keys[at]),
            )
            for at in others
        )
        found = min(range(len(keys)), key=lambda at: means[at])
        value = self.shown(series[found].estimate(work))
        text = f"{self.prefix}{self.find} at {context_of(keys[found])}, {value}"
        if self.places is None:
            ends = (
                f"{context_of(keys[at])} worse by {self.shown(c.estimate)}"
                for at, c in zip(others, comparisons, strict=True)
            )
            text = ", ".join([text, *ends])
        return [Finding(text, comparisons)]


def _extreme(
    find: str,
    series: Series,
    places: Iterable[Key] | None,
    context: tuple[Any, ...],
    unit: str | None,
    digits: int,
) -> Check:
    keys, of = tuple(series), tuple(series.values())
    chosen = None if places is None else tuple(places)
    there = keys[1:-1] if chosen is None else chosen
    if not there or not set(keys) - set(there) or set(there) - set(keys):
        raise InputError("an extreme needs places of its series, and others beside them")
    return _Extreme(find, keys, of, chosen, context, _unit(of, unit), digits)


def least_at(
    series: Series,
    places: Iterable[Key] | None,
    *context: Any,
    unit: str | None = None,
    digits: int = 1,
) -> Check:
    """Along a series the least is at one of some places; None for all but both ends."""
    return _extreme("least", series, places, context, unit, digits)


def most_at(
    series: Series,
    places: Iterable[Key] | None,
    *context: Any,
    unit: str | None = None,
    digits: int = 1,
) -> Check:
    """Along a series the most is at one of some places; None for all but both ends."""
    return _extreme("most", series, places, context, unit, digits)
