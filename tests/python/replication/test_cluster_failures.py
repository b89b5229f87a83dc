"""Tests: failures of workers, schedulers or clients change no result and are reported."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import psutil
import pytest
from distributed.client import ClosedClientError

from clusters import SWEEP, Processes, local_workers, start_sweep, wait_until
from kills import Kills, kept
from nodeb.errors import RunError
from nodeb.replication.cells import ReplicationWork
from nodeb.replication.cluster import Cluster, connection, pool, remote
from nodeb.replication.pool import Lost
from nodeb.replication.work import Source, Task
from nodeb.sweep import Sweep
from scenarios import needs_linux

pytestmark = needs_linux


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """Returns the file of a sweep that takes some seconds, and its results with threads."""
    folder = tmp_path_factory.mktemp("long")
    file = folder / "long.toml"
    file.write_text(SWEEP.format(steps=300, runs=3, size="2 MB"))
    Sweep.load(file).run(folder / "here", jobs=2)
    return file, kept(folder / "here")


@pytest.mark.slow
def test_killed_workers_change_no_result(own_cluster, grid, tmp_path):
    plan = Sweep.load(grid(40, 3, "2 MB"))
    plan.run(tmp_path / "here", jobs=2)
    chance, over = random.Random(1), threading.Event()

    def kill():
        while not over.wait(chance.uniform(0.2, 1.0)):
            victim = chance.choice([w for w in own_cluster.workers if w.poll() is None])
            own_cluster.add()
            # Before a worker is killed, its replacement must be connected, as workers start slowly
            # on a busy machine.
            own_cluster.wait(3)
            victim.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM]))
            victim.wait()

    with Cluster(own_cluster.address) as cluster:
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
def test_tasks_of_a_hanging_worker_are_done_by_others(own_cluster, grid, tmp_path, monkeypatch):
    monkeypatch.setattr("nodeb.replication.cluster.connection.SILENT_S", 3.0)
    plan = Sweep.load(grid(40, 3, "2 MB"))
    plan.run(tmp_path / "here", jobs=2)
    with Cluster(own_cluster.address) as cluster:
        cluster.client()
        own_cluster.workers[0].send_signal(signal.SIGSTOP)
        plan.run(tmp_path / "there", jobs=cluster)
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


def test_failed_cancellation_at_a_lost_scheduler_is_silent(shared_cluster, monkeypatch):
    failures = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    with Cluster(shared_cluster.address) as cluster:
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
    assert failures == []


@pytest.mark.slow
def test_lost_scheduler_is_reported_and_results_are_kept(own_cluster, long, tmp_path):
    file, wanted = long
    client = start_sweep(file, tmp_path / "there", own_cluster.address)
    cells = tmp_path / "there" / "cells"
    wait_until(lambda: cells.is_dir() and len(list(cells.glob("*.arrow"))) > 20)
    own_cluster.scheduler.kill()
    _, err = client.communicate(timeout=120)
    assert client.returncode == 1
    assert "went away; finished results are kept, and the same command continues" in err
    assert "Traceback" not in err
    outcome = Sweep.load(file).run(tmp_path / "there", jobs=2)
    assert outcome.kept > 20
    assert kept(tmp_path / "there") == wanted


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_killed_client_resumes_with_finished_cells(shared_cluster, long, tmp_path, how):
    file, wanted = long
    client = start_sweep(file, tmp_path / "there", shared_cluster.address)
    cells = tmp_path / "there" / "cells"
    wait_until(lambda: cells.is_dir() and len(list(cells.glob("*.arrow"))) > 20)
    client.send_signal(how)
    _, err = client.communicate(timeout=60)
    assert client.returncode != 0
    assert "Traceback" not in err
    with Cluster(shared_cluster.address) as cluster:
        outcome = Sweep.load(file).run(tmp_path / "there", jobs=cluster)
    assert outcome.kept > 20
    assert kept(tmp_path / "there") == wanted


@pytest.mark.slow
@pytest.mark.parametrize("wait_s", [1.0, 4.0])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_to_client_and_workers_is_reported_in_one_line(grid, tmp_path, number, wait_s):
    """A signal to the whole process group is reported in one line.

    Terminals, `timeout` and batch systems send such signals.
    """
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
    # The workers simulate when they have used 16 s of CPU time; starting two workers takes
    # less, even on a busy machine.
    wait_until(lambda: _worked_s(client.pid) > 16, 240)
    begin = time.monotonic()
    os.killpg(client.pid, signal.SIGINT)
    if again:
        wait_until((tmp_path / "kept" / "flows.parquet").exists)
        os.killpg(client.pid, signal.SIGINT)
    _, err = client.communicate(timeout=60)
    assert client.returncode == 130
    assert time.monotonic() - begin < 5
    message = err.splitlines()[-1]  # A slow machine prints progress before the error message.
    assert message.startswith("error: interrupted after ")
    assert message.endswith("those are in kept")


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


def test_worker_lost_during_the_version_check_is_ignored(shared_cluster, monkeypatch):
    with Cluster(shared_cluster.address) as cluster:
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
            wait_until(lambda: _statuses(cluster) == {"paused"})
            with pytest.raises(Lost, match="their memory is full"):
                small.run(runs=40, jobs=cluster)
    finally:
        poor.close()


@pytest.mark.parametrize(("workers", "forgotten"), [(2, ["0"]), (16_000, [])])
def test_many_workers_are_not_forgotten_between_heartbeats(workers, forgotten):
    """Dask lets each of 16,000 workers send a heartbeat only every 81 s.

    Such a worker must not be removed after 60 s. One of two workers is removed after that time.
    """
    removed = []

    class Many:
        def __init__(self, workers):
            self.workers = workers

        async def remove_worker(self, address, **_):
            removed.append(address)
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
    assert removed == forgotten
    assert (left, stuck) == (workers - len(forgotten), {})


@pytest.mark.slow
def test_tasks_move_off_worker_out_of_memory(own_cluster, grid, tmp_path, monkeypatch):
    monkeypatch.setattr("nodeb.replication.cluster.connection.STUCK_S", 2.0)
    own_cluster.workers.pop().kill()
    own_cluster.add(options=("--memory-limit", "60MB"))
    own_cluster.wait(2)
    plan = Sweep.load(grid(30))
    plan.run(tmp_path / "here", jobs=2)
    with Cluster(own_cluster.address) as cluster:
        plan.run(tmp_path / "there", jobs=cluster)
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


def test_killed_local_workers_are_replaced(grid, tmp_path):
    plan = Sweep.load(grid(10, 3, "2 MB"))
    plan.run(tmp_path / "here", jobs=2)
    with Cluster("local:2") as cluster:
        cluster.client()
        for worker in local_workers():
            os.kill(worker, signal.SIGKILL)
        plan.run(tmp_path / "there", jobs=cluster)
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


@pytest.mark.slow
def test_random_kills_of_any_process_change_no_byte(tmp_path):
    found = Kills(tmp_path, seed=3)
    found.run(3)
    assert found.kills == 3


def test_lost_cluster_raises_run_error():
    assert issubclass(Lost, RunError)


def _statuses(cluster):
    return {one["status"] for one in cluster.client().scheduler_info()["workers"].values()}


def _worked_s(pid: int) -> float:
    """Returns the CPU time of all descendants of a process, in seconds."""
    times = []
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times.append(child.cpu_times())
    return sum(one.user + one.system for one in times)
