"""Tests of the replication engine: precision rules, batches, failures and earlier results."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nodeb.errors import RunError
from nodeb.replication.cells import Replicated
from nodeb.replication.engine import Single, Subject
from nodeb.replication.rules import count
from nodeb.reproduce import run
from nodeb.storage.folders import MARK
from scenarios import Fails


def test_more_replications_than_requested_are_accepted(small):
    subject = Subject(Fails(small, 9), count(3), ("five of them", 5))
    assert subject.stop is not None
    assert (subject.stop.runs, subject.done) == (3, 5)


@pytest.mark.parametrize("jobs", [1, 3])
def test_failing_replication_is_named(small, jobs):
    with pytest.raises(RunError, match=r"^replication 200 \(seed 1\) failed: something odd$"):
        Single(Replicated(Fails(small, 200), count(300)), 1, jobs, None, "").run()


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_precision_is_independent_of_jobs_and_batches(small, jobs, monkeypatch):
    wanted = small.with_(runs=3, max_runs=400).run(precision=0.02, jobs=1)
    # Batches are limited to 1 ns, so that each replication is a batch of its own.
    monkeypatch.setattr("nodeb.replication.pool.HERE_S", 1e-9)
    found = small.with_(runs=3, max_runs=400).run(precision=0.02, jobs=jobs)
    assert found.provenance.stopping == wanted.provenance.stopping
    assert found.provenance.runs == wanted.provenance.runs > 3
    for name, table in wanted.tables.items():
        for column in table.columns:
            np.testing.assert_array_equal(found.tables[name][column], table[column])


# --- Tests of resumed reproductions ---


def test_results_of_unselected_items_are_removed(tmp_path):
    folder = tmp_path / "out"
    run("wang", folder, ["Table 13", "Figure 12"], quick=True)
    assert list((folder / "figures").iterdir())
    run("wang", folder, ["Table 13"], quick=True)
    assert not (folder / "figures").exists()
    about = json.loads((folder / MARK).read_text())
    assert (about["items"], about["complete"]) == (["Table 13"], True)
