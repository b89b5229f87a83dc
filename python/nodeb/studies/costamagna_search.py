"""Random interpretations of what the paper leaves open: which of them give the printed result?

In the paper, Reno delivers half as much as the other variants, which deliver about 2 million bytes.
The n-th interpretation does not depend on how many are simulated.
"""

import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodeb.stats import calculated
from nodeb.storage.files import csv_text, write
from nodeb.study import Picture

INTERPRETATIONS, QUICK_INTERPRETATIONS = 900, 16
SEED = 1
OTHERS_MB = 1.5, 2.5
"""Range that counts as the paper's "about 2 millions of bytes" of each other variant, MB."""
SHARE = 0.4, 0.6
"""Range that counts as the paper's "only the half": Reno's bytes over the others' mean."""

GILBERT_ELLIOTT = {"unit": "pdu", "process": {"gilbert_elliott": {"p": 0.001, "r": 0.5}}}
"""The error model whose probabilities are drawn."""


def among(*values):
    """Returns a distribution: each of several values with the same probability."""
    return lambda source: source.choice(values)


def whole(low, high):
    """Returns a distribution: an integer between two limits, inclusive."""
    return lambda source: source.randint(low, high)


def evenly(low, high):
    """Returns a distribution: uniform between two limits, rounded to three significant digits."""
    return lambda source: float(f"{source.uniform(low, high):.3g}")


def by_logarithm(low, high, unit=""):
    """Returns a distribution: a number whose logarithm is uniform between those of two limits.

    The number is rounded to three significant digits. With a `unit`, it is a text, such as "3 ms".
    """

    def distribution(source):
        # This number is unused; drawing it keeps the published interpretations unchanged.
        source.random()
        value = f"{math.exp(source.uniform(math.log(low), math.log(high))):.3g}"
        return f"{value} {unit}" if unit else float(value)

    return distribution


REPORT_DELAY = "radio.dch.rlc.slotted.report_delay"
NUMBERS = {
    "radio.dch.errors.process.gilbert_elliott.p": by_logarithm(1e-5, 1e-2),
    # This range gives mean bursts of 1 to 50 PDUs.
    "radio.dch.errors.process.gilbert_elliott.r": by_logarithm(0.02, 1.0),
    "radio.dch.errors.process.gilbert_elliott.error_in_bad": evenly(0.2, 1.0),
    "radio.dch.buffer": whole(5, 60),
    REPORT_DELAY: by_logarithm(1, 300, "ms"),
    "wired.delay": by_logarithm(1, 300, "ms"),
    "uplink.rate": by_logarithm(16, 384, "kbps"),
    "uplink.delay": by_logarithm(5, 200, "ms"),
    "tcp.classic.delayed_ack": among("0 s", "100 ms", "200 ms"),
    "tcp.classic.initial_window": among(1, 2),
    "tcp.classic.initial_ssthresh": whole(2, 64),
    "tcp.classic.limited_transmit": among(False, True),
    "tcp.classic.clock": among("10 ms", "100 ms", "500 ms"),
    "tcp.classic.min_rto": among("200 ms", "1 s"),
}
"""Distribution of each number that a random interpretation sets, by key of the scenario."""


@dataclass(frozen=True)
class Drawn:
    """A random interpretation.

    Attributes:
        number: index of the interpretation, from 1.
        interpretation: name of the interpretation of how erroneous PDUs are treated.
        numbers: values by key of the scenario.
    """

    number: int
    interpretation: str
    numbers: dict[str, Any]


def drawn(number, interpretations):
    """Draws the interpretation with index `number`; equal indices give equal interpretations.

    Its treatment of erroneous PDUs is one of `interpretations`.
    """
    interpretation = random.Random(f"{SEED} axes {number}").choice(list(interpretations))
    source = random.Random(f"{SEED} drawn {number}")
    return Drawn(
        number, interpretation, {key: distribution(source) for key, distribution in NUMBERS.items()}
    )


@dataclass(frozen=True)
class Outcome:
    """Megabytes delivered by each TCP variant under a random interpretation; Reno's come last."""

    drawn: Drawn
    delivered: tuple[float, ...]

    @property
    def others(self):
        """Mean of the megabytes that the variants other than Reno deliver."""
        return float(np.mean(self.delivered[:-1]))

    @property
    def share(self):
        """Reno's megabytes as a share of the other variants' mean."""
        return self.delivered[-1] / self.others

    @property
    def sound(self):
        """True if the other variants deliver as much as in the paper."""
        low, high = OTHERS_MB
        return all(low <= one <= high for one in self.delivered[:-1])

    @property
    def given(self):
        """True if the interpretation gives the result of the paper."""
        low, high = SHARE
        return self.sound and low <= self.share <= high


def run(at, interpretations, variants, scenario):
    """Simulates random interpretations, writes `search.csv`, and counts those that give the result.

    Sets these facts: `search_readings`, the number of interpretations in which the variants other
    than Reno deliver as much as in the paper; `search_given`, the number of these in which Reno's
    share is that of the paper too; `search_least_share`, the smallest share of Reno in those that
    `search_readings` counts, in %, or NaN if it counts none.
    """
    numbers = range(1, (QUICK_INTERPRETATIONS if at.quick else INTERPRETATIONS) + 1)
    cases = {n: [scenario(n, variant) for variant in variants] for n in numbers}
    at.campaign.measure(case for of in cases.values() for case in of)
    found = [
        Outcome(drawn(n, interpretations), tuple(megabytes(at, case) for case in of))
        for n, of in cases.items()
    ]
    write(at.out / "search.csv", table(found, variants))
    sound = [one for one in found if one.sound]
    least = min((one.share for one in sound), default=math.nan)
    at.facts["search_readings"] = calculated(len(sound))
    at.facts["search_given"] = calculated(sum(one.given for one in sound))
    at.facts["search_least_share"] = calculated(100 * least)
    draw(at, found)


def megabytes(at, case):
    """Returns the megabytes that a case delivers, as the mean of its replications."""
    return float(at.campaign.log(case).stack("delivered_bytes").sum(axis=1).mean()) / 1e6


def table(found, variants):
    """Returns CSV text with a row for each interpretation: choices, numbers, MB by variant."""
    columns = ["drawn", "reading", *NUMBERS, *(f"{v.value}_mb" for v in variants), "share"]
    rows = (
        [
            one.drawn.number,
            one.drawn.interpretation,
            *one.drawn.numbers.values(),
            *(f"{value:.4f}" for value in (*one.delivered, one.share)),
        ]
        for one in found
    )
    return csv_text(columns, rows)


def draw(at, found):
    """Plots Reno's share over the megabytes of the others, with a frame at the paper's result."""
    from matplotlib.patches import Rectangle  # matplotlib is slow to import.

    from nodeb.plot.style import MUTED, color, new_figure

    title = "Data delivered by Reno and by the other variants under random interpretations"
    figure, axes = new_figure(
        f"Search. {title}", "Mean of the other variants (MB)", "Reno, relative to this mean (%)"
    )
    others, shares = [one.others for one in found], [100 * one.share for one in found]
    axes.scatter(others, shares, s=12, color=color(0), alpha=0.6, linewidths=0)
    (left, right), (low, high) = OTHERS_MB, SHARE
    corner, size = (left, 100 * low), (right - left, 100 * (high - low))
    axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=MUTED, linestyle=":"))
    axes.annotate(
        "the paper", corner, xytext=(4, 4), textcoords="offset points", color=MUTED, fontsize=9
    )
    axes.set_xlim(left=0)
    axes.set_ylim(0, max(105.0, *shares))
    spoken = f"{sum(one.given for one in found)} of {len(found)} lie in the frame."
    note = f"{len(found)} random interpretations, seed {SEED}; search.csv has their numbers."
    at.add("search", Picture("Search", title, figure, spoken, note))
