"""`nodeb sweep`: simulates missing cells of a scenario's sweep table, and saves the results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nodeb.base.streams import printable
from nodeb.cli import notes
from nodeb.cli.options import (
    ClusterAddress,
    Everything,
    File,
    Force,
    Jobs,
    Margin,
    Precision,
    Runs,
    Seed,
    Settings,
    Stopped,
    print_answer,
    print_changed,
    print_other_folder,
    print_warnings,
    worker_pool,
)
from nodeb.errors import Interrupted
from nodeb.sweep import Outcome, Sweep
from nodeb.sweep.answer import answer
from nodeb.terminal.progress import progress_bar

__all__ = ["sweep"]


def sweep(
    file: File,
    settings: Settings = None,
    seed: Seed = None,
    runs: Runs = None,
    precision: Precision = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Add the paired difference of each cell from the cell with this value.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Metric shown; default: application_bps if every cell has it and over half of the "
            "transfers finish, else received_bps.",
        ),
    ] = None,
    margin: Margin = 0.02,
    dataset: Annotated[
        bool, typer.Option("--dataset", help="Also write every replication as Parquet.")
    ] = False,
    jobs: Jobs = None,
    cluster: ClusterAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Results folder; default: out/<file name>-swept."),
    ] = None,
    force: Force = False,
    everything: Everything = False,
) -> None:
    """Simulate the cells of a scenario's sweep table, except those in the results folder."""
    plan = Sweep.load(file, settings or (), runs, precision, seed)
    title = printable(plan.name or file.stem)
    print_warnings(plan.warnings())

    def show(outcome: Outcome, where: str = "") -> None:
        notes.print_idle_axes(plan, outcome)
        notes.print_empty_cells(outcome)
        if metric is not None:
            notes.print_missing_metric(outcome, metric)
        print_answer(answer(outcome, where), everything)

    try:
        with (
            worker_pool(jobs, cluster) as workers,
            progress_bar(title) as bar,
        ):
            usual = Path("out") / f"{file.stem}-swept" if out is None else out
            outcome = plan.run(
                usual,
                baseline or (),
                workers,
                bar,
                force=force,
                metric=metric,
                margin=margin,
                dataset=dataset,
                beside=out is None,
            )
    except Interrupted as stop:
        raise Stopped(str(stop)) from None
    _print_notes(outcome)
    show(outcome, str(outcome.file.parent))


def _print_notes(outcome: Outcome) -> None:
    folder = outcome.file.parent
    print_other_folder(folder, outcome.beside)
    print_changed({} if outcome.replaced is None else {folder: outcome.replaced})
    for name in outcome.dropped:
        print(
            f"note: removed {folder / name}, which was of other cells or replications; "
            f"`--{name}` writes it again",
            file=sys.stderr,
        )
