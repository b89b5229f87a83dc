"""Handles SIGINT, SIGTERM and SIGHUP: each of them raises KeyboardInterrupt, as Ctrl-C does.

While results are being saved, a signal is delayed until they are complete.
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
"""Signals that ask a process to stop; those that the operating system lacks are omitted."""

AGAIN_S = 0.05
"""Delay, s, after which a signal is raised again if Python ignored its exception."""

SAME_S = 1.0
"""Time, s, for which signals raise no exception after one that did.

Such signals count as the same request. They could arrive before cleanup code has started to delay
signals. A later signal does raise one, because it is probably sent to a process that hangs.
"""

NOTE_S = 0.5
"""Delay, s, from a signal in a `with undisturbed(note)` block until `note` is printed."""

received: list[int] = []
"""Numbers of the signals handled since `end_as_interrupts`, in order.

Signals within `SAME_S` are included. A signal that `undisturbed` delays is added after its block.
"""


class Signalled(KeyboardInterrupt):
    """Exception for a signal that ends the process.

    A plain KeyboardInterrupt is not suitable. It may pass through code run by `exec`, for example
    while a module with data classes loads. Python records that: a process started with `-m` then
    kills itself by SIGINT, whatever exit status `sys.exit` was given.
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
"""Time, s, by `time.monotonic()`, when a signal last raised `Signalled`.

It is minus infinity if none has, or if Python ignored that exception.
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

    Python ignores exceptions in some places, such as destructors, and passes them to this hook. All
    other exceptions are passed on to Python's own hook.
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
    """Ignores from now on the signals for which `end_as_interrupts` has set a handler.

    A process calls this when it is about to end. Another signal would only suppress its last
    message, or print a traceback.
    """
    for number in STOPPING:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def undisturbed(note: str | None = None) -> Iterator[None]:
    """Delays the signals of `STOPPING` until the end of the `with` block.

    Of several signals, only the first is raised then. If the block raises an exception, none is
    raised. Signals without a Python handler are not delayed, such as SIGTERM before a call of
    `end_as_interrupts`.

    In a thread other than the main thread this does nothing, because Python handles signals in the
    main thread only.

    Args:
        note: text printed to stderr if the block lasts for more than `NOTE_S` after the first
            signal, and `end_as_interrupts` has set that signal's handler; None for none.
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
