"""Tests of the files for queueing systems and Kubernetes, with processes of this machine."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from clusters import SWEEP, Processes, executables
from kills import kept
from scenarios import needs_linux

FILES = Path(__file__).parents[3] / "examples" / "cluster"
SRUN = """#!/bin/bash
# Tasks of a SLURM job, as processes of this machine; it ends when they have.
tasks=${1#--ntasks=}; shift 2
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
trap exit TERM
for ((i = 0; i < tasks; i++)); do "$@" & done
wait
"""


@needs_linux
def test_slurm_job_runs_a_sweep_and_ends(tmp_path):
    programs = executables(tmp_path / "bin")
    (programs / "srun").write_text(SRUN)
    (programs / "srun").chmod(0o755)
    (tmp_path / "study.toml").write_text(SWEEP.format(runs=2, size="20 kB", steps=4))
    environ = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "SLURM_NTASKS": "4",
        "SLURM_JOB_ID": "1",
        "TMPDIR": str(tmp_path),
    }
    job = subprocess.run(
        ["bash", str(FILES / "slurm.sh"), "study.toml"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert job.returncode == 0, job.stderr
    assert "12 cells" in job.stdout
    assert not _running("scheduler.json", str(tmp_path))
    assert not _running("dask worker", f"--local-directory {tmp_path}")
    from nodeb.sweep import Sweep

    Sweep.load(tmp_path / "study.toml").run(tmp_path / "here", jobs=1)
    assert kept(tmp_path / "out" / "study-swept") == kept(tmp_path / "here")


def test_worker_without_scheduler_ends(tmp_path):
    """A worker with the options of the Slurm job ends if it finds no scheduler.

    The test shortens its timeout to 1 s.
    """
    (line,) = (
        line for line in (FILES / "slurm.sh").read_text().split("srun") if " dask worker " in line
    )
    options = shlex.split(
        line.partition('"$address"')[2].partition("--local-directory")[0], comments=True
    )
    options = [word for word in options if word.strip()]
    at = options.index("--death-timeout") + 1
    assert float(options[at]) <= 60
    options[at] = "1"
    run = [sys.executable, "-m", "distributed.cli.dask_worker", "tcp://127.0.0.1:9", *options]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode


def test_workers_end_with_their_scheduler(tmp_path):
    processes = Processes(tmp_path, 2)
    try:
        processes.scheduler.kill()
        for worker in processes.workers:
            worker.wait(60)
    finally:
        processes.close()


def _running(*words: str) -> list[str]:
    """Returns the commands with all of these words that still run after at most 10 s."""
    end = time.monotonic() + 10
    while True:
        lines = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        found = [line for line in lines.stdout.splitlines() if all(word in line for word in words)]
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.1)


def documents() -> list[dict]:
    return list(yaml.safe_load_all((FILES / "kubernetes.yaml").read_text("utf-8")))


def containers() -> list[dict]:
    specs = [one["spec"]["template"]["spec"] for one in documents() if "template" in one["spec"]]
    return [container for spec in specs for container in spec["containers"]]


@pytest.mark.parametrize("container", containers(), ids=lambda one: one["name"])
def test_kubernetes_commands_have_valid_options(container, tmp_path):
    """Every option of a container's command is listed in the help of its program."""
    program, command, *options = container["args"]
    module = {"dask": f"distributed.cli.dask_{command}", "nodeb": "nodeb"}[program]
    start = [sys.executable, "-m", module, *([command] if program == "nodeb" else [])]
    for option in (one for one in options if one.startswith("--")):
        shown = subprocess.run([*start, "--help"], capture_output=True, text=True, check=True)
        assert option in shown.stdout


@needs_linux
def test_kubernetes_commands_run_a_sweep(tmp_path):
    """The three commands of the Kubernetes file run a sweep as processes of this machine."""
    programs = executables(tmp_path / "bin")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.toml").write_text(SWEEP.format(runs=2, size="20 kB", steps=4))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    here = {"nodeb-scheduler": "127.0.0.1", "8786": port}
    here |= {f"/{name}/": f"{tmp_path}/{name}/" for name in ("study", "results")}

    def start(container: dict) -> subprocess.Popen[str]:
        args = container["args"]
        for there, instead in here.items():
            args = [one.replace(there, instead) for one in args]
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        return subprocess.Popen(
            args,
            cwd=tmp_path,
            env=os.environ | {"PATH": path, "TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    by_name = {one["name"]: one for one in containers()}
    others = [start(by_name["scheduler"])]
    try:
        _wait_for(int(port))
        others.append(start(by_name["worker"]))
        output, _ = (sweep := start(by_name["sweep"])).communicate(timeout=120)
    finally:
        for process in others:
            process.kill()
            process.communicate()
    assert sweep.returncode == 0, output
    assert "12 cells" in output
    assert (tmp_path / "results" / "study" / "sweep.parquet").is_file()


def _wait_for(port: int) -> None:
    """Waits until a process listens on a port, like the readiness probe of Kubernetes.

    Fails after 60 s.
    """
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < end, "no scheduler"
            time.sleep(0.1)


def test_kubernetes_services_and_claims_are_used():
    by_kind = {one["kind"]: one for one in documents()}
    assert f"tcp://{by_kind['Service']['metadata']['name']}:8786" in containers()[-1]["args"]
    volumes = by_kind["Job"]["spec"]["template"]["spec"]["volumes"]
    claim = by_kind["PersistentVolumeClaim"]["metadata"]["name"]
    assert {"persistentVolumeClaim": {"claimName": claim}, "name": "results"} in volumes
    for one in documents():
        if one["kind"] == "Deployment":
            labels = one["spec"]["template"]["metadata"]["labels"]
            assert one["spec"]["selector"]["matchLabels"] == labels


def test_slurm_script_is_executable_and_valid():
    assert os.access(FILES / "slurm.sh", os.X_OK)
    assert (
        shutil.which("bash") is None
        or not subprocess.run(["bash", "-n", str(FILES / "slurm.sh")], check=False).returncode
    )
