"""Tests of quantities that combine cases: metrics, pairs, minimum and maximum, and facts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nodeb.errors import InputError
from nodeb.stats import Estimate
from nodeb.study import at_most, change, least, least_at, metric, most, ordered, rising, rms
from nodeb.study.campaign import Campaign
from nodeb.study.quantity import Quantity, Sample
from small_study import BLER, HIGH, LOW, MIDDLE, download, duration, judge


def test_extremes_are_those_of_one_case(study, work):
    of = duration.of(study.scenario(download))
    along = {bler: of(bler) for bler in BLER}
    assert least(along).estimate(work) == of(LOW).estimate(work)
    assert most(along.values()).estimate(work) == of(HIGH).estimate(work)
    assert len(list(least(along).cases())) == 3
    with pytest.raises(InputError, match="no quantities"):
        least({})


class Known(Quantity):
    """Quantity with a given estimate, for which nothing is simulated."""

    def __init__(self, *estimate: float) -> None:
        self._estimate = Estimate(*estimate)

    def sample(self, work: Campaign, n: int) -> Sample:
        return Sample(self._estimate.value, np.full(n, self._estimate.value))

    def estimate(self, work: Campaign) -> Estimate:
        return self._estimate


def test_root_mean_square_matches_hand_computation(work):
    found = rms([Known(3.0, 2.9, 3.1, 4), Known(4.0, 3.8, 4.2, 3)]).estimate(work)
    assert found.value == pytest.approx(math.sqrt(12.5))
    half = math.hypot(3 * 0.1, 4 * 0.2) / (2 * found.value)
    assert (found.half_width, found.runs) == (pytest.approx(half), 3)


def test_combined_quantity_has_an_interval(study, work):
    of = duration.of(study.scenario(download))
    low, high = rms([of(LOW), of(MIDDLE)]), rms([of(HIGH), of(MIDDLE)])
    gap = (high - low).estimate(work)
    assert (gap.low < gap.value < gap.high, gap.runs) == (True, 8)
    assert gap.value == pytest.approx(high.estimate(work).value - low.estimate(work).value)
    alone = rms([of(LOW)]) - of(LOW)
    assert alone.estimate(work).half_width == pytest.approx(0, abs=1e-9)


def test_fact_cannot_be_combined_with_quantities(study, work):
    """Facts cannot be combined with quantities, because they have no replications to pair."""
    work.facts["delay"] = Estimate(2.0, 1.0, 3.0, 5)
    fact = study.fact("delay", "s")
    for combine in (
        lambda: fact - 1.5,
        lambda: 1.5 - fact,
        lambda: 2 * fact,
        lambda: 1 / fact,
        lambda: change(fact, 2),
        lambda: rms([fact]),
        lambda: least([fact]),
        lambda: rising({LOW: fact, HIGH: fact}),
        lambda: ordered({"a": fact, "b": 1}),
    ):
        with pytest.raises((InputError, TypeError), match="Fact"):
            combine()
    assert judge(work, at_most(fact, 2.5)).effort == ""
    cells = study.table("Table 1", "x", {"delay": {"found": fact}}).measure(work)
    assert [(cell.measured, cell.unit) for cell in cells] == [(work.facts["delay"], "s")]


def test_unknown_value_is_never_an_extreme(study, work):
    never = metric("s")(lambda m: m.transfer_s.mean(axis=-1) * math.nan)
    cases = study.scenario(download)
    known, unknown = duration.of(cases)(LOW), never.of(cases)(LOW)
    for series in ([unknown, known], [known, unknown]):
        assert least(series).estimate(work) == most(series).estimate(work) == known.estimate(work)
    along = {LOW: unknown, MIDDLE: known, HIGH: unknown}
    assert "least at BLER 20 %, " in judge(work, least_at(along, [HIGH])).evidence


def test_metrics_accept_columns_and_functions_of_one_run(study, work):
    def last_end(tables):
        flows = tables["flows"]
        return np.max(flows["start_s"] + flows["transfer_s"])

    @metric()
    def of_all(m, user):
        return m[last_end][..., 0] + m["bearers.bler"][..., 0] + m.transfer_s[..., user]

    cases = study.scenario(lambda bler: download(bler, users=2))
    log = work.log(cases(LOW))
    ends = (log.stack("start_s") + log.stack("transfer_s")).max(axis=1)
    wanted = ends.mean() + 0.01 + log.stack("transfer_s")[:, 1].mean()
    assert of_all(user=1).of(cases)(LOW).estimate(work).value == pytest.approx(wanted)
    assert log.stack("transfer_s").shape == (8, 2)
    with pytest.raises(InputError, match="did you mean `transfer_s`"):
        log.stack("transfers_s")
