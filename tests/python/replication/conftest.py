"""Fixtures for tests of replications: clusters and sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clusters import SWEEP, Processes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory):
    """Yields a cluster with a scheduler and two workers.

    Tests share it and must not stop its processes.
    """
    found = Processes(tmp_path_factory.mktemp("cluster"), 2)
    yield found
    found.close()


@pytest.fixture
def own_cluster(tmp_path):
    """Yields a cluster with a scheduler and two workers, whose processes the test may kill."""
    (tmp_path / "cluster").mkdir()
    found = Processes(tmp_path / "cluster", 2)
    yield found
    found.close()


@pytest.fixture
def grid(tmp_path):
    """Returns a function that writes a sweep with three cells for each of `steps` error rates."""

    def write(steps: int, runs: int = 3, size: str = "20 kB") -> Path:
        file = tmp_path / f"grid-{steps}-{runs}.toml"
        file.write_text(SWEEP.format(steps=steps, runs=runs, size=size))
        return file

    return write
