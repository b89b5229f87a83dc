"""Program that runs in the network namespace of an endpoint: the server or a phone.

`nodeb emulate` starts one such program per endpoint, and not a fork of nodeb, because only a
process with one thread can enter a user namespace. A new namespace has no name and the device is
not persistent, so the kernel removes both with the last process that uses them, even if nodeb is
killed.

The program is two processes. The holder starts the command and answers nodeb's requests. Its
parent, the guard, kills all that the endpoint has started when the holder ends or nodeb closes its
side of the socket, which also happens if nodeb is killed. The guard leads its own process group, so
that neither a signal to nodeb's group nor Ctrl-Z reaches it.

Only the standard library is imported, so that the program starts quickly.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from nodeb.emulate import namespace
from nodeb.emulate.netlink import Masquerade, RefusedError

PARENT_DEATH_SIGNAL, CHILD_SUBREAPER = 1, 36
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit statuses, as of a shell, for a command that does not exist or cannot be executed."""
IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
"""Signals that must not end the holder when they are sent to nodeb's process group."""
MESSAGE_BYTES = 1 << 20

libc = ctypes.CDLL(None, use_errno=True)


class Holder:
    """Starts, signals and reaps the command, as nodeb requests.

    A request is the name of a public method and its arguments, as JSON.
    """

    def __init__(self, control: socket.socket, device: str, handlers: Mapping[int, Any]) -> None:
        self._control, self._device, self._handlers = control, device, handlers
        self._command: subprocess.Popen[bytes] | None = None
        self._tables: Masquerade | None = None
        self._child_exits, write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Handles requests until nodeb closes its end of the socket."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._child_exits, select.POLLIN)
        while True:
            for number, _ in poll.poll():
                if number == self._child_exits:
                    self._reap()
                elif request := _receive(self._control):
                    name, arguments = request
                    getattr(self, name)(**arguments)
                else:
                    return

    def start(self, command: list[str], environment: Mapping[str, str], *, silent: bool) -> None:
        """A command that cannot be started exits with status 126 or 127."""

        def before() -> None:
            libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)

        try:
            self._command = subprocess.Popen(
                command,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL if silent else None,
                preexec_fn=before,
            )
        except FileNotFoundError:
            self._send(exit=NOT_FOUND, failed="command not found")
        except OSError as error:
            self._send(exit=NOT_EXECUTABLE, failed=error.strerror or str(error))
        except ValueError as error:  # An argument of the command contains a zero byte.
            self._send(exit=NOT_FOUND, failed=str(error))

    def kill(self, number: int) -> None:
        # `Popen.send_signal` would reap a command that has just ended, and hide its exit status.
        if self._command is not None and self._command.returncode is None:
            os.kill(self._command.pid, number)

    def listens(self) -> None:
        self._send(listens={"listens": namespace.is_listening(), "runs": bool(_children())})

    def count(self) -> None:
        self._send(count=namespace.counters(self._device))

    def open_gateway(self, links: Mapping[str, Mapping[str, str]]) -> None:
        try:
            self._tables = namespace.open_gateway(links)
        except RefusedError as error:
            self._send(open_gateway=error.args)
        else:
            self._send(open_gateway=[])

    def _send(self, **message: Any) -> None:
        _send(self._control, **message)

    def _reap(self) -> None:
        """Reaps the command and the orphans of its processes."""
        with suppress(BlockingIOError):
            os.read(self._child_exits, 4096)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if self._command is not None and ended[0] == self._command.pid:
                    self._command.returncode = os.waitstatus_to_exitcode(ended[1])
                    self._send(exit=self._command.returncode, failed=None)


def _send(control: socket.socket, **message: Any) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # nodeb has closed its end.
        control.send(json.dumps(message).encode())


def _receive(control: socket.socket) -> Any:
    with suppress(ConnectionResetError):
        if text := control.recv(MESSAGE_BYTES):
            return json.loads(text)
    return None


def _fork_holder(control: socket.socket, about: Mapping[str, Any]) -> None:
    """Returns in the holder only; the guard stays here, and exits."""
    guard = os.getpid()
    holder = os.fork()
    libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0)  # Orphans become children of this process.
    if not holder:
        signal.signal(signal.SIGUSR1, lambda *_: sys.exit(1))
        libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGUSR1, 0, 0, 0)
        if os.getppid() != guard:
            sys.exit(1)
        os.setpgid(0, about["group"])
        return
    os.close(about["device_socket"])
    poll = select.poll()
    poll.register(control, 0)  # A hang-up is reported even with an empty event mask.
    poll.register(os.pidfd_open(holder), select.POLLIN)
    poll.poll()
    _kill_descendants()
    if about["namespace"] is None:
        namespace.remove_link()
    os._exit(0)


def _children() -> list[int]:
    own, pids = os.getpid(), []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            with suppress(OSError, ValueError, IndexError):
                text = Path("/proc", entry, "stat").read_text(errors="replace")
                if int(text.rpartition(")")[2].split()[1]) == own:
                    pids.append(int(entry))
    return pids


def _kill_descendants() -> None:
    """Kills until no child is left; orphans have become children."""
    with suppress(ChildProcessError):
        while True:
            for pid in _children():
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)


def _ignored(number: int) -> Any:
    """Ignores a signal. The inherited action is returned: the default in place of Python's."""
    before = signal.signal(number, signal.SIG_IGN)
    return signal.SIG_DFL if before is signal.default_int_handler else before


def main(text: str) -> None:
    """Runs until nodeb closes the socket; `text` is the endpoint's description as JSON."""
    about = json.loads(text)
    handlers = {int(number): _ignored(number) for number in IGNORED}
    control = socket.socket(fileno=about["control"])
    try:
        namespace.enter(about["namespace"], about["nameservers"])
        _fork_holder(control, about)
        namespace.create_device(about)
        holder = Holder(control, about["device"], handlers)
    except RefusedError as error:
        _send(control, refused=error.args)
        return
    except OSError as error:
        _send(control, refused=["other", str(error), error.errno or 0])
        return
    _send(control, ready=os.getpid())
    try:
        holder.serve()
    finally:
        _kill_descendants()


if __name__ == "__main__":
    main(sys.argv[1])
