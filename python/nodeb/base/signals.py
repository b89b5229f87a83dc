"""Signals that ask a command to stop: each raises KeyboardInterrupt, as Ctrl-C does."""

from __future__ import annotations

import signal
import time
from typing import Any

STOPPING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
SAME_S = 1.0
"""Time, s, in which further signals raise nothing, so that a command can clean up. A later one
raises again, because Python drops exceptions in destructors."""
received: list[int] = []
"""Signals that were handled; the first determines the exit status."""
active = False
"""Whether this process is the `nodeb` command, whose signals are its own."""
_raised_s = -SAME_S


def handle(handler: Any) -> None:
    """Sets the handler of all of them, except of those that the parent process ignores."""
    if not active:
        return
    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def interrupt(number: int, _: Any) -> None:
    global _raised_s
    received.append(number)
    if time.monotonic() - _raised_s > SAME_S:
        _raised_s = time.monotonic()
        raise KeyboardInterrupt


def ignore() -> None:
    """Ignores further signals, while a command saves what it has and ends."""
    handle(lambda *_: None)
