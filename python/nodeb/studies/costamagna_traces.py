"""Figures 3 to 5 of the study: sequence numbers, congestion windows, times between ACKs."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nodeb.plot.style import DASHES, color, legend, new_figure, new_rows
from nodeb.stats import Estimate, calculated, mean_interval
from nodeb.study import Picture

TRACED, QUICK_TRACED = 20, 2
"""Numbers of traced replications, full and short version; Figures 3 and 4 show the first one."""
WINDOWS_UNTIL_S, GAPS_UNTIL_S = 125, 0.5
THIRD_DUPLICATE = 3
NOTE = "The first replication; times between ACKs are those of all that were traced."


@dataclass(frozen=True)
class Trace:
    """One replication of one variant.

    Attributes:
        label: legend entry.
        sent_s: times of the first transmissions of segments, s.
        sent: sequence numbers of these segments.
        window_s: times at which the congestion window changed, s.
        window: congestion window from these times on, packets.
        ack_s: arrival times of ACKs at the sender, including duplicates, s.
        acked: sequence number that each ACK acknowledges.
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
        """Times between consecutive ACKs, s, in increasing order."""
        return np.sort(np.diff(self.ack_s))

    @property
    def third_duplicate_s(self):
        """Arrival time of the first ACK that is the third duplicate in a row, s; NaN if none is."""
        same = np.concatenate([[False], np.diff(self.acked) == 0])
        run = 0
        for at, again in zip(self.ack_s, same, strict=True):
            run = run + 1 if again else 0
            if run == THIRD_DUPLICATE:
                return float(at)
        return float("nan")


def draw(at, cases):
    """Simulates and plots the traces of the variants' cases; sets facts about them.

    Facts: `ack_gap_distance`, the largest distance between two variants' distributions of times
    between ACKs; for each variant `..._third_duplicate_s`, the time of its first third duplicate
    ACK, and `..._window_most`, its largest congestion window. All are means over the replications.
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
    """Simulates a replication with recorded segments and windows, and returns its trace."""
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
    """Returns the mean with its interval over those replications that have a value.

    The interval has length 0 if only one has a value. The mean is NaN if none has.
    """
    known = np.asarray([value for value in values if np.isfinite(value)])
    if len(known) < 2:
        return calculated(float(known[0]) if len(known) else float("nan"))
    interval = mean_interval(known)
    return Estimate(interval.mean, interval.low, interval.high, len(known))


def distance(first, second):
    """Returns the largest difference of two empirical distribution functions (Kolmogorov-Smirnov).

    Args:
        first: sorted values.
        second: sorted values.
    """
    places = np.concatenate([first, second])
    shares = (np.searchsorted(one, places, side="right") / len(one) for one in (first, second))
    return float(np.max(np.abs(np.subtract(*shares))))


def sequence_numbers(runs, title):
    """Plots Figure 3, sequence numbers over time, from the first replication."""
    figure, axes = new_figure(title, "Time (s)", "Sequence number (packets)")
    for place, one in enumerate(runs[0]):
        style = DASHES[place % len(DASHES)]
        axes.plot(one.sent_s, one.sent, label=one.label, color=color(place), linestyle=style)
    legend(axes)
    return figure


def windows(runs, title):
    """Plots Figure 4, congestion windows over time, from the first replication."""
    figure, panels = new_rows(title, "Time (s)", "Congestion window (packets)", runs[0], (7.2, 6.4))
    for place, (axes, one) in enumerate(zip(panels, runs[0], strict=True)):
        axes.step(one.window_s, one.window, where="post", color=color(place), linewidth=1.1)
        axes.set_title(one.label, loc="center", fontsize=10)
        axes.set_xlim(0, WINDOWS_UNTIL_S)
    return figure


def gaps(runs, title):
    """Plots Figure 5, the distributions of times between ACKs, from all replications."""
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
