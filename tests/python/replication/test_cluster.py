"""Replications on a cluster: the same bytes, whoever dies meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from distributed.client import ClosedClientError

import nodeb
from clusters import Processes
from kills import Kills, kept
from nodeb.base.table import Table
from nodeb.errors import InputError, RunError, ScenarioError
from nodeb.replication.cells import Replicated, ReplicationWork
from nodeb.replication.cluster import Cluster, connection, packing, pool, remote
from nodeb.replication.engine import Single
from nodeb.replication.pool import Lost
from nodeb.replication.rules import Count
from nodeb.replication.work import Source, Task
from nodeb.sweep import Sweep
from scenarios import needs_linux

pytestmark = needs_linux

SWEEP = """
name = "many"
runs = {runs}
[[users]]
traffic.ftp.size = "{size}"
[sweep]
radio.dch.bler = {{ from = 0.0, to = 0.4, steps = {steps} }}
wired.delay = ["20 ms", "80 ms", "200 ms"]
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A scheduler with two workers."""
    found = Processes(tmp_path_factory.mktemp("cluster"), 2)
    yield found
    found.close()


@pytest.fixture
def mortal(tmp_path):
    """The same, for who kills some."""
    (tmp_path / "cluster").mkdir()
    found = Processes(tmp_path / "cluster", 2)
    yield found
    found.close()


@pytest.fixture
def grid(tmp_path):
    """Writes a sweep of so many cells, a third of which have the same error rate."""

    def write(steps: int, runs: int = 3, size: str = "20 kB") -> Path:
        file = tmp_path / f"grid-{steps}-{runs}.toml"
        file.write_text(SWEEP.format(steps=steps, runs=runs, size=size))
        return file

    return write


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A sweep that takes some seconds, and what its folder holds in the end."""
    folder = tmp_path_factory.mktemp("long")
    file = folder / "long.toml"
    file.write_text(SWEEP.format(steps=300, runs=3, size="2 MB"))
    Sweep.load(file).run(folder / "here", jobs=2)
    return file, kept(folder / "here")


def nodeb_sweep(file: Path, out: Path, address: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "nodeb", "sweep", str(file), "--out", str(out)]
    return subprocess.Popen(
        [*command, "--cluster", address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_sweep_on_a_cluster_is_identical_to_a_local_one(two, grid, tmp_path):
    plan = Sweep.load(grid(100))
    plan.run(tmp_path / "here", jobs=1)
    with Cluster(two.address) as cluster:
        outcome = plan.run(tmp_path / "there", jobs=cluster)
    assert (outcome.simulated, outcome.replications) == (300, 900)
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


def test_run_on_a_cluster_is_identical_and_reports_the_workers(two, small):
    with nodeb.Cluster(two.address) as cluster:
        found = small.run(runs=40, jobs=cluster)
        rough = small.with_(runs=3, max_runs=400).run(precision=0.02, jobs=cluster)
    wanted = small.run(runs=40, jobs=1)
    assert found.provenance.jobs == 2
    assert np.array_equal(found.flows["transfer_s"], wanted.flows["transfer_s"])
    here = small.with_(runs=3, max_runs=400).run(precision=0.02, jobs=1)
    assert rough.provenance.stopping == here.provenance.stopping


def test_reproduction_on_a_cluster_is_identical(two, tmp_path):
    from nodeb import reproduce

    with Cluster(two.address) as cluster:
        reproduce.run("wang", tmp_path / "there", ["Table 13"], quick=True, jobs=cluster)
    reproduce.run("wang", tmp_path / "here", ["Table 13"], quick=True)
    for name in ("cells.csv", "claims.csv"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_failing_replication_is_reported_as_by_threads(two):
    wrong = ReplicationWork(Source('{"radio": {"dch": {"bler": 2}}}', None))
    with Cluster(two.address) as cluster, pytest.raises(ScenarioError) as there:
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


def test_bundles_grow_with_the_cluster(two, monkeypatch):
    with Cluster(two.address) as cluster:
        assert pool.ClusterPool(cluster).batch_s == pool.BUNDLE_S
        monkeypatch.setattr(Cluster, "width", 16_000)
        many = pool.ClusterPool(cluster)
    assert many.batch_s == 16_000 / pool.BUNDLES_PER_S
    many._learn(1000, 0.01)
    assert many._size * pool.AHEAD * many.width <= 2 * pool.MAX_TASKS


def test_recording_is_sent_with_the_scenario(two, tmp_path, monkeypatch):
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
    Path("snr.trace").unlink()  # what was read counts, not what becomes of the file
    with Cluster(two.address) as cluster:
        found = scenario.run(runs=6, jobs=cluster)
    assert np.array_equal(found.flows["transfer_s"], wanted.flows["transfer_s"])


@pytest.mark.slow
def test_killed_workers_change_no_result(mortal, grid, tmp_path):
    plan = Sweep.load(grid(40, 3, "2 MB"))
    plan.run(tmp_path / "here", jobs=2)
    chance, over = random.Random(1), threading.Event()

    def kill():
        while not over.wait(chance.uniform(0.2, 1.0)):
            victim = chance.choice([w for w in mortal.workers if w.poll() is None])
            mortal.add()
            mortal.wait(3)  # on a busy machine one takes long to come, and nobody would ever work
            victim.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM]))
            victim.wait()

    with Cluster(mortal.address) as cluster:
        cluster.client()
        murderer = threading.Thread(target=kill)
        murderer.start()
        try:
            plan.run(tmp_path / "there", jobs=cluster)
        finally:
            over.set()
            murderer.join()
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


@pytest.mark.slow
def test_tasks_of_a_hanging_worker_are_done_by_others(mortal, grid, tmp_path, monkeypatch):
    monkeypatch.setattr("nodeb.replication.cluster.connection.SILENT_S", 3.0)
    plan = Sweep.load(grid(40, 3, "2 MB"))
    plan.run(tmp_path / "here", jobs=2)
    with Cluster(mortal.address) as cluster:
        cluster.client()
        mortal.workers[0].send_signal(signal.SIGSTOP)
        plan.run(tmp_path / "there", jobs=cluster)
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


def test_failed_cancellation_at_a_lost_scheduler_is_silent(two, monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    with Cluster(two.address) as cluster:
        bundles = pool.ClusterPool(cluster)
        bundles.submit("key", Task(ReplicationWork(Source("{}", None)), 1, range(1)))
        tried = threading.Event()

        def cancel(_):
            tried.set()
            raise ClosedClientError("Client is closed.")

        monkeypatch.setattr(cluster.client(), "cancel", cancel)
        bundles.close()
        assert tried.wait(10)
        time.sleep(0.2)
    assert told == []


@pytest.mark.slow
def test_lost_scheduler_is_reported_and_results_are_kept(mortal, long, tmp_path):
    file, wanted = long
    client = nodeb_sweep(file, tmp_path / "there", mortal.address)
    cells = tmp_path / "there" / "cells"
    _until(lambda: cells.is_dir() and len(list(cells.glob("*.arrow"))) > 20)
    mortal.scheduler.kill()
    _, err = client.communicate(timeout=120)
    assert client.returncode == 1
    assert "went away; finished results are kept, and the same command continues" in err
    assert "Traceback" not in err
    outcome = Sweep.load(file).run(tmp_path / "there", jobs=2)
    assert outcome.kept > 20
    assert kept(tmp_path / "there") == wanted


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_killed_client_resumes_with_finished_cells(two, long, tmp_path, how):
    file, wanted = long
    client = nodeb_sweep(file, tmp_path / "there", two.address)
    cells = tmp_path / "there" / "cells"
    _until(lambda: cells.is_dir() and len(list(cells.glob("*.arrow"))) > 20)
    client.send_signal(how)
    _, err = client.communicate(timeout=60)
    assert client.returncode != 0
    assert "Traceback" not in err
    with Cluster(two.address) as cluster:
        outcome = Sweep.load(file).run(tmp_path / "there", jobs=cluster)
    assert outcome.kept > 20
    assert kept(tmp_path / "there") == wanted


def test_worker_with_another_version_is_named_and_rejected(mortal, small, tmp_path):
    package = Path(nodeb.__file__).parent
    shutil.copytree(package, tmp_path / "other" / "nodeb")
    with (tmp_path / "other" / "nodeb" / "stats.py").open("a") as file:
        file.write("# changed\n")
    mortal.add(tmp_path / "other")

    def asked() -> bool:
        with Cluster(mortal.address) as cluster:
            cluster.client()
        return False  # the worker has not come yet

    with pytest.raises(RunError, match=r"worker tcp://\S+ has nodeb \S+ \(\w+\), but here is"):
        _until(asked)


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
    # With a thread for each connection: one that is left open must not keep the server from ending.
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        try:
            with pytest.raises(InputError, match="no scheduler answers at ws://"):
                small.run(jobs=Cluster(f"ws://127.0.0.1:{web.server_port}"))
        finally:
            web.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("wait_s", [1.0, 4.0])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_to_client_and_workers_is_reported_in_one_line(grid, tmp_path, number, wait_s):
    """As a terminal sends it, `timeout`, or a batch system."""
    command = [sys.executable, "-m", "nodeb", "sweep", str(grid(400, 9, "2 MB")), "--out", "out"]
    client = subprocess.Popen(
        [*command, "--cluster", "local:2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(wait_s)
    os.killpg(client.pid, number)
    _, err = client.communicate(timeout=60)
    assert client.returncode == 128 + number
    assert err.startswith("error: interrupted")
    assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("again", [False, True])
def test_interrupted_run_ends_soon_and_names_its_results(small, tmp_path, again):
    (tmp_path / "long.toml").write_text(small.with_(runs=1_000_000).to_toml())
    command = [sys.executable, "-m", "nodeb", "run", "long.toml", "--set"]
    client = subprocess.Popen(
        [*command, "users.0.traffic.ftp.size=2 MB", "--cluster", "local:2", "--out", "kept"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # A busy machine takes long to start two workers: they simulate when they have worked so much.
    _until(lambda: _worked_s(client.pid) > 16, 240)
    begin = time.monotonic()
    os.killpg(client.pid, signal.SIGINT)
    if again:
        _until((tmp_path / "kept" / "flows.parquet").exists)
        os.killpg(client.pid, signal.SIGINT)
    _, err = client.communicate(timeout=60)
    assert client.returncode == 130
    assert time.monotonic() - begin < 5
    told = err.splitlines()[-1]  # a slow machine says before how far it is
    assert told.startswith("error: interrupted after ")
    assert told.endswith("those are in kept")


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


@pytest.mark.parametrize("moment", ["_threads", "_check"])
def test_scheduler_lost_at_connection_is_reported(tmp_path, monkeypatch, moment):
    monkeypatch.setattr("nodeb.replication.cluster.connection.CONNECT_S", 2.0)
    dying, then = Processes(tmp_path, 1), getattr(connection, moment)

    def after_its_death(client):
        dying.scheduler.kill()
        dying.scheduler.wait()
        return then(client)

    monkeypatch.setattr(connection, moment, after_its_death)
    try:
        with Cluster(dying.address) as cluster, pytest.raises(Lost, match="went away"):
            cluster.client()
    finally:
        dying.close()


def test_worker_lost_during_the_version_check_is_ignored(two, monkeypatch):
    with Cluster(two.address) as cluster:
        client = cluster.client()
        there = {"tcp://gone": OSError("closed"), "tcp://there": remote.fingerprint()}
        monkeypatch.setattr(client, "run", lambda *_, **__: there)
        connection._check(client)


def test_workers_that_fail_to_start_are_reported(call, grid, monkeypatch):
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", "/dev/full")
    command = [sys.executable, "-m", "nodeb", "sweep", str(grid(2)), "--cluster", "local:2"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr.startswith("error: cannot start 2 workers here: ")
    assert found.stderr.count("\n") == 1


def test_workers_without_memory_are_reported(tmp_path, small, monkeypatch):
    monkeypatch.setattr("nodeb.replication.cluster.connection.STUCK_S", 2.0)
    poor = Processes(tmp_path, 0)
    poor.add(options=("--memory-limit", "60MB"))
    poor.wait(1)
    try:
        with Cluster(poor.address) as cluster:
            _until(lambda: _statuses(cluster) == {"paused"})
            with pytest.raises(Lost, match="their memory is full"):
                small.run(runs=40, jobs=cluster)
    finally:
        poor.close()


@pytest.mark.parametrize(("workers", "forgotten"), [(2, ["0"]), (16_000, [])])
def test_many_workers_are_not_forgotten_between_heartbeats(workers, forgotten):
    """Dask has each of 16,000 workers beat once in 81 s, so that a scheduler can listen."""
    told = []

    class Many:
        def __init__(self, workers):
            self.workers = workers

        async def remove_worker(self, address, **_):
            told.append(address)
            del self.workers[address]

    running = SimpleNamespace(name="running")
    many = {
        str(n): SimpleNamespace(
            address=str(n),
            last_seen=time.time() - (60 if n == 0 else 0),
            status=running,
            executing={},
        )
        for n in range(workers)
    }
    left, stuck = asyncio.run(remote.remove_stuck_workers(20.0, 30.0, {}, Many(many)))
    assert told == forgotten
    assert (left, stuck) == (workers - len(forgotten), {})


@pytest.mark.slow
def test_tasks_move_off_worker_out_of_memory(mortal, grid, tmp_path, monkeypatch):
    monkeypatch.setattr("nodeb.replication.cluster.connection.STUCK_S", 2.0)
    mortal.workers.pop().kill()
    mortal.add(options=("--memory-limit", "60MB"))
    mortal.wait(2)
    plan = Sweep.load(grid(30))
    plan.run(tmp_path / "here", jobs=2)
    with Cluster(mortal.address) as cluster:
        plan.run(tmp_path / "there", jobs=cluster)
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


def test_scheduler_without_workers_is_reported(tmp_path, small, monkeypatch):
    monkeypatch.setattr("nodeb.replication.cluster.connection.CONNECT_S", 2.0)
    alone = Processes(tmp_path, 0)
    try:
        with pytest.raises(RunError, match="has no workers; start some with `dask worker tcp://"):
            small.run(jobs=Cluster(alone.address))
    finally:
        alone.close()


def test_two_clients_cannot_use_one_folder(two, grid, tmp_path):
    file, out = grid(60, 3, "2 MB"), tmp_path / "out"
    clients = [nodeb_sweep(file, out, two.address) for _ in range(2)]
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
    assert not _children()


def test_killed_local_workers_are_replaced(grid, tmp_path):
    plan = Sweep.load(grid(10, 3, "2 MB"))
    plan.run(tmp_path / "here", jobs=2)
    with Cluster("local:2") as cluster:
        cluster.client()
        for worker in _children():
            os.kill(worker, signal.SIGKILL)
        plan.run(tmp_path / "there", jobs=cluster)
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


@pytest.mark.slow
def test_random_kills_of_any_process_change_no_byte(tmp_path):
    found = Kills(tmp_path, seed=3)
    found.run(3)
    assert found.kills == 3


def test_jobs_and_cluster_cannot_be_combined(call, grid, tmp_path):
    status, _, err = call("sweep", grid(2), "--jobs", 2, "--cluster", "local:2")
    assert status == 2
    assert "--jobs and --cluster cannot be combined" in err


def test_capture_and_cluster_cannot_be_combined(call, scenario_file, tmp_path):
    status, _, err = call("run", scenario_file, "--pcap", "a.pcapng", "--cluster", "local:1")
    assert status == 2
    assert "--pcap and --cluster cannot be combined" in err


def test_lost_cluster_raises_run_error():
    assert issubclass(Lost, RunError)


def _client(cluster):
    return cluster.client()


def _statuses(cluster):
    return {one["status"] for one in cluster.client().scheduler_info()["workers"].values()}


def _children() -> list[int]:
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(child) for child in children if _worker(int(child))]


def _worker(pid: int) -> bool:
    try:
        return "spawn" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def _worked_s(pid: int) -> float:
    """How long the processes that a process has begun have worked, s."""
    times = []
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times.append(child.cpu_times())
    return sum(one.user + one.system for one in times)


def _until(there, limit_s: float = 60.0) -> None:
    end = time.monotonic() + limit_s
    while not there():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
