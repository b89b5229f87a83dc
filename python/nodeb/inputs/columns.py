"""Recordings in a scenario: where they are, and their long lists as arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray

CHANNEL, TRAFFIC = ("ue", "channel", "trace"), ("traffic", "replay")
OPPORTUNITIES = ("down", "up", "light.down", "light.up")
"""Dotted keys of `radio.trace` that lead to delivery opportunities."""
EXTERNAL = "external"
"""Name of the traffic of users whose packets come from outside the simulation."""
Owner = int | str
"""Owner of a recording: the index of a group of users, or one of `OPPORTUNITIES`."""


def recordings(
    scenario: Mapping[str, Any],
) -> Iterator[tuple[Owner, tuple[str, ...], dict[str, Any]]]:
    users = scenario.get("users")
    for number, group in enumerate(users if isinstance(users, list) else ()):
        for place in (CHANNEL, TRAFFIC):
            if (table := table_at(group, place)) is not None:
                yield number, place, table
    for key in OPPORTUNITIES:
        keys = ("radio", "trace", *key.split("."))
        if (table := table_at(scenario, keys)) is not None:
            yield key, keys, table


def table_at(parts: Any, keys: tuple[str, ...]) -> dict[str, Any] | None:
    for key in keys:
        parts = parts.get(key) if isinstance(parts, Mapping) else None
    return parts if isinstance(parts, dict) else None


def is_external(group: Mapping[str, Any]) -> bool:
    traffic = group.get("traffic")
    external = traffic == EXTERNAL or (isinstance(traffic, Mapping) and EXTERNAL in traffic)
    return external or bool(group.get("real"))


class Column(Sequence[Any]):
    """Immutable list of numbers, or, with a unit, of quantities such as "250 ns"."""

    __slots__ = ("unit", "values")

    def __init__(self, values: NDArray[Any], unit: str = "") -> None:
        self.values = np.ascontiguousarray(values)
        self.values.setflags(write=False)
        self.unit = unit

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        numbers = self.values[place].tolist()
        if not self.unit:
            return numbers
        if isinstance(place, slice):
            return [f"{number} {self.unit}" for number in numbers]
        return f"{numbers} {self.unit}"

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Column):
            return self.unit == other.unit and np.array_equal(self.values, other.values)
        return isinstance(other, Sequence) and len(self) == len(other) and self[:] == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<Column of {len(self)}>"


class RecordingColumns(NamedTuple):
    """Columns removed from a recording's table, and the position of that table in the scenario."""

    owner: Owner
    """Index of the group of users, from 0, or key of the opportunities."""
    place: tuple[str, ...]
    file: str | None
    columns: dict[str, Column]

    def arrays(self) -> tuple[Owner, dict[str, NDArray[Any]]]:
        return self.owner, {key: column.values for key, column in self.columns.items()}

    def digest(self) -> str:
        """SHA-256 of the columns and their position."""
        digest = hashlib.sha256(repr((self.owner, self.place)).encode())
        for key, column in sorted(self.columns.items()):
            digest.update(f"{key} {column.unit} {column.values.dtype} {len(column)}".encode())
            digest.update(column.values.data)
        return digest.hexdigest()


def extract_columns(scenario: dict[str, Any]) -> list[RecordingColumns]:
    taken = []
    for owner, place, table in recordings(scenario):
        columns = {key: value for key, value in table.items() if isinstance(value, Column)}
        for key in columns:
            del table[key]
        if columns:
            taken.append(RecordingColumns(owner, place, table.get("file"), columns))
    return taken


def restore_columns(scenario: dict[str, Any], taken: Iterable[RecordingColumns]) -> dict[str, Any]:
    """Puts columns back into those recordings that still name the same file."""
    where = {(owner, place): table for owner, place, table in recordings(scenario)}
    for one in taken:
        table = where.get((one.owner, one.place), {})
        if table.get("file") == one.file:
            table.update(one.columns)
    return scenario
