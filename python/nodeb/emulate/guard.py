"""Who ends what an emulation has started, however nodeb and the holder of its namespace end.

Each end is two processes, both in the namespace. The holder is the parent of the command. The guard
is the holder's parent and inherits what the command leaves behind: it does nothing until the holder
has ended, or nodeb has closed its end of the socket, as it does when it is killed; then it kills
what is left. When the guard is killed, the kernel tells the holder. The guard leads a group of
processes of its own, so that neither a signal to all of nodeb's group meets it, nor Ctrl-Z.
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

__all__ = ["be_reaper", "children", "kill_all", "split"]

PARENT_DEATH_SIGNAL, CHILD_SUBREAPER = 1, 36
LEFT = signal.SIGUSR1
"""The holder's parent has died."""

libc = ctypes.CDLL(None, use_errno=True)


def split(
    control: socket.socket, only_of_holder: int, group: int, tidy: Callable[[], None]
) -> None:
    """Becomes two processes; only the holder comes back.

    Args:
        control: the socket whose other end is nodeb's.
        only_of_holder: a file that the guard does not keep open.
        group: nodeb's group of processes, which the holder joins.
        tidy: called by the guard when nothing runs any more.
    """
    guard = os.getpid()
    be_reaper()
    wake = _woken_bychildren()
    holder = os.fork()
    if not holder:
        signal.signal(LEFT, lambda *_: sys.exit(1))
        _follow(guard)
        os.setpgid(0, group)
        return
    os.close(only_of_holder)
    _await_end(holder, control, wake)
    kill_all()
    tidy()
    os._exit(0)


def _woken_bychildren() -> int:
    """Returns a file that can be read when a child has ended."""
    wake, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wake


def _await_end(holder: int, control: socket.socket, wake: int) -> None:
    """Waits until the holder has ended, or nodeb has hung up: what it says is the holder's."""
    watched = select.poll()
    watched.register(control, 0)  # of which an end is told all the same
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
    """Has the kernel tell this process when the guard dies; ends it if that has happened already.

    A change of identity would make the kernel forget.
    """
    libc.prctl(PARENT_DEATH_SIGNAL, LEFT, 0, 0, 0)
    if os.getppid() != guard:
        sys.exit(1)


def be_reaper() -> None:
    """Inherits the orphans of all that is started from here on."""
    libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> list[int]:
    """Processes whose parent this is."""
    own, found = os.getpid(), []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                text = Path("/proc", entry, "stat").read_text(errors="replace")
                if int(text.rpartition(")")[2].split()[1]) == own:
                    found.append(int(entry))
    return found


def kill_all() -> None:
    """Ends everything that was started here, with what that has started."""
    while True:
        for pid in children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
