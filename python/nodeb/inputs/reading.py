"""Reads texts of scenario files and converts the core's errors; does not import NumPy."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from nodeb import _core
from nodeb.errors import RunError, ScenarioError
from nodeb.inputs import cells
from nodeb.storage import files

NO_NUMBER = "this number is not finite; expected a finite number"

RECORDING_MAGIC = b"nodeb flight "
MAX_BYTES = 64 << 20
"""Maximum size of a scenario file, bytes (64 MiB)."""
FIRST_CELL = f"{cells.PREFIX}umts-2004"

P = ParamSpec("P")
T = TypeVar("T")


def core_call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Converts exceptions of the core to those of this package."""
    try:
        return function(*args, **kwargs)
    except _core.ScenarioError as error:
        raise ScenarioError(str(error)) from None
    except _core.InternalError as error:
        raise RunError(str(error)) from None


def read_text(path: Path) -> str:
    """Reads a scenario file, or a ready cell whose name is `cell:NAME`.

    Raises:
        InputError: there is no such file or cell; the message names the most similar one, if any.
        ScenarioError: the file cannot be read.
    """
    if (cell := cells.cell_of(path)) is not None:
        return cells.text(cell)
    if not path.exists():
        raise ScenarioError(f"{path}: there is no such file; {_remedy(path)}")
    return files.read_text(path, MAX_BYTES)


def _remedy(path: Path) -> str:
    source = path.parts[:1] == ("examples",) and not Path("examples").exists()
    if not source and (near := _similar(path)):
        return f"did you mean `{near}`?"
    where = "`examples` is in the source folder of nodeb; " if source else ""
    return f"{where}`nodeb list cells` names scenarios that need no file, such as `{FIRST_CELL}`"


def _similar(path: Path) -> str | None:
    """The scenario file of the same or the most similar name: beside it, an example, or a cell."""
    from difflib import get_close_matches

    folders = [path.parent, path.parent / "examples"]
    places = {one.stem: str(one) for folder in reversed(folders) for one in folder.glob("*.toml")}
    places |= {name: f"{cells.PREFIX}{name}" for name in cells.names() if name not in places}
    near = get_close_matches(path.stem, places, 1)
    return places[near[0]] if near else None


def document(text: str, file: str) -> dict[str, Any]:
    """Parses TOML, in which every number must be finite."""
    found: dict[str, Any] = json.loads(core_call(_core.document, text, file))
    if (keys := non_finite_number(found, none=True)) is not None:
        line = _core.line_of(text, keys) or 1
        raise ScenarioError(f"{file}:{line}: {'.'.join(keys)}: {NO_NUMBER}")
    return found


def non_finite_number(data: Any, *, none: bool = False) -> list[str] | None:
    """Returns the keys that lead to the first number that is not finite.

    With `none`, None counts as such a number: JSON made from TOML has it for `nan` and `inf`.
    """
    if (none and data is None) or (isinstance(data, float) and not math.isfinite(data)):
        return []
    parts: Any = ()
    if isinstance(data, Mapping):
        parts = data.items()
    elif isinstance(data, list | tuple):
        parts = enumerate(data)
    for key, value in parts:
        if (keys := non_finite_number(value, none=none)) is not None:
            return [str(key), *keys]
    return None


def is_recording(path: Path) -> bool:
    """Whether a file is a recording of an emulation, of any version."""
    try:
        with open(path, "rb") as file:
            return file.read(len(RECORDING_MAGIC)) == RECORDING_MAGIC
    except OSError:
        return False
