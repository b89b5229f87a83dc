"""Simulates scenarios that are compared; what finished is kept in a folder, and gone on with."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from nodeb.base.streams import printable
from nodeb.base.table import Table
from nodeb.comparison.differences import MARGIN, Comparison, Tables, check_margin, compare
from nodeb.errors import InputError, writing
from nodeb.inputs.changes import key_of
from nodeb.inputs.reading import read_text
from nodeb.inputs.scenario import Scenario
from nodeb.replication.cells import (
    NOT_SIMULATED,
    Cell,
    CellSimulator,
    load_complete,
    simulated,
    warnings,
)
from nodeb.replication.folder import CellFolder
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.results.metrics import chosen
from nodeb.results.provenance import origin
from nodeb.storage.files import csv_text, parquet
from nodeb.storage.folders import Owner
from nodeb.storage.store import name_of
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Experiment", "Outcome"]

SOURCE, TABLE, TEXT = "scenarios.json", "comparison.parquet", "comparison.csv"
CAUSES, CAUSES_TEXT = "causes.parquet", "causes.csv"
"""What the differences are made of, where somebody has found out."""
LEAST_RUNS = 20
"""Replications where nobody asks for a number: a difference needs more of them than a mean."""
FEW_RUNS = 10
"""Replications below which intervals cover too seldom where a rare event makes the difference."""


@dataclass(frozen=True)
class Outcome:
    """What became of a comparison."""

    comparison: Comparison
    tables: Mapping[str, Tables]
    """The tables of each scenario by its label."""
    replications: int
    """Replications that were simulated now."""
    damaged: tuple[Path, ...]
    """Cells that were damaged, and simulated again."""
    replaced: str | None
    """What of another scenario or command was in the folder and was replaced."""
    folder: Path
    """Where the results are."""
    beside: str | None
    """What stands where they were to go, as a sentence; None if nothing."""


@dataclass(frozen=True)
class Experiment:
    """Scenarios to be compared, the first of which is the baseline."""

    cells: list[Cell]
    scenarios: list[Scenario]
    """These, the files' before those with changes."""
    files: list[Path]
    """Where they come from, with the files that they name."""
    seed: int
    runs: int
    """Replications of each."""
    notes: list[str]
    """What whoever asks for it should know."""

    @classmethod
    def read(
        cls,
        files: Sequence[Path],
        changes: Sequence[str] = (),
        settings: Sequence[str] = (),
        runs: int | None = None,
        seed: int | None = None,
    ) -> Experiment:
        """Reads scenario files.

        Args:
            files: the baseline, and what is compared with it.
            changes: settings of the first file, each of which makes one scenario more; several
                keys are separated by `;`.
            settings: changes of all of them, each `key.path=value`.
            runs: replications of each; None takes the most that a file asks for, and 20 at least.
            seed: seed of the random streams; None takes the first file's.

        Raises:
            ScenarioError: a file is wrong; the message names line and key.
            InputError: another argument makes no sense.
        """
        if any(not change.strip("; ") for change in changes):
            raise InputError("--with is empty; give a change, as in `--with wired.loss=0.01`")
        if len(files) + len(changes) < 2:
            raise InputError(
                "there is nothing to compare with; give a second file, or a change of the first, "
                "as in `--with wired.loss=0.01`"
            )
        texts = [read_text(file) for file in files]

        def scenario(number: int, *more: str) -> Scenario:
            file = files[number]
            return Scenario.from_toml(
                texts[number], printable(str(file)), [*settings, *more], file.parent
            )

        found = [(label, scenario(number)) for number, label in enumerate(_labels(files))]
        found += [(change, scenario(0, *_settings(change))) for change in changes]
        planned = [(label, one.planned(runs, None, seed)) for label, one in found]
        scenarios = [one for _, one in planned]
        first = scenarios[0]
        most = max(LEAST_RUNS, *(one.runs for one in scenarios))
        used = (one.files(file.parent) for file, one in zip(files, scenarios, strict=False))
        named = {
            label: asked
            for text, (label, one) in zip(texts, planned, strict=False)
            if (asked := _runs_named(text, settings, one)) is not None
        }
        cells = []
        for label, one in planned:
            data, recorded = one.without_recordings()
            cells.append(Cell(label, simulated(data), recorded))
        return cls(
            cells,
            scenarios,
            [*files, *chain.from_iterable(used)],
            first.seed,
            first.runs if runs is not None else most,
            [*_notes(planned, cells), *_notes_on_runs(named, runs, most)],
        )

    def warnings(self) -> list[str]:
        """What is allowed and still doubtful, each with the number of scenarios."""
        return warnings(self.cells, "scenarios")

    def run(
        self,
        folder: Path,
        margin: float = MARGIN,
        metrics: Sequence[str] = (),
        jobs: Jobs | None = None,
        progress: ProgressCallback | None = None,
        *,
        force: bool = False,
        beside: bool = False,
    ) -> Outcome:
        """Simulates what is missing in a folder and compares.

        Args:
            folder: where results go; replications that are there are not simulated again.
            margin: share of the baseline's mean within which two are the same.
            metrics: only these; empty for all.
            jobs: replications simulated at a time; None takes one per processor; or a
                `nodeb.Cluster` that simulates them.
            progress: called with the fraction done and a few words.
            force: replace results of another scenario or another command in the folder.
            beside: where the folder belongs to another, take the first free one beside it.

        Raises:
            InputError: an argument makes no sense.
            OutputError: the folder belongs to another, or cannot be written.
            RunError: a replication failed.
            Interrupted: Ctrl-C; the same call goes on from there.
        """
        check_margin(margin)
        chosen(metrics)
        workers = check_jobs(jobs)
        with self._claim(folder, force, beside) as place:
            filler = CellSimulator(
                self.cells, self.seed, self.runs, place.store, workers, progress, "scenarios"
            )
            filler.run()
            known = {
                cell.label: load_complete(cell, self.seed, self.runs, place.store)[0]
                for cell in self.cells
            }
            found = compare(known, self.seed, margin, metrics)
            damaged = tuple(place.store.damaged)
            more = place.replaced, place.path, place.place.beside
            outcome = Outcome(found, known, filler.replications, damaged, *more)
            with writing(f"write results to {place.path}", outcome):
                place.finish(_files(found.table, TABLE, TEXT))
            return outcome

    def put_causes(self, outcome: Outcome, causes: Table) -> None:
        """Puts what the differences are made of beside them, in the folder that `run` has filled.

        Raises:
            OutputError: the folder belongs to another by now, or cannot be written.
        """
        with self._claim(outcome.folder) as place:
            results = _files(outcome.comparison.table, TABLE, TEXT)
            place.finish(results | _files(causes, CAUSES, CAUSES_TEXT))

    def _claim(self, folder: Path, force: bool = False, beside: bool = False) -> CellFolder:
        scenarios = {cell.label: json.loads(cell.scenario) for cell in self.cells}
        about = {
            "scenarios": list(scenarios),
            "seed": self.seed,
            "runs": self.runs,
            **origin(),
        }
        first = self.cells[0]
        recorded = [one.digest() for one in first.recorded]
        made_of = name_of({"scenario": first.scenario, "recorded": recorded, "seed": self.seed})
        owner = Owner("comparison", self.files[0].name, made_of=made_of)
        source = SOURCE, f"{json.dumps(scenarios, indent=2)}\n"
        return CellFolder(
            folder,
            owner,
            about,
            source,
            (TABLE, TEXT, CAUSES, CAUSES_TEXT),
            force=force,
            inputs=self.files,
            beside=beside,
        )


def _files(table: Table, binary: str, text: str) -> dict[str, bytes]:
    """A table for programs, and for people."""
    rows = (row.values() for row in table)
    return {binary: parquet(table), text: csv_text(table.columns, rows).encode()}


def _settings(change: str) -> list[str]:
    """The settings of `KEY=VALUE; KEY=VALUE`; a `;` between quotes is none of these.

    Raises:
        InputError: one is about what all scenarios of a comparison share.
    """
    parts = [part.strip() for part in re.findall(r"""(?:"[^"]*"|'[^']*'|[^;])+""", change)]
    for part in parts:
        if (key := key_of(part)) in NOT_SIMULATED:
            raise InputError(
                f"--with {part}: `{key}` is no part of what is simulated; runs and seed are those "
                "of the whole comparison (--runs, --seed)"
            )
    return parts


def _labels(files: Sequence[Path]) -> list[str]:
    """What scenarios are called: their files' names without suffix, or whole if two are equal."""
    stems = [file.stem for file in files]
    labels = stems if len(set(stems)) == len(stems) else [str(file) for file in files]
    labels = [*map(printable, labels)]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InputError(f"{twice} is given twice")
    return labels


def _notes(planned: Sequence[tuple[str, Scenario]], cells: Sequence[Cell]) -> list[str]:
    first, base = cells[0], planned[0][1]
    notes = [
        f"{cell.label} is the same scenario as {first.label}"
        for cell in cells[1:]
        if cell.scenario == first.scenario
    ]
    seeds = {one.seed for _, one in planned}
    if len(seeds) > 1:
        notes.append(f"the files have different seeds; pairs need one, and {base.seed} is taken")
    if any(one.precision is not None for _, one in planned):
        notes.append("`precision` is of a single scenario; a comparison takes --runs")
    return notes


def _notes_on_runs(named: Mapping[str, int], asked: int | None, taken: int) -> Iterator[str]:
    """Reports runs that are more than the files ask for, or fewer than intervals need.

    Args:
        named: the number that each file asks for, by its label; without those that name none.
        asked: the number that `--runs` gives, if it does.
        taken: the number that is taken.
    """
    if asked is not None and asked < FEW_RUNS:
        yield (
            f"--runs {asked}: with fewer than {FEW_RUNS} pairs intervals often miss a difference "
            f"that a rare event makes; take {LEAST_RUNS} or more"
        )
    fewer = [f"{label} asks for {runs}" for label, runs in named.items() if runs < taken]
    if asked is None and fewer:
        yield (
            f"{taken} pairs of replications are simulated, as a difference needs more than a mean "
            f"(`runs`: {', '.join(fewer)}); --runs sets another number"
        )


def _runs_named(text: str, settings: Sequence[str], scenario: Scenario) -> int | None:
    """Returns the runs that a file or a setting asks for; None if neither does."""
    named = "runs" in tomllib.loads(text) or "runs" in map(key_of, settings)
    return scenario.runs if named else None
