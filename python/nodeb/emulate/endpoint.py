"""nodeb's side of an endpoint: starts and controls the process in one network namespace."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import nodeb
from nodeb.emulate.problems import refused
from nodeb.errors import RunError

__all__ = ["Endpoint"]

READY_S = 30.0
"""Maximum time to wait for an endpoint's namespace and device, seconds."""
ENDING_S = 2.0
"""Maximum time for a process to end after its socket is closed, seconds; then it is killed."""
PACKAGE = Path(nodeb.__file__).parents[1]
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from nodeb.emulate.endpoint_process import main; main(sys.argv[2])"
)


class Endpoint:
    """The server or a phone: a process in its own network namespace."""

    def __init__(self, number: int, name: str, doorway: int, about: Mapping[str, Any]) -> None:
        self.name = name
        self.exit: int | None = None
        """Exit status of the endpoint's command; the negative number of a signal that killed it.

        None until `poll` or `answer` has received it. 126 or 127 if the command could not be
        started.
        """
        self.failed: str | None = None
        """Reason why the endpoint's command could not be started; None without such a failure."""
        self.started = False
        """Whether a command has been sent to the endpoint's process."""
        self.gone = False
        """Whether `receive` has found that the endpoint's process has ended."""
        self.pid = 0
        """ID of a process in the endpoint's namespace; 0 until the endpoint is ready."""
        self._messages: list[dict[str, Any]] = []
        self._rest = b""
        self.control, theirs = socket.socketpair()
        setup = {"number": number, "doorway": doorway, "control": theirs.fileno(), **about}
        setup["group"] = os.getpgrp()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", PROGRAM, str(PACKAGE), json.dumps(setup)],
                pass_fds=(theirs.fileno(), doorway),
                # The new process gets its own process group: signals that the terminal sends to
                # nodeb's group must not reach it before it ignores them. Its child, the holder,
                # joins nodeb's group later.
                process_group=0,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.control.close()
        try:
            self._process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def fileno(self) -> int:
        """Returns the file descriptor that becomes readable when the process has sent a message."""
        return self.control.fileno()

    def ask(self, **what: Any) -> None:
        """Sends a request to the process as a line of JSON, unless the process has ended."""
        with contextlib.suppress(OSError):  # If the process has ended, `receive` will notice.
            self.control.sendall(json.dumps(what).encode() + b"\n")

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], *, silent: bool
    ) -> None:
        self.started = True
        words = [os.fsdecode(word) for word in command]
        self.ask(start=words, environment=dict(environment), silent=silent)

    def receive(self, timeout_s: float | None = None) -> dict[str, Any] | None:
        """Returns the next message from the process, or `None` if none arrives in time.

        Also returns `None` if the process has ended and no message is left.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._messages and not self.gone:
            left = None if until is None else max(0.0, until - time.monotonic())
            self.control.settimeout(left or (None if left is None else 1e-6))
            try:
                text = self.control.recv(65_536)
            except (TimeoutError, BlockingIOError):
                return None
            except OSError:
                text = b""
            self.gone = not text
            *lines, self._rest = (self._rest + text).split(b"\n")
            self._messages += [json.loads(line) for line in lines]
        return self._messages.pop(0) if self._messages else None

    def poll(self) -> None:
        """Reads the messages that have arrived, without waiting, and records the command's exit."""
        while (message := self.receive(0.0)) is not None:
            self._record_exit(message)

    def answer(self, key: str, timeout_s: float) -> Any:
        """Waits for the answer to a request and returns it.

        Of other messages that arrive before, only the exit of the command is recorded.
        """
        until = time.monotonic() + timeout_s
        while (message := self.receive(max(0.0, until - time.monotonic()))) is not None:
            if key in message:
                return message[key]
            self._record_exit(message)
        return None

    def _record_exit(self, message: Mapping[str, Any]) -> None:
        if "exit" in message:
            self.exit, self.failed = message["exit"], message.get("failed")

    def await_ready(self) -> None:
        """Waits until the namespace and the device exist."""
        message = self.receive(READY_S)
        if message is None:
            raise RunError(f"the process of the {self.name} did not start")
        if "refused" in message:
            raise refused(message["refused"], message["why"], message["errno"])
        self.pid = message["ready"]
