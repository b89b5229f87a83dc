"""Where a scenario names recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["CHANNEL", "TRAFFIC", "recordings"]

CHANNEL, TRAFFIC = ("ue", "channel", "trace"), ("traffic", "replay")
"""Keys of a group of users from which a recording hangs."""


def recordings(
    scenario: Mapping[str, Any],
) -> Iterator[tuple[int, tuple[str, ...], dict[str, Any]]]:
    """The tables of a scenario, given as plain data, that may name a recording.

    Yields:
        Number of the group of users, keys from there, the table.
    """
    users = scenario.get("users")
    for number, group in enumerate(users if isinstance(users, list) else ()):
        for place in (CHANNEL, TRAFFIC):
            table = group
            for key in place:
                table = table.get(key) if isinstance(table, dict) else None
            if isinstance(table, dict):
                yield number, place, table
