"""Supervision of running commands: causes that end an emulation, and termination of commands."""

from __future__ import annotations

import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from nodeb.emulate.endpoint import Endpoint
from nodeb.errors import RunError

__all__ = ["ENDING_S", "received_signals", "terminate_commands", "wait"]

POLL_S = 0.13
"""Maximum interval between reports of the status and checks of the driver, seconds.

It is no multiple of the interval at which the driver updates its status; else the reported status
would always have the same age.
"""
ENDING_S = 2.0
"""Maximum time to wait for a command to end after a signal, or for an answer, seconds."""
REACHED_S = 0.05
"""Maximum time assumed for a SIGINT to reach all processes of a process group, seconds."""
SAME_S = 1.0
"""Maximum lead of a command's SIGINT over nodeb's to count as the same one, seconds."""

Signal = tuple[int, float]


@contextmanager
def received_signals() -> Iterator[list[Signal]]:
    """Collects the signals SIGINT, SIGTERM and SIGHUP that arrive during a `with` block.

    They have no other effect during the block.
    """
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


def wait(
    endpoints: Sequence[Endpoint],
    received: list[Signal],
    is_driven: Callable[[], bool],
    report: Callable[[], None],
) -> tuple[str, int]:
    """Waits until the phones' commands have ended, the driver has stopped or a signal arrives.

    A SIGINT that has reached the phones' running commands too does not end the wait either;
    these commands decide on its effect.
    """
    phones, seen = endpoints[1:], 0
    watched = select.poll()
    for endpoint in endpoints:
        watched.register(endpoint, select.POLLIN)
    while True:
        watched.poll(POLL_S * 1e3)
        for endpoint in endpoints:
            endpoint.poll()
            if endpoint.gone:
                name = endpoint.name
                raise RunError(f"the process that holds the namespace of the {name} was killed")
        report()
        if all(endpoint.exit is not None for endpoint in phones):
            return "command", 0
        for number, came_s in received[seen:]:
            seen += 1
            if number != signal.SIGINT or not _has_reached(phones, came_s):
                return "signal", number
        if not is_driven():
            return "duration", 0


def _has_reached(phones: Sequence[Endpoint], came_s: float) -> bool:
    """Returns true if a SIGINT that nodeb received has reached all running commands of phones
    too.

    A SIGINT does not reach a command that had not started yet, nor any command if it was sent to
    nodeb alone.
    """
    time.sleep(max(0.0, came_s + REACHED_S - time.monotonic()))
    running = [endpoint for endpoint in phones if endpoint.exit is None]
    for endpoint in running:
        endpoint.ask(interrupted=True)
    times_s = [endpoint.answer("interrupted", ENDING_S) or 0.0 for endpoint in running]
    return all(time_s > came_s - SAME_S for time_s in times_s)


def terminate_commands(endpoints: Sequence[Endpoint], number: int) -> None:
    """Sends a signal to the running commands: first to the phones', then to the server's.

    Waits up to `ENDING_S` for each of the two groups. Commands that have not ended by then are
    killed later, when their endpoints are closed.
    """
    for some in (endpoints[1:], endpoints[:1]):
        for endpoint in some:
            endpoint.ask(signal=number)
        until = time.monotonic() + ENDING_S
        for endpoint in some:
            while _runs(endpoint) and time.monotonic() < until:
                time.sleep(0.005)
                endpoint.poll()


def _runs(endpoint: Endpoint) -> bool:
    return endpoint.started and endpoint.exit is None and not endpoint.gone
