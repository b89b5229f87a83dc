"""Traces of delivery opportunities in mahimahi's format, which `radio.trace` replays.

Each line is one opportunity: its time in ms, a whole number that never decreases. The last time
must be above 0, because the trace lasts until then. Empty lines and lines that begin with `#` are
ignored.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from nodeb.errors import ScenarioError
from nodeb.inputs import trace_reader
from nodeb.inputs.columns import Column
from nodeb.inputs.trace_file import MAGIC
from nodeb.storage.files import read_bytes

__all__ = ["read"]

MAX_MS = 8_000_000_000
"""Maximum time of an opportunity, ms: the maximum duration of a run."""


def read(path: Path) -> dict[str, Column]:
    """Returns the list `times_ms` of `radio.trace.down` or `radio.trace.up` from a file.

    Args:
        path: the file. The contents of the last four files are kept in memory; these files are read
            again only if they have changed.

    Raises:
        ScenarioError: the file cannot be read, or a line is not a valid time; the message names the
            line.
    """
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return dict(_lists(path))  # Reading the file raises an error with the reason.
    return dict(_cached(path, (about.st_ino, about.st_size, about.st_mtime_ns)))


@lru_cache(maxsize=4)
def _cached(path: Path, version: tuple[int, ...]) -> dict[str, Column]:
    del version
    return _lists(path)


def _lists(path: Path) -> dict[str, Column]:
    data = read_bytes(path, trace_reader.MAX_BYTES)
    if data.startswith(MAGIC):
        is_traffic = trace_reader.is_of_traffic(data)
        key = "traffic.replay.file" if is_traffic else "ue.channel.trace.file"
        raise ScenarioError(
            f"{path}:1: this is a trace of {'traffic' if is_traffic else 'a channel'} made by "
            f"`nodeb import`, for the key `{key}` of a user; expected delivery opportunities in "
            "mahimahi's format, a time in ms in each line"
        )
    columns = trace_reader.read_numbers(data, path, skip=0)
    if not columns:
        raise ScenarioError(
            f"{path}: the file has no entries; expected at least one delivery opportunity, "
            "a time in ms in each line"
        )
    if len(columns) > 1:
        raise trace_reader.entry_error(
            data, path, 0, f"{len(columns)} numbers in a line; expected one, a time in ms"
        )
    return {"times_ms": Column(_times(data, path, columns[0]))}


def _times(data: bytes, path: Path, ms: np.ndarray) -> np.ndarray:
    """Checks the times `ms` of delivery opportunities, ms, and returns them as integers.

    Raises:
        ScenarioError: a time is not a whole number, is out of range, or decreases, or the last one
            is 0; the message names its line.
    """

    def check(odd: np.ndarray, message: str) -> None:
        if odd.any():
            place = int(np.argmax(odd))
            raise trace_reader.entry_error(data, path, place, f"{ms[place]:.10g} {message}")

    check(
        (ms < 0) | (ms > MAX_MS) | (ms != np.rint(ms)),
        f"is no time of an opportunity; expected whole ms from 0 to {MAX_MS}",
    )
    check(
        np.append(False, ms[1:] < ms[:-1]),
        "goes backward in time; expected times in ms that never fall",
    )
    check(
        np.append(np.zeros(len(ms) - 1, dtype=bool), ms[-1] == 0),
        "is the last time, and a trace lasts until then; expected more than 0 ms",
    )
    return ms.astype(np.uint64)
