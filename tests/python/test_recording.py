"""Recordings that scenarios replay."""

from pathlib import Path

import pytest

import nodeb
from nodeb.inputs import recording

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


CELL = """
runs = 1
duration = "4 s"
[radio.hsdpa]
[[users]]
traffic.ftp.size = "1 kB"
ue.channel.trace = { file = "channel.txt", at_end = "loop" }
"""


def channel(folder: Path, text: str) -> Path:
    (folder / "channel.txt").write_text(text)
    (folder / "cell.toml").write_text(CELL)
    return folder / "cell.toml"


def test_a_channel_is_replayed(tmp_path: Path) -> None:
    rows = "# rx1 rx2 rx3 CQI\n-10.5 -7.5 -5.7 6\n-2, 1, 2.8, 14\n"
    scenario = nodeb.load(channel(tmp_path, rows))
    trace = scenario.to_dict()["users"][0]["ue"]["channel"]["trace"]
    assert (trace["snrs_db"], trace["third_db"]) == ([-10.5, -2], [-5.7, 2.8])
    assert trace["cqi"] == [6, 14]
    assert list(scenario.run().flows["complete"]) == [True]
    assert recording.read_channel(channel(tmp_path, "3\n4.5\n").parent / "channel.txt") == {
        "snrs_db": [3, 4.5]
    }


def test_rates_are_replayed(tmp_path: Path) -> None:
    file = channel(tmp_path, "# a step\nrate_bps\n1e6\n\n3000000\n")
    scenario = nodeb.load(file)
    trace = scenario.to_dict()["users"][0]["ue"]["channel"]["trace"]
    assert (trace["rates"], trace["snrs_db"]) == (["1 Mbps", "3 Mbps"], [])
    assert list(scenario.run().flows["complete"]) == [True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate_bps\nfast\n", "channel.txt:2: `fast` is not a rate"),
        ("rate_bps\n-1\n", "channel.txt:2: `-1` is not a rate"),
        ("1 2 3\n", "channel.txt:1: `1 2 3` is not a TTI"),
        ("5\nloud\n", "channel.txt:2: `loud` is not a TTI"),
        ("1 2 3 31\n", "channel.txt:1: 31 is not a CQI"),
        ("1 2 3 4.5\n", "channel.txt:1: 4.5 is not a CQI"),
        ("1 2 3 4\n5\n", "channel.txt:2: 1 numbers after lines of 4"),
        ("nan\n", "channel.txt:1: "),
        ("# nothing\n", "there is nothing in it"),
        ("rate_bps\n", "there is nothing in it"),
        ("300\n", "expected an SNR from -200 to 200 dB"),
    ],
)
def test_what_is_wrong_in_a_channel_is_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(nodeb.ScenarioError) as caught:
        nodeb.load(channel(tmp_path, text))
    assert message in str(caught.value)


def test_a_channel_shorter_than_the_run_needs_a_word(tmp_path: Path) -> None:
    file = channel(tmp_path, "5\n6\n")
    file.write_text(CELL.replace(', at_end = "loop"', ""))
    with pytest.raises(nodeb.ScenarioError, match="ends at 4 ms, the run at 4 s; expected `loop`"):
        nodeb.load(file)


@pytest.mark.parametrize(
    "group",
    [
        'traffic.replay.file = "a\\u0000b"',
        'traffic.ftp.size = "1 kB"\nue.channel.trace.file = "a\\u0000b"',
    ],
)
def test_a_name_that_no_file_can_have_is_refused(group, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(f'radio = "hsdpa"\n[[users]]\n{group}\n')
    with pytest.raises(nodeb.ScenarioError, match="cannot be read: embedded null"):
        nodeb.load(path)
