"""Tests of replays of recorded emulations."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from emulations import DOWNLOAD, DOWNLOAD_SERVER, PATIENT, nodeb, python, replay

pytestmark = pytest.mark.usefixtures("real_packets")


def test_recording_is_replayed_to_the_nanosecond(tmp_path):
    """A replay delivers the same packets in the same order and at the same times, and gives the
    same tables of all users.
    """
    file = tmp_path / "cell.toml"
    file.write_text(
        '[wired]\nloss = 0.01\n[radio.hsdpa]\n[[users]]\nname = "phone"\n'
        'traffic = "external"\n[[users]]\nname = "others"\ncount = 4\ntraffic.ftp.size = "1 MB"\n'
    )
    log, out, again = tmp_path / "flight.log", tmp_path / "out", tmp_path / "again"
    server = f"{sys.executable} -c '{DOWNLOAD_SERVER}'"
    options = (*PATIENT, "--record", log, "--out", out, "--server", server)
    done = nodeb(file, *options, "--", *python(DOWNLOAD))
    assert done.returncode == 0, done.stderr
    replayed = replay(log, "--out", again)
    assert replayed.returncode == 0, replayed.stderr
    emulated = json.loads((out / "provenance.json").read_text())["emulation"]
    replayed = json.loads((again / "provenance.json").read_text())["replay"]
    (phone,) = emulated["phones"]
    counted = sum(
        phone[way]["arrived_packets"] + sum(phone[way][key] for key in phone[way] if "lost_" in key)
        for way in ("down", "up")
    )
    assert replayed["same"] == counted > 100
    for way in ("down", "up"):
        assert replayed["phones"][0][way] == phone[way]
    for table in ("flows", "bearers", "links"):
        assert rows_of(out / f"{table}.parquet") == rows_of(again / f"{table}.parquet")


def rows_of(file: Path) -> str:
    """Returns all values of a table as text, because a comparison of values would find NaN
    different from NaN.
    """
    import pyarrow.parquet

    return repr(pyarrow.parquet.read_table(file).to_pydict())


def test_truncated_damaged_and_foreign_logs_are_reported(link, tmp_path):
    log = tmp_path / "flight.log"
    ping = ("ping", "-c", "10", "-i", "0.1", "10.64.0.1")
    assert nodeb(link, *PATIENT, "--record", log, "--", *ping).returncode == 0
    whole = log.read_bytes()
    cut, damaged = tmp_path / "cut.log", tmp_path / "damaged.log"
    cut.write_bytes(whole[:-100])
    done = replay(cut)
    assert (done.returncode, "The log was cut off" in done.stdout) == (0, True)
    # The time of the last packet is changed. Its record is the last one but one; the last record
    # is the end of the log.
    late = bytearray(whole[:-4])
    late[-9 - 26 + 9] ^= 1
    damaged.write_bytes(bytes(late) + whole[-4:])
    done = replay(damaged)
    assert done.returncode == 2
    assert "its checksum does not fit: it is damaged" in done.stderr
    damaged.write_bytes(late)  # Logs of earlier versions end like this, without a checksum.
    done = replay(damaged)
    assert done.returncode == 1
    assert re.search(r"not the same: in the \w+ packet", done.stderr)
    for text in (b"", b"nodeb", whole[:100], b"nodeb flight 1\r\n\x02\0\0\0{}"):
        damaged.write_bytes(text)
        done = replay(damaged)
        assert done.returncode == 2, done.stderr
        assert re.match(r"error: .*damaged.log", done.stderr)
