"""Positions of the tables in a scenario that may name recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["CHANNEL", "DIRECTIONS", "EXTERNAL", "TRAFFIC", "Owner", "is_external", "recordings"]

CHANNEL, TRAFFIC = ("ue", "channel", "trace"), ("traffic", "replay")
DIRECTIONS = ("down", "up")
"""Directions: keys of `radio.trace` that lead to delivery opportunities."""
EXTERNAL = "external"
"""Name of the traffic of users whose packets come from outside the simulation."""
Owner = int | str
"""Owner of a recording: the index of a group of users, or one of `DIRECTIONS`."""


def recordings(
    scenario: Mapping[str, Any],
) -> Iterator[tuple[Owner, tuple[str, ...], dict[str, Any]]]:
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
    traffic = group.get("traffic")
    external = traffic == EXTERNAL or (isinstance(traffic, Mapping) and EXTERNAL in traffic)
    return external or bool(group.get("real"))
