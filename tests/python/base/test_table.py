"""Tests: arrays that tables return are read-only and are not copied."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import nodeb
from nodeb import link
from nodeb.base.table import Table
from nodeb.sweep import Sweep
from scenarios import SMALL


def tables_of_run(folder):
    every = "cwnd = true, segments = true, rtt = true, queue = true"
    result = nodeb.Scenario.from_toml(f"record = {{ {every} }}\n{SMALL}").run(runs=3)
    more = result.explain(), result.compare(result)
    tables = [*result.tables.values(), *pickle.loads(pickle.dumps(result.tables)).values()]
    return [*tables, result.summary, more[0].table, more[0].spans, more[1].table]


def tables_of_sweep(folder):
    (folder / "s.toml").write_text(SMALL + '\n[sweep]\n"radio.dch.bler" = [0.1, 0.2]\n')
    return [Sweep.load(folder / "s.toml").run(folder / "swept", ["radio.dch.bler=0.1"]).table]


def tables_of_link(folder):
    stop = {"bits": 3000}
    return [link.Experiment(service="costamagna_64", eb_n0_db=[5], stop=stop).run(jobs=1).points]


@pytest.mark.parametrize("of", [tables_of_run, tables_of_sweep, tables_of_link])
def test_returned_arrays_are_read_only(of, tmp_path):
    for table in of(tmp_path):
        for part in (table, table.where(np.ones(len(table), bool))):
            for name in part.columns:
                column = part[name]
                with pytest.raises(ValueError, match="read-only"):
                    column[...] = column.copy()


def test_changing_a_column_changes_no_result():
    result = nodeb.Scenario.from_toml(SMALL).run(runs=3)
    times = result.flows["download_s"]
    with pytest.raises(ValueError, match="read-only"):
        times *= 1000
    assert max(row["mean"] for row in result.summary if row["metric"] == "download_s") < 100
    frame = result.flows.to_pandas()
    frame.loc[0, "download_s"] = 1.0
    assert result.flows["download_s"][0] != 1.0


def test_protection_copies_no_array():
    mine = np.arange(5.0)
    table = Table({"a": mine})
    assert np.shares_memory(table["a"], mine)
    assert mine.flags.writeable
    assert not pickle.loads(pickle.dumps(table))["a"].flags.owndata
