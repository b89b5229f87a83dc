"""The cells of a sweep: every combination of its axes, as a scenario that can be run."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from nodeb import _core
from nodeb.errors import ScenarioError
from nodeb.inputs import named_files
from nodeb.inputs.columns import Taken, take_out
from nodeb.inputs.scenario import Scenario, toml_value
from nodeb.replication.cells import ASIDE, simulated, source
from nodeb.sweep.axes import Axis, Swept

__all__ = ["Cell", "base", "cells", "plan"]

MOST_CELLS = 100_000
"""More than these are a typing error."""


@dataclass(frozen=True)
class Cell:
    """One combination of values."""

    places: tuple[int, ...]
    """Which place of each axis it has."""
    values: dict[str, Any]
    """Swept key -> value as written in the file."""
    scenario: str
    """What is simulated, as JSON: resolved, without the keys that a sweep leaves as they are."""
    recorded: tuple[Taken, ...] = ()
    """The lists of recordings, which stay beside it."""

    def compiled(self) -> _core.CompiledScenario:
        """The scenario as the core has it."""
        return source(self).compiled()

    @property
    def label(self) -> str:
        """The combination for a person."""
        return ", ".join(f"{key} = {toml_value(value)}" for key, value in self.values.items())


def cells(text: str, file: str, axes: Sequence[Axis], settings: Sequence[str]) -> list[Cell]:
    """All combinations of the axes, the last axis changing fastest.

    Args:
        text: the scenario file.
        file: its name in messages.
        axes: what is swept.
        settings: changes of the base scenario, each `key.path=value`.

    Raises:
        ScenarioError: there are too many, two are the same, or one is not a valid scenario.
    """
    count = math.prod(len(axis) for axis in axes)
    if count > MOST_CELLS:
        sizes = " x ".join(str(len(axis)) for axis in axes)
        raise ScenarioError(
            f"{file}: {sizes} = {count} cells are absurd; expected at most {MOST_CELLS}"
        )
    found: dict[str, Cell] = {}
    for places in product(*(range(len(axis)) for axis in axes)):
        cell = _cell(text, file, axes, places, settings)
        twin = found.setdefault(cell.scenario, cell)
        if twin is not cell:
            raise ScenarioError(
                f"{file}: two cells of the sweep are the same: {twin.label}; and {cell.label}"
            )
    return list(found.values())


def base(text: str, file: str, settings: Sequence[str]) -> dict[str, Any]:
    """What the cells have in common: the scenario without its sweep.

    Returns:
        `written` as in the file with the settings; `resolved`, or None where only the sweep makes
        it a scenario.
    """
    written = {**json.loads(_core.document(text, file)), "settings": list(settings)}
    written.pop("sweep", None)
    try:
        resolved = json.loads(_core.parse_toml(text, file, list(settings)))
    except _core.ScenarioError:
        return {"written": _varied(written), "resolved": None}
    return {"written": _varied(written), "resolved": _varied(resolved)}


def _varied(data: dict[str, Any]) -> dict[str, Any]:
    """What a sweep could vary."""
    return {key: value for key, value in data.items() if key not in ASIDE}


def plan(text: str, file: str, axes: Sequence[Axis], settings: Sequence[str]) -> Scenario:
    """The first cell with the keys that a sweep leaves as they are: seed, runs, precision, ..."""
    return Scenario.from_dict(_resolved(text, file, _chosen(axes, [0] * len(axes)), settings))


def _cell(
    text: str, file: str, axes: Sequence[Axis], places: tuple[int, ...], settings: Sequence[str]
) -> Cell:
    chosen = _chosen(axes, places)
    resolved = _resolved(text, file, chosen, settings)
    values = {one.key: one.values[at] for one, at in chosen}
    recorded = tuple(take_out(resolved))
    return Cell(places, values, simulated(resolved), recorded)


def _chosen(axes: Sequence[Axis], places: Sequence[int]) -> list[tuple[Swept, int]]:
    """Each swept key and which of its values it takes."""
    return [(one, place) for axis, place in zip(axes, places, strict=True) for one in axis.swept]


def _resolved(
    text: str, file: str, chosen: list[tuple[Swept, int]], settings: Sequence[str]
) -> dict[str, Any]:
    # What replaces a table comes before what changes keys in it.
    ordered = sorted(chosen, key=lambda choice: choice[0].key.count("."))
    overrides = {f"{one.key}={toml_value(one.values[at])}": one.lines[at] for one, at in ordered}
    try:
        resolved = json.loads(_core.parse_toml(text, file, [*settings, *overrides]))
    except _core.ScenarioError as error:
        label = ", ".join(overrides)
        raise _with_line(str(error), file, overrides, label) from None
    return named_files.read_all(resolved, Path(file).parent)


def _with_line(
    message: str, file: str, overrides: dict[str, int | None], label: str
) -> ScenarioError:
    """A complaint about a cell, with the line of the value at fault instead of an override."""
    for change, line in overrides.items():
        where = f"{file}:{line}: sweep."
        if message.startswith(by := f"{file} (set by `{change}`): "):
            return ScenarioError(where + message.removeprefix(by))
        if message.startswith(by := f"cannot set `{change}`: "):
            return ScenarioError(f"{where}{change.partition('=')[0]}: {message.removeprefix(by)}")
    if message.startswith(f"{file}: "):  # what the values of several keys make of it together
        return ScenarioError(f"{message} (in the cell {label})")
    return ScenarioError(message)
