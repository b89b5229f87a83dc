"""Texts of scenario files, and the core's complaints about them; NumPy is not imported here."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from nodeb import _core
from nodeb.base.arguments import as_path
from nodeb.errors import RunError, ScenarioError
from nodeb.storage import bounded

__all__ = ["core_call", "has_sweep", "read_text", "sweep_table"]

MOST_BYTES = 64 << 20
"""What a scenario file may have."""

P = ParamSpec("P")
T = TypeVar("T")


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


def has_sweep(path: str | os.PathLike[str]) -> bool:
    """Returns true if a scenario file has a `[sweep]` table.

    Raises:
        ScenarioError: the file cannot be read or is not TOML.
    """
    return sweep_table(read_text(as_path(path, "path")), str(path)) is not None


def sweep_table(text: str, file: str) -> Any:
    """Returns the `[sweep]` table of a file, None if it has none.

    Raises:
        ScenarioError: the text is not TOML.
    """
    return json.loads(core_call(_core.document, text, file)).get("sweep")
