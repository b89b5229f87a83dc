"""Reductions for tests, in a module of their own as in studies, so that workers can import it."""

from __future__ import annotations

import numpy as np


def moments(tables, warm_up_s):
    """Returns the mean and the maximum of the congestion window."""
    window = np.asarray(tables["cwnd"]["cwnd_packets"], dtype=float)
    return {"windows": np.array([window.mean(), window.max()]), "warm_up": warm_up_s}
