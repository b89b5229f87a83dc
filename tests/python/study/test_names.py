"""Tests: the names of tables, claims and targets are checked before anything is measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import nodeb
import nodeb.reproduce
from nodeb import studies
from nodeb.errors import InputError
from nodeb.study import Study, at_most, change
from small_study import HIGH, LOW, TARGET, download, rate


def test_shapes_and_names_are_checked(study, work):
    of = rate.of(study.scenario(download))
    table = study.table("Table 1", "x", {LOW: {"a": of(LOW), "b": 5}}, "1\n2")
    with pytest.raises(InputError, match="Table 1"):
        table.measure(work)
    points = study.figure("Figure 1", "x", {"c": {LOW: of(LOW)}}, "y", printed={"d": {LOW: 1}})
    with pytest.raises(InputError, match="point"):
        points.measure(work)
    for declare, name in (
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


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ('each = 20\nunti = "kb/s"', "target `near`: unknown key `unti`; did you mean `unit`"),
        ("unit = 1", "target `near` needs exactly one of `each`"),
        ("each = 20\nleast = 3", "target `near` needs exactly one of `each`"),
        ('claims = ["fall"]', "target `near` names an unknown claim `fall`; did you mean `falls`"),
    ],
)
def test_targets_are_checked_before_measuring(file, counted, wrong, message):
    text = TARGET.replace('each = 20\nunit = "kb/s"', wrong)
    Path(file).with_suffix(".toml").write_text(text)
    with pytest.raises(InputError, match=message):
        nodeb.reproduce.run(file, Path(file).parent / "out")
    assert counted == []


def test_cell_has_the_unit_of_its_quantity(study, work):
    of = rate.of(study.scenario(download))
    rows = {LOW: {"rate": of(LOW), "change": change(of(LOW), of(HIGH))}}
    grid = study.table("Table 1", "x", rows, "100 -", near=5, runs=10).measure(work)
    first, second = grid
    assert (first.unit, second.unit, second.published) == ("kb/s", "%", None)
    assert first.tolerance.absolute == 5
    assert second.tolerance.absolute is None, "a tolerance is in the table's own unit"
    assert (first.expected.of, second.expected) == (10, None)
    assert (grid.corner, grid.rows, grid.columns) == ("BLER", ("1 %",), ("rate", "change"))


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
