"""Other readings of a study: how far its printed values lie from each, and in the mean.

A table of readings has a row for each printed value that it looks at and a column for each reading;
below, the root of the mean square of each group of them. A reading is what the study's tables
measure with some choices of its axes exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from nodeb.errors import InputError
from nodeb.reproduce.campaign import Campaign
from nodeb.reproduce.cells import label, quantity
from nodeb.reproduce.measure import Combined, Constant, estimate
from nodeb.reproduce.specs import Reading, Selection, TableSpec
from nodeb.reproduce.study import Study
from nodeb.stats import Estimate
from nodeb.study.cell import Cell, Grid

UNIT = "%"


@dataclass(frozen=True)
class Place:
    """A printed value: its group, its table and label, what it measures, and the value."""

    group: str
    item: str
    label: str
    selection: Selection
    metric: str | None
    published: float


def places(study: Study, spec: TableSpec) -> list[Place]:
    """The printed values that a table of readings looks at, group by group."""
    return [
        Place(
            group.label,
            item,
            f"{item}: {label(row)}, {label(column)}",
            selection,
            table.metric,
            value,
        )
        for group in spec.groups
        for item in group.items
        for table in [study.tables[item]]
        for row, column, selection, value in _cells(study, table)
        if _matches(label(row), group.rows) and _matches(label(column), group.columns)
    ]


def _cells(
    study: Study, table: TableSpec
) -> Iterator[tuple[Selection, Selection, Selection, float]]:
    fixed = tuple(choice for choices in study.select(table.fixed) for choice in choices)
    for row, values in zip(study.select(table.rows), table.published, strict=True):
        for column, value in zip(study.select(table.columns), values, strict=True):
            if value is not None:
                yield row, column, (*fixed, *row, *column), value


def _matches(text: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def read(study: Study, place: Place, reading: Reading) -> Selection:
    """What a place measures under a reading.

    A change is a selector such as `bler:10`, whose choice takes the place of another of its axis
    or is added. With a condition, `loss:1+acks:1`, it applies where that choice is.

    Raises:
        InputError: if a change names an unknown axis or choice.
    """
    selection = place.selection
    for change in reading.changes.get(place.item, ()):
        condition, _, wanted = change.rpartition("+")
        if not condition or set(study.choices(condition)) & set(selection):
            (choice,) = study.choices(wanted)
            selection = (*(one for one in selection if one.axis != choice.axis), choice)
    return selection


def table_selections(study: Study, spec: TableSpec) -> list[Selection]:
    """Everything that a table of readings simulates."""
    unknown = {item for one in spec.readings for item in one.changes} - {
        p.item for p in places(study, spec)
    }
    if unknown:
        raise InputError(f"{study.name}: {spec.id} has no values of {', '.join(sorted(unknown))}")
    return [read(study, place, one) for place in places(study, spec) for one in spec.readings]


def table(campaign: Campaign, spec: TableSpec) -> Grid:
    """Measure a table of readings."""
    study = campaign.study
    campaign.measure(table_selections(study, spec))
    found = places(study, spec)
    rows = [
        [_cell(spec, place.label, one, _deviation(campaign, place, one)) for one in spec.readings]
        for place in found
    ]
    groups = list(dict.fromkeys(place.group for place in found))
    parts = [
        (name, [at for at, place in enumerate(found) if place.group == name]) for name in groups
    ]
    if len(parts) > 1:
        parts.append(("all", list(range(len(found)))))
    for name, members in parts:
        values = [
            [rows[at][column].measured for at in members] for column in range(len(spec.readings))
        ]
        summary = f"RMS, {name}"
        rows.append(
            [
                _cell(spec, summary, one, rms(v))
                for one, v in zip(spec.readings, values, strict=True)
            ]
        )
    return Grid(
        spec,
        tuple(row[0].row for row in rows),
        tuple(one.label for one in spec.readings),
        tuple(tuple(row) for row in rows),
        (*(place.item for place in found), *("RMS" for _ in parts)),
    )


def _deviation(campaign: Campaign, place: Place, reading: Reading) -> Estimate:
    """Measured over printed, less one, in percent."""
    measured = quantity(campaign, read(campaign.study, place, reading), place.metric)
    return estimate(Combined("relative", measured, Constant(place.published)))


def _cell(spec: TableSpec, row: str, reading: Reading, value: Estimate) -> Cell:
    return Cell(spec.id, row, reading.label, UNIT, None, value, spec.digits)


def rms(deviations: Iterable[Estimate]) -> Estimate:
    """The root of the mean square, with the interval that follows from theirs if they err apart."""
    of = list(deviations)
    value = math.sqrt(sum(one.value**2 for one in of) / len(of))
    steep = [one.value * one.half_width / (len(of) * value) if value else 0.0 for one in of]
    half = math.sqrt(sum(part**2 for part in steep))
    return Estimate(value, value - half, value + half, min(one.runs for one in of))
