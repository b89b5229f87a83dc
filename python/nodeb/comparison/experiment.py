"""Simulates scenarios to compare; results are kept in a folder, so that later calls continue."""

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
from nodeb.comparison.labels import labels
from nodeb.errors import InputError, ScenarioError, writing
from nodeb.inputs.changes import key_of
from nodeb.inputs.columns import is_external
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
from nodeb.storage.cells import name_of
from nodeb.storage.files import csv_text, parquet
from nodeb.storage.folders import Owner
from nodeb.terminal.progress import ProgressCallback

SOURCE, TABLE, TEXT = "scenarios.json", "comparison.parquet", "comparison.csv"
CAUSES, CAUSES_TEXT = "causes.parquet", "causes.csv"
"""Files of the table of the causes of differences; they exist only if these were computed."""
DEFAULT_RUNS = 20
"""Minimum number of replications unless the caller gives another (`--runs`).

It also applies if a file requests fewer, because these may suffice for a mean, not a difference.
"""
FEW_RUNS = 10
"""With fewer replications, too many intervals miss a true difference that a rare event causes."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of `Experiment.run`: the comparison, its result tables, and its folder."""

    comparison: Comparison
    tables: Mapping[str, Tables]
    """Result tables of each scenario, by its label."""
    replications: int
    """Number of replications that this call simulated; 0 if the folder had all."""
    replaced: str | None
    """Description of the other results in the folder that were replaced; None if none were."""
    folder: Path
    """Results folder that was used."""
    beside: str | None
    """Reason, as a clause, why another than the intended folder was used; None if it was not."""


@dataclass(frozen=True)
class Experiment:
    """Plan to simulate and compare scenarios, the first of which is the baseline."""

    cells: list[Cell]
    scenarios: list[Scenario]
    """Scenarios, in the order of `cells`: those of the files, then the changed first file."""
    files: list[Path]
    """Scenario files in the order given, followed by all files that they name."""
    seed: int
    runs: int
    """Number of replications of each scenario."""
    notes: list[str]
    """Notes to print before the simulation, such as one on the number of replications."""

    @classmethod
    def read(
        cls,
        files: Sequence[Path],
        changes: Sequence[str] = (),
        settings: Sequence[str] = (),
        runs: int | None = None,
        seed: int | None = None,
    ) -> Experiment:
        """Reads scenario files and returns the plan to compare them.

        Args:
            files: file of the baseline, then those of scenarios to compare with it.
            changes: changes of the first file, each of which adds a scenario. A change is a setting
                `key.path=value`, or several separated by `;`.
            settings: changes of all scenarios, each `key.path=value`.
            runs: replications of each scenario; None for the largest number that a file requests,
                at least 20.
            seed: seed of the random streams; None for that of the first file.

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

        parts = [settings_of(change) for change in changes]
        found = [scenario(number) for number in range(len(files))]
        found += [scenario(0, *some) for some in parts]
        resolved = [one.planned(runs, None, seed) for one in found]
        plain = [one.without_recordings() for one in resolved]
        keys = [[key_of(part) for part in some] for some in parts]
        names = labels(files, changes, keys, [data for data, _ in plain])
        planned = list(zip(names, resolved, strict=True))
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
        for label, (data, recorded) in zip(names, plain, strict=True):
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
        """Returns warnings about valid but doubtful values in the scenarios.

        Each warning ends with the number of scenarios that have the value.
        """
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
            jobs: number of replications simulated in parallel, None for one per processor; or an
                `Executor` that simulates them.
            progress: called with the fraction done and a short text.
            force: whether results of another scenario or another command in the folder are
                replaced.
            beside: whether another folder next to `folder` is used if `folder` has such results.

        Raises:
            InputError: an argument is invalid.
            OutputError: the folder has results of another scenario or command, or cannot be
                written.
            RunError: a replication failed.
            Interrupted: the user pressed Ctrl-C; the same call continues with the missing
                replications.
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
            more = place.replaced, place.path, place.place.beside
            outcome = Outcome(found, known, filler.replications, *more)
            with writing(f"write results to {place.path}", outcome):
                place.finish(_files(found.table, TABLE, TEXT))
            return outcome

    def put_causes(self, outcome: Outcome, causes: Table) -> None:
        """Adds the table of the causes of differences to the folder that `run` has written.

        Args:
            outcome: outcome of `run`.
            causes: table of the causes.

        Raises:
            OutputError: the folder has other results by now, or cannot be written.
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
            (TABLE, TEXT, CAUSES, CAUSES_TEXT),
            source,
            force=force,
            beside=beside,
        )


def _files(table: Table, binary: str, text: str) -> dict[str, bytes]:
    rows = (row.values() for row in table)
    return {binary: parquet(table), text: csv_text(table.columns, rows).encode()}


def settings_of(change: str) -> list[str]:
    """Splits a change such as `KEY=VALUE; KEY=VALUE`; not at a `;` within quotes."""
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
    """Yields a note if `--runs` is below `FEW_RUNS`, or if more runs are used than a file
    requests.

    The second is yielded only without `--runs`.
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
    named = "runs" in tomllib.loads(text) or "runs" in map(key_of, settings)
    return scenario.runs if named else None
