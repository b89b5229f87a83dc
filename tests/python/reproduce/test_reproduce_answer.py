"""Tests of the first lines of a reproduction in different cases."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from nodeb import reproduce
from nodeb.answer import text
from nodeb.reproduce import every_page
from nodeb.reproduce.answer import answer
from nodeb.reproduce.digest import Digest, Judged
from nodeb.reproduce.every import Summary

NAMES = ("near", "off", "far")


def digest(study="one", verdicts=(), *, near=0, far=0, complete=True, targets=(), **values):
    claims = tuple(Judged(str(n), f"claim {n}", one) for n, one in enumerate(verdicts))
    goals = tuple(
        Judged(str(n), f"target {n}", one, summary="8 of 9") for n, one in enumerate(targets)
    )
    known = {
        "study": study,
        "program": "p",
        "seed": 1,
        "quick": False,
        "complete": complete,
        "items": ("Table 1", "Table 2"),
        "measured": 2,
        "claims": claims,
        "targets": goals,
        "cells": dict(zip(NAMES, (near, 0, far), strict=True)),
        "within": 0,
        "scattered": 0,
        "replications": 30,
        "scenarios": 3,
        "wall_s": 1.0,
    }
    return Digest(**known | values)


@pytest.fixture
def said(monkeypatch):
    """Returns a function that creates the answer of a reproduction with a given digest."""

    def of(about, *, quick=False, unfinished=()):
        monkeypatch.setattr("nodeb.reproduce.answer.digest.of", lambda found: about)
        study = SimpleNamespace(title="A study", headline=None)
        found = SimpleNamespace(
            study=study,
            replications=30,
            scenarios=3,
            seed=1,
            wall_s=1.0,
            quick=quick,
            grids={},
            charts={},
            unfinished=list(unfinished),
            report=Path("out/one/report.html"),
        )
        return answer(found)

    return of


def test_values_and_claims_are_counted(said):
    found = said(digest(verdicts=("holds", "holds", "undecided"), near=8, far=1))
    assert found.headline == (
        "8 of 9 published values agree with what was measured, within the tolerance of the table. "
        "2 of 3 claims hold; 1 undecided."
    )
    assert [(one.name, one.shown.number) for one in found.facts] == [
        ("published values near", "8 of 9"),
        ("claims that hold", "2 of 3"),
    ]
    assert found.notes == [
        "30 replications of 3 scenarios, seed 1, 1.0 s.",
        "Page: out/one/report.html",
    ]


def test_contradicted_and_missed_claims_are_never_hidden(said):
    about = digest(verdicts=("contradicted", "holds"), targets=("missed", "met", "not measured"))
    found = said(about, unfinished=["3 downloads did not end."])
    assert found.headline == "1 of 2 claims holds; 1 contradicted."
    assert [(one.sign, one.text) for one in found.marks] == [
        ("✗", "contradicted: claim 0"),
        ("✗", "missed: target 0 (8 of 9)"),
        ("!", "3 downloads did not end."),
    ]
    assert [one.shown.number for one in found.facts] == ["1 of 2", "1 of 2"]


def test_interruption_is_reported_first(said):
    found = said(digest(near=3, complete=False, measured=1))
    assert found.headline == (
        "interrupted with 1 of 2 tables and figures measured. 3 of 3 published values agree with "
        "what was measured, within the tolerance of the table."
    )
    nothing = said(digest(complete=False, measured=0))
    assert nothing.headline == "interrupted with 0 of 2 tables and figures measured."


def test_answer_without_published_values(said):
    assert said(digest()).headline == (
        "2 tables and figures were measured, with nothing to compare with."
    )


def test_short_version_says_so(said):
    assert "A quick version" in said(digest(), quick=True).notes[1]
    assert "A quick version" not in " ".join(said(digest()).notes)


def test_all_studies_are_counted_together():
    found = Summary(["one", "two", "three"], 1, False, 2, report=Path("out/all/report.html"))
    found.digests = {
        "one": digest("one", ("holds",), near=8, far=1),
        "two": digest("two", ("contradicted",), near=1, far=1),
    }
    found.stayed = ["one"]
    about = every_page.answer(found)
    assert about.headline == (
        "9 of 11 published values agree with what was measured, within the tolerance of the "
        "table. 1 of 2 claims holds; 1 contradicted."
    )
    assert about.table.rows[-1] == ["together", "1 of 2", "1", "\N{EN DASH}", "9 of 11"]
    assert about.marks[0].text.startswith("Not everything is there: 2 of 3 studies are complete")
    assert about.notes[0] == "Complete before: one."
    assert max(map(len, text(about).splitlines())) <= 80


def test_answer_without_any_study():
    found = Summary(["one"], 1, False, 2)
    assert every_page.answer(found).headline == "nothing was measured."


def test_page_text_and_notebook_agree(tmp_path):
    found = reproduce.run("wang", tmp_path / "w", ["Table 13"], quick=True)
    assert "published values agree with what was measured" in " ".join(str(found).split())
    page = found.report.read_text("utf-8")
    assert "published values agree with what was measured, within the tolerance" in page
    assert page.count("<h1>") == 1
    assert "published values agree" in found._repr_html_()
    assert found.answer.table.title.startswith("Channel utilization")
