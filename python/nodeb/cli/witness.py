"""The command `nodeb witness kernel`: nodeb next to what somebody has measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodeb.errors import InputError

if TYPE_CHECKING:
    from nodeb.table import Table

__all__ = ["app"]

app = typer.Typer(help="nodeb next to what others have measured.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keeps `kernel` a command of its own while it is the only one."""


@app.command()
def kernel(
    cases: Annotated[
        list[Path] | None,
        typer.Option(
            "--cases", metavar="FILE", help="Cases (CSV); default: those of Linux 6.18 here."
        ),
    ] = None,
    paths: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Their paths (TOML); default: beside the cases, same name."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the table too: .csv or .json.")
    ] = None,
) -> None:
    """Downloads by a Linux kernel and by nodeb on the same path, case by case."""
    from nodeb.terminal.progress import progress_bar
    from nodeb.witness import kernel as witness

    if out is not None and out.suffix not in (".csv", ".json"):
        raise InputError(f"{out}: expected a name that ends in .csv or .json")
    found: list[witness.Row] = []
    for file in cases or witness.FILES:
        with progress_bar(file.name) as bar:
            rows = witness.compare(file, paths, bar)
        print(f"{file.name}\n\n{witness.text(rows)}\n", flush=True)
        found += rows
    if out is not None:
        _write(out, witness.table(found))


def _write(out: Path, table: Table) -> None:
    """Writes a table as CSV, or as JSON with a list for each column; NaN is empty or null."""
    import json

    from nodeb.storage.files import csv_text, write_bytes

    columns = {
        name: [None if value != value else value for value in table[name].tolist()]
        for name in table.columns
    }
    if out.suffix == ".json":
        text = json.dumps(columns, indent=1) + "\n"
    else:
        text = csv_text(list(columns), zip(*columns.values(), strict=True))
    write_bytes(out, text.encode())
