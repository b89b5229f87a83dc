"""Interrupted sweeps lose no stored cell and can be resumed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nodeb.storage.cells import CELLS as FILE
from nodeb.storage.cells import Store
from nodeb.sweep import Sweep
from result_folders import cells, kept

CELLS, RUNS, JOBS = 20, 8, 2
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


def wait_for_cells(process: subprocess.Popen[str], folder: Path, size: int) -> None:
    """Waits until the file in which the database puts new cells has a size, in bytes."""
    log, until = folder / f"{FILE}-wal", time.monotonic() + 200
    while process.poll() is None and not (log.exists() and log.stat().st_size > size):
        assert time.monotonic() < until
        time.sleep(0.002)


def test_ctrl_c_keeps_partial_cells_and_states_how_to_resume(path, tmp_path):
    folder = tmp_path / "stopped"
    process = start(path, folder)
    wait_for_cells(process, folder, 60_000)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)
    assert (process.returncode, out) == (130, "")
    found = re.fullmatch(
        rf"error: interrupted with (\d+) of {CELLS} cells complete; finished cells are stored "
        r"in (\S+), and the same command continues from there\n",
        err,
    )
    assert found is not None, err
    assert found[2] == str(folder)
    assert not (folder / "sweep.parquet").exists()
    identities, store = list(cells(folder)), Store(folder)
    store.open()
    runs = [len(set(store.load(one)["flows"]["run"].tolist())) for one in identities]
    store.close()
    assert sum(n == RUNS for n in runs) == int(found[1])
    outcome = Sweep.load(path).run(folder)
    assert outcome.kept == int(found[1])
    assert outcome.replications == CELLS * RUNS - sum(runs)
    Sweep.load(path).run(tmp_path / "undisturbed")
    assert kept(folder) == kept(tmp_path / "undisturbed")
