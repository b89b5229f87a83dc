"""Tests: scenarios and throughput of Hossain's study follow the definitions in the paper."""

from __future__ import annotations

import numpy as np
import pytest

from nodeb import studies
from nodeb.studies import hossain
from nodeb.study import Means
from nodeb.study.case import Settings
from small_study import campaign, resolved, scenario

STUDY = hossain.study


def test_every_figure_with_results_is_included():
    items = [*(f"Table {letter}" for letter in "ABC"), *(f"Figure {n}" for n in range(3, 10))]
    assert studies.load("hossain").items() == items


def test_segments_count_with_headers_and_without_check_bits():
    """Throughput counts segments with headers, here 1500 of 576 bytes in 100 s.

    The code with t = 1 takes 8 of 128 bits.
    """
    columns = {"delivered_bytes": np.array([536_000, 1_072_000]), "bearers.end_s": np.array([100])}
    means = Means(columns.__getitem__)
    kbps = 1500 * 576 * 8 / 1e5
    assert hossain.throughput.value(means) == pytest.approx(kbps)
    assert hossain.effective_throughput(code=1).value(means) == pytest.approx(kbps * 120 / 128)


def radio(case):
    """Returns those parameters of a scenario that the paper leaves open."""
    wcdma = scenario(case).radio
    others = wcdma.other_cells
    return {
        "eta": others.factor,
        "load": others.load.connections,
        "energy": wcdma.eb_n0_db,
        "code": wcdma.correctable_bits,
        "attempts": wcdma.max_failed_slots,
    }


def test_each_figure_has_its_own_baseline():
    place = hossain.B, hossain.ONE
    anchors, curves = radio(hossain.anchors(*place)), radio(hossain.curves(*place))
    assert all(curves[name] != value for name, value in anchors.items())
    for name, value in {"eta": 0.7, "load": 5.0, "energy": 20.0, "code": 4, "attempts": 2}.items():
        assert radio(hossain.curves(*place, **{name: value})) == curves | {name: value}
    assert {case.of for figure in STUDY.figures.values() for case in figure.cases()} == {
        hossain.curves
    }
    assert {case.of for table in STUDY.tables.values() for case in table.cases()} == {
        hossain.anchors
    }


def test_statements_are_judged_against_the_baseline_of_their_items():
    anchors = {"error-free", "anchor-a", "anchor-b"}
    for claim in STUDY.claims:
        quantities = [one for check in claim.checks() for one in check.quantities]
        known = {case.of is hossain.curves for one in quantities for case in one.cases()}
        assert known == {claim.id not in anchors and claim.items != ("Table B",)}, claim.id


def test_giving_up_packets_stops_fifteen_connections(tmp_path):
    work = campaign(STUDY, tmp_path, settings=Settings(quick=True))
    few, more = (
        hossain.anchor(hossain.B, hossain.FIFTEEN, attempts=slots).estimate(work).value
        for slots in (5, 10)
    )
    assert few < 0.6 * more


def test_every_scenario_of_the_study_runs():
    items = [*STUDY.tables.values(), *STUDY.figures.values()]
    cases = {case for item in items for case in item.cases()}
    assert all(case.of.endless for case in cases)
    assert len(set(map(resolved, cases))) > 400
