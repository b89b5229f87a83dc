"""After kills and on full disks, a folder has either the old or the new results, complete."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nodeb.storage import files
from nodeb.storage.folders import MARK, claim
from result_folders import MINE, SWEEP, at_work, content, put, start
from scenarios import SMALL, needs_linux

# --- Tests of processes that are killed ---


@needs_linux
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_terminated_run_keeps_finished_replications(tmp_path, number, status):
    path = tmp_path / "long.toml"
    path.write_text(SMALL.replace("20 kB", "1 MB").replace("runs = 4", "runs = 900000"))
    process = start("run", path, "--out", "kept", cwd=tmp_path)
    at_work(process, tmp_path / "kept")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (status, "")
    assert err.startswith("error: interrupted after ")
    about = json.loads((tmp_path / "kept" / MARK).read_text())
    assert pq.read_table(tmp_path / "kept" / "flows.parquet").num_rows == 2 * about["runs"] > 0


def whole(folder: Path) -> tuple[int, int] | None:
    """Returns requested and actual number of replications, or `None` without complete results.

    The actual number is smaller only if the run was stopped, which the results then state.
    """
    if not folder.exists() or not json.loads((folder / MARK).read_text())["complete"]:
        return None
    about = json.loads((folder / MARK).read_text())
    assert {p.name for p in folder.iterdir()} == {MARK, *about["files"]}
    asked = tomllib.loads((folder / "scenario.toml").read_text())["runs"]
    flows, has = pq.read_table(folder / "flows.parquet"), about["runs"]
    assert (flows.num_rows, set(flows["run"].to_pylist())) == (2 * has, set(range(has)))
    assert has == asked or (has < asked and about["stopping"].startswith("interrupted"))
    return asked, has


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_run_killed_at_any_moment_leaves_old_or_new_results(tmp_path, number):
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    begin = time.monotonic()
    assert start("run", file, "--runs", 2, cwd=tmp_path).wait() == 0
    took_s, folder, chance = time.monotonic() - begin, tmp_path / "out" / "small", random.Random(3)
    before = whole(folder)
    for runs in range(3, 9):
        process = start("run", file, "--runs", runs, cwd=tmp_path)
        time.sleep(took_s * chance.uniform(0.5, 1.05))
        process.send_signal(number)
        process.communicate()
        after = whole(folder)
        assert after == before or (after is not None and after[0] == runs)
        assert number != signal.SIGKILL or after in (before, (runs, runs))
        before = after
    assert start("run", file, "--runs", 9, cwd=tmp_path).wait() == 0
    assert whole(folder) == (9, 9)
    # If a terminated run has fewer replications than the folder, its results are in a new folder
    # next to it.
    for other in folder.parent.iterdir():
        assert re.fullmatch(r"small(-\d+)?", other.name)
        assert whole(other) is not None


WORST = """
import os, signal, sys
from pathlib import Path
from nodeb.storage import files
from nodeb.storage.folders import Owner, claim
real, when = files.swap, sys.argv[2]
def swap(new, old):
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    real(new, old)
    os.kill(os.getpid(), signal.SIGKILL)
files.swap = swap
place = claim(sys.argv[1], Owner("run", "mine.toml"))
place.put(lambda part: files.write_bytes(part / "a", b"new"), {})
"""


@pytest.mark.parametrize(("when", "left"), [("before", b"old"), ("after", b"new")])
def test_kill_before_or_after_the_swap_leaves_complete_results(tmp_path, when, left):
    put(tmp_path / "out", a="old")
    done = subprocess.run([sys.executable, "-c", WORST, tmp_path / "out", when])
    assert done.returncode == -signal.SIGKILL
    assert content(tmp_path / "out")["a"] == left
    assert len(list(tmp_path.iterdir())) == 2
    claim(tmp_path / "out", MINE)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_kill_between_two_renames_loses_nothing(tmp_path):
    """The old results survive a kill between two renames.

    At this moment the folder does not exist.
    """
    put(tmp_path / "out", a="old")
    code = WORST.replace("files.swap = swap", "files._exchange = lambda *_: False")
    code = code.replace("place.put(", "Path.rename = once\nplace.put(").replace(
        "place = claim",
        "rename = Path.rename\n"
        "def once(self, to):\n"
        "    rename(self, to)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "place = claim",
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "out", "before"])
    assert done.returncode == -signal.SIGKILL
    with claim(tmp_path / "out", MINE):
        pass
    assert content(tmp_path / "out")["a"] in (b"old", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_signal_is_deferred_until_results_are_in_place(tmp_path):
    place = claim(tmp_path / "out", MINE)

    def write(part: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        (part / "a").write_text("1")

    with pytest.raises(KeyboardInterrupt):
        place.put(write, {})
    assert set(content(tmp_path / "out")) == {"a", MARK}


def test_signal_stops_reproducible_work_at_once(tmp_path):
    put(tmp_path / "out", a="old")
    place = claim(tmp_path / "out", MINE)

    def write(part: Path) -> None:
        (part / "a").write_text("new")
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("went on")

    with pytest.raises(KeyboardInterrupt):
        place.put(write, {}, stoppable=True)
    assert not place.is_put
    assert content(tmp_path / "out")["a"] == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_signal_during_a_swap_is_deferred(tmp_path, monkeypatch):
    put(tmp_path / "out", a="old")
    place, swap = claim(tmp_path / "out", MINE), files.swap

    def disturbed(new: Path, old: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        swap(new, old)

    monkeypatch.setattr(files, "swap", disturbed)
    with pytest.raises(KeyboardInterrupt):
        place.put(lambda part: files.write_bytes(part / "a", b"new"), {}, stoppable=True)
    assert place.is_put
    assert content(tmp_path / "out")["a"] == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# --- Tests with a full disk ---


@pytest.mark.parametrize("limit", [0, 100, 1000, 3000, 6000, 8000])
def test_full_disk_leaves_the_old_results(tmp_path, limit):
    """The old results stay if the disk is full.

    The larger a limit on the size of files, the more writes succeed before one fails.
    """
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    assert start("run", file, cwd=tmp_path).wait() == 0
    before = content(tmp_path / "out")

    def fill() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = start("run", file, "--runs", 400, cwd=tmp_path, preexec_fn=fill)
    printed, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "400 replications" in printed
    assert "out/small" not in printed
    assert "error: cannot write results to out/small: file too large" in err
    assert content(tmp_path / "out") == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["small"]


@pytest.fixture
def disk(tmp_path):
    """Returns a function that mounts a disk of the given size in KiB, or resizes it."""
    path = tmp_path / "disk"
    path.mkdir()

    def sized(kib: int) -> Path:
        option = f"size={kib}k" if not path.is_mount() else f"remount,size={kib}k"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", option, "tmpfs", path], capture_output=True
        )
        if done.returncode:
            pytest.skip("needs the right to mount")
        return path

    yield sized
    if path.is_mount():
        subprocess.run(["umount", path], check=True)


@pytest.mark.parametrize("kib", [4, 16, 32, 48, 64])
def test_disk_without_room_has_old_results_or_none(call, disk, scenario_file, kib):
    place = disk(kib) / "small"
    first = call("run", scenario_file, "--out", place)[0]
    assert (whole(place) == (4, 4)) == (first == 0)
    before = content(place) if place.exists() else {}
    status, printed, err = call("run", scenario_file, "--runs", 3000, "--out", place)
    assert status == 1
    assert "no space left on device" in err
    assert "3000 replications" in printed
    assert str(place) not in printed
    assert (content(place) if place.exists() else {}) == before
    assert [path.name for path in place.parent.iterdir()] == (["small"] if before else [])


@pytest.mark.parametrize("kib", [8, 24, 40])
def test_sweep_on_a_full_disk_resumes_when_there_is_room(call, disk, tmp_path, kib):
    file = tmp_path / "swept.toml"
    file.write_text(SMALL + SWEEP.replace("[0.1, 0.2]", "{ from = 0.0, to = 0.4, steps = 9 }"))
    status, _, err = call("sweep", file, "--out", disk(kib) / "s")
    assert status == 1
    assert "no space left on device" in err
    assert call("sweep", file, "--out", disk(4096) / "s")[0] == 0
    assert call("sweep", file, "--out", "fresh")[0] == 0
    found, fresh = content(disk(4096) / "s"), content(Path("fresh"))
    assert {k: v for k, v in found.items() if k != MARK} == {
        k: v for k, v in fresh.items() if k != MARK
    }
