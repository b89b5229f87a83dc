"""Tests: the names of tables and claims are checked before anything is measured."""

from __future__ import annotations

import sys

import pytest

import nodeb
import nodeb.reproduce
from nodeb import studies
from nodeb.errors import InputError
from nodeb.study import Study, at_most, change
from small_study import HIGH, LOW, download, rate


def test_shapes_and_names_are_checked(study):
    study.table("Table 1", "x", {LOW: {"a": 1, "b": 5}})
    for declare, name in (
        (lambda: study.table("Table 4", "x", {LOW: {"a": 1, "b": 5}}, "1\n2"), "Table 4"),
        (
            lambda: study.figure("Figure 1", "x", {"c": {LOW: 1}}, "y", printed={"d": {LOW: 1}}),
            "Figure 1",
        ),
        (lambda: study.figure("Table 1", "x", {"c": {LOW: 1}}, "y"), "`Table 1`"),
        (lambda: study.table("Table 2", "x", {}), "Table 2"),
        (lambda: study.table("Table 3", "x", {LOW: {"a": 1}, HIGH: {"b": 1}}), "columns"),
        (lambda: study.claim("1")(lambda: []), "statement"),
    ):
        with pytest.raises(InputError, match=name):
            declare()
    study.claim("1", "Table 4", name="a-claim", text="x")(lambda: [])
    with pytest.raises(InputError, match=r"`a-claim`.*`Table 4`"):
        study.check()


def test_terminal_output_is_checked(study):
    study.table("Table 1", "x", {LOW: {"a": 1, "b": 5}})
    study.show("x", "Table 1", ["b"])
    study.check()
    for table, columns, wrong in (("Table 1", ["b", "bb"], "`bb`"), ("Table 2", [], "`Table 2`")):
        study.show("x", table, columns)
        with pytest.raises(InputError, match=wrong):
            study.check()


def test_study_without_items_is_rejected_before_measuring(study, tmp_path):
    study.claim("1", text="x", name="x")(lambda: [at_most(1, 2)])
    with pytest.raises(InputError, match="no table and no figure"):
        nodeb.reproduce.run(study, tmp_path / "out")


def test_files_of_a_study_have_its_name(tmp_path):
    for name in ("my.py", "my.toml", "my_base.toml", "mysql.dump", "other_my.py"):
        (tmp_path / name).touch()
    found = Study(str(tmp_path / "my.py"), title="x").files()
    assert [one.name for one in found] == ["my.py", "my.toml", "my_base.toml"]


def test_cell_has_the_unit_of_its_quantity(study, work):
    of = rate.of(study.scenario(download))
    rows = {LOW: {"rate": of(LOW), "change": change(of(LOW), of(HIGH))}}
    cells = study.table("Table 1", "x", rows, "100 -", near=5, runs=10).measure(work)
    first, second = cells
    assert (first.unit, second.unit, second.published) == ("kb/s", "%", None)
    assert first.tolerance == 5
    assert second.tolerance is None, "a tolerance is in the table's own unit"
    assert (first.expected is None, second.expected) == (False, None)
    assert [(cell.row, cell.column) for cell in cells] == [("1 %", "rate"), ("1 %", "change")]


OWN = """
from nodeb.study import Study

study = Study(__file__, title={title})
study.table("Table 1", "Title", {{"row": {{"column": 1}}}})


def reduce(tables):
    return {{}}
"""


def test_helper_may_have_any_name(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "study_own", raising=False)
    (tmp_path / "study_own.py").write_text("TITLE = 'of the helper'\n", encoding="utf-8")
    text = "import study_own\n" + OWN.format(title="study_own.TITLE")
    (tmp_path / "own.py").write_text(text, encoding="utf-8")
    assert studies.load(str(tmp_path / "own.py")).title == "of the helper"


def test_files_of_one_name_are_different_modules(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    loaded = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.py").write_text(OWN.format(title=repr(folder)), encoding="utf-8")
        study = studies.load(str(tmp_path / folder / "own.py"))
        loaded += [one for one in sys.modules.values() if getattr(one, "study", None) is study]
    first, second = loaded
    assert first.reduce.__module__ != second.reduce.__module__
    assert sys.modules[first.reduce.__module__].study.title == "a"
