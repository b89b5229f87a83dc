"""Tests of comparisons: statistics agree with closed forms, and invalid input is rejected."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import nodeb
from nodeb import _core
from nodeb.base.table import Table
from nodeb.comparison.differences import compare, difference
from nodeb.replication.cells import simulated
from nodeb.results.metrics import METRICS
from nodeb.stats import paired_difference

SCENARIO = """runs = 4
radio.dch.bler = 0.1
[[users]]
traffic.ftp.size = "20 kB"
"""


@pytest.fixture
def pair(tmp_path):
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    one.write_text(SCENARIO)
    other.write_text(SCENARIO.replace("0.1", "0.3"))
    return one, other


# --- Tests of the statistics ---


def block_errors(bler, seed, runs=10):
    scenario = nodeb.Scenario.from_dict(
        {
            "radio": {"dch": {"bler": bler}},
            "duration": "3 s",
            "users": [{"traffic": {"ftp": {"size": "100 MB"}}}],
        }
    ).resolved()
    compiled = _core.CompiledScenario.from_json(simulated(scenario.to_dict()), "")
    tables = compiled.run_many(seed, 0, runs, _core.Control())
    return {name: Table(columns) for name, columns in tables.items()}


@pytest.mark.parametrize(
    ("seeds", "least", "most"),
    [(60, 52, 60), pytest.param(1000, 930, 970, marks=pytest.mark.slow)],
)
def test_interval_covers_a_difference_known_in_closed_form(seeds, least, most):
    """About 95 % of the intervals contain 0.1, the exact difference of the two error rates.

    The difference is exact, because blocks fail with the set probability.
    """
    covered, unpaired = 0, []
    for seed in range(seeds):
        tables = {str(p): block_errors(p, seed) for p in (0.1, 0.2)}
        found = compare(tables, seed, metrics=["block_errors"])
        (one,) = found.tried[0].differences
        covered += 0.1 in one.difference
        unpaired.append(one.unpaired)
    assert least <= covered <= most
    assert np.median(unpaired) > 0.5
    assert seeds < 1000 or np.median(unpaired) < 2


def test_error_probability_is_shared_among_several_scenarios():
    tables = {str(p): block_errors(p, 1) for p in (0.1, 0.2, 0.3)}
    two = compare({name: tables[name] for name in ("0.1", "0.2")}, 1)
    three = compare(tables, 1)
    assert (two.confidence, three.confidence) == (0.95, 0.975)
    assert two.tried[0].differences[0].difference.half_width < (
        three.tried[0].differences[0].difference.half_width
    )


def test_pairs_are_replications_not_phones(tmp_path):
    path = tmp_path / "many.toml"
    path.write_text(SCENARIO.replace("[[users]]", "[[users]]\ncount = 5"))
    one = nodeb.load(path).run(runs=6)
    other = nodeb.load(path).with_(**{"radio.dch.bler": 0.3}).run(runs=6)
    found = one.compare(other)
    row = next(r for r in found.table if r["metric"] == "application_bps")
    means = [r.flows["application_bps"].reshape(6, 5).mean(axis=1) for r in (one, other)]
    expected = paired_difference(means[1], means[0])
    assert row["pairs"] == 6
    assert (row["difference"], row["difference_low"]) == pytest.approx(
        (expected.mean, expected.low)
    )


def test_intervals_stay_within_the_range_of_their_metric():
    runs, zero, one = 20, np.zeros(20), np.eye(20)[0]

    def difference_of(metric, base, other):
        return difference("all", METRICS[metric], base, other, 0.02, 0.95)

    stalls = difference_of("stalls", zero, 4 * one)
    assert (stalls.difference.low, stalls.verdict.kind) == (0.0, "undecided")
    assert difference_of("stalls", np.tile([1.0, 3.0], runs // 2), 4 * one).ratio.low == 0
    assert difference_of("complete", zero + 1, 1 - one).difference.high <= 0
    half = np.tile([0.0, 1.0], runs // 2)
    assert difference_of("complete", zero + 1, np.maximum(half, one)).ratio.high <= 1.0
    few = difference_of("complete", np.ones(3), np.array([1.0, 0.0, 0.2]))
    assert (few.ratio.low, few.ratio.high) == (0.0, 1.0)


def test_uploads_are_compared_with_uploads():
    """Without downloads, `all` is the group of uploads; with downloads it is not."""
    uploads = 'runs = 2\nradio.dch = {}\n[[users]]\nname = "s"\nupload.ftp.size = "20 kB"\n'
    both = f'{uploads}[[users]]\nname = "d"\ntraffic.ftp.size = "20 kB"\n'
    one, other = (nodeb.Scenario.from_toml(text).run() for text in (uploads, both))
    rows = nodeb.compare({"A": one, "B": other}).tried[0].differences
    assert {row.group for row in rows} == {"all up"}


# --- Tests of results in Python ---


def test_results_of_different_seeds_are_not_paired(small):
    with pytest.raises(nodeb.InputError, match=r"different seeds, 1 .*, 2 .*same seed"):
        small.run(runs=2).compare(small.run(runs=2, seed=2))
    with pytest.raises(nodeb.InputError, match="nothing to compare"):
        small.run(runs=2).compare()
    with pytest.raises(nodeb.InputError, match=r"margin is 2; .*0\.02 for 2 %"):
        small.run(runs=2).compare(small.run(runs=2), margin=2)


def test_result_does_not_differ_from_itself(small):
    one = small.run(runs=3)
    found = one.compare(one)
    assert set(found.table["verdict"].tolist()) == {"equal"}
    assert not found.table["difference"].any()


def test_groups_of_only_one_scenario_are_reported(small, tmp_path):
    path = tmp_path / "more.toml"
    path.write_text(SCENARIO + '[[users]]\nname = "late"\ntraffic.ftp.size = "20 kB"\n')
    found = small.with_(name="a").run(runs=3).compare(nodeb.load(path).run(runs=3))
    assert "Only other 1 has the group" in str(found)
    assert set(found.table["group"].tolist()) == {"all"}


# --- Tests of the command ---


def test_two_files_are_compared(call, pair):
    status, _, err = call("compare", *pair, "--runs", 10)
    assert (status, err) == (0, "")
    folder = Path("out/one-compared")
    table = pq.read_table(folder / "comparison.parquet").to_pylist()
    with (folder / "comparison.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [r["metric"] for r in rows] == [r["metric"] for r in table]
    alone = nodeb.load(pair[1]).run(runs=10).summary
    found = next(r for r in table if r["metric"] == "transfer_s")
    own = next(r for r in alone if r["metric"] == "transfer_s")
    assert found["mean"] == pytest.approx(own["mean"])


def test_existing_replications_are_not_simulated_again(call, pair, monkeypatch):
    assert call("compare", *pair, "--runs", 5)[0] == 0
    first = Path("out/one-compared/comparison.csv").read_bytes()
    monkeypatch.setattr("nodeb.replication.cells.ReplicationWork.replicate", lambda *_: 1 / 0)
    assert call("compare", *pair, "--runs", 5)[0] == 0
    assert Path("out/one-compared/comparison.csv").read_bytes() == first
    assert call("compare", *pair, "--runs", 5, "--metric", "transfer_s")[1].count("transfer time")


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["--runs", "3", "--set", "radio.dch.bler=0.2"], "other is the same scenario as one"),
        (["--metric", "download_s"], "--runs"),
        (["--runs", "9", "--metric", "download_s"], "--runs 9"),
        (["--runs", "10", "--metric", "download_s"], ""),
    ],
)
def test_doubts_about_a_comparison_are_noted(call, pair, arguments, key):
    status, _, err = call("compare", *pair, *arguments)
    assert (status, key in err) == (0, True)
    assert bool(err) is bool(key)


def test_doubtful_scenarios_are_reported_as_by_run(call, pair):
    doubtful = SCENARIO + "[tcp.linux]\necn = true\n"
    for file in pair:
        file.write_text(doubtful if file == pair[0] else doubtful.replace("0.1", "0.3"))
    status, _, err = call("compare", *pair, "--runs", 2)
    assert status == 0
    assert "tcp.linux.ecn" in err
    assert "(scenarios: 2 of 2)" in err


def test_wrong_arguments_are_reported(small):
    one = small.run(runs=2)
    for call_it in (
        lambda: one.compare(one, metrics=["foo"]),
        lambda: one.compare(one, metrics="stalls"),
        lambda: one.compare(one, margin="2%"),
        lambda: nodeb.compare([one, one]),
        lambda: one.compare("other"),
    ):
        with pytest.raises(nodeb.InputError):
            call_it()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.toml"], "second file"),
        (["one.toml", "one.toml"], "one.toml"),
        (
            ["one.toml", *2 * ["--with", "wired.loss=0.1"]],
            "--with wired.loss=0.1",
        ),
        (["one.toml", "no.toml"], "no.toml: "),
        (["one.toml", "--with", "radio.dch.blerr=1"], "`bler`"),
        (["one.toml", "--with", "nonsense"], "nonsense"),
        (["one.toml", "other.toml", "--margin", "-1"], "margin is -1"),
        (["one.toml", "other.toml", "--margin", "nan"], "margin is nan"),
        (["one.toml", "other.toml", "--runs", "0"], "replication"),
        (["one.toml", "other.toml", "--metric", "rate"], "`rate`"),
        (["one.toml", "other.toml", "--out", "."], "."),
        (["one.toml", "--with", "runs=5"], "`runs`"),
        (["one.toml", "--with", "wired.loss=0.1; seed=3"], "`seed`"),
        (["one.toml", "--with", "wired.loss=0.1;wired.loss=0.2"], "`wired.loss`"),
    ],
)
def test_invalid_comparisons_are_rejected(call, pair, arguments, message):
    del pair
    status, out, err = call("compare", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert sum(not line.startswith("note: ") for line in err.splitlines()) == 1
    assert not Path("out").exists()


@pytest.mark.parametrize("command", ["run", "compare"])
def test_external_packets_are_rejected_and_leave_no_folder(call, pair, command):
    pair[1].write_text('[[users]]\ntraffic = "external"\n')
    status, out, err = call(command, *(pair[1:] if command == "run" else pair))
    assert (status, out) == (2, "")
    assert "`nodeb emulate`" in err.splitlines()[-1]
    assert not list(Path().glob("out/*"))


def test_unknown_metric_is_reported(call, pair):
    status, out, err = call("compare", *pair, "--runs", 2, "--metric", "cqi")
    assert (status, out) == (2, "")
    assert "`cqi`" in err


def test_metric_without_a_pair_of_values_is_reported(small):
    """Each scenario has values of the metric, but of different replications."""
    whole = dict(small.run(runs=2).tables)

    def only(*runs):
        flows = whole["flows"].to_arrays()
        times = np.where(np.isin(flows["run"], runs), flows["download_s"], np.nan)
        return whole | {"flows": Table(flows | {"download_s": times})}

    with pytest.raises(nodeb.InputError, match="`download_s`"):
        compare({"a": only(0), "b": only(1)}, 1, metrics=["download_s"])
    with pytest.raises(nodeb.InputError, match="`download_s`"):
        compare({"a": only(), "b": only()}, 1, metrics=["download_s"])


def test_change_may_contain_a_quoted_semicolon(call, pair):
    change = 'users.0.name="a;b"; wired.loss=0.1'
    status, out, _ = call("compare", pair[0], "--with", change)
    assert (status, "name=a;b, loss=0.1" in out) == (0, True)


def test_file_with_the_name_of_a_change_is_a_scenario_of_its_own(call, pair):
    pair[1].rename("loss=0.1.toml")
    change = "--with", "wired.loss=0.1"
    status, out, _ = call("compare", "one.toml", "loss=0.1.toml", *change, "--out", "both")
    assert status == 0
    about = json.loads(Path("both/provenance.json").read_text())
    assert about["scenarios"] == ["one", "loss=0.1", "wired.loss=0.1"]
    assert all(f"{name} is" in out for name in about["scenarios"][1:])


def test_sweep_table_is_ignored_with_a_note(call, pair):
    pair[1].write_text(SCENARIO.replace("0.1", "0.3") + "[sweep]\nwired.loss = [0.0, 0.1]\n")
    _, _, err = call("compare", *pair, "--runs", 2)
    assert "the [sweep] table of" in err


def test_comparison_writes_a_page(call, pair, tmp_path):
    page = tmp_path / "page.html"
    assert call("compare", *pair, "--runs", 5, "--report", page)[0] == 0
    text = page.read_text("utf-8")
    assert text.count('class="dot"') >= 5
    assert f"nodeb compare {pair[0]} {pair[1]} --runs 5 --seed 1" in text
    assert "<script" not in text
    page.write_text("mine")
    status, _, err = call("compare", *pair, "--runs", 5, "--report", page)
    assert status == 2
    assert "page.html" in err
    assert page.read_text() == "mine"


def test_scenarios_are_simulated_and_compared(small):
    worse = small.with_({"radio.dch.bler": 0.4})
    scenarios = {"few": small, "many": worse}
    results = {name: one.run(12) for name, one in scenarios.items()}
    assert str(nodeb.compare(scenarios, runs=12)) == str(nodeb.compare(results))
    with pytest.raises(nodeb.InputError, match="a scenario"):
        nodeb.compare({"few": small, "file": "a.toml"})
