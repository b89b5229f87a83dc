"""Tests of scenarios that name model files of radio errors, and files of measured BLER curves."""

import json
from pathlib import Path
from typing import Any

import pytest

import nodeb
from nodeb.inputs import named_files

SCENARIO = """
runs = 1
radio.dch = { channels = 4, pdus_per_tti = 3, errors.file = "models/fitted.json" }
users = [{ traffic.ftp.size = "40 kB" }]
"""
GOOD: dict[str, Any] = {
    "format": "nodeb-error-model",
    "version": 1,
    "unit": "block",
    "pdus_per_block": 3,
    "kind": "recorded",
    "errors": "sequence.txt",
    "within_block": {"count_law": [0.2, 0.8, 0.0]},
    "provenance": {"seed": 7},
}


def write(folder: Path, model: object = GOOD, sequence: str = "00010\n0001 1000\n") -> Path:
    (folder / "models").mkdir()
    text = model if isinstance(model, str) else json.dumps(model)
    (folder / "models" / "fitted.json").write_text(text)
    (folder / "models" / "sequence.txt").write_text(sequence)
    (folder / "scenario.toml").write_text(SCENARIO)
    return folder / "scenario.toml"


def test_model_file_determines_the_block_errors_of_a_radio(tmp_path: Path) -> None:
    scenario = nodeb.load(write(tmp_path))
    result = scenario.run()
    assert list(result.flows["complete"]) == [True]
    counts = result.bearers
    # Of the 13 blocks of the sequence, 3 are in error. The run replays the sequence many times, so
    # its share of failed blocks is near this rate.
    assert list(counts["bler"]) == [pytest.approx(3 / 13)]
    assert 0.1 < counts["blocks_failed"][0] / counts["blocks"][0] < 0.35
    # The loaded scenario contains the model, so the files are not needed any more.
    (tmp_path / "models" / "fitted.json").unlink()
    assert "errors = [3, 1, 4, 2, 3]" in scenario.to_toml()
    again = nodeb.Scenario.from_dict(scenario.to_dict()).run()
    assert list(again.flows["transfer_s"]) == list(result.flows["transfer_s"])


def test_error_rate_is_replaced_by_a_model_file(tmp_path: Path) -> None:
    file = write(tmp_path)
    file.write_text(SCENARIO.replace('errors.file = "models/fitted.json"', "bler = 0.1"))
    of_file = "radio.dch.errors.file=models/fitted.json"
    with pytest.raises(nodeb.ScenarioError, match="bler"):
        nodeb.load(file, [of_file])
    changed = nodeb.load(file, ["radio.dch.bler=", of_file])
    file.write_text(SCENARIO)
    assert changed == nodeb.load(file)


def test_advance_rule_of_a_model_file_is_set_by_the_scenario(tmp_path: Path) -> None:
    file = write(tmp_path)
    override = "radio.dch.errors.advances=with_blocks"
    data = nodeb.load(file, [override]).to_dict()["radio"]["dch"]["errors"]
    assert (data["advances"], data["unit"]) == ("with_blocks", "block")


def test_model_of_a_different_block_size_is_rejected(tmp_path: Path) -> None:
    file = write(tmp_path)
    with pytest.raises(nodeb.ScenarioError, match="for blocks of 3 PDUs, but the radio's have 5"):
        nodeb.load(file, ["radio.dch.pdus_per_tti=5"]).run()


CURVES = """
runs = 1
duration = "4 s"
[radio.hsdpa]
link_curve.file = "curves.csv"
[[users]]
traffic.ftp.size = "1 kB"
ue = { category = 6, channel.constant.snr_db = 5 }
"""


def test_curves_are_read(tmp_path: Path) -> None:
    points = [f"{cqi},{cqi - 17.5},0.9\n{cqi},{cqi - 16.5},0.01" for cqi in range(1, 23)]
    (tmp_path / "curves.csv").write_text("\n".join(["# a page", "cqi,snr_db,bler", *points]))
    (tmp_path / "scenario.toml").write_text(CURVES)
    scenario = nodeb.load(tmp_path / "scenario.toml")
    curves = scenario.to_dict()["radio"]["hsdpa"]["link_curve"]
    assert (curves["cqi"][:3], curves["snr_db"][1], curves["bler"][1]) == ([1, 1, 2], -15.5, 0.01)
    # The loaded scenario contains the curve, so the file is not needed any more.
    (tmp_path / "curves.csv").unlink()
    again = nodeb.Scenario.from_dict(scenario.to_dict())
    assert list(again.run().flows["complete"]) == [True]


def test_columns_of_curves_may_be_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "curves.csv").write_text("bler,cqi,snr_db\n0.1,4,-12\n")
    found = named_files.link_curve(tmp_path / "curves.csv")
    assert found == {"cqi": [4], "snr_db": [-12], "bler": [0.1]}
