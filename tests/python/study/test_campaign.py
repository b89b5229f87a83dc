"""Tests of a campaign: number of replications, stored results, and failures."""

from __future__ import annotations

import pytest

import nodeb
import nodeb.reproduce
from nodeb.errors import InputError, RunError
from nodeb.replication.cells import ReplicationWork
from nodeb.study import Effort, metric
from nodeb.study.case import Settings
from small_study import BLER, HIGH, LOW, MIDDLE, SMALL, campaign, download, rate, runs


def test_replications_continue_until_the_precision_is_reached(study, work):
    exact = Effort(runs=4, max_runs=300, precision=0.02)
    cases = study.scenario(download, effort=exact)
    times = work.log(cases(HIGH)).stack("transfer_s").mean(axis=1)
    assert 4 < len(times) <= 300
    assert nodeb.stats.mean_interval(times).relative_half_width <= 0.02
    loose = study.scenario(download, effort=Effort(runs=5, max_runs=300, precision=9.0))
    assert len(work.log(loose(MIDDLE))) == 5


def test_number_of_threads_changes_no_result(study, tmp_path):
    cases = study.scenario(download, effort=Effort(runs=9, max_runs=60, precision=0.03))

    def measured(jobs):
        work = campaign(study, tmp_path / str(jobs), jobs=jobs)
        work.measure([cases(bler) for bler in BLER])
        return [rate.of(cases)(bler).estimate(work) for bler in BLER]

    (tmp_path / "1").mkdir(), (tmp_path / "5").mkdir()
    assert measured(1) == measured(5)


def test_failures_name_the_scenario(study, work, monkeypatch):
    wrong = study.scenario(lambda bler: download(bler).with_({"wired.dealy": "1 s"}))
    with pytest.raises(InputError, match=r"the scenario of 1 %: .*dealy"):
        work.log(wrong(LOW))
    monkeypatch.setattr(ReplicationWork, "replicate", lambda *_: 1 / 0)
    with pytest.raises(RunError, match=r"the scenario of 40 %, 20 kB.*failed: division"):
        work.log(study.scenario(download)(HIGH, SMALL))


def test_reduction_is_kept_instead_of_series(study, tmp_path, counted):
    from reductions import moments

    cases = study.scenario(lambda bler: download(bler).with_({"record.cwnd": True}), reduce=moments)
    largest = metric("packets")(lambda m: m.windows[..., 1])

    def measured():
        work = campaign(study, tmp_path, settings=Settings(warm_up_s=0.5))
        return largest.of(cases)(LOW).estimate(work), work

    found, work = measured()
    assert found.value > 2
    assert "cwnd" not in work.log(cases(LOW))._tables
    assert (measured()[0], runs(counted)) == (found, 8), "the second was kept"
