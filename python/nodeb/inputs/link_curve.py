"""Reads files of measured BLER curves for `radio.hsdpa.link_curve`."""

from __future__ import annotations

import math
from pathlib import Path

from nodeb.errors import ScenarioError
from nodeb.storage.files import NAMED_BYTES, read_text

__all__ = ["read"]

COLUMNS = ("cqi", "snr_db", "bler")
"""Column names in the first line of a file of curves, in any order."""


def read(path: Path) -> dict[str, list[float] | list[int]]:
    """Reads a file of curves into the lists of `link_curve`.

    The first line names the columns `cqi,snr_db,bler`; each other line is a point. Empty lines and
    lines that begin with `#` are ignored.

    Raises:
        ScenarioError: the file cannot be read, columns are missing or unknown, or a line is not a
            point.
    """
    lines = [
        (number, [word.strip() for word in line.split(",")])
        for number, line in enumerate(read_text(path, NAMED_BYTES).splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise ScenarioError(f"{path}: the file has no entries; expected a line `cqi,snr_db,bler`")
    first, names = lines[0]
    if sorted(names) != sorted(COLUMNS):
        raise ScenarioError(
            f"{path}:{first}: unknown columns `{','.join(names)}`; expected `cqi,snr_db,bler`"
        )
    points = [_point(names, words, f"{path}:{number}") for number, words in lines[1:]]
    if not points:
        raise ScenarioError(f"{path}: the file has no points; expected lines of numbers")
    return {
        "cqi": [round(point["cqi"]) for point in points],
        "snr_db": [point["snr_db"] for point in points],
        "bler": [point["bler"] for point in points],
    }


def _point(names: list[str], words: list[str], place: str) -> dict[str, float]:
    try:
        point = {name: float(word) for name, word in zip(names, words, strict=True)}
    except ValueError:
        point = {}
    if not point or not all(math.isfinite(value) for value in point.values()):
        raise ScenarioError(
            f"{place}: `{','.join(words)}` is not a point; expected a number for each of "
            f"`{','.join(names)}`"
        )
    cqi = point["cqi"]
    if cqi != round(cqi) or not 1 <= cqi <= 30:
        raise ScenarioError(f"{place}: {cqi:g} is not a CQI; expected a whole number, 1 to 30")
    return point
