"""Who ends what an emulation has started, when the process that holds its namespace is killed.

Each end is two processes. The holder is in the namespace and the parent of the command; it inherits
the command's orphans and kills them at the end. The guard is the holder's parent and would inherit
them next: it does nothing until the holder has ended, and then kills what is left. When the guard
is killed, the kernel tells the holder. The guard is in a group of processes of its own, so that who
kills all of nodeb's group at once does not meet both.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

__all__ = ["be_reaper", "follow", "kill_all", "split"]

PARENT_DEATH_SIGNAL, CHILD_SUBREAPER = 1, 36
LEFT = signal.SIGUSR1
"""The holder's parent has died."""

libc = ctypes.CDLL(None, use_errno=True)


def split(only_of_holder: list[int]) -> int:
    """Becomes two processes; only the holder comes back.

    Args:
        only_of_holder: files that the guard does not keep open.

    Returns:
        The guard's number.
    """
    guard = os.getpid()
    be_reaper()
    holder = os.fork()
    if not holder:
        signal.signal(LEFT, lambda *_: sys.exit(1))
        follow(guard)
        return guard
    with contextlib.suppress(OSError):  # it leads a session already
        os.setpgid(0, 0)
    for number in only_of_holder:
        os.close(number)
    while os.waitpid(-1, 0)[0] != holder:
        pass
    kill_all()
    os._exit(0)


def follow(guard: int) -> None:
    """Has the kernel tell this process when the guard dies; ends it if that has happened already.

    To be called again after a change of identity, which makes the kernel forget.
    """
    libc.prctl(PARENT_DEATH_SIGNAL, LEFT, 0, 0, 0)
    if os.getppid() != guard:
        sys.exit(1)


def be_reaper() -> None:
    """Inherits the orphans of all that is started from here on."""
    libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0)


def _children() -> list[int]:
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
        for pid in _children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
