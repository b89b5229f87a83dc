"""What a run answers: how long a transfer took, or what a cell delivers, how sure, and why.

The headline is the first of these that fits:

0. nothing arrived at all;
1. half of the transfers or more did not finish: how many, and what had arrived;
2. several users share a channel: what it delivers and how busy it is;
3. several users with channels of their own: what they receive together, and each;
4. one user whose traffic never ends: what the phone received;
5. one user who loads pages or files one after the other: the median load time;
6. one download: how long it took, and its largest causes.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.answer import (
    MAX_ROWS,
    ONE_REPLICATION,
    SURVIVORS,
    Answer,
    Bar,
    Bars,
    Fact,
    Mark,
    Rows,
)
from nodeb.answer.numbers import ALWAYS, Shown, number, parts, scale_of, shown
from nodeb.answer.paints import paint
from nodeb.answer.words import counted, joined, percent, percents, sentence, share, spelled
from nodeb.errors import NodebError
from nodeb.results.metrics import ALL, METRICS
from nodeb.results.survivors import Unfinished, nothing_arrived, unfinished

if TYPE_CHECKING:
    from nodeb.explanation import Explanation
    from nodeb.results.result import Result

__all__ = [
    "Rings",
    "RunAnswer",
    "answer",
    "because",
    "called",
    "causes",
    "everything",
    "first_transfer",
]

MAX_RUNS = 20
"""Replications of which a transfer is explained by the way."""
MAX_BYTES = 2_000_000
"""A longer transfer is not explained by the way."""
FULL = 0.95
"""A channel that is busy for this share of the time is full."""
NAMED = 3
"""Causes that a picture names at least, before the rest is one bar."""
SMALL = 0.05
"""Causes of a smaller share are put together."""
RINGS = 5
"""Rings of distance in the picture of a cell."""

ONE = ("received_bps", "rtt_mean_s", "queueing_delay_s", "utilization", "block_errors")
"""Key figures of one user, in order."""
CELL = (
    "received_bps_p50",
    "received_bps",
    "received_bps_p5",
    "download_p50_s",
    "download_p95_s",
    "stalled_users",
    "rtt_mean_s",
    "queueing_delay_s",
    "jain_index",
)
"""Key figures of several."""
TROUBLE = ("stalls", "recovery_s", "timeouts")
"""What is told when it is there, and when nothing of it is."""
LABELS = {
    "received_bps_p50": "the median phone",
    "received_bps": "the mean phone",
    "received_bps_p5": "edge: 95 of 100 get more",
    "rtt_mean_s": "round-trip time",
    "queueing_delay_s": "of it queueing",
    "block_errors": "block errors",
    "jain_index": "fairness (Jain)",
}
"""Names of key figures that stand below each other, where they are not the metric's."""
TROUBLES = {"stalls": "stalls", "recovery_s": "loss recovery", "timeouts": "timeouts"}


def answer(result: Result, named: str = "", folder: str = "") -> Answer:
    """What a run answers.

    Args:
        result: of the run; a short transfer of one user is simulated again to explain it.
        named: the scenario's file as on the command line, with what was set; empty in a notebook.
        folder: where the tables are; empty where they are not saved.
    """
    return RunAnswer(result, named, folder).answer()


def first_transfer(result: Result) -> Explanation | None:
    """An explanation of user 0's first transfer; None where that takes long or has no sense."""
    sizes = result.flows["app_bytes"] / result.flows["transfers"].clip(1)
    if len(sizes) == 0 or sizes[0] > MAX_BYTES or result.flows["endless"][0]:
        return None
    try:
        return result.explain(runs=min(result.provenance.runs, MAX_RUNS))
    except NodebError:
        return None


@dataclass(frozen=True)
class RunAnswer:
    """What is said of a run."""

    result: Result
    named: str
    folder: str

    def answer(self) -> Answer:
        """The whole."""
        return Answer(
            command="nodeb run",
            subject=self.result.scenario.name or self._file(),
            headline=" ".join(self.headline()),
            lead=" ".join(self.lead()),
            picture=self.picture(),
            facts=self.facts,
            marks=list(self.marks()),
            notes=list(self.notes()),
            everything=list(everything(self.result)),
            folded=f"all {len(self.metrics)} metrics" if self.named else "",
        )

    def _file(self) -> str:
        """What the scenario's file is called."""
        return Path(shlex.split(self.named)[0]).stem if self.named else ""

    @cached_property
    def users(self) -> int:
        """How many phones there are in a replication."""
        return len(np.unique(self.result.flows["user"]))

    @cached_property
    def open(self) -> Unfinished:
        """What did not finish."""
        return unfinished(self.result.flows, self.duration_s)

    @cached_property
    def received(self) -> bool:
        """Whether anything arrived at anybody."""
        return bool(np.any(self.result.flows["delivered_bytes"]))

    @cached_property
    def duration_s(self) -> float:
        """When a run that is not over ends, s."""
        return float(np.max(self.result.bearers["end_s"], initial=0.0))

    @cached_property
    def why(self) -> Explanation | None:
        """Why the only user's first transfer took so long."""
        return first_transfer(self.result) if self.users == 1 else None

    @cached_property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Rows of the summary of all users, by metric."""
        return {row["metric"]: row for row in self.result.summary if row["group"] == ALL}

    def value(self, name: str) -> Shown | None:
        """A metric of all users, as text; None where there is no value."""
        row = self.metrics.get(name)
        return None if row is None or not math.isfinite(row["mean"]) else of_row(row)

    # --- the headline ---

    def headline(self) -> Iterator[str]:
        """One or two sentences."""
        if not self.received:
            phones = "the phone" if self.users == 1 else f"any of {self.users} phones"
            yield f"nothing arrived at {phones} in {number(self.duration_s, 's')}."
        elif 0.5 <= self.open.share < 1 or (self.open.share == 1 and self.users == 1):
            yield self._did_not_finish()
            if self.value("cell_bps"):
                yield sentence(self._cell())
        elif self.value("cell_bps"):
            yield self._cell()
        elif self.users > 1:
            yield self._together()
        elif not self.open.transfers:
            yield f"the phone received {self._sure('received_bps')}."
        elif self.value("load_median_s"):
            yield f"half of what was loaded took at most {self._sure('load_median_s')}."
        else:
            yield f"the download took {self._sure('download_s')}."
            if self.why is not None:
                yield from because(self.why, exact=bool(self.open.count))

    def _sure(self, name: str) -> str:
        found = self.value(name)
        return found.sure if found else "nothing"

    def _did_not_finish(self) -> str:
        end = number(self.duration_s, "s")
        if self.users == 1 and self.open.count == self.open.transfers:
            part = percent(self.open.received)
            return f"the download did not finish in {end}; {part} of it had arrived."
        return (
            f"{percent(self.open.share)} of the transfers ({self.open.count} of "
            f"{self.open.transfers}) had not finished when the run ended after {end}."
        )

    def _cell(self) -> str:
        rate = self._sure("cell_bps")
        text = f"the cell delivers {rate} to {counted(self.users, 'phone')}."
        busy, row = self.value("cell_busy"), self.metrics.get("cell_busy")
        if busy is None or row is None:
            return text
        if row["mean"] >= FULL:
            return f"{text} It is full: busy {busy.value} of the time."
        return f"{text} It is busy {busy.value} of the time."

    def _together(self) -> str:
        row = self.metrics["received_bps"]
        mean, low, high = (self.users * row[name] for name in ("mean", "ci95_low", "ci95_high"))
        together = shown(mean, low, high, "bit/s").sure
        phones = counted(self.users, "phone")
        return f"{phones} receive {together} together, {self._value('received_bps')} each."

    def _value(self, name: str) -> str:
        found = self.value(name)
        return found.value if found else "nothing"

    # --- what stands below it ---

    def lead(self) -> Iterator[str]:
        """Sentences below a page's headline."""
        runs = self.result.provenance.runs
        yield (
            f"Mean of {counted(runs, 'replication')}, with 95 % intervals."
            if runs > 1
            else ("One replication, which says nothing of how sure its numbers are.")
        )
        yield self._finished()

    def _finished(self) -> str:
        """How many finished, and what trouble there was none of."""
        if not self.received:
            return ""
        count = self.open.count
        no = [TROUBLES[name] for name in TROUBLE if self._is_zero(name)]
        without = f"without {joined(no, 'or')}" if no else ""
        if not self.open.transfers or count:
            return f"{sentence(without)}." if without else ""
        return f"All finished{', ' if without else ''}{without}."

    def _is_zero(self, name: str) -> bool:
        row = self.metrics.get(name)
        return row is not None and row["mean"] == 0

    def picture(self) -> Bars | Rows | None:
        """Where the time of one transfer went, or who gets how much of a cell."""
        if self.why is not None and self.why.causes and self.users == 1:
            return causes(self.why)
        return rings(self.result)

    @cached_property
    def facts(self) -> list[Fact]:
        """Key figures, those that there are."""
        names = CELL if self.users > 1 else ONE
        troubles = [name for name in TROUBLE if not self._is_zero(name)]
        found = [self._fact(name) for name in (*self._first(), *names, *troubles)]
        return [one for one in found if one is not None][:MAX_ROWS]

    def _first(self) -> Sequence[str]:
        """What comes first where some did not finish: how many did, and times of those."""
        return ("complete", "download_s", "application_bps") if 0 < self.open.share < 1 else ()

    def _fact(self, name: str) -> Fact | None:
        found = self.value(name)
        if found is None:
            return None
        one = "received_bps" if self.users == 1 else ""
        label = METRICS[name].label if name == one else LABELS.get(name, METRICS[name].label)
        return Fact(label, found, SURVIVORS if self.metrics[name]["covered"] < 1 else "")

    def marks(self) -> Iterator[Mark]:
        """What must not be overlooked."""
        about = self.open
        if about.count == about.transfers > 0 and self.users > 1:
            end = number(self.duration_s, "s")
            yield Mark(
                "!",
                f"None of the {about.transfers} transfers finished in {end}: no download times, "
                "and the rates are of what had arrived by then.",
            )
        if 0 < about.count < about.transfers:
            yield Mark(SURVIVORS, self._of_survivors(about))
        partial = [
            (METRICS[name].label, row["covered"])
            for name, row in self.metrics.items()
            if 0 < row["covered"] < 1 and not METRICS[name].completed
        ]
        if partial:
            names, most = (
                joined([name for name, _ in partial]),
                max(1 - part for _, part in partial),
            )
            yield Mark(
                SURVIVORS,
                f"Only of phones that have a value: {names}. Up to {percent(most)} have none.",
            )

    def _of_survivors(self, about: Unfinished) -> str:
        done = about.transfers - about.count
        text = f"Only of those that finished ({done} of {about.transfers}). Over all transfers the"
        if math.isfinite(about.median_s):
            text += (
                f" median download time is {number(about.median_s, 's')} (Kaplan-Meier), and the"
            )
        return f"{text} mean at least {number(about.at_least_s, 's')}."

    def notes(self) -> Iterator[str]:
        """Provenance, and what to ask next."""
        if not self.received:
            yield f"Nothing arrived: {nothing_arrived(self.duration_s)}"
        elif self.open.count:
            yield from self._longer()
        about = self.result.provenance
        asked = about.stopping.endswith("as asked")
        why = "" if asked else f" ({about.stopping})"
        replications = f"{counted(about.runs, 'replication')}{why}, seed {about.seed}."
        yield f"{replications} {self._finished()}".strip()
        if about.runs < 2:
            yield ONE_REPLICATION
        if not self.named:
            return
        where = f"{self.folder} has the tables; " if self.folder else ""
        yield f"{where}--report draws a page."
        if not self.received:
            return
        if self.users == 1:
            yield f"What would help: nodeb explain {self.named} --what-if"
        else:
            yield f"Why one phone is slow: nodeb explain {self.named} --user N"

    def _longer(self) -> Iterator[str]:
        about = self.open
        arrived = f"The unfinished had received {percent(about.received)} of theirs"
        starved = f"; {percent(about.starved)} of them nothing" if about.starved else ""
        if math.isfinite(about.enough_s):
            yield (
                f'Longer runs tell more: --set duration="{about.enough_s:g} s" is enough at the '
                f"pace of each. {arrived}{starved}."
            )
        else:
            yield f"{arrived}{starved}."


def of_row(row: dict[str, Any], scale: tuple[str, float] | None = None) -> Shown:
    """A row of a summary as text."""
    ends = (row["mean"], row["ci95_low"], row["ci95_high"])
    is_percent = METRICS[row["metric"]].percent
    return shown(*ends, row["unit"], percent=is_percent, scale=scale)


def called(cause: str) -> str:
    """A cause as it stands in a sentence."""
    return cause.removeprefix("window: ")


def because(found: Explanation, *, exact: bool = False) -> Iterator[str]:
    """The largest causes that make up half of the time of a transfer, a sentence.

    Args:
        found: the transfer.
        exact: whether their share is told in per cent, and not as a simple fraction.
    """
    names: list[str] = []
    whole = 0.0
    for row in found.table:
        names.append(called(row["cause"]))
        whole += row["share"]
        if whole >= 0.5:
            break
    if names:
        part = percent(whole) if exact else sentence(share(whole))
        yield f"{part} of that went into {joined(names)}."


def causes(found: Explanation, head: str = "", small: float = SMALL) -> Bars:
    """The causes of a transfer as ranked bars; those of a smaller share are one."""
    table = list(found.table)
    named = max(NAMED, sum(row["share"] >= small for row in table))
    if len(table) - named == 1:
        named += 1
    rest = table[named:]
    sums = {
        name: [row[name] for row in table[:named]] + [sum(row[name] for row in rest)][: len(rest)]
        for name in ("mean_s", "share")
    }
    times, shares = parts(sums["mean_s"], "s"), percents(sums["share"])
    bars = [
        Bar(
            called(row["cause"]),
            times[at],
            row["mean_s"],
            paint(row["cause"]),
            shares[at],
            shown(row["mean_s"], row["ci95_low"], row["ci95_high"], "s").interval,
            ends=(row["ci95_low"], row["ci95_high"]),
        )
        for at, row in enumerate(table[:named])
    ]
    if rest:
        name = f"{spelled(len(rest))} other causes"
        bars.append(Bar(name, times[-1], sums["mean_s"][-1], "k-many", shares[-1]))
    return Bars("Where the time went", bars, head)


@dataclass(frozen=True)
class Rings:
    """The phones of a cell by their distance from the Node B."""

    distance_m: NDArray[np.float64]
    edges_m: NDArray[np.float64]
    """Of the rings, from 0."""

    @classmethod
    def of(cls, result: Result) -> Rings | None:
        """Those of a result; None where phones have no distance, or are few."""
        phones = result.tables.get("phones")
        if phones is None or len(phones) < 2 * RINGS:
            return None
        distance = np.asarray(phones["distance_m"], dtype=float)
        if len(distance) != len(result.flows) or not np.isfinite(distance).all():
            return None
        return cls(distance, np.linspace(0.0, _round_up(float(distance.max())), RINGS + 1))

    def of_each(self, values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """The values, one of each phone, by ring."""
        ring = np.clip(np.digitize(self.distance_m, self.edges_m) - 1, 0, RINGS - 1)
        return [values[ring == one] for one in range(RINGS)]


def rings(result: Result) -> Rows | None:
    """What phones received by their distance; None where they have none, or are few."""
    found = Rings.of(result)
    if found is None:
        return None
    each = found.of_each(result.flows["received_bps"])
    means = [part.mean() if len(part) else math.nan for part in each]
    unit, factor = scale_of(max(one for one in means if math.isfinite(one)), "bit/s")
    head = ["distance, up to", *(f"{edge:g} m" for edge in found.edges_m[1:])]
    cells = [shown(one, unit="bit/s", scale=("", factor)).number for one in means]
    counts = [str(len(part)) for part in each]
    return Rows(head, [[f"mean received, {unit}", *cells], ["phones", *counts]])


def _round_up(value: float) -> float:
    """The next number of two digits that five rings divide well."""
    power = 10.0 ** math.floor(math.log10(value)) / 2 if value > 0 else 1.0
    return math.ceil(value / power) * power


def everything(result: Result) -> Iterator[Rows]:
    """All metrics, groups side by side; those that are always 0 in one row."""
    summary = result.summary
    groups = summary.distinct("group")
    rows: dict[str, dict[str, dict[str, Any]]] = {group: {} for group in groups}
    for row in summary:
        rows[row["group"]][row["metric"]] = row
    zero, table = [], []
    for name, metric in METRICS.items():
        found = [rows[group].get(name) for group in groups]
        known = [one for one in found if one is not None and math.isfinite(one["mean"])]
        if not known:
            continue
        if all(one["mean"] == one["ci95_low"] == one["ci95_high"] == 0 for one in known):
            zero.append(metric.label)
            continue
        scale = scale_of(
            max(abs(one["mean"]) for one in known), metric.unit, percent=metric.percent
        )
        cells: list[str | Shown] = [metric.label]
        for one in found:
            if one is None:
                cells += [Shown("\N{EN DASH}", ""), ""]
                continue
            text = of_row(one, scale)
            mark = SURVIVORS if one["covered"] < 1 and math.isfinite(one["mean"]) else ""
            cells += [Shown(text.number, f"{text.unit} {mark}".strip()), text.interval]
        table.append(cells)
    head = ["", *(text for group in groups for text in (group if len(groups) > 1 else "", ""))]
    yield Rows(head, table, "All metrics")
    if zero:
        yield Rows(("",), [[name] for name in zero], f"0 {ALWAYS}")
