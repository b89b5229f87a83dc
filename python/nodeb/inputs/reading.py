"""Texts of scenario files, and the core's complaints about them; NumPy is not imported here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from nodeb import _core
from nodeb.errors import RunError, ScenarioError
from nodeb.storage import bounded

__all__ = ["core_call", "document", "read_text"]

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


def document(text: str, file: str) -> dict[str, Any]:
    """What is in a file, as plain data.

    Raises:
        ScenarioError: the text is not TOML.
    """
    found: dict[str, Any] = json.loads(core_call(_core.document, text, file))
    return found
