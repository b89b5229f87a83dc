"""Tests of scenarios that name files of measured BLER curves."""

from pathlib import Path

import nodeb
from nodeb.inputs import named_files

SCENARIO = """
runs = 1
duration = "4 s"
[radio.hsdpa]
link_curve.file = "curves.csv"
[[users]]
traffic.ftp.size = "1 kB"
ue = { category = 6, channel.constant.snr_db = 5 }
"""

POINTS = [f"{cqi},{cqi - 17.5},0.9\n{cqi},{cqi - 16.5},0.01" for cqi in range(1, 23)]


def write(folder: Path, text: str) -> Path:
    (folder / "curves.csv").write_text(text)
    (folder / "scenario.toml").write_text(SCENARIO)
    return folder / "scenario.toml"


def test_curves_are_read(tmp_path: Path) -> None:
    file = write(tmp_path, "\n".join(["# a page", "cqi,snr_db,bler", *POINTS]))
    scenario = nodeb.load(file)
    curves = scenario.to_dict()["radio"]["hsdpa"]["link_curve"]
    assert (curves["cqi"][:3], curves["snr_db"][1], curves["bler"][1]) == ([1, 1, 2], -15.5, 0.01)
    assert list(scenario.run().flows["complete"]) == [True]
    # The loaded scenario contains the curve, so the file is not needed any more.
    (tmp_path / "curves.csv").unlink()
    again = nodeb.Scenario.from_dict(scenario.to_dict())
    assert list(again.run().flows["complete"]) == [True]


def test_columns_may_be_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, "bler,cqi,snr_db\n0.1,4,-12\n")
    found = named_files.link_curve(tmp_path / "curves.csv")
    assert found == {"cqi": [4], "snr_db": [-12], "bler": [0.1]}
