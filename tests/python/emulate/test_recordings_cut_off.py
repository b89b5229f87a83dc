"""Tests: every command that reads an incomplete recording prints a note."""

from __future__ import annotations

import json
import struct

import pytest

from emulations import REAL, made_by_hand, over
from nodeb.emulate import recordings, timeline
from scenarios import needs_linux

pytestmark = needs_linux

OTHERS = {"name": "others", "count": 2, "traffic": {"ftp": {"size": "20 kB"}}}
SAID = "he log was cut off; this is the recording up to there"
SENT = struct.pack("<BQBBIIBH", 1, 10**9, 0, 0, 100, 7, 0, 0)
"""Record of a packet of 100 bytes towards the phone at 1 s."""


@pytest.fixture
def cut(tmp_path):
    return made_by_hand(tmp_path / "cut.log", [REAL, OTHERS], SENT, is_whole=False)


@pytest.fixture
def whole(tmp_path):
    return made_by_hand(tmp_path / "whole.log", [REAL, OTHERS], SENT + over(1))


def said(text):
    return SAID in " ".join(text.split())


@pytest.mark.parametrize("name", ["replay", "explain", "life"])
def test_every_command_reports_a_truncated_log(call, cut, whole, name):
    assert said("".join(call(name, cut)[1:]))
    assert not said("".join(call(name, whole, "--force" if name == "life" else "--")[1:]))


def test_timeline_of_a_log_reports_truncation(cut, whole, tmp_path):
    for log, complete in ((cut, False), (whole, True)):
        life = timeline.recorded_life(recordings.read(log))
        assert said(life.html()) is not complete
        folder = life.save(tmp_path / log.stem)
        about = json.loads((folder / "provenance.json").read_text())
        assert about["log"] == {"complete": complete}


def test_recording_killed_before_its_first_packet_is_replayed_into_a_folder(call, tmp_path):
    log = made_by_hand(tmp_path / "empty.log", [REAL, OTHERS], b"", is_whole=False)
    status, out, err = call("replay", log, "--out", "replayed")
    assert (status, err) == (0, "")
    assert said(out)
    about = json.loads((tmp_path / "replayed" / "provenance.json").read_text())
    assert not about["replay"]["complete"]
