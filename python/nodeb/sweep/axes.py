"""The `[sweep]` table of a scenario file: keys with their values, varied separately or together."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from nodeb import _core
from nodeb.base.arguments import is_number
from nodeb.base.units import SIZES
from nodeb.errors import ScenarioError
from nodeb.replication.cells import NOT_SIMULATED

TABLE, TOGETHER = "sweep", "together"
RANGE = ("from", "to", "steps", "scale")
SCALES = ("linear", "log")
FIXED = dict.fromkeys(NOT_SIMULATED, "it says how often each cell is replicated") | {
    "name": "it is only what the scenario is called",
    "seed": "all cells meet the same random numbers, and replications vary them",
    "record": "a sweep keeps no time series",
}
"""Keys that cannot be swept, with the reason."""
MAX_STEPS = 10_000
DIGITS = 12
"""Significant digits of a value of a range: 0.15, not 0.15000000000000002."""


@dataclass(frozen=True)
class Swept:
    """A swept key, its values, and the lines of the values in the file."""

    key: str
    values: tuple[Any, ...]
    lines: tuple[int | None, ...]


@dataclass(frozen=True)
class Axis:
    """Keys that change together, value by value; often a single key."""

    swept: tuple[Swept, ...]

    def __len__(self) -> int:
        return len(self.swept[0].values)


class Reader:
    """Reader of the `[sweep]` table of one file."""

    def __init__(self, text: str, file: str) -> None:
        self._text, self._file = text, file
        self._seen: dict[str, list[str]] = {}

    def axes(self, table: Any) -> list[Axis]:
        """Returns one axis for each separate key, then one for each `[[sweep.together]]`."""
        if not isinstance(table, Mapping) or not table:
            raise self._wrong(
                [TABLE],
                'expected keys with lists of values, such as "wired.delay" = ["50 ms", "1 s"]',
            )
        alone = {key: value for key, value in table.items() if key != TOGETHER}
        axes = [Axis((one,)) for one in self._swept(alone, [TABLE])]
        blocks = table.get(TOGETHER, [])
        blocks = [blocks] if isinstance(blocks, Mapping) else blocks
        if not isinstance(blocks, list) or not all(isinstance(one, Mapping) for one in blocks):
            raise self._wrong([TABLE, TOGETHER], "expected a table, as in `[[sweep.together]]`")
        for place, block in enumerate(blocks):
            path = [TABLE, TOGETHER, str(place)]
            axis = Axis(tuple(self._swept(block, path)))
            if not axis.swept:
                raise self._wrong(path, "there is no key in it")
            lengths = {one.key: len(one.values) for one in axis.swept}
            if len(set(lengths.values())) > 1:
                counts = ", ".join(f"`{key}` has {n}" for key, n in lengths.items())
                raise self._wrong(path, f"keys in lockstep need equally many values; {counts}")
            axes.append(axis)
        return axes

    def _swept(self, table: Mapping[str, Any], path: list[str]) -> Iterator[Swept]:
        for name, value in table.items():
            at = [*path, name]
            if isinstance(value, list):
                yield self._key(at, value, [self._line([*at, str(i)]) for i in range(len(value))])
            elif isinstance(value, Mapping) and value and set(value) <= set(RANGE):
                values = self._range(value, at)
                yield self._key(at, values, [self._line(at)] * len(values))
            elif isinstance(value, Mapping):
                yield from self._swept(value, at)
            else:
                raise self._wrong(
                    at, "expected a list of values, or { from = ..., to = ..., steps = ... }"
                )

    def _key(self, at: list[str], values: Sequence[Any], lines: Sequence[int | None]) -> Swept:
        key = ".".join(at[3 if at[1] == TOGETHER else 1 :])
        names = key.split(".")
        if not all(names):
            raise self._wrong(at, "a key of the path is empty")
        if names[0] in FIXED:
            raise self._wrong(at, f"`{names[0]}` cannot be swept: {FIXED[names[0]]}")
        if key in self._seen:
            raise self._wrong(at, f"line {self._line(self._seen[key])} sweeps `{key}` already")
        if not values:
            raise self._wrong(at, "the list is empty; expected at least one value")
        self._seen[key] = at
        return Swept(key, tuple(values), tuple(lines))

    def _range(self, table: Mapping[str, Any], at: list[str]) -> list[Any]:
        missing = [name for name in RANGE[:3] if name not in table]
        if missing:
            raise self._wrong(at, f"a range needs from, to and steps; `{missing[0]}` is missing")
        steps, scale = table["steps"], table.get("scale", SCALES[0])
        if not isinstance(steps, int) or isinstance(steps, bool) or not 2 <= steps <= MAX_STEPS:
            raise self._wrong(
                [*at, "steps"], f"expected how many values, a whole number from 2 to {MAX_STEPS}"
            )
        if scale not in SCALES:
            raise self._wrong([*at, "scale"], f"unknown scale (allowed: {', '.join(SCALES)})")
        (first, unit), (last, same) = (self._number(table[k], [*at, k]) for k in RANGE[:2])
        if unit != same:
            raise self._wrong(at, f"`from` and `to` need the same unit, not `{unit}` and `{same}`")
        if scale == "log" and not (first > 0 and last > 0):
            raise self._wrong(at, "both ends of a logarithmic range must be above 0")
        whole = not any(isinstance(table[k], float) for k in RANGE[:2])
        step = 1 / Decimal(SIZES[unit]) if unit in SIZES else None
        values = _steps(first, last, steps, scale, whole, step)
        return [f"{value!r} {unit}" if unit else value for value in values]

    def _number(self, value: Any, at: list[str]) -> tuple[Decimal, str]:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Decimal(str(value)), ""
        match = re.fullmatch(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(\D\S*)\s*", str(value))
        if not isinstance(value, str) or match is None or not is_number(match[1]):
            raise self._wrong(at, 'expected a number, or one with its unit such as "50 ms"')
        if (number := float(match[1])) in (0.0, math.inf) and re.match("[0.]*[1-9]", match[1]):
            raise self._wrong(at, f"`{value}` is too {'large' if number else 'small'} for a number")
        return Decimal(match[1]) if number else Decimal(0), match[2]

    def _line(self, path: list[str]) -> int | None:
        return _core.line_of(self._text, path)

    def _wrong(self, path: list[str], message: str) -> ScenarioError:
        where = f"{self._file}:{self._line(path)}: {'.'.join(path)}"
        return ScenarioError(f"{where}: {message}")


def _steps(
    first: Decimal, last: Decimal, steps: int, scale: str, whole: bool, unit: Decimal | None
) -> Iterator[float | int]:
    """Values between the ends are rounded to multiples of `unit`, unless it is None. If `whole`
    is true, a value without fraction is an integer."""
    for i in range(steps):
        share = Decimal(i) / (steps - 1)
        exact = (
            first * (last / first) ** share if scale == "log" else first + (last - first) * share
        )
        if unit is not None and 0 < i < steps - 1:
            value = float((exact / unit).to_integral_value() * unit)
        else:
            value = float(f"{exact:.{DIGITS}g}")
        yield int(value) if whole and value.is_integer() else value


NUMBER = {"type": ["number", "string"], "description": "A number, or text with a unit."}
RANGE_SCHEMA = {
    "type": "object",
    "description": "Equally spaced values, both ends among them.",
    "properties": {
        "from": NUMBER,
        "to": NUMBER,
        "steps": {"type": "integer", "minimum": 2, "maximum": MAX_STEPS},
        "scale": {"enum": list(SCALES), "default": SCALES[0]},
    },
    "required": ["from", "to", "steps"],
    "additionalProperties": False,
}
VALUES_SCHEMA = {
    "description": "What a key of the scenario takes: a list, a range, or keys below this one.",
    "anyOf": [
        {"type": "array", "minItems": 1},
        {"$ref": "#/$defs/SweepRange"},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/SweepValues"}},
    ],
}
SWEEP_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "What `nodeb sweep` varies: dotted keys of the scenario with their values. "
    "All combinations are simulated.",
    "properties": {
        TOGETHER: {
            "type": "array",
            "description": "Keys that change in lockstep.",
            "items": {"type": "object", "additionalProperties": {"$ref": "#/$defs/SweepValues"}},
        }
    },
    "additionalProperties": {"$ref": "#/$defs/SweepValues"},
}


def file_schema() -> str:
    """JSON Schema of a scenario file: that of a scenario, extended by the `[sweep]` table."""
    schema = json.loads(_core.schema())
    schema["properties"][TABLE] = SWEEP_SCHEMA
    schema["$defs"] |= {"SweepRange": RANGE_SCHEMA, "SweepValues": VALUES_SCHEMA}
    return json.dumps(schema)
