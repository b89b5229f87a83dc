"""Devices, addresses and routes of a network namespace, asked of the kernel directly.

`ip` would do as well, but is not on every machine, and a process for each line takes longer than
all of this. Source: Linux' `rtnetlink(7)`, `netlink(7)`.
"""

from __future__ import annotations

import os
import socket
import struct
from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from typing import Self

__all__ = ["Netlink"]

NEW_LINK, NEW_ADDRESS, NEW_ROUTE = 16, 20, 24
REQUEST, ACKNOWLEDGE, CREATE = 0x1, 0x4, 0x400
ERROR = 2
UP = 0x1
MTU = 4
"""Attribute of a link."""
ADDRESS, LOCAL = 1, 2
"""Attributes of an address."""
DEVICE = 4
"""Attribute of a route: the device that it leaves by."""
NO_DAD = 0x02
"""Flag of an address: nobody else can have it, so nobody is asked (RFC 4862)."""
MAIN_TABLE, STATIC, UNICAST = 254, 4, 1
UNIVERSE = 0
HEADER = struct.Struct("=IHHII")


def _attribute(kind: int, value: bytes) -> bytes:
    text = struct.pack("=HH", 4 + len(value), kind) + value
    return text + bytes(-len(text) % 4)


class Netlink:
    """A conversation with the kernel about the namespace in which this process is."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def _ask(self, kind: int, body: bytes, flags: int = 0) -> None:
        """Asks for a change.

        Raises:
            OSError: it is refused.
        """
        self._number += 1
        flags |= REQUEST | ACKNOWLEDGE
        header = HEADER.pack(HEADER.size + len(body), kind, flags, self._number, 0)
        self._socket.send(header + body)
        answer = self._socket.recv(65_536)
        _, kind, _, _, _ = HEADER.unpack_from(answer)
        (status,) = struct.unpack_from("=i", answer, HEADER.size)
        if kind == ERROR and status:
            raise OSError(-status, os.strerror(-status))

    def up(self, device: str, mtu: int | None = None) -> None:
        """Switches a device on.

        Args:
            device: its name.
            mtu: the largest packet, bytes; None leaves it as it is.

        Raises:
            OSError: it is refused.
        """
        index = socket.if_nametoindex(device)
        body = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, UP, UP)
        if mtu is not None:
            body += _attribute(MTU, struct.pack("=I", mtu))
        self._ask(NEW_LINK, body)

    def address(self, device: str, interface: str) -> None:
        """Gives a device an address.

        Args:
            device: its name.
            interface: address and length of the prefix: `10.64.0.1/16`.

        Raises:
            OSError: it is refused.
        """
        index = socket.if_nametoindex(device)
        found: IPv4Interface | IPv6Interface = ip_interface(interface)
        family = socket.AF_INET if found.version == 4 else socket.AF_INET6
        prefix = found.network.prefixlen
        body = struct.pack("=BBBBI", family, prefix, NO_DAD, UNIVERSE, index)
        body += _attribute(LOCAL, found.ip.packed) + _attribute(ADDRESS, found.ip.packed)
        self._ask(NEW_ADDRESS, body, CREATE)

    def default_route(self, device: str, version: int) -> None:
        """Everything else goes to a device.

        Args:
            device: its name.
            version: of IP, 4 or 6.

        Raises:
            OSError: it is refused.
        """
        index = socket.if_nametoindex(device)
        family = socket.AF_INET if version == 4 else socket.AF_INET6
        body = struct.pack("=BBBBBBBBI", family, 0, 0, 0, MAIN_TABLE, STATIC, UNIVERSE, UNICAST, 0)
        self._ask(NEW_ROUTE, body + _attribute(DEVICE, struct.pack("=I", index)), CREATE)
