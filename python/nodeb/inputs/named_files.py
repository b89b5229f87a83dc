"""Adds the content of the files that a scenario names to the scenario: the core reads no files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.streams import printable
from nodeb.base.units import NS, NS_PER_S
from nodeb.errors import ScenarioError
from nodeb.inputs import recording
from nodeb.inputs.columns import TRAFFIC, recordings, table_at
from nodeb.inputs.reading import core_call
from nodeb.inputs.trace import MAX_S, Range, first_entry, read_columns
from nodeb.storage.files import NAMED_BYTES, read_text

Locate = Callable[[list[str]], str]
"""Function that returns the position of the value under some keys, as "file:line: key: "."""

CURVE = ("cqi", "snr_db", "bler")
CURVE_RANGES = {"cqi": Range(1, 30, "a CQI; expected a whole number, 1 to 30", whole=True)}

DELAYS = (("time_s", "delay_ms"), ("time_ms", "delay_ms"))
DELAY_UNITS_NS = {"time_s": NS["s"], "time_ms": NS["ms"], "delay_ms": NS["ms"]}
DELAY_RANGES = {
    name: Range(0, MAX_S * NS_PER_S / unit, f"from 0 to {MAX_S:.0f} s")
    for name, unit in DELAY_UNITS_NS.items()
}

FROM_FILE = ("unit", "pdus_per_block", "process", "within_block")
"""Keys of a radio's `errors` that a model file gives."""

TEXT_CONTENTS = {
    ".errors.file": FROM_FILE,
    ".link_curve.file": CURVE,
    ".jitter.trace.file": ("times", "delays"),
}
"""Keys beside the name of a file that its content sets; those of other files become columns."""

FileCache = dict[tuple[Path, *tuple[str, ...]], Mapping[str, Any]]
"""Contents of files, by path, name of the radio, and keys that lead to the file's name."""


def read_all(
    scenario: dict[str, Any],
    folder: Path,
    locate: Locate | None = None,
    cache: FileCache | None = None,
) -> dict[str, Any]:
    """Adds the content of every file that a scenario names to the scenario's plain data.

    Content that is already present is kept. Lists of recordings become columns.

    Args:
        scenario: changed in place.
        folder: base of relative paths.
        locate: returns the position of a key that names a file, for messages; None uses the key.
        cache: contents of files read before, which are used even if a file has changed since.
    """
    cache = {} if cache is None else cache
    variant = scenario.get("radio")
    radio = next(iter(variant), "") if isinstance(variant, dict) else str(variant)
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


def text_contents(key: str) -> tuple[str, ...]:
    ends = (contents for end, contents in TEXT_CONTENTS.items() if key.endswith(end))
    return next(ends, ())


def paths(scenario: Any, folder: Path) -> Iterator[Path]:
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
    """Yields the keys of the name of each file still to be read, its table, and its reader."""
    lists = ("times", "snrs_db", "rates", "cqi", "times_ms")
    for owner, place, table in recordings(scenario):
        if not _is_unread(table, *lists):
            continue
        if isinstance(owner, str):
            yield [*place, "file"], table, recording.opportunities
        else:
            channel = partial(recording.channel, radio=radio)
            reader = recording.traffic if place == TRAFFIC else channel
            yield ["users", str(owner), *place, "file"], table, reader
    readers = {"errors": (error_model, "process"), "link_curve": (link_curve, "cqi")}
    for key, (read, content) in readers.items():
        place = ("radio", radio, key)
        keys = table_at(scenario, place)
        if keys is not None and _is_unread(keys, content):
            yield [*place, "file"], keys, read
    for link, table in _links(scenario, radio):
        keys = table_at(table, ("jitter", "trace"))
        if keys is not None and _is_unread(keys, "times", "delays"):
            yield [*link, "jitter", "trace", "file"], keys, delays


def _links(scenario: dict[str, Any], radio: str) -> Iterator[tuple[list[str], Any]]:
    """Yields the keys and the table of each link that can have jitter."""
    for key in ("wired", "uplink"):
        yield [key], scenario.get(key)
    core = scenario.get("core")
    if isinstance(core, list):
        yield from ((["core", str(number)], link) for number, link in enumerate(core))
    else:
        yield ["core"], core
    yield ["radio", radio], table_at(scenario, ("radio", radio))


def _is_unread(table: Mapping[str, Any], *contents: str) -> bool:
    """Whether a table names a file, and has none of its contents; the core checks other values."""
    return isinstance(table.get("file"), str) and not any(
        len(table.get(key) or ()) for key in contents
    )


def link_curve(path: Path) -> dict[str, list[float]]:
    """Reads a file of curves: a line `cqi,snr_db,bler`, and a point in each other line."""
    data = read_text(path, NAMED_BYTES).encode()
    line, names = first_entry(data)
    if sorted(names) != sorted(CURVE):
        raise ScenarioError(
            f"{path}:{line}: unknown columns `{','.join(names)}`; expected `{','.join(CURVE)}`"
        )
    columns = read_columns(data, path, names, ranges=CURVE_RANGES)
    return {"cqi": columns["cqi"].astype(int).tolist()} | {
        name: columns[name].tolist() for name in ("snr_db", "bler")
    }


def delays(path: Path) -> dict[str, list[str]]:
    """Reads a file of delays: a line of `DELAYS`, and a point in each other line."""
    data = read_text(path, NAMED_BYTES).encode()
    line, names = first_entry(data)
    if tuple(names) not in DELAYS:
        expected = " or ".join(f"`{','.join(columns)}`" for columns in DELAYS)
        raise ScenarioError(
            f"{path}:{line}: unknown columns `{','.join(names)}`; expected {expected}"
        )
    columns = read_columns(data, path, names, ranges=DELAY_RANGES)
    lists = ((columns[name] * DELAY_UNITS_NS[name]).round() for name in names)
    times, values = ([f"{ns:.0f} ns" for ns in column] for column in lists)
    return {"times": times, "delays": values}


def error_model(path: Path) -> dict[str, Any]:
    """Returns the keys of a radio's `errors` that a model file gives.

    Its `errors` can name the text file of a sequence, relative to the folder of the model file.
    """
    text = read_text(path, NAMED_BYTES)
    try:
        keys = json.loads(text)
    except ValueError:
        keys = None  # The core parses the text again below, and reports the error.
    if isinstance(keys, dict) and isinstance(keys.get("errors"), str):
        text = json.dumps(keys | {"errors": read_sequence(path.parent / keys["errors"])})
    model: dict[str, Any] = json.loads(
        core_call(_core.read_error_model, text, printable(str(path)))
    )
    return {key: model[key] for key in FROM_FILE if key in model}


def read_sequence(path: Path) -> list[int]:
    """Reads an error sequence, a text of 0 (correct) and 1 (error), as `run_lengths`.

    The units are PDUs or blocks. White space is ignored.
    """
    text = read_text(path, NAMED_BYTES)
    if odd := re.search(r"[^01\s]", text):
        line = text.count("\n", 0, odd.start()) + 1
        raise ScenarioError(
            f"{path}:{line}: {odd[0]!r} is not part of an error sequence; expected 0 for "
            "a correct unit and 1 for an error"
        )
    digits = np.frombuffer("".join(text.split()).encode(), dtype=np.uint8)
    if not digits.size:
        raise ScenarioError(f"{path}: the file has no entries; expected a text of 0 and 1")
    return run_lengths(digits - ord("0"))


def run_lengths(errors: NDArray[np.uint8]) -> list[int]:
    """Alternating lengths of runs of 0 and 1; the first is of 0, and is 0 before a 1."""
    changes = np.flatnonzero(np.diff(errors)) + 1
    runs: list[int] = np.diff(changes, prepend=0, append=len(errors)).tolist()
    return [0, *runs] if errors[0] else runs
