"""Reductions of tests: functions of a module of their own, as those of studies are."""

from __future__ import annotations

import numpy as np


def moments(tables, warm_up_s):
    """Mean and most of the congestion window."""
    window = np.asarray(tables["cwnd"]["cwnd_packets"], dtype=float)
    return {"windows": np.array([window.mean(), window.max()]), "warm_up": warm_up_s}
