"""Where a scenario names recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["CHANNEL", "TRAFFIC", "WAYS", "Owner", "recordings"]

CHANNEL, TRAFFIC = ("ue", "channel", "trace"), ("traffic", "replay")
"""Keys of a group of users from which a recording hangs."""
WAYS = ("down", "up")
"""Keys of `radio.trace` from which delivery opportunities hang."""
Owner = int | str
"""Whose recording it is: the number of a group of users, or one of `WAYS`."""


def recordings(
    scenario: Mapping[str, Any],
) -> Iterator[tuple[Owner, tuple[str, ...], dict[str, Any]]]:
    """The tables of a scenario, given as plain data, that may name a recording.

    Yields:
        Whose it is, keys from there, the table. Those of a way are keys of the scenario.
    """
    users = scenario.get("users")
    for number, group in enumerate(users if isinstance(users, list) else ()):
        for place in (CHANNEL, TRAFFIC):
            if (table := _table(group, place)) is not None:
                yield number, place, table
    for way in WAYS:
        if (table := _table(scenario, ("radio", "trace", way))) is not None:
            yield way, ("radio", "trace", way), table


def _table(parts: Any, keys: tuple[str, ...]) -> dict[str, Any] | None:
    for key in keys:
        parts = parts.get(key) if isinstance(parts, Mapping) else None
    return parts if isinstance(parts, dict) else None
