"""Tests: replications on a cluster equal those on threads, and wrong addresses are reported."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import nodeb
from clusters import Processes, local_workers, start_sweep, wait_until
from kills import kept
from nodeb.base.table import Table
from nodeb.errors import InputError, RunError, ScenarioError
from nodeb.replication.cells import Replicated, ReplicationWork
from nodeb.replication.cluster import Cluster, packing, pool
from nodeb.replication.engine import Single
from nodeb.replication.rules import Count
from nodeb.replication.work import Source
from nodeb.sweep import Sweep
from scenarios import needs_linux

pytestmark = needs_linux


def test_sweep_on_a_cluster_is_identical_to_a_local_one(shared_cluster, grid, tmp_path):
    plan = Sweep.load(grid(100))
    plan.run(tmp_path / "here", jobs=1)
    with Cluster(shared_cluster.address) as cluster:
        outcome = plan.run(tmp_path / "there", jobs=cluster)
    assert (outcome.simulated, outcome.replications) == (300, 900)
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


def test_run_on_a_cluster_is_identical_and_reports_the_workers(shared_cluster, small):
    with nodeb.Cluster(shared_cluster.address) as cluster:
        found = small.run(runs=40, jobs=cluster)
        rough = small.with_(runs=3, max_runs=400).run(precision=0.02, jobs=cluster)
    wanted = small.run(runs=40, jobs=1)
    assert found.provenance.jobs == 2
    assert np.array_equal(found.flows["transfer_s"], wanted.flows["transfer_s"])
    here = small.with_(runs=3, max_runs=400).run(precision=0.02, jobs=1)
    assert rough.provenance.stopping == here.provenance.stopping


def test_reproduction_on_a_cluster_is_identical(shared_cluster, tmp_path):
    from nodeb import reproduce

    with Cluster(shared_cluster.address) as cluster:
        reproduce.run("wang", tmp_path / "there", ["Table 13"], quick=True, jobs=cluster)
    reproduce.run("wang", tmp_path / "here", ["Table 13"], quick=True)
    for name in ("cells.csv", "claims.csv"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_failing_replication_is_reported_as_by_threads(shared_cluster):
    wrong = ReplicationWork(Source('{"radio": {"dch": {"bler": 2}}}', None))
    with Cluster(shared_cluster.address) as cluster, pytest.raises(ScenarioError) as there:
        Single(Replicated(wrong, Count(5)), 1, cluster, None, "").run()
    with pytest.raises(ScenarioError, match="bler") as here:
        Single(Replicated(wrong, Count(5)), 1, 1, None, "").run()
    assert str(there.value) == str(here.value)


def test_long_arrays_are_transferred_once_and_unchanged():
    long, short = np.arange(100_000), np.arange(3)
    packer = packing.Packer()
    data, arrays = packer.pack({"a": long, "b": long, "c": short})
    assert len(data) < 1000
    assert len(arrays) == 1
    found = packing.unpacked(data, arrays)
    assert np.array_equal(found["b"], long)
    assert np.array_equal(found["c"], short)
    assert packer.pack([long.copy()])[1].keys() == arrays.keys()


def test_related_values_are_packed_compactly():
    data, _ = packing.Packer().pack(["a scenario that is long and much like others"] * 1000)
    assert len(data) < 1000
    found = Table({"run": [0, 1], "flag": [True, False], "name": ["a", "bc"], "bps": [0.5, np.nan]})
    back = packing.unpacked(packing.packed([found] * 1000))
    assert len(packing.packed([found] * 1000)) < 3000
    for name in found.columns:
        assert back[7].columns == found.columns
        assert np.array_equal(back[7][name], found[name], equal_nan=name == "bps")
        assert back[7][name].dtype == found[name].dtype
        assert back[7][name].flags.aligned


def test_bundles_grow_with_the_cluster(shared_cluster, monkeypatch):
    with Cluster(shared_cluster.address) as cluster:
        assert pool.ClusterPool(cluster).batch_s == pool.BUNDLE_S
        monkeypatch.setattr(Cluster, "width", 16_000)
        many = pool.ClusterPool(cluster)
    assert many.batch_s == 16_000 / pool.BUNDLES_PER_S
    many._learn(1000, 0.01)
    assert many._size * pool.AHEAD * many.width <= 2 * pool.MAX_TASKS


def test_recording_is_sent_with_the_scenario(shared_cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{8 + t % 9}\n" for t in range(20_000))
    head = "# nodeb trace 1\n# kind: snr\n# step: 2 ms\n# count: 20000\nsnr_db\n"
    Path("snr.trace").write_text(head + lines)
    Path("one.toml").write_text(
        "radio.hsdpa = {}\n[[users]]\ntraffic.ftp.size = '200 kB'\n"
        "ue.channel.trace = { file = 'snr.trace', at_end = 'loop' }\n"
    )
    scenario = nodeb.load("one.toml")
    wanted = scenario.run(runs=6, jobs=1)
    # The scenario contains the trace, so the file is not needed any more.
    Path("snr.trace").unlink()
    with Cluster(shared_cluster.address) as cluster:
        found = scenario.run(runs=6, jobs=cluster)
    assert np.array_equal(found.flows["transfer_s"], wanted.flows["transfer_s"])


def test_worker_with_another_version_is_named_and_rejected(own_cluster, small, tmp_path):
    package = Path(nodeb.__file__).parent
    shutil.copytree(package, tmp_path / "other" / "nodeb")
    with (tmp_path / "other" / "nodeb" / "stats.py").open("a") as file:
        file.write("# changed\n")
    own_cluster.add(tmp_path / "other")

    def asked() -> bool:
        with Cluster(own_cluster.address) as cluster:
            cluster.client()
        return False  # The worker has not connected yet, so the test must wait.

    with pytest.raises(RunError, match=r"worker tcp://\S+ has nodeb \S+ \(\w+\), but here is"):
        wait_until(asked)


def test_address_without_listener_is_reported_soon(small):
    begin = time.monotonic()
    with pytest.raises(InputError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        small.run(jobs=Cluster("tcp://127.0.0.1:9"))
    assert time.monotonic() - begin < 10


def test_address_of_another_program_is_reported_soon(small, monkeypatch):
    monkeypatch.setattr("nodeb.replication.cluster.connection.CONNECT_S", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begin = time.monotonic()
        with pytest.raises(InputError, match=r"no scheduler answers at tcp://127\.0\.0\.1:"):
            small.run(jobs=Cluster(f"tcp://127.0.0.1:{silent.getsockname()[1]}"))
        assert time.monotonic() - begin < 5


def test_address_of_another_protocol_is_reported(small, monkeypatch):
    monkeypatch.setattr("nodeb.replication.cluster.connection.CONNECT_S", 2.0)
    # The server handles each connection in a thread, because an open connection must not keep it
    # from ending.
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        try:
            with pytest.raises(InputError, match="no scheduler answers at ws://"):
                small.run(jobs=Cluster(f"ws://127.0.0.1:{web.server_port}"))
        finally:
            web.shutdown()


def test_missing_main_guard_is_reported(scenario_file, tmp_path):
    program = tmp_path / "bare.py"
    run = f"nodeb.load({str(scenario_file)!r}).run(runs=2, jobs=nodeb.Cluster('local:1'))"
    program.write_text(f"import nodeb\n{run}\n")
    command = [sys.executable, str(program)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    last = found.stderr.splitlines()[-1]
    assert "cannot start 1 workers here: " in last
    assert "open files (`ulimit -n`)" in last
    assert 'behind `if __name__ == "__main__":`' in last


@pytest.mark.parametrize("address", ["", "local", "local:0", "local:x", "host", "tcp://", "a b:1"])
def test_invalid_addresses_are_rejected(address):
    with pytest.raises(InputError, match="--cluster"):
        Cluster(address)


@pytest.mark.parametrize(
    "address", ["local:\uff11", "local:\u0661", "host:\uff11", "tcp://[::1]:\uff11"]
)
def test_addresses_accept_ascii_digits_only(address):
    with pytest.raises(InputError, match="--cluster"):
        Cluster(address)


@pytest.mark.parametrize("address", [3, None, b"local:2", ["local:2"], True])
def test_address_must_be_text(address):
    with pytest.raises(InputError, match=r"address of a cluster is .*; expected text such as"):
        Cluster(address)


def test_too_large_number_of_workers_is_rejected():
    with pytest.raises(InputError, match="expected 1 to 1000 workers"):
        Cluster("local:" + "9" * 5000)


@pytest.mark.parametrize(
    ("jobs", "wanted"),
    [("local:2", "local:2"), ("tcp://a:1", "tcp://a:1"), ("two", "local:2"), (Cluster, "local:2")],
)
def test_jobs_are_a_number_or_a_cluster(small, jobs, wanted):
    with pytest.raises(InputError, match=rf'jobs is .*`nodeb\.Cluster\("{wanted}"\)`'):
        small.run(jobs=jobs)


@pytest.mark.parametrize("address", ["LOCAL:2", "Local:2", "local", "local:two", "local 2"])
def test_misspelt_local_cluster_is_reported_with_the_remedy(address):
    with pytest.raises(InputError, match="expected local:N with the number of worker processes"):
        Cluster(address)


def test_hostname_that_begins_with_local_is_an_address():
    Cluster("localhost:8786")
    Cluster("tcp://local.example.org:8786")


def test_scheduler_without_workers_is_reported(tmp_path, small, monkeypatch):
    monkeypatch.setattr("nodeb.replication.cluster.connection.CONNECT_S", 2.0)
    alone = Processes(tmp_path, 0)
    try:
        with pytest.raises(RunError, match="has no workers; start some with `dask worker tcp://"):
            small.run(jobs=Cluster(alone.address))
    finally:
        alone.close()


def test_two_clients_cannot_use_one_folder(shared_cluster, grid, tmp_path):
    file, out = grid(60, 3, "2 MB"), tmp_path / "out"
    clients = [start_sweep(file, out, shared_cluster.address) for _ in range(2)]
    ends = [client.communicate(timeout=120) for client in clients]
    codes = sorted(client.returncode for client in clients)
    assert codes[0] == 0
    assert codes[1] in (0, 2)
    refused = [err for _, err in ends if err]
    assert all("Traceback" not in err for err in refused)


def test_local_workers_start_and_end_with_the_command(call, grid, tmp_path):
    file = grid(2)
    assert call("sweep", file, "--out", tmp_path / "a", "--cluster", "local:2")[0] == 0
    assert call("sweep", file, "--out", tmp_path / "b", "--jobs", 1)[0] == 0
    assert kept(tmp_path / "a") == kept(tmp_path / "b")
    assert not local_workers()


def test_jobs_and_cluster_cannot_be_combined(call, grid, tmp_path):
    status, _, err = call("sweep", grid(2), "--jobs", 2, "--cluster", "local:2")
    assert status == 2
    assert "--jobs and --cluster cannot be combined" in err


def test_capture_and_cluster_cannot_be_combined(call, scenario_file, tmp_path):
    status, _, err = call("run", scenario_file, "--pcap", "a.pcapng", "--cluster", "local:1")
    assert status == 2
    assert "--pcap and --cluster cannot be combined" in err
