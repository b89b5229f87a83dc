"""Tests: invalid files that a scenario names are rejected with their place and the key."""

import json

import pytest

import nodeb
from nodeb.inputs import named_files
from nodeb.inputs import trace as traces

USER = '[[users]]\ntraffic.ftp.size = "1 kB"\n'
SCENARIOS = {
    "traffic.trace": '[[users]]\ntraffic.replay.file = "traffic.trace"\n',
    "channel.trace": f"radio.hsdpa = {{}}\n{USER}"
    'ue.channel.trace = { file = "channel.trace", at_end = "loop" }\n',
    "down": f'[radio.trace]\ndown.file = "down"\nup.times_ms = [1]\n{USER}',
    "model.json": 'radio.dch = { channels = 4, pdus_per_tti = 3, errors.file = "model.json" }\n'
    + USER,
    "delays.csv": f'radio = "link"\ncore.jitter.trace.file = "delays.csv"\n{USER}',
    "curves.csv": f'radio.hsdpa.link_curve.file = "curves.csv"\n{USER}',
}
KEYS = {
    "traffic.trace": "s.toml:2: users.0.traffic.replay.file: ",
    "channel.trace": "s.toml:4: users.0.ue.channel.trace.file: ",
    "down": "s.toml:2: radio.trace.down.file: ",
    "model.json": "s.toml:1: radio.dch.errors",
    "delays.csv": "s.toml:2: core.jitter.trace",
    "curves.csv": "link_curve",
}


def traffic(rows):
    count = sum(bool(row.strip()) for row in rows.splitlines())
    return f"# nodeb trace 1\n# kind: traffic\n# count: {count}\ntime_s,bytes\n{rows}"


def channel(kind, rows):
    count = len(rows.splitlines()) - 1
    return f"# nodeb trace 1\n# kind: {kind}\n# step: 2 ms\n# count: {count}\n{rows}\n"


def model(**keys):
    good = {
        "format": "nodeb-error-model", "version": 1, "unit": "block", "pdus_per_block": 3,
        "kind": "recorded", "errors": "sequence.txt",
        "within_block": {"count_law": [0.2, 0.8, 0.0]}, "provenance": {"seed": 7},
    }  # fmt: skip
    return json.dumps(good | keys)


CASES = [
    ("traffic.trace", traffic("0,10\n2.5,10\n1,10\n"), "traffic.trace:7: "),
    ("traffic.trace", traffic("0,10\nsoon,10\n"), "traffic.trace:6: `soon`"),
    ("traffic.trace", traffic("0,10\n1,10,3\n"), "traffic.trace:6: "),
    ("traffic.trace", traffic("0,10,3\n"), "traffic.trace:5: "),
    ("traffic.trace", traffic("0,0\n"), "traffic.trace:5: 0 "),
    ("traffic.trace", traffic("-1,10\n"), "traffic.trace:5: -1 s"),
    ("traffic.trace", traffic("nan,10\n"), "traffic.trace:5: `nan`"),
    ("traffic.trace", traffic(""), "no entries"),
    ("traffic.trace", None, "traffic.trace: there is no such file"),
    ("channel.trace", channel("rate", "rate_bps\nfast"), "channel.trace:6: `fast`"),
    ("channel.trace", channel("rate", "rate_bps\n-1"), "channel.trace:6: -1"),
    ("channel.trace", channel("snr", "cqi\n1"), "channel.trace:5: "),
    ("channel.trace", channel("snr", "snr_db\n5\nloud"), "channel.trace:7: `loud`"),
    ("channel.trace", channel("cqi", "cqi\n31"), "channel.trace:6: 31"),
    ("channel.trace", channel("cqi", "cqi\n4.5"), "channel.trace:6: 4.5"),
    ("channel.trace", channel("snr", "snr_db\n1 2 3 4\n5"), "channel.trace:7: "),
    ("channel.trace", channel("snr", "snr_db"), "no entries"),
    ("channel.trace", channel("snr", "snr_db\n300"), "channel.trace:6: 300"),
    ("channel.trace", channel("snrs", "snr_db\n3"), "channel.trace:2: kind: "),
    ("channel.trace", channel("traffic", "time_s,bytes\n3,4"), "channel.trace: "),
    ("channel.trace", "3.5\n-4\n", "`nodeb import "),
    ("down", "", "no entries"),
    ("down", "5\n4\n", "down:2: 4 "),
    ("down", "-1\n4\n", "down:1: -1 "),
    ("down", "1\n\n2.5\n", "down:3: 2.5 "),
    ("down", "1\n1e300\n", "down:2: 1e+300 "),
    ("down", "1\ninf\n", "down:2: `inf`"),
    ("down", "0\n0\n0\n", "down:3: 0 "),
    ("down", "1 2\n3 4\n", "down:1: 2 numbers"),
    ("down", "1\n2 3\n", "down:2: 2 numbers"),
    ("down", "# nodeb trace 1\n# kind: rate\n", "`ue.channel.trace.file`"),
    ("down", "# nodeb trace 1\n# kind: traffic\n", "`traffic.replay.file`"),
    ("down", None, "down: there is no such file"),
    ("model.json", "{", "model.json: "),
    ("model.json", "[]", "model.json: "),
    ("model.json", model(format="x"), "model.json: format: "),
    ("model.json", model(kind="markov"), "model.json: kind: "),
    ("model.json", model(errors=[]), "model.json: recorded.errors: "),
    ("model.json", model(errors="none.txt"), "none.txt: "),
    ("model.json", model(errors="odd.txt"), "odd.txt:2: '2'"),
    ("model.json", model(errors="empty.txt"), "no entries"),
    ("model.json", model(kind="hmm", errors=None, transition=[[1.0]], error=[0.1]), "hmm: "),
    ("model.json", model(pdus_per_block=12), "within_block: "),
    ("delays.csv", "time,delay\n1,2\n", "delays.csv:1: "),
    ("delays.csv", "time_s,delay_ms\n1\n", "delays.csv:2: 1 number"),
    ("delays.csv", "time_s,delay_ms\n1,2\n2,-3\n", "delays.csv:3: -3"),
    ("delays.csv", "time_ms,delay_ms\n1e300,2\n", "delays.csv:2: 1e+300"),
    ("delays.csv", "time_s,delay_ms\n2,2\n1,2\n", "trace.times: "),
    ("delays.csv", "time_s,delay_ms\n0,2\n", "trace.times: "),
    ("delays.csv", None, "delays.csv: there is no such file"),
    ("curves.csv", "cqi,eb_n0_db,bler\n1,2,0.1\n", "curves.csv:1: "),
    ("curves.csv", "cqi,snr_db,bler\n1,2\n", "curves.csv:2: 2 numbers"),
    ("curves.csv", "cqi,snr_db,bler\n1,2,nan\n", "curves.csv:2: "),
    ("curves.csv", "cqi,snr_db,bler\n31,2,0.1\n", "curves.csv:2: 31"),
    ("curves.csv", "cqi,snr_db,bler\n", "no entries"),
    ("curves.csv", "cqi,snr_db,bler\n1,2,0.1\n3,2,0.1\n", "CQI 2"),
    ("curves.csv", "cqi,snr_db,bler\n1,2,0.1\n1,3,0.2\n", "falls"),
]


@pytest.mark.parametrize(("file", "text", "place"), CASES)
def test_invalid_file_is_rejected_with_place_and_key(tmp_path, file, text, place):
    (tmp_path / "s.toml").write_text(SCENARIOS[file])
    for name, digits in (("sequence", "0010\n"), ("odd", "0100\n0102\n"), ("empty", " \n")):
        (tmp_path / f"{name}.txt").write_text(digits)
    if text is not None:
        (tmp_path / file).write_text(text)
    with pytest.raises(nodeb.ScenarioError) as caught:
        nodeb.load(tmp_path / "s.toml").compiled()
    assert place in str(caught.value)
    assert KEYS[file] in str(caught.value)


@pytest.mark.parametrize(
    ("head", "place"),
    [
        ("# nodeb trace 2\n# kind: snr\n", ":1: `nodeb trace 2`"),
        ("# nodeb trace 1\n# step: 2 ms\n", "kind: "),
        ("# nodeb trace 1\n# kind: snr\n# unit: bit/s\n", ":3: unit: `bit/s`"),
        ("# nodeb trace 1\n# kind: snr\n# step: 0 s\n# count: 1\nsnr_db\n1", ":3: step: `0 s`"),
        ("# nodeb trace 1\n# kind: snr\n# step: 2 ms\n# count: 9\nsnr_db\n1", ":4: count: 9"),
    ],
)
def test_damaged_header_is_rejected(tmp_path, head, place):
    (tmp_path / "x.trace").write_text(head)
    with pytest.raises(nodeb.ScenarioError) as caught:
        traces.read(tmp_path / "x.trace")
    assert place in str(caught.value)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_file_that_is_not_text_is_reported_with_the_position(tmp_path, mark):
    (tmp_path / "curves.csv").write_bytes(mark + b"cqi,snr_db,bler\n1,\xe9,0.5\n")
    with pytest.raises(nodeb.ScenarioError, match=r"csv:2: .* \(byte 0xe9\)"):
        named_files.link_curve(tmp_path / "curves.csv")


@pytest.mark.parametrize("name", ["", "a\\u0000b"])
@pytest.mark.parametrize("file", SCENARIOS)
def test_impossible_file_name_is_rejected(tmp_path, file, name):
    (tmp_path / "s.toml").write_text(SCENARIOS[file].replace(f'"{file}"', f'"{name}"'))
    with pytest.raises(nodeb.ScenarioError) as caught:
        nodeb.load(tmp_path / "s.toml").compiled()
    assert KEYS[file] in str(caught.value)
