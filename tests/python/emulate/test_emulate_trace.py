"""Test of an emulation in which traces of delivery opportunities carry real packets."""

from __future__ import annotations

import json
import sys

import pytest

from emulations import DOWNLOAD, DOWNLOAD_SERVER, PATIENT, nodeb, python, replay

pytestmark = pytest.mark.usefixtures("real_packets")

DRIVE = """
name = "a drive"
[wired]
rate = "1 Gbps"
delay = "5 ms"
[uplink]
delay = "0 s"
[radio.trace]
down.file = "down"
up.file = "up"
[[users]]
name = "phone"
traffic = "external"
"""
OPPORTUNITY, HEADER = 1504, 4
"""Bytes of an opportunity, and bytes of a packet in addition to those of IP."""
APART_MS = 8
"""Interval between opportunities, ms, which makes 1.5 Mb/s."""


def test_download_takes_the_time_of_the_trace(tmp_path):
    """The download of 150 kB takes at least 104 opportunities that are 8 ms apart, and a replay
    gives the same result.
    """
    import pyarrow.parquet

    (tmp_path / "down").write_text("".join(f"{ms}\n" for ms in range(8, 801, APART_MS)))
    (tmp_path / "up").write_text("".join(f"{ms}\n" for ms in range(5, 501, 5)))
    file, out, log = tmp_path / "drive.toml", tmp_path / "out", tmp_path / "flight.log"
    file.write_text(DRIVE)
    server = f"{sys.executable} -c '{DOWNLOAD_SERVER}'"
    options = (*PATIENT, "--out", out, "--record", log, "--server", server)
    done = nodeb(file, *options, "--", *python(DOWNLOAD))
    assert done.returncode == 0, done.stderr
    got, took = done.stdout.split()
    assert int(got) == 150_000
    assert 0.103 * APART_MS < float(took) < 5 * 0.103 * APART_MS

    table = pyarrow.parquet.read_table(out / "opportunities.parquet").to_pydict()
    (phone,) = json.loads((out / "provenance.json").read_text())["emulation"]["phones"]
    assert table["way"] == ["down", "up"]
    for row, way in enumerate(table["way"]):
        assert table["used"][row] + table["wasted"][row] == table["offered"][row]
        assert table["offered_bytes"][row] == table["offered"][row] * OPPORTUNITY
        assert table["used_bytes"][row] + table["wasted_bytes"][row] == table["offered_bytes"][row]
        came = phone[way]
        used = came["arrived_bytes"] + HEADER * came["arrived_packets"]
        left = came["offered_packets"] - came["arrived_packets"]
        assert used <= table["used_bytes"][row] <= used + OPPORTUNITY * left

    replayed = replay(log, "--out", tmp_path / "again")
    assert replayed.returncode == 0, replayed.stderr
    again = pyarrow.parquet.read_table(tmp_path / "again" / "opportunities.parquet")
    assert again.to_pydict() == table
