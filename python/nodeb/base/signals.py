"""Handles signals that stop a process: they have the effect of Ctrl-C.

While results are being saved, the effect of a signal is delayed until they are complete.
"""

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
"""Signals that stop a process, as far as the system has them."""

AGAIN_S = 0.05
"""Delay after which a signal is raised again if Python ignored its KeyboardInterrupt, s."""

SAME_S = 1.0
"""Time, s, after a signal in which further signals count as the same request and are ignored.

They could arrive before cleanup code has started to delay signals. A later signal is not ignored,
because it is probably sent to a process that hangs.
"""

NOTE_S = 0.5
"""Time from a signal until an `undisturbed` block that is still running prints its note, s."""

received: list[int] = []
"""Numbers of the signals handled since `end_as_interrupts` was first called, oldest first."""


class Signalled(KeyboardInterrupt):
    """Exception for a signal that ends the process.

    A plain KeyboardInterrupt would not do: it may pass through code run by `exec`, for example
    while a module with data classes loads. Python remembers that, and a process started with `-m`
    then ends itself by SIGINT, whatever exit status `sys.exit` was given.
    """


def end_as_interrupts() -> None:
    """Makes SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt.

    A signal that is ignored, or has a handler other than Python's default, stays as it is. A signal
    within `SAME_S` after one that raised KeyboardInterrupt raises nothing.
    """
    for number in STOPPING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    sys.unraisablehook = _raise_again


_raised_s = -math.inf
"""Time when a signal last raised KeyboardInterrupt, s of `time.monotonic()`.

It is -inf if no signal has done so, or if Python ignored the last exception.
"""


def _interrupt(number: int, _: Any) -> None:
    global _raised_s
    received.append(number)
    now_s = time.monotonic()
    if now_s - _raised_s >= SAME_S:
        _raised_s = now_s
        raise Signalled


def _raise_again(lost: Any) -> None:
    """Raises the last signal again, after `AGAIN_S`, if Python ignored its KeyboardInterrupt.

    Python ignores exceptions in some places, such as destructors, and passes them to this hook.
    """
    global _raised_s
    if not (received and isinstance(lost.exc_value, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
        return
    _raised_s = -math.inf
    timer = threading.Timer(AGAIN_S, _thread.interrupt_main, (received[-1],))
    timer.daemon = True
    timer.start()


def ignore() -> None:
    """Ignores further signals that `end_as_interrupts` made raise an exception.

    A process calls this when it is about to end: another signal would only suppress its last
    message, or leave a traceback.
    """
    for number in STOPPING:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def undisturbed(note: str | None = None) -> Iterator[None]:
    """Delays signals that a Python function handles until the end of the `with` block.

    Of several signals, only the first is raised then; none is if the block raises an exception. A
    signal with the system's default action, such as SIGTERM before `end_as_interrupts`, is not
    delayed.

    In a thread other than the main thread this does nothing, because Python raises the exceptions
    of signals in the main thread only.

    Args:
        note: printed to stderr if the block continues for `NOTE_S` after a signal and
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
