"""A sweep: read from a scenario file, simulated, and written to a table."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nodeb import _core
from nodeb.answer.answering import Answering
from nodeb.base.arguments import as_path
from nodeb.base.streams import printable
from nodeb.base.table import Table
from nodeb.base.units import in_s
from nodeb.comparison.differences import MARGIN, check_margin
from nodeb.errors import InputError, ScenarioError, writing
from nodeb.inputs.changes import key_of
from nodeb.inputs.keys import toml_value
from nodeb.inputs.parts import plain
from nodeb.inputs.reading import document, read_text
from nodeb.replication.cells import Cell, CellSimulator, identity, load_complete, warnings
from nodeb.replication.folder import CellFolder
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.results.metrics import chosen
from nodeb.results.provenance import origin
from nodeb.stats import Precision
from nodeb.storage.cells import Tables
from nodeb.storage.files import csv_text, parquet
from nodeb.storage.folders import Mark, Owner
from nodeb.sweep.axes import Axis, Reader
from nodeb.sweep.cells import Cells, base, read
from nodeb.sweep.dataset import DATASET, write
from nodeb.sweep.results import COVERED, Against, Baseline, Metrics, against, results, shown_metric
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    from nodeb.answer import Answer
    from nodeb.inputs.scenario import Scenario

SOURCE, TABLE, TEXT = "sweep.toml", "sweep.parquet", "sweep.csv"


@dataclass(frozen=True)
class Outcome(Answering):
    """Outcome of a sweep: the table, the folder, and counts of simulated and kept cells."""

    plan: Sweep
    """The sweep that was run."""
    table: Table
    """One row per cell and group; see `nodeb.sweep.results.results`."""
    metric: str
    """Metric that answers show; the table contains all metrics."""
    cells: Sequence[int]
    """Index of the cell of each row of the table."""
    open: _core.Unfinished
    """Unfinished transfers of all cells together."""
    file: Path
    """Parquet file of the table."""
    simulated: int
    """Number of cells simulated by this call."""
    kept: int
    """Number of cells whose stored replications were complete before this call."""
    replications: int
    """Number of replications simulated by this call."""
    replaced: str | None = None
    """Results of another scenario or command in the folder that were replaced."""
    dropped: tuple[str, ...] = ()
    """Files of the folder that no longer match the cells and were removed."""
    beside: str | None = None
    """Content of the intended folder, as a sentence, if another folder was used; otherwise None."""
    against: Against | None = None
    """Comparison of the cells with the baseline, if there is one."""

    @property
    def duration_s(self) -> float:
        """Duration of a run of the first cell, s."""
        return in_s(json.loads(self.plan.cells[0].scenario)["duration"])

    @property
    def answer(self) -> Answer:
        """Answer that printing the outcome shows: a table of one metric."""
        from nodeb.sweep.answer import answer

        return answer(self)

    def __repr__(self) -> str:
        cells = self.simulated + self.kept
        return f"<Outcome {self.plan.name!r}: {cells} cells, {self.kept} of them kept>"


@dataclass(frozen=True)
class Sweep:
    """A sweep, read from a scenario file with a `[sweep]` table and ready to be run."""

    file: Path
    """The scenario file."""
    text: str
    """Text of the scenario file."""
    name: str
    """Name of the scenario."""
    axes: list[Axis]
    """Swept axes: first one for each separate key, then one for each `[[sweep.together]]`."""
    cells: Cells
    """All combinations of the swept values; the last axis changes fastest."""
    base: dict[str, Any]
    """Part of the scenario that all cells have in common."""
    seed: int
    """Seed of all random streams, the same for all cells."""
    stop: int | Precision
    """Number of replications of each cell, or a stopping rule."""

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        settings: Sequence[str] = (),
        runs: int | None = None,
        precision: float | None = None,
        seed: int | None = None,
        *,
        text: str | None = None,
    ) -> Self:
        """Reads a sweep and checks every cell.

        Args:
            path: a scenario file with a `[sweep]` table.
            settings: changes of the base scenario, each `key.path=value`.
            runs: number of replications of each cell; None for the file's number and `precision`.
            precision: relative 95 % half-width to reach for each cell's mean bit rate, instead of a
                number of replications; None for the file's `precision`, if any.
            seed: seed of the random streams; None for the file's.
            text: content of the file, if it has been read already.

        Raises:
            ScenarioError: the file is invalid; the message names line and key.
            InputError: another argument is invalid.
        """
        text, file = text or read_text(as_path(path, "path")), printable(str(path))
        data = document(text, file)
        if (table := data.get("sweep")) is None:
            raise ScenarioError(
                f"{file}: there is no [sweep] table that says what to vary; "
                "`nodeb run` simulates a single scenario"
            )
        axes = Reader(text, file).axes(table)
        _check_not_swept(settings, axes)
        cells, first = read(text, file, axes, settings)
        plan, common = first.planned(runs, precision, seed), base(data, text, file, settings)
        stop = plan.stopping_rule()
        return cls(Path(path), text, plan.name, axes, cells, common, plan.seed, stop)

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        values: Mapping[str, Sequence[Any]],
        runs: int | None = None,
        precision: float | None = None,
        seed: int | None = None,
    ) -> Self:
        """Returns the sweep of a scenario over all combinations of values.

        Args:
            scenario: the base scenario.
            values: values by dotted key: `{"radio.dch.bler": [0.0, 0.1], "users.0.count": [1, 2]}`.
            runs: number of replications of each cell; None for the scenario's.
            precision: relative 95 % half-width to reach; see `load`.
            seed: seed of the random streams; None for the scenario's.

        Raises:
            ScenarioError: a key is unknown, or a value impossible.
            InputError: another argument is invalid.
        """
        if not isinstance(values, Mapping):
            raise InputError(f"values is {values!r}; expected lists of values by dotted key")
        lists = {str(key): plain(list(some), str(key)) for key, some in values.items()}
        swept = "".join(f"{toml_value(key)} = {toml_value(some)}\n" for key, some in lists.items())
        name = Path(scenario.name or "scenario").name
        text = f"{scenario.to_toml()}\n[sweep]\n{swept}"
        return cls.load(f"{name}.toml", (), runs, precision, seed, text=text)

    def warnings(self) -> list[str]:
        """Returns warnings about valid but doubtful settings, each with its number of cells."""
        return warnings(self.cells, "cells")

    def baseline(self, settings: Sequence[str]) -> Baseline | None:
        """Returns the baseline that `KEY=VALUE` settings select; `None` if there are none.

        Raises:
            InputError: a key is not swept, not exactly one of its swept values is `VALUE`, or
                settings contradict each other.
        """
        return Baseline.read(settings, self.axes)

    def run(
        self,
        folder: str | os.PathLike[str],
        baseline: Sequence[str] = (),
        jobs: Jobs | None = None,
        progress: ProgressCallback | None = None,
        *,
        force: bool = False,
        metric: str | None = None,
        margin: float = MARGIN,
        dataset: bool = False,
        beside: bool = False,
    ) -> Outcome:
        """Simulates the missing replications in a folder and writes the table there.

        The same sweep gives the same table, regardless of interruptions and `jobs`.

        Args:
            folder: results folder; existing cells are not simulated again.
            baseline: `KEY=VALUE` of swept keys; see `results` for the columns they add.
            jobs: number of replications simulated in parallel, None for one per processor, or an
                `Executor` that simulates them.
            progress: called with the fraction done and a short text.
            force: replace results of another scenario or another command in the folder.
            metric: metric to compare with a baseline and to show; the table has all metrics. None
                for the application bit rate if every cell has one and fewer than half of the
                transfers are unfinished, otherwise the received bit rate.
            margin: equivalence margin, as a share of the baseline's mean.
            dataset: also write all replications as Parquet (`nodeb.sweep.dataset`). Without it, an
                existing dataset of the same cells and replications is kept, any other dataset is
                removed.
            beside: if the folder belongs to another owner, use the first free one next to it
                (`folder-2`, `folder-3` ...); the file of the outcome names it.

        Raises:
            InputError: an argument is invalid.
            OutputError: the folder belongs to another scenario, or cannot be written.
            RunError: a replication failed.
            Interrupted: Ctrl-C; the same call continues from there.
        """
        workers, compared = check_jobs(jobs), self.baseline(baseline)
        share = check_margin(margin)
        if metric is not None:
            chosen([metric])
        with self._claim(as_path(folder, "folder"), force, beside) as place:
            filler = CellSimulator(self.cells, self.seed, self.stop, place.store, workers, progress)
            filler.run()

            # Without the cache, a baseline cell would be read again for each cell compared with it.
            @lru_cache(maxsize=64)
            def load(number: int) -> Metrics:
                cell = self.cells[number]
                tables, reached = load_complete(cell, self.seed, self.stop, place.store)
                return Metrics.of(tables, reached, in_s(json.loads(cell.scenario)["duration"]))

            table, rows, unfinished = results(self.cells, self.seed, load, compared)
            metric = metric or shown_metric(table, unfinished)
            outcome = Outcome(
                plan=self,
                table=table,
                metric=metric,
                cells=rows,
                open=unfinished,
                file=place.path / TABLE,
                simulated=filler.completed,
                kept=filler.kept,
                replications=filler.replications,
                replaced=place.replaced,
                beside=place.place.beside,
                against=None
                if compared is None
                else against(self.cells, load, compared, metric, share),
            )
            with writing(f"write results to {place.path}", outcome):
                self._write(place, table, dataset)
            return replace(outcome, dropped=tuple(place.dropped))

    def _write(self, place: CellFolder, table: Table, dataset: bool) -> None:
        """Writes the table of the sweep, and the dataset of all replications if requested."""
        partial = [one.removesuffix(COVERED) for one in table.columns if one.endswith(COVERED)]

        def load(cell: Cell) -> Tables:
            return load_complete(cell, self.seed, self.stop, place.store)[0]

        def write_dataset(to: Path) -> None:
            write(to, self.cells, load, partial)

        folders = {DATASET: write_dataset} if dataset else {}
        text = csv_text(table.columns, (row.values() for row in table)).encode()
        place.finish({TABLE: parquet(table), TEXT: text}, folders, {DATASET: self._origin()})

    def _origin(self) -> str:
        """Returns a hash that identifies the content of the dataset.

        The hash covers the version, the seed, the cells and the rule for the number of
        replications.
        """
        digest = hashlib.sha256(f"{_core.version()} {self.stop}".encode())
        for cell in self.cells:
            digest.update(f"\n{identity(cell, self.seed)} {cell.label}".encode())
        return digest.hexdigest()

    def _claim(self, folder: Path, force: bool, beside: bool) -> CellFolder:
        owner = Source("sweep", self.file.name, {**self.base, "seed": self.seed})
        about = {"name": self.name, "cells": len(self.cells), "seed": self.seed, **origin()}
        source, files = (SOURCE, self.text), [TABLE, TEXT, DATASET]
        return CellFolder(folder, owner, about, files, source, force=force, beside=beside)


@dataclass(frozen=True)
class Source(Owner):
    """Scenario and seed that a folder of cells belongs to; values and replications may differ.

    Cells are stored by a hash of scenario, seed and core. The part that all have in common is kept
    as written and resolved: either is enough, as defaults change between versions, and equal
    scenarios can be written differently.
    """

    def refuses(self, mark: Mark) -> str | None:
        """Returns a description of another owner's content, or `None` for an own folder."""
        if mark["kind"] != self.kind:
            return super().refuses(mark)
        for form in ("resolved", "written"):
            if self.about[form] is not None and mark.get(form) == self.about[form]:
                seed, own = mark.get("seed"), self.about["seed"]
                return None if seed in (own, None) else f"holds a sweep with seed {seed}, not {own}"
        form = "written" if None in (mark.get("resolved"), self.about["resolved"]) else "resolved"
        there, here = dict(_leaves("", mark.get(form))), dict(_leaves("", self.about[form]))
        key = next((key for key in {**there, **here} if there.get(key) != here.get(key)), "")
        values = (json.dumps(one.get(key), ensure_ascii=False) for one in (there, here))
        return "holds a sweep of another scenario ({} is {} there, {} here)".format(key, *values)


def _leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields dotted key and value of each leaf of a nested document."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, Mapping):
        yield key, value
        return
    for part, below in value.items():
        yield from _leaves(f"{key}.{part}" if key else str(part), below)


def _check_not_swept(settings: Sequence[str], axes: Sequence[Axis]) -> None:
    """Checks that no setting changes a swept key, because that would have no effect.

    Raises:
        InputError: a setting changes a swept key, or the sweep table, which is no part of a cell.
    """
    swept = {one.key for axis in axes for one in axis.swept}
    for setting in settings:
        key = key_of(setting)
        if key.partition(".")[0] == "sweep":
            raise InputError(
                f"--set {setting}: --set changes keys of the cells, but not the [sweep] table; "
                "change the table in the file"
            )
        if key in swept:
            raise InputError(
                f"--set {setting}: `{key}` is swept, so this has no effect; change its "
                "values in the [sweep] table"
            )
