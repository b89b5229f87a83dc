"""Access to outside networks (`--nat`): a link from the server's namespace to the host, with NAT.

Everything added to the host's namespace disappears when nodeb ends, even if nodeb is killed: the
device is one of a `veth` pair whose peer is in the server's namespace, the changed sysctls belong
to this device, and the nftables tables are owned by a socket. Settings of the host are read but
never changed.
"""

from __future__ import annotations

import errno
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Self

from nodeb.emulate.endpoint import Endpoint
from nodeb.emulate.netlink import Netlink
from nodeb.emulate.nftables import Masquerade
from nodeb.emulate.problems import refused
from nodeb.errors import RunError

__all__ = ["Nat"]

SYSCTL = Path("/proc/sys/net")
ANYWHERE = {4: ("192.0.2.1", "198.51.100.1", "203.0.113.1"), 6: ("2001:db8::1",)}
"""Documentation addresses (RFC 5737, RFC 3849), by IP version. Few networks use them, so a route to
one of them is normally the default route."""
MAX_DEFAULT_PREFIX = 7
"""Maximum prefix length of a route that counts as a default route.

Tunnels (VPNs) often replace the default route by several routes with short prefixes, such as
0.0.0.0/1 and 128.0.0.0/1.
"""
LINKS = 1 << 14
"""Number of IPv4 links of four addresses each in 198.18.0.0/16, reserved for tests (RFC 2544)."""
TIMEOUT_S = 10.0
CAP_NET_ADMIN = 12
"""Number of the capability CAP_NET_ADMIN; see capabilities(7)."""


@dataclass(frozen=True)
class Link:
    """Addresses of the host's and the server's side of their link, for one IP version."""

    host: str
    server: str
    length: int


def _links(number: int) -> dict[int, Link]:
    base = (198 << 24) + (18 << 16) + 4 * (number % LINKS)
    here, there = (socket.inet_ntoa((base + place).to_bytes(4, "big")) for place in (1, 2))
    prefix = f"fd00:6e6f:6466:{number % LINKS:x}"
    return {4: Link(here, there, 30), 6: Link(f"{prefix}::1", f"{prefix}::2", 64)}


class Nat:
    """Route from the server's namespace to outside networks, while the `with` block runs."""

    def __init__(self, server: Endpoint) -> None:
        self._device = ""
        self._tables: Masquerade | None = None
        self.missing: dict[int, str] = {}
        """Reasons why there is no route to outside networks, by IP version that has none."""
        _check_capability()
        with Netlink() as link:
            self.devices = self._find_devices(link)
            try:
                self._open(link, server)
            except BaseException:
                self._close(link)
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with Netlink() as link:
            self._close(link)

    def report(self) -> dict[str, Any]:
        """Returns the host's outgoing device, or the reason why there is none, for each IP version.

        A device is "" if the default route has several devices.
        """
        return {
            "devices": {f"ipv{version}": device for version, device in self.devices.items()},
            "missing": {f"ipv{version}": why for version, why in self.missing.items()},
        }

    def _find_devices(self, link: Netlink) -> dict[int, str]:
        found = {}
        for version in (4, 6):
            device = _default_device(link, version)
            if device is None:
                self.missing[version] = "the host has no default route"
            elif (sysctl := _missing_sysctl(version, device)) is not None:
                self.missing[version] = f"the host does not forward; `sysctl {sysctl}=1` allows it"
                if version == 4:
                    break
            else:
                found[version] = device
        if not found:
            reasons = dict.fromkeys(self.missing.values())
            raise RunError(f"--nat: {'; IPv6: '.join(reasons)}")
        return found

    def _open(self, link: Netlink, server: Endpoint) -> None:
        step = "link"
        try:
            self._device = _pair(link, server.pid)
            link.up(self._device)
            links = _unused_links(link, socket.if_nametoindex(self._device))
            step = "forwarding"
            for version in self.devices:
                _enable_forwarding(version, self._device)
            for version in self.devices:
                step = "address"
                link.address(self._device, f"{links[version].host}/{links[version].length}")
                step = "masquerade"
                self._tables = self._tables or Masquerade(self._device)
                own = f"{links[version].server}/{32 if version == 4 else 128}"
                self._tables.network(own)
        except OSError as error:
            raise refused(step, error.strerror or str(error), error.errno or 0) from None
        about = {
            str(version): {
                "address": f"{links[version].server}/{links[version].length}",
                "gateway": links[version].host,
            }
            for version in self.devices
        }
        server.ask(outside=about)
        answer = server.answer("outside", TIMEOUT_S)
        if answer is None:
            raise RunError("--nat: the process in the server's namespace has ended")
        if answer is not True:
            raise refused(answer["step"], answer["why"], answer["errno"])

    def _close(self, link: Netlink) -> None:
        if self._tables is not None:
            self._tables.close()
        if self._device:
            # Deleting fails if the device has been removed with the server's namespace already.
            with suppress(OSError):
                link.delete(self._device)
        self._device = ""


def _check_capability() -> None:
    """Checks that this process has the capability CAP_NET_ADMIN.

    This check is made first: without the capability, the remedies in other error messages would
    not suffice.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key == "CapEff" and not int(value, 16) >> CAP_NET_ADMIN & 1:
            raise refused("link", os.strerror(errno.EPERM), errno.EPERM)


def _pair(link: Netlink, process: int) -> str:
    """Creates a pair of `veth` devices, one in the host's and one in the server's namespace.

    Returns the name of the device in the host's namespace: the first free one of `nodeb-0`,
    `nodeb-1`, ...
    """
    for number in count():
        with suppress(FileExistsError):
            link.pair(name := f"nodeb-{number}", "outside", process)
            return name
    raise AssertionError


def _unused_links(link: Netlink, number: int) -> dict[int, Link]:
    """Addresses are free if the host has no route to the server's side, or only its default
    route. The search begins at the index `number` of the device, so that emulations that start
    at the same time get different addresses."""
    for candidate in range(number, number + LINKS):
        links = _links(candidate)
        if all(_is_unused(link, one.server) for one in links.values()):
            return links
    raise OSError(errno.EADDRINUSE, "the host has routes to all of 198.18.0.0/16")


def _is_unused(link: Netlink, address: str) -> bool:
    try:
        length, _ = link.route_to(address)
    except OSError as error:
        # With any other error there is a route (blackhole, unreachable or prohibit) to the address,
        # which is therefore in use.
        return error.errno in (errno.ENETUNREACH, errno.EAFNOSUPPORT)
    return length <= MAX_DEFAULT_PREFIX


def _default_device(link: Netlink, version: int) -> str | None:
    for address in ANYWHERE[version]:
        with suppress(OSError):
            length, device = link.route_to(address)
            if length <= MAX_DEFAULT_PREFIX:
                return socket.if_indextoname(device) if device else ""
    return None


def _missing_sysctl(version: int, device: str) -> str | None:
    """Returns the sysctl to set so that the host forwards from a device;

    For IPv4 it is the sysctl of the device. For IPv6, or if `device` is "", it is that of the
    whole host.
    """
    place = device if version == 4 and device else "all"
    path = SYSCTL / f"ipv{version}" / "conf" / place / "forwarding"
    with suppress(OSError):
        if path.read_text().strip() != "0":
            return None
    dotted = place.replace(".", "/")
    return f"net.ipv{version}.conf.{dotted}.forwarding"


def _enable_forwarding(version: int, device: str) -> None:
    """Prepares nodeb's device on the host: for IPv4 forwarding, for IPv6 no automatic address."""
    conf = SYSCTL / f"ipv{version}" / "conf" / device
    if version == 6:
        conf.joinpath("addr_gen_mode").write_text("1")
        return
    forwarding = conf / "forwarding"
    if forwarding.read_text().strip() == "0":
        forwarding.write_text("1")
