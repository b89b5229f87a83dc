"""Tests of the reproduction of all studies: complete, interrupted and missing ones, their page."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from nodeb import studies
from nodeb.errors import InputError, OutputError, RunError
from nodeb.replication.folder import CellFolder
from nodeb.reproduce import ReproduceOutcome, every, reproduction
from nodeb.storage.folders import Owner
from nodeb.study.verdicts import Verdict

NAMES = ("wang", "hossain", "prabhu")


def verdict(name: str, judgement: str) -> Verdict:
    text = f"what {name} says, {judgement}"
    counts = Counter({judgement: 1})
    return Verdict(f"{name}-1", "4", text, judgement, counts, "more", ((text, judgement),))


def folder(out: Path, name: str, force: bool = False) -> CellFolder:
    place = CellFolder(out, Owner("reproduction", name), {}, reproduction.RESULTS, force=force)
    place.start()
    return place


@pytest.fixture
def fake(monkeypatch):
    """Replaces `reproduction.run`: gives a verdict for each study, or raises an error."""

    def use(**breaks):
        called = []

        def run(name, out, items, quick, jobs, seed, progress, *, force):
            called.append(name)
            known = studies.load(name)
            with folder(out, name, force=force) as place:
                if name in breaks:
                    raise breaks[name]
                outcome = ReproduceOutcome(known, known.items(), seed, quick, out, complete=True)
                outcome.claims = [verdict(name, "holds" if name == "wang" else "undecided")]
                place.finish()
            return outcome

        monkeypatch.setattr(reproduction, "run", run)
        return called

    return use


def run(out: Path, **options):
    return every.run_all(out, **{"quick": True, "studies": NAMES} | options)


def table(out: Path) -> dict[str, dict[str, str]]:
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        return {row["study"]: row for row in csv.DictReader(file)}


def test_every_study_is_run_and_counted(fake, tmp_path):
    called = fake()
    summary = run(tmp_path / "out")
    assert (called, summary.missing) == (list(NAMES), [])
    rows = table(tmp_path / "out")
    assert list(rows) == list(NAMES)
    assert [rows[name]["holds"] for name in NAMES] == ["1", "0", "0"]
    assert [rows[name]["undecided"] for name in NAMES] == ["0", "1", "1"]
    page = summary.report.read_text("utf-8")
    for name in NAMES:
        assert f'href="{name}/report.html"' in page
        assert f"what {name} says" in page
    with (tmp_path / "out" / "claims.csv").open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [f"{name}-1" for name in NAMES]
    assert json.loads((tmp_path / "out" / "provenance.json").read_text())["complete"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RunError("odd")])
def test_studies_before_an_interruption_are_summarized(fake, tmp_path, error):
    fake(hossain=error)
    with pytest.raises(type(error)):
        run(tmp_path)
    assert list(table(tmp_path)) == ["wang"]
    assert "no results yet: hossain, prabhu" in (tmp_path / "report.html").read_text("utf-8")
    fake()
    assert "no results yet" not in run(tmp_path).report.read_text("utf-8")


def test_interrupted_first_study_leaves_no_older_summary(fake, tmp_path):
    fake()
    run(tmp_path)
    fake(wang=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, seed=2)
    assert table(tmp_path) == {}


def test_foreign_folders_are_rejected_before_any_simulation(fake, tmp_path):
    called = fake()
    with folder(tmp_path / "out", "wang") as place:
        place.finish()
    with pytest.raises(OutputError, match="holds a reproduction of wang"):
        run(tmp_path / "out")
    assert called == []
    summary = run(tmp_path / "out", force=True)
    assert "a reproduction of wang" in summary.replaced[tmp_path / "out"]
    assert summary.missing == []


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
    assert "wang" in out
