"""Simulates compared scenarios and keeps results in a folder, from which a later call continues."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from nodeb.base.streams import printable
from nodeb.base.table import Table
from nodeb.base.units import in_s
from nodeb.comparison.differences import MARGIN, Comparison, Tables, check_margin, compare
from nodeb.errors import InputError, ScenarioError, writing
from nodeb.inputs.changes import key_of
from nodeb.inputs.places import is_external
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
"""Tables of the causes of differences, if these were computed."""
DEFAULT_RUNS = 20
"""Minimum number of replications unless the user sets one; fewer are enough for a mean alone."""
FEW_RUNS = 10
"""Number of replications below which `--runs` gets a note.

With fewer, intervals too rarely contain the true mean if it depends on a rare event.
"""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a comparison: differences, tables, results folder, and results replaced there."""

    comparison: Comparison
    tables: Mapping[str, Tables]
    """Tables of each scenario by label."""
    replications: int
    """Number of replications simulated by this call."""
    damaged: tuple[Path, ...]
    """Files of damaged cells, which were simulated again."""
    replaced: str | None
    """Description of replaced results of another scenario or command; None if there were none."""
    folder: Path
    """Results folder that was used; `beside` tells whether it is not the intended one."""
    beside: str | None
    """Content of the intended folder, as a sentence, if another folder was used; otherwise None."""


@dataclass(frozen=True)
class Experiment:
    """Simulation of scenarios to compare, the first of which is the baseline."""

    cells: list[Cell]
    scenarios: list[Scenario]
    """Scenarios of the cells: those of files before those with changes."""
    files: list[Path]
    """Scenario files, and the files that they name."""
    seed: int
    runs: int
    """Number of replications of each scenario."""
    notes: list[str]
    """Notes for the user, such as one on the number of replications."""

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
            files: baseline, and scenarios to compare with it.
            changes: settings of the first file, each of which adds a scenario; several keys are
                separated by `;`.
            settings: changes of all scenarios, each `key.path=value`.
            runs: replications of each scenario; None for the largest number that a file requests,
                at least 20.
            seed: seed of the random streams; None for the first file's.

        Raises:
            ScenarioError: a file is invalid; the message names line and key.
            InputError: another argument is invalid.
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
        most = max(DEFAULT_RUNS, *(one.runs for one in scenarios))
        used = (one.files(file.parent) for file, one in zip(files, scenarios, strict=False))
        named = {
            label: asked
            for text, (label, one) in zip(texts, planned, strict=False)
            if (asked := _runs_named(text, settings, one)) is not None
        }
        cells = []
        for label, one in planned:
            data, recorded = one.without_recordings()
            for number, group in enumerate(data["users"]):
                if is_external(group):
                    raise ScenarioError(
                        f"{label}: users.{number}: packets of these users come from outside, which "
                        "a run cannot supply; use `nodeb emulate`"
                    )
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
        """Returns warnings about valid but doubtful settings, each with its number of scenarios."""
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
        """Simulates the missing replications in a folder and compares the scenarios.

        Args:
            folder: results folder; existing replications are not simulated again.
            margin: equivalence margin, as a share of the baseline's mean.
            metrics: names of metrics to compare; empty for all.
            jobs: number of replications simulated in parallel, None for one per processor; or a
                `nodeb.Cluster` that simulates them.
            progress: called with the fraction done and a short text.
            force: replace results of another scenario or another command in the folder.
            beside: if the folder belongs to another owner, use the first free one next to it.

        Raises:
            InputError: an argument is invalid.
            OutputError: the folder belongs to another owner, or cannot be written.
            RunError: a replication failed.
            Interrupted: Ctrl-C; the same call continues from there.
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
            lasting = {
                cell.label: in_s(json.loads(cell.scenario)["duration"]) for cell in self.cells
            }
            found = compare(known, self.seed, margin, metrics, lasting)
            damaged = tuple(place.store.damaged)
            more = place.replaced, place.path, place.place.beside
            outcome = Outcome(found, known, filler.replications, damaged, *more)
            with writing(f"write results to {place.path}", outcome):
                place.finish(_files(found.table, TABLE, TEXT))
            return outcome

    def put_causes(self, outcome: Outcome, causes: Table) -> None:
        """Adds the causes of differences to the folder that `run` has written.

        Raises:
            OutputError: the folder belongs to another owner by now, or cannot be written.
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
    """Returns the contents of a table's Parquet file and CSV file, by file name."""
    rows = (row.values() for row in table)
    return {binary: parquet(table), text: csv_text(table.columns, rows).encode()}


def _settings(change: str) -> list[str]:
    """Returns the settings of `KEY=VALUE; KEY=VALUE`; a `;` within quotes does not separate them.

    Raises:
        InputError: a key does not change a simulation, such as `runs`, or is set twice.
    """
    parts = [part.strip() for part in re.findall(r"""(?:"[^"]*"|'[^']*'|[^;])+""", change)]
    for part in parts:
        if (key := key_of(part)) in NOT_SIMULATED:
            raise InputError(
                f"--with {part}: `{key}` is not part of the scenario; runs and seed are those "
                "of the whole comparison (--runs, --seed)"
            )
    if twice := [key for key, n in Counter(map(key_of, parts)).items() if n > 1]:
        raise InputError(f"--with {change}: `{twice[0]}` is set twice; leave one of them out")
    return parts


def _labels(files: Sequence[Path]) -> list[str]:
    """Returns names of scenarios: file names without suffix, or paths as given if two are equal.

    Raises:
        InputError: a path is given twice.
    """
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
        notes.append(
            f"the files have different seeds; pairs need the same seed, so {base.seed} is used"
        )
    if any(one.precision is not None for _, one in planned):
        notes.append("`precision` applies to a single scenario; a comparison uses --runs")
    return notes


def _notes_on_runs(named: Mapping[str, int], asked: int | None, taken: int) -> Iterator[str]:
    """Yields notes if there are more runs than a file requests, or too few for intervals.

    Args:
        named: number of replications by label of the file, for files that state `runs`.
        asked: number of replications given by `--runs`, if any.
        taken: number of replications that is used.
    """
    if asked is not None and asked < FEW_RUNS:
        yield (
            f"--runs {asked}: with fewer than {FEW_RUNS} pairs intervals often miss a difference "
            f"that a rare event makes; take {DEFAULT_RUNS} or more"
        )
    fewer = [f"{label} asks for {runs}" for label, runs in named.items() if runs < taken]
    if asked is None and fewer:
        yield (
            f"{taken} pairs of replications are simulated, as a difference needs more than a mean "
            f"(`runs`: {', '.join(fewer)}); --runs sets another number"
        )


def _runs_named(text: str, settings: Sequence[str], scenario: Scenario) -> int | None:
    """Returns the number of replications that a scenario's file or a setting states.

    Returns None if neither has the key `runs`.
    """
    named = "runs" in tomllib.loads(text) or "runs" in map(key_of, settings)
    return scenario.runs if named else None
