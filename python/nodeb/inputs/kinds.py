"""What kind of file something is, by how it begins."""

from __future__ import annotations

from pathlib import Path

__all__ = ["is_flight"]

FLIGHT = b"nodeb flight "
"""How the log of a flight begins, whatever its version."""


def is_flight(path: Path) -> bool:
    """Whether a file is the log of a recorded flight; what cannot be read is none."""
    try:
        with open(path, "rb") as file:
            return file.read(len(FLIGHT)) == FLIGHT
    except OSError:
        return False
