"""Stored cells are unchanged after writing and reading, and damaged ones are simulated again."""

from __future__ import annotations

import sqlite3

import numpy as np
import pyarrow as pa
import pytest

from nodeb.base.table import Table
from nodeb.errors import OutputError
from nodeb.storage.cells import CELLS, Store
from result_folders import SWEEP, content
from scenarios import SMALL


@pytest.fixture
def store(tmp_path):
    cells = Store(tmp_path)
    cells.open()
    table = Table({"run": np.arange(6) % 3, "x": np.linspace(0, 1, 6), "group": ["a", "b"] * 3})
    cells.save("one", '{"a": 1}', {"table": table, "empty": Table({"run": np.arange(0)})})
    yield cells
    cells.close()


def test_cell_survives_writing_and_reading(store):
    tables = store.load("one")
    assert list(tables) == ["table", "empty"]
    assert tables["table"]["x"].tolist() == np.linspace(0, 1, 6).tolist()
    assert tables["table"]["group"].tolist() == ["a", "b"] * 3
    assert len(tables["empty"]) == 0
    assert store.load("two") is None
    assert store.missing(["one", "two", "three"]) == 2


def test_saved_cell_is_there_for_the_next_process(store, tmp_path):
    store.save("one", "{}", {"table": Table({"x": [1, 2]})})
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == [CELLS]
    store.open()
    assert store.load("one")["table"]["x"].tolist() == [1, 2]


def test_other_programs_can_read_a_cell(store, tmp_path):
    store.close()
    with sqlite3.connect(tmp_path / CELLS) as database:
        ((scenario, stream),) = database.execute("SELECT scenario, tables FROM cells")
    database.close()
    assert scenario == '{"a": 1}'
    columns = pa.ipc.open_stream(stream).read_all()
    assert columns.column("table.group").to_pylist() == [["a", "b"] * 3]
    store.open()


def test_second_process_is_refused(store, tmp_path):
    with pytest.raises(OutputError, match=CELLS):
        Store(tmp_path).open()


def test_unwritable_store_names_its_file(tmp_path):
    (tmp_path / "file").touch()
    for folder in ("file", "none"):
        with pytest.raises(OutputError, match=f"{folder}/{CELLS}"):
            Store(tmp_path / folder).open()


def test_damaged_cell_is_simulated_again(call, tmp_path):
    (tmp_path / "s.toml").write_text(SMALL + SWEEP)
    assert call("sweep", "s.toml", "--out", "out")[0] == 0
    whole = (tmp_path / "out" / "sweep.parquet").read_bytes()
    database = sqlite3.connect(tmp_path / "out" / CELLS)
    cells = "(SELECT min(identity) FROM cells)"
    database.execute(f"UPDATE cells SET tables = substr(tables, 1, 99) WHERE identity = {cells}")
    database.commit()
    database.close()
    status, _, err = call("sweep", "s.toml", "--out", "out")
    assert (status, err) == (0, "")
    assert content(tmp_path / "out")["sweep.parquet"] == whole


def test_damaged_file_is_reported_with_the_remedy(call, tmp_path):
    (tmp_path / "s.toml").write_text(SMALL + SWEEP)
    assert call("sweep", "s.toml", "--out", "out")[0] == 0
    (tmp_path / "out" / CELLS).write_bytes(b"no database" * 1000)
    status, _, err = call("sweep", "s.toml", "--out", "out")
    assert status == 2
    assert f"out/{CELLS}" in err
    (tmp_path / "out" / CELLS).unlink()
    assert call("sweep", "s.toml", "--out", "out")[0] == 0
