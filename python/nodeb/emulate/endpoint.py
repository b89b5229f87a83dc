"""The processes in the namespaces of server and phones: nodeb starts them, asks them, ends them."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import nodeb
from nodeb.errors import RunError

READY_S = 30.0
"""Maximum time to wait for an endpoint's namespace and device, s."""
ENDING_S = 2.0
"""Maximum time for a command to end after a signal, or for an answer, s."""
POLL_S = 0.13
"""Maximum interval between reports of the status and checks of the driver, s.

It is no multiple of the interval at which the driver updates its status; else the reported status
would always have the same age.
"""
MESSAGE_BYTES = 1 << 16
PACKAGE = Path(nodeb.__file__).parents[1]
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from nodeb.emulate.endpoint_process import main; main(sys.argv[2])"
)

FEATURES = {
    "namespace": "a network namespace",
    "identity": "a user namespace that keeps the user ID",
    "tun": "a TUN device",
    "attach": "an existing namespace",
    "address": "an address",
    "names": "a separate resolv.conf",
    "link": "a link between the host's network and the server's",
    "forwarding": "forwarding between the server's network and the host's",
    "route": "a route to the outside",
    "masquerade": "masquerading",
}
USER_NAMESPACES = (
    "allow user namespaces (`sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu "
    "`kernel.apparmor_restrict_unprivileged_userns=0`; in a container --cap-add SYS_ADMIN), or be "
    "root"
)
NAT_RIGHTS = (
    "--nat needs root, or CAP_NET_ADMIN over the host's network (in a container --cap-add "
    "NET_ADMIN, and a /proc/sys/net that can be written)"
)
REMEDIES = {
    "namespace": USER_NAMESPACES,
    "identity": USER_NAMESPACES,
    "tun": "let all users open it (`chmod 666 /dev/net/tun`, as on most systems), or be root",
    "attach": "it needs root, and a file of `ip netns` such as /run/netns/NAME",
    "names": "--nameserver needs the right to mount, and an /etc/resolv.conf; or omit it",
    "link": "load its module (`modprobe veth`)",
    "masquerade": "--nat needs nftables and Linux 5.12 (`modprobe nf_tables nft_masq "
    "nft_chain_nat`)",
}
NO_DEVICE = "load its module (`modprobe tun`); in a container pass --device /dev/net/tun"
SPECIAL_REMEDIES = {
    ("namespace", errno.ENOSPC): "user namespaces are used up or off; raise `sysctl "
    "user.max_user_namespaces`",
    **{("tun", number): NO_DEVICE for number in (errno.ENOENT, errno.ENODEV, errno.ENXIO)},
    **{
        (step, number): NAT_RIGHTS
        for step in ("link", "forwarding", "masquerade")
        for number in (errno.EACCES, errno.EPERM, errno.EROFS)
    },
}


def check_system() -> None:
    """Raises `RunError` except on Linux."""
    if not sys.platform.startswith("linux"):
        raise RunError(
            "real packets need network namespaces and TUN devices, which only Linux has: emulate, "
            "replay and compare of emulations do not work here, all else does; use Linux in a "
            "virtual machine (on Windows WSL 2)"
        )


def refused(step: str, why: str, number: int) -> RunError:
    """The error for a step of `RefusedError` that failed with this reason and error number."""
    feature = FEATURES.get(step, "a system feature for an endpoint")
    usual = REMEDIES.get(step, "`nodeb emulate --check` shows what works on this machine")
    remedy = SPECIAL_REMEDIES.get((step, number), usual)
    return RunError(f"{feature} was refused ({why.lower()}); {remedy}")


class Endpoint:
    """The server or a phone: a process in its own network namespace.

    Each message on the socket is one JSON value: to the process, a request; from it, an object.
    """

    def __init__(
        self, number: int, name: str, device_socket: int, about: Mapping[str, Any]
    ) -> None:
        self.name = name
        self.exit: int | None = None
        """Exit status of the endpoint's command, once received; negative number of a signal that
        killed it; 126 or 127 if it could not be started."""
        self.failed: str | None = None
        """Reason why the command could not be started."""
        self.started = False
        """Whether a command has been sent to the process."""
        self.gone = False
        """Whether the process has ended."""
        self.pid = 0
        """ID of a process in the endpoint's namespace; 0 until the endpoint is ready."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        setup = {"number": number, "device_socket": device_socket, "control": theirs.fileno()}
        setup |= {"group": os.getpgrp(), **about}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", PROGRAM, str(PACKAGE), json.dumps(setup)],
                pass_fds=(theirs.fileno(), device_socket),
                # Signals that the terminal sends to nodeb's group must not reach the process before
                # it ignores them. Its child, the holder, joins nodeb's group later.
                process_group=0,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._control.close()
        try:
            self._process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def fileno(self) -> int:
        return self._control.fileno()

    @property
    def runs(self) -> bool:
        return self.started and self.exit is None and not self.gone

    def request(self, name: str, **arguments: Any) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # `receive` will notice.
            self._control.send(json.dumps([name, arguments]).encode())

    def ask(self, name: str, timeout_s: float = ENDING_S, **arguments: Any) -> Any:
        """Sends a request and returns its answer; None if there is none in time."""
        self.request(name, **arguments)
        return self._await(name, timeout_s)

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], *, silent: bool
    ) -> None:
        self.started = True
        words = [os.fsdecode(word) for word in command]
        self.request("start", command=words, environment=dict(environment), silent=silent)

    def await_ready(self) -> None:
        """Waits until the namespace and the device exist."""
        message = self._receive(READY_S)
        if message is None:
            raise RunError(f"the process of the {self.name} did not start")
        if "refused" in message:
            raise refused(*message["refused"])
        self.pid = message["ready"]

    def await_exit(self, timeout_s: float) -> None:
        if self.runs:
            self._await("exit", timeout_s)

    def poll(self) -> None:
        """Reads the messages that have arrived."""
        while self._receive(0.0) is not None:
            pass

    def _await(self, key: str, timeout_s: float) -> Any:
        until = time.monotonic() + timeout_s
        while (message := self._receive(max(0.0, until - time.monotonic()))) is not None:
            if key in message:
                return message[key]
        return None

    def _receive(self, timeout_s: float) -> dict[str, Any] | None:
        """Returns None if no message arrives in time or the process has ended."""
        self._control.settimeout(timeout_s)
        try:
            text = self._control.recv(MESSAGE_BYTES)
        except (TimeoutError, BlockingIOError):
            return None
        except OSError:
            text = b""
        self.gone = not text
        message: dict[str, Any] | None = json.loads(text) if text else None
        if message is not None and "exit" in message:
            self.exit, self.failed = message["exit"], message["failed"]
        return message


@contextlib.contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Collects the signals SIGTERM and SIGHUP that arrive during a `with` block.

    SIGINT has no effect during the block: Ctrl-C reaches the commands too, which decide on it.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    handlers: dict[int, Any] = dict.fromkeys(
        (signal.SIGTERM, signal.SIGHUP), lambda number, _: received.append(number)
    )
    handlers[signal.SIGINT] = lambda *_: None
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def wait(
    endpoints: Sequence[Endpoint],
    received: list[int],
    is_driven: Callable[[], bool],
    report: Callable[[], None],
) -> str:
    """Waits until the phones' commands have ended, the driver has stopped or a signal arrives.

    Returns the cause: `command`, `duration` or `signal`.
    """
    poll = select.poll()
    for endpoint in endpoints:
        poll.register(endpoint, select.POLLIN)
    while True:
        poll.poll(POLL_S * 1e3)
        for endpoint in endpoints:
            endpoint.poll()
            if endpoint.gone:
                name = endpoint.name
                raise RunError(f"the process that holds the namespace of the {name} was killed")
        report()
        if all(endpoint.exit is not None for endpoint in endpoints[1:]):
            return "command"
        if received:
            return "signal"
        if not is_driven():
            return "duration"


def terminate_commands(endpoints: Sequence[Endpoint], number: int) -> None:
    """Sends a signal to the running commands: first to the phones', then to the server's.

    Waits up to `ENDING_S` for each of the two groups. Commands that have not ended by then are
    killed when their endpoints are closed.
    """
    for group in (endpoints[1:], endpoints[:1]):
        for endpoint in group:
            endpoint.request("kill", number=number)
        until = time.monotonic() + ENDING_S
        for endpoint in group:
            endpoint.await_exit(max(0.0, until - time.monotonic()))
