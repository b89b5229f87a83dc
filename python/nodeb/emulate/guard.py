"""Guard process: kills all processes that an endpoint has started, even if nodeb is killed.

The guard waits until the holder has ended or nodeb has closed its side of the socket, which also
happens if nodeb is killed. The guard leads its own process group, so that neither a signal to
nodeb's group nor Ctrl-Z reaches it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["be_reaper", "child_exit_pipe", "children", "kill_all", "split"]

PARENT_DEATH_SIGNAL, CHILD_SUBREAPER = 1, 36
PARENT_DIED = signal.SIGUSR1

libc = ctypes.CDLL(None, use_errno=True)


def split(
    control: socket.socket, only_of_holder: int, group: int, tidy: Callable[[], None]
) -> None:
    guard = os.getpid()
    be_reaper()
    wake = child_exit_pipe()
    holder = os.fork()
    if not holder:
        signal.signal(PARENT_DIED, lambda *_: sys.exit(1))
        _follow(guard)
        os.setpgid(0, group)
        return
    os.close(only_of_holder)
    _await_end(holder, control, wake)
    kill_all()
    tidy()
    os._exit(0)


def child_exit_pipe() -> int:
    """Returns a file descriptor that becomes readable when a child has ended. Reads never block."""
    wake, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wake


def _await_end(holder: int, control: socket.socket, wake: int) -> None:
    """Waits until the holder has ended or nodeb has closed its side of `control`.

    The holder reads the messages on `control`; this function does not.
    """
    watched = select.poll()
    watched.register(control, 0)  # `poll` reports a hang-up even with an empty event mask.
    watched.register(wake, select.POLLIN)
    while True:
        for number, _ in watched.poll():
            if number == control.fileno():
                return
            with contextlib.suppress(BlockingIOError):
                os.read(wake, 4096)
        with contextlib.suppress(ChildProcessError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                if pid == holder:
                    return


def _follow(guard: int) -> None:
    """Makes the kernel send `PARENT_DIED` when the guard dies."""
    libc.prctl(PARENT_DEATH_SIGNAL, PARENT_DIED, 0, 0, 0)
    if os.getppid() != guard:
        sys.exit(1)


def be_reaper() -> None:
    """Makes this process the parent of all future descendants whose own parent dies."""
    libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> list[int]:
    own, found = os.getpid(), []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                text = Path("/proc", entry, "stat").read_text(errors="replace")
                if int(text.rpartition(")")[2].split()[1]) == own:
                    found.append(int(entry))
    return found


def kill_all() -> None:
    """Kills all descendants of this process, and waits for their end.

    The process must be a reaper (see `be_reaper`), so that orphans become its children.
    """
    while True:
        for pid in children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
