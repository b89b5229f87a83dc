"""One end of an emulation: a process in a network namespace of its own, and what runs in it.

`nodeb emulate` starts one of these for the server and for each real phone, by themselves rather
than as a fork: a user namespace can only be entered by a process with one thread, and nodeb has
several. It makes the namespace and the device in it, sends the device to the driver, starts the
command when it is told to, and stays its parent. It reads one line of JSON at a time from a socket
and answers alike.

Namespace and device live as long as somebody has them open: nothing of it has a name, so nothing is
left however the end comes. What the command started ends with it: this process inherits its
orphans (`PR_SET_CHILD_SUBREAPER`), and `nodeb.emulate.guard` kills them, and this process, when the
socket is closed, as it is when nodeb has ended or was killed.

Only the standard library is imported, so that it starts quickly.
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

from nodeb.emulate.gateway import GatewayError, lead_out, leave
from nodeb.emulate.guard import be_reaper, children, kill_all, split
from nodeb.emulate.looks import counts, listening
from nodeb.emulate.names import lead_to
from nodeb.emulate.netlink import Netlink
from nodeb.emulate.nftables import Masquerade

NEW_USER, NEW_NET = 0x1000_0000, 0x4000_0000
PARENT_DEATH_SIGNAL = 1
TUN_SET_DEVICE = 0x4004_54CA
TUN, NO_INFORMATION = 0x0001, 0x1000
"""Flags of a device: packets of IP, and nothing before them. Segments are cut by the kernel."""
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit status of a shell whose command is not there or cannot be executed."""
UP_TO_NODEB = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
"""What goes to a terminal or a group of processes goes to nodeb and the command, who decide."""
INTERRUPT = {signal.SIGINT}
LOOK_EVERY_S = 0.01

libc = ctypes.CDLL(None, use_errno=True)


class RefusedError(Exception):
    """The system does not let us; the arguments are the step and why."""


def _call(step: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise RefusedError(step, os.strerror(number), number)


def _enter(namespace: str | None) -> None:
    """Goes to a namespace of its own, or to one that is there."""
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
    """A new TUN device."""
    try:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        flags = struct.pack("16sH14x", name.encode(), TUN | NO_INFORMATION)
        fcntl.ioctl(device, TUN_SET_DEVICE, flags)
    except OSError as error:
        raise RefusedError("tun", error.strerror, error.errno) from None
    return device


def _settle(name: str, about: dict[str, Any]) -> None:
    """Gives the device its addresses and routes; lets nothing out that nobody asked for."""
    ipv6 = f"/proc/sys/net/ipv6/conf/{name}"
    for key, value in (("accept_ra", 0), ("router_solicitations", 0), ("addr_gen_mode", 1)):
        with contextlib.suppress(OSError):  # without IPv6, or where /proc cannot be written
            Path(ipv6, key).write_text(str(value))
    if not about["attached"]:
        with contextlib.suppress(OSError):  # ping needs no more than this
            group = os.getegid()
            Path("/proc/sys/net/ipv4/ping_group_range").write_text(f"{group} {group}")
        with contextlib.suppress(OSError):  # a server at port 80, though it is not root's
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


def _say(control: socket.socket, **what: Any) -> None:
    with contextlib.suppress(OSError):
        control.sendall(json.dumps(what).encode() + b"\n")


def _nothing() -> None:
    """What the guard tidies up in the namespace of others."""


class Host:
    """What runs in a namespace, and who is told of it.

    Args:
        control: where nodeb asks.
        before: what the command does with signals that this process leaves to it.
    """

    def __init__(self, control: socket.socket, before: dict[int, Any]) -> None:
        self.control = control
        self.command: subprocess.Popen[bytes] | None = None
        self.device = ""
        self._tables: Masquerade | None = None
        """What translates the phones' addresses, if anything."""
        self._rest = b""
        self._until: float | None = None
        """How long it is looked whether somebody listens; None if nobody has asked."""
        self._interrupted = 0.0
        """When SIGINT came last to nodeb's group since the command was started, s; else 0."""
        self._before = before
        self._wake, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, self._interrupt)

    def say(self, **what: Any) -> None:
        """Tells nodeb."""
        _say(self.control, **what)

    def make(self, about: dict[str, Any]) -> None:
        """Makes the device in the namespace, and sends it to the driver."""
        be_reaper()
        if about["nameservers"]:
            try:
                lead_to(about["nameservers"])
            except OSError as error:
                raise RefusedError("names", error.strerror, error.errno) from None
        self.device = about["device"]
        device = _device(self.device)
        _settle(self.device, about)
        with socket.socket(fileno=about["doorway"]) as doorway:
            socket.send_fds(doorway, [bytes([about["number"]])], [device])
        os.close(device)

    def start(self, arguments: list[str], environment: dict[str, str], *, silent: bool) -> None:
        """Starts the command; one that cannot be started has ended at once.

        An interrupt that comes meanwhile is the command's.
        """

        def before() -> None:
            libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
            for number, handler in self._before.items():
                signal.signal(number, handler)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPT)

        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPT)
        self._interrupted = 0.0
        self._start(arguments, environment, before, silent=silent)
        if signal.sigpending() & INTERRUPT:
            self._send(signal.SIGINT)
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
            self._failed(NOT_FOUND, "there is no such command")
        except OSError as error:
            self._failed(NOT_EXECUTABLE, error.strerror or str(error))
        except ValueError as error:  # a zero byte
            self._failed(NOT_FOUND, str(error))

    def _send(self, number: int) -> None:
        """Sends a signal to the command, unless it has ended.

        `Popen.send_signal` would reap a command that has just ended, and `_reap` would miss it.
        """
        if self.command is not None and self.command.returncode is None:
            os.kill(self.command.pid, number)

    def _interrupt(self, *_: Any) -> None:
        self._interrupted = time.monotonic()

    def lead_out(self, about: dict[str, Any]) -> None:
        """Makes this namespace the phones' gateway to the host, until it ends."""
        try:
            self._tables = lead_out(about)
        except GatewayError as error:
            step, why, number = error.args
            self.say(outside={"step": step, "why": why, "errno": number})
        else:
            self.say(outside=True)

    def _failed(self, status: int, why: str) -> None:
        self.say(exit=status, failed=why)

    def serve(self) -> None:
        """Does what nodeb asks until it hangs up."""
        watched = select.poll()
        watched.register(self.control, select.POLLIN)
        watched.register(self._wake, select.POLLIN)
        while True:
            for number, _ in watched.poll(None if self._until is None else LOOK_EVERY_S * 1e3):
                if number == self._wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wake, 4096)
                    self._reap()
                elif not self._listen():
                    return
            self._look()

    def _reap(self) -> None:
        """Notices that the command has ended, and that orphans have."""
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
                self.say(exit=command.returncode)

    def _listen(self) -> bool:
        """Does what nodeb has asked; whether it is still there."""
        try:
            text = self.control.recv(65_536)
        except OSError:
            text = b""
        *lines, self._rest = (self._rest + text).split(b"\n")
        for line in lines:
            self._do(json.loads(line))
        return bool(text)

    def _look(self) -> None:
        """Tells that somebody listens in this namespace, or that it was waited long enough."""
        if self._until is None:
            return
        listens = listening()
        if listens or self._has_ended() or time.monotonic() > self._until:
            self._until = None
            self.say(listening=listens)

    def _has_ended(self) -> bool:
        """Returns true if the command has ended and left nothing that may listen later."""
        status = 1 if self.command is None else self.command.returncode
        return bool(status) or (status == 0 and not children())

    def _do(self, what: dict[str, Any]) -> None:
        if "start" in what:
            self.start(what["start"], what["environment"], silent=what["silent"])
        if "await" in what:
            self._until = time.monotonic() + what["await"]
        if "signal" in what:
            self._send(what["signal"])
        if "outside" in what:
            self.lead_out(what["outside"])
        if "interrupted" in what:
            self.say(interrupted=self._interrupted)
        if "count" in what:
            self.say(device=counts(self.device))


def _usual(number: int) -> Any:
    """Ignores a signal; returns what the command is to do with it, as nodeb would."""
    before = signal.signal(number, signal.SIG_IGN)
    return signal.SIG_DFL if before is signal.default_int_handler else before


def main(text: str) -> None:
    """Is a host until nodeb hangs up.

    Args:
        text: what to make, as JSON.
    """
    about = json.loads(text)
    namespace = about["namespace"]
    before = {int(one): _usual(one) for one in UP_TO_NODEB}
    control = socket.socket(fileno=about["control"])
    try:
        _enter(namespace)
        split(control, about["doorway"], about["group"], _nothing if namespace else leave)
        host = Host(control, before)
        host.make(about)
    except RefusedError as error:
        step, why, number = error.args
        _say(control, refused=step, why=why, errno=number)
        return
    except OSError as error:
        _say(control, refused="other", why=error.strerror or str(error), errno=error.errno or 0)
        return
    host.say(ready=os.getpid())
    try:
        host.serve()
    finally:
        kill_all()


if __name__ == "__main__":
    main(sys.argv[1])
