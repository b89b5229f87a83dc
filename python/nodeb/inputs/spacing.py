"""How long the entries of a channel's trace last that have times.

An entry lasts until the next begins. The last lasts the median of these steps, the lower of the two
in the middle if their number is even. A step of more than ten medians is reported as a gap; the
value before it holds on through it.
"""

from __future__ import annotations

import numpy as np

from nodeb.base.units import NS_PER_S
from nodeb.inputs.trace_file import Times

__all__ = ["of"]

GAP_STEPS = 10
"""Medians above which a step is reported as a gap."""


def of(times_ns: Times) -> tuple[int | None, int, list[str]]:
    """Returns how long entries last that begin at these times.

    Args:
        times_ns: at least two times that rise, ns.

    Returns:
        The step, ns, or None where entries are not evenly apart; when the last ends, ns; what was
        assumed, each a few words.
    """
    steps = np.diff(times_ns)
    median = int(np.percentile(steps, 50, method="lower"))
    end = int(times_ns[-1]) + median
    if (steps == median).all():
        return median, end, []
    notes = [f"the last entry lasts {_seconds(median)}, the median step"]
    gaps = np.flatnonzero(steps > GAP_STEPS * median)
    if len(gaps):
        longest = int(np.argmax(steps))
        many = "1 gap" if len(gaps) == 1 else f"{len(gaps)} gaps"
        notes.append(
            f"values hold on through {many} of more than {GAP_STEPS} median steps, the longest "
            f"{_seconds(steps[longest])} from {_seconds(times_ns[longest])} on"
        )
    return None, end, notes


def _seconds(ns: int) -> str:
    return f"{ns / NS_PER_S:.6g} s"
