"""Recordings of traffic and of radio channels, read into the scenario that replays them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from nodeb.errors import ScenarioError
from nodeb.storage.files import read_text

__all__ = ["read", "read_all", "read_channel"]

RATES = "rate_bps"
"""The first line of a recorded channel whose other lines are rates."""

HEADINGS = ("time", "time_s", "seconds", "t_s")
"""What a first line of names may begin with."""


def read_all(scenario: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Puts the lists of every recording into a scenario given as plain data.

    Recordings are what `traffic.replay.file` and `ue.channel.trace.file` of a group name.

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
        trace = _at(group, "ue", "channel", "trace")
        if trace and trace.get("file") and not (trace.get("snrs_db") or trace.get("rates")):
            trace.update(read_channel(folder / trace["file"]))
    return scenario


def _at(table: Any, *keys: str) -> Any:
    """What stands under nested keys, or None where something else stands on the way."""
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else None


def read(path: Path) -> tuple[list[str], list[str]]:
    """Times and amounts of a recording, as quantities with their units.

    Each line is `seconds,bytes`. Empty lines and those that begin with `#` are left out, and so is
    a first line of names that begins with one of `HEADINGS`.

    Raises:
        ScenarioError: the file cannot be read, a line is none of these, or time goes backward.
    """
    times: list[float] = []
    amounts: list[int] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
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


def read_channel(path: Path) -> dict[str, list[float] | list[int] | list[str]]:
    """A recorded radio channel as the lists of `ue.channel.trace`.

    Each line stands for a TTI of 2 ms. It is the SNR in dB, or `rx1 rx2 rx3 CQI`: the SNR after
    one, two and three transmissions of a block, and the CQI. Below a line `rate_bps` it is the
    rate in bit/s.
    Numbers are parted by blanks or commas;
    empty lines and those that begin with `#` are left out.

    Raises:
        ScenarioError: the file cannot be read, or a line is none of these.
    """
    lines = [
        (number, line)
        for number, line in enumerate(read_text(path).splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if lines and lines[0][1].strip() == RATES:
        if len(lines) == 1:
            raise ScenarioError(f"{path}: there is nothing in it; expected one line for each TTI")
        return {"rates": [_rate(line, f"{path}:{number}") for number, line in lines[1:]]}
    rows: list[list[float]] = []
    for number, line in lines:
        row = _channel_row(line, f"{path}:{number}")
        if rows and len(row) != len(rows[0]):
            raise ScenarioError(
                f"{path}:{number}: {len(row)} numbers after lines of {len(rows[0])}; "
                "expected as many in every line"
            )
        rows.append(row)
    if not rows:
        raise ScenarioError(f"{path}: there is nothing in it; expected one line for each TTI")
    columns = [list(column) for column in zip(*rows, strict=True)]
    if len(columns) == 1:
        return {"snrs_db": columns[0]}
    first, second, third, cqi = columns
    return {
        "snrs_db": first,
        "second_db": second,
        "third_db": third,
        "cqi": [round(value) for value in cqi],
    }


def _rate(line: str, place: str) -> str:
    try:
        rate = float(line)
    except ValueError:
        rate = math.nan
    if not 0 <= rate <= 1e12:
        raise ScenarioError(
            f"{place}: `{line.strip()}` is not a rate; expected bit/s from 0 to 1e12"
        )
    return f"{round(rate)} bps"


def _channel_row(line: str, place: str) -> list[float]:
    words = line.replace(",", " ").split()
    try:
        row = [float(word) for word in words]
    except ValueError:
        row = []
    if len(row) not in (1, 4) or not all(math.isfinite(value) for value in row):
        raise ScenarioError(
            f"{place}: `{line.strip()}` is not a TTI; expected an SNR in dB, or `rx1 rx2 rx3 CQI`"
        )
    if len(row) == 4 and (row[3] != round(row[3]) or not 0 <= row[3] <= 30):
        raise ScenarioError(f"{place}: {words[3]} is not a CQI; expected a whole number, 0 to 30")
    return row


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
