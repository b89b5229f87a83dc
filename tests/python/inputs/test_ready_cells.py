"""Tests of the ready cells, as files of commands and of Python."""

import re

import pytest

import nodeb
from nodeb.inputs import cells


@pytest.mark.parametrize("name", cells.names())
def test_cell_runs_and_its_alternative_is_another_scenario(name, call):
    status, out, _ = call("run", f"cell:{name}", "--runs", 1, "--set", "duration=6 s")
    assert (status, f"out/{name} has the tables" in out) == (0, True)
    scenario = nodeb.load(f"cell:{name}")
    assert scenario.warnings() == []
    for change in re.findall("^# B: (.+)$", cells.text(name), re.M):
        key, _, value = change.partition(" = ")
        other = nodeb.load(f"cell:{name}", [f"{key}={value}"])
        assert other.compiled().to_bare_json() != scenario.compiled().to_bare_json()


def test_new_prints_a_cell_that_is_listed(call, tmp_path):
    _, listed, _ = call("list", "cells")
    assert set(cells.names()) == set(re.findall(r"^([a-z]\S+-?\S*)  ", listed, re.M)) - {"cell"}
    _, text, _ = call("new", "lte-edge")
    (tmp_path / "my.toml").write_text(text)
    assert call("validate", "my.toml")[:2] == (0, "my.toml: valid (a phone at the cell edge)\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "cell:lte-edeg"], "did you mean `lte-edge`?"),
        (["new", "lte-edeg"], "did you mean `lte-edge`?"),
        (["run", "lte-edge"], "did you mean `cell:lte-edge`?"),
        (["run", "smal"], "did you mean `small.toml`?"),
        (["run", "nope.toml"], "`nodeb list cells`"),
        (["explain", "examples/lte-cell.toml"], "`examples` is in the source folder of nodeb"),
        (["link", "run", "examples/link/a.toml"], "`nodeb link schema`"),
    ],
)
def test_similar_names_are_suggested(arguments, expected, call, scenario_file):
    status, _, err = call(*arguments)
    assert status == 2
    assert expected in err
