"""Tests: explanations and packet timelines reject invalid input."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import nodeb
from nodeb.errors import InputError, OutputError
from nodeb.explanation.text import sizes
from nodeb.scenario_types import Dch, Ftp, UserGroup, Web
from nodeb.storage.files import write_bytes


@pytest.fixture
def short():
    users = [UserGroup(traffic=Ftp(size="20 kB"))]
    return nodeb.Scenario(name="short", radio=Dch(bler=0.1), users=users)


@pytest.mark.parametrize("place", ["", "missing/x.html", ".", "pipe"])
def test_page_path_is_checked_before_the_simulation(call, scenario_file, tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    out = place and tmp_path / place
    status, printed, err = call("explain", scenario_file, "--runs", 1, "--out", out)
    assert (status, printed) == (2, "")
    assert err.startswith("error: --out ")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_only_regular_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="is a folder, device or pipe"):
        write_bytes(tmp_path / "pipe", b"page")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("wrong", [None, "file.toml", 3])
def test_only_scenarios_are_explained(wrong):
    with pytest.raises(InputError, match="is no scenario"):
        nodeb.explain(wrong)


def test_result_explains_its_own_replications(short):
    result = short.run(runs=2)
    assert len(result.explain(runs=1).paths) == 1
    with pytest.raises(InputError, match="this result has 2 replications"):
        result.explain(runs=5)
    with pytest.raises(InputError, match="whole number"):
        result.explain(runs="2")


def test_unknown_names_are_reported(short):
    found = nodeb.explain(short, runs=1)
    with pytest.raises(InputError, match="did you mean `timeout`"):
        found.seconds("timeuot")
    with pytest.raises(InputError, match="is no explanation"):
        found.difference(None)


def test_differing_sizes_are_shown_as_a_range():
    users = [UserGroup(traffic=Web())]
    web = nodeb.Scenario(name="web", radio=Dch(), users=users, duration="60 s")
    found = nodeb.explain(web, runs=3)
    assert len({path.bytes for path in found.paths}) > 1
    assert " to " in sizes(found)
    assert sizes(found) in str(found)


@pytest.mark.parametrize("number", [-1, 0, 10**12, "1"])
def test_unknown_packets_are_rejected(short, number):
    with pytest.raises(InputError, match=r"no packet|whole number"):
        short.life().packet(number)


@pytest.mark.parametrize("user", [5, -1])
@pytest.mark.parametrize(("count", "expected"), [(1, "0"), (2, "0 to 1")])
def test_user_to_compare_is_checked_first(call, scenario_file, tmp_path, user, count, expected):
    out = tmp_path / "out"
    changes = "--with", "wired.delay=90 ms", "--set", f"users.0.count={count}"
    status, printed, err = call("compare", scenario_file, *changes, "--explain", user, "--out", out)
    assert (status, printed) == (2, "")
    assert err.endswith(f"error: there is no user {user}; expected {expected}\n")
    assert not out.exists()


def test_page_that_does_not_fit_on_the_disk_is_named(tmp_path, monkeypatch):
    def full(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    place = tmp_path / "page.html"
    with pytest.raises(OSError, match="No space left") as found:
        write_bytes(place, b"a page")
    assert found.value.filename == str(place)
    assert not list(tmp_path.iterdir())


def test_page_is_written_if_stdout_is_closed(scenario_file, tmp_path):
    place = tmp_path / "page.html"
    command = [
        sys.executable,
        "-m",
        "nodeb",
        "explain",
        scenario_file,
        "--runs",
        "1",
        "--out",
        place,
    ]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")
    assert place.read_bytes().startswith(b"<!doctype html>")


def test_page_of_another_program_is_not_replaced(call, scenario_file, tmp_path):
    place = tmp_path / "page.html"
    assert call("explain", scenario_file, "--out", place)[0] == 0
    # The second call replaces the page, because nodeb has written it.
    assert call("explain", scenario_file, "--out", place)[0] == 0
    theirs = '<!doctype html>\n<html><meta name="generator" content="Hugo 0.1"></html>\n'
    place.write_text(theirs)
    status, printed, err = call("explain", scenario_file, "--out", place)
    assert (status, printed, place.read_text()) == (2, "", theirs)
    assert "page.html is there already and is not a page that nodeb made" in err


def test_explained_user_is_not_compared_with_itself(call, scenario_file):
    status, out, err = call("explain", scenario_file, "--beside", 0)
    assert (status, out) == (2, "")
    assert "--beside 0: user 0 is explained already" in err
