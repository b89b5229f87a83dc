"""Stored cells are unchanged after writing and reading, and damaged cells count as missing."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

from nodeb.base.table import Table
from nodeb.errors import OutputError
from nodeb.storage.folders import MARK
from nodeb.storage.store import Store
from result_folders import SWEEP, content
from scenarios import SMALL


@pytest.fixture
def store(tmp_path):
    cells = Store(tmp_path / "cells")
    cells.open()
    table = Table({"run": np.arange(6) % 3, "x": np.linspace(0, 1, 6), "group": ["a", "b"] * 3})
    cells.save("one", '{"a": 1}', {"table": table, "empty": Table({"run": np.arange(0)})})
    return cells


def test_unwritable_store_is_reported(store, tmp_path):
    (tmp_path / "file").touch()
    for inside in (Store(tmp_path / "file" / "cells"), Store(tmp_path / "none" / "cells")):
        with pytest.raises(OutputError, match=r"^cannot write results to .*cells: n"):
            inside.open()
        with pytest.raises(OutputError, match=r"^cannot write results to .*cells: n"):
            inside.save("one", "{}", {"table": Table({"run": [0]})})


def test_cell_survives_writing_and_reading(store):
    found = store.load("one")
    assert found is not None
    assert list(found) == ["table", "empty"]
    assert found["table"]["x"].tolist() == np.linspace(0, 1, 6).tolist()
    assert found["table"]["group"].tolist() == ["a", "b"] * 3
    assert len(found["empty"]) == 0
    assert (store.load("two"), store.damaged) == (None, [])


def test_damaged_bits_are_never_read_as_numbers(store):
    (file,) = store.folder.iterdir()
    intact, chance = file.read_bytes(), random.Random(5)
    for _ in range(1500):
        wrong = bytearray(intact)
        for _ in range(chance.randint(1, 3)):
            wrong[chance.randrange(len(wrong))] ^= 1 << chance.randrange(8)
        file.write_bytes(wrong)
        assert wrong == intact or store.load("one") is None
    assert store.damaged == [file]


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 500])
def test_truncated_file_counts_as_missing(store, length):
    (file,) = store.folder.iterdir()
    file.write_bytes(file.read_bytes()[:length])
    assert store.load("one") is None


def test_cell_under_another_name_counts_as_missing(store):
    (file,) = store.folder.iterdir()
    file.rename(file.with_stem("two"))
    assert store.load("two") is None


def test_other_users_can_read_a_cell(store):
    (file,) = store.folder.iterdir()
    stream = pa.ipc.open_stream(file.read_bytes()).read_all()
    assert stream.column("table.group").to_pylist() == [["a", "b"] * 3]


def test_damaged_cell_is_reported(call, tmp_path):
    file = tmp_path / "swept.toml"
    file.write_text(SMALL + SWEEP)
    assert call("sweep", file)[0] == 0
    intact = content(Path("out/swept-swept"))
    cell = sorted(Path("out/swept-swept/cells").iterdir())[0]
    cell.write_bytes(cell.read_bytes()[:-50])
    status, out, err = call("sweep", file)
    assert status == 0
    assert err == f"warning: {cell} was damaged and was simulated again\n"
    assert "1 was there already" in out
    assert {k: v for k, v in content(Path("out/swept-swept")).items() if k != MARK} == {
        k: v for k, v in intact.items() if k != MARK
    }


def test_outdated_table_is_removed(call, tmp_path, monkeypatch):
    file = tmp_path / "swept.toml"
    file.write_text(SMALL + SWEEP)
    assert call("sweep", file)[0] == 0
    file.write_text(SMALL + SWEEP.replace("0.2", "0.3"))
    monkeypatch.setattr("nodeb.replication.cells.CellSimulator.run", lambda _: 1 / 0)
    assert call("sweep", file)[0] == 1
    assert not Path("out/swept-swept/sweep.parquet").exists()
    assert len(list(Path("out/swept-swept/cells").iterdir())) == 2
