"""The way from the server's namespace to the outside: a pair of devices, and translated addresses.

What this puts into the host's namespace goes by itself when nodeb ends, however that comes: the
device is one of a pair whose other end is in the server's namespace, its sysctls are its own, and
the tables belong to a socket. The host's own settings are read and never changed.
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

from nodeb.emulate.ends import End
from nodeb.emulate.netlink import Netlink
from nodeb.emulate.nftables import Masquerade
from nodeb.emulate.problems import refused
from nodeb.errors import RunError

__all__ = ["Outside"]

SYSCTL = Path("/proc/sys/net")
ANYWHERE = {4: ("192.0.2.1", "198.51.100.1", "203.0.113.1"), 6: ("2001:db8::1",)}
"""Addresses that networks should not have (RFC 5737, RFC 3849), though some have one of them: a
route there is the default route."""
WIDEST = 7
"""Prefixes up to this length are ways to everywhere: tunnels halve the default route."""
LINKS = 1 << 14
"""As many links of four addresses are in 198.18.0.0/16, a network for tests (RFC 2544)."""
PATIENCE_S = 10.0
NETWORK_RIGHTS = 12
"""The number of CAP_NET_ADMIN; see capabilities(7)."""


@dataclass(frozen=True)
class Link:
    """The addresses at both ends of the link."""

    host: str
    server: str
    length: int


def _links(number: int) -> dict[int, Link]:
    base = (198 << 24) + (18 << 16) + 4 * (number % LINKS)
    here, there = (socket.inet_ntoa((base + place).to_bytes(4, "big")) for place in (1, 2))
    prefix = f"fd00:6e6f:6466:{number % LINKS:x}"
    return {4: Link(here, there, 30), 6: Link(f"{prefix}::1", f"{prefix}::2", 64)}


class Outside:
    """Leads a server's end outside; leaving its block takes that away again.

    Args:
        server: the end, ready.

    Raises:
        RunError: the host has no way out, or does not let it be shared.
    """

    def __init__(self, server: End) -> None:
        self._device = ""
        self._tables: Masquerade | None = None
        self.missing: dict[int, str] = {}
        """Why a version of IP does not lead outside."""
        _check_rights()
        with Netlink() as link:
            self.ways = self._ways(link)
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
        """By which devices of the host it leads outside, and why not."""
        return {
            "devices": {f"ipv{version}": way for version, way in self.ways.items()},
            "missing": {f"ipv{version}": why for version, why in self.missing.items()},
        }

    def _ways(self, link: Netlink) -> dict[int, str]:
        """The host's devices that lead outside, by version of IP."""
        found = {}
        for version in (4, 6):
            device = _way(link, version)
            if device is None:
                self.missing[version] = "the host has no default route"
            elif (sysctl := _forbidden(version, device)) is not None:
                self.missing[version] = f"the host does not forward; `sysctl {sysctl}=1` allows it"
                if version == 4:
                    break
            else:
                found[version] = device
        if not found:
            raise RunError(f"--nat: {self.missing[4]}")
        return found

    def _open(self, link: Netlink, server: End) -> None:
        step = "link"
        try:
            self._device = _pair(link, server.pid)
            link.up(self._device)
            links = _free(link, socket.if_nametoindex(self._device))
            step = "forwarding"
            for version in self.ways:
                _forward(version, self._device)
            for version in self.ways:
                step = "address"
                link.address(self._device, f"{links[version].host}/{links[version].length}")
                step = "masquerade"
                self._tables = self._tables or Masquerade(self._device)
                own = f"{links[version].server}/{32 if version == 4 else 128}"
                self._tables.network(own)
        except OSError as error:
            raise refused(step, error.strerror or str(error), error.errno or 0) from None
        told = {
            str(version): {
                "address": f"{links[version].server}/{links[version].length}",
                "gateway": links[version].host,
            }
            for version in self.ways
        }
        server.ask(outside=told)
        said = server.answer("outside", PATIENCE_S)
        if said is None:
            raise RunError("the server's namespace cannot be led outside: its process has ended")
        if said is not True:
            raise refused(said["step"], said["why"], said["errno"])

    def _close(self, link: Netlink) -> None:
        if self._tables is not None:
            self._tables.close()
        if self._device:
            with suppress(OSError):  # it has gone with the server's namespace
                link.delete(self._device)
        self._device = ""


def _check_rights() -> None:
    """Complains before anything else that would not help is asked for.

    Raises:
        RunError: this process has no rights over networks.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key == "CapEff" and not int(value, 16) >> NETWORK_RIGHTS & 1:
            raise refused("link", os.strerror(errno.EPERM), errno.EPERM)


def _pair(link: Netlink, process: int) -> str:
    """Makes the pair of devices; the name of that in the host's namespace."""
    for number in count():
        with suppress(FileExistsError):
            link.pair(name := f"nodeb-{number}", "outside", process)
            return name
    raise AssertionError


def _free(link: Netlink, number: int) -> dict[int, Link]:
    """Addresses that the host has no route to yet.

    The number of the device makes those of emulations that begin at the same time different ones.
    """
    for candidate in range(number, number + LINKS):
        links = _links(candidate)
        if all(_unknown(link, one.server) for one in links.values()):
            return links
    raise OSError(errno.EADDRINUSE, "the host has routes to all of 198.18.0.0/16")


def _unknown(link: Netlink, address: str) -> bool:
    try:
        length, _ = link.route_to(address)
    except OSError as error:  # others are those of routes that lead nowhere on purpose
        return error.errno in (errno.ENETUNREACH, errno.EAFNOSUPPORT)
    return length <= WIDEST


def _way(link: Netlink, version: int) -> str | None:
    """The device of the default route; None if there is none, nothing if it has several."""
    for address in ANYWHERE[version]:
        with suppress(OSError):
            length, device = link.route_to(address)
            if length <= WIDEST:
                return socket.if_indextoname(device) if device else ""
    return None


def _forbidden(version: int, device: str) -> str | None:
    """The sysctl without which what comes back by a device stays at the host; None if it is set.

    IPv4 asks the device by which a packet comes, IPv6 the host.
    """
    place = device if version == 4 and device else "all"
    path = SYSCTL / f"ipv{version}" / "conf" / place / "forwarding"
    with suppress(OSError):
        if path.read_text().strip() != "0":
            return None
    dotted = place.replace(".", "/")
    return f"net.ipv{version}.conf.{dotted}.forwarding"


def _forward(version: int, device: str) -> None:
    """What comes by our own device is passed on; it asks no router for addresses of its own."""
    conf = SYSCTL / f"ipv{version}" / "conf" / device
    if version == 6:
        conf.joinpath("addr_gen_mode").write_text("1")
        return
    forwarding = conf / "forwarding"
    if forwarding.read_text().strip() == "0":
        forwarding.write_text("1")
