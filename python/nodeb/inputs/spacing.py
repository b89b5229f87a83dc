"""Durations of the entries of a channel's trace that have times.

An entry lasts until the next one begins. The last one lasts the median of these steps; of an even
number of steps, the lower of the two in the middle. A step of more than ten medians is reported as
a gap, during which the value before it holds.
"""

from __future__ import annotations

import numpy as np

from nodeb.inputs.trace_file import Times, duration_text

__all__ = ["durations"]

GAP_STEPS = 10
"""Multiple of the median step above which a step is reported as a gap."""


def durations(times_ns: Times) -> tuple[int | None, int, list[str]]:
    """Computes the durations of entries from the times at which they begin.

    Args:
        times_ns: at least two increasing times, ns.

    Returns:
        Three items: the step, ns, or None if the steps differ; the end of the last entry, ns; and
        texts on assumptions, for messages, [] if all steps are equal.
    """
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
