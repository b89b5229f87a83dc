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
from ipaddress import IPv4Interface, IPv6Interface, ip_address, ip_interface
from itertools import count
from pathlib import Path
from typing import Any, Self

from nodeb.emulate.endpoint import Endpoint, refused
from nodeb.emulate.netlink import Masquerade, Netlink, RefusedError, step
from nodeb.emulate.plan import CELLS
from nodeb.errors import RunError

SYSCTL = Path("/proc/sys/net")
RESOLV_CONF = Path("/etc/resolv.conf")
UPSTREAM = Path("/run/systemd/resolve/resolv.conf")
"""File with the upstream nameservers of systemd-resolved(8)."""
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
"""Number of the capability, as in capabilities(7)."""


Link = tuple[IPv4Interface | IPv6Interface, IPv4Interface | IPv6Interface]
"""Addresses of the host's and the server's side of their link, for one IP version."""


class Nat:
    """Route from the server's namespace to outside networks, while the `with` block runs.

    Attributes:
        devices: the host's outgoing device by IP version; "" if the default route has several.
        missing: reasons why there is no route, by IP version that has none.
    """

    def __init__(self, server: Endpoint) -> None:
        self.devices: dict[int, str] = {}
        self.missing: dict[int, str] = {}
        self._device = ""
        self._tables: Masquerade | None = None
        self._link = Netlink()
        try:
            with step("link"):
                _check_capability()
            self._find_devices()
            self._open(server)
        except BaseException as error:
            self.close()
            if isinstance(error, RefusedError):
                raise refused(*error.args) from None
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        if self._tables is not None:
            self._tables.close()
        if self._device:
            with suppress(OSError):  # It may have gone with the server's namespace already.
                self._link.delete(self._device)
        self._link.close()

    def report(self) -> dict[str, Any]:
        return {
            "devices": {f"ipv{version}": device for version, device in self.devices.items()},
            "missing": {f"ipv{version}": why for version, why in self.missing.items()},
        }

    def _find_devices(self) -> None:
        for version in (4, 6):
            device = self._default_device(version)
            if device is None:
                self.missing[version] = "the host has no default route"
            elif (sysctl := _missing_sysctl(version, device)) is not None:
                self.missing[version] = f"the host does not forward; `sysctl {sysctl}=1` allows it"
                if version == 4:
                    break
            else:
                self.devices[version] = device
        if not self.devices:
            raise RunError(f"--nat: {'; IPv6: '.join(dict.fromkeys(self.missing.values()))}")

    def _default_device(self, version: int) -> str | None:
        for address in ANYWHERE[version]:
            with suppress(OSError):
                length, device = self._link.route_to(address)
                if length <= MAX_DEFAULT_PREFIX:
                    return socket.if_indextoname(device) if device else ""
        return None

    def _open(self, server: Endpoint) -> None:
        with step("link"):
            self._device = self._pair(server.pid)
            self._link.up(self._device)
            links = self._unused_links(socket.if_nametoindex(self._device))
        ends: dict[int, dict[str, str]] = {}
        for version in self.devices:
            host, peer = links[version]
            with step("forwarding"):
                _enable_forwarding(version, self._device)
            with step("address"):
                self._link.address(self._device, str(host))
            with step("masquerade"):
                self._tables = self._tables or Masquerade(self._device)
                self._tables.network(str(peer.ip))
            ends[version] = {"address": str(peer), "gateway": str(host.ip), "cell": CELLS[version]}
        problem = server.ask("open_gateway", TIMEOUT_S, links=ends)
        if problem is None:
            raise RunError("--nat: the process in the server's namespace has ended")
        if problem:
            raise RefusedError(*problem)

    def _pair(self, pid: int) -> str:
        """The host's end of the `veth` pair is the first free one of `nodeb-0`, `nodeb-1` ..."""
        for number in count():
            with suppress(FileExistsError):
                self._link.pair(name := f"nodeb-{number}", "outside", pid)
                return name
        raise AssertionError

    def _unused_links(self, number: int) -> dict[int, Link]:
        """Free addresses: the host has no route to the server's side, or only its default route.

        The search begins at the index `number` of the device, so that emulations that start at the
        same time get different addresses.
        """
        for candidate in range(number, number + LINKS):
            v4 = ip_address("198.18.0.0") + 4 * (candidate % LINKS)
            v6 = f"fd00:6e6f:6466:{candidate % LINKS:x}::"
            links: dict[int, Link] = {
                4: (ip_interface(f"{v4 + 1}/30"), ip_interface(f"{v4 + 2}/30")),
                6: (ip_interface(f"{v6}1/64"), ip_interface(f"{v6}2/64")),
            }
            if all(self._is_unused(str(peer.ip)) for _, peer in links.values()):
                return links
        raise OSError(errno.EADDRINUSE, "the host has routes to all of 198.18.0.0/16")

    def _is_unused(self, address: str) -> bool:
        try:
            length, _ = self._link.route_to(address)
        except OSError as error:
            # Any other error means a route (blackhole, unreachable or prohibit).
            return error.errno in (errno.ENETUNREACH, errno.EAFNOSUPPORT)
        return length <= MAX_DEFAULT_PREFIX


def _check_capability() -> None:
    """Comes first: without the capability, the remedies of other errors would not suffice."""
    for line in Path("/proc/self/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key == "CapEff" and not int(value, 16) >> CAP_NET_ADMIN & 1:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def _missing_sysctl(version: int, device: str) -> str | None:
    """The sysctl to set so that the host forwards from a device; None if it forwards.

    For IPv6, or if `device` is "", it is that of the whole host.
    """
    place = device if version == 4 and device else "all"
    with suppress(OSError):
        if (SYSCTL / f"ipv{version}/conf/{place}/forwarding").read_text().strip() != "0":
            return None
    dotted = place.replace(".", "/")
    return f"net.ipv{version}.conf.{dotted}.forwarding"


def _enable_forwarding(version: int, device: str) -> None:
    """For IPv4; for IPv6 it stops automatic addresses, as forwarding is a setting of the host."""
    conf = SYSCTL / f"ipv{version}/conf/{device}"
    if version == 6:
        (conf / "addr_gen_mode").write_text("1")
    elif (conf / "forwarding").read_text().strip() == "0":
        (conf / "forwarding").write_text("1")


def reachable_nameservers() -> list[str] | None:
    """Nameservers for phones; None if those of the host's `resolv.conf` can be reached.

    A loopback address of the host, such as 127.0.0.53 (systemd-resolved), cannot be reached from
    another network namespace.
    """
    return None if _nameservers(RESOLV_CONF) else _nameservers(UPSTREAM)


def _nameservers(path: Path) -> list[str]:
    """The nameservers of a `resolv.conf` without loopback and link-local addresses."""
    addresses = []
    with suppress(OSError):
        for line in path.read_text(errors="replace").splitlines():
            key, *words = line.split() or [""]
            if key == "nameserver" and words:
                with suppress(ValueError):  # A word that is no IP address is skipped.
                    address = ip_address(words[0])
                    if not (address.is_loopback or address.is_link_local):
                        addresses.append(words[0])
    return addresses
