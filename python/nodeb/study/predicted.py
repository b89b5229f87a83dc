"""Predictions of a study's results, compared with published and measured values.

A study may have two files: `NAME_predicted.csv` has cells that were simulated before their values
in the paper were known, `NAME_predicted.toml` has statements made at that time. Both are records
and never edited, whatever the simulator measures today.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeb.errors import InputError
from nodeb.storage.files import csv_text

if TYPE_CHECKING:
    from nodeb.study.cell import Cell

COLUMNS = ("item", "row", "column", "unit", "predicted", "low", "high", "replications")
WORDS = {
    "near": "right",
    "off": "off",
    "far": "missed",
    "open": "not printed",
    "plain": "no margin",
}
"""Names of grades (`nodeb.study.cell.Cell.grade_of`) in the assessment of predictions."""


@dataclass(frozen=True)
class Predicted:
    """A predicted cell: item, row, column, and value with its 95 % interval (None if unknown)."""

    item: str
    row: str
    column: str
    unit: str
    value: float
    low: float | None
    high: float | None

    @property
    def place(self) -> tuple[str, str, str]:
        """Item (table or figure), row and column, which identify the cell."""
        return self.item, self.row, self.column


@dataclass(frozen=True)
class Statement:
    """A prediction in words, the paper's statement, and a verdict on their agreement."""

    item: str
    predicted: str
    published: str
    verdict: str
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Predictions:
    """All predictions of a study, and their provenance."""

    provenance: str = ""
    cells: tuple[Predicted, ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Compared:
    """A predicted cell, together with the cell's published and measured values."""

    predicted: Predicted
    cell: Cell

    @property
    def grade(self) -> str:
        """Grade of the predicted value against the published one (`Cell.grade_of`)."""
        return self.cell.grade_of(self.predicted.value)


def read(file: Path) -> Predictions:
    """Reads a study's predictions: cells from `file`, statements from a `.toml` next to it.

    Either file may be missing.
    """
    provenance, cells = _cells(file)
    statements_file = file.with_suffix(".toml")
    text = _text(statements_file)
    words = tomllib.loads(text) if text else {}
    try:
        statements = tuple(
            Statement(**one | {"claims": tuple(one.get("claims", ()))})
            for one in words.get("statements", ())
        )
    except TypeError as error:
        raise InputError(f"{statements_file.name}: {error}") from None
    return Predictions(provenance or words.get("provenance", ""), cells, statements)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _cells(file: Path) -> tuple[str, tuple[Predicted, ...]]:
    lines = _text(file).splitlines()
    comments = [line.lstrip("# ") for line in lines if line.startswith("#")]
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    missing = [name for name in COLUMNS if rows and name not in rows[0]]
    if missing:
        raise InputError(f"{file.name}: the column {', '.join(missing)} is missing")
    return " ".join(comments), tuple(_cell(row) for row in rows)


def _cell(row: Mapping[str, Any]) -> Predicted:
    low, high = (float(row[end]) if row[end] else None for end in ("low", "high"))
    place = row["item"], row["row"], row["column"]
    return Predicted(*place, row["unit"], float(row["predicted"]), low, high)


def compare(predictions: Predictions, cells: Iterable[Cell]) -> list[Compared]:
    """Returns the predictions of cells that were measured, in the order of the predictions."""
    found = {(cell.item, cell.row, cell.column): cell for cell in cells}
    return [Compared(one, found[one.place]) for one in predictions.cells if one.place in found]


def to_csv(compared: Iterable[Compared]) -> str:
    columns = (*COLUMNS[:-1], "published", "measured", "ci95_low", "ci95_high", "verdict")
    return csv_text(columns, (list(_fields(one)) for one in compared))


def _fields(one: Compared) -> Iterator[object]:
    then, now = one.predicted, one.cell.measured
    yield from (*then.place, then.unit)
    for value in (
        then.value,
        then.low,
        then.high,
        one.cell.published,
        now.value,
        now.low,
        now.high,
    ):
        yield "" if value is None else f"{value:.7g}"
    yield WORDS[one.grade]
