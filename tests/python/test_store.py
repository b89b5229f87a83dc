"""Cells: what was kept comes back as it was, or counts as not there."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from conftest import SMALL
from nodeb.storage.folders import MARK
from nodeb.storage.store import Store
from nodeb.table import Table
from result_folders import SWEEP, content


@pytest.fixture
def store(tmp_path):
    cells = Store(tmp_path / "cells")
    cells.open()
    table = Table({"run": np.arange(6) % 3, "x": np.linspace(0, 1, 6), "group": ["a", "b"] * 3})
    cells.save("one", '{"a": 1}', table)
    return cells


def test_a_cell_comes_back_as_it_was(store):
    found = store.load("one")
    assert found is not None
    assert found["x"].tolist() == np.linspace(0, 1, 6).tolist()
    assert found["group"].tolist() == ["a", "b"] * 3
    assert (store.load("two"), store.damaged) == (None, [])


def test_wrong_bits_are_never_read_as_numbers(store):
    (file,) = store.folder.iterdir()
    intact, right, chance = file.read_bytes(), store.load("one"), random.Random(5)
    refused = 0
    for _ in range(1500):
        wrong = bytearray(intact)
        for _ in range(chance.randint(1, 3)):
            wrong[chance.randrange(len(wrong))] ^= 1 << chance.randrange(8)
        file.write_bytes(wrong)
        found = store.load("one")
        refused += found is None
        if found is not None:  # what was hit says nothing
            assert {k: found[k].tolist() for k in found.columns} == {
                k: right[k].tolist() for k in right.columns
            }
    assert refused > 1000
    assert store.damaged == [file]


def test_a_damaged_cell_is_told(call, tmp_path):
    file = tmp_path / "swept.toml"
    file.write_text(SMALL + SWEEP)
    assert call("sweep", file)[0] == 0
    intact = content(Path("out/swept"))
    cell = sorted(Path("out/swept/cells").iterdir())[0]
    cell.write_bytes(cell.read_bytes()[:-50])
    status, out, err = call("sweep", file)
    assert status == 0
    assert err == f"warning: {cell} was damaged; the cell was simulated again\n"
    assert "1 of them kept" in out
    assert {k: v for k, v in content(Path("out/swept")).items() if k != MARK} == {
        k: v for k, v in intact.items() if k != MARK
    }


def test_a_table_of_other_values_does_not_stay(call, tmp_path, monkeypatch):
    file = tmp_path / "swept.toml"
    file.write_text(SMALL + SWEEP)
    assert call("sweep", file)[0] == 0
    file.write_text(SMALL + SWEEP.replace("0.2", "0.3"))
    monkeypatch.setattr("nodeb.sweep.simulate.Filler.run", lambda _: 1 / 0)
    assert call("sweep", file)[0] == 1
    assert not Path("out/swept/sweep.parquet").exists()
    assert len(list(Path("out/swept/cells").iterdir())) == 2
