"""Whose the folder of a sweep is.

The mark of the folder (`storage/folders.py`) says so, `sweep.toml` is the file that was swept,
`cells/<identity>.arrow` holds the tables of a cell's replications, and `sweep.parquet` is the table
of results. Cells are found by identity, so the order and number of cells may change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nodeb.storage.folders import Owner
from nodeb.storage.marks import Mark

__all__ = ["SOURCE", "TABLE", "Source"]

SOURCE, TABLE = "sweep.toml", "sweep.parquet"
SHOWN = 3
"""So many differences between two scenarios are told."""


@dataclass(frozen=True)
class Source(Owner):
    """The scenario and seed that a folder belongs to, whatever is swept and how often.

    `about` has what all cells have in common, `written` and `resolved` (`nodeb.sweep.cells.base`),
    and `seed`.
    """

    def refuses(self, mark: Mark) -> str | None:
        """What another's folder holds; None for one's own."""
        if mark["kind"] != self.kind:
            return super().refuses(mark)
        # Defaults change with versions, and the same can be written in many ways.
        pairs = {key: (mark.get(key), self.about[key]) for key in ("written", "resolved")}
        if any(there == here and here is not None for there, here in pairs.values()):
            seed, own = mark.get("seed"), self.about["seed"]
            return None if seed in (own, None) else f"holds a sweep with seed {seed}, not {own}"
        there, here = pairs["written" if None in pairs["resolved"] else "resolved"]
        return f"holds a sweep of another scenario ({_differences(there, here)})"


def _differences(other: object, base: object) -> str:
    """The first keys in which two scenarios differ."""
    there, here = dict(_flat("", other)), dict(_flat("", base))
    keys = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    told = [
        f"{key} is {_shown(there, key)} there, {_shown(here, key)} here" for key in keys[:SHOWN]
    ]
    more = [f"and {len(keys) - SHOWN} more"] if len(keys) > SHOWN else []
    return "; ".join([*told, *more])


def _flat(key: str, value: object) -> Iterator[tuple[str, object]]:
    """Dotted key and value of everything in a document."""
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
