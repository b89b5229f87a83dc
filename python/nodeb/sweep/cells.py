"""Cells of a sweep: every combination of swept values, as a scenario."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np

from nodeb import _core
from nodeb.errors import ScenarioError
from nodeb.inputs import named_files
from nodeb.inputs.columns import RecordingColumns, extract_columns
from nodeb.inputs.keys import toml_value
from nodeb.inputs.scenario import Scenario
from nodeb.replication import cells
from nodeb.replication.cells import NOT_SIMULATED, simulated
from nodeb.sweep.axes import TABLE, Axis, Swept

MAX_CELLS = 1_000_000
"""Largest number of cells; a larger number is rejected as a probable typing error."""


@dataclass(frozen=True)
class Cell(cells.Cell):
    """A combination of swept values; the values are its label."""

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
    packed: Sequence[bytes]
    recorded: Mapping[int, tuple[RecordingColumns, ...]]

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
        scenario = zlib.decompressobj(zdict=self.first).decompress(self.packed[number]).decode()
        return Cell(_label(values), scenario, self.recorded.get(number, ()), values)

    def values(self, number: int) -> dict[str, Any]:
        """By key, without the scenario, which is compressed."""
        return {one.key: one.values[at] for one, at in _chosen(self.axes, number)}

    def beside(self, number: int, fixed: Mapping[int, int]) -> int:
        """Number of the cell that has these places on some axes and is like `number` on others."""
        shape = _shape(self.axes)
        places = enumerate(np.unravel_index(number, shape))
        other = tuple(fixed.get(axis, int(place)) for axis, place in places)
        return int(np.ravel_multi_index(other, shape))


def read(
    text: str, file: str, axes: Sequence[Axis], settings: Sequence[str]
) -> tuple[Cells, Scenario]:
    """Returns all cells, and the first one's scenario with the keys that cannot be swept.

    Each file that the scenario names is read once.
    """
    count = math.prod(_shape(axes))
    if count > MAX_CELLS:
        sizes = " x ".join(map(str, _shape(axes)))
        raise ScenarioError(
            f"{file}: {sizes} = {count} cells are too many; expected at most {MAX_CELLS}"
        )
    files: named_files.FileCache = {}

    def resolved(number: int) -> dict[str, Any]:
        one = _resolved(text, file, settings, _chosen(axes, number))
        return named_files.read_all(one, Path(file).parent, cache=files)

    plan = Scenario.from_dict(resolved(0))
    first, numbers = b"", dict[bytes, int]()
    recorded: dict[int, tuple[RecordingColumns, ...]] = {}
    for number in range(count):
        data = resolved(number)
        if columns := tuple(extract_columns(data)):
            recorded[number] = columns
        scenario = simulated(data).encode()
        first = first or scenario
        packing = zlib.compressobj(zdict=first)
        twin = numbers.setdefault(packing.compress(scenario) + packing.flush(), number)
        if twin != number:
            pair = Cells(axes, first, (), {})
            labels = "; and ".join(_label(pair.values(one)) for one in (twin, number))
            raise ScenarioError(f"{file}: two cells of the sweep are the same: {labels}")
    return Cells(axes, first, list(numbers), recorded), plan


def base(
    document: Mapping[str, Any], text: str, file: str, settings: Sequence[str]
) -> dict[str, Any]:
    """What all cells have in common: as written, and resolved if it is a scenario by itself."""
    try:
        scenario = _core.CompiledScenario.from_toml(text, file, list(settings))
        resolved = _varied(json.loads(scenario.to_json()))
    except _core.ScenarioError:
        resolved = None
    return {"written": _varied({**document, "settings": list(settings)}), "resolved": resolved}


def _varied(data: dict[str, Any]) -> dict[str, Any]:
    """Returns the keys of a scenario that a sweep may vary."""
    return {key: value for key, value in data.items() if key not in (*NOT_SIMULATED, TABLE)}


def _resolved(
    text: str, file: str, settings: Sequence[str], chosen: Sequence[tuple[Swept, int]]
) -> dict[str, Any]:
    # A value that replaces a table is applied before changes of keys in that table.
    ordered = sorted(chosen, key=lambda one: one[0].key.count("."))
    overrides = {f"{one.key}={toml_value(one.values[at])}": one.lines[at] for one, at in ordered}
    try:
        scenario = _core.CompiledScenario.from_toml(text, file, [*settings, *overrides])
    except _core.ScenarioError as error:
        raise _with_line(str(error), file, overrides) from None
    found: dict[str, Any] = json.loads(scenario.to_json())
    return found


def _shape(axes: Sequence[Axis]) -> tuple[int, ...]:
    return tuple(map(len, axes))


def _chosen(axes: Sequence[Axis], number: int) -> list[tuple[Swept, int]]:
    places = zip(axes, np.unravel_index(number, _shape(axes)), strict=True)
    return [(one, int(place)) for axis, place in places for one in axis.swept]


def _label(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {toml_value(value)}" for key, value in values.items())


def _with_line(message: str, file: str, overrides: Mapping[str, int | None]) -> ScenarioError:
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
        return ScenarioError(f"{message} (in the cell {', '.join(overrides)})")
    return ScenarioError(message)
