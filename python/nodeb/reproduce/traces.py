"""Pictures over time of a study's TCP variants: sequence numbers, windows, times between ACKs.

A study with a table `traces` has them: `at` and `series` say which scenarios, as in a figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from nodeb.plot.source import save
from nodeb.plot.style import DASHES, color, legend, new_figure, new_rows
from nodeb.reproduce.arrays import Array, Tables
from nodeb.reproduce.campaign import Campaign
from nodeb.reproduce.link_stage import Facts, calculated
from nodeb.stats import Estimate, mean_interval
from nodeb.study.stage import Picture

RECORD = {"cwnd": True, "segments": True}
THIRD_DUPLICATE = 3
NOTE = "The first replication; times between ACKs are those of all that were traced."


@dataclass(frozen=True)
class Trace:
    """One replication of one variant.

    Attributes:
        label: what the legend calls it.
        sent_s: when segments went out that had not been sent before, s.
        sent: their numbers.
        window_s: when the congestion window changed, s.
        window: the window from then on, packets.
        ack_s: when ACKs reached the sender, duplicates included, s.
        acked: the highest segment in order that each tells of.
    """

    label: str
    sent_s: Array
    sent: Array
    window_s: Array
    window: Array
    ack_s: Array
    acked: Array

    @property
    def gaps_s(self) -> Array:
        """Times between ACKs, s, in order of size."""
        return np.sort(np.diff(self.ack_s))

    @property
    def third_duplicate_s(self) -> float:
        """When the first third duplicate ACK arrived, s; NaN if none did."""
        same = np.concatenate([[False], np.diff(self.acked) == 0])
        run = 0
        for at, again in zip(self.ack_s, same, strict=True):
            run = run + 1 if again else 0
            if run == THIRD_DUPLICATE:
                return float(at)
        return float("nan")


def draw(campaign: Campaign, out: Path) -> tuple[Facts, list[Picture]]:
    """Simulate the traces of a study and draw them to `out`; returns what they say, by name."""
    spec = campaign.study.traces
    runs = [_traces(campaign, spec, run) for run in range(campaign.traced())]
    first, pictures = runs[0], spec["pictures"]
    drawn = {
        "sequence": _sequence(first, pictures["sequence"]),
        "window": _window(first, pictures["window"], spec["window_until_s"]),
        "ack_gaps": _gaps(runs, pictures["ack_gaps"], spec["gap_until_s"]),
    }
    for name, figure in drawn.items():
        for suffix in ("png", "svg"):
            save(figure, out / f"{name}.{suffix}")
    shown = [_picture(pictures[name], figure, _spoken(first)) for name, figure in drawn.items()]
    return _facts(runs), shown


def _picture(title: str, figure: Figure, spoken: str) -> Picture:
    number, _, what = title.partition(". ")
    return Picture(number, what, figure, spoken, NOTE)


def _spoken(traces: Sequence[Trace]) -> str:
    last = (f"{trace.label} {trace.sent[-1]:.0f}" for trace in traces)
    return f"Last sequence numbers: {', '.join(last)}."


def _traces(campaign: Campaign, spec: Mapping[str, Any], run: int) -> list[Trace]:
    fixed = campaign.study.select(spec["at"])[0]
    found = []
    for choice in campaign.study.choices(spec["series"]):
        tables = campaign.tables((*fixed, choice), run, RECORD)
        found.append(_trace(choice.label, tables))
    return found


def _trace(label: str, tables: Tables) -> Trace:
    segments, window = tables["segments"], tables["cwnd"]
    event, again = np.asarray(segments["event"]), np.asarray(segments["retransmission"], dtype=bool)
    time, number = (np.asarray(segments[name], dtype=float) for name in ("t_s", "seq"))
    new, ack = (event == "send") & ~again, event == "ack"
    return Trace(
        label,
        time[new],
        number[new],
        np.asarray(window["t_s"], dtype=float),
        np.asarray(window["cwnd_packets"], dtype=float),
        time[ack],
        number[ack],
    )


def _sequence(traces: Sequence[Trace], title: str) -> Figure:
    figure, axes = new_figure(title, "Time (s)", "Sequence number (packets)")
    for place, trace in enumerate(traces):
        style = DASHES[place % len(DASHES)]
        axes.plot(trace.sent_s, trace.sent, label=trace.label, color=color(place), linestyle=style)
    legend(axes)
    return figure


def _window(traces: Sequence[Trace], title: str, until_s: float) -> Figure:
    figure, panels = new_rows(title, "Time (s)", "Congestion window (packets)", traces, (7.2, 6.4))
    for place, (axes, trace) in enumerate(zip(panels, traces, strict=True)):
        axes.step(trace.window_s, trace.window, where="post", color=color(place), linewidth=1.1)
        axes.set_title(trace.label, loc="center", fontsize=10)
        axes.set_xlim(0, until_s)
    return figure


def _gaps(runs: Sequence[Sequence[Trace]], title: str, until_s: float) -> Figure:
    figure, axes = new_figure(title, "Time between ACKs (s)", "Share that is no longer")
    for place, traces in enumerate(zip(*runs, strict=True)):
        gaps = np.sort(np.concatenate([trace.gaps_s for trace in traces]))
        share = np.arange(1, len(gaps) + 1) / len(gaps)
        style = DASHES[place % len(DASHES)]
        axes.step(
            gaps, share, where="post", label=traces[0].label, color=color(place), linestyle=style
        )
    axes.set_xlim(0, until_s)
    axes.set_ylim(0, 1.02)
    legend(axes)
    return figure


def _facts(runs: Sequence[Sequence[Trace]]) -> Facts:
    """Per replication, then mean with 95 % interval."""
    apart = [max(distance(a.gaps_s, b.gaps_s) for a, b in combinations(one, 2)) for one in runs]
    facts = {"ack_gap_distance": _mean(apart)}
    for traces in zip(*runs, strict=True):
        name = "".join(traces[0].label.lower().split())
        facts[f"{name}_third_duplicate_s"] = _mean([t.third_duplicate_s for t in traces])
        facts[f"{name}_window_most"] = _mean([float(t.window.max()) for t in traces])
    return facts


def _mean(values: Sequence[float]) -> Estimate:
    """Mean with its interval, of the replications that have a value."""
    known = np.asarray([value for value in values if np.isfinite(value)])
    if len(known) < 2:
        return calculated(float(known[0]) if len(known) else float("nan"))
    interval = mean_interval(known)
    return Estimate(interval.mean, interval.low, interval.high, len(known))


def distance(first: Array, second: Array) -> float:
    """Largest difference of two empirical distribution functions (Kolmogorov and Smirnov).

    Args:
        first: values in order of size.
        second: values in order of size.
    """
    places = np.concatenate([first, second])
    shares = (np.searchsorted(one, places, side="right") / len(one) for one in (first, second))
    return float(np.max(np.abs(np.subtract(*shares))))
