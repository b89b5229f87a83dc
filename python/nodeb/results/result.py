"""The result of a run: tables, a summary, plots, and a folder with all of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeb.answer.answering import Answering
from nodeb.answer.words import counted
from nodeb.base.arguments import as_path, as_whole
from nodeb.base.table import Table
from nodeb.base.units import in_s
from nodeb.errors import InputError
from nodeb.inputs.scenario import Scenario
from nodeb.results.metrics import summarize
from nodeb.results.named import NamedTables
from nodeb.results.provenance import Provenance, results_hash
from nodeb.storage.files import csv_text, write_bytes, write_parquet
from nodeb.storage.folders import Owner, Place, claim

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nodeb.answer import Answer
    from nodeb.comparison import Comparison
    from nodeb.explanation import Explanation

__all__ = ["Plots", "Result"]

WRITERS = 2
"""Number of tables that are written concurrently."""
ALWAYS = ("flows", "bearers", "links")
"""Tables of every result."""


@dataclass(frozen=True)
class Plots:
    """Figures of a result, as Matplotlib figures, which notebooks show."""

    result: Result

    def cwnd(self, user: int | None = None, ax: Axes | None = None) -> Figure:
        """Plots the congestion window over time, in packets. Needs `record.cwnd = true`.

        Args:
            user: number of one user; None for all.
            ax: axes to draw on, beside what they have; None for a new figure.
        """
        from nodeb import plot

        return plot.cwnd(self.result, user, ax=ax)

    def throughput(self, user: int | None = None, ax: Axes | None = None) -> Figure:
        """Plots the rate at which data arrived at the receiver. Needs `record.segments = true`.

        Args:
            user: number of one user; None for all.
            ax: axes to draw on, beside what they have; None for a new figure.
        """
        from nodeb import plot

        return plot.throughput(self.result, user, ax=ax)

    def sequence(self, user: int | None = None, ax: Axes | None = None) -> Figure:
        """Plots packet numbers of events over time. Needs `record.segments = true`.

        Events are: sent, retransmitted, dropped, arrived, acknowledged.

        Args:
            user: number of one user; None for the first user.
            ax: axes to draw on, beside what they have; None for a new figure.
        """
        from nodeb import plot

        return plot.sequence(self.result, user, ax=ax)

    def queue(self, user: int | None = None, ax: Axes | None = None) -> Figure:
        """Plots the packets waiting at the Node B over time. Needs `record.queue = true`.

        Args:
            user: number of one user; None for all.
            ax: axes to draw on, beside what they have; None for a new figure.
        """
        from nodeb import plot

        return plot.queue(self.result, user, ax=ax)

    def rtt(self, user: int | None = None, ax: Axes | None = None) -> Figure:
        """Plots the round trips that TCP measured. Needs `record.rtt = true`.

        Args:
            user: number of one user; None for all.
            ax: axes to draw on, beside what they have; None for a new figure.
        """
        from nodeb import plot

        return plot.rtt(self.result, user, ax=ax)

    def cqi(self, user: int | None = None, ax: Axes | None = None) -> Figure:
        """Plots the channel quality over time. Needs `hsdpa` and `record.bandwidth = true`.

        Args:
            user: number of one user; None for all.
            ax: axes to draw on, beside what they have; None for a new figure.
        """
        from nodeb import plot

        return plot.cqi(self.result, user, ax=ax)

    def cell(self, run: int = 0) -> Figure:
        """Plots the phones' positions and rates. Needs the channel `cell`, or `wcdma` with a map.

        Args:
            run: number of the replication.
        """
        from nodeb import plot

        return plot.cell(self.result, run)


class Result(Answering, NamedTables):
    """Replications of one scenario.

    Every table is an attribute: `result.flows`, `result.bearers`, `result.cwnd`, ... A table that
    the scenario does not produce raises an `InputError` that states the setting it needs. Every
    table has a column `run`; rows are in order of the run. Rates are in bit/s, times in s.
    `nodeb.results.glossary.tables()` describes every table and column.
    """

    def __init__(
        self, scenario: Scenario, tables: Mapping[str, Table], provenance: Provenance
    ) -> None:
        self.scenario = scenario
        """Resolved scenario, with every default filled in."""
        self.tables = dict(tables)
        """Tables by name, such as `flows`."""
        self.provenance = provenance
        """Seed, version, wall time, reason for stopping, ..."""

    @classmethod
    def from_replications(
        cls, scenario: Scenario, replications: list[Mapping[str, Any]], provenance: Provenance
    ) -> Result:
        """Concatenates the tables of replications, which are in order of the run.

        The list is emptied, so that the tables of many replications are not in memory twice.
        """
        names = list(replications[0]) if replications else list(ALWAYS)
        parts = [dict(one) for one in replications]
        replications.clear()
        tables = {name: Table.concat(one.pop(name) for one in parts) for name in names}
        return cls(scenario, tables, provenance)

    @cached_property
    def summary(self) -> Table:
        """Mean and 95 % interval of each metric, by group of users; see `nodeb.results.metrics`."""
        return summarize(self.tables, in_s(self.scenario.duration))

    @cached_property
    def answer(self) -> Answer:
        """Answer of the run: headline, picture, key figures; shown as a page in a notebook."""
        from nodeb.results.answer import answer

        return answer(self)

    @property
    def plot(self) -> Plots:
        """Figures of this result: `.cwnd()`, `.throughput()`, `.queue()`, `.cell()`, ..."""
        return Plots(self)

    def compare(
        self, *others: Result, margin: float = 0.02, metrics: Sequence[str] = ()
    ) -> Comparison:
        """Compares other results with this one, replication by replication.

        Args:
            others: results of the same seed: `result.compare(b)`, `result.compare(b, c)`.
            margin: equivalence margin, as a fraction of this result's mean, 0 or more.
            metrics: names of metrics to compare; empty for all of `nodeb list metrics`.

        Returns:
            Differences with intervals and verdicts: print it, or take its `table`.

        Raises:
            InputError: the seeds differ, or an argument is invalid.
        """
        from nodeb.comparison import compare

        names: list[str] = []
        for place, one in enumerate((self, *others)):
            if not isinstance(one, Result):
                raise InputError(
                    f"compare: {one!r} is not a result; expected what `Scenario.run` returns"
                )
            name = one.scenario.name or ("baseline" if place == 0 else f"other {place}")
            names.append(name if name not in names else f"{name} ({place})")
        return compare(dict(zip(names, (self, *others), strict=True)), margin, metrics)

    def explain(self, user: int = 0, transfer: int = 0, runs: int | None = None) -> Explanation:
        """Explains a transfer: attributes each nanosecond of it to a cause.

        Its replications are simulated again, up to the end of the transfer, with the same seed.

        Args:
            user: number of the user, from 0.
            transfer: which of the user's transfers, from 0.
            runs: number of replications, from the first on; None takes all of this result.

        Returns:
            Causes with their shares and intervals: print it, or take its `table` and `spans`.

        Raises:
            InputError: there is no such user or transfer, or an argument is invalid.
            RunError: a replication failed.
        """
        from nodeb.explanation import explain

        wanted = self.provenance.runs if runs is None else as_whole(runs, "runs")
        if wanted > self.provenance.runs:
            raise InputError(f"runs is {runs}; this result has {self.provenance.runs} replications")
        return explain(self.scenario, user, transfer, wanted, self.provenance.seed)

    def life(self, packet: int, run: int = 0) -> pa.Table:
        """Returns all events of one packet of a replication, in order of time.

        The replication is simulated again with the same seed; `Scenario.life` has all packets.

        Args:
            packet: number of the packet, from 1 in the order in which packets were sent.
            run: number of the replication, from 0.

        Returns:
            Rows of the table of events (`docs/life.md`): those of the packet and of its blocks.

        Raises:
            InputError: there is no such packet or replication, or it has too many events.
            RunError: the replication failed.
        """
        if not 0 <= as_whole(run, "run") < self.provenance.runs:
            raise InputError(
                f"there is no replication {run}; this result has {self.provenance.runs}, from 0"
            )
        return self.scenario.life(run, seed=self.provenance.seed).packet(packet)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the result to a folder atomically; see `nodeb.storage.folders`.

        Args:
            folder: created if missing; an earlier result of the same scenario and seed is replaced,
                unless it has more replications.
            force: replace other results too.

        Returns:
            The folder: `scenario.toml`, `summary.csv`, `provenance.json` and a Parquet file for
            the summary and for each table.

        Raises:
            InputError: `folder` is not a path.
            OutputError: the folder is not nodeb's, holds other results, or cannot be written; its
                previous content is kept.
        """
        name, about = self.scenario.name or "a scenario without name", self.provenance
        owner = Owner("run", name, made_of=results_hash(self.scenario, about.seed), runs=about.runs)
        with claim(as_path(folder, "folder"), owner, force=force) as place:
            return self.put(place)

    def put(
        self,
        place: Place,
        *,
        report: str | None = None,
        csv: bool = False,
        about: Mapping[str, Any] | None = None,
    ) -> Path:
        """Writes the result to a folder that was claimed; see `save`.

        Args:
            place: the folder.
            report: text of `report.html`, a page with pictures; None writes no page.
            csv: write each table as CSV too; the summary is in any case.
            about: additional content of `provenance.json`.
        """

        def write(part: Path) -> None:
            write_bytes(part / "scenario.toml", self.scenario.to_toml().encode())
            # Threads write large tables concurrently, while the main thread can handle signals.
            with ThreadPoolExecutor(WRITERS, thread_name_prefix="nodeb") as writers:
                tables = {"summary": self.summary, **self.tables}.items()
                files = [part / f"{name}.parquet" for name, _ in tables]
                list(writers.map(write_parquet, files, (table for _, table in tables)))
            for name, table in {"summary": self.summary, **(self.tables if csv else {})}.items():
                rows = (row.values() for row in table)
                write_bytes(part / f"{name}.csv", csv_text(table.columns, rows).encode())
            if report is not None:
                write_bytes(part / "report.html", report.encode())

        return place.put(write, {**self.provenance.to_dict(), **(about or {})})

    def __repr__(self) -> str:
        p = self.provenance
        runs = counted(p.runs, "run")
        return f"<Result {self.scenario.name!r}: {runs}, seed {p.seed}; {p.stopping}>"
