"""Reproductions: study data, measurement, claims and what is written."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nodeb.reproduce
from fake_core import FakeSimulator
from nodeb.errors import InputError, OutputError, RunError
from nodeb.reproduce import cell as cell_module
from nodeb.reproduce import cells, claims, grid, readings, specs, study, targets
from nodeb.reproduce.campaign import Campaign
from nodeb.reproduce.log import Log, reduce
from nodeb.reproduce.measure import Combined, Constant, Estimate, Measured, estimate
from nodeb.reproduce.metrics import metric
from nodeb.reproduce.output import write
from nodeb.reproduce.reproduction import choose, run

WANG = study.load("wang")


def campaign(simulator: FakeSimulator | None = None, **options: Any) -> Campaign:
    options = {"seed": 1, "quick": True} | options
    return Campaign(WANG, simulator or FakeSimulator(), **options)


def select(*selectors: str) -> study.Selection:
    return tuple(choice for choices in WANG.select(selectors) for choice in choices)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ------------------------------------------------------------------------------------- study data


def test_every_table_and_figure_with_results_is_there() -> None:
    tables = [1, 2, 8, *range(11, 18), 19, 20, "A.1", "A.2"]
    figures = range(8, 16)
    shown = [*(f"Table {n}" for n in tables), "Table C"]
    assert WANG.items() == [*shown, *(f"Figure {n}" for n in figures)]


def test_every_printed_table_has_its_values() -> None:
    own = {"Table C"}
    assert not any(table.withheld for table in WANG.tables.values())
    assert {name for name, table in WANG.tables.items() if not table.published} == own


def test_published_means_are_those_of_the_printed_users() -> None:
    """Guards the data file against slips of the pen: averages and spreads follow from the users."""
    values = np.array(WANG.tables["Table A.1"].published, dtype=float)
    for block in values.reshape(3, 5, 3):
        assert block[:3].mean(axis=0) == pytest.approx(block[3], abs=0.02)
        assert block[:3].std(axis=0, ddof=1) == pytest.approx(block[4], abs=0.02)
    summary = np.array(WANG.tables["Table 19"].published, dtype=float)
    assert summary[:3] == pytest.approx(values[[3, 8, 13]])
    assert summary[3:6] == pytest.approx(values[[4, 9, 14]])
    assert summary[6:] == pytest.approx(values[[4, 9, 14]])
    six = np.array(WANG.tables["Table A.2"].published, dtype=float).reshape(3, 8, 2)
    summary = np.array(WANG.tables["Table 20"].published, dtype=float).reshape(3, 3, 2)
    assert six[:, :6].mean(axis=1) == pytest.approx(six[:, 6], abs=0.02)
    assert six[:, 6] == pytest.approx(summary[0])
    assert six[:, :6].std(axis=1, ddof=1) == pytest.approx(summary[1], abs=0.02)
    assert six[:, 7] == pytest.approx(summary[1])
    assert summary[1] == pytest.approx(summary[2])
    for name in ("Table 16", "Table 17"):
        dch, hs, difference, percent = np.array(WANG.tables[name].published, dtype=float).T
        assert hs - dch == pytest.approx(difference, abs=0.01)
        assert 100 * (hs / dch - 1) == pytest.approx(percent, abs=0.6)


def test_channel_rates_are_those_in_their_names() -> None:
    for key, kbps in (("dch384", 384), ("hs360", 360), ("hs384", 384), ("hs1152", 1152)):
        (radio,) = grid.scenario(WANG, select(f"channel:{key}"))["radio"].values()
        bits = radio["channels"] * int(radio["pdu_size"].split()[0]) * 8
        assert bits / int(radio["tti"].split()[0]) == kbps


def test_changes_reach_the_scenario_and_nothing_else() -> None:
    before = grid.scenario(WANG, ())
    after = grid.scenario(WANG, select("channel:dch384", "bler:20", "size:20kB", "loss:3"))
    assert after["radio"]["dch"]["bler"] == 0.2
    assert "hs_dsch" not in after["radio"]
    assert after["users"][0]["traffic"]["ftp"]["size"] == "20 kB"
    assert after["wired"] == before["wired"] | {"loss": 0.03}
    assert WANG.scenario == before, "the study's own scenario was changed"


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(InputError, match="wang"):
        study.load("wnag")
    with pytest.raises(InputError, match="did you mean `Table 12`"):
        choose(WANG, ["Tabel 12"])
    with pytest.raises(InputError, match="no choice `dhc384`"):
        WANG.select(["channel:dhc384"])
    with pytest.raises(InputError, match="unknown axis `blur`"):
        WANG.select(["blur"])
    with pytest.raises(InputError, match="unknown metric"):
        metric("utilisation")


def test_items_are_found_in_any_case_and_order() -> None:
    assert choose(WANG, ["figure 9", "TABLE 8", "table8"]) == ["Table 8", "Figure 9"]
    assert choose(WANG, None) == WANG.items()
    with pytest.raises(InputError, match="no item"):
        choose(WANG, [])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a.5.b", "not one of the 1"),
        ("*.x", "exactly one key"),
        ("b.c.d", "no parts"),
        ("b.c.d.e", "nothing below"),
    ],
)
def test_paths_that_lead_nowhere(path: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        grid.put({"a": [{}], "b": {"c": 1}}, path, 0)


# ------------------------------------------------------------------------------------ measurement


def log_of(*times: float, size: int = 1000) -> Log:
    log = Log()
    for time in times:
        flows = {name: np.array([0.0]) for name in ("start_s", "packets_sent", "timeouts")}
        flows |= {"packets_retransmitted": np.array([0]), "fast_retransmits": np.array([0])}
        flows |= {"user": np.array([0]), "complete": np.array([math.isfinite(time)])}
        flows |= {"transfer_s": np.array([time]), "download_s": np.array([time])}
        flows |= {"app_bytes": np.array([size]), "ip_bytes": np.array([size])}
        flows |= {"rtt_mean_s": np.array([time])}
        bearers = {"bler": np.array([0.0]), "channel_rate_bps": np.array([8000.0])}
        log.add(reduce({"flows": flows, "bearers": bearers}))
    return log


def test_a_plain_mean_has_the_usual_interval() -> None:
    found = estimate(Measured(log_of(1.0, 2.0, 3.0), metric("transfer_s"), {}))
    half = 4.302653 * 1.0 / math.sqrt(3)  # t(2) at 97.5 %
    assert found.value == pytest.approx(2.0)
    assert found.high - found.value == pytest.approx(half, rel=1e-6)
    assert found.runs == 3


def test_a_rate_is_data_over_the_mean_time() -> None:
    found = estimate(Measured(log_of(1.0, 3.0), metric("application_kbps"), {}))
    assert found.value == pytest.approx(4.0)  # 8 kbit / 2 s, not the mean of 8 and 2.67


def test_common_random_numbers_cancel() -> None:
    noise = np.random.default_rng(1).standard_normal(20)
    left = Measured(log_of(*(10 + noise)), metric("transfer_s"), {})
    right = Measured(log_of(*(11 + noise)), metric("transfer_s"), {})
    gap = estimate(Combined("difference", right, left))
    assert gap.value == pytest.approx(1.0)
    assert gap.half_width < 1e-6 < estimate(left).half_width


def test_combinations_with_numbers() -> None:
    assert estimate(Combined("relative", Constant(3), Constant(2))).value == pytest.approx(50)
    assert estimate(Combined("ratio", Constant(3), Constant(2))).runs == 0


def test_a_download_that_never_ends_has_no_value() -> None:
    found = estimate(Measured(log_of(1.0, math.nan), metric("application_kbps"), {}))
    assert not found.known
    assert cell_module.number(found.value) == ""


def test_utilization_of_a_shared_channel_counts_all_over_the_last() -> None:
    log = Log()
    flows = {
        "user": [0, 1], "start_s": [0.0, 0.0], "complete": [True, True],
        "transfer_s": [2.0, 4.0], "download_s": [2.0, 4.0], "app_bytes": [1000, 1000],
        "ip_bytes": [1000, 1000], "packets_sent": [1, 1], "packets_retransmitted": [0, 0],
        "timeouts": [0, 0], "fast_retransmits": [0, 0], "rtt_mean_s": [0.1, 0.1],
    }  # fmt: skip
    log.add(reduce({"flows": flows, "bearers": {"bler": [0.2], "channel_rate_bps": [10_000.0]}}))
    shared = estimate(Measured(log, metric("utilization_percent"), {}))
    assert shared.value == pytest.approx(100 * 16_000 / 4 / 0.8 / 10_000)
    own = Log()
    bearers = {"bler": [0.2] * 2, "channel_rate_bps": [10_000.0] * 2}
    own.add(reduce({"flows": flows, "bearers": bearers}))
    each = estimate(Measured(own, metric("utilization_percent"), {}))
    assert each.value == pytest.approx(100 * (8000 / 2 + 8000 / 4) / 2 / 0.8 / 10_000)


# --------------------------------------------------------------------------------------- campaign


def test_identical_scenarios_run_once() -> None:
    simulator = FakeSimulator()
    work = campaign(simulator)
    cells.table(work, WANG.tables["Table 13"])
    first = len(simulator.calls)
    assert first == 9 * 20
    cells.figure(work, WANG.figures["Figure 12"], WANG.tables)
    assert len(simulator.calls) == first


def test_threads_do_not_change_results() -> None:
    def measure(jobs: int) -> str:
        found = cells.table(campaign(jobs=jobs), WANG.tables["Table A.1"])
        return cell_module.to_csv("wang", found)

    assert measure(1) == measure(7)


def test_replications_go_on_until_the_precision_is_reached() -> None:
    noisy = campaign(FakeSimulator(noise=0.2), quick=False)
    log = noisy.log(select("channel:dch384", "size:20kB", "bler:1"))
    assert len(log) > WANG.effort.runs
    assert log.relative_half_width() <= 0.01
    calm = campaign(FakeSimulator(noise=0.001), quick=False)
    assert len(calm.log(select("channel:dch384", "size:20kB", "bler:1"))) == WANG.effort.runs


def test_wrong_scenarios_and_failing_runs_say_where() -> None:
    class Broken(FakeSimulator):
        def run(self, *args: Any) -> Any:
            raise RuntimeError("boom")

    with pytest.raises(RunError, match=r"of 20 kB, 1 %.* failed: boom"):
        campaign(Broken()).log(select("size:20kB", "bler:1"))

    class Refusing(FakeSimulator):
        def resolve(self, text: str) -> str:
            raise ValueError("wired.delay: no unit")

    with pytest.raises(RunError, match=r"wired\.delay: no unit"):
        campaign(Refusing()).log(select("size:20kB"))


# ----------------------------------------------------------------------------------------- claims

FALLS: dict[str, Any] = {
    "id": "x",
    "text": "x",
    "checks": [
        {
            "kind": "trend",
            "trend": "falling",
            "at": ["size:50kB"],
            "over": ["channel:dch384"],
            "along": "bler:1,10,20",
            "metric": "application_kbps",
        }
    ],
}


def test_a_claim_can_come_out_either_way() -> None:
    work = campaign()
    assert claims.judge(work, FALLS).holds
    opposite = {**FALLS, "checks": [{**FALLS["checks"][0], "trend": "rising"}]}
    verdict = claims.judge(work, opposite)
    assert verdict.judgement == "contradicted"
    assert "(contradicted: 1 %" in verdict.evidence
    assert verdict.against


def test_what_is_undecided_neither_holds_nor_is_contradicted() -> None:
    equal = {
        "kind": "order",
        "at": ["size:50kB", "bler:1"],
        "metric": "application_kbps",
        "names": ["a", "b"],
        "terms": [{"at": ["channel:hs384"]}, {"at": ["channel:hs384_delay9"]}],
    }
    verdict = claims.judge(campaign(), {"id": "x", "text": "x", "checks": [equal]})
    assert verdict.judgement == "undecided"
    assert "practically the margin" in verdict.effort


def test_every_check_of_a_claim_must_hold() -> None:
    false = {"kind": "between", "term": 5, "high": 4}
    true = {"kind": "between", "term": 5, "high": 5}
    both = {"id": "x", "text": "x", "checks": [true, false]}
    assert claims.judge(campaign(), {"id": "x", "text": "x", "checks": [true]}).holds
    assert claims.judge(campaign(), both).judgement == "contradicted"


def test_unknown_checks_are_errors() -> None:
    with pytest.raises(InputError, match="did you mean `trend`"):
        claims.judge(campaign(), {"id": "x", "text": "x", "checks": [{"kind": "trned"}]})


def test_claims_have_their_own_names_and_judge_known_items() -> None:
    ids = [claim["id"] for claim in WANG.claims]
    assert len(ids) == len(set(ids))
    for claim in WANG.claims:
        assert set(claim["items"]) <= set(WANG.items())
    named = {name for target in WANG.targets for name in target.get("claims", ())}
    assert named <= set(ids)


# ---------------------------------------------------------------------------------- grades, targets


def cell(published: float | None, value: float, **tolerance: float) -> cell_module.Cell:
    found = Estimate(value, value - 0.1, value + 0.1, 10)
    return cell_module.Cell(
        "Table 1", "r", "c", "%", published, found, 1, specs.Tolerance(**tolerance)
    )


@pytest.mark.parametrize(
    ("published", "value", "grade"),
    [
        (50, 51.5, "near"),
        (50, 51.6, "off"),
        (50, 53.1, "far"),
        (None, 1, "open"),
        (50, math.nan, "far"),
    ],
)
def test_grades(published: float | None, value: float, grade: str) -> None:
    assert cell(published, value, absolute=1.5).grade == grade


def test_targets_can_be_missed() -> None:
    target = {"id": "x", "text": "x", "items": ["Table 1"], "each": 1.0, "mean": 0.4, "unit": "%"}
    assert targets.check(target, [cell(50, 50.3), cell(50, 49.7)], []).met
    assert not targets.check(target, [cell(50, 51.1), cell(50, 50)], []).met
    assert not targets.check(target, [cell(50, 50.9), cell(50, 50.5)], []).met, "mean"
    assert not targets.check(target, [cell(50, math.nan), cell(50, 50)], []).met
    assert targets.check(target, [], []).met is None


# ----------------------------------------------------------------------------------- the whole run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wang")
    run("wang", folder, quick=True, simulator=FakeSimulator())
    return folder


def test_cells_file(whole: Path) -> None:
    assert (whole / "cells.csv").read_text().splitlines()[0] == (
        "study,item,row,column,unit,published,measured,ci95_low,ci95_high,replications,"
        "published_runs,prediction95_low,prediction95_high"
    )
    found = rows(whole / "cells.csv")
    assert list(dict.fromkeys(row["item"] for row in found)) == WANG.items()
    keys = [(row["item"], row["row"], row["column"]) for row in found]
    assert len(keys) == len(set(keys)), "a cell occurs twice"
    for row in found:
        assert row["study"] == "wang"
        assert row["unit"]
        low, value, high = (float(row[key]) for key in ("ci95_low", "measured", "ci95_high"))
        assert low <= value <= high
        if row["item"] in ("Table 1", "Table 2"):
            assert row["replications"] == "0"
        else:
            assert int(row["replications"]) >= 2
        spec = WANG.tables.get(row["item"])
        assert bool(row["published"]) == bool(spec and spec.published)
    for item, count in (("Table 13", 9), ("Table 15", 12), ("Table A.2", 48), ("Figure 8", 9)):
        assert sum(row["item"] == item for row in found) == count


def test_published_values_stand_beside_their_own_cells(whole: Path) -> None:
    found = {(r["item"], r["row"], r["column"]): r for r in rows(whole / "cells.csv")}
    assert found["Table 13", "20 %", "HS-DSCH 360 kb/s"]["published"] == "53"
    assert found["Table 8", "DCH", "Relative"] | {"measured": ""} == {
        "study": "wang", "item": "Table 8", "row": "DCH", "column": "Relative", "unit": "%",
        "published": "31", "measured": "",
        "ci95_low": found["Table 8", "DCH", "Relative"]["ci95_low"],
        "ci95_high": found["Table 8", "DCH", "Relative"]["ci95_high"],
        "replications": "20", "published_runs": "", "prediction95_low": "",
        "prediction95_high": "",
    }  # fmt: skip
    assert found["Table A.1", "Max C/I, User2", "0 %"]["published"] == "932.2"
    assert found["Table 19", "STD, PF", "3 %"]["published"] == "8.45"
    assert found["Table 1", "32 kb/s", "300 ms"]["measured"] == "1.2"
    assert found["Table 2", "384 kb/s", "536 bytes, 300 ms"]["measured"] == "5"


def test_claims_file(whole: Path) -> None:
    assert (whole / "claims.csv").read_text().splitlines()[0] == (
        "study,id,claim,verdict,comparisons,hold,contradicted,undecided,asked,"
        "replications_missing,evidence"
    )
    found = rows(whole / "claims.csv")
    assert [row["id"] for row in found] == [claim["id"] for claim in WANG.claims]
    assert {row["verdict"] for row in found} == {"holds", "contradicted", "undecided"}
    for row in found:
        counts = [int(row[name]) for name in ("hold", "contradicted", "undecided")]
        assert sum(counts) == int(row["comparisons"]) > 0
        assert (row["verdict"] == "contradicted") == (counts[1] > 0)
        assert (row["verdict"] == "holds") == (counts[1:] == [0, 0])
        assert any(character.isdigit() for character in row["evidence"]), row["id"]


def test_figures_are_written(whole: Path) -> None:
    names = {path.name for path in (whole / "figures").iterdir()}
    for number in range(8, 16):
        assert {f"figure-{number}.png", f"figure-{number}.svg"} <= names
    assert (whole / "report.html").stat().st_size > 50_000


def test_one_item(tmp_path: Path) -> None:
    simulator = FakeSimulator()
    outcome = run("wang", tmp_path, ["table 12"], quick=True, simulator=simulator)
    assert {row["item"] for row in rows(tmp_path / "cells.csv")} == {"Table 12"}
    assert len(simulator.calls) == 9 * 20
    judged = [row["id"] for row in rows(tmp_path / "claims.csv")]
    assert judged == ["utilization-100-kb"]
    assert outcome.headline_title.startswith("Table 12")
    assert outcome.headline_rows[0][0] == "1 %"
    assert "--item &#34;Table 12&#34;" in outcome.report.read_text()


def test_the_headline_is_the_study_s_own(whole: Path, tmp_path: Path) -> None:
    outcome = run("wang", tmp_path, ["Table 13"], quick=True, simulator=FakeSimulator())
    assert "published | measured" in outcome.headline_title
    assert [row[0] for row in outcome.headline_rows] == ["1 %", "10 %", "20 %"]
    assert [row[1] for row in outcome.headline_rows] == ["42", "38", "36"]
    assert all(len(row) == len(outcome.headline_columns) for row in outcome.headline_rows)
    assert outcome.summary_lines


def test_progress_rises_to_one(tmp_path: Path) -> None:
    seen: list[float] = []
    run(
        "wang", tmp_path, ["Table 11"], True, None, 1, lambda share, _: seen.append(share),
        simulator=FakeSimulator(),
    )  # fmt: skip
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_an_interrupted_run_leaves_what_it_had(tmp_path: Path) -> None:
    class Interrupted(FakeSimulator):
        def run(self, text: str, *args: Any) -> Any:
            if json.loads(text)["users"][0]["traffic"]["ftp"]["size"] == "50 kB":
                raise KeyboardInterrupt
            return super().run(text, *args)

    with pytest.raises(KeyboardInterrupt):
        run("wang", tmp_path, ["Table 12", "Table 13"], quick=True, simulator=Interrupted())
    assert {row["item"] for row in rows(tmp_path / "cells.csv")} == {"Table 12"}
    assert "This run was interrupted" in (tmp_path / "report.html").read_text()
    assert not list(tmp_path.glob(".*")), "no temporary files stay behind"


def test_a_download_that_never_ends_is_reported(tmp_path: Path) -> None:
    run("wang", tmp_path, ["Table 14"], quick=True, simulator=FakeSimulator(never_ends=True))
    assert all(row["measured"] == "" for row in rows(tmp_path / "cells.csv"))
    assert "downloads did not end" in (tmp_path / "report.html").read_text()


def test_nothing_is_run_for_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    simulator = FakeSimulator()
    with pytest.raises(OutputError, match="cannot write"):
        run("wang", tmp_path / "file" / "out", simulator=simulator)
    assert not simulator.calls


def test_writing_replaces_whole_files(tmp_path: Path) -> None:
    write(tmp_path / "a" / "x.txt", "first")
    write(tmp_path / "a" / "x.txt", b"second")
    assert [path.name for path in (tmp_path / "a").iterdir() if path.is_file()] == ["x.txt"]
    assert (tmp_path / "a" / "x.txt").read_text() == "second"


def test_names_and_wrong_arguments(tmp_path: Path) -> None:
    assert nodeb.reproduce.names() == ["costamagna", "fiorenzi", "hossain", "prabhu", "wang"]
    with pytest.raises(InputError, match="jobs"):
        run("wang", tmp_path, jobs=0, simulator=FakeSimulator())
    with pytest.raises(ValueError, match="unknown study"):
        nodeb.reproduce.run("wnag", tmp_path)


# ---------------------------------------------------------------------------------------- readings

READINGS = WANG.tables["Table C"]


def test_a_table_of_readings_looks_at_every_printed_mean() -> None:
    found = readings.places(WANG, READINGS)
    assert len(found) == 19
    assert [sum(place.group == one.label for place in found) for one in READINGS.groups] == [
        4,
        9,
        6,
    ]
    dch = found[0]
    assert (dch.label, dch.published) == ("Table 16: Application bit rate, DCH", 270.33)


def test_a_reading_exchanges_choices() -> None:
    found = {place.label: place for place in readings.places(WANG, READINGS)}
    three = found["Table 19: MVA, RR, 3 %"]
    all_changes = next(one for one in READINGS.readings if "together" in one.label)
    changed = {choice.axis: choice.key for choice in readings.read(WANG, three, all_changes)}
    assert changed["bler"] == "10"
    assert changed["mapping"] == "640"
    assert changed["acks"] == "3", "the loss of ACKs is that of data"
    lossless = found["Table 19: MVA, RR, 0 %"]
    assert "acks" not in {choice.axis for choice in readings.read(WANG, lossless, all_changes)}
    assert readings.read(WANG, three, READINGS.readings[0]) == three.selection


def test_640_kilobits_are_those_of_table_4() -> None:
    """The reading keeps the chances of each rate, and carries 16 PDUs of 10 bytes in 2 ms."""
    for users, groups in (("three_types", 3), ("six_types", 3)):
        plain = grid.scenario(WANG, select("channel:amc", f"users:{users}"))
        mapped = grid.scenario(WANG, select("channel:amc", f"users:{users}", "mapping:640"))
        assert len(mapped["users"]) == groups
        for one, other in zip(plain["users"], mapped["users"], strict=True):
            chances = {40 * value: p for value, p in enumerate(other["ci"], 1) if p}
            assert list(chances) == [120, 240, 360, 480, 640]
            assert list(chances.values()) == one["ci"]


def test_the_root_of_the_mean_square_by_hand() -> None:
    deviations = [Estimate(3.0, 2.0, 4.0, 20), Estimate(-4.0, -4.5, -3.5, 20)]
    found = readings.rms(deviations)
    assert found.value == pytest.approx(math.sqrt(12.5))
    # The gradient is (3, -4) / (2 rms); half-widths of 1 and 0.5 add as squares.
    half = math.sqrt(3**2 * 1 + 4**2 * 0.25) / (2 * math.sqrt(12.5))
    assert found.half_width == pytest.approx(half)


def test_the_least_of_some_values_can_be_too_large() -> None:
    target = {
        "id": "r",
        "text": "",
        "items": ["Table C"],
        "rows": ["RMS, all"],
        "least": 8,
        "unit": "%",
    }
    values = [Estimate(value, value, value, 20) for value in (12.0, 8.5)]
    found = [cell_module.Cell("Table C", "RMS, all", "a reading", "%", None, one) for one in values]
    assert targets.check(target, found, []).met is False
    best = cell_module.Cell("Table C", "RMS, all", "best", "%", None, Estimate(7.0, 7, 7, 20))
    assert targets.check(target, [*found, best], []).result == "7.00 % (best)"
    assert not targets.check(target, [], []).measured
