"""Tests of results folders that several processes claim, fill and release at the same time."""

from __future__ import annotations

import multiprocessing
import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from nodeb.errors import OutputError
from nodeb.storage import files, folders
from nodeb.storage.folders import MARK, Owner, claim
from result_folders import MINE, OTHERS, SWEEP, content, put, start
from scenarios import SMALL


def _race(folder: str, name: str, start: float, answers) -> None:
    time.sleep(max(0.0, start - time.time()))
    try:
        place = claim(folder, Owner("run", name))
    except OutputError as error:
        answers.put((name, str(error)))
        return
    answers.put((name, None))
    time.sleep(0.2)
    place.put(lambda part: files.write_bytes(part / "who", name.encode()), {})


@pytest.mark.parametrize("attempt", range(4))
def test_second_of_two_simultaneous_claims_is_rejected(tmp_path, attempt):
    context = multiprocessing.get_context("fork")
    answers, folder, start = context.Queue(), str(tmp_path / "out"), time.time() + 0.05
    names = ("one", "two", "three")
    racers = [context.Process(target=_race, args=(folder, n, start, answers)) for n in names]
    for racer in racers:
        racer.start()
    found = dict(answers.get(timeout=20) for _ in racers)
    for racer in racers:
        racer.join(20)
    (winner,) = [name for name, error in found.items() if error is None]
    assert all(f"holds a run of {winner}" in e for n, e in found.items() if n != winner)
    assert content(tmp_path / "out")["who"] == winner.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "arguments", [("sweep", "swept.toml"), ("reproduce", "wang", "--quick", "--item", "Table 13")]
)
def test_second_process_in_a_folder_is_rejected(call, tmp_path, arguments):
    (tmp_path / "swept.toml").write_text(SMALL + SWEEP)
    assert call(*arguments, "--out", "out")[0] == 0
    before = content(tmp_path)
    kind = {"sweep": "sweep", "reproduce": "reproduction"}[arguments[0]]
    of = {"sweep": "swept.toml", "reproduce": "wang"}[arguments[0]]
    with claim("out", Owner(kind, of), resumes=True):
        status, _, err = call(*arguments, "--out", "out")
        assert (status, content(tmp_path)) == (2, before)
        assert "another nodeb is at work in out; wait for it" in err
    assert call(*arguments, "--out", "out")[0] == 0


def test_second_of_two_simultaneous_sweeps_is_rejected(tmp_path):
    """If two processes run the same sweep, at most one is rejected, and the results are correct."""
    file = tmp_path / "swept.toml"
    file.write_text(SMALL.replace("20 kB", "400 kB") + SWEEP)
    assert start("sweep", file, "--out", "alone", cwd=tmp_path).wait() == 0
    both = [start("sweep", file, "--out", "out", cwd=tmp_path) for _ in range(2)]
    errors = [process.communicate()[1] for process in both]
    assert 0 in [process.returncode for process in both]
    for process, error in zip(both, errors, strict=True):
        if process.returncode:
            assert "another nodeb is at work in out" in error
    alone, out = content(tmp_path / "alone"), content(tmp_path / "out")
    assert {**alone, MARK: b""} == {**out, MARK: b""}


def _once_after(monkeypatch, owner, name, act):
    """Replaces a function so that its first call is followed by a call of `act`.

    This also happens if the first call fails.
    """
    function = getattr(owner, name)

    def then_act(*arguments, **more):
        monkeypatch.setattr(owner, name, function)
        try:
            return function(*arguments, **more)
        finally:
            act()

    monkeypatch.setattr(owner, name, then_act)


LOOKS = [(folders.os, "listdir"), (Path, "read_bytes"), (Path, "exists"), (Path, "mkdir")]


@pytest.mark.parametrize(("owner", "name"), LOOKS)
def test_folder_claimed_during_inspection_is_recognised(tmp_path, monkeypatch, owner, name):
    """A folder that another run claims during the inspection is recognised by its mark.

    The folder is not taken for a folder of an earlier version.
    """
    _once_after(monkeypatch, owner, name, lambda: claim(tmp_path / "out", OTHERS))
    with pytest.raises(OutputError, match=r"out holds a run of other\.toml; give another folder"):
        claim(tmp_path / "out", MINE)


@pytest.mark.parametrize("resumes", [False, True])
@pytest.mark.parametrize(("owner", "name"), [*LOOKS, (folders.os, "open")])
def test_folder_released_during_inspection_can_be_claimed(
    tmp_path, monkeypatch, owner, name, resumes
):
    """If the owner releases the folder during the inspection, it can be claimed."""
    others = claim(tmp_path / "out", OTHERS)
    _once_after(monkeypatch, owner, name, lambda: others.__exit__(None, None, None))
    with claim(tmp_path / "out", MINE, force=True, resumes=resumes) as place:
        assert place.path.is_dir()
        place.put(lambda part: files.write_bytes(part / "a", b"mine"), {})
    assert content(tmp_path / "out")["a"] == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_results_replaced_during_inspection_are_recognised(tmp_path, monkeypatch):
    put(tmp_path / "out", a="1")
    _once_after(monkeypatch, folders, "_read_mark", lambda: put(tmp_path / "out", b="2"))
    claim(tmp_path / "out", MINE)
    assert set(content(tmp_path / "out")) == {"b", MARK}


def test_results_written_during_the_release_of_a_claim_are_kept(tmp_path, monkeypatch):
    with claim(tmp_path / "out", MINE):
        _once_after(monkeypatch, folders, "_is_bare", lambda: put(tmp_path / "out", a="1"))
    assert set(content(tmp_path / "out")) == {"a", MARK}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_simultaneous_savers_keep_all_results(tmp_path, monkeypatch):
    place = claim(tmp_path / "out", MINE)
    put(tmp_path / "out", OTHERS, force=True, a="others")

    def theirs():
        (tmp_path / "out-2").mkdir()
        (tmp_path / "out-2" / "a").write_text("theirs")

    free = tmp_path / "out-2"
    exists = Path.exists

    def nothing_there_yet(path):
        found = exists(path)
        if path == free and not found:
            theirs()
        return found

    monkeypatch.setattr(Path, "exists", nothing_there_yet)
    with pytest.raises(OutputError, match=r"; the results are in .*out-3 instead"):
        place.put(lambda part: files.write_bytes(part / "a", b"mine"), {})
    assert content(tmp_path / "out-3")["a"] == b"mine"


RIGHTLY_REFUSED = re.compile(
    r"\S+/out holds a run of (one|two); give another folder .*"
    r"|another nodeb is at work in \S+/out; wait for it, .*"
)


def _come_and_go(folder: str, seed: int, until: float, answers) -> None:
    chance, outcomes = random.Random(seed), Counter()
    while time.time() < until:
        owner = Owner("run", chance.choice(["one", "two"]))
        resumes, puts = chance.random() < 0.4, chance.random() < 0.05
        try:
            with claim(folder, owner, resumes=resumes) as place:
                outcomes["claimed"] += 1
                if puts and not resumes:
                    place.put(lambda part: files.write_bytes(part / "a", b"1", to_disk=False), {})
        except OutputError as error:
            outcomes[str(error)] += 1
        if puts:  # The folder is renamed, as if a user moved the results away.
            with files.contextlib.suppress(OSError):
                Path(folder).rename(Path(folder).with_name(f"moved-{seed}-{outcomes.total()}"))
    answers.put(outcomes)


def test_many_simultaneous_claims_are_rejected_only_with_reason(tmp_path):
    context = multiprocessing.get_context("fork")
    answers, until = context.Queue(), time.time() + 3
    crowd = [
        context.Process(target=_come_and_go, args=(str(tmp_path / "out"), n, until, answers))
        for n in range(4)
    ]
    for one in crowd:
        one.start()
    outcomes = sum((answers.get(timeout=30) for _ in crowd), Counter())
    for one in crowd:
        one.join(20)
    assert outcomes.pop("claimed") > 100
    assert [why for why in outcomes if not RIGHTLY_REFUSED.fullmatch(why)] == []
    assert not [path.name for path in tmp_path.iterdir() if files.is_leftover(path.name)]
