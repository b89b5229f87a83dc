"""Removes quotes from the cells of CSV files, for readers that do not support them."""

from __future__ import annotations

import csv
from pathlib import Path

from nodeb.errors import ScenarioError

__all__ = ["unquoted"]

MARKS = ",;\t"
"""Separators between cells, in order of precedence; a line without any has blanks."""


def unquoted(data: bytes, path: Path) -> bytes:
    """Returns a text with the same cells on the same lines, without quotes."""
    if b'"' not in data:
        return data
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    is_heading = True
    for number, line in enumerate(lines):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if '"' in line:
            lines[number] = _without(line.strip(), f"{path}:{number + 1}", is_heading)
        is_heading = False
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _without(line: str, where: str, is_heading: bool) -> str:
    outside = "".join(line.split('"')[::2])
    mark = next((mark for mark in MARKS if mark in outside), " ")
    try:
        (cells,) = csv.reader([line], delimiter=mark, skipinitialspace=True, strict=True)
    except (csv.Error, ValueError) as error:
        raise ScenarioError(
            f"{where}: the quotes in this line cannot be understood ({error}); expected each cell "
            "in a pair of quotes, or none"
        ) from None
    separators = {ord(one): " " for one in MARKS} if mark != " " else {ord(mark): "_"}
    bare = [cell.strip().translate(separators) for cell in cells]
    for cell, without in zip(cells, bare, strict=True):
        if cell.strip() != without and not is_heading:
            raise ScenarioError(
                f"{where}: `{cell}` is not a number; expected one without separators"
            )
    return mark.join(bare)
