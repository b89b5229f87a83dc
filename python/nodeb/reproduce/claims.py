"""Judges the statements of a study from the measurement alone.

A claim is data: a list of checks, all of which must hold. A check compares quantities under common
random numbers; "more" and "less" mean that the 95 % interval of the paired difference excludes
zero. What the measurement leaves undecided does not hold.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nodeb import analytics
from nodeb.errors import InputError
from nodeb.reproduce import cells
from nodeb.reproduce.campaign import Campaign
from nodeb.reproduce.measure import Combined, Constant, Estimate, Quantity, estimate
from nodeb.reproduce.study import Choice, Selection, nearest

COLUMNS = ("study", "id", "claim", "evidence", "holds")
ARROW = " \N{RIGHTWARDS ARROW} "


@dataclass(frozen=True)
class Verdict:
    """A claim and what the measurement says of it.

    Attributes:
        id: name of the claim.
        section: where the study says it.
        text: the claim in short words.
        holds: whether every check of it held.
        evidence: the figures it was judged from.
        failures: the parts of the evidence that speak against it.
    """

    id: str
    section: str
    text: str
    holds: bool
    evidence: str
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """The outcome of one comparison."""

    holds: bool
    text: str


@dataclass(frozen=True)
class Context:
    """Where a check looks: what goes without saying, and what its evidence names."""

    fixed: Selection
    shown: Selection

    def at(self, choices: Iterable[Choice] = ()) -> Selection:
        """The whole selection, with further choices; they replace others of their axes."""
        return tuple(_unique((*self.fixed, *self.shown, *choices)))

    @property
    def prefix(self) -> str:
        """Begin of a piece of evidence."""
        names = ", ".join(choice.context for choice in self.shown)
        return f"{names}: " if names else ""


def judge(campaign: Campaign, claim: Mapping[str, Any]) -> Verdict:
    """Judge one claim.

    Raises:
        InputError: if its data make no sense.
    """
    findings = [finding for check in claim["checks"] for finding in _check(campaign, check)]
    if not findings:
        raise InputError(f"claim `{claim['id']}` checks nothing")
    return Verdict(
        id=claim["id"],
        section=claim.get("section", ""),
        text=claim["text"],
        holds=all(finding.holds for finding in findings),
        evidence="; ".join(finding.text for finding in findings),
        failures=tuple(finding.text for finding in findings if not finding.holds),
    )


def _unique(choices: Iterable[Choice]) -> list[Choice]:
    """Choices with one per axis: a later one replaces an earlier one."""
    by_axis: dict[str, Choice] = {}
    for choice in choices:
        by_axis[choice.axis] = choice
    return list(by_axis.values())


def _check(campaign: Campaign, check: Mapping[str, Any]) -> list[Finding]:
    kind = check["kind"]
    try:
        evaluate = KINDS[kind]
    except KeyError:
        raise InputError(f"unknown kind of check `{kind}`; {nearest(kind, KINDS)}") from None
    study = campaign.study
    fixed = tuple(choice for choices in study.select(check.get("at", ())) for choice in choices)
    return [
        finding
        for shown in study.select(check.get("over", ()))
        for finding in evaluate(campaign, check, Context(fixed, shown))
    ]


def _term(campaign: Campaign, term: Any, context: Context) -> Quantity:
    """A quantity of a claim: a metric at a place, a number, a formula, or a combination of two."""
    if isinstance(term, int | float):
        return Constant(float(term))
    for operation in ("difference", "relative", "ratio"):
        if operation in term:
            left, right = (_term(campaign, part, context) for part in term[operation])
            return Combined(operation, left, right)
    if "formula" in term:
        return Constant(float(getattr(analytics, term["formula"])(**term["with"])))
    chosen = tuple(c for choices in campaign.study.select(term.get("at", ())) for c in choices)
    return cells.quantity(campaign, context.at(chosen), term.get("metric"))


def _show(value: Estimate, unit: str, digits: int) -> str:
    """A value, its interval where it has one, and its unit."""
    interval = ""
    if value.runs > 1:
        interval = f" [{value.low:.{digits}f}, {value.high:.{digits}f}]"
    return f"{value.value:.{digits}f}{interval}{_spaced(unit)}"


def _spaced(unit: str) -> str:
    return f" {unit}" if unit else ""


def _trend(campaign: Campaign, check: Mapping[str, Any], context: Context) -> list[Finding]:
    """Along an axis the metric rises, falls, or stays within a relative tolerance."""
    study, digits = campaign.study, check.get("digits", 1)
    steps = study.choices(check["along"])
    series = [cells.quantity(campaign, context.at([step]), check["metric"]) for step in steps]
    values = [f"{estimate(one).value:.{digits}f}" for one in series]
    text = f"{context.prefix}{ARROW.join(values)}{_spaced(check.get('unit', ''))}"
    holds = all(
        _moves(a, b, check["trend"], check.get("tolerance", 0.0)) for a, b in pairwise(series)
    )
    return [Finding(holds, text if holds else f"{text} ({_not(check['trend'])})")]


def _not(trend: str) -> str:
    return {"rising": "not rising throughout", "falling": "not falling throughout"}.get(
        trend, "not constant"
    )


def _moves(first: Quantity, second: Quantity, trend: str, tolerance: float) -> bool:
    if trend == "flat":
        change = estimate(Combined("relative", second, first))
        return -100 * tolerance <= change.low and change.high <= 100 * tolerance
    step = estimate(Combined("difference", second, first))
    if trend == "rising":
        return step.low > 0
    if trend == "falling":
        return step.high < 0
    raise InputError(f"unknown trend `{trend}`; {nearest(trend, ('rising', 'falling', 'flat'))}")


def _extreme(campaign: Campaign, check: Mapping[str, Any], context: Context) -> list[Finding]:
    """Along an axis the metric has its `find` (least or most) at one of `places`, or between.

    With `places` the extreme is where the mean is, and the evidence names what the 95 % intervals
    of the paired differences do not tell from it. Without, both ends must be told from it.
    The extreme is chosen from the same replications, which makes those intervals a little short.
    """
    study, find, digits = campaign.study, check["find"], check.get("digits", 1)
    if find not in ("least", "most"):
        raise InputError(f"unknown extreme `{find}`; {nearest(find, ('least', 'most'))}")
    steps = study.choices(check["along"])
    series = [cells.quantity(campaign, context.at([step]), check["metric"]) for step in steps]
    sign = 1 if find == "least" else -1
    best = min(range(len(steps)), key=lambda at: sign * estimate(series[at]).value)
    # How much worse each other place is: an interval above zero tells it from the extreme.
    gaps = [estimate(Combined("difference", *(one, series[best])[::sign])) for one in series]
    told = [gap.low > 0 for gap in gaps]
    value = _show(estimate(series[best]), check.get("unit", ""), digits)
    text = f"{context.prefix}{find} at {steps[best].context}, {value}"
    if "places" in check:
        near = [step.label for step, far in zip(steps, told, strict=True) if not far]
        near.remove(steps[best].label)
        text += f" (not told from it: {', '.join(near)})" if near else ""
        return [Finding(steps[best].key in check["places"], text)]
    ends = ", ".join(
        f"{steps[at].context} worse by {_show(gaps[at], check.get('unit', ''), digits)}"
        for at in (0, -1)
    )
    return [Finding(told[0] and told[-1], f"{text}, {ends}")]


def _order(campaign: Campaign, check: Mapping[str, Any], context: Context) -> list[Finding]:
    """Each term is greater than the next, by more than `margin`."""
    terms = [_term(campaign, _with_metric(term, check), context) for term in check["terms"]]
    names = check["names"]
    digits, unit = check.get("digits", 1), check.get("unit", "")
    findings = []
    for (name, left), (other, right) in pairwise(zip(names, terms, strict=True)):
        pair = Combined("difference", left, right)
        gap = estimate(pair)
        # The values of the replications that make up the difference.
        a, b = (side.sample(pair.runs()).value for side in (left, right))
        text = (
            f"{context.prefix}{name} {a:.{digits}f}, {other} {b:.{digits}f}, "
            f"difference {_show(gap, unit, digits)}"
        )
        findings.append(Finding(gap.low > check.get("margin", 0.0), text))
    return findings


def _with_metric(term: Any, check: Mapping[str, Any]) -> Any:
    """The check's metric for every term inside that names none."""
    if not isinstance(term, Mapping):
        return term
    for operation in ("difference", "relative", "ratio"):
        if operation in term:
            return {operation: [_with_metric(part, check) for part in term[operation]]}
    return (
        term if "metric" in term or "metric" not in check else {"metric": check["metric"], **term}
    )


def _between(campaign: Campaign, check: Mapping[str, Any], context: Context) -> list[Finding]:
    """The 95 % interval of a term lies between two numbers."""
    value = estimate(_term(campaign, _with_metric(check["term"], check), context))
    low, high = check.get("low", float("-inf")), check.get("high", float("inf"))
    shown = _show(value, check.get("unit", ""), check.get("digits", 1))
    name = f"{check['name']} " if "name" in check else ""
    inside = (
        low <= (value.low if value.runs > 1 else value.value)
        and (value.high if value.runs > 1 else value.value) <= high
    )
    return [Finding(inside, f"{context.prefix}{name}{shown}")]


def _fact(campaign: Campaign, check: Mapping[str, Any], context: Context) -> list[Finding]:
    """What was found beside the scenarios, by its name, lies between two numbers."""
    name = check["fact"]
    try:
        found = campaign.facts[name]
    except KeyError:
        raise InputError(f"unknown fact `{name}`; {nearest(name, campaign.facts)}") from None
    low, high = check.get("low", float("-inf")), check.get("high", float("inf"))
    ends = (found.low, found.high) if found.runs > 1 else (found.value, found.value)
    text = f"{check['name']} {_significant(found)}{_spaced(check.get('unit', ''))}"
    return [Finding(low <= ends[0] and ends[1] <= high, text)]


def _significant(found: Estimate) -> str:
    interval = f" [{found.low:.3g}, {found.high:.3g}]" if found.runs > 1 else ""
    return f"{found.value:.3g}{interval}"


KINDS: Mapping[str, Callable[[Campaign, Mapping[str, Any], Context], list[Finding]]] = {
    "trend": _trend,
    "extreme": _extreme,
    "order": _order,
    "between": _between,
    "fact": _fact,
}


def to_csv(study: str, verdicts: Iterable[Verdict]) -> str:
    """The text of `claims.csv`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for verdict in verdicts:
        holds = "true" if verdict.holds else "false"
        writer.writerow([study, verdict.id, verdict.text, verdict.evidence, holds])
    return text.getvalue()
