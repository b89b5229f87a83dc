"""Texts of scenario files, and the core's complaints about them; NumPy is not imported here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from nodeb import _core
from nodeb.errors import RunError, ScenarioError
from nodeb.inputs.keys import hint_at
from nodeb.storage import bounded

__all__ = ["NO_NUMBER", "core_call", "document", "odd_number", "read_text"]

NO_NUMBER = "this is no finite number; expected one"

MAX_BYTES = 64 << 20
"""What a scenario file may have."""

P = ParamSpec("P")
T = TypeVar("T")


def core_call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls the core; its complaints about a scenario become ours."""
    try:
        return function(*args, **kwargs)
    except _core.ScenarioError as error:
        raise ScenarioError(f"{error}{hint_at(str(error))}") from None
    except _core.InternalError as error:
        raise RunError(str(error)) from None


def read_text(path: Path) -> str:
    """Text of a scenario file.

    Raises:
        ScenarioError: it cannot be read, is too large, or is not UTF-8.
    """
    return bounded.read_text(path, MAX_BYTES)


def document(text: str, file: str) -> dict[str, Any]:
    """What is in a file, as plain data.

    Raises:
        ScenarioError: the text is not TOML, or has a number that is none: `nan` or `inf`.
    """
    found: dict[str, Any] = json.loads(core_call(_core.document, text, file))
    if (keys := odd_number(found, none=True)) is not None:
        line = _core.line_of(text, keys) or 1
        raise ScenarioError(f"{file}:{line}: {'.'.join(keys)}: {NO_NUMBER}")
    return found


def odd_number(data: Any, *, none: bool = False) -> list[str] | None:
    """Returns the keys of a number in plain data that is not finite, or None.

    Args:
        data: plain data.
        none: whether None stands for one, as in what comes from TOML, which has none, as JSON.
    """
    if (none and data is None) or (isinstance(data, float) and not math.isfinite(data)):
        return []
    parts: Any = ()
    if isinstance(data, Mapping):
        parts = data.items()
    elif isinstance(data, list | tuple):
        parts = enumerate(data)
    for key, value in parts:
        if (keys := odd_number(value, none=none)) is not None:
            return [str(key), *keys]
    return None
