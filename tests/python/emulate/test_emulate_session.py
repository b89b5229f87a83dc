"""Tests of one recorded emulation: command, delays, tables, page, and the replay of its log."""

from __future__ import annotations

import json
import os
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from emulations import ECHO, PATIENT, UDP_SERVER, forbidden, nodeb, python, server
from nodeb import _core
from nodeb.cli import invoke

CELL = """
name = "a cell"
[wired]
rate = "100 Mbps"
delay = "10 ms"
[uplink]
delay = "10 ms"
[radio.hsdpa]
[[users]]
name = "phone"
traffic = "external"
[[users]]
name = "others"
count = 2
traffic.ftp.size = "10 MB"
"""
PACKETS = 30
ECHOES = (
    ECHO
    + f"""
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
for number in range({PACKETS}):
    begun = time.monotonic()
    s.sendto(bytes(400), (server, 5000))
    s.recv(1000)
    print(time.monotonic() - begun)
    time.sleep(0.03)
print(sys.stdin.readline().strip(), os.environ["NODEB_PHONE"], os.environ["HERE"], os.geteuid())
open("file", "w").close()
sys.exit(7)
"""
)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Runs an emulation with tables, page and recording. Returns its folder and the process."""
    if why := forbidden():
        pytest.skip(f"real packets are not let through here: {why}")
    folder = tmp_path_factory.mktemp("session")
    (folder / "cell.toml").write_text(CELL)
    options = (*PATIENT, "--out", "out", "--report", "page.html", "--record", "log")
    environment = {**os.environ, "HERE": "there"}
    done = nodeb(
        *("cell.toml", *options, *server(UDP_SERVER), "--", *python(ECHOES)),
        cwd=folder, env=environment, input="hello\n",
    )  # fmt: skip
    assert done.returncode == 7, done.stderr
    return folder, done


def table(folder, name):
    columns = pq.read_table(folder / f"{name}.parquet").to_pydict()
    return {key: np.asarray(values) for key, values in columns.items()}


def test_streams_environment_identity_and_files_belong_to_the_command(session):
    folder, done = session
    assert done.stdout.splitlines()[-1] == f"hello 10.64.0.2 there {os.geteuid()}"
    assert (folder / "file").stat().st_uid == os.geteuid()


def test_nothing_is_faster_than_the_cell(session):
    """A round trip of 428 B takes at least 20 ms of propagation and 34 us on the wire."""
    times = [float(line) for line in session[1].stdout.splitlines()[:-1]]
    assert len(times) == PACKETS
    assert min(times) > 0.020 + 8 * 428 / 100e6


def test_series_add_up_to_the_packets(session):
    folder, _ = session
    phones, cell = (table(folder / "out", name) for name in ("emulation", "emulation_cell"))
    for way in ("down", "up"):
        mine = phones["way"] == way
        assert phones["offered_packets"][mine].sum() == PACKETS
        assert phones["arrived_packets"][mine].sum() == PACKETS
        assert phones["arrived_bytes"][mine].sum() == PACKETS * 428
        arrived = phones["arrived_packets"][mine] > 0
        p50, p99, most = (phones[f"delay_{q}_s"][mine][arrived] for q in ("p50", "p99", "max"))
        assert (p50 <= p99 * (1 + 1e-9)).all()
        assert (p99 <= most * (1 + 1 / 16)).all()
        assert (p50 > 0.01).all()
    assert cell["deliveries"].sum() == 2 * PACKETS
    assert cell["simulated_down_bytes"].sum() > 0
    down = phones["way"] == "down"
    assert np.allclose(phones["begin_s"][down], cell["begin_s"])
    assert ((phones["cqi"][down] >= 0) & (phones["cqi"][down] <= 30)).all()
    assert np.isnan(phones["cqi"][~down]).all()
    assert np.isnan(phones["delay_p50_s"][phones["arrived_packets"] == 0]).all()
    assert table(folder / "out", "emulation_delays")["packets"].sum() == 2 * PACKETS
    assert table(folder / "out", "emulation_lateness")["deliveries"].sum() == 2 * PACKETS


def test_page_in_the_folder_belongs_to_it(session):
    folder, done = session
    assert "a cell" in (folder / "out" / "page.html").read_text()
    assert "page.html" in done.stderr
    assert "page.html" in (folder / "out" / "provenance.json").read_text()


def test_recording_is_replayed_to_the_nanosecond(session, tmp_path):
    folder, _ = session
    arguments = ["--out", str(tmp_path / "again"), "--report", str(tmp_path / "again.html")]
    assert invoke(["replay", str(folder / "log"), *arguments]) == 0
    about = json.loads((folder / "out" / "provenance.json").read_text())["emulation"]
    replayed = json.loads((tmp_path / "again" / "provenance.json").read_text())["replay"]
    assert replayed["same"] == 2 * PACKETS
    (phone,), (again,) = about["phones"], replayed["phones"]
    assert [again[way] for way in ("down", "up")] == [phone[way] for way in ("down", "up")]
    names = [name for name, *_ in _core.emulation_tables()]
    for name in (*names, "flows", "bearers", "links"):
        first, second = (table(place, name) for place in (folder / "out", tmp_path / "again"))
        assert first.keys() == second.keys()
        for column, values in first.items():
            is_float = values.dtype.kind == "f"
            same = np.array_equal(values, second[column], equal_nan=is_float)
            assert same, f"{name}.{column}"


def test_existing_results_and_recordings_are_kept(session, call):
    folder, _ = session
    before = (folder / "log").read_bytes()
    for there in ("log", "cell.toml"):
        status, _, err = call(
            "emulate", folder / "cell.toml", "--record", folder / there, "--", "true"
        )
        assert (status, str(folder / there) in err) == (2, True)
    status, _, err = call("replay", folder / "log", "--pcap", folder / "log")
    assert (status, "--force" in err or "not a capture" in err) == (2, True)
    status, _, err = call("emulate", folder / "cell.toml", "--out", folder / "out", "--", "true")
    assert (status, "--force" in err) == (2, True)
    assert (folder / "log").read_bytes() == before


def test_truncated_damaged_and_foreign_logs_are_reported(session, tmp_path, call):
    whole = (session[0] / "log").read_bytes()
    log = tmp_path / "a.log"
    log.write_bytes(whole[:-100])
    status, out, _ = call("replay", log)
    assert (status, "cut off" in out) == (0, True)
    # The time of the last packet is changed: its record is the last but one, before the end's.
    late = bytearray(whole[:-4])
    late[-9 - 26 + 9] ^= 1
    log.write_bytes(bytes(late) + whole[-4:])
    status, _, err = call("replay", log)
    assert (status, "checksum" in err) == (2, True)
    log.write_bytes(late)  # Logs of earlier versions end like this, without a checksum.
    status, _, err = call("replay", log)
    assert (status, "not the same" in err) == (1, True)
    for text in (b"", b"nodeb", whole[:100], b"nodeb flight 1\r\n\x02\0\0\0{}"):
        log.write_bytes(text)
        status, _, err = call("replay", log)
        assert status == 2
        assert re.match(r"error: .*a\.log", err)


def test_tables_have_units_and_meanings():
    tables = {name: columns for name, _, columns in _core.emulation_tables()}
    assert set(tables) == {"emulation", "emulation_cell", "emulation_delays", "emulation_lateness"}
    for columns in tables.values():
        assert columns[0][0] == "run"
        assert all(meaning.endswith(".") for _, _, meaning in columns)
