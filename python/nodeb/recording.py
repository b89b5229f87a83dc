"""Recordings of traffic: files of (time, bytes), read into the scenario that replays them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nodeb.errors import ScenarioError, os_reason

__all__ = ["read", "read_all"]

HEADINGS = ("time", "time_s", "seconds", "t_s")
"""What a first line of names may begin with."""


def read_all(scenario: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Puts the lists of every `traffic.replay.file` into a scenario given as plain data.

    Args:
        scenario: changed in place; lists that are there already are kept.
        folder: where relative paths count from.

    Returns:
        The same scenario.

    Raises:
        ScenarioError: a recording cannot be read or makes no sense; names its line.
    """
    for group in scenario.get("users", ()):
        traffic = group.get("traffic")
        replay = traffic.get("replay") if isinstance(traffic, dict) else None
        if replay and replay.get("file") and not replay.get("times"):
            replay["times"], replay["bytes"] = read(folder / replay["file"])
    return scenario


def read(path: Path) -> tuple[list[str], list[str]]:
    """Times and amounts of a recording, as quantities with their units.

    Each line is `seconds,bytes`. Empty lines and those that begin with `#` are left out, and so is
    a first line of names that begins with one of `HEADINGS`.

    Raises:
        ScenarioError: the file cannot be read, a line is none of these, or time goes backward.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {os_reason(error)}") from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: this is not UTF-8 text") from None
    times: list[float] = []
    amounts: list[int] = []
    for number, line in enumerate(lines, start=1):
        words = [word.strip() for word in line.split(",")]
        if not line.strip() or line.startswith("#") or (number == 1 and words[0] in HEADINGS):
            continue
        time, amount = _entry(words, f"{path}:{number}")
        if times and time < times[-1]:
            raise ScenarioError(
                f"{path}:{number}: time goes backward: {time:g} s after {times[-1]:g} s"
            )
        times.append(time)
        amounts.append(amount)
    if not times:
        raise ScenarioError(f"{path}: there is nothing in it; expected lines of `seconds,bytes`")
    return [f"{round(time * 1e9)} ns" for time in times], [f"{amount} B" for amount in amounts]


def _entry(words: list[str], place: str) -> tuple[float, int]:
    try:
        time, amount = words
        entry = float(time), int(amount)
    except ValueError:
        text = ",".join(words)
        raise ScenarioError(
            f"{place}: `{text}` is not an entry; expected `seconds,bytes`, such as `0.25,1460`"
        ) from None
    if not 0 <= entry[0] < 8e6 or entry[1] < 1:
        raise ScenarioError(f"{place}: expected a time from 0 s to 8000000 s and at least 1 byte")
    return entry
