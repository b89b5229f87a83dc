"""HTML page of an emulation or a replay."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.answer import Answer
from nodeb.answer.numbers import number, shown
from nodeb.answer.words import percent
from nodeb.base.streams import printable
from nodeb.base.table import Table
from nodeb.emulate.figures import MAX_CURVES, drawings
from nodeb.emulate.plan import Plan
from nodeb.emulate.recordings import Recording, Replay
from nodeb.emulate.results import ENDED, emulated, replayed
from nodeb.emulate.session import Options, Outcome
from nodeb.errors import InputError
from nodeb.inputs.scenario import Scenario
from nodeb.report.render import render
from nodeb.report.svg import inline_svg
from nodeb.stats import batch_means

COUNTERS = {
    "bearers": "bearer kind ttis blocks blocks_failed packets_in packets_delivered packets_dropped",
    "links": "link packets lost overflowed dropped_early marked bytes",
}
"""Result tables on the page, and the columns that are shown of each."""
MAX_ROWS = 40
OUTSIDE = "come from outside: a run refuses them"
"""Part of the scenario's warning about external users, which every emulation has."""
BATCHES = 10
"""The minimum that Law and Kelton advise (section 9.5.3), as most emulations are short."""
MIN_INTERVALS = 4 * BATCHES
QUANTILES = {"p50_s": "p50", "p99_s": "p99", "p999_s": "p99.9", "max_s": "max"}
SECTIONS = (
    ("time", "Over time"),
    ("shares", "Distributions"),
    ("links", "Links and bearers"),
    ("provenance", "Provenance"),
)


def of_emulation(plan: Plan, options: Options, outcome: Outcome, command: str = "") -> str:
    """A self-contained HTML page; `command` is the command line that makes the emulation again."""
    report = outcome.report
    limit = "none" if options.duration_s is None else number(options.duration_s, "s")
    facts = [
        *((f"command of {one.name}", printable(shlex.join(one.command))) for one in plan.phones),
        *([("server", shlex.join(options.server))] if options.server else []),
        ("ended because", ENDED[outcome.ended]),
        ("exit status", ", ".join(f"{name} {code}" for name, code in outcome.exits.items())),
        ("duration allowed", limit),
        ("largest packet", f"{options.mtu} bytes"),
        ("real-time priority", "yes" if outcome.real_time else "no: SCHED_FIFO was refused"),
        ("CPU of the driver", f"{report['cpu_s'] / max(report['lasted_s'], 1e-9):.1%}"),
        ("longest driver iteration", number(report["busy"]["max_s"], "s")),
        ("memory of payloads", number(report["memory_bytes"], "bytes")),
    ]
    warnings = [text for text in plan.scenario.warnings() if OUTSIDE not in text]
    answer = emulated(plan, options, outcome)
    return _page(plan.scenario, report, outcome.tables, answer, facts, command, warnings)


def of_replay(recording: Recording, replay: Replay, command: str = "") -> str:
    """A self-contained HTML page; `command` is the command line of the replay."""
    version = recording.about.get("version", "unknown")
    facts = [
        ("log", printable(recording.path)),
        ("recorded with this core", "yes" if recording.is_same_core else f"no: nodeb {version}"),
    ]
    answer = replayed(recording, replay)
    return _page(recording.scenario, replay.report, replay.tables, answer, facts, command)


def _page(
    scenario: Scenario,
    report: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, Any]],
    answer: Answer,
    facts: Sequence[tuple[str, str]],
    command: str,
    banners: Sequence[str] = (),
) -> str:
    tables = {name: Table(table) for name, table in columns.items()}
    phones, cell = tables["emulation"], tables["emulation_cell"]
    names = {phone["user"]: phone["name"] for phone in report["phones"]}
    late = report["lateness"]
    times = {name: number(late[key], "s") for key, name in QUANTILES.items()}
    if "share_beyond" in late:
        times[f"beyond {number(late['limit_s'], 's')}"] = f"{late['share_beyond']:.3%}"
    machine = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return render(
        "emulation.html",
        {
            "title": scenario.name or "An emulation",
            "answer": answer,
            "banners": banners,
            "sections": SECTIONS,
            "drawings": drawings(tables, names, late.get("limit_s")),
            "svg": inline_svg,
            "width": number(
                float(cell["end_s"][0] - cell["begin_s"][0]) if len(cell) else 0.0, "s"
            ),
            "phones": len(names),
            "curves": MAX_CURVES,
            "means": means(phones, cell, names),
            "batches": BATCHES,
            "lateness_columns": ["", "deliveries", *times],
            "lateness": ["lateness", str(late["count"]), *times.values()],
            "counters": [_counters(name, tables[name]) for name in COUNTERS],
            "facts": [*facts, ("machine", machine)],
            "command": command,
            "scenario": scenario.to_toml(),
        },
    )


def _counters(name: str, table: Table) -> tuple[str, list[str], list[list[str]], int]:
    """Title, heads, rows, and number of rows that are not shown."""
    columns = COUNTERS[name].split()
    rows = [[_cell(row[column]) for column in columns] for row in islice(table, MAX_ROWS)]
    return name, [column.replace("_", " ") for column in columns], rows, len(table) - len(rows)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)


def means(phones: Table, cell: Table, names: Mapping[int, str]) -> list[list[str]]:
    """Means over time: quantity, mean, 95 % interval, and share of the warm-up.

    Quantities with too few recorded intervals, unknown values or only zeros have no row.
    """
    rows = []
    for name, values in _series(phones, cell, names):
        if len(values) < MIN_INTERVALS or not np.isfinite(values).all() or not values.any():
            continue
        try:
            estimate = batch_means(values, BATCHES)
        except InputError:  # Too few values remain after the warm-up.
            continue
        interval = estimate.interval
        mean = shown(interval.mean, interval.low, interval.high)
        rows.append([name, mean.number, mean.interval, percent(estimate.warmup / len(values))])
    return rows


def _series(
    phones: Table, cell: Table, names: Mapping[int, str]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """The last interval of time is omitted, because it may be incomplete."""
    for user, name in names.items():
        for way in ("down", "up"):
            rows = phones.where((phones["user"] == user) & (np.asarray(phones["way"]) == way))
            yield f"{name} {way}, kbit/s", _kbps(rows, "arrived_bytes")
            yield f"{name} {way}, packets waiting", rows["queue_packets"][:-1]
            if way == "down":
                yield f"{name}, CQI", rows["cqi"][:-1]
    yield "all simulated down, kbit/s", _kbps(cell, "simulated_down_bytes")


def _kbps(rows: Table, column: str) -> NDArray[np.float64]:
    rates: NDArray[np.float64] = 8e-3 * rows[column] / (rows["end_s"] - rows["begin_s"])
    return rates[:-1]
