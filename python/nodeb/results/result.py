"""What a run gives back: tables, a summary, plots, and a folder that explains itself."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nodeb.errors import InputError
from nodeb.results.provenance import Provenance
from nodeb.results.summary import summarize
from nodeb.storage.files import write_bytes, write_parquet
from nodeb.storage.folders import Owner, Place, claim
from nodeb.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nodeb.inputs.scenario import Scenario
    from nodeb.replication.runner import Tables

__all__ = ["Plots", "Result"]

ALWAYS = ("flows", "bearers", "links")
"""Tables that every result has."""


@dataclass(frozen=True)
class Plots:
    """Figures of a result; a notebook shows what these return."""

    result: Result

    def cwnd(self, user: int | None = None) -> Figure:
        """Congestion window over time, in packets. Needs `record.cwnd = true`.

        Args:
            user: number of one user; None for all.
        """
        from nodeb import plot

        return plot.cwnd(self.result, user)

    def throughput(self, user: int | None = None) -> Figure:
        """Data that reached the phone in order, per unit of time. Needs `record.segments = true`.

        Args:
            user: number of one user; None for all.
        """
        from nodeb import plot

        return plot.throughput(self.result, user)

    def sequence(self, user: int | None = None) -> Figure:
        """Packet numbers over time as sent, dropped and acknowledged. Needs `record.segments`.

        Args:
            user: number of one user; None for all.
        """
        from nodeb import plot

        return plot.sequence(self.result, user)

    def queue(self, user: int | None = None) -> Figure:
        """Packets waiting at the Node B over time. Needs `record.queue = true`.

        Args:
            user: number of one user; None for all.
        """
        from nodeb import plot

        return plot.queue(self.result, user)

    def rtt(self, user: int | None = None) -> Figure:
        """Round trips that TCP measured, over time. Needs `record.rtt = true`.

        Args:
            user: number of one user; None for all.
        """
        from nodeb import plot

        return plot.rtt(self.result, user)

    def cqi(self, user: int | None = None) -> Figure:
        """Channel quality over time. Needs the radio `hsdpa` and `record.bandwidth = true`.

        Args:
            user: number of one user; None for all.
        """
        from nodeb import plot

        return plot.cqi(self.result, user)

    def cell(self, run: int = 0) -> Figure:
        """Where phones were and how they fared. Needs `hsdpa`, or `wcdma` with a map.

        Args:
            run: which replication.
        """
        from nodeb import plot

        return plot.cell(self.result, run)


class Result:
    """The replications of one scenario.

    Every table has a column `run`; rows are in order of the run. Rates are in bit/s, times in s.
    """

    def __init__(
        self, scenario: Scenario, tables: Mapping[str, Table], provenance: Provenance
    ) -> None:
        self.scenario = scenario
        """The resolved scenario: every default filled in."""
        self.tables = dict(tables)
        """All tables by name."""
        self.provenance = provenance
        """Seed, version, wall time, why it stopped, ..."""

    @classmethod
    def from_replications(
        cls, scenario: Scenario, replications: Sequence[Tables], provenance: Provenance
    ) -> Result:
        """Puts the tables of replications, in order of the run, under each other."""
        names = list(replications[0]) if replications else list(ALWAYS)
        tables = {name: Table.concat(r[name] for r in replications) for name in names}
        return cls(scenario, tables, provenance)

    @property
    def flows(self) -> Table:
        """One row per user and run: download and transfer time, bit rates, packets, timeouts."""
        return self.tables["flows"]

    @property
    def bearers(self) -> Table:
        """One row per radio bearer and run: blocks, block errors, packets, active time."""
        return self.tables["bearers"]

    @property
    def links(self) -> Table:
        """One row per direction of a link and run: packets, lost, dropped, marked, bytes."""
        return self.tables["links"]

    @property
    def proxies(self) -> Table:
        """One row per user and run with a proxy: the server's connection to it, what it held."""
        return self._of("proxies", "there is no proxy; give the scenario a `proxy`")

    @property
    def snoop(self) -> Table:
        """One row per user and run with Snoop: what the agent sent again, kept back, missed."""
        return self._of("snoop", "there is no Snoop agent; give the scenario a `snoop`")

    @property
    def channels(self) -> Table:
        """One row per user and run on FACH and DCH: switches, time in each state, energy.

        `set_ups`, `releases` and `pagings` count switches begun; a user holds a dedicated channel
        for `setting_up_s + dch_s + releasing_s`. The energy is that of the phone's radio, J.
        """
        return self._of(
            "channels", "there are no switches of channels; they need the radio `fach_dch`"
        )

    @property
    def cell(self) -> Table:
        """One row per user and run on `wcdma`: its place, slots, frames and their errors."""
        return self._of("cell", "there are no places on a map; they need the radio `wcdma`")

    @property
    def phones(self) -> Table:
        """One row per user and run on `hsdpa`: place, SNR, CQI, blocks, block errors, bytes.

        Means are taken over the transmissions to the user; `available_bps` is NaN where it was not
        measured. `handovers` counts changes of the serving cell.
        """
        return self._of(
            "phones", "nothing is known of places and channels; they need the radio `hsdpa`"
        )

    def _of(self, name: str, missing: str) -> Table:
        """A table that not every scenario has."""
        if name not in self.tables:
            raise InputError(missing)
        return self.tables[name]

    @property
    def cwnd(self) -> Table:
        """Congestion window and slow-start threshold over time, packets."""
        return self._series("cwnd")

    @property
    def segments(self) -> Table:
        """What happened to each TCP segment, and when."""
        return self._series("segments")

    @property
    def rtt(self) -> Table:
        """Round-trip time samples, s."""
        return self._series("rtt")

    @property
    def queue(self) -> Table:
        """Packets and bytes waiting at the Node B for each user over time."""
        return self._series("queue")

    @property
    def transfers(self) -> Table:
        """Every transfer completed: when it began, how long it took, its bytes."""
        return self._series("transfers")

    @property
    def scheduler(self) -> Table:
        """What the scheduler gave to whom in each TTI."""
        return self._series("scheduler")

    @property
    def bandwidth(self) -> Table:
        """What each user could have been sent over time, bytes since the beginning, and its CQI."""
        return self._series("bandwidth")

    def _series(self, name: str) -> Table:
        return self._of(
            name,
            f"{name} was not recorded; set `record.{name} = true` in the scenario and run again",
        )

    @cached_property
    def summary(self) -> Table:
        """Mean and 95 % interval of each metric, by group of users; see `nodeb.results.summary`."""
        return summarize(self.flows, self.tables.get("channels"), self.tables.get("phones"))

    @property
    def plot(self) -> Plots:
        """Figures of this result: `.cwnd()`, `.throughput()`, `.queue()`, `.cell()`, ..."""
        return Plots(self)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the result to a folder, as a whole or not at all; see `nodeb.storage.folders`.

        Args:
            folder: made if need be; an earlier result of a scenario of the same name is replaced.
            force: replace results of another scenario or another command too.

        Returns:
            The folder: `scenario.toml`, `summary.csv`, `provenance.json` and a Parquet file for
            the summary and for each table.

        Raises:
            OutputError: the folder is not nodeb's, belongs to another scenario, or cannot be
                written; what was there before stays.
        """
        owner = Owner("run", self.scenario.name or "a scenario without name")
        with claim(folder, owner, force=force) as place:
            return self.put(place)

    def put(self, place: Place, *, report: str | None = None) -> Path:
        """Writes the result to a folder that was claimed; see `save`.

        Args:
            place: the folder.
            report: text of `report.html`, a page with pictures; None for none.
        """

        def write(part: Path) -> None:
            write_bytes(part / "scenario.toml", self.scenario.to_toml().encode())
            for name, table in {"summary": self.summary, **self.tables}.items():
                write_parquet(part / f"{name}.parquet", table)
            write_bytes(part / "summary.csv", _csv(self.summary).encode())
            if report is not None:
                write_bytes(part / "report.html", report.encode())

        return place.put(write, self.provenance.to_dict())

    def __repr__(self) -> str:
        p = self.provenance
        return f"<Result {self.scenario.name!r}: {p.runs} runs, seed {p.seed}; {p.stopping}>"


def _csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, table.columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()
