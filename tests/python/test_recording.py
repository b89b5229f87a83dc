"""Recordings that scenarios replay."""

from pathlib import Path

import pytest

import nodeb
from nodeb import recording

SCENARIO = """
runs = 1
[[users]]
traffic.replay.file = "trace.csv"
"""


def write(folder: Path, text: str) -> Path:
    (folder / "trace.csv").write_text(text)
    (folder / "scenario.toml").write_text(SCENARIO)
    return folder / "scenario.toml"


def test_a_recording_is_replayed(tmp_path: Path) -> None:
    file = write(tmp_path, "time_s,bytes\n# a page\n0,1000\n\n0.25, 20000\n0.25,1\n")
    scenario = nodeb.load(file)
    result = scenario.run()
    assert list(result.flows["delivered_bytes"]) == [21_001]
    assert list(result.flows["transfers"]) == [3]
    # What is saved needs the recording no more.
    (tmp_path / "trace.csv").unlink()
    assert "250 ms" in scenario.to_toml()
    assert list(nodeb.Scenario.from_dict(scenario.to_dict()).run().flows["app_bytes"]) == [21_001]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,10\n2.5,10\n1,10\n", "trace.csv:3: time goes backward: 1 s after 2.5 s"),
        ("0,10\nsoon,10\n", "trace.csv:2: `soon,10` is not an entry"),
        ("0,10,3\n", "trace.csv:1: `0,10,3` is not an entry"),
        ("0,0\n", "trace.csv:1: expected a time"),
        ("-1,10\n", "trace.csv:1: expected a time"),
        ("nan,10\n", "trace.csv:1: "),
        ("# nothing\n", "there is nothing in it"),
    ],
)
def test_what_is_wrong_in_a_recording_is_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(nodeb.ScenarioError) as caught:
        nodeb.load(write(tmp_path, text))
    assert message in str(caught.value)


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    file = write(tmp_path, "0,1\n")
    (tmp_path / "trace.csv").unlink()
    with pytest.raises(nodeb.ScenarioError, match=r"trace\.csv: cannot be read: no such file"):
        nodeb.load(file)
    with pytest.raises(nodeb.ScenarioError, match="cannot be read"):
        recording.read(tmp_path)
