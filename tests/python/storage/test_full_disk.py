"""Tests: if the disk is full, complete results cannot be saved but are still printed."""

from __future__ import annotations

import re
import resource
from contextlib import contextmanager

import pytest

from nodeb import FullError, OutputError
from nodeb.sweep import Sweep
from result_folders import SWEEP
from scenarios import SMALL

LINK = """
eb_n0_db = [5.0]
service = "costamagna_64"
stop.bits = 3000
"""


@contextmanager
def no_room():
    """Makes every write to a file fail, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(autouse=True)
def inputs(tmp_path):
    (tmp_path / "a.toml").write_text(SMALL)
    (tmp_path / "s.toml").write_text(SMALL + SWEEP)
    (tmp_path / "l.toml").write_text(LINK)
    (tmp_path / "e.txt").write_text("0001100010" * 30 + "\n")


COMMANDS = {
    "run": ("run", "a.toml"),
    "run with its page": ("run", "a.toml", "--report"),
    "life": ("life", "a.toml"),
    "sweep": ("sweep", "s.toml"),
    "sweep with a baseline": ("sweep", "s.toml", "--baseline", "radio.dch.bler=0.1"),
    "compare": ("compare", "a.toml", "--with", "wired.loss=0.02", "--runs", 4),
    "explain": ("explain", "a.toml", "--out", "page.html"),
    "link": ("link", "run", "l.toml"),
    "fit": ("fit", "e.txt", "--unit", "pdu", "--states", 2),
}
ENDS = "has the table", "results: ", "models and pictures: ", "page: ", "Draw it", "the page"
"""Parts of lines that name saved files."""


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_results_that_do_not_fit_on_the_disk_are_printed(call, command):
    status, printed, _ = call(*command)
    assert status == 0
    with no_room():
        status, found, err = call(*command)
    assert status == 1
    assert "file too large" in err.splitlines()[-1]
    whole = [line for line in printed.splitlines() if not any(end in line for end in ENDS)]
    assert found.strip()
    # Lines with the number of new cells and the duration differ in the second run, and hints begin
    # with an option.
    same = [one for one in found.splitlines() if not re.search("seed 1|^--(all|report)", one)]
    assert [one for one in same if one not in whole] == []


def test_sweep_without_room_still_has_its_outcome(tmp_path):
    plan = Sweep.load(tmp_path / "s.toml")
    whole = plan.run(tmp_path / "out")
    with no_room(), pytest.raises(FullError) as found:
        plan.run(tmp_path / "out")
    assert isinstance(found.value, OutputError)
    assert list(found.value.outcome.table) == list(whole.table)
    assert found.value.outcome.simulated == 0


@pytest.mark.parametrize(
    "command",
    [("schema", "--out", "schema.json"), ("import", "r.csv", "--out", "r.trace")],
    ids=["schema", "import"],
)
def test_exit_status_on_a_full_disk_is_1(call, tmp_path, command):
    (tmp_path / "r.csv").write_text("time_s,rate_kbps\n0,100\n1,200\n")
    with no_room():
        status, _, err = call(*command)
    assert (status, "file too large" in err) == (1, True)
    assert err.startswith("error: cannot write the ")
