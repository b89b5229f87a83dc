"""Figures 3 to 5 of the study: sequence numbers, congestion windows, times between ACKs."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nodeb.plot.style import DASHES, color, legend, new_figure, new_rows
from nodeb.stats import Estimate, calculated, mean_interval
from nodeb.study import Picture

TRACED, QUICK_TRACED = 20, 2
"""Replications that are traced; the pictures show the first."""
WINDOWS_UNTIL_S, GAPS_UNTIL_S = 125, 0.5
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
    sent_s: np.ndarray
    sent: np.ndarray
    window_s: np.ndarray
    window: np.ndarray
    ack_s: np.ndarray
    acked: np.ndarray

    @property
    def gaps_s(self):
        """Times between ACKs, s, in order of size."""
        return np.sort(np.diff(self.ack_s))

    @property
    def third_duplicate_s(self):
        """When the first third duplicate ACK arrived, s; NaN if none did."""
        same = np.concatenate([[False], np.diff(self.acked) == 0])
        run = 0
        for at, again in zip(self.ack_s, same, strict=True):
            run = run + 1 if again else 0
            if run == THIRD_DUPLICATE:
                return float(at)
        return float("nan")


def draw(at, cases):
    """Simulates and draws the traces of the cases of the variants; leaves what they say as facts.

    Facts: `ack_gap_distance`, the largest of two variants' distributions of times between ACKs;
    of each variant `..._third_duplicate_s` and `..._window_most`.
    """
    runs = [
        [trace(at, case, variant.label, run) for variant, case in cases.items()]
        for run in range(QUICK_TRACED if at.quick else TRACED)
    ]
    last = (f"{one.label} {one.sent[-1]:.0f}" for one in runs[0])
    spoken = f"Last sequence numbers: {', '.join(last)}."
    for name, number, title, figure in (
        ("sequence", "Figure 3", "Sequence numbers sent over time", sequence_numbers),
        ("window", "Figure 4", "Congestion window", windows),
        ("ack_gaps", "Figure 5", "Times between ACKs, distribution", gaps),
    ):
        drawn = figure(runs, f"{number}. {title}")
        at.add(name, Picture(number, title, drawn, spoken, NOTE))
    at.facts["ack_gap_distance"] = mean(
        [max(distance(a.gaps_s, b.gaps_s) for a, b in combinations(one, 2)) for one in runs]
    )
    for variant, traces in zip(cases, zip(*runs, strict=True), strict=True):
        name = variant.value
        at.facts[f"{name}_third_duplicate_s"] = mean([one.third_duplicate_s for one in traces])
        at.facts[f"{name}_window_most"] = mean([float(one.window.max()) for one in traces])


def trace(at, case, label, run):
    """Simulates a replication with its segments and windows."""
    tables = at.campaign.replication(case, run, {"cwnd": True, "segments": True})
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


def mean(values):
    """Mean with its interval, of the replications that have a value."""
    known = np.asarray([value for value in values if np.isfinite(value)])
    if len(known) < 2:
        return calculated(float(known[0]) if len(known) else float("nan"))
    interval = mean_interval(known)
    return Estimate(interval.mean, interval.low, interval.high, len(known))


def distance(first, second):
    """Largest difference of two empirical distribution functions (Kolmogorov and Smirnov).

    Args:
        first: values in order of size.
        second: values in order of size.
    """
    places = np.concatenate([first, second])
    shares = (np.searchsorted(one, places, side="right") / len(one) for one in (first, second))
    return float(np.max(np.abs(np.subtract(*shares))))


def sequence_numbers(runs, title):
    """Figure 3, from the first replication."""
    figure, axes = new_figure(title, "Time (s)", "Sequence number (packets)")
    for place, one in enumerate(runs[0]):
        style = DASHES[place % len(DASHES)]
        axes.plot(one.sent_s, one.sent, label=one.label, color=color(place), linestyle=style)
    legend(axes)
    return figure


def windows(runs, title):
    """Figure 4, from the first replication."""
    figure, panels = new_rows(title, "Time (s)", "Congestion window (packets)", runs[0], (7.2, 6.4))
    for place, (axes, one) in enumerate(zip(panels, runs[0], strict=True)):
        axes.step(one.window_s, one.window, where="post", color=color(place), linewidth=1.1)
        axes.set_title(one.label, loc="center", fontsize=10)
        axes.set_xlim(0, WINDOWS_UNTIL_S)
    return figure


def gaps(runs, title):
    """Figure 5, from all replications."""
    figure, axes = new_figure(title, "Time between ACKs (s)", "Share that is no longer")
    for place, traces in enumerate(zip(*runs, strict=True)):
        found = np.sort(np.concatenate([one.gaps_s for one in traces]))
        share = np.arange(1, len(found) + 1) / len(found)
        style, label = DASHES[place % len(DASHES)], traces[0].label
        axes.step(found, share, where="post", label=label, color=color(place), linestyle=style)
    axes.set_xlim(0, GAPS_UNTIL_S)
    axes.set_ylim(0, 1.02)
    legend(axes)
    return figure
