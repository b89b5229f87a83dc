"""What was predicted of a study before its results were known, beside what came out.

A study's folder may have `predicted.csv`, cells measured while the study's values of them were not
at hand, and `predicted.toml`, statements that were made then. Both are records: they are never
edited, whatever the simulator gives today.
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
"""What a cell's grade is called where a prediction is graded, by the tolerance of its table."""


@dataclass(frozen=True)
class Predicted:
    """A cell that was predicted: where it is, its value, and its 95 % interval if there was one."""

    item: str
    row: str
    column: str
    unit: str
    value: float
    low: float | None
    high: float | None

    @property
    def place(self) -> tuple[str, str, str]:
        """The table or figure, row and column."""
        return self.item, self.row, self.column


@dataclass(frozen=True)
class Statement:
    """A prediction in words, what the study says, and whether that is the same.

    `claims` are the claims in whose verdicts the measurement of today shows.
    """

    item: str
    predicted: str
    published: str
    verdict: str
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Predictions:
    """All predictions of a study, and how they were made."""

    provenance: str = ""
    cells: tuple[Predicted, ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Compared:
    """A prediction beside what was published, and what is measured now."""

    predicted: Predicted
    cell: Cell

    @property
    def grade(self) -> str:
        """As a cell's, of the value that was predicted."""
        return self.cell.grade_of(self.predicted.value)


def read(file: Path) -> Predictions:
    """Read a study's predictions, cells in this file and statements in a `.toml` beside it.

    Neither file needs to be there.

    Raises:
        InputError: if a column of the cells is missing, or a statement has no such key.
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
    """How the cells were predicted, from the comments, and the cells."""
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
    """The predictions whose cells were measured, in their order."""
    found = {(cell.item, cell.row, cell.column): cell for cell in cells}
    return [Compared(one, found[one.place]) for one in predictions.cells if one.place in found]


def to_csv(compared: Iterable[Compared]) -> str:
    """The text of `predictions.csv`."""
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
