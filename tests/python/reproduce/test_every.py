"""Tests of the reproduction of all studies: complete, resumed and missing ones, and their page."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from nodeb import studies
from nodeb.errors import InputError, OutputError, RunError
from nodeb.replication.folder import CellFolder
from nodeb.reproduce import digest, every, reproduction
from nodeb.reproduce.outcome import ReproduceOutcome
from nodeb.storage import files
from nodeb.storage.folders import Owner
from nodeb.study.verdicts import Verdict

NAMES = ("wang", "hossain", "prabhu")


def verdict(name: str, judgement: str) -> Verdict:
    from collections import Counter

    text = f"what {name} says, {judgement}"
    counts = Counter({judgement: 1})
    return Verdict(f"{name}-1", "4", text, judgement, counts, "more", ((text, judgement),))


def folder(out: Path, name: str, force: bool = False) -> CellFolder:
    place = CellFolder(out, Owner("reproduction", name), {}, reproduction.RESULTS, force=force)
    place.start()
    return place


class Fake:
    """Replacement of `reproduction.run` that gives a verdict for each study, or raises an error."""

    def __init__(self, **breaks: BaseException) -> None:
        self.breaks, self.called = breaks, []

    def __call__(self, name, out, *, quick, jobs, seed, progress, force=False):
        self.called.append(name)
        known = studies.load(name)
        with folder(out, name, force=force) as place:
            found = ReproduceOutcome(known, known.items(), seed, quick, out)
            found.claims = [verdict(name, "holds" if name == "wang" else "undecided")]
            error = self.breaks.get(name)
            found.complete = error is None
            progress(0.5, "half")
            if not isinstance(error, RunError):
                for file in digest.FILES:
                    files.write(
                        place.path / file, f"study,id\n{name},1\n" if "claims" in file else "x"
                    )
                digest.save(found, place.path)
            if error is not None:
                raise error
            place.finish()
        return found


@pytest.fixture
def fake(monkeypatch):
    def use(**breaks):
        one = Fake(**breaks)
        monkeypatch.setattr(reproduction, "run", one)
        return one

    return use


def run(out: Path, **options):
    return every.run_all(out, **{"quick": True, "studies": NAMES} | options)


def table(out: Path) -> dict[str, dict[str, str]]:
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        return {row["study"]: row for row in csv.DictReader(file)}


def test_every_study_is_run_and_counted(fake, tmp_path):
    called = fake().called
    found = run(tmp_path / "out")
    assert (called, found.complete) == (list(NAMES), True)
    rows = table(tmp_path / "out")
    assert list(rows) == list(NAMES)
    assert [rows[name]["holds"] for name in NAMES] == ["1", "0", "0"]
    assert [rows[name]["undecided"] for name in NAMES] == ["0", "1", "1"]
    assert {row["state"] for row in rows.values()} == {"complete"}
    page = found.report.read_text("utf-8")
    items = len(studies.load("wang").items())
    assert f"<td>0 of {items}</td>" in page
    for name in NAMES:
        assert f'href="{name}/report.html"' in page
        assert f"what {name} says" in page
    assert (
        tmp_path / "out" / "claims.csv"
    ).read_text() == "study,id\nwang,1\nhossain,1\nprabhu,1\n"
    assert json.loads((tmp_path / "out" / "provenance.json").read_text())["complete"]


def test_complete_studies_are_kept_and_interrupted_ones_resume(fake, tmp_path):
    fake(hossain=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert [row["state"] for row in table(tmp_path).values()] == [
        "complete",
        "interrupted",
        "missing",
    ]
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "1 of 3 studies are complete; incomplete: hossain; no results: prabhu" in page
    again = fake()
    found = run(tmp_path)
    assert (again.called, found.stayed) == (["hossain", "prabhu"], ["wang"])
    assert "Not everything is there" not in found.report.read_text("utf-8")


def test_failing_study_does_not_stop_the_others(fake, tmp_path):
    fake(hossain=RunError("something odd"))
    with pytest.raises(RunError, match="odd"):
        run(tmp_path)
    assert [row["state"] for row in table(tmp_path).values()] == ["complete", "missing", "missing"]


@pytest.mark.parametrize("other", [{"seed": 2}, {"quick": False}])
def test_results_of_other_settings_are_not_combined(fake, tmp_path, other):
    fake()
    run(tmp_path)
    before = table(tmp_path)
    again = fake(wang=RunError("at once"))
    with pytest.raises(RunError):
        run(tmp_path, **other)
    assert again.called == ["wang"]
    # Complete results stay until other complete results replace them.
    assert table(tmp_path) == before
    fake(hossain=RunError("second"))
    with pytest.raises(RunError):
        run(tmp_path, **other)
    assert [row["state"] for row in table(tmp_path).values()].count("missing") == 2


def test_results_of_another_version_are_replaced(fake, tmp_path, monkeypatch):
    fake()
    run(tmp_path)
    monkeypatch.setattr(digest, "program", lambda name: "another")
    again = fake()
    assert run(tmp_path).stayed == []
    assert again.called == list(NAMES)


@pytest.mark.parametrize("lost", [*digest.FILES, digest.DIGEST])
def test_study_with_a_missing_file_is_repeated(fake, tmp_path, lost):
    fake()
    run(tmp_path)
    (tmp_path / "hossain" / lost).unlink()
    again = fake()
    run(tmp_path)
    assert again.called == ["hossain"]


def test_foreign_folders_are_rejected_before_any_simulation(fake, tmp_path):
    called = fake().called
    with folder(tmp_path / "out", "wang") as place:
        place.finish()
    with pytest.raises(OutputError, match="holds a reproduction of wang"):
        run(tmp_path / "out")
    assert called == []
    found = run(tmp_path / "out", force=True)
    assert "a reproduction of wang" in found.replaced[tmp_path / "out"]
    assert found.complete


def test_digest_matches_the_tables(tmp_path, quick_wang):
    """The numbers in the digest of a reproduction equal those in its tables."""
    shutil.copytree(quick_wang, tmp_path, dirs_exist_ok=True)
    found = reproduction.run("wang", tmp_path, quick=True)
    read = digest.load(tmp_path)
    assert read is not None
    assert read.complete
    assert [one.verdict for one in read.claims] == [one.judgement for one in found.claims]
    assert read.states["met"] == sum(target.met is True for target in found.targets)
    near = [cell for cell in found.cells if cell.grade == "near"]
    assert read.cells["near"] == len(near) > 0
    assert read.scattered == sum(cell.within is not None for cell in found.cells) > 0
    assert digest.load(tmp_path / "nowhere") is None
    (tmp_path / digest.DIGEST).write_text('{"study": "wang"}')
    assert digest.load(tmp_path) is None


def test_invalid_items_and_names_are_rejected(call):
    status, _, err = call("reproduce", "all", "--item", "table 13")
    assert status == 2
    assert "`all` reproduces every item" in err
    assert "nodeb reproduce wang --item 'table 13'" in err
    status, _, err = call("reproduce", "al")
    assert (status, "did you mean `all`" in err) == (2, True)
    with pytest.raises(InputError, match="jobs is 0"):
        every.run_all(Path("out"), jobs=0)


def test_interruption_states_how_to_resume(fake, call):
    fake(costamagna=KeyboardInterrupt())
    status, _, err = call("reproduce", "all", "--quick", "--out", "out")
    assert status == 130
    assert "report.html lists the missing parts" in err
    status, out, _ = call("reproduce", "all", "--quick", "--out", "out")
    assert status == 130
    fake()
    status, out, _ = call("reproduce", "all", "--quick", "--out", "out")
    assert status == 0
    assert "together" in out
    assert "Complete before: wang, hossain." in out
