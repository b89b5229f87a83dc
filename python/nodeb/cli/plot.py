"""`nodeb plot`: draws curves from the table of a sweep or run, and saves the figure."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from nodeb.base.streams import printable
from nodeb.cli import options as of
from nodeb.errors import InputError


@of.command(
    of.place("table", "TABLE", "Parquet file, or results folder."),
    of.option(
        "--x", "COLUMN", "Column of the x axis, or TABLE.COLUMN if several tables have it.",
        required=True,
    ),
    of.option("--y", "COLUMN", "Column of the y axis.", required=True),
    of.repeated("--by", "COLUMN", "Draw one curve per value."),
    of.repeated("--where", "COLUMN=VALUE", "Only rows with this value."),
    of.option("--log", "AXES", "Logarithmic axes: x, y or xy."),
    of.option("--title", "TEXT", "Figure title."),
    of.option(
        "--out", "FILE", "PNG, SVG or PDF file, by suffix; default: <y>.png next to the table.",
        Path,
    ),
)  # fmt: skip
def plot(given: Namespace) -> None:
    from nodeb.plot.source import open_table, save
    from nodeb.plot.table import curves

    chosen: dict[str, str] = {}
    for name, value in map(_split, given.where):
        if name in chosen:
            raise InputError(f"--where {name}={value}: a value of `{name}` is given already")
        chosen[name] = value
    content, folder, names = open_table(given.table, [given.x, given.y, *given.by, *chosen])

    def column(name: str) -> str:
        return names.get(name, name)

    rows = {column(name): value for name, value in chosen.items()}
    curved = content, column(given.x), column(given.y), [column(name) for name in given.by]
    figure = curves(*curved, rows, given.log or "", given.title)
    print(printable(save(figure, given.out or folder / f"{given.y}.png")))


def _split(setting: str) -> tuple[str, str]:
    column, equals, value = setting.partition("=")
    if not equals:
        raise InputError(f"--where {setting}: expected COLUMN=VALUE, such as group=all")
    return column.strip(), value.strip()
