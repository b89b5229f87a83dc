"""Recognizes kinds of files by their first bytes."""

from __future__ import annotations

from pathlib import Path

__all__ = ["is_recording"]

RECORDING_MAGIC = b"nodeb flight "
"""First bytes of a recording of an emulation, whatever the version of its format."""


def is_recording(path: Path) -> bool:
    """Returns true if a file can be read and begins like a recording of an emulation."""
    try:
        with open(path, "rb") as file:
            return file.read(len(RECORDING_MAGIC)) == RECORDING_MAGIC
    except OSError:
        return False
