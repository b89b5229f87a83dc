"""Reproductions of endless sources: bursts, paired curves, extremes, and the study made of them."""

from __future__ import annotations

import csv
import json
import math
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fake_bursts import ACK_S, FakeBursts, delay_s
from nodeb.errors import InputError
from nodeb.reproduce import cells, claims, grid, study
from nodeb.reproduce.campaign import Campaign
from nodeb.reproduce.log import Log, reduce
from nodeb.reproduce.measure import Measured, estimate
from nodeb.reproduce.metrics import metric
from nodeb.reproduce.reproduction import run

PRABHU = study.load("prabhu")
PAUSE_S = 0.67 * 0.3 + 0.33 * 5


def campaign(simulator: FakeBursts | None = None, **options: Any) -> Campaign:
    return Campaign(PRABHU, simulator or FakeBursts(), **{"seed": 1, "quick": True} | options)


def select(*selectors: str) -> study.Selection:
    return tuple(choice for choices in PRABHU.select(selectors) for choice in choices)


def tables(begin: list[float], delay: list[float], size: list[int], user: list[int]) -> Any:
    """Two users for 100 s, with ten set-ups each."""
    columns = ("transfer_s", "download_s", "rtt_mean_s")
    counts = ("app_bytes", "ip_bytes", "packets_sent", "packets_retransmitted")
    flows = {name: [math.nan] * 2 for name in columns} | {name: [1, 1] for name in counts}
    flows |= {"timeouts": [0, 0], "fast_retransmits": [0, 0], "user": [0, 1]}
    flows |= {"start_s": [0.0, 0.0], "complete": [False, False]}
    states = ("pch", "paging", "fach", "setting_up", "dch", "releasing")
    spent = {f"{state}_s": [0.0, 0.0] for state in states}
    spent |= {"fach_s": [60.0, 90.0], "dch_s": [40.0, 10.0], "set_ups": [10, 10]}
    return {
        "flows": flows,
        "bearers": {"bler": [0.0], "channel_rate_bps": [384_000.0]},
        "transfers": {
            "begin_s": begin,
            "download_s": [each - ACK_S for each in delay],
            "delay_s": delay,
            "bytes": size,
            "user": user,
        },
        "channels": spent,
    }


# ----------------------------------------------------------------------------------- measurement


def value(tables: Any, name: str, **params: float | str) -> float:
    log = Log()
    log.add(reduce(tables, 20.0))
    return estimate(Measured(log, metric(name), params)).value


def test_bursts_that_end_after_the_warm_up_count() -> None:
    # Ends at 5 (left out), 25 (began before, counts), 60 and 90.
    found = tables([0, 10, 50, 80], [5, 15, 10, 10], [9, 15_000, 10_000, 5000], [0, 0, 1, 0])
    assert value(found, "burst_delay_s") == pytest.approx(35 / 3)
    assert value(found, "burst_delay_s", until="phone") == pytest.approx(35 / 3 - ACK_S)
    assert value(found, "goodput_kbps") == pytest.approx(30_000 * 8 / 1000 / 80 / 2)
    assert value(found, "burst_rate_kbps") == pytest.approx((1000 + 1000 + 500) * 8 / 1000 / 3)
    assert value(found, "little_delay_s", think_s=1.5) == pytest.approx(2 * 80 / 3 - 1.5)
    assert value(found, "set_ups_per_burst") == pytest.approx(20 / 4), "of the whole run"


def test_a_run_without_a_burst_has_no_delay() -> None:
    assert math.isnan(value(tables([0], [5], [9], [0]), "burst_delay_s"))


def test_an_endless_source_is_no_unfinished_download() -> None:
    found = tables([0], [5], [9], [0])
    assert reduce(found).unfinished == 0
    del found["transfers"], found["channels"]
    assert reduce(found).unfinished == 2


def test_what_is_kept_does_not_grow_with_the_run() -> None:
    def kept(n: int) -> int:
        found = reduce(tables([30.0] * n, [1.0] * n, [1] * n, [0] * n))
        return sum(values.size for values in found.quantities.values())

    assert kept(10) == kept(100_000)


# ----------------------------------------------------------------------------------- the study


def test_every_figure_with_results_is_there() -> None:
    numbers = range(3, 10)
    assert [name for name in PRABHU.items() if "paired" not in name and "Figure" in name] == [
        f"Figure {n}" for n in numbers
    ]
    assert not any(figure.withheld for figure in PRABHU.figures.values()), "the text is known"


def test_the_scenarios_are_the_study_s() -> None:
    made = grid.scenario(PRABHU, select("connections:5", "policy:npe500", "threshold:7"))
    assert made["users"][0]["count"] == 5
    policy = made["radio"]["fach_dch"]["policy"]
    assert policy == {"non_preemptive": {"high": 7, "low": 1, "timeout": "500 ms"}}
    for name in ("Figure 7", "Figure 8"):
        for selection in cells.figure_selections(PRABHU, PRABHU.figures[name]):
            assert grid.scenario(PRABHU, selection)["radio"]["fach_dch"]["switch_time"] == "500 ms"
    for selection in cells.figure_selections(PRABHU, PRABHU.figures["Figure 9"]):
        assert grid.scenario(PRABHU, selection)["radio"]["fach_dch"]["dch_channels"] == 2


def test_a_point_is_200_000_seconds_after_the_warm_up() -> None:
    seconds = float(str(PRABHU.scenario["duration"]).split()[0]) - PRABHU.warm_up_s(False)
    for selection in cells.figure_selections(PRABHU, PRABHU.figures["Figure 5"]):
        assert grid.effort(PRABHU, selection, quick=False).runs * seconds == 200_000


def test_the_quick_version_is_shorter() -> None:
    quick = grid.scenario(PRABHU, select("threshold:3"), quick=True)
    assert quick["duration"] == "1500 s"
    assert PRABHU.warm_up_s(True) == 500
    assert grid.effort(PRABHU, (), quick=True).runs == 3


def test_the_mean_pause_is_that_of_the_traffic() -> None:
    source = PRABHU.scenario["users"][0]["traffic"]["on_off"]
    assert source["pause"]["exponential"]["mean"] == "300 ms"
    assert source["silence"]["exponential"]["mean"] == "5 s"
    assert source["silence_probability"] == 0.33
    (little,) = select("quantity:little")
    assert little.params["think_s"] == pytest.approx(PAUSE_S)


def test_claims_have_their_own_names_and_judge_known_items() -> None:
    ids = [claim["id"] for claim in PRABHU.claims]
    assert len(ids) == len(set(ids))
    for claim in PRABHU.claims:
        assert claim["items"], "every claim is about some item"
        assert set(claim["items"]) <= set(PRABHU.items())


def test_what_was_predicted_belongs_to_items_and_claims_that_exist() -> None:
    path = resources.files("nodeb.reproduce") / "prabhu" / "predicted.toml"
    predicted = tomllib.loads(path.read_text(encoding="utf-8"))["statements"]
    assert {entry["item"] for entry in predicted} == {"Figure 7", "Figure 8", "Figure 9"}
    ids = {claim["id"] for claim in PRABHU.claims}
    for entry in predicted:
        assert entry["claims"], entry["predicted"]
        assert set(entry["claims"]) <= ids


# ------------------------------------------------------------------------ paired curves, extremes


def test_figures_share_their_scenarios() -> None:
    simulator = FakeBursts()
    work = campaign(simulator)
    cells.figure(work, PRABHU.figures["Figure 3"], PRABHU.tables)
    assert len(simulator.calls) == 7 * 16 * 3
    for name in ("Figure 4", "Figure 3, paired", "Figure 4, paired"):
        cells.figure(work, PRABHU.figures[name], PRABHU.tables)
    assert len(simulator.calls) == 7 * 16 * 3


def test_a_paired_curve_is_known_better_than_its_parts() -> None:
    work = campaign(FakeBursts(noise=0.3))
    paired = cells.figure(work, PRABHU.figures["Figure 5, paired"], PRABHU.tables)
    plain = cells.figure(work, PRABHU.figures["Figure 5"], PRABHU.tables)
    base = plain.curves[0].cells
    for curve, absolute in zip(paired.curves, plain.curves[1:], strict=True):
        assert curve.label == absolute.label
        for gap, one, other in zip(curve.cells, absolute.cells, base, strict=True):
            ratio = one.measured.value / other.measured.value
            assert gap.measured.value == pytest.approx(100 * (ratio - 1))
            width = 100 * one.measured.half_width / one.measured.value
            assert gap.measured.half_width < 1e-6 < width, "the noise is common to all policies"


def judged(check: dict[str, Any], simulator: FakeBursts | None = None) -> claims.Verdict:
    base = {"kind": "extreme", "at": ["policy:original"], "over": ["connections:8"]}
    base |= {"along": "threshold:0,1,2,3,4,5,6,7,8", "metric": "burst_delay_s", "unit": "s"}
    work = campaign(simulator)
    return claims.judge(work, {"id": "x", "text": "x", "checks": [base | check]})


def test_an_extreme_lies_between_the_ends_or_not() -> None:
    inside = judged({"find": "least"})
    assert inside.holds, inside.evidence
    assert "least at T_h = 4" in inside.evidence
    at_an_end = judged({"find": "least", "along": "threshold:4,5,6"})
    assert at_an_end.judgement == "contradicted"
    assert "contradicted: 4" in at_an_end.evidence
    assert judged({"find": "most"}).judgement == "contradicted"


def test_an_extreme_is_at_a_place_or_not() -> None:
    assert judged({"find": "least", "places": ["4"]}).holds
    assert judged({"find": "least", "places": ["3", "5"]}).judgement == "contradicted"
    assert judged({"find": "most", "places": ["0", "8"]}).holds
    assert judged({"find": "most", "places": ["0"]}).judgement == "undecided", "8 is as high"
    with pytest.raises(InputError, match="did you mean `least`"):
        judged({"find": "leats"})


def test_a_term_may_be_the_metric_at_its_best_place() -> None:
    none = {"at": ["threshold:0"]}

    def best(find: str, **at: Any) -> dict[str, Any]:
        return {"find": find, "along": "threshold:0,1,2,3,4,5,6,7,8", **at}

    def within(low: float, high: float, *terms: dict[str, Any]) -> claims.Verdict:
        check = {"kind": "between", "term": {"relative": terms}, "low": low, "high": high}
        return judged(check, FakeBursts(own_noise=1e-4))

    assert within(-24.4, -24.1, best("least"), none).holds, "1 against 1.32, at T_h = 4"
    assert within(-10, 0, best("least"), none).judgement == "contradicted"
    assert within(-24.1, 0, best("most"), none).judgement != "contradicted", "both ends are as high"
    assert within(-5.2, -4.8, best("least", at=["policy:pe250"]), best("least")).holds
    with pytest.raises(InputError, match="did you mean `most`"):
        within(0, 1, best("mots"), none)


def test_places_that_noise_hides_are_named_and_ends_must_be_told() -> None:
    blurred = FakeBursts(own_noise=0.5)
    at_4 = judged({"find": "least", "places": ["4"]}, blurred)
    assert at_4.judgement == judged({"find": "least"}, blurred).judgement == "undecided"
    assert "(undecided: " in at_4.evidence
    assert "replications more would decide" in at_4.effort


# ----------------------------------------------------------------------------------- the whole run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prabhu")
    run("prabhu", folder, quick=True, simulator=FakeBursts())
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_for_every_point(whole: Path) -> None:
    found = rows(whole / "cells.csv")
    keys = [(row["item"], row["row"], row["column"]) for row in found]
    assert len(keys) == len(set(keys))
    assert not any(row["published"] for row in found), "the study prints pictures only"
    assert all(row["unit"] and row["measured"] for row in found)
    for item, count in (("Figure 3", 7 * 16), ("Figure 5", 7 * 16), ("Figure 9, paired", 6 * 16)):
        assert sum(row["item"] == item for row in found) == count
    (point,) = [
        r for r in found if (r["item"], r["row"], r["column"]) == ("Figure 3", "4", "N = 8")
    ]
    assert float(point["measured"]) == pytest.approx(delay_s(8, 4, "threshold"), rel=0.05)


def test_every_claim_is_judged_from_figures(whole: Path) -> None:
    found = rows(whole / "claims.csv")
    assert [row["id"] for row in found] == [claim["id"] for claim in PRABHU.claims]
    assert {"holds", "contradicted"} <= {row["verdict"] for row in found}
    for row in found:
        assert any(character.isdigit() for character in row["evidence"]), row["id"]


def test_the_page_says_what_is_left_out(whole: Path) -> None:
    page = (whole / "report.html").read_text()
    assert "500 s of each replication left out" in page
    assert "Set-ups (per burst)" in page
    assert "difference</th>" not in page, "there is nothing published to compare with"


def test_one_figure(tmp_path: Path) -> None:
    simulator = FakeBursts()
    outcome = run("prabhu", tmp_path, ["figure 3"], quick=True, simulator=simulator)
    assert {row["item"] for row in rows(tmp_path / "cells.csv")} == {"Figure 3"}
    assert len(simulator.calls) == 7 * 16 * 3
    about = {claim["id"] for claim in PRABHU.claims if claim["items"] == ["Figure 3"]}
    assert {row["id"] for row in rows(tmp_path / "claims.csv")} == about
    assert outcome.headline_title.startswith("Figure 3")
    assert {json.loads(text)["duration"] for text, _, _ in simulator.calls} == {"1500 s"}


def test_the_real_core_measures_a_figure(tmp_path: Path) -> None:
    outcome = run("prabhu", tmp_path, ["Table A"], quick=True)
    found = {(cell.row, cell.column): cell.measured.value for cell in outcome.cells}
    assert np.isfinite(list(found.values())).all()
    for n in (5, 8):
        original, npe = f"N = {n}, original (T_out = 0)", f"N = {n}, npe, T_out = 0.5 s"
        assert found[npe, "Delay"] < found[original, "Delay"]
        assert found[npe, "Set-ups"] < 0.6 * found[original, "Set-ups"]
        little = found[original, "Delay by Little's law"]
        assert found[original, "Delay"] == pytest.approx(little, rel=0.1)
