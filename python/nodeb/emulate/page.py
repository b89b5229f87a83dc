"""HTML report of an emulation or a replay."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from nodeb import _core
from nodeb.answer import Answer
from nodeb.base.streams import printable
from nodeb.base.table import Table
from nodeb.emulate.answer import emulated, replayed
from nodeb.emulate.labels import CAUSES, REFUSED, in_words
from nodeb.emulate.plan import Plan
from nodeb.emulate.recordings import Recording, Replay
from nodeb.emulate.results_folder import ENDED
from nodeb.emulate.session import Options, Outcome
from nodeb.emulate.time_means import means
from nodeb.inputs.scenario import Scenario
from nodeb.plot import emulation as plot
from nodeb.plot.style import NARROW
from nodeb.report.answer import content
from nodeb.report.figures import Content, figure, section
from nodeb.report.render import render

__all__ = ["of_emulation", "of_replay"]

ONE = (
    "One emulation is one sample (n = 1): repeating the commands, or another seed, gives other "
    "results, and this page does not show how much they would differ."
)
COUNTED = {
    "bearers": (
        "bearer",
        "kind",
        "ttis",
        "blocks",
        "blocks_failed",
        "packets_in",
        "packets_delivered",
        "packets_dropped",
    ),
    "links": ("link", "packets", "lost", "overflowed", "dropped_early", "marked", "bytes"),
}
"""Names of the result tables on the page, and the columns that are shown of each."""
MAX_ROWS = 40
"""Maximum number of rows shown of a result table; a note states the number of other rows."""

OUTSIDE = "come from outside: a run refuses them"
"""Part of the text of the scenario's warning about external users."""


@dataclass(frozen=True)
class Shown:
    """Content of the page about an emulation or a replay: report, tables, answer and provenance."""

    scenario: Scenario
    """The scenario that was emulated."""
    report: Mapping[str, Any]
    """Counts, delays and losses of real packets, and lateness, as the core returns them."""
    tables: Mapping[str, Table]
    """All result tables by name."""
    answer: Answer
    """Answer at the top of the page."""
    banners: list[str]
    """Warnings about the scenario, shown above the answer; empty for a replay."""
    facts: list[tuple[str, str]]
    """Provenance: labels and values."""
    late_limit_s: float | None
    """Lateness above which a delivery counts as late, s; None for a replay."""

    @property
    def names(self) -> dict[int, str]:
        """Names of the real phones, by the index of their users in the scenario."""
        return {phone["user"]: phone["name"] for phone in self.report["phones"]}


def of_emulation(plan: Plan, options: Options, outcome: Outcome, command: str = "") -> str:
    """Returns the report of an emulation, a self-contained HTML page.

    `command` is the command line that makes the emulation again.
    """
    report = outcome.report
    commands = [
        (f"command of {one.name}", printable(shlex.join(one.command))) for one in plan.phones
    ]
    server = [("server", shlex.join(options.server))] if options.server else []
    limit = "none" if options.duration_s is None else in_words(options.duration_s)
    facts = [
        *commands,
        *server,
        ("ended because", ENDED[outcome.ended]),
        ("exit status", ", ".join(f"{name} {code}" for name, code in outcome.exits.items())),
        ("duration allowed", limit),
        ("largest packet", f"{options.mtu} bytes"),
        ("real-time priority", "yes" if outcome.real_time else "no: SCHED_FIFO was refused"),
        ("CPU of the driver", f"{report['cpu_s'] / max(report['lasted_s'], 1e-9):.1%}"),
        ("longest driver iteration", in_words(report["busy"]["max_s"])),
        ("memory of payloads", f"{report['memory_bytes'] / 1e6:.1f} MB"),
        *_machine(),
    ]
    scenario = plan.scenario
    # Every emulation has external users, so the warning about such users is omitted.
    warnings = [text for text in scenario.warnings() if OUTSIDE not in text]
    shown = Shown(
        scenario,
        report,
        _tables(outcome.tables),
        emulated(plan, options, outcome),
        warnings,
        facts,
        report["lateness"]["limit_s"],
    )
    return _html(shown, command)


def of_replay(recording: Recording, replay: Replay, command: str = "") -> str:
    """Returns the report of a replay, a self-contained HTML page; `command` repeats the replay."""
    about = recording.about
    of_core = "yes" if recording.is_same_core else f"no: nodeb {about.get('version', 'unknown')}"
    facts = [("log", printable(recording.path)), ("recorded with this core", of_core), *_machine()]
    tables = _tables(replay.tables)
    answer = replayed(recording, replay)
    shown = Shown(recording.scenario, replay.report, tables, answer, [], facts, None)
    return _html(shown, command)


def _tables(found: Mapping[str, Any]) -> dict[str, Table]:
    return {name: Table(columns) for name, columns in found.items()}


def _machine() -> list[tuple[str, str]]:
    return [("machine", f"{platform.system()} {platform.release()}, {platform.machine()}")]


def _html(shown: Shown, command: str) -> str:
    parts = [_packets(shown), _over_time(shown), _distributions(shown), _links(shown)]
    return render(
        "page.html",
        {
            "title": shown.scenario.name or "An emulation",
            "answer": content(shown.answer),
            "banners": shown.banners,
            "parts": parts,
            "facts": shown.facts,
            "command": command,
            "scenario": shown.scenario.to_toml(),
            "version": _core.version(),
        },
    )


def _table(title: str, columns: list[str], rows: list[list[str]], note: str = "") -> Content:
    return {"title": title, "columns": columns, "rows": rows, "note": note}


def _packets(shown: Shown) -> Content:
    """Returns the section on packets: tables of losses, of refusals and of means over time.

    Tables without rows are omitted.
    """
    tables = []
    lost = [
        [f"{phone['name']} {way}", *(str(phone[way][cause]) for cause in CAUSES)]
        for phone in shown.report["phones"]
        for way in ("down", "up")
        if any(phone[way][cause] for cause in CAUSES)
    ]
    if lost:
        tables.append(_table("Lost", ["phone", *CAUSES.values()], lost))
    refused = [[text, str(shown.report[key])] for key, text in REFUSED.items() if _has(shown, key)]
    if refused:
        tables.append(_table("Refused", ["packets that", "number"], refused))
    found = means(shown.tables["emulation"], shown.tables["emulation_cell"], shown.names)
    if found.rows:
        tables.append(_table("Means over time", found.columns, found.rows, found.note))
    return section("packets", "Packets", ONE, tables=tables)


def _has(shown: Shown, key: str) -> bool:
    return bool(shown.report.get(key))


def _over_time(shown: Shown) -> Content:
    phones, cell, names = shown.tables["emulation"], shown.tables["emulation_cell"], shown.names
    width = float(cell["end_s"][0] - cell["begin_s"][0]) if len(cell) else 0.0
    text = (
        f"Each value is for an interval of {in_words(width)}; a packet counts in that of its "
        "arrival or loss. Curves have gaps at intervals without packets."
    )
    if len(names) > plot.MAX_CURVES:
        text += f" Shown are {plot.MAX_CURVES} of {len(names)} real phones; the tables list all."
    return section("time", "Over time", text, list(_pictures(shown, phones, cell, names)))


def _pictures(
    shown: Shown, phones: Table, cell: Table, names: Mapping[int, str]
) -> Iterator[Content]:
    if not len(cell):
        return
    for way, title in (("down", "Rate to the phones"), ("up", "Rate from the phones")):
        drawn = plot.rates(phones, cell, names, way, NARROW)
        yield figure(f"rates-{way}", title, drawn, "IP packets that arrived, headers included.")
    for way, title in (("down", "Delay to the phones"), ("up", "Delay from the phones")):
        note = "Median of the packets that arrived in the interval; the band extends to the p99."
        yield from _drawn(f"delays-{way}", title, plot.delays(phones, names, way, NARROW), note)
    note = "Of all real phones, both directions, in each interval."
    yield from _drawn("losses", "Packets lost", plot.losses(phones, NARROW), note)
    note = "Down: at the bearer with the RNC; up: for the phone's uplink. Sampled every 0.1 s."
    yield from _drawn("queues", "Packets queued", plot.queues(phones, names, NARROW), note)
    note = "Sampled every 0.1 s, whether or not there was data to send."
    title = "Channel quality (CQI) known to the Node B"
    yield from _drawn("cqi", title, plot.cqi(phones, names, NARROW), note)
    note = "Delay from a packet's arrival in simulated time to its delivery to the device."
    yield from _drawn("late", "Lateness", plot.late(cell, shown.late_limit_s, NARROW), note)


def _distributions(shown: Shown) -> Content:
    late = shown.report["lateness"]
    keys = {"p50_s": "p50", "p99_s": "p99", "p999_s": "p99.9", "max_s": "max"}
    row = ["lateness", str(late["count"]), *(in_words(late[key]) for key in keys)]
    columns = ["", "deliveries", *keys.values()]
    if "share_beyond" in late:
        row.append(f"{late['share_beyond']:.3%}")
        columns.append(f"beyond {in_words(late['limit_s'])}")
    figures = [
        *_drawn(
            "delay-shares",
            "Delay of packets",
            plot.delay_shares(shown.tables["emulation_delays"], shown.names, NARROW),
            "From acceptance to arrival, in simulated time.",
        ),
        *_drawn(
            "late-shares",
            "Lateness of deliveries",
            plot.late_shares(shown.tables["emulation_lateness"], NARROW),
        ),
    ]
    text = "Cumulative distributions over the whole emulation."
    return section("shares", "Distributions", text, figures, [_table("", columns, [row])])


def _links(shown: Shown) -> Content:
    tables = [_plain(name, shown.tables[name], columns) for name, columns in COUNTED.items()]
    text = "Counters of links and bearers, for real and simulated users together."
    return section("links", "Links and bearers", text, tables=tables)


def _plain(name: str, table: Table, columns: Sequence[str]) -> Content:
    """Returns the given columns and the first `MAX_ROWS` rows of a result table for the page."""
    rows = [[_cell(row[column]) for column in columns] for row in islice(table, MAX_ROWS)]
    more = len(table) - len(rows)
    note = f"{more} more rows; the tables of --out have all." if more > 0 else ""
    return _table(name, [column.replace("_", " ") for column in columns], rows, note)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)


def _drawn(anchor: str, title: str, drawn: Figure | None, note: str = "") -> Iterator[Content]:
    if drawn is not None:
        yield figure(anchor, title, drawn, note)
