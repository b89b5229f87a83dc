"""Ownership of the results folder of a sweep.

The folder's mark (`storage/folders.py`) names the owner, `sweep.toml` is the swept file,
`cells/<identity>.arrow` contains the tables of a cell's replications, and `sweep.parquet` is the
table of results. Cells are found by identity (a hash of scenario, seed and core), so their order
and number may change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nodeb.storage.folders import Mark, Owner

__all__ = ["SOURCE", "TABLE", "Source"]

SOURCE, TABLE = "sweep.toml", "sweep.parquet"
SHOWN = 3
"""Largest number of differences between two scenarios in a message."""


@dataclass(frozen=True)
class Source(Owner):
    """Scenario and seed that a folder belongs to.

    The swept keys and the number of replications may differ.

    `about` contains `seed`, and the common part of all cells in two forms, `written` and `resolved`
    (`nodeb.sweep.cells.base`).
    """

    def refuses(self, mark: Mark) -> str | None:
        """Returns a description of another owner's content, or `None` for an own folder."""
        if mark["kind"] != self.kind:
            return super().refuses(mark)
        # Both forms are compared: defaults change between versions, and equal scenarios can be
        # written differently.
        pairs = {key: (mark.get(key), self.about[key]) for key in ("written", "resolved")}
        if any(there == here and here is not None for there, here in pairs.values()):
            seed, own = mark.get("seed"), self.about["seed"]
            return None if seed in (own, None) else f"holds a sweep with seed {seed}, not {own}"
        there, here = pairs["written" if None in pairs["resolved"] else "resolved"]
        return f"holds a sweep of another scenario ({_differences(there, here)})"


def _differences(other: object, base: object) -> str:
    """Returns a text of the first keys in which two scenarios differ, with both values."""
    there, here = dict(_flat("", other)), dict(_flat("", base))
    keys = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    differences = [
        f"{key} is {_shown(there, key)} there, {_shown(here, key)} here" for key in keys[:SHOWN]
    ]
    more = [f"and {len(keys) - SHOWN} more"] if len(keys) > SHOWN else []
    return "; ".join([*differences, *more])


def _flat(key: str, value: object) -> Iterator[tuple[str, object]]:
    """Yields dotted key and value of each leaf of a nested document."""
    parts: Iterator[tuple[object, object]]
    if isinstance(value, dict) and value:
        parts = iter(value.items())
    elif isinstance(value, list) and value:
        parts = iter(enumerate(value))
    else:
        yield key, value
        return
    for part, below in parts:
        yield from _flat(f"{key}.{part}" if key else str(part), below)


def _shown(values: Mapping[str, object], key: str) -> str:
    return json.dumps(values[key], ensure_ascii=False) if key in values else "absent"
