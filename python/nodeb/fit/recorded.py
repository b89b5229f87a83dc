"""A recorded sequence as a model: what was lost is lost again, in the same order."""

from __future__ import annotations

from typing import Any

from nodeb.fit.model import FORMAT, VERSION
from nodeb.fit.sequence import ErrorSequence

__all__ = ["recorded_model"]


def recorded_model(errors: ErrorSequence, provenance: dict[str, Any]) -> dict[str, Any]:
    """The sequence in the form of a model file."""
    digits = (errors.errors + ord("0")).tobytes().decode("ascii")
    return {
        "format": FORMAT,
        "version": VERSION,
        "unit": "pdu",
        "pdus_per_block": errors.pdus_per_block,
        "kind": "recorded",
        "errors": digits,
        "provenance": provenance,
    }
