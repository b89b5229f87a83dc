"""Cells of a sweep: every combination of swept values, as a scenario."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

import numpy as np

from nodeb import _core
from nodeb.errors import ScenarioError
from nodeb.inputs import named_files
from nodeb.inputs.changes import toml_value
from nodeb.inputs.columns import RecordingColumns, extract_columns
from nodeb.inputs.scenario import Scenario
from nodeb.replication import cells
from nodeb.replication.cells import NOT_SIMULATED, simulated
from nodeb.sweep.axes import Axis, Swept

__all__ = ["Cell", "Cells", "Reader", "base"]

MAX_CELLS = 1_000_000
"""Largest number of cells; a larger number is rejected as a probable typing error."""
BLOCK = 64
OPENED = 16
"""Number of blocks kept decompressed: a cell and its baseline may be far apart."""
PARTED = "\n"
DIGEST = 16


@dataclass(frozen=True)
class Cell(cells.Cell):
    """A combination of swept values; the values are its label."""

    places: tuple[int, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)


class Cells(Sequence[Cell]):
    """All combinations of the axes; the last axis changes fastest.

    The scenarios of neighbouring cells differ little, so they are compressed in blocks: a
    million cells need about 50 MB instead of 1.5 GB.
    """

    def __init__(
        self,
        axes: Sequence[Axis],
        blocks: Sequence[bytes],
        recorded: Mapping[int, tuple[RecordingColumns, ...]],
    ) -> None:
        self._axes, self._blocks, self._recorded = axes, blocks, recorded
        self._opened = lru_cache(maxsize=OPENED)(self._open)

    def __reduce__(self) -> tuple[type[Cells], tuple[Any, ...]]:
        """Pickles only the compressed blocks, not those decompressed for access."""
        return Cells, (self._axes, self._blocks, self._recorded)

    @classmethod
    def read(cls, reader: Reader) -> Cells:
        axes, file = reader.axes, reader.file
        count = math.prod(len(axis) for axis in axes)
        if count > MAX_CELLS:
            sizes = " x ".join(str(len(axis)) for axis in axes)
            raise ScenarioError(
                f"{file}: {sizes} = {count} cells are too many; expected at most {MAX_CELLS}"
            )
        packed = _Packed()
        for number in range(count):
            packed.add(*reader.cell(_places(axes, number)))
        found = cls(axes, packed.blocks(), packed.recorded)
        if twins := packed.twins():
            labels = "; and ".join(found[number].label for number in twins)
            raise ScenarioError(f"{file}: two cells of the sweep are the same: {labels}")
        return found

    def __len__(self) -> int:
        return math.prod(len(axis) for axis in self._axes)

    @overload
    def __getitem__(self, number: int) -> Cell: ...
    @overload
    def __getitem__(self, number: slice) -> list[Cell]: ...
    def __getitem__(self, number: int | slice) -> Cell | list[Cell]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        places = _places(self._axes, number)
        values = {one.key: one.values[at] for one, at in _chosen(self._axes, places)}
        block, place = divmod(number, BLOCK)
        label = ", ".join(f"{key} = {toml_value(value)}" for key, value in values.items())
        recorded = self._recorded.get(number, ())
        return Cell(label, self._opened(block)[place], recorded, places, values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def at(self, places: Sequence[int]) -> Cell:
        number = 0
        for axis, place in zip(self._axes, places, strict=True):
            number = number * len(axis) + place
        return self[number]

    def _open(self, block: int) -> list[str]:
        return zlib.decompress(self._blocks[block]).decode().split(PARTED)


class _Packed:
    """Collects the cells of a sweep while they are read in order, and compresses them."""

    def __init__(self) -> None:
        self.recorded: dict[int, tuple[RecordingColumns, ...]] = {}
        self._blocks: list[bytes] = []
        self._last: list[str] = []
        self._digests = bytearray()
        self._same: dict[tuple[object, ...], tuple[RecordingColumns, ...]] = {}

    def add(self, scenario: str, recorded: tuple[RecordingColumns, ...]) -> None:
        if recorded:  # Columns of the same file are stored once.
            key = tuple((*one[:3], *map(id, one.columns.values())) for one in recorded)
            number = len(self._digests) // DIGEST
            self.recorded[number] = self._same.setdefault(key, recorded)
        self._digests += hashlib.blake2b(scenario.encode(), digest_size=DIGEST).digest()
        self._last.append(scenario)
        if len(self._last) == BLOCK:
            self._pack()

    def blocks(self) -> list[bytes]:
        """Returns the compressed scenarios of all cells: blocks of `BLOCK` cells and a rest."""
        if self._last:
            self._pack()
        return self._blocks

    def twins(self) -> tuple[int, int] | None:
        """Returns the indices of the first pair of equal cells, or `None` if all differ."""
        digests = np.frombuffer(self._digests, dtype=f"S{DIGEST}")
        order = np.argsort(digests, kind="stable")
        later = order[1:][digests[order[1:]] == digests[order[:-1]]]
        if not later.size:
            return None
        return int(np.flatnonzero(digests == digests[later.min()])[0]), int(later.min())

    def _pack(self) -> None:
        self._blocks.append(zlib.compress(PARTED.join(self._last).encode(), level=1))
        self._last = []


def base(
    document: Mapping[str, Any], text: str, file: str, settings: Sequence[str]
) -> dict[str, Any]:
    written = {**document, "settings": list(settings)}
    written.pop("sweep", None)
    try:
        found = _core.CompiledScenario.from_toml(text, file, list(settings))
    except _core.ScenarioError:
        return {"written": _varied(written), "resolved": None}
    return {"written": _varied(written), "resolved": _varied(json.loads(found.to_json()))}


def _varied(data: dict[str, Any]) -> dict[str, Any]:
    """Returns the keys of a scenario that a sweep may vary."""
    return {key: value for key, value in data.items() if key not in NOT_SIMULATED}


class Reader:
    """Builder of the cells of a scenario file; each file that the scenario names is read once."""

    def __init__(self, text: str, file: str, axes: Sequence[Axis], settings: Sequence[str]) -> None:
        self.axes, self.file = axes, file
        self._text, self._settings = text, settings
        self._known: named_files.FileCache = {}

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
            found = _core.CompiledScenario.from_toml(self._text, self.file, settings)
        except _core.ScenarioError as error:
            label = ", ".join(overrides)
            raise _with_line(str(error), self.file, overrides, label) from None
        folder = Path(self.file).parent
        return named_files.read_all(json.loads(found.to_json()), folder, cache=self._known)


def _places(axes: Sequence[Axis], number: int) -> tuple[int, ...]:
    found = []
    for axis in reversed(axes):
        number, place = divmod(number, len(axis))
        found.append(place)
    return tuple(reversed(found))


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
