"""Tests of captures, packet timelines and explanations that are made from a recording."""

from __future__ import annotations

import subprocess

import numpy as np
import pyarrow.parquet as pq
import pytest

import nodeb
from emulations import DOWNLOAD, DOWNLOAD_SERVER, PATIENT, forbidden, python, server
from emulations import nodeb as emulate
from nodeb.cli import invoke
from nodeb.emulate import connections, recordings, timeline

pytestmark = pytest.mark.usefixtures("real_packets")

CELL = """
name = "a recording"
[wired]
delay = "20 ms"
[radio.hsdpa]
iub = { delay = "10 ms" }
[[users]]
name = "phone"
traffic = "external"
[[users]]
name = "others"
count = 2
traffic.ftp.size = "200 kB"
"""
SIZE = 150_000
"""Bytes that `DOWNLOAD` requests."""


def recorded(folder, text, *options, command=DOWNLOAD):
    """Records a download by the kernel's TCP in a cell given as text. Returns the log."""
    if why := forbidden():
        pytest.skip(f"real packets are not let through here: {why}")
    file, log = folder / "cell.toml", folder / "flight.log"
    file.write_text(text)
    options = (*PATIENT, "--record", log, *server(DOWNLOAD_SERVER), *options)
    done = emulate(file, *options, "--", *python(command))
    assert done.returncode == 0, done.stderr
    return log


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("recording"), CELL)


def tshark(file, *arguments):
    done = subprocess.run(
        ["tshark", "-r", file, *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


@pytest.mark.needs("tshark")
def test_capture_of_a_replay_has_the_real_connection(log, tmp_path):
    file = tmp_path / "flight.pcapng"
    assert invoke(["replay", str(log), "--pcap", str(file), "--pcap-radio"]) == 0
    fields = ("frame.interface_name", "tcp.len", "frame.comment", "tcp.checksum.status")
    wanted = ["-Y", "tcp.port == 5001", "-T", "fields", "-o", "tcp.check_checksum:FALSE"]
    for field in fields:
        wanted += ["-e", field]
    rows = [line.split("\t") for line in tshark(file, *wanted).splitlines()]
    for name in ("server", "phone", "rnc", "node_b"):
        of_place = [row for row in rows if row[0] == name]
        assert len(of_place) > 50, name
        assert name != "node_b" or all("block" in row[2] for row in of_place)
    assert all("received" in row[2] or "lost" in row[2] or "under way" in row[2] for row in rows)
    # The captured stream must contain the whole download, from its SYN to its last byte.
    stream = tshark(file, "-q", "-z", "conv,tcp")
    assert "10.64.0.2" in stream
    assert "10.1.0.2" in stream, "simulated users are there too"
    downwards = 'tcp.srcport == 5001 and frame.interface_name == "phone"'
    seen = tshark(file, "-Y", downwards, "-T", "fields", "-e", "tcp.nxtseq")
    assert max(map(int, seen.split())) > SIZE


def test_timeline_of_a_recording_identifies_real_packets_by_their_headers(log, tmp_path, capsys):
    out = tmp_path / "life"
    assert invoke(["life", str(log), "--out", str(out)]) == 0
    assert "connection 0" in capsys.readouterr().out
    packets = pq.read_table(out / "packets.parquet").to_pandas()
    real = packets[packets["connection"] == 0]
    data = real[(real["purpose"] == "data") & ~real["again"] & (real["bytes"] > 60)]
    assert sorted({*data["from_port"], *data["to_port"]})[0] == 5001
    assert data["seq"].min() == 1
    assert data["seq"].is_monotonic_increasing
    assert (packets[packets["user"] > 0]["connection"] == -1).all()
    assert set(real["purpose"]) == {"connect", "data", "request", "ack"}
    assert real[real["purpose"] == "ack"]["seq"].max() >= SIZE
    assert (real["blocks"] > 0).sum() >= len(data)
    page = (out / "life.html").read_text()
    assert "A replayed recording" in page
    assert "<h1>None of " in page
    assert "from_port" in page


def test_real_connection_is_explained_to_the_nanosecond(log, tmp_path, capsys):
    page = tmp_path / "why.html"
    assert invoke(["explain", str(log), "--report", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "connection 0, 10.64.0.1:5001 to 10.64.0.2:" in printed
    assert "HARQ" in page.read_text() or "transmission" in page.read_text()
    recording = recordings.read(log)
    known = connections.connections(recording)
    (one,) = known.all
    assert one.down_bytes == SIZE
    found = connections.explain(recording, one)
    spans, (path,) = found.spans, found.paths
    assert path.complete
    assert (spans["begin_ns"][1:] == spans["end_ns"][:-1]).all()
    whole = int(spans["end_ns"][-1] - spans["begin_ns"][0])
    assert path.time_ns == whole == round((path.ended_s - path.begun_s) * 1e9)
    assert path.causes["handshake"] > 50e6, "a way of 30 ms and the way back"
    assert path.causes["request"] > 20e6
    assert set(np.unique(spans["place"])) > {"server", "phone", "bearer", "uplink", "wired down"}
    # The packet timeline of the same recording must have the same spans.
    life = timeline.recorded_life(recording)
    assert life.critical_path.transfers == [0]
    assert [span.end for span in life.critical_path.spans] == spans["end_ns"].tolist()


@pytest.mark.slow
def test_too_few_recorded_bytes_per_packet_are_reported(tmp_path, capsys):
    log = recorded(tmp_path, CELL, "--kept", "24")
    assert invoke(["explain", str(log)]) == 2
    assert "--kept 96" in capsys.readouterr().err


@pytest.mark.slow
def test_datagrams_have_a_timeline_and_no_explanation(tmp_path, capsys):
    program = """
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(5):
    s.sendto(bytes(300), (os.environ["NODEB_SERVER"], 5000))
import time; time.sleep(1)
"""
    log = recorded(tmp_path, CELL, command=program)
    life = timeline.recorded_life(recordings.read(log))
    packets = life.packets.to_pandas()
    real = packets[packets["user"] == 0]
    assert len(real) >= 5
    assert (real["connection"] == -1).all()
    assert (real["to_port"] == 5000).sum() == 5
    assert invoke(["explain", str(log)]) == 2
    assert "TCP" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("loss", [0.0, 0.01])
def test_downloads_of_kernel_and_simulation_have_the_same_causes(loss, tmp_path):
    """A download by the kernel's TCP and one by the simulated family `linux` in the same cell have
    the same main causes.
    """
    cell = f'[wired]\ndelay = "20 ms"\n[radio.dch]\nbler = {loss}\n[[users]]\nname = "phone"\n'
    log = recorded(tmp_path, f'{cell}traffic = "external"\n')
    recording = recordings.read(log)
    real = connections.explain(recording, connections.connections(recording).all[0])
    traffic = (
        f'traffic.ftp = {{ size = "{SIZE} B", request = "6 B" }}\ntcp.linux.control.reno = {{}}\n'
    )
    file = tmp_path / "simulated.toml"
    file.write_text(cell + traffic)
    simulated = nodeb.explain(nodeb.load(file), runs=10)

    def share(found, *causes):
        return sum(float(found.seconds(cause).mean()) for cause in causes) / found.time.mean

    on_the_air = ("transmission", "RLC retransmission", "propagation")
    assert share(real, *on_the_air) == pytest.approx(share(simulated, *on_the_air), abs=0.05)
    assert real.time.mean == pytest.approx(simulated.time.mean, rel=0.1)
