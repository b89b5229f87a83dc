"""What is kept of a replication's bursts: sums for each phone, as a long run has too many."""

import numpy as np


def reduce(tables, warm_up_s):
    """Sums over each phone's bursts that end after the warm-up; `all_bursts` are of the whole run.

    The end decides, not the beginning: bursts that both begin and end in a window would be too
    short a sample of them.
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
