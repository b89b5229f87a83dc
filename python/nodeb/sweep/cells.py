"""Cells of a sweep: every combination of swept values, as a scenario."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

from nodeb import _core
from nodeb.errors import ScenarioError
from nodeb.inputs import named_files
from nodeb.inputs.columns import RecordingColumns, extract_columns
from nodeb.inputs.keys import toml_value
from nodeb.inputs.scenario import Scenario
from nodeb.replication import cells
from nodeb.replication.cells import NOT_SIMULATED, simulated
from nodeb.sweep.axes import Axis, Swept

MAX_CELLS = 1_000_000
"""Largest number of cells; a larger number is rejected as a probable typing error."""


@dataclass(frozen=True)
class Cell(cells.Cell):
    """A combination of swept values; the values are its label."""

    places: tuple[int, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cells(Sequence[Cell]):
    """All combinations of the axes; the last axis changes fastest.

    Scenarios differ little from the first one, with which they are compressed: a million cells need
    about 150 MB instead of 1.5 GB.
    """

    axes: Sequence[Axis]
    first: bytes
    """Scenario of the first cell, the dictionary of the compression."""
    packed: list[bytes] = field(default_factory=list)
    recorded: dict[int, tuple[RecordingColumns, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, reader: Reader) -> Cells:
        axes, file = reader.axes, reader.file
        count = math.prod(len(axis) for axis in axes)
        if count > MAX_CELLS:
            sizes = " x ".join(str(len(axis)) for axis in axes)
            raise ScenarioError(
                f"{file}: {sizes} = {count} cells are too many; expected at most {MAX_CELLS}"
            )
        scenario, _ = reader.cell(_places(axes, 0))
        read = cls(axes, scenario.encode())
        numbers: dict[bytes, int] = {}
        for number in range(count):
            scenario, recorded = reader.cell(_places(axes, number))
            read.packed.append(read._pack(scenario))
            if recorded:
                read.recorded[number] = recorded
            twin = numbers.setdefault(read.packed[-1], number)
            if twin != number:
                labels = f"{read[twin].label}; and {read[number].label}"
                raise ScenarioError(f"{file}: two cells of the sweep are the same: {labels}")
        return read

    def __len__(self) -> int:
        return len(self.packed)

    @overload
    def __getitem__(self, number: int) -> Cell: ...
    @overload
    def __getitem__(self, number: slice) -> list[Cell]: ...
    def __getitem__(self, number: int | slice) -> Cell | list[Cell]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        values = self.values(number)
        label = ", ".join(f"{key} = {toml_value(value)}" for key, value in values.items())
        unpacking = zlib.decompressobj(zdict=self.first)
        scenario = unpacking.decompress(self.packed[number]).decode()
        return Cell(label, scenario, self.recorded.get(number, ()), self.places(number), values)

    def places(self, number: int) -> tuple[int, ...]:
        return _places(self.axes, number)

    def values(self, number: int) -> dict[str, Any]:
        """By key, without the scenario, which is compressed."""
        return {
            swept.key: swept.values[at] for swept, at in _chosen(self.axes, self.places(number))
        }

    def at(self, places: Sequence[int]) -> Cell:
        number = 0
        for axis, place in zip(self.axes, places, strict=True):
            number = number * len(axis) + place
        return self[number]

    def _pack(self, scenario: str) -> bytes:
        packing = zlib.compressobj(zdict=self.first)
        return packing.compress(scenario.encode()) + packing.flush()


def base(
    document: Mapping[str, Any], text: str, file: str, settings: Sequence[str]
) -> dict[str, Any]:
    """What all cells have in common: as written, and resolved if it is a scenario by itself."""
    written = {**document, "settings": list(settings)}
    written.pop("sweep", None)
    try:
        scenario = _core.CompiledScenario.from_toml(text, file, list(settings))
    except _core.ScenarioError:
        return {"written": _varied(written), "resolved": None}
    return {"written": _varied(written), "resolved": _varied(json.loads(scenario.to_json()))}


def _varied(data: dict[str, Any]) -> dict[str, Any]:
    """Returns the keys of a scenario that a sweep may vary."""
    return {key: value for key, value in data.items() if key not in NOT_SIMULATED}


class Reader:
    """Builder of the cells of a scenario file; each file that the scenario names is read once."""

    def __init__(self, text: str, file: str, axes: Sequence[Axis], settings: Sequence[str]) -> None:
        self.axes, self.file = axes, file
        self._text, self._settings = text, settings
        self._files: named_files.FileCache = {}

    def plan(self) -> Scenario:
        """Keys that cannot be swept, such as `seed` and `runs`, have the same values in all
        cells."""
        return Scenario.from_dict(self._resolved([0] * len(self.axes)))

    def cell(self, places: Sequence[int]) -> tuple[str, tuple[RecordingColumns, ...]]:
        resolved = self._resolved(places)
        recorded = tuple(extract_columns(resolved))
        return simulated(resolved), recorded

    def _resolved(self, places: Sequence[int]) -> dict[str, Any]:
        """Returns the resolved scenario at these axis positions, including the named files."""
        # A value that replaces a table is applied before changes of keys in that table.
        ordered = sorted(_chosen(self.axes, places), key=lambda one: one[0].key.count("."))
        overrides = {
            f"{one.key}={toml_value(one.values[at])}": one.lines[at] for one, at in ordered
        }
        try:
            settings = [*self._settings, *overrides]
            scenario = _core.CompiledScenario.from_toml(self._text, self.file, settings)
        except _core.ScenarioError as error:
            label = ", ".join(overrides)
            raise _with_line(str(error), self.file, overrides, label) from None
        folder = Path(self.file).parent
        return named_files.read_all(json.loads(scenario.to_json()), folder, cache=self._files)


def _places(axes: Sequence[Axis], number: int) -> tuple[int, ...]:
    places = []
    for axis in reversed(axes):
        number, place = divmod(number, len(axis))
        places.append(place)
    return tuple(reversed(places))


def _chosen(axes: Sequence[Axis], places: Sequence[int]) -> list[tuple[Swept, int]]:
    return [(one, place) for axis, place in zip(axes, places, strict=True) for one in axis.swept]


def _with_line(
    message: str, file: str, overrides: dict[str, int | None], label: str
) -> ScenarioError:
    """The error names the line of the wrong value in the file instead of the override that set
    the value."""
    for change, line in overrides.items():
        where = f"{file}:{line}: sweep."
        if message.startswith(by := f"{file} (set by `{change}`): "):
            return ScenarioError(where + message.removeprefix(by))
        if message.startswith(by := f"cannot set `{change}`: "):
            return ScenarioError(f"{where}{change.partition('=')[0]}: {message.removeprefix(by)}")
    # The error results from several keys together, so the cell is named instead of a line.
    if message.startswith(f"{file}: "):
        return ScenarioError(f"{message} (in the cell {label})")
    return ScenarioError(message)
