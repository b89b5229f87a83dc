"""Fixtures for tests of studies: a small study, its campaign, and a record of its simulations."""

from __future__ import annotations

import pytest

from nodeb.replication.cells import ReplicationWork
from nodeb.study import Study
from nodeb.study.campaign import Campaign
from small_study import FILE, campaign, study_of


@pytest.fixture
def study() -> Study:
    return study_of()


@pytest.fixture
def work(study, tmp_path) -> Campaign:
    return campaign(study, tmp_path)


@pytest.fixture
def counted(monkeypatch) -> list[range]:
    """Returns a list to which the replications of each simulation are appended."""
    calls: list[range] = []
    simulate = ReplicationWork.replicate

    def replicate(self, seed, runs, control):
        calls.append(runs)
        return simulate(self, seed, runs, control)

    monkeypatch.setattr(ReplicationWork, "replicate", replicate)
    return calls


@pytest.fixture
def file(tmp_path) -> str:
    path = tmp_path / "tiny.py"
    path.write_text(FILE.replace("DURATION", "100 s"))
    return str(path)
