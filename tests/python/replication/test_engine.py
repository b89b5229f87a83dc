"""Tests of the replication engine: precision rules, batches, failures and earlier results."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeb import _core
from nodeb.errors import RunError
from nodeb.replication.cells import Replicated
from nodeb.replication.engine import Single, Subject
from nodeb.replication.rules import RATES, Count, Sequential, mean_rates
from nodeb.reproduce import run
from nodeb.stats import Precision, Stop, mean_interval
from nodeb.storage.folders import MARK
from scenarios import Fails

VALUES = st.lists(
    st.one_of(st.floats(1e3, 2e3), st.floats(1.0, 1e6), st.just(0.0), st.just(5.0)), max_size=60
)


def one_by_one(rule: Precision, application: list[float], received: list[float]) -> Stop | None:
    """Returns the decision of a precision rule that judges after every single replication."""
    for n in range(len(received) + 1):
        everybody = all(np.isfinite(application[:n]))
        values, name = (application, RATES[0]) if everybody else (received, RATES[1])
        if (found := rule.judge(values[:n], name)) is not None:
            return found
    return None


@given(VALUES, st.integers(0, 80), st.floats(0.001, 0.9), st.integers(2, 12), st.randoms())
def test_precision_rule_is_independent_of_batching(values, lost, relative, least, chance):
    rule = Precision(relative, least, least + 30)
    application = [np.nan if n == lost else 2 * value for n, value in enumerate(values)]
    batches = Sequential(rule, lambda part: part)
    at = 0
    while at < len(values):
        size = chance.randint(1, 20)
        part = slice(at, at + size)
        batches.take((np.array(application[part]), np.array(values[part])), size)
        at += size
    assert batches.stop() == one_by_one(rule, application, values)


def test_precision_rule_reads_each_value_a_bounded_number_of_times(monkeypatch):
    judged = []
    real = Precision.judge

    def judge(self, values, mean="mean"):
        judged.append(len(values))
        return real(self, values, mean)

    monkeypatch.setattr(Precision, "judge", judge)
    chance = np.random.default_rng(1)
    rule = Sequential(Precision(0.005, 10, 50_000), lambda part: part)
    while rule.stop() is None:
        part = chance.normal(10.0, 5.0, 100)
        rule.take((part, part), 100)
    stop = rule.stop()
    assert stop is not None
    assert stop.reached
    assert stop.runs > 30_000
    assert len(judged) < stop.runs / 100


def test_expected_replications_follow_the_last_half_width():
    rule = Sequential(Precision(0.01, 5, 1000), lambda part: part)
    assert (rule.ahead(), rule.expected()) == (5, 1000)
    part = np.array([9.0, 11.0] * 10)
    rule.take((part, part), 20)
    exact = math.ceil(20 * (mean_interval(part).relative_half_width / 0.01) ** 2)
    assert rule.expected() == rule.ahead() == exact


def test_rates_of_a_batch_are_computed_per_replication(small):
    crowd = small.with_(**{"users.0.count": 37}).compiled()
    many = mean_rates(crowd.run_many(3, 0, 6, _core.Control()))
    single = [crowd.run_many(3, at, 1, _core.Control()) for at in range(6)]
    for place, name in enumerate(("application_bps", "received_bps")):
        expected = [float(np.mean(np.asarray(one["flows"][name]))) for one in single]
        assert many[place].tolist() == expected


def test_more_replications_than_requested_are_accepted(small):
    subject = Subject(Fails(small, 9), Count(3), ("five of them", 5))
    assert subject.stop is not None
    assert (subject.stop.runs, subject.done) == (3, 5)


@pytest.mark.parametrize("jobs", [1, 3])
def test_failing_replication_is_named(small, jobs):
    with pytest.raises(RunError, match=r"^replication 200 \(seed 1\) failed: something odd$"):
        Single(Replicated(Fails(small, 200), Count(300)), 1, jobs, None, "").run()


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
