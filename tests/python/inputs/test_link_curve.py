"""Tests of scenarios that name files of measured BLER curves."""

from pathlib import Path

import pytest

import nodeb
from nodeb.inputs import link_curve

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


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_file_that_is_not_text_is_reported_with_the_position(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "curves.csv"
    path.write_bytes(mark + b"cqi,snr_db,bler\n1,\xe9,0.5\n")
    with pytest.raises(nodeb.ScenarioError, match=r"csv:2: .* \(byte 0xe9\)"):
        link_curve.read(path)


def test_columns_may_be_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, "bler,cqi,snr_db\n0.1,4,-12\n")
    found = link_curve.read(tmp_path / "curves.csv")
    assert found == {"cqi": [4], "snr_db": [-12], "bler": [0.1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cqi,eb_n0_db,bler\n1,2,0.1\n", "curves.csv:1: unknown columns `cqi,eb_n0_db,bler`"),
        ("cqi,snr_db,bler\n1,2\n", "curves.csv:2: `1,2` is not a point"),
        ("cqi,snr_db,bler\n1,2,nan\n", "curves.csv:2: "),
        ("cqi,snr_db,bler\n31,2,0.1\n", "curves.csv:2: 31 is not a CQI"),
        ("cqi,snr_db,bler\n", "the file has no points"),
        ("# nothing\n", "the file has no entries"),
        ("cqi,snr_db,bler\n1,2,0.1\n3,2,0.1\n", "CQI 2 has no curve; expected curves for every"),
        ("cqi,snr_db,bler\n1,2,0.1\n1,3,0.2\n", "expected a curve that falls"),
    ],
)
def test_invalid_curves_are_reported(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(nodeb.ScenarioError) as caught:
        nodeb.load(write(tmp_path, text))
    assert message in str(caught.value)
