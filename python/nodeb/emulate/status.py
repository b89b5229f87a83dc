"""Status line of a running emulation on the terminal."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from nodeb.answer.numbers import number

SHOW_EVERY_S = 1.0
"""Minimum time of the emulation between two updates of the line, s."""
USUAL_COLUMNS = 80


@contextmanager
def status_line(stream: TextIO | None) -> Iterator[Callable[[Mapping[str, Any]], None] | None]:
    """A function that shows a result of `Emulation.status`, unless the last one is too recent.

    None except on a terminal. The line is cleared at the end.
    """
    if stream is None or not stream.isatty():
        yield None
        return
    before: Mapping[str, Any] = {}

    def show(now: Mapping[str, Any]) -> None:
        nonlocal before
        if not before or now["time_s"] - before["time_s"] >= SHOW_EVERY_S:
            write(status_text(now, before or now, _columns(stream)))
            before = now

    def write(text: str) -> None:
        stream.write(f"\r\x1b[K{text}")
        stream.flush()

    try:
        yield show
    finally:
        write("")


def status_text(
    now: Mapping[str, Any], before: Mapping[str, Any], columns: int = USUAL_COLUMNS
) -> str:
    """The status line; bit rates and mean delay are those since `before`.

    Fields at the end of the line are omitted if they do not fit. The last column stays free,
    because some terminals begin a new line after it.
    """
    span_s = now["time_s"] - before["time_s"]
    down, up = (
        number(8 * (now[key] - before[key]) / span_s if span_s else 0.0, "bit/s")
        for key in ("down_bytes", "up_bytes")
    )
    arrived = now["down_packets"] - before["down_packets"]
    delay = number((now["delays_s"] - before["delays_s"]) / arrived, "s") if arrived else "-"
    cqi = f" CQI {now['cqi']:.0f}" if math.isfinite(now["cqi"]) else ""
    parts = [
        f"{now['time_s']:.0f} s",
        f" down {down}",
        f" up {up}",
        f" delay {delay}",
        f" queue {now['queued_down']}/{now['queued_up']}",
        cqi,
        f" late {number(now['late_p99_s'], 's')}",
        f" lost {now['lost']}",
    ]
    while len("".join(parts)) >= columns:
        parts.pop()
    return "".join(parts)


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_COLUMNS
    except (OSError, ValueError):
        return USUAL_COLUMNS
