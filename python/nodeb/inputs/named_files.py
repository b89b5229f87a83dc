"""The files that a scenario names, read into it: the core itself knows no files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeb.inputs import error_model, link_curve, recording

__all__ = ["paths", "read_all"]


def read_all(scenario: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Puts the content of every file that a scenario, given as plain data, names into it.

    Args:
        scenario: changed in place; content that is there already is kept.
        folder: where relative paths count from.

    Returns:
        The same scenario.

    Raises:
        ScenarioError: a file cannot be read or makes no sense; names it and its line or key.
    """
    for read in (recording.read_all, error_model.read_all, link_curve.read_all):
        read(scenario, folder)
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
