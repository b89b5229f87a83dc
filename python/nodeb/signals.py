"""Signals that stop a process: each ends it as Ctrl-C does, but not in the middle of saving."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["end_as_interrupts", "ignore", "received", "undisturbed"]

STOPPING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


received: list[int] = []
"""Signals that have come since `end_as_interrupts`."""


def end_as_interrupts() -> None:
    """Makes SIGTERM, and SIGHUP unless it is ignored, raise KeyboardInterrupt as SIGINT does."""

    def interrupt(number: int, _: Any) -> None:
        received.append(number)
        raise KeyboardInterrupt

    for number in STOPPING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)


def ignore() -> None:
    """Stops nothing any more: while Python closes down a signal would only leave a traceback."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keeps signals that would stop the process until the end of the block.

    Only the main thread is ever disturbed; in another nothing needs to be done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept: list[int] = []
    before = {n: signal.getsignal(n) for n in STOPPING}
    held = {n: old for n, old in before.items() if callable(old)}
    for number in held:
        signal.signal(number, lambda n, _: kept.append(n))
    try:
        yield
    finally:
        for number, old in held.items():
            signal.signal(number, old)
    if kept:
        signal.raise_signal(kept[0])
