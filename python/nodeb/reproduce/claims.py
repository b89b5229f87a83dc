"""The statements of a study as comparisons, judged from the measurement alone.

A claim is data: a list of checks. A check compares quantities under common random numbers, and
says with which margin: "more" and "less" are paired differences above 0, or above the `margin`
asked; "the same" is a change within a tolerance. What comes of that: `nodeb.study.verdicts`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nodeb.errors import InputError
from nodeb.formulas import analytics
from nodeb.reproduce import cells
from nodeb.reproduce.campaign import Campaign
from nodeb.reproduce.measure import Combined, Constant, Quantity, estimate
from nodeb.reproduce.specs import Choice, Selection, nearest
from nodeb.reproduce.study import Study
from nodeb.stats import Estimate
from nodeb.study import verdicts
from nodeb.study.comparison import Comparison
from nodeb.study.verdicts import Finding, Verdict

ARROW = " \N{RIGHTWARDS ARROW} "


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
    if not any(finding.comparisons for finding in findings):
        raise InputError(f"claim `{claim['id']}` checks nothing")
    return verdicts.judge(findings, claim, _asked(campaign.study, claim["checks"]))


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
    """A quantity of a claim: a metric at a place or at the best, a number, a formula, or a pair."""
    if isinstance(term, int | float):
        return Constant(float(term))
    for operation in ("difference", "relative", "ratio"):
        if operation in term:
            left, right = (_term(campaign, part, context) for part in term[operation])
            return Combined(operation, left, right)
    if "formula" in term:
        return Constant(float(getattr(analytics, term["formula"])(**term["with"])))
    chosen = tuple(c for choices in campaign.study.select(term.get("at", ())) for c in choices)
    if "find" in term:
        return _best(campaign, term, Context(context.at(chosen), ()))
    return cells.quantity(campaign, context.at(chosen), term.get("metric"))


def _best(campaign: Campaign, term: Mapping[str, Any], context: Context) -> Quantity:
    """A metric at the place along an axis where its `find` is, least or most.

    The place is chosen from the same replications, which flatters it a little.
    """
    sign = _sign(term["find"])
    return min(_along(campaign, term, context)[1], key=lambda one: sign * estimate(one).value)


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
    steps, series = _along(campaign, check, context)
    values = [f"{estimate(one).value:.{check.get('digits', 1)}f}" for one in series]
    text = f"{context.prefix}{ARROW.join(values)}{_spaced(check.get('unit', ''))}"
    moves = zip(pairwise(steps), pairwise(series), strict=True)
    comparisons = [_move(check, a.label, b.label, pair) for (a, b), pair in moves]
    return [Finding(text, tuple(comparisons))]


def _along(
    campaign: Campaign, check: Mapping[str, Any], context: Context
) -> tuple[list[Choice], list[Quantity]]:
    """The places along a check's axis, and the metric at each."""
    steps = campaign.study.choices(check["along"])
    return steps, [cells.quantity(campaign, context.at([s]), check["metric"]) for s in steps]


def _move(
    check: Mapping[str, Any], begin: str, end: str, pair: tuple[Quantity, Quantity]
) -> Comparison:
    """One step of a trend."""
    trend, (first, second), name = check["trend"], pair, f"{begin}{ARROW}{end}"
    if trend == "flat":
        change = estimate(Combined("relative", second, first))
        most = 100 * check.get("tolerance", 0.0)
        return Comparison(change, -most, most, name=name)
    step = estimate(Combined("difference", second, first))
    if trend == "rising":
        return Comparison(step, low=0.0, strict=True, name=name)
    if trend == "falling":
        return Comparison(step, high=0.0, strict=True, name=name)
    raise InputError(f"unknown trend `{trend}`; {nearest(trend, ('rising', 'falling', 'flat'))}")


def _extreme(campaign: Campaign, check: Mapping[str, Any], context: Context) -> list[Finding]:
    """Along an axis the metric has its `find` (least or most) at one of `places`, or between.

    Without `places` these are all but both ends. Each other place is compared with the best of
    them: it must be worse. It contradicts where it is better than every one of them.
    The best is chosen from the same replications, which makes the intervals a little short.
    """
    find, digits, unit = check["find"], check.get("digits", 1), check.get("unit", "")
    sign = _sign(find)
    steps, series = _along(campaign, check, context)
    means = [sign * estimate(one).value for one in series]
    places = [at for at, step in enumerate(steps) if step.key in _places(check, steps)]
    others = [at for at in range(len(steps)) if at not in places]
    if not places or not others:
        raise InputError(f"an extreme needs places and others beside them: `{check['along']}`")
    best = min(places, key=lambda at: means[at])

    def worse(at: int, than: int) -> Estimate:
        return estimate(Combined("difference", *(series[at], series[than])[::sign]))

    comparisons = tuple(
        Comparison(
            worse(at, best),
            low=0.0,
            strict=True,
            rivals=tuple(worse(at, than) for than in places if than != best),
            name=steps[at].label,
        )
        for at in others
    )
    found = min(range(len(steps)), key=lambda at: means[at])
    value = _show(estimate(series[found]), unit, digits)
    text = f"{context.prefix}{find} at {steps[found].context}, {value}"
    if "places" not in check:
        ends = (
            f"{steps[at].context} worse by {_show(c.estimate, unit, digits)}"
            for at, c in zip(others, comparisons, strict=True)
        )
        text = ", ".join([text, *ends])
    return [Finding(text, comparisons)]


def _sign(find: str) -> int:
    """1 where the least is looked for, -1 where the most is."""
    if find not in ("least", "most"):
        raise InputError(f"unknown extreme `{find}`; {nearest(find, ('least', 'most'))}")
    return 1 if find == "least" else -1


def _places(check: Mapping[str, Any], steps: list[Choice]) -> list[str]:
    """Keys of the places where an extreme is looked for."""
    return list(check.get("places", [step.key for step in steps[1:-1]]))


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
        margin = check.get("margin", 0.0)
        findings.append(Finding(text, (Comparison(gap, low=margin, strict=True),)))
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
    """A term lies between two numbers."""
    value = estimate(_term(campaign, _with_metric(check["term"], check), context))
    shown = _show(value, check.get("unit", ""), check.get("digits", 1))
    name = f"{check['name']} " if "name" in check else ""
    # The short version of a study may be another scenario, whose number is not the study's.
    certain = check.get("certain", False) and not campaign.quick
    comparison = Comparison(value, *_limits(check), certain=certain)
    return [Finding(f"{context.prefix}{name}{shown}", (comparison,))]


def _limits(check: Mapping[str, Any]) -> tuple[float, float]:
    return check.get("low", -math.inf), check.get("high", math.inf)


KINDS: Mapping[str, Callable[[Campaign, Mapping[str, Any], Context], list[Finding]]] = {
    "trend": _trend,
    "extreme": _extreme,
    "order": _order,
    "between": _between,
}


def _asked(study: Study, checks: Iterable[Mapping[str, Any]]) -> str:
    """The margins that some checks ask for, each told once."""
    return ", ".join(dict.fromkeys(_margin(study, check) for check in checks))


def _margin(study: Study, check: Mapping[str, Any]) -> str:
    unit = _spaced(check.get("unit", ""))
    match check["kind"], check.get("trend"):
        case "trend", "flat":
            return f"each step within {100 * check.get('tolerance', 0.0):g} %"
        case "trend", trend:
            return f"each step {trend}"
        case "order", _:
            return f"differences above {check.get('margin', 0):g}{unit}"
        case "extreme", _:
            where = "between the ends"
            if "places" in check:
                along = {step.key: step.label for step in study.choices(check["along"])}
                where = f"at {', '.join(along[key] for key in check['places'])}"
            return f"{check['find']} {where}, others worse"
    low, high = _limits(check)
    if math.isinf(low):
        return f"at most {high:g}{unit}"
    return f"at least {low:g}{unit}" if math.isinf(high) else f"{low:g} to {high:g}{unit}"
