"""Positions of the tables in a scenario that may name recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["CHANNEL", "DIRECTIONS", "EXTERNAL", "TRAFFIC", "Owner", "is_external", "recordings"]

CHANNEL, TRAFFIC = ("ue", "channel", "trace"), ("traffic", "replay")
"""Keys that lead from a group of users to the tables of its recordings: of channel and traffic."""
DIRECTIONS = ("down", "up")
"""Directions: keys of `radio.trace` that lead to delivery opportunities."""
EXTERNAL = "external"
"""Name of the traffic of users whose packets come from outside the simulation."""
Owner = int | str
"""Owner of a recording: the index of a group of users, or one of `DIRECTIONS`."""


def recordings(
    scenario: Mapping[str, Any],
) -> Iterator[tuple[Owner, tuple[str, ...], dict[str, Any]]]:
    """Yields the tables of a scenario, given as plain data, that may name a recording.

    Yields:
        The owner (`Owner`), the keys that lead to the table, and the table. The keys start at the
            group of users; if the owner is a direction, they start at the scenario.
    """
    users = scenario.get("users")
    for number, group in enumerate(users if isinstance(users, list) else ()):
        for place in (CHANNEL, TRAFFIC):
            if (table := _table(group, place)) is not None:
                yield number, place, table
    for way in DIRECTIONS:
        if (table := _table(scenario, ("radio", "trace", way))) is not None:
            yield way, ("radio", "trace", way), table


def _table(parts: Any, keys: tuple[str, ...]) -> dict[str, Any] | None:
    for key in keys:
        parts = parts.get(key) if isinstance(parts, Mapping) else None
    return parts if isinstance(parts, dict) else None


def is_external(group: Mapping[str, Any]) -> bool:
    """Returns true if the scenario declares all phones of a group as real or external."""
    traffic = group.get("traffic")
    external = traffic == EXTERNAL or (isinstance(traffic, Mapping) and EXTERNAL in traffic)
    return external or bool(group.get("real"))
