"""Tests of the checks of claims and of their verdicts."""

from __future__ import annotations

import pytest

from nodeb.errors import InputError
from nodeb.stats import Estimate, calculated
from nodeb.study import (
    Effort,
    at_most,
    between,
    falling,
    flat,
    least_at,
    metric,
    most_at,
    ordered,
    rising,
)
from nodeb.study.case import Settings
from small_study import BLER, HIGH, LARGE, LOW, SMALL, campaign, download, judge, rate


def test_claim_can_hold_or_be_contradicted(study, work):
    of = rate.of(study.scenario(download))
    series = {bler: of(bler) for bler in BLER}
    verdict = judge(work, falling(series, SMALL))
    assert verdict.holds
    assert verdict.evidence.startswith("20 kB: ")
    assert verdict.evidence.endswith(" kb/s")
    assert verdict.asked == "each step falling"
    opposite = judge(work, rising(series))
    assert opposite.judgement == "contradicted"
    assert "(contradicted: 1 %" in opposite.evidence
    assert judge(work, flat(series, 0.9)).holds
    assert not judge(work, flat(series, 0.001)).holds


def test_undecided_claim_neither_holds_nor_is_contradicted(study, work):
    of = rate.of(study.scenario(download))
    verdict = judge(work, ordered({"a": of(LOW), "b": of(LOW).under({"runs": 99})}))
    assert verdict.judgement == "undecided"
    assert "at the margin" in verdict.effort


def test_claim_needs_checks_and_all_must_hold(work):
    true, false = at_most(5, 5, name="five"), at_most(5, 4, unit="s")
    assert judge(work, true).holds
    assert judge(work, true).evidence == "five 5.0"
    both = judge(work, true, false)
    assert (both.judgement, both.asked) == ("contradicted", "at most 5, at most 4 s")
    with pytest.raises(InputError, match="claim `x` makes no comparison"):
        judge(work)


def test_extreme_is_named_by_labels(study, work):
    of = rate.of(study.scenario(download))
    series = {bler: of(bler) for bler in BLER}
    verdict = judge(work, most_at(series, [LOW], LARGE))
    assert verdict.holds
    assert verdict.evidence.startswith("50 kB: most at BLER 1 %, ")
    assert verdict.asked == "most at 1 %, others worse"
    between_ends = judge(work, least_at(series, None))
    assert between_ends.judgement == "contradicted"
    assert "BLER 1 % worse by" in between_ends.evidence
    with pytest.raises(InputError, match="at least one other key"):
        most_at(series, list(BLER))


def test_ordered_names_both_values_and_their_difference(study, work):
    of = rate.of(study.scenario(download))
    verdict = judge(work, ordered({LOW: of(LOW), HIGH: of(HIGH)}, margin=1, unit="kb/s"))
    assert verdict.holds
    assert verdict.evidence.startswith("1 % ")
    assert (", 40 % " in verdict.evidence, ", difference " in verdict.evidence) == (True, True)
    assert verdict.asked == "differences above 1 kb/s"


def test_few_equal_replications_decide_only_certain_claims(study, tmp_path):
    equal = metric()(lambda m: m.app_bytes[..., 0] / 1000)
    of = equal.of(study.scenario(download, effort=Effort(runs=3)))
    for quick, certain, holds in ((0, 0, False), (0, 1, True), (1, 1, False)):
        work = campaign(study, tmp_path, settings=Settings(quick=bool(quick)))
        assert judge(work, at_most(of(LOW), 20, certain=bool(certain))).holds is holds


def test_facts_are_judged_by_their_own_interval(work):
    work.facts |= {"ber": Estimate(0.0123456, 0.012, 0.013, 10**6), "states": calculated(5)}
    verdict = judge(work, between(work.study.fact("ber", "errors"), 0.01, 0.02, name="rate"))
    assert verdict.evidence == "rate 0.0123 [0.012, 0.013] errors"
    assert judge(work, at_most(work.study.fact("states"), 4)).judgement == "contradicted"
    with pytest.raises(InputError, match="did you mean `states`"):
        judge(work, at_most(work.study.fact("state"), 4))
