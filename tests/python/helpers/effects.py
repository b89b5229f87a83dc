"""Finds scenario keys that are accepted but have no effect on the results.

    python tests/python/helpers/effects.py examples/*.toml

Every value of each resolved scenario is changed, one at a time; what is accepted is simulated with
the same seed, and all tables are compared. A key that changes nothing is printed: the core should
refuse it (`crates/sim/src/scenario/idle.rs`), or the limit that it sets was not reached.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.replication.cells import NOT_SIMULATED

APART = (*NOT_SIMULATED, "file")
"""Keys that say how a scenario is run or called, not what is simulated."""
LASTS = "20 s"
SCHEMA = json.loads(_core.schema())
Path_ = tuple[str | int, ...]


def tables(data: dict[str, Any]) -> dict[str, Any]:
    """Simulates one replication of a scenario and returns all its tables."""
    scenario = _core.CompiledScenario.from_json(json.dumps(data), "effects")
    return scenario.run(1, 0, _core.Control())


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        one[table].keys() == other[table].keys()
        and all(equal(values, other[table][name]) for name, values in one[table].items())
        for table in one
    )


def equal(one: Any, other: Any) -> bool:
    """Returns true if two columns are identical, where NaN equals NaN."""
    one, other = np.asarray(one), np.asarray(other)
    return bool(
        one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    )


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else None
    )
    if parts is None or not value:
        yield path, value
        return
    for key, part in parts:
        if key not in APART:
            yield from leaves(part, (*path, key))


def others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if value is None:
        return [2, 0.5, "100 ms"]
    if isinstance(value, int | float):
        return [value * 2, value + 1, value / 2, value // 2, 0.3]
    if isinstance(value, str):
        number = re.fullmatch(r"([0-9.e+-]+) (\w+)", value)
        if number is None:
            return [word for words in WORDS if value in words for word in words if word != value]
        size = float(number[1])
        return [f"{scaled:g} {number[2]}" for scaled in (size * 2, size / 2, size + 1)]
    return []


def words(part: Any) -> Iterator[list[str]]:
    if isinstance(part, dict):
        if isinstance(part.get("enum"), list):
            yield part["enum"]
        if isinstance(part.get("oneOf"), list):
            yield [one["const"] for one in part["oneOf"] if "const" in one]
    for below in (
        part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    ):
        yield from words(below)


WORDS = list(words(SCHEMA))


def changed(data: dict[str, Any], path: Path_, value: Any) -> dict[str, Any] | None:
    copy: Any = json.loads(json.dumps(data))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    try:
        resolved: dict[str, Any] = json.loads(_core.resolve(json.dumps(copy)))
    except _core.ScenarioError:
        return None
    return None if resolved == data else resolved


def idle(data: dict[str, Any]) -> Iterator[str]:
    """Yields the keys that have no effect: none of the values tried changes the results."""
    found = tables(data)
    for path, value in leaves(data):
        variants = [
            one for other in others(value) if (one := changed(data, path, other)) is not None
        ]
        if variants and all(same(found, tables(one)) for one in variants):
            yield ".".join(map(str, path))


def base(file: Path) -> dict[str, Any]:
    """Returns a scenario file with all defaults filled in, and with a short duration."""
    lasts = f'duration="{LASTS}"'
    text = _core.CompiledScenario.from_toml(file.read_text(), str(file), [lasts]).to_json()
    data: dict[str, Any] = json.loads(text)
    return data


def main() -> None:
    """Prints the keys that have no effect in each of the given scenario files."""
    for name in sys.argv[1:]:
        file = Path(name)
        for key in idle(base(file)):
            print(f"{file}: {key}", flush=True)


if __name__ == "__main__":
    main()
