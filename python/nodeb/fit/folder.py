"""Results of a fit in a folder: table, models, and pictures of models beside the sequence."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nodeb.fit.compare import DISTRIBUTIONS, Candidate, Comparison
from nodeb.fit.model import ErrorModel, recorded_model
from nodeb.plot.source import save as save_picture
from nodeb.plot.style import BAND, DASHES, INK, color, legend, marker, new_figure
from nodeb.results.provenance import origin
from nodeb.storage.cells import name_of
from nodeb.storage.files import write_bytes, write_parquet
from nodeb.storage.folders import Owner, Place, claim

LABELS = {
    "gap": ("Gaps between errors", "Distance from one lost PDU to the next (PDUs)"),
    "burst": ("Bursts of errors", "PDUs lost in a row"),
}
Z = 1.959964
"""97.5 % quantile of the normal distribution."""


def save(comparison: Comparison, folder: Path, seed: int, *, force: bool = False) -> Path:
    """Writes a comparison to a folder atomically; see `nodeb.storage.folders`.

    Args:
        comparison: comparison to write.
        folder: created if missing; earlier results for the same sequence and seed are replaced.
        seed: seed of the fit, for the provenance.
        force: replace results of another fit or command too.

    Returns:
        The folder: `comparison.parquet`, a model file `<unit>_<name>.json` for each candidate,
        `best.json` (the smallest BIC), `recorded.json` (the sequence itself), `provenance.json`
        and the pictures `gaps.png`, `bursts.png` and `bic.png`.

    Raises:
        OutputError: the folder is not nodeb's, belongs to another fit or command, or cannot be
            written; its previous content is kept.
    """
    errors = comparison.errors
    settled = name_of({"errors": errors.digest(), "block": errors.pdus_per_block, "seed": seed})
    owner = Owner("fit", errors.origin, made_of=settled)
    with claim(folder, owner, force=force) as place:
        return put(comparison, place, seed)


def put(comparison: Comparison, place: Place, seed: int) -> Path:
    """Writes a comparison to a folder that was claimed; see `save`."""
    errors = comparison.errors
    provenance: dict[str, Any] = {
        "errors": errors.origin,
        "pdus": len(errors),
        "pdus_lost": int(errors.errors.sum()),
        "seed": seed,
        **origin("fitted"),
    }
    return place.put(lambda part: _write(comparison, part, provenance), provenance)


def _write(comparison: Comparison, part: Path, provenance: dict[str, Any]) -> None:
    for candidate in comparison.candidates:
        model = candidate.model
        _described(candidate, provenance).save(part / f"{model.unit}_{model.name}.json")
    _described(comparison.best, provenance).save(part / "best.json")
    recorded = recorded_model(comparison.errors, provenance)
    write_bytes(part / "recorded.json", f"{json.dumps(recorded)}\n".encode())
    write_parquet(part / "comparison.parquet", comparison.table)
    for kind in LABELS:
        save_picture(tails(comparison, kind), part / f"{kind}s.png")
    save_picture(criterion(comparison), part / "bic.png")


def _described(candidate: Candidate, provenance: dict[str, Any]) -> ErrorModel:
    """The model with its likelihood and BIC; None stands for infinite ones, which JSON lacks."""
    values = {"log_likelihood": candidate.log_likelihood, "bic": candidate.bic}
    fit = {name: value if math.isfinite(value) else None for name, value in values.items()}
    return dataclasses.replace(candidate.model, provenance=provenance | fit)


def tails(comparison: Comparison, kind: str) -> Figure:
    """Plots, for each length, the share of gaps or bursts (`kind`) that are at least so long.

    The sequence, with its 95 % interval, is compared with sequences simulated by the models.
    """
    title, label = LABELS[kind]
    sample = DISTRIBUTIONS[kind](comparison.errors)
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
        of_unit = comparison.of_unit(unit)
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
            marker=marker(place),
            linestyle=line,
        )


def _shown(comparison: Comparison) -> list[Candidate]:
    """For each unit the first model, the best one in closed form and the best of all."""
    shown: list[Candidate] = []
    for unit in comparison.units:
        of_unit = comparison.of_unit(unit)
        closed = [c for c in of_unit if c.model.chain.kind == "gilbert_elliott"]
        wanted = [of_unit[0], *sorted(closed, key=lambda c: c.bic)[:1], comparison.best_of(unit)]
        shown += [c for at, c in enumerate(wanted) if c not in wanted[:at]]
    return shown


def _tail(sample: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    values, counts = np.unique(sample, return_counts=True)
    return values, counts[::-1].cumsum()[::-1] / len(sample)


def _wilson(share: NDArray[np.float64], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of the 95 % intervals of shares of a sample of size `n` (Wilson 1927)."""
    shrink = 1.0 / (1.0 + Z * Z / n)
    centre = shrink * (share + Z * Z / (2.0 * n))
    half = shrink * Z * np.sqrt(share * (1.0 - share) / n + Z * Z / (4.0 * n * n))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
