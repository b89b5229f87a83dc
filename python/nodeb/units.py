"""Units of time in which scenarios and command lines are written."""

from __future__ import annotations

__all__ = ["NS", "SECONDS"]

NS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
"""Nanoseconds of each."""
SECONDS = {unit: ns / 10**9 for unit, ns in NS.items()}
"""Seconds of each."""
