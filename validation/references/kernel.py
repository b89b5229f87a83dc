"""Comparison with a Linux kernel: downloads over emulated paths with the same losses."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

import linux_downloads

from references.row import Row, spread

COMMAND = "python validation/linux_downloads.py"
LARGE_BYTES = 1_000_000


def rows() -> Iterator[Row]:
    """Yields the rows that compare transfer times, retransmitted segments and one-way delays."""
    yield from of(row for file in linux_downloads.FILES for row in linux_downloads.compare(file))


def of(found: Iterable[linux_downloads.Row]) -> Iterator[Row]:
    """Yields one row per quantity and congestion control from the compared downloads `found`.

    Transfer times have separate rows for downloads below 1 MB and from 1 MB on.
    """
    times: dict[str, list[float]] = defaultdict(list)
    repeated: dict[str, list[bool]] = defaultdict(list)
    delays: dict[str, list[float]] = defaultdict(list)
    for one in found:
        control = one.control
        size = "from 1 MB on" if one.size_bytes >= LARGE_BYTES else "below 1 MB"
        times[f"transfer times, {control}, {size}"].append(one.ratio)
        allowed = max(3, 0.1 * one.kernel_repeated)
        near = abs(one.nodeb_repeated - one.kernel_repeated) <= allowed
        repeated[f"retransmitted segments, {control}"].append(near)
        if not math.isnan(one.kernel_delay_ms):
            delays[f"mean one-way delays, {control}"].append(one.delay_ratio)
    for what, ratios in sorted(times.items()):
        limit = "3 %" if "from 1 MB" in what else "5 %"
        yield Row("Linux 6.18", what, len(ratios), within(ratios, limit), limit, COMMAND)
    for what, near_ones in sorted(repeated.items()):
        distance = f"{sum(near_ones)} within"
        yield Row("Linux 6.18", what, len(near_ones), distance, "10 % or 3", COMMAND)
    for what, ratios in sorted(delays.items()):
        yield Row("Linux 6.18", what, len(ratios), within(ratios, "10 %"), "10 %", COMMAND)


def within(ratios: list[float], limit: str) -> str:
    near = sum(abs(ratio - 1) <= float(limit.split()[0]) / 100 for ratio in ratios)
    return f"{near} within; {spread(ratios)}"
