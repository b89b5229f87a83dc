"""Throughput by position in a WCDMA cell, compared with the mean-sense model of the same cell.

    python tools/wcdma_mean_sense.py docs/images/wcdma-mean-sense.png

Simulates eight downloads, which do not end, in each of 60 cells of `examples/wcdma.toml`. The
mean-sense cell has the map's mean other-cell interference factor, so that the cells differ only in
the positions of their phones.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import nodeb
from nodeb import stats
from nodeb.formulas import wcdma
from nodeb.inputs.scenario import Scenario
from nodeb.plot.style import PALETTE

EXAMPLE = Path(__file__).parent.parent / "examples" / "wcdma.toml"
USERS, CELLS, SECONDS = 8, 60, 60
PLACES = 20_000
LOAD = {"connections": 2.0}


def scenario(other_cells: object, selection: object) -> Scenario:
    """Returns the example with these models of other cells and of rate selection."""
    return nodeb.load(EXAMPLE).with_(
        **{
            "duration": f"{SECONDS} s",
            "users.0.count": USERS,
            "users.0.traffic.ftp.size": "10 GB",
            "radio.wcdma.other_cells": other_cells,
            "radio.wcdma.selection": selection,
            "tcp.classic.max_window": 20,
        }
    )


def throughput(given: Scenario) -> tuple[np.ndarray, nodeb.Result]:
    """Simulates the scenario `given`.

    Returns the throughput of each phone in kb/s, and the result.
    """
    result = given.run(runs=CELLS, progress=False)
    return result.flows["delivered_bytes"] * 8 / SECONDS / 1000, result


def main(path: str) -> None:
    """Runs the simulations, prints the values for the documentation, and draws the figure."""
    placed = {"map": {"load": LOAD}}
    factor = wcdma.mean_factor(scenario(placed, "one_step"), PLACES)
    cases = {
        f"mean sense (factor {factor:.2f})": (
            {"mean": {"factor": factor, "load": LOAD}},
            "one_step",
        ),
        "map, one rate for all": (placed, "one_step"),
        "map, rates of their own": (placed, {"per_user": {"power": 64}}),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for color, (label, (other_cells, selection)) in zip(PALETTE, cases.items(), strict=False):
        rates, result = throughput(scenario(other_cells, selection))
        left.plot(
            np.sort(rates), (np.arange(rates.size) + 0.5) / rates.size, color=color, label=label
        )
        low, middle = np.quantile(rates, [0.1, 0.5])
        mean = stats.mean_interval(rates.reshape(CELLS, USERS).mean(axis=1))
        text = f"mean {mean.mean:.1f} [{mean.low:.1f}, {mean.high:.1f}], median {middle:.1f}"
        print(f"{label}: {text}, lowest tenth {low:.2f} kb/s")
        if label.endswith("for all"):
            cell = result.tables["cell"]
            dots = right.scatter(cell["x_radii"], cell["y_radii"], c=rates, s=14, cmap="viridis")
    left.set(xlabel="Throughput of a phone (kb/s)", ylabel="Share of phones below", xlim=(0, None))
    left.legend(frameon=False)
    figure.colorbar(dots, label="Throughput (kb/s)")
    right.set(xlabel="Cell radii east", ylabel="Cell radii north", aspect="equal")
    right.set_title("map, one rate for all")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1])
