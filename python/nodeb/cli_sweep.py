"""The commands `nodeb sweep` and `nodeb plot`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodeb.cli_options import (
    File,
    Force,
    Jobs,
    Out,
    Precision,
    Runs,
    Seed,
    Settings,
    Stopped,
    print_warnings,
)
from nodeb.errors import InputError, Interrupted

if TYPE_CHECKING:
    from nodeb.sweep import Outcome

__all__ = ["plot", "sweep"]


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
            help="Add the paired difference of each cell to the one with this value instead.",
        ),
    ] = None,
    jobs: Jobs = None,
    out: Out = None,
    force: Force = False,
) -> None:
    """Simulate all cells of a scenario's sweep table, but not those that are there already."""
    from nodeb.progress import progress_bar
    from nodeb.sweep import Sweep
    from nodeb.text import sweep_text

    plan = Sweep.load(file, settings or (), runs, precision, seed)
    title = plan.name or file.stem
    print_warnings(plan.warnings())
    try:
        with progress_bar(title) as bar:
            folder = Path("out") / file.stem if out is None else out
            outcome = plan.run(folder, baseline or (), jobs, bar, force=force)
    except Interrupted as stop:
        raise Stopped(str(stop)) from None
    _print_notes(outcome, folder)
    print(f"{title}: {outcome}; seed {plan.seed}\n")
    print(sweep_text(outcome.table))
    print(f"\ntable: {outcome.file}")


def _print_notes(outcome: Outcome, folder: Path) -> None:
    if outcome.replaced is not None:
        print(f"note: replaced {outcome.replaced} in {folder}", file=sys.stderr)
    for file in outcome.damaged:
        print(f"warning: {file} was damaged; the cell was simulated again", file=sys.stderr)


def plot(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="A Parquet file, or a folder of results.")
    ],
    x: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the x axis.")],
    y: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the y axis.")],
    by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A curve for each of its values.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=VALUE", help="Only rows with this value.")
    ] = None,
    log: Annotated[str, typer.Option(metavar="AXES", help="Logarithmic axes: x, y or xy.")] = "",
    title: Annotated[str | None, typer.Option(help="What stands above the picture.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="PNG, SVG or PDF by suffix; default: <y>.png there."),
    ] = None,
) -> None:
    """Draw curves with 95 % confidence bands from the table of a sweep or of a run."""
    from nodeb.plot.source import open_table, save
    from nodeb.plot.table import curves

    found, folder = open_table(table, [x, y, *(by or ()), *(_split(one)[0] for one in where or ())])
    figure = curves(found, x, y, by or (), dict(map(_split, where or ())), log, title)
    print(save(figure, folder / f"{y}.png" if out is None else out))


def _split(setting: str) -> tuple[str, str]:
    """Column and value of `COLUMN=VALUE`."""
    column, equals, value = setting.partition("=")
    if not equals:
        raise InputError(f"--where {setting}: expected COLUMN=VALUE, such as group=all")
    return column.strip(), value.strip()
