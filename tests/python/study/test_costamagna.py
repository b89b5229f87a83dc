"""Tests of Costamagna's study: link and fit, traces, facts, and results."""

from __future__ import annotations

import csv
import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nodeb.reproduce
from nodeb import studies
from nodeb.errors import InputError
from nodeb.fit import ErrorSequence, compare, folder
from nodeb.link import Experiment
from nodeb.studies import costamagna, costamagna_link, costamagna_search, costamagna_traces
from nodeb.study import Quick
from nodeb.study.case import Settings
from small_study import campaign, resolved

STUDY = costamagna.study
DOCS = Path(__file__).parents[3] / "docs" / "reproductions"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Returns the folder with models fitted to blocks of 4 PDUs.

    Of these blocks 2 % fail independently, and each failed block loses two PDUs.
    """
    failed = np.random.default_rng(7).random(4000) < 0.02
    errors = np.zeros((4000, 4), dtype=np.uint8)
    errors[failed, 1:3] = 1
    comparison = compare(ErrorSequence(errors.ravel(), 4, "made"), [2], starts=1)
    return folder.save(comparison, tmp_path_factory.mktemp("fit"), 1)


def test_every_table_is_included():
    items = ["Table A", "Table B", "Table B, repeated", "Table C", "Table D"]
    assert studies.load("costamagna").items() == items


def test_every_scenario_of_the_study_runs(fitted):
    models = costamagna_link.models(fitted)
    cases = {case for table in STUDY.tables.values() for case in table.cases()}
    cases |= {costamagna.random_interpretation(number, costamagna.RENO) for number in range(1, 30)}
    assert all(case.of.endless for case in cases)
    assert len({resolved(case, **models) for case in cases}) > 80


def test_results_path_does_not_change_the_scenario(fitted, tmp_path):
    elsewhere = tmp_path / fitted.name
    shutil.copytree(fitted, elsewhere)
    case = costamagna.transfer(
        costamagna.SACK, interpretation=costamagna.INTERPRETATION["retransmitted once"]
    )
    texts = {resolved(case, **costamagna_link.models(place)) for place in (fitted, elsewhere)}
    assert len(texts) == 1


def test_lossless_variants_agree_and_lossy_ones_differ(fitted, tmp_path):
    settings = Settings(quick=True, given=costamagna_link.models(fitted))
    work = campaign(STUDY, tmp_path, settings=settings)

    def delivered(interpretation):
        cases = {
            v: costamagna.transfer(v, interpretation=interpretation) for v in costamagna.VARIANT
        }
        return {v: work.log(case).stack("delivered_bytes") for v, case in cases.items()}

    right, lossy = delivered(costamagna.UNTIL_RIGHT), delivered(costamagna.NEVER)
    reno, newreno = costamagna.RENO, costamagna.NEWRENO
    assert all(np.array_equal(right[reno], other) for other in right.values())
    assert lossy[reno].mean() < lossy[newreno].mean() < right[reno].mean()
    # A packet with 536 bytes of data takes 15 PDUs of 40 bytes, which limits the throughput.
    most = 64_000 / 8 * 300 * 536 / 600
    assert 0.9 * most < right[reno].mean() < most


@pytest.mark.parametrize(
    ("key", "least", "middle", "most"),
    [
        ("radio.dch.errors.process.gilbert_elliott.p", 1e-5, 10**-3.5, 1e-2),
        ("radio.dch.errors.process.gilbert_elliott.error_in_bad", 0.2, 0.6, 1.0),
        ("radio.dch.buffer", 5, 32.5, 60),
        ("uplink.rate", 16, (16 * 384) ** 0.5, 384),
    ],
)
def test_random_interpretations_follow_their_distributions(key, least, middle, most):
    distribution = costamagna_search.NUMBERS[key]
    found = [float(str(distribution(random.Random(seed))).split()[0]) for seed in range(200)]
    assert least <= min(found)
    assert max(found) <= most
    assert 60 < sum(value < middle for value in found) < 140


def test_published_search_can_be_repeated_from_its_numbers():
    """The published search can be repeated.

    The values of a random interpretation depend only on its number.
    """
    with (DOCS / "costamagna-search.csv").open(encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    assert len(published) == costamagna_search.INTERPRETATIONS
    for row in published:
        drawn = costamagna_search.drawn(int(row["drawn"]), costamagna.LEFT_OPEN)
        assert drawn.interpretation == row["reading"]
        assert [str(value) for value in drawn.numbers.values()] == list(row.values())[2:-5]


def test_interpretation_gives_result_if_only_reno_falls_behind():
    drawn = costamagna_search.drawn(1, costamagna.LEFT_OPEN)
    half = costamagna_search.Outcome(drawn, (2.0, 2.1, 1.9, 1.0))
    assert half.share == pytest.approx(0.5)
    assert half.given
    assert not replace(half, delivered=(2.0, 2.0, 2.0, 1.9)).given
    slow = replace(half, delivered=(1.0, 1.0, 1.0, 0.5))
    assert not slow.sound
    assert not slow.given


def test_distance_of_distributions_is_kolmogorov_smirnov():
    from scipy.stats import ks_2samp

    source = np.random.default_rng(3)
    one = np.sort(source.integers(0, 9, 200).astype(float))
    two = np.sort(source.integers(2, 12, 310).astype(float))
    assert costamagna_traces.distance(one, two) == pytest.approx(ks_2samp(one, two).statistic)
    assert costamagna_traces.distance(one, one) == 0


def test_third_duplicate_matches_hand_computation():
    none = np.zeros(0)
    times, acked = np.arange(8.0), np.array([0, 1, 1, 1, 2, 2, 2, 2], dtype=float)
    trace = costamagna_traces.Trace("made", none, none, none, none, times, acked)
    assert trace.third_duplicate_s == 7.0
    assert np.isnan(replace(trace, ack_s=times[:7], acked=acked[:7]).third_duplicate_s)


@pytest.mark.slow
def test_link_fit_traces_and_claims_run_in_one_study(tmp_path, monkeypatch):
    asked = "ber-at-3-db", "ack-gaps-overlap", "reno-worst"
    short = Quick(runs=2, cost=2, changes={"duration": "60 s"})
    monkeypatch.setattr(STUDY, "quick", short)
    monkeypatch.setattr(STUDY, "tables", {"Table B": STUDY.tables["Table B"]})
    monkeypatch.setattr(STUDY, "claims", [one for one in STUDY.claims if one.id in asked])
    # At 2 dB there are enough errors in 0.4 Mbit.
    monkeypatch.setattr(costamagna_link, "EB_N0_DB", 2)
    monkeypatch.setattr(costamagna_link, "QUICK_BITS", 400_000)
    monkeypatch.setattr(costamagna_search, "QUICK_INTERPRETATIONS", 3)
    outcome = nodeb.reproduce.run(STUDY, tmp_path, quick=True, jobs=1)
    first = (tmp_path / "facts.csv").read_text()

    def again(*_, **__):
        raise AssertionError("the link is simulated again")

    monkeypatch.setattr(Experiment, "run", again)
    nodeb.reproduce.run(STUDY, tmp_path, quick=True, jobs=1)
    assert (tmp_path / "facts.csv").read_text() == first
    assert {verdict.id for verdict in outcome.claims} == set(asked)
    with (tmp_path / "facts.csv").open() as file:
        facts = {row["fact"]: float(row["value"]) for row in csv.DictReader(file)}
    assert 0 < facts["ber"] < facts["per"] <= facts["bler"] < 1
    assert facts["ber_known_channel"] < facts["ber_log_map"] <= facts["ber"] < facts["ber_one_slot"]
    with (tmp_path / "search.csv").open() as file:
        interpretations = list(csv.DictReader(file))
    assert [row["drawn"] for row in interpretations] == ["1", "2", "3"]
    assert facts["search_readings"] <= 3
    assert 0 <= facts["ack_gap_distance"] <= 1
    assert (tmp_path / "fit" / "pdu_hmm2.json").is_file()
    for name in ("sequence", "window", "ack_gaps", "search"):
        assert (tmp_path / "figures" / f"{name}.png").stat().st_size > 10_000
        assert (tmp_path / "figures" / f"{name}.svg").is_file()
    assert "Figure 4" in outcome.report.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="simulated again"):
        nodeb.reproduce.run(STUDY, tmp_path, quick=True, jobs=1, seed=2)
