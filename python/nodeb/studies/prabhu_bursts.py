"""Reduction of a replication's bursts to sums for each phone: a long run has too many bursts."""

import numpy as np


def reduce(tables, warm_up_s):
    """Returns sums over those bursts of each phone that end after the warm-up.

    Only `all_bursts` counts the bursts of the whole run.

    A burst counts if it ends, not begins, after the warm-up: a sample of bursts that both begin and
    end within a window would be biased towards short ones.
    """
    transfers, phones = tables["transfers"], len(tables["flows"]["user"])
    phone = np.asarray(transfers["user"], dtype=np.int64)
    delay = np.asarray(transfers["delay_s"], dtype=float)
    download = np.asarray(transfers["download_s"], dtype=float)
    size = np.asarray(transfers["bytes"], dtype=float)
    counts = np.asarray(transfers["begin_s"], dtype=float) + delay > warm_up_s

    def per_phone(values):
        return np.bincount(phone[counts], values[counts], phones)

    return {
        "all_bursts": np.bincount(phone, minlength=phones).astype(float),
        "bursts": per_phone(np.ones_like(delay)),
        "burst_delay_s": per_phone(delay),
        "burst_download_s": per_phone(download),
        "burst_bytes": per_phone(size),
        "burst_rate": per_phone(size / delay),
    }
