"""Tests: replications by any executor equal those by threads, also if a worker is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import distributed
import numpy as np
import pytest
import yaml

import nodeb
from nodeb.errors import InputError, RunError, ScenarioError
from nodeb.replication import pool
from nodeb.replication.cells import Replicated, ReplicationWork
from nodeb.replication.engine import Single
from nodeb.replication.rules import count
from nodeb.replication.work import Source
from nodeb.sweep import Sweep
from result_folders import kept
from scenarios import needs_linux

FILES = Path(__file__).parents[3] / "examples" / "cluster"
SWEEP = """
name = "many"
runs = 3
[[users]]
traffic.ftp.size = "{size}"
[sweep]
radio.dch.bler = {{ from = 0.0, to = 0.4, steps = {steps} }}
wired.delay = ["20 ms", "80 ms", "200 ms"]
"""


def processes(number: int) -> ProcessPoolExecutor:
    """Spawns processes: a fork of this one, which has threads of clusters, may wait for ever."""
    return ProcessPoolExecutor(number, multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def dask():
    """Yields a cluster of two worker processes and its address."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster


@pytest.fixture
def plan(tmp_path):
    def plan(steps: int, size: str = "20 kB"):
        (tmp_path / "s.toml").write_text(SWEEP.format(steps=steps, size=size))
        return Sweep.load(tmp_path / "s.toml")

    return plan


def pids(address: str) -> list[int]:
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        return list(client.run(os.getpid).values())


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, processes])
def test_sweep_by_an_executor_has_the_same_bytes(plan, tmp_path, kind):
    plan(4).run(tmp_path / "here", jobs=1)
    with kind(2) as executor:
        plan(4).run(tmp_path / "there", jobs=executor)
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


@needs_linux
def test_sweep_on_a_cluster_has_the_same_bytes(call, plan, dask, tmp_path):
    plan(20).run(tmp_path / "here", jobs=1)
    arguments = ("--out", "there", "--cluster", dask.scheduler_address)
    assert call("sweep", "s.toml", *arguments)[0] == 0
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


@needs_linux
def test_killed_worker_changes_no_byte(plan, dask, tmp_path):
    plan(40, "1 MB").run(tmp_path / "here", jobs=2)
    victim = pids(dask.scheduler_address)[0]
    killer = threading.Timer(0.5, os.kill, (victim, signal.SIGKILL))
    killer.start()
    with pool.cluster(dask.scheduler_address) as executor:
        plan(40, "1 MB").run(tmp_path / "there", jobs=executor)
    killer.join()
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


def test_rule_on_a_cluster_stops_where_it_stops_here(dask, small):
    long = small.with_(runs=3, max_runs=400)
    with nodeb.cluster(dask.scheduler_address) as executor:
        there = long.run(precision=0.02, jobs=executor)
    here = long.run(precision=0.02, jobs=1)
    assert there.provenance.stopping == here.provenance.stopping
    assert there.provenance.jobs in (1, 2)  # A worker may be restarting.
    assert np.array_equal(there.flows["transfer_s"], here.flows["transfer_s"])


def test_failing_replication_is_reported_as_by_threads(dask):
    wrong = ReplicationWork(Source('{"radio": {"dch": {"bler": 2}}}', None))
    with pool.cluster(dask.scheduler_address) as executor, pytest.raises(ScenarioError) as there:
        Single(Replicated(wrong, count(5)), 1, executor, None, "").run()
    with pytest.raises(ScenarioError, match="bler") as here:
        Single(Replicated(wrong, count(5)), 1, 1, None, "").run()
    assert str(there.value) == str(here.value)


def test_executor_that_gives_up_keeps_what_is_finished(plan, tmp_path, monkeypatch):
    class Breaks(ThreadPoolExecutor):
        left = 5

        def submit(self, *arguments):
            self.left -= 1
            if not self.left:
                raise BrokenProcessPool("a process ended abruptly")
            return super().submit(*arguments)

    with Breaks(1) as executor, pytest.raises(RunError, match="ended abruptly"):
        plan(4).run(tmp_path / "out", jobs=executor)
    again = plan(4).run(tmp_path / "out", jobs=1)
    assert 0 < again.replications < 36


def test_worker_with_another_core_is_refused(small, monkeypatch):
    monkeypatch.setattr(pool, "fingerprint", iter(["one", "another"]).__next__)
    with ThreadPoolExecutor(1) as executor, pytest.raises(RunError, match="another nodeb"):
        small.run(runs=1, jobs=executor)


def test_recording_is_sent_with_the_scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{8 + t % 9}\n" for t in range(20_000))
    head = "# nodeb trace 1\n# kind: snr\n# step: 2 ms\n# count: 20000\nsnr_db\n"
    Path("snr.trace").write_text(head + lines)
    Path("one.toml").write_text(
        "radio.hsdpa = {}\n[[users]]\ntraffic.ftp.size = '200 kB'\n"
        "ue.channel.trace = { file = 'snr.trace', at_end = 'loop' }\n"
    )
    scenario = nodeb.load("one.toml")
    here = scenario.run(runs=2, jobs=1)
    Path("snr.trace").unlink()  # The scenario has its content.
    with processes(1) as executor:
        there = scenario.run(runs=2, jobs=executor)
    assert np.array_equal(there.flows["transfer_s"], here.flows["transfer_s"])


@pytest.mark.parametrize("address", ["", "host", "a b:1", "tcp://127.0.0.1:9"])
def test_address_without_scheduler_is_reported(call, scenario_file, monkeypatch, address):
    monkeypatch.setattr(pool, "CONNECT_S", 1)
    status, _, err = call("run", scenario_file, "--cluster", address)
    assert status == 2
    assert err.startswith(f"error: --cluster {address}")


def test_scheduler_without_workers_is_reported(call, scenario_file, monkeypatch):
    monkeypatch.setattr(pool, "WORKERS_S", 0.5)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        status, _, err = call("run", scenario_file, "--cluster", empty.scheduler_address)
    assert status == 1
    assert "dask worker" in err


def test_options_that_cannot_be_combined_are_refused(call, scenario_file):
    for more in (("--jobs", 2), ("--pcap", "a.pcapng")):
        status, _, err = call("run", scenario_file, "--cluster", "tcp://a:1", *more)
        assert status == 2
        assert "cannot be combined" in err


@pytest.mark.parametrize("jobs", [0, -1, 1001, 1.5, "2", nodeb.cluster])
def test_jobs_are_a_number_or_an_executor(small, jobs):
    with pytest.raises(InputError, match="jobs"):
        small.run(jobs=jobs)


def test_example_files_are_valid():
    assert os.access(FILES / "slurm.sh", os.X_OK)
    assert subprocess.run(["bash", "-n", str(FILES / "slurm.sh")], check=False).returncode == 0
    kinds = [one["kind"] for one in yaml.safe_load_all((FILES / "kubernetes.yaml").read_text())]
    assert kinds.count("Deployment") == 2
