"""Formats the tables of an answer as lines that fit a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from nodeb.answer.numbers import Shown
from nodeb.base.streams import printable

NAME = 24
"""Minimum width of the first column, in characters, so that pictures and tables are aligned."""
HEAD = 10
"""Minimum width, in characters, to which the head of a narrow column is split."""
BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[mu]?s|[kM]?bit/s|[kM]B|bytes|m|dB)(?![\w/]))")
"""Pattern of the space between a number and its unit, where a line must not be broken."""
WITHIN_KEY = re.compile(r"(?<=[.=_ ])")
"""Pattern of the positions where a column's head, such as `radio.dch.bler=0.2`, may be split."""
OPTION = re.compile(r'--set [\w.]+="[^"]*"')
"""Pattern of an option `--set KEY="VALUE"`, which is not broken so that it can be pasted."""
HELD = "\N{NO-BREAK SPACE}"

Cells = Sequence[str | Shown]


def filled(shown: str, width: int, first: str = "", later: str = "") -> str:
    """Wraps a paragraph so that numbers keep their units, and `--set KEY="VALUE"` is not split."""
    held = BEFORE_UNIT.sub(HELD, printable(shown))
    held = OPTION.sub(lambda found: found[0].replace(" ", HELD), held)
    lines = textwrap.fill(
        held,
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace(HELD, " ")


def fitted(head: Cells, rows: Sequence[Cells], width: int, right: Sequence[int] = ()) -> list[str]:
    """Formats rows as lines of at most `width` characters.

    The first of these layouts that fits is used:

    1. aligned columns, the first at least `NAME` characters wide;
    2. aligned columns without this minimum;
    3. aligned columns with long names and heads split over several lines;
    4. a block of lines for each row, in which only long words may exceed the width.

    Args:
        head: name of each column; empty names for a table without a head.
        rows: rows of cells; numbers with units are aligned at the unit.
        width: maximum width of a line.
        right: indices, from 0, of the columns of text that are aligned to the right.
    """
    columns = _columns(rows, right)
    heads = [str(one) for one in head] if any(head) else []
    for min_width, is_parted in ((NAME, False), (0, False), (0, True)):
        lines = _lines(heads, columns, min_width, is_parted)
        if max(map(len, lines), default=0) <= width:
            return lines
    title = [f"  {heads[0]}"] if heads and heads[0] else []
    heads = heads or [""] * len(columns)
    blocks = (_block(heads, row, width) for row in zip(*columns, strict=True))
    return [*title, *(line for block in blocks for line in block)]


def aligned(rows: Sequence[Cells], right: Sequence[int] = (), min_width: int = NAME) -> list[str]:
    """Formats rows as indented lines with aligned columns, whatever their width."""
    return _lines([], _columns(rows, right), min_width, False)


def _lines(
    head: Sequence[str], columns: Sequence[Sequence[str]], min_width: int, is_parted: bool
) -> list[str]:
    """Formats the head of a table and its columns as lines of text.

    If `is_parted`, long heads and long names in the first column are split, so that the head or
    a row may take several lines.
    """
    names, *others = columns or [[]]
    parts = [_parted_name(one) if is_parted else [one] for one in names]
    laid = [[line for name in parts for line in name]]
    for column in others:
        cells = zip(column, parts, strict=True)
        laid.append([line for cell, name in cells for line in (cell, *[""] * (len(name) - 1))])
    widths = [max(map(len, column), default=0) for column in laid]
    widths[0] = max(widths[0], min_width)
    if head:
        tops = [
            _parted_head(one, max(width, HEAD)) if is_parted else [one]
            for one, width in zip(head, widths, strict=True)
        ]
        tall = max(map(len, tops))
        laid = [[""] * (tall - len(top)) + top + rest for top, rest in zip(tops, laid, strict=True)]
        widths = [max(width, *map(len, top)) for width, top in zip(widths, tops, strict=True)]
    return [
        (
            "  " + "  ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))
        ).rstrip()
        for cells in zip(*laid, strict=True)
    ]


def _parted_name(name: str) -> list[str]:
    return textwrap.wrap(name.rstrip(), NAME, subsequent_indent="  ") or [""]


def _parted_head(head: str, width: int) -> list[str]:
    """Splits a column's head into lines of at most `width` characters.

    A head is split only after a dot, a `=`, an underscore or a space; a longer part exceeds the
    width.
    """
    lines = [""]
    for part in WITHIN_KEY.split(head):
        if lines[-1] and len(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


def _block(head: Sequence[str], cells: Sequence[str], width: int) -> Iterator[str]:
    """Formats a row as a block: its name, and below it each cell after the head of its column.

    A column without a head, such as that of intervals, continues the column before. Empty cells are
    omitted, and so are those that consist of a dash.
    """
    yield from filled(cells[0].rstrip(), width, "  ", "    ").splitlines()
    groups: list[list[str]] = []
    for name, cell in zip(head[1:], cells[1:], strict=True):
        if name or not groups:
            groups.append([name])
        if cell.strip():
            groups[-1].append(cell.strip())
    longest = max(len(name) for name in head[1:]) if len(head) > 1 else 0
    for name, *texts in groups:
        if texts and texts != ["\N{EN DASH}"]:
            shown = "  ".join([f"{name:{longest}}", *texts] if longest else texts)
            yield from filled(shown, width, "    ", "      ").splitlines()


def _columns(rows: Sequence[Cells], right: Sequence[int]) -> list[list[str]]:
    """Turns rows into columns of text; all texts of a column are padded to the same width."""
    return [_cells_of(column, at in right) for at, column in enumerate(zip(*rows, strict=True))]


def _cells_of(cells: Cells, to_right: bool) -> list[str]:
    number = max((len(one.number) for one in cells if isinstance(one, Shown)), default=0)
    texts = [
        f"{'':{number - len(one.number)}}{one.value}" if isinstance(one, Shown) else printable(one)
        for one in cells
    ]
    if to_right and not any(isinstance(one, Shown) for one in cells):
        unit = max((len(_unit(one)) for one in texts), default=0)
        texts = [f"{one}{'':{unit - len(_unit(one))}}" if _unit(one) else one for one in texts]
        width = max(map(len, texts), default=0)
        return [f"{one:>{width}}" for one in texts]
    width = max(map(len, texts), default=0)
    return [f"{one:{width}}" for one in texts]


def _unit(shown: str) -> str:
    number, space, last = shown.rpartition(" ")
    return space + last if number and not last[-1:].isdigit() and " to " in shown else ""
