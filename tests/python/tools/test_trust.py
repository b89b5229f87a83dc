"""Tests of the validation page: it has the results of all references, none typed by hand."""

import json
import math
import re
import sys
from argparse import Namespace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
sys.path[:0] = [str(DOCS), str(ROOT / "tools")]
import linux_downloads  # noqa: E402
import trust  # noqa: E402
import trusted  # noqa: E402
from references import closed, kernel, ns2, phy, studies, traces  # noqa: E402
from references.row import Row, spread  # noqa: E402

from nodeb import studies as published  # noqa: E402

PAGE = (DOCS / "trust.md").read_text("utf-8")
FOUND = json.loads((DOCS / "trust.json").read_text("utf-8"))


def test_every_reference_is_on_the_page():
    known = list(trust.references(Namespace()))
    assert trusted.NAME.findall(PAGE) == known
    assert set(FOUND) <= set(known)
    assert sorted(known) == sorted(
        file.stem for file in (ROOT / "tools" / "references").glob("*.py")
        if file.stem not in ("__init__", "row")
    )  # fmt: skip


def test_no_measured_number_is_typed_by_hand():
    typed = [line for line in PAGE.splitlines() if re.search(r"\d+(\.\d+)? (%|of \d|kb/s)", line)]
    assert typed == []


def test_every_study_is_on_the_page():
    text = json.dumps(FOUND["studies"], ensure_ascii=False)
    assert all(f"`{name}`" in text for name in published.names())


def test_recorded_outputs_are_shown():
    shown = trusted.expand(PAGE)
    assert "{{" not in shown
    for said in FOUND.values():
        for row in said["rows"]:
            assert row["distance"] in shown
            assert row["count"] > 0
    assert "was not compared" in trusted.table(None)


def test_short_versions_are_labelled():
    row = {**dict.fromkeys(trusted.COLUMNS, "1"), "command": "nodeb reproduce all --quick"}
    said = {"made": {"when": "2026-01-01T00:00:00", "version": "1"}, "rows": [row]}
    assert "Short versions" in trusted.table(said)
    row["command"] = "nodeb reproduce all"
    assert "Short versions" not in trusted.table(said)


def test_ns2_agrees():
    assert len(list(ns2.traces())) == 256
    assert {row["distance"] for row in FOUND["ns2"]["rows"]} == {"none differs"}


def test_differing_trace_is_counted(monkeypatch):
    monkeypatch.setattr(ns2, "traces", lambda: iter([("reno", "a"), ("reno", "b"), ("sack", "c")]))
    monkeypatch.setattr(ns2.oracle, "check", lambda text: "differs" if text == "b" else None)
    assert [(row.count, row.distance) for row in ns2.rows()] == [
        (2, "1 differ"),
        (1, "none differs"),
    ]


@pytest.mark.parametrize("packets", [1, 10, 100])
def test_slow_start_matches_theory(packets):
    assert abs(closed.slow_start(packets)) < 1e-8


def test_blocks_fail_with_the_configured_probability():
    assert abs(closed.block_errors(0.1)) < 4


def test_ratios_are_summarised_by_mean_and_range():
    assert spread([0.98, 1.01, 1.03]) == "+0.7 % in the mean, -2.0 to +3.0 %"


def case(control, size, ratio, repeated, delay):
    times = (1.0, 1.0, 1.0), (ratio, ratio, ratio)
    return linux_downloads.Row("case", control, size, 1, *times, 10, repeated, delay, 50.0)


def test_kernel_results_are_summarised_by_control_and_size():
    cases = [
        case("reno", 2_000_000, 1.02, 13, 50.0),
        case("reno", 2_000_000, 1.04, 14, math.nan),
        case("bbr", 50_000, 0.96, 10, 40.0),
    ]
    found = {row.compared: row for row in kernel.of(cases)}
    large = found["transfer times, reno, from 1 MB on"]
    assert (large.count, large.limit) == (2, "3 %")
    assert large.distance.startswith("1 within; +3.0 % in the mean")
    assert found["transfer times, bbr, below 1 MB"].distance.startswith("1 within")
    assert found["retransmitted segments, reno"].distance == "1 within"
    assert found["mean one-way delays, reno"].count == 1
    assert found["mean one-way delays, bbr"].distance.startswith("0 within; +25.0 %")


def test_printed_output_of_link_tests_is_parsed():
    text = "point: 3.1e-1, ratio 1.034\nother\nline: 2e-3, ratio 0.98\ntest x ... ok\n"
    assert phy.RATIO.findall(text) == ["1.034", "0.98"]
    for file, test, *_ in phy.TESTS:
        source = (ROOT / "crates" / "phy" / "tests" / f"{file}.rs").read_text("utf-8")
        assert re.search(rf"fn \w*{test}", source)
        assert ", ratio {:.3}" in source


def test_study_is_summarised_by_its_counts():
    counts = {
        "study": "wang", "claims": "3", "holds": "1", "contradicted": "0", "undecided": "2",
        "cells_compared": "9", "near": "7", "off": "1", "scattered": "0", "targets": "2",
        "met": "1", "missed": "0", "targets_undecided": "1",
    }  # fmt: skip
    rows = list(studies.of(counts, "x"))
    assert [(row.compared, row.count) for row in rows] == [
        ("claims", 3),
        ("published values", 9),
        ("targets", 2),
    ]
    assert rows[0].distance == "1 hold, 0 contradicted, 2 undecided"
    assert rows[2].distance == "1 met, 0 missed, 1 undecided"


def test_recording_repeats_its_lines(tmp_path):
    file = tmp_path / "a.down"
    file.write_text("1\n2\n2\n7000\n")
    assert traces.offered_bytes(file) == 1500 * (8 * 4 + 3)
    assert list(traces.rows(None)) == []


def test_trace_driven_link_carries_its_opportunities(tmp_path):
    file = tmp_path / "even.down"
    file.write_text("\n".join(str(2 * n) for n in range(1, 1001)) + "\n")
    # Headers of RLC and MAC take 5 % of the bytes.
    assert traces.carried(file) == pytest.approx(0.95, abs=0.01)


def test_unavailable_reference_keeps_its_recorded_output(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(trust, "FOUND", tmp_path / "trust.json")
    row = Row("somebody", "something", 1, "near", "", "x")
    monkeypatch.setattr(ns2, "rows", lambda: [row])
    assert trust.main(["--only", "ns2"]) == 0

    def broken():
        raise FileNotFoundError("cargo")

    monkeypatch.setattr(ns2, "rows", broken)
    assert trust.main(["--only", "ns2"]) == 1
    assert "the comparison ns2 failed: cargo" in capsys.readouterr().err
    assert json.loads((tmp_path / "trust.json").read_text())["ns2"]["rows"][0]["distance"] == "near"
