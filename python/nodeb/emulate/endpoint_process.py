"""Program that runs in the network namespace of an endpoint: the server or a phone.

`nodeb emulate` starts one such process per endpoint. It is a new program and not a fork of
nodeb, because only a process with one thread can enter a user namespace, and nodeb has several.

A new namespace has no name and the device is not persistent. So the kernel removes both when the
last process that uses them ends, even if nodeb crashes. Processes started by the command end
with the emulation: this process inherits the command's orphans (`PR_SET_CHILD_SUBREAPER`), and
its guard (`nodeb.emulate.guard`) kills them and this process when the socket is closed, which
also happens if nodeb is killed.

This module and the modules of nodeb that it imports use only the standard library, so that the
process starts quickly.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nodeb.emulate.gateway import GatewayError, set_up, tear_down
from nodeb.emulate.guard import be_reaper, child_exit_pipe, children, kill_all, split
from nodeb.emulate.namespace_state import device_counters, is_listening
from nodeb.emulate.netlink import Netlink
from nodeb.emulate.nftables import Masquerade
from nodeb.emulate.resolver import use_nameservers

NEW_USER, NEW_NET = 0x1000_0000, 0x4000_0000
PARENT_DEATH_SIGNAL = 1
TUN_SET_DEVICE = 0x4004_54CA
TUN, NO_INFORMATION = 0x0001, 0x1000
"""Flags of the TUN device: it carries IP packets without a packet information header. As no offload
flags are set, the kernel segments TCP data into packets of at most the MTU."""
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit statuses, as of a shell, for a command that does not exist or cannot be executed."""
IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
"""Signals that must not end this process when they are sent to its whole process group."""
INTERRUPT = {signal.SIGINT}
LISTEN_POLL_S = 0.01
"""Interval of the checks for a listening socket while nodeb waits for one, seconds."""

libc = ctypes.CDLL(None, use_errno=True)


class RefusedError(Exception):
    """Error: the system refused a step."""


def _call(step: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise RefusedError(step, os.strerror(number), number)


def _enter(namespace: str | None) -> None:
    """A new one is in a new user namespace, unless the process is root and may do without."""
    if namespace is not None:
        try:
            with open(namespace, "rb") as place:
                _call("attach", libc.setns(place.fileno(), NEW_NET))
        except OSError as error:
            raise RefusedError("attach", error.strerror, error.errno) from None
        return
    user, group = os.geteuid(), os.getegid()
    if user == 0 and libc.unshare(NEW_NET) == 0:
        return
    _call("namespace", libc.unshare(NEW_USER | NEW_NET))
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError as error:
        raise RefusedError("identity", error.strerror, error.errno) from None


def _device(name: str) -> int:
    try:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        flags = struct.pack("16sH14x", name.encode(), TUN | NO_INFORMATION)
        fcntl.ioctl(device, TUN_SET_DEVICE, flags)
    except OSError as error:
        raise RefusedError("tun", error.strerror, error.errno) from None
    return device


def _settle(name: str, about: dict[str, Any]) -> None:
    """Brings the device up with its MTU, addresses and route; stops unsolicited IPv6 packets.

    In a new namespace, also brings up the loopback device, and allows ping and ports below 1024
    without root.
    """
    ipv6 = f"/proc/sys/net/ipv6/conf/{name}"
    for key, value in (("accept_ra", 0), ("router_solicitations", 0), ("addr_gen_mode", 1)):
        # Without IPv6 there is no such setting, and in some containers /proc cannot be written. An
        # emulation works without these settings, so the error is ignored.
        with contextlib.suppress(OSError):
            Path(ipv6, key).write_text(str(value))
    if not about["attached"]:
        # With this setting, commands may use ping without privileges.
        with contextlib.suppress(OSError):
            group = os.getegid()
            Path("/proc/sys/net/ipv4/ping_group_range").write_text(f"{group} {group}")
        # With this setting, commands may listen on ports below 1024, such as 80, without root.
        with contextlib.suppress(OSError):
            Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")
    with Netlink() as link:
        if not about["attached"]:
            link.up("lo")
        link.up(name, about["mtu"])
        versions = []
        for address in about["addresses"]:
            version = 6 if ":" in address else 4
            try:
                link.address(name, address)
                versions.append(version)
            except OSError as error:
                if version == 4 or error.errno not in (errno.EOPNOTSUPP, errno.EACCES):
                    raise RefusedError("address", error.strerror, error.errno) from None
        if about["default_route"]:
            for version in versions:
                link.default_route(name, version)


def _send_message(control: socket.socket, **message: Any) -> None:
    with contextlib.suppress(OSError):
        control.sendall(json.dumps(message).encode() + b"\n")


def _keep() -> None:
    """Replaces `tear_down` if the namespace existed before: there is no link to remove."""


class EndpointProcess:
    """Handler of nodeb's requests in this process; starts, signals and reaps the command."""

    def __init__(self, control: socket.socket, handlers: dict[int, Any]) -> None:
        self.control = control
        self.command: subprocess.Popen[bytes] | None = None
        self.device = ""
        self._tables: Masquerade | None = None
        """Translation of the phones' addresses; None unless `make_gateway` succeeded."""
        self._rest = b""
        self._until: float | None = None
        """Deadline of the wait for a listening socket, by `time.monotonic`; None without a wait."""
        self._interrupted = 0.0
        """Time of this process's last SIGINT since the command was started, s; 0 if none.

        The clock is `time.monotonic`. The process is in nodeb's process group.
        """
        self._handlers = handlers
        self._wake = child_exit_pipe()
        signal.signal(signal.SIGINT, self._interrupt)

    def send(self, **message: Any) -> None:
        """Sends a message to nodeb as a line of JSON, unless nodeb has closed the socket."""
        _send_message(self.control, **message)

    def make(self, about: dict[str, Any]) -> None:
        """Creates the device in the namespace, and passes its file descriptor to the driver."""
        be_reaper()
        if about["nameservers"]:
            try:
                use_nameservers(about["nameservers"])
            except OSError as error:
                raise RefusedError("names", error.strerror, error.errno) from None
        self.device = about["device"]
        device = _device(self.device)
        _settle(self.device, about)
        with socket.socket(fileno=about["doorway"]) as doorway:
            socket.send_fds(doorway, [bytes([about["number"]])], [device])
        os.close(device)

    def start(self, arguments: list[str], environment: dict[str, str], *, silent: bool) -> None:
        """Starts the command. If it cannot be started, reports exit status 126 or 127 to nodeb."""

        def before() -> None:
            libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPT)

        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPT)
        self._interrupted = 0.0
        self._start(arguments, environment, before, silent=silent)
        if signal.sigpending() & INTERRUPT:
            self._signal(signal.SIGINT)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPT)

    def _start(
        self,
        arguments: list[str],
        environment: dict[str, str],
        before: Callable[[], None],
        *,
        silent: bool,
    ) -> None:
        try:
            self.command = subprocess.Popen(
                arguments,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL if silent else None,
                preexec_fn=before,
            )
        except FileNotFoundError:
            self._failed(NOT_FOUND, "command not found")
        except OSError as error:
            self._failed(NOT_EXECUTABLE, error.strerror or str(error))
        except ValueError as error:  # An argument of the command contains a zero byte.
            self._failed(NOT_FOUND, str(error))

    def _signal(self, number: int) -> None:
        """`Popen.send_signal` is not used: it would reap a command that has just ended, and
        `_reap` would miss the exit status."""
        if self.command is not None and self.command.returncode is None:
            os.kill(self.command.pid, number)

    def _interrupt(self, *_: Any) -> None:
        self._interrupted = time.monotonic()

    def make_gateway(self, about: dict[str, Any]) -> None:
        """Makes this namespace the gateway from the phones to the host while this process runs."""
        try:
            self._tables = set_up(about)
        except GatewayError as error:
            step, why, number = error.args
            self.send(outside={"step": step, "why": why, "errno": number})
        else:
            self.send(outside=True)

    def _failed(self, status: int, why: str) -> None:
        self.send(exit=status, failed=why)

    def serve(self) -> None:
        """Handles requests until nodeb closes its end of the socket."""
        watched = select.poll()
        watched.register(self.control, select.POLLIN)
        watched.register(self._wake, select.POLLIN)
        while True:
            for number, _ in watched.poll(None if self._until is None else LISTEN_POLL_S * 1e3):
                if number == self._wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wake, 4096)
                    self._reap()
                elif not self._read_requests():
                    return
            self._check_listening()

    def _reap(self) -> None:
        command = self.command
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if command is not None and pid == command.pid:
                command.returncode = os.waitstatus_to_exitcode(status)
                self.send(exit=command.returncode)

    def _read_requests(self) -> bool:
        try:
            text = self.control.recv(65_536)
        except OSError:
            text = b""
        *lines, self._rest = (self._rest + text).split(b"\n")
        for line in lines:
            self._handle(json.loads(line))
        return bool(text)

    def _check_listening(self) -> None:
        """Answers a pending request to wait for a listening socket."""
        if self._until is None:
            return
        listens = is_listening()
        if listens or self._has_ended() or time.monotonic() > self._until:
            self._until = None
            self.send(listening=listens)

    def _has_ended(self) -> bool:
        """Returns true if no socket can be expected any more from the command.

        It has failed or could not be started, or it has ended and left no children. Children of a
        command that ended with status 0 may still open a listening socket.
        """
        status = 1 if self.command is None else self.command.returncode
        return bool(status) or (status == 0 and not children())

    def _handle(self, request: dict[str, Any]) -> None:
        if "start" in request:
            self.start(request["start"], request["environment"], silent=request["silent"])
        if "await" in request:
            self._until = time.monotonic() + request["await"]
        if "signal" in request:
            self._signal(request["signal"])
        if "outside" in request:
            self.make_gateway(request["outside"])
        if "interrupted" in request:
            self.send(interrupted=self._interrupted)
        if "count" in request:
            self.send(device=device_counters(self.device))


def _ignored(number: int) -> Any:
    """Ignores a signal in this process.

    It is the one inherited from nodeb, or the default action in place of Python's handler of
    SIGINT.
    """
    before = signal.signal(number, signal.SIG_IGN)
    return signal.SIG_DFL if before is signal.default_int_handler else before


def main(text: str) -> None:
    """Runs the process of an endpoint until nodeb closes the socket."""
    about = json.loads(text)
    namespace = about["namespace"]
    handlers = {int(one): _ignored(one) for one in IGNORED}
    control = socket.socket(fileno=about["control"])
    try:
        _enter(namespace)
        split(control, about["doorway"], about["group"], _keep if namespace else tear_down)
        process = EndpointProcess(control, handlers)
        process.make(about)
    except RefusedError as error:
        step, why, number = error.args
        _send_message(control, refused=step, why=why, errno=number)
        return
    except OSError as error:
        why, number = error.strerror or str(error), error.errno or 0
        _send_message(control, refused="other", why=why, errno=number)
        return
    process.send(ready=os.getpid())
    try:
        process.serve()
    finally:
        kill_all()


if __name__ == "__main__":
    main(sys.argv[1])
