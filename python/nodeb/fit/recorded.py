"""A recorded sequence as a model, which reproduces the same losses in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeb.fit.model import FORMAT, VERSION
from nodeb.fit.sequence import ErrorSequence

__all__ = ["recorded_model"]


def recorded_model(errors: ErrorSequence, provenance: dict[str, Any]) -> dict[str, Any]:
    """The first run is of correct PDUs, with length 0 if the sequence begins with a loss."""
    edges = np.flatnonzero(np.diff(errors.errors)) + 1
    runs = np.diff(np.concatenate([[0], edges, [len(errors)]]))
    first = [0] if errors.errors[0] else []
    return {
        "format": FORMAT,
        "version": VERSION,
        "unit": "pdu",
        "pdus_per_block": errors.pdus_per_block,
        "kind": "recorded",
        "errors": [*first, *runs.tolist()],
        "provenance": provenance,
    }
