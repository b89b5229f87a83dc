"""`nodeb plot`: draws curves from the table of a sweep or run, and saves the figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodeb.base.streams import printable
from nodeb.errors import InputError

__all__ = ["plot"]


def plot(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="Parquet file, or results folder.")
    ],
    x: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="Column of the x axis, or TABLE.COLUMN if several tables have it.",
        ),
    ],
    y: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the y axis.")],
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Draw one curve per value; repeatable."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Only rows with this value; repeatable."),
    ] = None,
    log: Annotated[str, typer.Option(metavar="AXES", help="Logarithmic axes: x, y or xy.")] = "",
    title: Annotated[str | None, typer.Option(help="Figure title.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="PNG, SVG or PDF file, by suffix; default: <y>.png next to the table.",
        ),
    ] = None,
) -> None:
    """Draw curves with 95 % confidence bands from the table of a sweep or of a run.

    Columns of several tables in a folder are joined on run and user.
    """
    from nodeb.plot.source import open_table, save
    from nodeb.plot.table import curves

    chosen: dict[str, str] = {}
    for name, value in map(_split, where or ()):
        if name in chosen:
            raise InputError(f"--where {name}={value}: a value of `{name}` is given already")
        chosen[name] = value
    found, folder, names = open_table(table, [x, y, *(by or ()), *chosen])

    def column(name: str) -> str:
        return names.get(name, name)

    rows = {column(name): value for name, value in chosen.items()}
    figure = curves(found, column(x), column(y), list(map(column, by or ())), rows, log, title)
    print(printable(save(figure, folder / f"{y}.png" if out is None else out)))


def _split(setting: str) -> tuple[str, str]:
    """Splits the text `COLUMN=VALUE` into column and value."""
    column, equals, value = setting.partition("=")
    if not equals:
        raise InputError(f"--where {setting}: expected COLUMN=VALUE, such as group=all")
    return column.strip(), value.strip()
