"""The answer of a run: how long a transfer took, or what a cell delivers, and why.

The headline is the first of these that fits:

0. nothing arrived;
1. at least half of the transfers did not finish, but, if there are several users, not all: how
   many; for a single user of whom none finished, how much had arrived;
2. several users share a channel: its rate and how busy it is;
3. several users otherwise, such as users of dedicated channels, or uploads: the rate of all phones
   together during the run, and, for each group, the rate of a phone from its request (or start) to
   its last byte;
4. one user with endless traffic: the rate at which the data were received;
5. one user who loads pages or files one after the other: the median load time;
6. one download: how long it took, and its largest causes.

If there are downloads and uploads, the headline is about the downloads, and a sentence about the
uploads follows. If there are only uploads, the headline is about them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nodeb.answer.answer import (
    MAX_ROWS,
    ONE_REPLICATION,
    SURVIVORS,
    Answer,
    Bars,
    Fact,
    Mark,
    Rows,
)
from nodeb.answer.numbers import ALWAYS, Shown, number, scale_of, shown
from nodeb.answer.words import counted, joined, percent, sentence
from nodeb.base.table import unique
from nodeb.errors import NodebError
from nodeb.results.causes import cause_bars, main_causes
from nodeb.results.group import ALL_UP, Group, is_mixed, phones
from nodeb.results.metrics import ALL, METRICS
from nodeb.results.rings import distance_table
from nodeb.results.summary import left_out
from nodeb.results.survivors import Unfinished, finished, no_arrival_hint, unfinished
from nodeb.results.targets import missed_targets
from nodeb.stats import mean_interval

if TYPE_CHECKING:
    from nodeb.base.command_line import Arguments
    from nodeb.base.table import Table
    from nodeb.explanation import Explanation
    from nodeb.results.result import Result

__all__ = ["RunAnswer", "all_metrics", "answer", "row_text"]

MAX_RUNS = 20
"""Maximum number of replications simulated again to explain a transfer in the answer of a run."""
MAX_BYTES = 2_000_000
"""Size of a transfer, bytes, above which the answer of a run does not explain the transfer."""
FULL = 0.95
"""Busy share of the time from which on the headline calls a channel full."""
GROUPS = 4

RATE, LOADS = "received_bps", "load_median_s"
ONE = ("received_bps", "rtt_mean_s", "queueing_delay_s", "utilization", "block_errors")
"""Metrics that are key figures of an answer about one user, in order."""
CELL = (
    LOADS,
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
"""Metrics that are key figures of an answer about several users, in order."""
TROUBLE = ("stalls", "recovery_s", "timeouts")
"""Metrics of problems: shown if the problem occurs, else mentioned in one common sentence."""
LABELS = {
    "received_bps_p50": "half of the phones get more than",
    "received_bps": "mean of the phones",
    "received_bps_p5": "edge: 95 of 100 get more than",
    "rtt_mean_s": "round-trip time, TCP's samples",
    "queueing_delay_s": "of it queueing",
    "block_errors": "block errors",
    "jain_index": "fairness (Jain)",
}
TROUBLES = {"stalls": "stalls", "recovery_s": "loss recovery", "timeouts": "timeouts"}


def answer(result: Result, arguments: Arguments | None = None, folder: str = "") -> Answer:
    return RunAnswer(result, arguments, folder).answer()


def explain_first_transfer(result: Result) -> Explanation | None:
    sizes = result.flows["app_bytes"] / result.flows["transfers"].clip(1)
    if len(sizes) == 0 or sizes[0] > MAX_BYTES or result.flows["endless"][0]:
        return None
    try:
        return result.explain(runs=min(result.provenance.runs, MAX_RUNS))
    except NodebError:
        return None


@dataclass(frozen=True)
class RunAnswer:
    """Builder of the answer of a run, from its result."""

    result: Result
    arguments: Arguments | None
    folder: str

    def answer(self) -> Answer:
        """Returns the complete answer: headline, picture, key figures, marks and notes."""
        return Answer(
            command="nodeb run",
            subject=self.result.scenario.name or self._file(),
            headline=" ".join(self.headline()),
            lead=" ".join(self.lead()),
            picture=self.picture(),
            facts=self.facts,
            marks=list(self.marks()),
            notes=list(self.notes()),
            everything=list(all_metrics(self.result)),
            folded=f"all {len(self.metrics)} metrics" if self.arguments else "",
        )

    def _file(self) -> str:
        return self.arguments.file.stem if self.arguments else ""

    @cached_property
    def flows(self) -> Table:
        """Rows of the connections that the answer is about: the downloads, if there are any."""
        flows = self.result.flows
        return flows.where(flows["direction"] == "down") if is_mixed(flows) else flows

    @cached_property
    def is_upload(self) -> bool:
        return "direction" in self.flows.columns and self.flows.distinct("direction") == ["up"]

    @cached_property
    def users(self) -> int:
        return len(unique(self.flows["user"]))

    @cached_property
    def phones(self) -> int:
        return len(phones(self.result.flows))

    @cached_property
    def open(self) -> Unfinished:
        """Statistics of the transfers that did not finish."""
        return unfinished(self.flows, self.duration_s)

    @cached_property
    def received(self) -> bool:
        """Whether any receiver got data in any replication."""
        return bool(np.any(self.flows["delivered_bytes"]))

    @cached_property
    def duration_s(self) -> float:
        """Time at which the longest replication ended, s; 0 if there are no bearers."""
        return float(np.max(self.result.bearers["end_s"], initial=0.0))

    @cached_property
    def why(self) -> Explanation | None:
        """Explanation of the first transfer of a scenario's only user, if any."""
        return explain_first_transfer(self.result) if self.phones == 1 else None

    @property
    def _transfer(self) -> str:
        return "upload" if self.is_upload else "download"

    @cached_property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Rows of the summary that are about all users together, by name of the metric."""
        return {row["metric"]: row for row in self.result.summary if row["group"] == ALL}

    def value(self, name: str) -> Shown | None:
        row = self.metrics.get(name)
        return None if row is None or not math.isfinite(row["mean"]) else row_text(row)

    # Methods that write the sentences of the headline.

    def headline(self) -> Iterator[str]:
        """Yields the sentences of the headline: of the first case that applies, then on uploads."""
        yield from self._main()
        if is_mixed(self.result.flows):
            yield sentence(self._uploads())

    def _main(self) -> Iterator[str]:
        receiver = "server" if self.is_upload else "phone"
        # The bearers of a cell carry only the ACKs of uploads.
        is_cell = not self.is_upload and self.value("cell_bps") is not None
        if not self.received:
            is_one = self.is_upload or self.users == 1
            where = f"the {receiver}" if is_one else f"any of {self.users} phones"
            yield f"nothing arrived at {where} in {number(self.duration_s, 's')}."
        elif 0.5 <= self.open.share < 1 or (self.open.share == 1 and self.users == 1):
            yield self._did_not_finish()
            if is_cell:
                yield sentence(self._cell())
        elif is_cell:
            yield self._cell()
        elif self.users > 1:
            yield self._together()
        elif not self.open.transfers:
            yield f"the {receiver} received {self._sure('received_bps')}."
        elif self.value("load_median_s"):
            done = "sent" if self.is_upload else "loaded"
            yield f"half of what was {done} took at most {self._sure('load_median_s')}."
        else:
            yield f"the {self._transfer} took {self._sure('download_s')}."
            if self.why is not None:
                yield from main_causes(self.why, exact=bool(self.open.count))

    def _uploads(self) -> str:
        rows = {row["metric"]: row for row in self.result.summary if row["group"] == ALL_UP}
        took, rate = rows.get("download_s"), rows.get(RATE)
        if took is not None and math.isfinite(took["mean"]):
            return f"an upload took {row_text(took).with_level}."
        if rate is not None and math.isfinite(rate["mean"]):
            return f"the uploads got {row_text(rate).with_level} each."
        return "nothing was uploaded."

    def _sure(self, name: str) -> str:
        found = self.value(name)
        return found.with_level if found else "nothing"

    def _did_not_finish(self) -> str:
        end = number(self.duration_s, "s")
        if self.users == 1 and self.open.count == self.open.transfers:
            part = percent(self.open.received)
            return f"the {self._transfer} did not finish in {end}; {part} of it had arrived."
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
        flows, bearers = self.flows, self.result.bearers
        everyone = Group(self.result.tables)
        at = np.searchsorted(everyone.run, bearers["run"])
        end_s = np.zeros(len(everyone.run))
        np.maximum.at(end_s, at, bearers["end_s"])
        bits = 8.0 * np.bincount(everyone.at("flows"), flows["delivered_bytes"])
        one = mean_interval(bits / end_s).within(0.0, math.inf)
        together = shown(one.mean, one.low, one.high, "bit/s").with_level
        verb, begin = ("send", "start") if self.is_upload else ("receive", "request")
        return (
            f"{counted(self.users, 'phone')} {verb} {together} together over the whole run. "
            f"From its {begin} to its last byte, a phone {verb}s {self._of_each()}."
        )

    def _of_each(self) -> str:
        """Returns the mean rate of a phone as text.

        With several groups, this is the rate of each group; with more than `GROUPS` groups, only
        the lowest and the highest.
        """
        found = {row["group"]: row for row in self.result.summary if row["metric"] == RATE}
        rates = {group: row for group, row in found.items() if group in self._groups}
        if len(rates) < 2:
            return row_text(found[ALL]).value
        if len(rates) > GROUPS:
            ends = [of(rates.values(), key=lambda row: row["mean"]) for of in (min, max)]
            least, most = (f"{row_text(row).value} ({row['group']})" for row in ends)
            return f"from {least} to {most}"
        return joined([f"{row_text(row).value} ({group})" for group, row in rates.items()])

    # Methods that write the parts below the headline.

    def lead(self) -> Iterator[str]:
        """Yields the sentences below a page's headline: replications, and finished transfers."""
        runs = self.result.provenance.runs
        yield (
            f"Mean of {counted(runs, 'replication')}, with 95 % intervals."
            if runs > 1
            else "One replication, so there are no confidence intervals."
        )
        yield self._finished()

    def _finished(self) -> str:
        """Returns a sentence that all transfers finished, if so, and which problems did not
        occur."""
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
        """The causes of a single phone's transfer, if known; else the rates by distance, if any."""
        if self.why is not None and self.why.causes and self.users == 1:
            return cause_bars(self.why)
        return distance_table(self.result)

    @property
    def facts(self) -> list[Fact]:
        """Key figures of the answer: those that have a value, at most `MAX_ROWS`."""
        share = [self._finished_share] if 0 < self.open.share < 1 else []
        return [*share, *map(self._fact, self.shown)][:MAX_ROWS]

    @cached_property
    def shown(self) -> list[dict[str, Any]]:
        """Rows of the summary that become key figures, in their order."""
        names = CELL if self.users > 1 else ONE
        troubles = [name for name in TROUBLE if not self._is_zero(name)]
        first = ("download_s", "application_bps") if 0 < self.open.share < 1 else ()
        rows = [row for name in (*first, *names, *troubles) for row in self._rows(name)]
        return rows[: MAX_ROWS - (len(first) > 0)]

    @cached_property
    def _groups(self) -> list[str]:
        """Names of the groups whose connections the answer is about."""
        return [str(name) for name in self.flows.distinct("group")]

    def _rows(self, name: str) -> list[dict[str, Any]]:
        if self.users == 2 and name == "received_bps_p50":
            return []  # The median of two users equals their mean, which is shown already.
        rows = [row for row in self.result.summary if row["metric"] == name]
        known = [row for row in rows if math.isfinite(row["mean"])]
        groups = [row for row in known if row["group"] in self._groups]
        if name == LOADS and len(groups) < len(self._groups) > 1:
            return groups
        return [row for row in known if row["group"] == ALL]

    @property
    def _finished_share(self) -> Fact:
        """Share of the transfers that finished, as a mean over replications."""
        flows = self.flows
        ends = np.where(flows["endless"] > 0, math.nan, finished(flows))
        values = Group(self.result.tables).mean("flows", ends)
        one = mean_interval(values[np.isfinite(values)]).within(0.0, 1.0)
        found = shown(one.mean, one.low, one.high, "1", percent=True)
        return Fact("transfers that finished", found)

    def _fact(self, row: dict[str, Any]) -> Fact:
        return Fact(self._label(row), row_text(row), SURVIVORS if row["covered"] < 1 else "")

    def _label(self, row: dict[str, Any]) -> str:
        """Returns the label of a key figure, with its group if that is not all users."""
        name = row["metric"]
        one = RATE if self.users == 1 else ""
        label = METRICS[name].label if name == one else LABELS.get(name, METRICS[name].label)
        label = label.replace("by the phone", "by the server") if self.is_upload else label
        return _of_group(label, row)

    def marks(self) -> Iterator[Mark]:
        """Yields remarks on unfinished transfers and on means that exclude some users."""
        about = self.open
        if about.count == about.transfers > 0 and self.users > 1:
            end = number(self.duration_s, "s")
            yield Mark(
                "!",
                f"None of the {about.transfers} transfers finished in {end}: no download times, "
                "and the rates count the data that had arrived by then.",
            )
        shown_ = {(row["group"], row["metric"]) for row in self.shown}
        every = self.result.summary
        rest = [row for row in every if (row["group"], row["metric"]) not in shown_]
        for rows, folded in ((self.shown, False), (rest, True)):
            covered = [
                (
                    _of_group(METRICS[row["metric"]].label, row) if folded else self._label(row),
                    METRICS[row["metric"]],
                    row["covered"],
                )
                for row in rows
                if math.isfinite(row["mean"])
            ]
            for text in left_out(covered):
                yield Mark(SURVIVORS, text, folded)
        if 0 < about.count < about.transfers:
            yield Mark("!", self._of_all(about))

    def _of_all(self, about: Unfinished) -> str:
        """Returns a sentence on the download times of all transfers, finished or not."""
        done = f"{about.transfers - about.count} of {about.transfers} transfers finished"
        mean = f"the mean download time of all is at least {number(about.at_least_s, 's')}."
        if math.isfinite(about.median_s):
            median = f"the median download time of all is {number(about.median_s, 's')}"
            mean = f"{median} (Kaplan-Meier), the mean at least {number(about.at_least_s, 's')}."
        return f"{done}; {mean}"

    def notes(self) -> Iterator[str]:
        """Yields missed targets, provenance and suggestions for the next command."""
        if not self.received:
            yield f"Nothing arrived: {no_arrival_hint(self.duration_s)}"
        elif self.open.count:
            yield from self._longer()
        yield from missed_targets(self.result)
        about = self.result.provenance
        asked = about.stopping.endswith("as asked")
        why = "" if asked else f" ({about.stopping})"
        replications = f"{counted(about.runs, 'replication')}{why}, seed {about.seed}."
        yield f"{replications} {self._finished()}".strip()
        if about.runs < 2:
            yield ONE_REPLICATION
        if not self.arguments:
            return
        hint = "" if self.arguments.options.get("report") else "--report draws a page"
        parts = [f"{self.folder} has the tables" if self.folder else "", hint]
        if any(parts):
            yield f"{'; '.join(filter(None, parts))}."
        if not self.received:
            return
        if self.phones == 1:
            yield f"What would help: {self._explain(self.arguments, what_if=True)}"
        else:
            user = self._slowest()
            yield f"Why user {user} is slow: {self._explain(self.arguments, user=user)}"

    def _slowest(self) -> int:
        """Returns the user with the lowest mean rate, of those to whom data arrived in each run."""
        users, place = np.unique(self.flows["user"], return_inverse=True)
        rates = np.bincount(place, self.flows["received_bps"]) / np.bincount(place)
        arrived = np.bincount(place, self.flows["delivered_bytes"] == 0) == 0
        return int(users[np.argmin(np.where(arrived | ~arrived.any(), rates, math.inf))])

    def _explain(self, arguments: Arguments, **options: object) -> str:
        given = any(arguments.options.get(name) is not None for name in ("runs", "precision"))
        is_other = given or self.result.scenario.precision is not None
        runs = self.result.provenance.runs if is_other else None
        return arguments.command("explain", precision=None, report=None, runs=runs, **options)

    def _longer(self) -> Iterator[str]:
        about = self.open
        arrived = f"Unfinished transfers had received {percent(about.received)} of their data"
        starved = f"; {percent(about.starved)} of them none" if about.starved else ""
        if math.isfinite(about.enough_s):
            yield (
                f'A longer run shows more: --set duration="{about.enough_s:g} s" is enough at the '
                f"pace of each transfer. {arrived}{starved}."
            )
        else:
            yield f"{arrived}{starved}."


def _of_group(label: str, row: dict[str, Any]) -> str:
    return label if row["group"] == ALL else f"{label} ({row['group']})"


def row_text(row: dict[str, Any], scale: tuple[str, float] | None = None) -> Shown:
    ends = (row["mean"], row["ci95_low"], row["ci95_high"])
    is_percent = METRICS[row["metric"]].percent
    return shown(*ends, row["unit"], percent=is_percent, scale=scale)


def all_metrics(result: Result) -> Iterator[Rows]:
    """Metrics whose mean and interval are 0 in every group are listed in a second table, if
    there are any."""
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
            text = row_text(one, scale)
            mark = SURVIVORS if one["covered"] < 1 and math.isfinite(one["mean"]) else ""
            cells += [Shown(text.number, f"{text.unit} {mark}".strip()), text.interval]
        table.append(cells)
    head = ["", *(text for group in groups for text in (group if len(groups) > 1 else "", ""))]
    yield Rows(head, table, "All metrics")
    if zero:
        yield Rows(("",), [[name] for name in zero], f"0 {ALWAYS}")
