"""Tests: complete results of a repeated study are replaced only by complete results."""

from __future__ import annotations

import json
import signal
import time

import pytest

from nodeb.reproduce import digest, reproduction
from nodeb.storage import marks
from nodeb.storage.folders import MARK
from result_folders import content, start
from small_study import FILE


def results(folder):
    """Returns the files in a folder of results, except for the cells, which every run adds to."""
    return {name: data for name, data in content(folder).items() if not name.startswith("cells/")}


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "small.py"
    file.write_text(FILE.replace("DURATION", "100 s"))
    return file


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_complete_results_are_kept_if_the_next_run_fails(study, tmp_path, monkeypatch, error):
    folder = tmp_path / "out"
    reproduction.run(study, folder, quick=True)
    before = results(folder)

    def fails(*_):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr("nodeb.study.claims.Claim.judge", fails)
        with pytest.raises(error):
            reproduction.run(study, folder, quick=True, seed=2)
        assert results(folder) == before
        patched.setattr("nodeb.reproduce.reproduction._publish", fails)
        with pytest.raises(error):
            reproduction.run(study, folder, quick=True, seed=2)
    assert results(folder) == before
    assert reproduction.run(study, folder, quick=True, seed=2).complete
    found = json.loads((folder / MARK).read_bytes())
    assert (found["seed"], found["complete"]) == (2, True)
    assert digest.load(folder).seed == 2


def test_killed_run_leaves_complete_results(study, tmp_path):
    folder = tmp_path / "out"
    reproduction.run(study, folder, quick=True)
    before = results(folder)
    study.write_text(study.read_text().replace("runs=6", "runs=60000"))
    process = start("reproduce", study, "--out", folder, cwd=tmp_path)
    begun = time.monotonic()
    while not any(name.endswith(".tmp") for name in map(str, folder.iterdir())):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < begun + 60
        time.sleep(0.01)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there = {name: data for name, data in results(folder).items() if ".tmp" not in name}
    assert there == before


def test_files_of_a_study_are_verified(study, tmp_path):
    folder = tmp_path / "out"
    reproduction.run(study, folder, quick=True)
    assert digest.load(folder) is not None
    listed = json.loads((folder / MARK).read_bytes())[marks.SUMS]
    assert {"cells.csv", "claims.csv", "digest.json", "report.html"} <= set(listed)
    assert "figures/figure-1.png" in listed
    for name in ("claims.csv", "digest.json"):
        good = (folder / name).read_bytes()
        (folder / name).write_bytes(good.replace(b"1", b"3", 1))
        assert digest.load(folder) is None
        (folder / name).write_bytes(good)
