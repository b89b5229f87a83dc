"""Answers of `nodeb emulate` and `nodeb replay`, and the files of their results."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from nodeb.answer.answer import Answer, Mark, Rows
from nodeb.answer.numbers import Shown, number, shown
from nodeb.answer.words import counted, sentence
from nodeb.base.table import Table
from nodeb.emulate.plan import Plan
from nodeb.emulate.recordings import CUT_OFF, Recording, Replay
from nodeb.emulate.samples import CAUSES, TABLE, sample
from nodeb.emulate.session import Options, Outcome
from nodeb.errors import InputError, OutputError
from nodeb.results.provenance import Provenance
from nodeb.results.result import Result
from nodeb.storage.files import check_place, refuse_other_page
from nodeb.storage.folders import Owner, Place, claim

ENDED = {
    "command": "the commands had ended",
    "duration": "the duration was over",
    "signal": "a signal ended it",
}
REFUSED = {
    "malformed": "not IP, or shorter or longer than their header says",
    "stray": "destination not behind the cell (multicast, link-local, unknown)",
    "too_long": "longer than the MTU",
    "no_memory": "packets in transit used all the memory allowed",
    "unwritten": "arrived, but the device was down",
}
WAYS = {"down": "to", "up": "from"}
SAMPLE = "One emulation is one sample; --runs 10 gives means with intervals."
PAGE_SUFFIXES = (".html", ".htm")

Report = Mapping[str, Any]


def emulated(plan: Plan, options: Options, outcome: Outcome, where: str = "") -> Answer:
    report, late = outcome.report, outcome.report["lateness"]
    parts = [_losses(report)]
    if outcome.too_late is not None:
        parts.insert(0, f"inaccurate timing: {outcome.too_late}")
    elif late["count"]:
        parts.append(f"99 of 100 deliveries were at most {number(late['p99_s'], 's')} late")
    marks = list(_refusals(report))
    if not outcome.real_time:
        why = "The driver ran without real-time priority: SCHED_FIFO was refused."
        marks.append(Mark("!", why))
    note = f"It lasted {number(report['lasted_s'], 's')}, seed {options.seed}. {SAMPLE}"
    subject = "nodeb emulate", plan.scenario.name or "an emulation"
    return _answer(report, *subject, "; ".join(parts), marks, [note, where])


def replayed(recording: Recording, replay: Replay, where: str = "") -> Answer:
    report = replay.report
    if report["differs"] is None:
        outcome = f"the same: {counted(report['same'], 'packet')} had the same fate, to the ns"
    else:
        core = "" if recording.is_same_core else " (it was recorded with another core of nodeb)"
        outcome = f"not the same{core}: {report['differs']}"
    marks = [] if report["complete"] else [Mark("!", f"{sentence(CUT_OFF)}.")]
    lasted = number(report["lasted_s"], "s")
    late = number(report["lateness"]["p99_s"], "s")
    note = (
        f"The recorded emulation lasted {lasted}, seed {recording.seed}; its lateness was {late} "
        "(p99)."
    )
    subject = "nodeb replay", recording.scenario.name or "a recording"
    return _answer(report, *subject, outcome, marks, [note, where])


def _answer(
    report: Report, command: str, subject: str, outcome: str, marks: list[Mark], notes: list[str]
) -> Answer:
    return Answer(
        command=command,
        subject=subject,
        headline=f"{outcome}.",
        table=_table(report),
        everything=[_counts(report)],
        marks=[*_marks(report), *marks],
        notes=[*filter(None, notes)],
    )


def _flows(report: Report) -> list[tuple[str, Mapping[str, Any]]]:
    """Counts and delays of the packets to and from each phone."""
    return [
        (f"{word} {phone['name']}", phone[way])
        for phone in report["phones"]
        for way, word in WAYS.items()
    ]


def _total(report: Report, key: str) -> int:
    return sum(int(flow[key]) for _, flow in _flows(report))


def _lost(flow: Mapping[str, Any]) -> int:
    return sum(int(flow[cause]) for cause in CAUSES)


def _under_way(flow: Mapping[str, Any]) -> int:
    return max(int(flow["offered_packets"]) - int(flow["arrived_packets"]) - _lost(flow), 0)


def _losses(report: Report) -> str:
    lost = sum(_total(report, cause) for cause in CAUSES)
    offered = _total(report, "offered_packets")
    return f"{lost} of {counted(offered, 'packet')} lost" if offered else "no packet passed"


def _table(report: Report) -> Rows:
    """Bit rates are from the acceptance of the first packet that arrived to the last arrival."""
    rows: list[list[str | Shown]] = []
    for name, flow in _flows(report):
        rate = 8.0 * flow["arrived_bytes"] / flow["span_s"] if flow["span_s"] > 0 else 0.0
        counts = _whole(flow["offered_packets"]), _whole(_lost(flow))
        times = _delay(flow, "p50_s"), _delay(flow, "p99_s")
        rows.append([name, *counts, shown(rate, unit="bit/s"), *times])
    return Rows(["", "packets", "lost", "bit rate", "median delay", "99 of 100"], rows)


def _counts(report: Report) -> Rows:
    rows: list[list[str | Shown]] = []
    for name, flow in _flows(report):
        causes = [_whole(flow[cause]) for cause in CAUSES]
        counts = _whole(flow["arrived_packets"]), _whole(_under_way(flow))
        size = shown(flow["arrived_bytes"], unit="bytes")
        times = _delay(flow, "mean_s"), _delay(flow, "max_s")
        rows.append([name, *counts, size, *times, *causes])
    head = ["", "arrived", "under way", "size", "mean delay", "longest", *CAUSES.values()]
    return Rows(head, rows, "All counts and delays")


def _whole(count: float) -> Shown:
    return Shown(str(int(count)), "")


def _delay(flow: Mapping[str, Any], key: str) -> Shown:
    return shown(flow["delay"][key] if flow["delay"]["count"] else math.nan, unit="s")


def _marks(report: Report) -> Iterator[Mark]:
    totals = {text: _total(report, cause) for cause, text in CAUSES.items()}
    if any(totals.values()):
        losses = [f"{total} {text}" for text, total in totals.items() if total]
        yield Mark("!", f"Lost: {', '.join(losses)}.")
    if under_way := sum(_under_way(flow) for _, flow in _flows(report)):
        were = "packet was" if under_way == 1 else "packets were"
        yield Mark("!", f"{under_way} {were} still under way when this ended.")


def _refusals(report: Report) -> Iterator[Mark]:
    for key, text in REFUSED.items():
        if report[key]:
            yield Mark("!", f"{counted(report[key], 'packet')} refused: {text}.")
    devices = [("the server", report["server_device"])]
    devices += [(phone["name"], phone["device"]) for phone in report["phones"]]
    for name, device in devices:
        if dropped := device.get("dropped"):
            packets = counted(dropped, "packet")
            yield Mark("!", f"{packets} of {name} refused: the driver read the device too slowly.")


@contextmanager
def claimed(
    folder: Path | None, file: Path, *, force: bool, once: bool = False, made_of: str = ""
) -> Iterator[Place | None]:
    """Claims the results folder, None for none, before the emulation or replay begins.

    Args:
        folder: the folder; None for no results.
        file: the scenario or log that the results are made from.
        force: whether to replace existing results.
        once: whether to refuse complete results of the same file too, unless `force` is true, as
            an emulation cannot be repeated.
        made_of: hash of the input file; empty to distinguish results by the file's name only.
    """
    if folder is None:
        yield None
        return
    with claim(folder, Owner("emulation", file.name, made_of=made_of), force=force) as place:
        if once and not force and place.before is not None and place.before["complete"]:
            raise OutputError(
                f"{folder} has results, and an emulation cannot be repeated; --force replaces them"
            )
        yield place


def write_emulations(
    place: Place, plan: Plan, options: Options, outcomes: Sequence[Outcome]
) -> None:
    """Writes the tables of emulations, and their reports in `provenance.json`.

    The seeds of the emulations follow that of `options`.
    """
    wall_s = sum(one.wall_s for one in outcomes)
    about = _provenance(options.seed, ENDED[outcomes[-1].ended], wall_s, len(outcomes))
    tables: list[Mapping[str, Any]] = []
    for run, outcome in enumerate(outcomes):
        measured = sample(outcome.report, options.seed + run, outcome.command_s)
        own: dict[str, Any] = {**outcome.tables, TABLE: measured}
        tables.append({name: _of_run(Table.concat([one]), run) for name, one in own.items()})
    result = Result.from_replications(plan.scenario, tables, about)
    reports = [
        {
            **outcome.report,
            "real_time": outcome.real_time,
            "true_to_time": outcome.too_late is None,
            "exits": outcome.exits,
            "mtu_bytes": options.mtu,
        }
        for outcome in outcomes
    ]
    result.put(place, about={"emulation": reports[0] if len(reports) == 1 else reports})


def _of_run(table: Table, run: int) -> Table:
    return Table({name: table[name] for name in table.columns} | {"run": np.full(len(table), run)})


def failures(outcomes: Sequence[Outcome], seed: int) -> list[Mark]:
    """Remarks on emulations whose commands failed."""
    failed = [str(seed + at) for at, one in enumerate(outcomes) if math.isnan(one.command_s)]
    if not failed:
        return []
    text = f"The command failed in {len(failed)} of {len(outcomes)} (seeds {', '.join(failed)})."
    return [Mark("!", text)]


def write_replay(place: Place, recording: Recording, replay: Replay) -> None:
    """Writes the tables of a replay, and its report in `provenance.json`."""
    about = _provenance(recording.seed, "the log had ended", 0.0)
    tables = dict(replay.tables) | {TABLE: sample(replay.report, recording.seed)}
    result = Result.from_replications(recording.scenario, [tables], about)
    result.put(place, about={"replay": replay.report})


def _provenance(seed: int, stopping: str, wall_s: float, runs: int = 1) -> Provenance:
    started = datetime.now(UTC) - timedelta(seconds=wall_s)
    return Provenance.now(
        seed=seed,
        runs=runs,
        jobs=1,
        stopping=stopping,
        precision_reached=None,
        wall_time_s=round(wall_s, 6),
        started=started.isoformat(timespec="seconds"),
    )


def page_place(report: Path | None, out: Path | None, *, force: bool = False) -> Path | None:
    """Checks the path of a page (`--report`) before the emulation, so that it costs no time.

    A bare name is in the results folder, if there is one, which is written whole.
    """
    if report is None:
        return None
    if report.suffix.lower() not in PAGE_SUFFIXES:
        raise InputError(f"--report {report}: expected the name of a page, such as report.html")
    if out is not None and report.name == str(report):
        report = out / report
    if out is not None and report.parent.resolve() == out.resolve():
        return report
    check_place(report, "--report")
    if force:
        refuse_other_page(report, "--report")
    elif os.path.lexists(report):
        raise OutputError(f"{report} exists; give another --report, or replace it with --force")
    return report
