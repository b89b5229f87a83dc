"""Status line of a running emulation on the terminal."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, Self, TextIO

from nodeb.answer.numbers import number

__all__ = ["StatusLine", "status_text"]

SHOW_EVERY_S = 1.0
"""Minimum time of the emulation between two updates of the line, s."""
USUAL_COLUMNS = 80


class StatusLine:
    """Status line, which its `with` block clears at the end; shown on terminals only."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._before: Mapping[str, Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._show("")

    def __call__(self, now: Mapping[str, Any]) -> None:
        """Shows a result of `Emulation.status`, unless the last one is too recent."""
        before = self._before or now
        if now["time_s"] - before["time_s"] >= SHOW_EVERY_S or self._before is None:
            self._before = now
            if self._stream is not None:
                self._show(status_text(now, before, _columns(self._stream)))

    def _show(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()


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
