"""Commands that run: what ends an emulation, and how they are asked to end."""

from __future__ import annotations

import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from nodeb.emulate.ends import End
from nodeb.errors import RunError

__all__ = ["ENDING_S", "end_commands", "signals", "watch"]

LOOK_EVERY_S = 0.13
"""How often the status is told, and it is looked whether the driver goes on. Not as often as the
driver says how it stands, or what is seen would always be equally old."""
ENDING_S = 2.0
"""How long a command is given to end after it was asked to."""
REACHED_S = 0.05
"""How long an interrupt may take to come to all processes of a group."""
SAME_S = 1.0
"""Interrupts of nodeb and of a command that come within this are the same."""

Signal = tuple[int, float]
"""Its number, and when it came, s."""


@contextmanager
def signals() -> Iterator[list[Signal]]:
    """Signals that come, instead of what they do else; none in another than the main thread."""
    received: list[Signal] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def note(number: int, _: Any) -> None:
        received.append((number, time.monotonic()))

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def watch(
    ends: Sequence[End],
    received: list[Signal],
    is_driven: Callable[[], bool],
    look: Callable[[], None],
) -> tuple[str, int]:
    """Waits until the commands have ended, time is up or a signal has come.

    Args:
        ends: the server and the phones, in this order.
        received: signals as they come.
        is_driven: whether the driver goes on.
        look: called a few times a second.

    Returns:
        Which it was, `command`, `duration` or `signal`, and the number of the signal, or 0.

    Raises:
        RunError: a process that holds a namespace was killed.
    """
    phones, seen = ends[1:], 0
    watched = select.poll()
    for end in ends:
        watched.register(end, select.POLLIN)
    while True:
        watched.poll(LOOK_EVERY_S * 1e3)
        for end in ends:
            end.listen()
            if end.gone:
                raise RunError(f"the process that holds the namespace of the {end.name} was killed")
        look()
        if all(end.exit is not None for end in phones):
            return "command", 0
        for number, came_s in received[seen:]:
            seen += 1
            if number != signal.SIGINT or not _has_reached(phones, came_s):
                return "signal", number
        if not is_driven():
            return "duration", 0


def _has_reached(phones: Sequence[End], came_s: float) -> bool:
    """Returns true if an interrupt came to the commands too: what it means is theirs to decide.

    Ctrl-C comes to all processes in the foreground of a terminal. It has not come to a command
    that had not begun, or if it was sent to nodeb alone.
    """
    time.sleep(max(0.0, came_s + REACHED_S - time.monotonic()))
    running = [end for end in phones if end.exit is None]
    for end in running:
        end.ask(interrupted=True)
    times_s = [end.answer("interrupted", ENDING_S) or 0.0 for end in running]
    return all(time_s > came_s - SAME_S for time_s in times_s)


def end_commands(ends: Sequence[End], number: int) -> None:
    """Asks the commands that still run to end; what does not is killed with its namespace.

    Args:
        ends: the server and the phones, in this order.
        number: of the signal by which they are asked; the server ends when the phones have.
    """
    for some in (ends[1:], ends[:1]):
        for end in some:
            end.ask(signal=number)
        until = time.monotonic() + ENDING_S
        for end in some:
            while end.started and end.exit is None and time.monotonic() < until and not end.gone:
                time.sleep(0.005)
                end.listen()
