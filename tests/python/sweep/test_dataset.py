"""Tests of the dataset of a sweep: all its parts have the same columns, and it can be removed."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from nodeb.storage.folders import MARK
from nodeb.sweep import Sweep, dataset

BASE = """name = "small"
runs = 2
[[users]]
traffic.ftp.size = "5 kB"
"""
CHANNELS = """[sweep]
radio = [{ dch = {} }, { hs_dsch = {} }, { hsdpa = {} }]
wired.delay = ["20 ms", "50 ms", "80 ms"]
"""
COUNTS = """[sweep]
users.0.count = [1, 2]
wired.delay = ["20 ms", "50 ms", "80 ms"]
"""


def write(folder: Path, sweep: str, base: str = BASE) -> Path:
    path = folder / "s.toml"
    path.write_text(base + sweep, encoding="utf-8")
    return path


def made(folder: Path, sweep: str) -> Path:
    """Runs a sweep with a dataset, and returns the folder of the dataset."""
    Sweep.load(write(folder, sweep)).run(folder / "out", jobs=2, dataset=True)
    return folder / "out" / dataset.DATASET


def schemas(table: Path) -> list[list[tuple[str, str]]]:
    """Returns the names and types of the columns in each part of a table."""
    parts = [pq.ParquetFile(part).schema_arrow for part in sorted(table.glob("*.parquet"))]
    return [[(field.name, str(field.type)) for field in part] for part in parts]


@pytest.mark.parametrize("sweep", [CHANNELS, COUNTS])
def test_all_parts_of_a_table_have_the_same_columns(tmp_path, monkeypatch, sweep):
    whole = made(tmp_path, sweep)
    (tmp_path / "parts").mkdir()
    monkeypatch.setattr(dataset, "PART", 2)
    parts = made(tmp_path / "parts", sweep)
    tables = sorted(table.name for table in parts.iterdir())
    assert tables == sorted(table.name for table in whole.iterdir())
    for name in tables:
        found = schemas(parts / name)
        assert all(one == found[0] for one in found)
        wanted, there = ds.dataset(whole / name).to_table(), ds.dataset(parts / name).to_table()
        assert set(there.column_names) == set(wanted.column_names)
        assert there.select(wanted.column_names).to_pylist() == wanted.to_pylist()
    assert len(schemas(parts / "metrics")) >= 3


def test_missing_value_is_null(tmp_path):
    base = BASE.replace("[[users]]", "duration = '300 ms'\n[[users]]")
    plan = Sweep.load(write(tmp_path, "[sweep]\nwired.delay = ['5 ms', '900 ms']\n", base))
    plan.run(tmp_path / "out", jobs=1, dataset=True)
    found = ds.dataset(tmp_path / "out" / "dataset" / "metrics").to_table()
    late = [row for row in found.to_pylist() if row["cell"] == 1]
    assert [row["transfer_s"] for row in late] == [None, None]
    numbers = [v for row in found.to_pylist() for v in row.values() if isinstance(v, float)]
    assert numbers
    assert not any(value != value for value in numbers)


def test_resuming_without_the_option_keeps_a_matching_dataset(call, tmp_path):
    file, out = write(tmp_path, COUNTS), tmp_path / "out"
    assert call("sweep", file, "--out", out, "--dataset")[0] == 0
    before = {part: part.read_bytes() for part in (out / "dataset").rglob("*.parquet")}
    status, _, err = call("sweep", file, "--out", out, "--baseline", "wired.delay=50 ms")
    assert (status, err) == (0, "")
    assert before == {part: part.read_bytes() for part in (out / "dataset").rglob("*.parquet")}
    assert "dataset" in json.loads((out / MARK).read_text())["files"]
    status, _, err = call("sweep", file, "--out", out, "--dataset")
    assert (status, err) == (0, "")


@pytest.mark.parametrize("how", ["more", "fewer", "cells"])
def test_resuming_without_the_option_removes_an_outdated_dataset(call, tmp_path, how):
    file, out = write(tmp_path, COUNTS), tmp_path / "out"
    assert call("sweep", file, "--out", out, "--dataset")[0] == 0
    if how == "cells":
        write(tmp_path, COUNTS.replace('"80 ms"', '"90 ms"'))
    runs = {"more": 3, "fewer": 1, "cells": 2}[how]
    status, _, err = call("sweep", file, "--out", out, "--runs", runs)
    assert status == 0
    assert err.startswith(f"note: removed {out / 'dataset'}, which was of other cells or")
    assert err.count("\n") == 1
    mark = json.loads((out / MARK).read_text())
    assert not (out / "dataset").exists()
    assert {*mark["files"], MARK} == {entry.name for entry in out.iterdir()}
    assert "made_from" not in mark
    assert call("sweep", file, "--out", out, "--runs", runs)[2] == ""


def test_foreign_dataset_is_kept(call, tmp_path):
    file, out = write(tmp_path, COUNTS), tmp_path / "out"
    assert call("sweep", file, "--out", out)[0] == 0
    (out / "dataset").mkdir()
    (out / "dataset" / "mine.txt").write_text("mine")
    status, _, err = call("sweep", file, "--out", out, "--dataset")
    assert status == 2
    assert "holds `dataset`, which nodeb did not put there" in err
    assert (out / "dataset" / "mine.txt").read_text() == "mine"
