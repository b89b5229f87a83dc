"""nodeb's side of an end: the process that has its namespace, asked and listened to."""

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

__all__ = ["End"]

READY_S = 30.0
"""The longest that an end may take to make its namespace."""
ENDING_S = 2.0
"""How long an end is waited for after it was hung up on."""
PACKAGE = Path(nodeb.__file__).parents[1]
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from nodeb.emulate.host import main; main(sys.argv[2])"
)


class End:
    """The server or a phone: a process in a namespace of its own. Leaving its block ends all in it.

    Args:
        number: 0 is the server, the others are phones.
        name: what messages call it.
        doorway: the socket through which its device goes to the driver.
        about: what its device is like; see `nodeb.emulate.host`.
    """

    def __init__(self, number: int, name: str, doorway: int, about: Mapping[str, Any]) -> None:
        self.name = name
        self.exit: int | None = None
        """How its command ended, negative for a signal; None before."""
        self.failed: str | None = None
        """Why its command could not be started."""
        self.started = False
        """Whether it was given a command."""
        self.gone = False
        """Whether its process has ended."""
        self.pid = 0
        """The process in its namespace, once it is ready."""
        self._said: list[dict[str, Any]] = []
        self._rest = b""
        self.control, theirs = socket.socketpair()
        told = {"number": number, "doorway": doorway, "control": theirs.fileno(), **about}
        told["group"] = os.getpgrp()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", PROGRAM, str(PACKAGE), json.dumps(told)],
                pass_fds=(theirs.fileno(), doorway),
                process_group=0,  # what a terminal sends to nodeb's is not for one that starts
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
        """What can be waited for: it says something."""
        return self.control.fileno()

    def ask(self, **what: Any) -> None:
        """Asks it to do something."""
        with contextlib.suppress(OSError):  # it has ended, which is noticed when it is listened to
            self.control.sendall(json.dumps(what).encode() + b"\n")

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], *, silent: bool
    ) -> None:
        """Starts a command.

        Args:
            command: its words.
            environment: what it finds beside the environment of nodeb.
            silent: it is given nothing to read.
        """
        self.started = True
        words = [os.fsdecode(word) for word in command]
        self.ask(start=words, environment=dict(environment), silent=silent)

    def hear(self, patience: float | None = None) -> dict[str, Any] | None:
        """The next that it says; None if it says nothing for so long, or has ended.

        Args:
            patience: how long to wait, s; None for ever.
        """
        until = None if patience is None else time.monotonic() + patience
        while not self._said and not self.gone:
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
            self._said += [json.loads(line) for line in lines]
        return self._said.pop(0) if self._said else None

    def listen(self) -> None:
        """Takes what it says about its command, without waiting."""
        while (said := self.hear(0.0)) is not None:
            self._note(said)

    def answer(self, key: str, patience: float) -> Any:
        """Waits for an answer; None if there is none.

        Args:
            key: what it is called.
            patience: how long to wait, s.
        """
        until = time.monotonic() + patience
        while (said := self.hear(max(0.0, until - time.monotonic()))) is not None:
            if key in said:
                return said[key]
            self._note(said)
        return None

    def _note(self, said: Mapping[str, Any]) -> None:
        if "exit" in said:
            self.exit, self.failed = said["exit"], said.get("failed")

    def await_ready(self) -> None:
        """Waits until it has its namespace and its device.

        Raises:
            RunError: it was refused one of them.
        """
        said = self.hear(READY_S)
        if said is None:
            raise RunError(f"the process of the {self.name} has not come up")
        if "refused" in said:
            raise refused(said["refused"], said["why"], said["errno"])
        self.pid = said["ready"]
