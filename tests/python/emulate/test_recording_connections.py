"""Tests: the connections of a recording are listed, and an incomplete log is detected."""

import struct

import pytest

from emulations import REAL, made_by_hand, over
from nodeb.emulate import recordings
from nodeb.emulate.connections import Connection, Connections, choose, connections, listed
from nodeb.errors import InputError

END, CAME = over(1), struct.pack("<BQQQB", 2, 0, 10**9, 0, 0)


def connection(number, down_bytes):
    ends = "10.64.0.1:80", f"10.64.0.2:{4000 + number}"
    return Connection(number, 0, "phone", *ends, 0.0, 1.0, 10, down_bytes, 0)


def test_connections_with_most_data_are_listed():
    many = [connection(number, 1000 + 37 * number % 200) for number in range(200)]
    *table, rest = listed(many).splitlines()
    assert rest == "... and 180 more, none with more data"
    shown = [int(line.split()[0]) for line in table[1:]]
    assert len(shown) == 20
    assert shown == sorted(shown)
    least = min(many[number].data_bytes for number in shown)
    assert all(one.data_bytes <= least for one in many if one.number not in shown)
    assert "more" not in listed(many[:20])


def test_unknown_connection_is_rejected_in_few_lines():
    many = Connections([connection(number, number) for number in range(200)], 0, 0)
    with pytest.raises(InputError, match=r"the recording has no connection 200;") as refused:
        choose(many, None, 200)
    assert len(str(refused.value).splitlines()) < 30
    assert "and 180 more" in str(refused.value)


def test_notes_name_each_reason_why_a_packet_has_no_connection():
    """More recorded bytes per packet do not help against fragments and invalid headers."""
    other, unknown = Connections([], 1, 1).notes
    assert other == "1 packet is not TCP: `nodeb life` shows packet timelines"
    assert unknown.startswith("1 packet cannot be assigned to a connection: later IP fragments, ")
    assert "invalid TCP headers" in unknown
    assert "(record with --kept 96)" in unknown
    assert Connections([], 2, 0).notes[0].startswith("2 packets are not TCP")


@pytest.mark.parametrize(
    ("records", "whole"),
    [
        (END, True),
        (CAME + END, True),
        (CAME, False),
        (CAME + END[:-1], False),
        (b"", False),
    ],
)
def test_truncated_log_is_recognised_by_its_end(tmp_path, records, whole):
    file = made_by_hand(tmp_path / "flight.log", [REAL], records, is_whole=whole)
    assert connections(recordings.read(file)).is_whole is whole
