"""Adds the content of the files that a scenario names to the scenario: the core reads no files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nodeb.errors import ScenarioError
from nodeb.inputs import error_model, link_curve
from nodeb.inputs.places import TRAFFIC, recordings

__all__ = ["FileCache", "Locate", "paths", "read_all"]

Locate = Callable[[list[str]], str]
"""Function that returns the position of the value under some keys, as "file:line: key: "."""

FileCache = dict[tuple[Path, *tuple[str, ...]], Mapping[str, Any]]
"""Contents of files, by path, name of the radio, and keys that lead to the file's name."""


def read_all(
    scenario: dict[str, Any],
    folder: Path,
    locate: Locate | None = None,
    cache: FileCache | None = None,
) -> dict[str, Any]:
    """Adds the content of every file that a scenario names to the scenario's plain data.

    Args:
        scenario: changed in place; content that is already present is kept. Lists of recordings
            become columns.
        folder: base of relative paths.
        locate: returns the position of a key that names a file, for messages; None uses the key.
        cache: contents of files read before, which are used even if a file has changed since. New
            content is added. None reads every file.

    Returns:
        The same scenario.

    Raises:
        ScenarioError: a file cannot be read or is invalid; the message names the file and its line
            or key.
    """
    cache = {} if cache is None else cache
    radio = _radio(scenario)
    for keys, table, read in _named(scenario, radio):
        path = folder / table["file"]
        try:
            if not table["file"]:
                raise ScenarioError("the name is empty; expected the name of a file")
            if (path, radio, *keys) not in cache:
                cache[path, radio, *keys] = read(path)
            table.update(cache[path, radio, *keys])
        except ScenarioError as error:
            place = f"{'.'.join(keys)}: " if locate is None else locate(keys)
            raise ScenarioError(f"{place}{error}") from None
    return scenario


def paths(scenario: Any, folder: Path) -> Iterator[Path]:
    """Yields the files that a scenario, given as plain data, names with a key `file`.

    Args:
        scenario: a scenario, or a part of one.
        folder: base of relative paths.
    """
    parts = scenario.items() if isinstance(scenario, dict) else enumerate(scenario)
    for key, value in parts:
        if key == "file" and isinstance(value, str) and value:
            yield folder / value
        elif isinstance(value, dict | list):
            yield from paths(value, folder)


Read = Callable[[Path], Mapping[str, Any]]


def _named(
    scenario: dict[str, Any], radio: str
) -> Iterator[tuple[list[str], dict[str, Any], Read]]:
    """Yields three items for each file that is still to be read.

    These are the keys that lead to the file's name, the table that names it, and the function that
    reads it. A file whose content is already in its table is skipped.
    """
    for owner, place, table in recordings(scenario):
        lists = ("times", "snrs_db", "rates", "cqi", "times_ms")
        if not _names_file(table) or any(len(table.get(key) or ()) for key in lists):
            continue
        from nodeb.inputs import recording  # It imports NumPy, which is slow.

        if isinstance(owner, str):
            yield [*place, "file"], table, recording.opportunities
        else:
            channel = partial(recording.channel, radio=radio)
            reader = recording.traffic if place == TRAFFIC else channel
            yield ["users", str(owner), *place, "file"], table, reader
    for name, bearer in _tables(scenario.get("radio")):
        for key, table in _tables(bearer):
            read, content = {
                "errors": (error_model.errors, "process"),
                "link_curve": (link_curve.read, "cqi"),
            }.get(key, (None, ""))
            if read and _names_file(table) and not table.get(content):
                yield ["radio", name, key, "file"], table, read


def _radio(scenario: Mapping[str, Any]) -> str:
    """Returns the name of the scenario's radio, or an empty text if it has none."""
    return next((name for name, _ in _tables(scenario.get("radio"))), "")


def _names_file(table: Mapping[str, Any]) -> bool:
    """Returns true if the table's key `file` is a text; the core reports any other value."""
    return isinstance(table.get("file"), str)


def _tables(parts: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, value in parts.items() if isinstance(parts, dict) else ():
        if isinstance(value, dict):
            yield key, value
