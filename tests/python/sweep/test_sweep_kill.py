"""Killed and interrupted sweeps: no torn file, no loss of a stored cell; they can be resumed."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_sweep import files

from nodeb.replication.cells import identity
from nodeb.storage.store import Store
from nodeb.sweep import Sweep

CELLS, RUNS, JOBS, KILLS = 20, 8, 2, 6
SLOW = f"""name = "slow"
runs = {RUNS}
[radio.dch]
[[users]]
count = 3
traffic.ftp.size = "700 kB"
[sweep]
"radio.dch.bler" = {{ from = 0.05, to = 0.5, steps = {CELLS} }}
"""


@pytest.fixture
def path(tmp_path):
    """Writes a sweep that takes a few seconds, and returns its file."""
    file = tmp_path / "slow.toml"
    file.write_text(SLOW, encoding="utf-8")
    return file


def start(path: Path, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "nodeb", "sweep", path, "--out", folder, "--jobs", str(JOBS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # The default handler is restored, because shells that run the tests in the background
        # ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def cells(folder: Path) -> set[str]:
    """Returns the names of the cells stored in the folder of a sweep."""
    return {file.stem for file in (folder / "cells").glob("*.arrow")}


def wait_for_cells(process: subprocess.Popen[str], folder: Path, more_than: int) -> None:
    until = time.monotonic() + 20
    while process.poll() is None and len(cells(folder)) <= more_than:
        assert time.monotonic() < until
        time.sleep(0.002)


@pytest.mark.slow
def test_sigkill_loses_only_the_running_cells(path, tmp_path):
    sweep = Sweep.load(path)
    sweep.run(tmp_path / "undisturbed")
    order = [identity(cell, sweep.seed) for cell in sweep.cells]
    killed, chance, kills = tmp_path / "killed", random.Random(20), 0
    for attempt in range(KILLS):
        process, before = start(path, killed), cells(killed)
        if attempt:  # The first process is killed while it starts, without waiting for a cell.
            wait_for_cells(process, killed, len(before))
        time.sleep(chance.uniform(0.0, 0.06))
        process.kill()
        process.communicate()
        if (killed / "sweep.parquet").exists():  # The sweep may have ended before it was killed.
            (killed / "sweep.parquet").unlink()
            break
        kills += process.returncode == -signal.SIGKILL
        there = cells(killed)
        assert before <= there
        last = max((order.index(one) for one in there), default=-1)
        lost = [one for one in order[: max(last, 0)] if one not in there]
        # Only active replications may be lost. Each thread has at most two cells in work.
        assert len(lost) <= 2 * JOBS
        for one in there:  # No file may be torn: each must open and have all replications.
            tables = Store(killed / "cells").load(one)
            assert all(set(t["run"].tolist()) == set(range(RUNS)) for t in tables.values())
        assert not (killed / "sweep.parquet").exists()
    assert kills >= KILLS // 2
    kept = len(cells(killed))
    process = start(path, killed)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    expected = {0: "all were new", CELLS: "none was new"}.get(kept, f"{kept} were there already")
    assert f"{CELLS} cells, {RUNS} replications each" in out
    assert expected in " ".join(out.split())
    finished = {name: data for name, data in files(killed).items() if not name.endswith(".tmp")}
    assert finished == files(tmp_path / "undisturbed")


def test_ctrl_c_keeps_partial_cells_and_states_how_to_resume(path, tmp_path):
    folder = tmp_path / "stopped"
    process = start(path, folder)
    wait_for_cells(process, folder, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    found = re.fullmatch(
        rf"error: interrupted with (\d+) of {CELLS} cells complete; finished cells are stored "
        r"in (\S+), and the same command continues from there\n",
        err,
    )
    assert found is not None, err
    assert found[2] == str(folder)
    assert not (folder / "sweep.parquet").exists()
    kept = Store(folder / "cells")
    runs = [len(set(kept.load(one)["flows"]["run"].tolist())) for one in kept.identities()]
    assert sum(n == RUNS for n in runs) == int(found[1])
    outcome = Sweep.load(path).run(folder)
    assert outcome.kept == int(found[1])
    assert outcome.replications == CELLS * RUNS - sum(runs)
    Sweep.load(path).run(tmp_path / "undisturbed")
    assert files(folder) == files(tmp_path / "undisturbed")


def test_kill_during_a_write_leaves_the_old_file(tmp_path):
    """The old file stays even if the process is killed in the middle of a write."""
    file = tmp_path / "kept.parquet"
    file.write_bytes(b"old")
    code = f"""
import os, signal
from pathlib import Path
from nodeb.storage.files import replace
def write(part):
    part.write_bytes(b"ne")
    os.kill(os.getpid(), signal.SIGKILL)
replace(Path({str(file)!r}), write)
"""
    done = subprocess.run([sys.executable, "-c", code])
    assert done.returncode == -signal.SIGKILL
    assert file.read_bytes() == b"old"
    (leftover,) = [other for other in tmp_path.iterdir() if other != file]
    assert leftover.name.startswith(".")
