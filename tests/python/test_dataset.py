"""The dataset of a sweep: what its parts have in common, and when it stays."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import nodeb
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
    """The dataset of a sweep."""
    Sweep.load(write(folder, sweep)).run(folder / "out", jobs=2, dataset=True)
    return folder / "out" / dataset.DATASET


def schemas(table: Path) -> list[list[tuple[str, str]]]:
    """Names and types of the columns of each part."""
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


def test_what_has_no_value_is_null(tmp_path):
    base = BASE.replace("[[users]]", "duration = '300 ms'\n[[users]]")
    plan = Sweep.load(write(tmp_path, "[sweep]\nwired.delay = ['5 ms', '900 ms']\n", base))
    plan.run(tmp_path / "out", jobs=1, dataset=True)
    found = ds.dataset(tmp_path / "out" / "dataset" / "metrics").to_table()
    late = [row for row in found.to_pylist() if row["cell"] == 1]
    assert [row["transfer_s"] for row in late] == [None, None]
    numbers = [v for row in found.to_pylist() for v in row.values() if isinstance(v, float)]
    assert numbers
    assert not any(value != value for value in numbers)
