"""Scenario files as plain data, for what needs no more: NumPy is not imported here."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from nodeb import _core
from nodeb.arguments import as_path, as_texts
from nodeb.errors import RunError, ScenarioError, os_reason
from nodeb.inputs import named_files

__all__ = ["SWEEP", "compiled", "core_call", "has_sweep", "read", "read_text"]

SWEEP = "sweep"
"""The table of a scenario file that is not the scenario's."""

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
    resolved: dict[str, Any] = json.loads(core_call(_core.parse_toml, text, str(path), changes))
    filled = named_files.read_all(copy.deepcopy(resolved), file.parent)
    if filled != resolved:  # what the files say is checked too
        try:
            filled = json.loads(core_call(_core.resolve, json.dumps(filled)))
        except ScenarioError as error:
            raise ScenarioError(f"{path}: {error}") from None
    return filled


def compiled(data: dict[str, Any]) -> _core.CompiledScenario:
    """A scenario given as plain data, with the files that it names, as the core has it.

    Raises:
        ScenarioError: a key is unknown, a value impossible, or a file cannot be read.
    """
    text = json.dumps(data)
    if any(named_files.paths(data, Path())):
        core_call(_core.resolve, text)  # files are only looked for in what has the right form
        text = json.dumps(named_files.read_all(data, Path()))
    return core_call(_core.CompiledScenario.from_json, text)


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
        ScenarioError: it cannot be read, or is not UTF-8.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ScenarioError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise ScenarioError(f"{path}: this is a directory, not a scenario file") from None
    except (OSError, ValueError) as error:
        reason = os_reason(error) if isinstance(error, OSError) else str(error)
        raise ScenarioError(f"{path}: cannot be read: {reason}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            f"{path}:{line}: this is not UTF-8 text (byte 0x{data[error.start]:02x}); "
            "save the file as UTF-8"
        ) from None
