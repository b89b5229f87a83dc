"""The files that a scenario names, read into it: the core itself knows no files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nodeb.errors import ScenarioError
from nodeb.inputs import error_model, link_curve
from nodeb.inputs.places import TRAFFIC, recordings

__all__ = ["Known", "Where", "paths", "read_all"]

Where = Callable[[list[str]], str]
"""Says where the value under some keys stands, as "file:line: key: "."""

Known = dict[tuple[Path, *tuple[str, ...]], Mapping[str, Any]]
"""What files hold, by their path and the keys that name them."""


def read_all(
    scenario: dict[str, Any],
    folder: Path,
    where: Where | None = None,
    known: Known | None = None,
) -> dict[str, Any]:
    """Puts the content of every file that a scenario, given as plain data, names into it.

    Args:
        scenario: changed in place; content that is there already is kept. Long lists are columns.
        folder: where relative paths count from.
        where: tells the place of a key that names a file, for messages.
        known: what was read before, which counts, whatever became of the file; what is read is
            added.

    Returns:
        The same scenario.

    Raises:
        ScenarioError: a file cannot be read or makes no sense; names it and its line or key.
    """
    known = {} if known is None else known
    for keys, table, read in _named(scenario):
        path = folder / table["file"]
        try:
            if not table["file"]:
                raise ScenarioError("the name is empty; expected that of a file")
            if (path, *keys) not in known:
                known[path, *keys] = read(path)
            table.update(known[path, *keys])
        except ScenarioError as error:
            place = f"{'.'.join(keys)}: " if where is None else where(keys)
            raise ScenarioError(f"{place}{error}") from None
    return scenario


def paths(scenario: Any, folder: Path) -> Iterator[Path]:
    """The files that a scenario, given as plain data, names with a key `file`.

    Args:
        scenario: a scenario, or a part of one.
        folder: where relative paths count from.
    """
    parts = scenario.items() if isinstance(scenario, dict) else enumerate(scenario)
    for key, value in parts:
        if key == "file" and isinstance(value, str) and value:
            yield folder / value
        elif isinstance(value, dict | list):
            yield from paths(value, folder)


Read = Callable[[Path], Mapping[str, Any]]


def _named(scenario: dict[str, Any]) -> Iterator[tuple[list[str], dict[str, Any], Read]]:
    """What is still to be read: the keys that name a file, its table, and what reads it."""
    for owner, place, table in recordings(scenario):
        lists = ("times", "snrs_db", "rates", "times_ms")
        if not _names_file(table) or any(len(table.get(key) or ()) for key in lists):
            continue
        if isinstance(owner, str):
            from nodeb.inputs import opportunities  # needs NumPy

            yield [*place, "file"], table, opportunities.read
        else:
            from nodeb.inputs import recording

            reader = partial(recording.read, traffic=place == TRAFFIC)
            yield ["users", str(owner), *place, "file"], table, reader
    for radio, bearer in _tables(scenario.get("radio")):
        for key, table in _tables(bearer):
            read, content = {
                "errors": (error_model.errors, "process"),
                "link_curve": (link_curve.read, "cqi"),
            }.get(key, (None, ""))
            if read and _names_file(table) and not table.get(content):
                yield ["radio", radio, key, "file"], table, read


def _names_file(table: Mapping[str, Any]) -> bool:
    """Returns true if a table names a file; what can be no name is refused by the core."""
    return isinstance(table.get("file"), str)


def _tables(parts: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, value in parts.items() if isinstance(parts, dict) else ():
        if isinstance(value, dict):
            yield key, value
