"""Error models of radio links: reads files of `nodeb fit` into the scenarios that name them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from nodeb import _core
from nodeb.base.streams import printable
from nodeb.errors import ScenarioError
from nodeb.storage.files import NAMED_BYTES, read_text

__all__ = ["errors", "read", "read_sequence"]


FROM_FILE = ("unit", "pdus_per_block", "process", "within_block")
"""Keys of a radio's `errors` that a model file gives."""


def errors(path: Path) -> dict[str, Any]:
    """Returns the keys of a radio's `errors` that a model file sets, with their values.

    Raises:
        ScenarioError: the file cannot be read or is no error model.
    """
    model = read(path)
    return {key: model[key] for key in model if key in FROM_FILE}


def read(path: Path) -> dict[str, Any]:
    """Returns the content of a model file as the `errors` of a radio.

    If the file's `errors` is the name of a text file, the sequence in that file is read too. The
    name is relative to the folder of the model file.

    Raises:
        ScenarioError: a file cannot be read, or is no error model or sequence; the message names
            the file.
    """
    text = read_text(path, NAMED_BYTES)
    try:
        keys = json.loads(text)
    except ValueError:
        keys = None  # The core parses the text again below, and reports the error.
    if isinstance(keys, dict) and isinstance(keys.get("errors"), str):
        text = json.dumps(keys | {"errors": read_sequence(path.parent / keys["errors"])})
    try:
        model: dict[str, Any] = json.loads(_core.read_error_model(text, printable(str(path))))
    except _core.ScenarioError as error:
        raise ScenarioError(str(error)) from None
    return model


def read_sequence(path: Path) -> list[int]:
    """Reads an error sequence, a text of 0 (correct) and 1 (error), as alternating run lengths.

    The units are PDUs or blocks. The first run is of correct units; its length is 0 if the text
    begins with an error. White space is ignored.

    Raises:
        ScenarioError: the file cannot be read, is empty, or has other symbols.
    """
    import numpy as np

    text = read_text(path, NAMED_BYTES)
    if odd := re.search(r"[^01\s]", text):
        line = text.count("\n", 0, odd.start()) + 1
        raise ScenarioError(
            f"{path}:{line}: {odd[0]!r} is not part of an error sequence; expected 0 for "
            "a correct unit and 1 for an error"
        )
    steps = np.frombuffer("".join(text.split()).encode(), dtype=np.uint8)
    if not steps.size:
        raise ScenarioError(f"{path}: the file has no entries; expected a text of 0 and 1")
    changes = np.flatnonzero(np.diff(steps)) + 1
    runs: list[int] = np.diff(changes, prepend=0, append=steps.size).tolist()
    return [0, *runs] if steps[0] == ord("1") else runs
