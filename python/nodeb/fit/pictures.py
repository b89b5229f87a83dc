"""Pictures that compare fitted error models with their sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nodeb.errors import InputError
from nodeb.fit.distributions import DISTRIBUTIONS
from nodeb.plot.style import BAND, DASHES, INK, MARKERS, color, legend, new_figure

if TYPE_CHECKING:
    from nodeb.fit.compare import Candidate, Comparison

__all__ = ["criterion", "tails"]

LABELS = {
    "gap": ("Gaps between errors", "Distance from one lost PDU to the next (PDUs)"),
    "burst": ("Bursts of errors", "PDUs lost in a row"),
    "lost_per_block": ("Lost PDUs of a block", "Lost PDUs of a block that lost one"),
}
Z = 1.959964
"""97.5 % quantile of the normal distribution."""


def tails(comparison: Comparison, kind: str = "gap") -> Figure:
    """Plots, for each length, the share of gaps or bursts that are at least so long.

    For `lost_per_block` it is the share of failed blocks that lost at least so many PDUs. The
    sequence, with its 95 % interval, is compared with sequences simulated by the models.
    """
    if kind not in DISTRIBUTIONS:
        raise InputError(
            f"there is no distribution `{kind}`; expected one of {', '.join(DISTRIBUTIONS)}"
        )
    title, label = LABELS[kind]
    sample = DISTRIBUTIONS[kind](comparison.errors)
    if not len(sample):
        raise InputError(f"there is nothing to draw: {label.lower()} do not occur")
    figure, axes = new_figure(title, label, "Share that is at least so long")
    x, share = _tail(sample)
    low, high = _wilson(share, len(sample))
    axes.plot(x, share, color=INK, label="sequence", drawstyle="steps-pre", linewidth=1.8)
    axes.fill_between(x, low, high, color=BAND, step="pre", linewidth=0)
    for place, candidate in enumerate(_shown(comparison)):
        produced = DISTRIBUTIONS[kind](candidate.simulated)
        if len(produced):
            axes.plot(
                *_tail(produced),
                label=candidate.label.replace("_", "-"),
                color=color(place),
                linestyle=DASHES[1 + place % (len(DASHES) - 1)],
                drawstyle="steps-pre",
            )
    if kind == "gap":
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_yscale("log")
    axes.set_ylim(0.3 / len(sample), 1.3)
    legend(axes, columns=3)
    return figure


def criterion(comparison: Comparison) -> Figure:
    """Plots the difference of each model's BIC from the smallest one, over the number of states."""
    figure, axes = new_figure(
        "How many states are justified", "States", "BIC over the smallest one's"
    )
    for place, unit in enumerate(comparison.units):
        of_unit = [c for c in comparison.candidates if c.model.unit == unit]
        hidden = [c for c in of_unit if c.model.chain.kind in ("bsc", "hmm")]
        _points(axes, comparison, hidden, f"{unit} hmm", place, DASHES[place])
        closed = [c for c in of_unit if c.model.chain.kind == "gilbert_elliott"]
        _points(axes, comparison, closed, f"{unit} gilbert, closed form", place + 3, "none")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_yscale("symlog", linthresh=10.0)
    axes.set_ylim(bottom=-1.0)
    legend(axes, columns=2)
    return figure


def _points(
    axes: Axes,
    comparison: Comparison,
    candidates: list[Candidate],
    label: str,
    place: int,
    line: str | tuple[int, tuple[float, ...]],
) -> None:
    if candidates:
        axes.plot(
            [c.model.chain.states for c in candidates],
            [c.bic - comparison.best.bic for c in candidates],
            label=label,
            color=color(place),
            marker=MARKERS[place % len(MARKERS)],
            linestyle=line,
        )


def _shown(comparison: Comparison) -> list[Candidate]:
    """Returns the models to draw: at most three for each unit, each model only once."""
    shown: list[Candidate] = []
    for unit in comparison.units:
        of_unit = [c for c in comparison.candidates if c.model.unit == unit]
        closed = [c for c in of_unit if c.model.chain.kind == "gilbert_elliott"]
        wanted = [of_unit[0], *sorted(closed, key=lambda c: c.bic)[:1], comparison.best_of(unit)]
        shown += [c for at, c in enumerate(wanted) if c not in wanted[:at]]
    return shown


def _tail(sample: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    values, counts = np.unique(sample, return_counts=True)
    return values, counts[::-1].cumsum()[::-1] / len(sample)


def _wilson(share: NDArray[np.float64], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the lower and upper ends of the 95 % intervals of shares of a sample of size `n`.

    Wilson, 1927), from 0 to 1.
    """
    shrink = 1.0 / (1.0 + Z * Z / n)
    centre = shrink * (share + Z * Z / (2.0 * n))
    half = shrink * Z * np.sqrt(share * (1.0 - share) / n + Z * Z / (4.0 * n * n))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
