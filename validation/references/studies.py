"""Comparison with the published studies: claims, published values and targets."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from nodeb import reproduce, studies
from references.row import Row

FULL = "nodeb reproduce all"
Counts = dict[str, str]


def rows(out: Path, quick: bool) -> Iterator[Row]:
    """Studies that are complete in the folder are not run again."""
    reproduce.run_all(out, quick)
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        for found in csv.DictReader(file):
            yield from of(found, f"{FULL} --quick" if quick else FULL)


def of(found: Counts, command: str) -> Iterator[Row]:
    """Yields the rows of one study: its claims, published values and targets, if it has any."""
    name = f"`{found['study']}`: {studies.load(found['study']).title}"
    claims = (
        f"{found['holds']} hold, {found['contradicted']} contradicted, "
        f"{found['undecided']} undecided"
    )
    yield Row(name, "claims", int(found["claims"]), claims, "", command)
    if total := int(found["cells_compared"]):
        distance = f"{found['near']} within their table's tolerance, {found['off']} within twice it"
        yield Row(name, "published values", total, distance, "", command)
    if total := int(found["scattered"]):
        distance = f"{found['within_scatter']} within the scatter of as few runs"
        yield Row(name, "published values of a run or a few", total, distance, "", command)
    if total := int(found["targets"]):
        distance = f"{found['met']} met, {found['missed']} missed"
        if found["targets_undecided"] != "0":
            distance += f", {found['targets_undecided']} undecided"
        yield Row(name, "targets", total, distance, "", command)
