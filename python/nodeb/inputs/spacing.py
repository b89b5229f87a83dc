"""Durations of the entries of a channel's trace that have times.

The last one lasts the median of these steps; of an even number of steps, the lower of the two in
the middle. A step of more than ten medians is reported as a gap, during which the value before
it holds.
"""

from __future__ import annotations

import numpy as np

from nodeb.inputs.trace_file import Times, duration_text

__all__ = ["durations"]

GAP_STEPS = 10


def durations(times_ns: Times) -> tuple[int | None, int, list[str]]:
    steps = np.diff(times_ns)
    median = int(np.percentile(steps, 50, method="lower"))
    end = int(times_ns[-1]) + median
    if (steps == median).all():
        return median, end, []
    notes = [f"the last entry lasts {duration_text(median)}, the median step"]
    gaps = np.flatnonzero(steps > GAP_STEPS * median)
    if len(gaps):
        longest = int(np.argmax(steps))
        many = "1 gap" if len(gaps) == 1 else f"{len(gaps)} gaps"
        notes.append(
            f"values are held through {many} of more than {GAP_STEPS} median steps, the longest "
            f"{duration_text(steps[longest])} from {duration_text(times_ns[longest])}"
        )
    return None, end, notes
