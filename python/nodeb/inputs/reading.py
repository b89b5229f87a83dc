"""Scenario files as plain data, for what needs no more: NumPy is not imported here."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from nodeb import _core
from nodeb.arguments import as_path, as_texts
from nodeb.errors import RunError, ScenarioError
from nodeb.inputs import named_files
from nodeb.inputs.places import recordings
from nodeb.replication.work import Source
from nodeb.storage import bounded

if TYPE_CHECKING:
    from nodeb.inputs.columns import Taken

__all__ = ["SWEEP", "compiled", "core_call", "has_sweep", "parsed", "read", "read_text"]

SWEEP = "sweep"
"""The table of a scenario file that is not the scenario's."""

MOST_BYTES = 64 << 20
"""What a scenario file may have."""

P = ParamSpec("P")
T = TypeVar("T")


def read(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> dict[str, Any]:
    """A scenario file as plain data: every default filled in, every file that it names read.

    Args:
        path: a TOML file.
        overrides: changes on top of it, each `key.path=value`.

    Raises:
        InputError: an argument makes no sense.
        ScenarioError: the file cannot be read, is not TOML, or is not a valid scenario.
    """
    file = as_path(path, "path")
    changes = as_texts(overrides, "overrides", "['wired.loss=0.01']")
    text = read_text(file)
    resolved = parsed(text, str(path), changes)

    def where(keys: list[str]) -> str:
        return f"{path}:{_core.line_of(text, keys) or 1}: {'.'.join(keys)}: "

    filled = named_files.read_all(copy.deepcopy(resolved), file.parent, where)
    if filled == resolved:
        return resolved
    try:  # what the files say is checked too
        found = compiled(filled)
    except ScenarioError as error:
        raise ScenarioError(f"{path}: {error}") from None
    return _put_back(json.loads(found.to_bare_json()), _take_out(filled))


def parsed(text: str, name: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """A scenario's text as plain data: every default filled in. Files that it names are not read.

    Args:
        text: TOML.
        name: what messages call it.
        overrides: changes on top of it, each `key.path=value`.

    Raises:
        ScenarioError: it is not TOML, or not a valid scenario.
    """
    found: dict[str, Any] = json.loads(core_call(_core.parse_toml, text, name, list(overrides)))
    return found


def compiled(data: dict[str, Any]) -> _core.CompiledScenario:
    """A scenario given as plain data as the core has it.

    Args:
        data: what the files that it names say is put into it.

    Raises:
        ScenarioError: a key is unknown, a value impossible, or a file cannot be read.
    """
    return source(data).compiled()


def source(data: dict[str, Any]) -> Source:
    """A scenario given as plain data, to be simulated wherever that is.

    Args:
        data: what the files that it names say is put into it.

    Raises:
        ScenarioError: a key is unknown, a value impossible, or a file cannot be read.
    """
    taken = _take_out(named_files.read_all(data, Path()))
    found = Source(json.dumps(data), None, [one.arrays() for one in taken])
    core_call(found.compiled)
    _put_back(data, taken)
    return found


def _take_out(data: dict[str, Any]) -> list[Taken]:
    """The long lists of recordings, which are arrays and go to the core beside the text."""
    if not any(recordings(data)):
        return []
    from nodeb.inputs import columns  # needs NumPy

    return columns.take_out(data)


def _put_back(data: dict[str, Any], taken: list[Taken]) -> dict[str, Any]:
    if not taken:
        return data
    from nodeb.inputs import columns  # needs NumPy

    return columns.put_back(data, taken)


def has_sweep(path: str | os.PathLike[str]) -> bool:
    """Whether a scenario file has a `[sweep]` table.

    Raises:
        ScenarioError: the file cannot be read or is not TOML.
    """
    text = read_text(as_path(path, "path"))
    return json.loads(core_call(_core.document, text, str(path))).get(SWEEP) is not None


def core_call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls the core; its complaints about a scenario become ours."""
    try:
        return function(*args, **kwargs)
    except _core.ScenarioError as error:
        raise ScenarioError(str(error)) from None
    except _core.InternalError as error:
        raise RunError(str(error)) from None


def read_text(path: Path) -> str:
    """Text of a scenario file.

    Raises:
        ScenarioError: it cannot be read, is too large, or is not UTF-8.
    """
    return bounded.read_text(path, MOST_BYTES)
