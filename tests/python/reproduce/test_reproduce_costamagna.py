"""The study with a radio link under it: link and fit, traces, facts, and what is made of them."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nodeb import _core
from nodeb.errors import InputError
from nodeb.fit import ErrorSequence, compare, folder
from nodeb.link import Experiment
from nodeb.reproduce import cells, claims, grid, link_stage, search, study, traces
from nodeb.reproduce.campaign import Campaign, CoreSimulator
from nodeb.reproduce.measure import Estimate
from nodeb.reproduce.reproduction import run

COSTAMAGNA = study.load("costamagna")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of blocks of 4 PDUs that fail independently, 2 % of them, two PDUs together."""
    random = np.random.default_rng(7)
    failed = random.random(4000) < 0.02
    errors = np.zeros((4000, 4), dtype=np.uint8)
    errors[failed, 1:3] = 1
    comparison = compare(ErrorSequence(errors.ravel(), 4, "made"), [2], starts=1)
    return folder.save(comparison, tmp_path_factory.mktemp("fit"), 1)


def test_every_scenario_of_the_study_can_be_run(models: Path) -> None:
    filled = link_stage.with_models(COSTAMAGNA, models)
    selections = [s for t in filled.tables.values() for s in cells.table_selections(filled, t)]
    texts = {json.dumps(grid.scenario(filled, s)) for s in selections}
    assert len(texts) > 50
    for text in texts:
        assert "fitted:" not in text
        _core.resolve(text)


def test_where_results_lie_makes_no_other_scenario(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models, tmp_path / "elsewhere" / "fit")
    (selection,) = COSTAMAGNA.select(["model:two", "reading:once", "variant:sack", "traffic:ftp"])
    texts = set()
    for folder_of_models in (models, tmp_path / "elsewhere" / "fit"):
        filled = link_stage.with_models(COSTAMAGNA, folder_of_models)
        (chosen,) = filled.select([f"{choice.axis}:{choice.key}" for choice in selection])
        texts.add(json.dumps(grid.scenario(filled, filled.ordered(chosen))))
    assert len({text.replace(models.name, "fit") for text in texts}) == 1


def test_a_model_that_was_not_fitted_is_named(models: Path) -> None:
    axis = COSTAMAGNA.axes["model"]
    wrong = replace(axis.choices["two"], set={"radio.dch.errors": "fitted:pdu_hmm3"})
    broken = replace(COSTAMAGNA, axes={"model": replace(axis, choices={"two": wrong})})
    with pytest.raises(InputError, match="no model `pdu_hmm3` was fitted; did you mean `pdu_hmm2`"):
        link_stage.with_models(broken, models)


def test_repeated_until_right_the_variants_are_one_and_with_losses_they_are_not(
    models: Path,
) -> None:
    filled = link_stage.with_models(COSTAMAGNA, models)
    campaign = Campaign(filled, CoreSimulator(), seed=1, jobs=1, quick=True)

    def delivered(reading: str) -> dict[str, np.ndarray]:
        at = ["model:two", "traffic:ftp", f"reading:{reading}", "variant"]
        return {s[-1].key: campaign.log(s).stacked()["delivered_bytes"] for s in filled.select(at)}

    right, lossy = delivered("right"), delivered("never")
    assert all(np.array_equal(right["reno"], other) for other in right.values())
    assert lossy["reno"].mean() < lossy["newreno"].mean() < right["reno"].mean()
    # 15 PDUs carry the 536 bytes of a packet: no more than the channel has.
    most = 64_000 / 8 * 300 * 536 / 600
    assert 0.9 * most < right["reno"].mean() < most


def test_a_random_reading_does_not_depend_on_how_many_there_are(models: Path) -> None:
    filled = link_stage.with_models(COSTAMAGNA, models)
    few, many = (search.drawn(filled, count).axes["drawn"].choices for count in (3, 9))
    assert [many[key].set for key in few] == [choice.set for choice in few.values()]
    assert len({json.dumps(choice.set) for choice in many.values()}) == 9


def test_numbers_of_a_random_reading_lie_where_they_are_asked_for(models: Path) -> None:
    spec = COSTAMAGNA.search["numbers"]
    drawn = search.drawn(COSTAMAGNA, 200).axes["drawn"].choices.values()
    for path, law in spec.items():
        values = [choice.set[path] for choice in drawn]
        if "among" in law:
            assert set(values) == set(law["among"])
            continue
        found = [float(str(value).split()[0]) for value in values]
        assert law["from"] <= min(found)
        assert max(found) <= law["to"]
        middle = (
            (law["from"] * law["to"]) ** 0.5 if law.get("log") else (law["from"] + law["to"]) / 2
        )
        assert 60 < sum(value < middle for value in found) < 140


def test_a_reading_gives_the_result_where_the_last_variant_alone_falls_behind() -> None:
    result = {"others_mb": [1.5, 2.5], "share": [0.4, 0.6]}
    half = search.Reading((), (2.0, 2.1, 1.9, 1.0))
    assert half.share == pytest.approx(0.5)
    assert half.gives(result)
    assert not search.Reading((), (2.0, 2.0, 2.0, 1.9)).gives(result)
    slow = search.Reading((), (1.0, 1.0, 1.0, 0.5))
    assert not slow.sound(result)
    assert not slow.gives(result)


def test_distance_of_two_distributions_is_that_of_kolmogorov_and_smirnov() -> None:
    from scipy.stats import ks_2samp

    random = np.random.default_rng(3)
    one = np.sort(random.integers(0, 9, 200).astype(float))
    two = np.sort(random.integers(2, 12, 310).astype(float))
    assert traces.distance(one, two) == pytest.approx(ks_2samp(one, two).statistic)
    assert traces.distance(one, one) == 0


def test_the_third_duplicate_is_found_by_hand() -> None:
    none = np.zeros(0)
    times, acked = np.arange(8.0), np.array([0, 1, 1, 1, 2, 2, 2, 2], dtype=float)
    trace = traces.Trace("made", none, none, none, none, times, acked)
    assert trace.third_duplicate_s == 7.0
    assert np.isnan(replace(trace, ack_s=times[:7], acked=acked[:7]).third_duplicate_s)


def test_a_fact_is_judged_by_its_interval() -> None:
    campaign = Campaign(COSTAMAGNA, CoreSimulator(), seed=1)
    campaign.facts = {"ber": Estimate(2e-5, 1e-5, 4e-5, 1000)}
    check = {"kind": "fact", "fact": "ber", "name": "BER", "low": 0.9e-5, "high": 5e-5}
    verdict = claims.judge(campaign, {"id": "x", "text": "", "checks": [check]})
    assert verdict.holds
    assert verdict.evidence == "BER 2e-05 [1e-05, 4e-05]"
    narrow = {**check, "high": 3e-5}
    open_one = claims.judge(campaign, {"id": "x", "text": "", "checks": [narrow]})
    assert open_one.judgement == "undecided"
    below = {**check, "low": 4.1e-5}
    refuted = claims.judge(campaign, {"id": "x", "text": "", "checks": [below]})
    assert refuted.judgement == "contradicted"
    with pytest.raises(InputError, match="unknown fact `bre`; did you mean `ber`"):
        claims.judge(campaign, {"id": "x", "text": "", "checks": [{**check, "fact": "bre"}]})


@pytest.mark.slow
def test_link_fit_traces_and_claims_in_one_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = {
        "runs": 2,
        "cost": 2,
        "traced": 2,
        "link_bits": 400_000,
        "set": {"duration": "60 s"},
        "readings": 3,
    }
    tables = {"Table B": COSTAMAGNA.tables["Table B"]}
    # Errors enough in 0.4 Mbit.
    link = {**COSTAMAGNA.link, "eb_n0_db": [2.0]}
    asked = ("ber-at-3-db", "ack-gaps-overlap", "reno-worst")
    short = replace(
        COSTAMAGNA,
        tables=tables,
        quick=quick,
        link=link,
        claims=tuple(c for c in COSTAMAGNA.claims if c["id"] in asked),
    )
    monkeypatch.setattr(study, "load", lambda _: short)
    outcome = run("costamagna", tmp_path, quick=True, jobs=1)
    first = (tmp_path / "facts.csv").read_text()

    def again(*_: object, **__: object) -> None:
        raise AssertionError("the link is simulated again")

    with monkeypatch.context() as patch:
        patch.setattr(Experiment, "run", again)
        run("costamagna", tmp_path, quick=True, jobs=1)
        assert (tmp_path / "facts.csv").read_text() == first
    assert {verdict.id for verdict in outcome.claims} == set(asked)
    with (tmp_path / "facts.csv").open() as file:
        facts = {row["fact"]: float(row["value"]) for row in csv.DictReader(file)}
    assert 0 < facts["ber"] < facts["per"] <= facts["bler"] < 1
    assert facts["ber_known_channel"] < facts["ber_log_map"] <= facts["ber"] < facts["ber_one_slot"]
    with (tmp_path / "search.csv").open() as file:
        readings = list(csv.DictReader(file))
    assert [row["drawn"] for row in readings] == ["1", "2", "3"]
    assert facts["search_readings"] <= 3
    assert 0 <= facts["ack_gap_distance"] <= 1
    assert (tmp_path / "fit" / "pdu_hmm2.json").is_file()
    for name in ("sequence", "window", "ack_gaps"):
        assert (tmp_path / "figures" / f"{name}.png").stat().st_size > 10_000
    assert outcome.report.read_text(encoding="utf-8").count("Figure 4") >= 1
    with monkeypatch.context() as patch:
        patch.setattr(Experiment, "run", again)
        with pytest.raises(AssertionError, match="simulated again"):
            run("costamagna", tmp_path, quick=True, jobs=1, seed=2)
