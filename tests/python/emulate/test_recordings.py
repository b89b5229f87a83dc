"""Tests of recordings made by hand: claims of their files, connections, logs that are cut off."""

import os
import struct
from pathlib import Path

import pytest

from emulations import REAL, made_by_hand, over
from nodeb import _core
from nodeb.emulate import recordings, timeline
from nodeb.emulate.connections import Connection, Connections, choose, connections, listed
from nodeb.emulate.recordings import claimed
from nodeb.errors import InputError, OutputError

OTHERS = {"name": "others", "count": 2, "traffic": {"ftp": {"size": "20 kB"}}}
SENT = struct.pack("<BQBBIIBH", 1, 10**9, 0, 0, 100, 7, 0, 0)
"""Record of a packet of 100 bytes towards the phone at 1 s."""
END, CAME = over(1), struct.pack("<BQQQB", 2, 0, 10**9, 0, 0)


def test_claimed_file_is_refused_to_another_emulation(tmp_path):
    log = tmp_path / "one.log"
    with claimed(log) as claim:
        with pytest.raises(OutputError, match=r"one\.log"), claimed(log):
            pass
        claim.is_needed = True
    with claimed(log):  # The empty file of a killed emulation.
        pass
    log.write_text("recorded")
    with pytest.raises(OutputError, match=r"one\.log"), claimed(log):
        pass
    assert log.read_text() == "recorded"
    with claimed(Path(os.devnull)), claimed(Path(os.devnull)):
        pass


def test_new_file_is_removed_unless_a_command_started(tmp_path):
    log = tmp_path / "one.log"
    with pytest.raises(ZeroDivisionError), claimed(log):
        raise ZeroDivisionError
    assert not log.exists()


def connection(number, down_bytes):
    ends = "10.64.0.1:80", f"10.64.0.2:{4000 + number}"
    return Connection(number, 0, *ends, 0.0, 1.0, 10, down_bytes, 0)


def test_connections_with_most_data_are_listed():
    many = [connection(number, 1000 + 37 * number % 200) for number in range(200)]
    *table, rest = listed(many).splitlines()
    assert "180" in rest
    shown = [int(line.split()[0]) for line in table[1:]]
    assert len(shown) == 20
    assert shown == sorted(shown)
    least = min(many[number].data_bytes for number in shown)
    assert all(one.data_bytes <= least for one in many if one.number not in shown)
    assert len(listed(many[:20]).splitlines()) == 21
    with pytest.raises(InputError, match="200") as refused:
        choose(Connections(many, 0, 0), None, 200)
    assert len(str(refused.value).splitlines()) < 30


def test_notes_name_each_reason_why_a_packet_has_no_connection():
    """More recorded bytes per packet do not help against fragments and invalid headers."""
    other, unknown = Connections([], 1, 1).notes
    assert "TCP" in other
    assert "--kept 96" in unknown
    assert len(Connections([], 2, 0).notes) == 1


@pytest.mark.parametrize(
    ("records", "whole"),
    [(END, True), (CAME + END, True), (CAME, False), (CAME + END[:-1], False), (b"", False)],
)
def test_truncated_log_is_recognised_by_its_end(tmp_path, records, whole):
    file = made_by_hand(tmp_path / "flight.log", [REAL], records, is_whole=whole)
    assert connections(recordings.read(file)).is_whole is whole


@pytest.mark.parametrize("whole", [True, False])
def test_every_command_says_if_the_log_was_cut_off(call, tmp_path, whole):
    records = SENT + (over(1) if whole else b"")
    log = made_by_hand(tmp_path / "a.log", [REAL, OTHERS], records, is_whole=whole)
    for name in ("replay", "explain", "life"):
        text = " ".join("".join(call(name, log)[1:]).split())
        assert ("cut off" in text) is not whole, name
    life = timeline.recorded_life(recordings.read(log))
    assert ("cut off" in life.html()) is not whole


def test_options_that_do_not_apply_to_recordings_are_refused(call, tmp_path, link):
    log = made_by_hand(tmp_path / "a.log", [REAL, OTHERS], SENT + over(1))
    cases = {
        ("explain", log, "--runs", "3"): "--runs",
        ("explain", log, "--what-if"): "leave --what-if out",
        ("explain", log, "--connection", "9"): "connection",
        ("compare", log, log): f"{log} is given twice",
        ("life", log, "--seed", "3"): "--seed",
        ("life", log, "--user", "9"): "user 9",
        ("life", log, "--user", 10**20): f"{2**63 - 1}",
        ("explain", link, "--connection", "1"): "--connection",
        ("replay", log, "--pcap-radio"): "--pcap",
        ("replay", log, "--pcap", tmp_path / "no" / "such.pcapng"): "such.pcapng",
    }
    for arguments, place in cases.items():
        status, _, err = call(*arguments)
        assert (status, place in err) == (2, True), err


def test_progress_callback_can_abort_a_replay(tmp_path):
    busy = {"name": "others", "count": 10, "traffic": {"ftp": {"size": "100 GB"}}}
    log, shares = made_by_hand(tmp_path / "day.log", [REAL, busy], over(86_400)), []

    def impatient(share, _):
        shares.append(share)
        if len(shares) == 3:
            raise BrokenPipeError("impatient")

    with pytest.raises(BrokenPipeError, match="impatient"):
        recordings.read(log).replay(progress=impatient)
    assert shares == sorted(shares)
    assert 0 < shares[-1] < 0.9
    control = _core.Control()
    control.cancel()
    recording = recordings.read(log)
    arguments = recording.inputs
    for cancelled in (
        lambda: _core.replay_flight(*arguments, control),
        lambda: _core.flight_timeline(*arguments, control),
        lambda: _core.flight_explain(*arguments, 0, control),
        lambda: _core.flight_connections(recording.path, control),
        lambda: _core.flight_packets(recording.path, control),
    ):
        with pytest.raises(_core.Cancelled):
            cancelled()
