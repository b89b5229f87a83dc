"""Signals that stop a process: each ends it as Ctrl-C does, but not in the middle of saving."""

from __future__ import annotations

import _thread
import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["STOPPING", "end_as_interrupts", "ignore", "received", "undisturbed"]

STOPPING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""The signals that stop a process here: all that this system has of them."""

AGAIN_S = 0.05
"""When a signal that was lost is raised once more."""

SAME_S = 1.0
"""Signals that come this soon after another ask for the same: that one is being answered already.

Any could come before what tidies up has begun to keep them; a later one is for what hangs.
"""

NOTE_S = 0.5
"""What goes on for longer than this after a signal says so."""

received: list[int] = []
"""Signals that have come since `end_as_interrupts`."""


class Signalled(KeyboardInterrupt):
    """A signal that ends the process.

    A class of its own because Python remembers a plain KeyboardInterrupt that has passed a text
    given to `exec`, as in a module with data classes that loads: where it runs a module (`-m`), it
    ends itself by SIGINT at last, whatever status `sys.exit` was given.
    """


def end_as_interrupts() -> None:
    """Makes SIGTERM, and SIGHUP unless it is ignored, raise KeyboardInterrupt as SIGINT does.

    One that comes within `SAME_S` of another raises nothing.
    """
    for number in STOPPING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    sys.unraisablehook = _raise_again


_raised_s = -math.inf
"""When a signal was raised last, as `time.monotonic()` says."""


def _interrupt(number: int, _: Any) -> None:
    global _raised_s
    received.append(number)
    now_s = time.monotonic()
    if now_s - _raised_s >= SAME_S:
        _raised_s = now_s
        raise Signalled


def _raise_again(lost: Any) -> None:
    """Raises a signal again that came where Python drops exceptions, as in a destructor."""
    global _raised_s
    if not (received and isinstance(lost.exc_value, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
        return
    _raised_s = -math.inf
    timer = threading.Timer(AGAIN_S, _thread.interrupt_main, (received[-1],))
    timer.daemon = True
    timer.start()


def ignore() -> None:
    """Makes signals stop nothing any more, where `end_as_interrupts` made them raise an exception.

    Once a process is about to end, another would only take its last message, or leave a traceback.
    """
    for number in STOPPING:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def undisturbed(note: str | None = None) -> Iterator[None]:
    """Keeps signals that would stop the process until the end of the block.

    Only the main thread is ever disturbed; in another nothing needs to be done.

    Args:
        note: printed to stderr if the block goes on for a while after a signal, where
            `end_as_interrupts` made signals end the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept: list[int] = []
    before = {n: signal.getsignal(n) for n in STOPPING}
    held = {n: old for n, old in before.items() if callable(old)}
    late: list[threading.Timer] = []

    def keep(number: int, _: Any) -> None:
        if note is not None and not kept and held[number] is _interrupt:
            late.append(threading.Timer(NOTE_S, print, [f"note: {note}"], {"file": sys.stderr}))
            late[0].daemon = True
            late[0].start()
        kept.append(number)

    for number in held:
        signal.signal(number, keep)
    try:
        yield
    finally:
        for timer in late:
            timer.cancel()
        for number, old in held.items():
            signal.signal(number, old)
    if kept:
        signal.raise_signal(kept[0])
