"""Tests: explanations and packet timelines reject invalid input."""

import os
import stat

import pytest

import nodeb
from nodeb.errors import InputError
from nodeb.scenario_types import Dch, Ftp, UserGroup, Web


@pytest.fixture
def short():
    users = [UserGroup(traffic=Ftp(size="20 kB"))]
    return nodeb.Scenario(name="short", radio=Dch(bler=0.1), users=users)


@pytest.mark.parametrize("place", ["", "missing/x.html", ".", "pipe", "notes.txt", "a.png"])
def test_page_path_is_checked_before_the_simulation(call, scenario_file, tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "notes.txt").write_text("mine")
    out = place and tmp_path / place
    status, printed, err = call("explain", scenario_file, "--runs", 1, "--report", out)
    assert (status, printed) == (2, "")
    assert err.startswith("error: ")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize("wrong", [None, "file.toml", 3])
def test_only_scenarios_are_explained(wrong):
    with pytest.raises(InputError, match="scenario"):
        nodeb.explain(wrong)


def test_result_explains_its_own_replications(short):
    result = short.run(runs=2)
    assert len(result.explain(runs=1).paths) == 1
    for runs in (5, "2"):
        with pytest.raises(InputError, match=str(runs)):
            result.explain(runs=runs)
    with pytest.raises(InputError, match="replication 2"):
        result.life(5, run=2)


def test_unknown_names_are_reported(short):
    found = nodeb.explain(short, runs=1)
    with pytest.raises(InputError, match="`timeout`"):
        found.seconds("timeuot")
    with pytest.raises(InputError, match="explanation"):
        found.difference(None)


def test_differing_sizes_are_shown_as_a_range():
    users = [UserGroup(traffic=Web())]
    web = nodeb.Scenario(name="web", radio=Dch(), users=users, duration="60 s")
    found = nodeb.explain(web, runs=3)
    assert len({path.bytes for path in found.paths}) > 1
    sizes = [path.bytes for path in found.paths]
    assert f"({min(sizes)} to {max(sizes)} bytes)" in found.answer.headline


@pytest.mark.parametrize("number", [-1, 0, 10**12, "1"])
def test_unknown_packets_are_rejected(short, number):
    with pytest.raises(InputError, match=r"packet|whole number"):
        short.life().packet(number)


@pytest.mark.parametrize("user", [5, -1])
@pytest.mark.parametrize("count", [1, 2])
def test_user_to_compare_is_checked_first(call, scenario_file, tmp_path, user, count):
    changes = "--with", "wired.delay=90 ms", "--set", f"users.0.count={count}"
    arguments = (*changes, "--explain", user, "--out", tmp_path / "out")
    status, printed, err = call("compare", scenario_file, *arguments)
    assert (status, printed) == (2, "")
    assert f"user {user}" in err
    assert not (tmp_path / "out").exists()


def test_page_of_another_program_is_not_replaced(call, scenario_file, tmp_path):
    place = tmp_path / "page.html"
    for _ in range(2):
        assert call("explain", scenario_file, "--report", place)[0] == 0
    theirs = '<!doctype html>\n<html><meta name="generator" content="Hugo 0.1"></html>\n'
    place.write_text(theirs)
    status, printed, err = call("explain", scenario_file, "--report", place)
    assert (status, printed, place.read_text()) == (2, "", theirs)
    assert "page.html" in err


def test_explained_user_is_not_compared_with_itself(call, scenario_file):
    status, out, err = call("explain", scenario_file, "--beside", 0)
    assert (status, out) == (2, "")
    assert "--beside 0" in err
