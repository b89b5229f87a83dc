"""Tests of reproductions with the real simulation core, as short as possible."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

import nodeb.reproduce


def measured(path: Path) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Returns published and measured value of each published cell, by (item, row, column)."""
    with (path / "cells.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["item"], row["row"], row["column"]): (
                float(row["published"]),
                float(row["measured"]),
            )
            for row in csv.DictReader(file)
            if row["published"]
        }


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    nodeb.reproduce.run("wang", folder, ["Table 8", "Table 12", "Table 13", "Table 14"])
    return folder


def test_small_files_match_the_published_values(small: Path) -> None:
    cells = measured(small)
    errors = [
        abs(value - published)
        for (item, _, _), (published, value) in cells.items()
        if item in ("Table 12", "Table 13", "Table 14")
    ]
    assert len(errors) == 27
    assert sum(errors) / len(errors) <= 0.7


def test_round_trips_grow_as_published(small: Path) -> None:
    published, value = measured(small)["Table 8", "HS-DSCH", "Difference"]
    assert abs(value - published) <= 1.5


def test_same_seed_gives_the_same_file_for_any_number_of_threads(tmp_path: Path) -> None:
    for jobs in (1, 2):
        nodeb.reproduce.run("wang", tmp_path / str(jobs), ["Table 14"], quick=True, jobs=jobs)
    texts = [(tmp_path / str(jobs) / "cells.csv").read_bytes() for jobs in (1, 2)]
    assert texts[0] == texts[1]


def test_different_seed_gives_different_numbers(tmp_path: Path) -> None:
    for seed in (1, 2):
        nodeb.reproduce.run("wang", tmp_path / str(seed), ["Table 14"], quick=True, seed=seed)
    texts = [(tmp_path / str(seed) / "cells.csv").read_bytes() for seed in (1, 2)]
    assert texts[0] != texts[1]


def test_whole_study_runs_in_the_short_version(tmp_path: Path, quick_wang: Path) -> None:
    shutil.copytree(quick_wang, tmp_path, dirs_exist_ok=True)
    outcome = nodeb.reproduce.run("wang", tmp_path, quick=True)
    assert all(cell.measured.known for cell in outcome.cells)
    assert len(outcome.claims) == len(outcome.study.claims)
