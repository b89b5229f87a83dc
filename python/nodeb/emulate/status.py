"""The line on a terminal that says how an emulation stands."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, Self, TextIO

from nodeb.emulate.told import in_words, rate

__all__ = ["StatusLine", "status_text"]

SHOW_EVERY_S = 1.0
"""How often a terminal is told how it stands."""
WIDEST = 80
"""Columns of the narrowest terminal in common use."""


class StatusLine:
    """A line on a terminal that says how it stands; nothing where there is no terminal.

    Args:
        stream: where it is shown; None for nowhere.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._before: Mapping[str, Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._show("")

    def __call__(self, now: Mapping[str, Any]) -> None:
        """Shows how it stands."""
        before = self._before or now
        if now["time_s"] - before["time_s"] >= SHOW_EVERY_S or self._before is None:
            self._before = now
            if self._stream is not None:
                self._show(status_text(now, before, _columns(self._stream)))

    def _show(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()


def status_text(now: Mapping[str, Any], before: Mapping[str, Any], columns: int = WIDEST) -> str:
    """How it stands, with rates and mean delay since `before`.

    What matters least is left out where there is no room: the last column stays free, since a
    terminal may begin a new line behind it.

    Args:
        now: what `Emulation.status` says.
        before: the same of an earlier time.
        columns: how many the terminal has.
    """
    span = now["time_s"] - before["time_s"]
    down, up = (rate(now[key] - before[key], span) for key in ("down_bytes", "up_bytes"))
    arrived = now["down_packets"] - before["down_packets"]
    delay = in_words((now["delays_s"] - before["delays_s"]) / arrived) if arrived else "-"
    parts = [
        f"{now['time_s']:.0f} s",
        f"down {down}",
        f"up {up}",
        f"delay {delay}",
        f"queue {now['queued_down']}/{now['queued_up']}",
    ]
    if math.isfinite(now["cqi"]):
        parts.append(f"CQI {now['cqi']:.0f}")
    parts.append(f"late {in_words(now['late_p99_s'])}")
    parts.append(f"lost {now['lost']}")
    while parts and len(" ".join(parts)) >= columns:
        parts.pop()
    return " ".join(parts)


def _columns(stream: TextIO) -> int:
    """Columns of a terminal, at most those of a narrow one."""
    try:
        return min(os.get_terminal_size(stream.fileno()).columns or WIDEST, WIDEST)
    except (OSError, ValueError):
        return WIDEST
