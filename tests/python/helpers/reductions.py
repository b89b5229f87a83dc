"""Reductions for tests.

They are in a module of their own, as in studies, so that workers can import them.
"""

from __future__ import annotations

import numpy as np


def moments(tables, warm_up_s):
    """Returns mean and maximum of the congestion window in packets, and the warm-up time."""
    window = np.asarray(tables["cwnd"]["cwnd_packets"], dtype=float)
    return {"windows": np.array([window.mean(), window.max()]), "warm_up": warm_up_s}
