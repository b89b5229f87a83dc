"""Repeated emulations: metrics of each, their means, and differences between pairs of one seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nodeb.answer.answer import Answer, Mark, Rows
from nodeb.answer.numbers import Shown, shown
from nodeb.answer.words import counted
from nodeb.base.streams import printable
from nodeb.base.table import Table
from nodeb.comparison.differences import (
    MARGIN,
    Comparison,
    Difference,
    Tried,
    check_margin,
    difference,
)
from nodeb.emulate import recordings
from nodeb.errors import InputError, nearest
from nodeb.results.metrics import ALL, Metric
from nodeb.stats import Interval, family_confidence, mean_interval
from nodeb.storage.files import read_parquet

TABLE = "emulations"
"""Result table with the metrics of each emulation, one row per seed and group."""
CAUSES = {
    "lost_link": "lost on a link",
    "lost_overflow": "no room in a queue",
    "lost_early_drop": "dropped early by a queue",
    "lost_radio": "given up by the radio",
}
"""Columns of lost packets in reports, and why they were lost."""
COMMAND = Metric(
    "command_s",
    "s",
    "Time from the start of the phones' commands to the end of the last; none if one failed.",
    "command time",
    None,
    "less",
)


def _of_packets() -> list[Metric]:
    found = []
    for way, word in (("down", "to the phone"), ("up", "from the phone")):
        rate = "Bytes that arrived, from the first packet offered to the last arrival."
        delay = "One-way delay of the packets that arrived"
        found += [
            Metric(f"{way}_bps", "bit/s", rate, f"rate {word}", None),
            Metric(
                f"{way}_delay_p50_s", "s", f"{delay}: median.", f"median delay {word}", None, "less"
            ),
            Metric(
                f"{way}_delay_p99_s", "s", f"{delay}: 99 of 100.", f"p99 delay {word}", None, "less"
            ),
            Metric(
                f"{way}_lost",
                "1",
                "Share of packets lost.",
                f"packets lost {word}",
                None,
                "less",
                high=1.0,
                percent=True,
            ),
        ]
    return found


METRICS = {one.name: one for one in (COMMAND, *_of_packets())}


def sample(report: Mapping[str, Any], seed: int, command_s: float = math.nan) -> Table:
    """Returns the metrics of an emulation or a replay: a row per group, `all` for one phone.

    Several phones have rows of their own, and the row `all` has only the time of their commands.
    """
    phones = report["phones"]
    rows = [(ALL, phones[0])] if len(phones) == 1 else [(one["name"], one) for one in phones]
    if len(phones) > 1:
        rows.insert(0, (ALL, {}))
    return Table.of_rows(
        [
            {"run": 0, "seed": seed, "group": group, "command_s": math.nan}
            | ({"command_s": command_s} if group == ALL else {})
            | _packets(phone, "down")
            | _packets(phone, "up")
            for group, phone in rows
        ]
    )


def _packets(phone: Mapping[str, Any], way: str) -> dict[str, float]:
    values = dict.fromkeys((f"{way}_bps", f"{way}_delay_p50_s", f"{way}_delay_p99_s"), math.nan)
    values[f"{way}_lost"] = math.nan
    flow = phone.get(way)
    if flow is None or not flow["offered_packets"]:
        return values
    values[f"{way}_lost"] = sum(flow[cause] for cause in CAUSES) / flow["offered_packets"]
    if flow["span_s"] > 0:
        values[f"{way}_bps"] = 8.0 * flow["arrived_bytes"] / flow["span_s"]
    if flow["delay"]["count"]:
        values[f"{way}_delay_p50_s"] = flow["delay"]["p50_s"]
        values[f"{way}_delay_p99_s"] = flow["delay"]["p99_s"]
    return values


def read(path: Path) -> Table:
    """Reads samples: from results of `nodeb emulate --out`, from a recording, or a folder of them.

    Raises:
        InputError: there is none of these at `path`, or two recordings have the same seed.
    """
    stored = path / f"{TABLE}.parquet"
    if stored.exists():
        try:
            return read_parquet(stored)[0]
        except (OSError, ValueError) as error:
            raise InputError(f"{stored}: {error}") from None
    logs = sorted(path.glob("*.log")) if path.is_dir() else [path]
    if not logs:
        raise InputError(
            f"{path}: there are neither tables of `nodeb emulate --out` nor recordings (*.log)"
        )
    parts = []
    for log in logs:
        recording = recordings.read(log)
        parts.append(sample(recording.replay().report, recording.seed))
    seeds = [int(one["seed"][0]) for one in parts]
    if len(set(seeds)) < len(seeds):
        raise InputError(f"{path}: two recordings have the same seed ({sorted(seeds)})")
    return Table.concat(parts)


def mean_of(samples: Table, name: str, group: str = ALL) -> Interval:
    """Returns the mean of a metric over emulations, with its 95 % interval.

    Raises:
        InputError: there is no such metric, or it has no value.
    """
    metric = METRICS.get(name)
    if metric is None:
        raise InputError(f"emulations have no metric `{name}`{nearest(name, METRICS)}")
    values = samples.where(samples["group"] == group)[name]
    values = values[np.isfinite(values)]
    if not len(values):
        raise InputError(f"no emulation has a value of `{name}`")
    return mean_interval(values).within(metric.low, metric.high)


def repeated(samples: Table, subject: str, marks: Sequence[Mark], where: str = "") -> Answer:
    """Answer of several emulations: means with 95 % intervals over the seeds."""
    rows: list[list[str]] = []
    for group in dict.fromkeys(samples["group"].tolist()):
        for metric in METRICS.values():
            values = samples.where(samples["group"] == group)[metric.name]
            if not np.isfinite(values).any():
                continue
            name = metric.label if group == ALL else f"{group}: {metric.label}"
            value = _shown(mean_of(samples, metric.name, group), metric)
            rows.append([name, value.in_one_cell, f"{int(np.isfinite(values).sum())}"])
    seeds = np.unique(samples["seed"])
    times = samples.where(samples["group"] == ALL)["command_s"]
    headline = "No command succeeded."
    if np.isfinite(times).any():
        taken = _shown(mean_of(samples, COMMAND.name), COMMAND).with_level
        headline = f"The command takes {taken}."
    note = f"{counted(len(seeds), 'emulation')}, seeds {seeds[0]} to {seeds[-1]}."
    return Answer(
        command="nodeb emulate",
        subject=subject,
        headline=headline,
        table=Rows(["", "mean (95 %)", "emulations"], rows),
        marks=marks,
        notes=[*filter(None, (note, where))],
    )


def _shown(mean: Interval, metric: Metric) -> Shown:
    return shown(mean.mean, mean.low, mean.high, metric.unit, percent=metric.percent)


def paired(sides: Mapping[str, Table]) -> dict[str, Table]:
    """Returns the samples of the seeds that all sides have, in the order of the seeds.

    Raises:
        InputError: the sides have no seed in common.
    """
    seeds = {name: set(table["seed"].tolist()) for name, table in sides.items()}
    common = set.intersection(*seeds.values())
    if not common:
        listed = "; ".join(f"{name}: {sorted(some)}" for name, some in seeds.items())
        raise InputError(
            f"these emulations have no seed in common, and cannot be paired ({listed}); repeat "
            "them with the same --seed and --runs"
        )
    found = {}
    for name, table in sides.items():
        rows = table.where(np.isin(table["seed"], sorted(common)))
        order = np.argsort(rows["seed"], kind="stable")
        found[name] = Table({column: rows[column][order] for column in rows.columns})
    return found


def compare(
    sides: Mapping[str, Table], margin: float = MARGIN, metrics: Sequence[str] = ()
) -> Comparison:
    """Compares emulations, seed by seed, with those of the first side.

    Raises:
        InputError: the margin is invalid, a metric is unknown, or the sides are not of one seed.
    """
    margin = check_margin(margin)
    for name in metrics:
        if name not in METRICS:
            raise InputError(f"emulations have no metric `{name}`{nearest(name, METRICS)}")
    baseline, *others = paired(sides).items()
    level = family_confidence(len(others))
    tried = [
        Tried(
            name,
            [
                one
                for group in dict.fromkeys(baseline[1]["group"].tolist())
                for metric in METRICS.values()
                if (not metrics or metric.name in metrics)
                and (one := _difference(group, metric, baseline[1], table, margin, level))
            ],
            [],
            {},
        )
        for name, table in others
    ]
    seeds = np.unique(baseline[1]["seed"])
    return Comparison(printable(baseline[0]), tried, len(seeds), int(seeds[0]), margin)


def _difference(
    group: str, metric: Metric, base: Table, own: Table, margin: float, confidence: float
) -> Difference | None:
    values = [table.where(table["group"] == group)[metric.name] for table in (base, own)]
    if not len(values[1]):
        return None
    return difference(group, metric, values[0], values[1], margin, confidence)
