"""Devices, addresses and routes of a network namespace, asked of the kernel directly.

`ip` would do as well, but is not on every machine, and a process for each line takes longer than
all of this. Source: Linux' `rtnetlink(7)`, `netlink(7)`.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Sequence
from ipaddress import IPv4Interface, IPv6Interface, ip_address, ip_interface
from typing import Self

__all__ = ["ACKNOWLEDGE", "CREATE", "HEADER", "REQUEST", "Netlink", "attribute", "refusal"]

NEW_LINK, DELETE_LINK, NEW_ADDRESS, NEW_ROUTE, GET_ROUTE = 16, 17, 20, 24, 26
REQUEST, ACKNOWLEDGE, EXCLUSIVE, CREATE = 0x1, 0x4, 0x200, 0x400
ERROR = 2
UP = 0x1
NAME, MTU, ABOUT, NAMESPACE_OF = 3, 4, 18, 19
"""Attributes of a link; the last is a process in the namespace where it is to be."""
KIND, DATA, PEER = 1, 2, 1
"""Attributes of what a link is, and of a pair of `veth` its other end."""
ADDRESS, LOCAL = 1, 2
"""Attributes of an address."""
DESTINATION, DEVICE, GATEWAY = 1, 4, 5
"""Attributes of a route: where it leads, the device that it leaves by, and to whom."""
ENTRY = 0x2000
"""Flag of a question: the entry of the table that matches, not what came of it."""
NESTED = 0x8000
LINK = struct.Struct("=BxHiII")
ROUTE = struct.Struct("=BBBBBBBBI")
NO_DAD = 0x02
"""Flag of an address: nobody else can have it, so nobody is asked (RFC 4862)."""
MAIN_TABLE, STATIC, UNICAST = 254, 4, 1
UNIVERSE = 0
HEADER = struct.Struct("=IHHII")


def attribute(kind: int, value: bytes | Sequence[bytes]) -> bytes:
    """An attribute: plain, or one of attributes."""
    if not isinstance(value, bytes):
        kind, value = kind | NESTED, b"".join(value)
    text = struct.pack("=HH", 4 + len(value), kind) + value
    return text + bytes(-len(text) % 4)


def refusal(answer: bytes) -> OSError | None:
    """Why the kernel refuses what was asked; None if it does not."""
    _, kind, _, _, _ = HEADER.unpack_from(answer)
    (status,) = struct.unpack_from("=i", answer, HEADER.size)
    return OSError(-status, os.strerror(-status)) if kind == ERROR and status else None


def _attributes(text: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at + 4 <= len(text):
        length, kind = struct.unpack_from("=HH", text, at)
        if length < 4:
            break
        found[kind] = text[at + 4 : at + length]
        at += length + -length % 4
    return found


def _family(version: int) -> int:
    return int(socket.AF_INET if version == 4 else socket.AF_INET6)


class Netlink:
    """A conversation with the kernel about the namespace in which this process is."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def _ask(self, kind: int, body: bytes, flags: int = ACKNOWLEDGE) -> bytes:
        """Asks for a change, or something else.

        Raises:
            OSError: it is refused.
        """
        self._number += 1
        header = HEADER.pack(HEADER.size + len(body), kind, flags | REQUEST, self._number, 0)
        self._socket.send(header + body)
        answer = self._socket.recv(65_536)
        if (error := refusal(answer)) is not None:
            raise error
        return answer[HEADER.size :]

    def up(self, device: str, mtu: int | None = None) -> None:
        """Switches a device on.

        Args:
            device: its name.
            mtu: the largest packet, bytes; None leaves it as it is.

        Raises:
            OSError: it is refused.
        """
        index = socket.if_nametoindex(device)
        body = LINK.pack(socket.AF_UNSPEC, 0, index, UP, UP)
        if mtu is not None:
            body += attribute(MTU, struct.pack("=I", mtu))
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
        prefix = found.network.prefixlen
        body = struct.pack("=BBBBI", _family(found.version), prefix, NO_DAD, UNIVERSE, index)
        body += attribute(LOCAL, found.ip.packed) + attribute(ADDRESS, found.ip.packed)
        self._ask(NEW_ADDRESS, body, ACKNOWLEDGE | CREATE)

    def default_route(self, device: str, version: int, gateway: str | None = None) -> None:
        """Everything else goes to a device.

        Args:
            device: its name.
            version: of IP, 4 or 6.
            gateway: who passes it on; None where nobody needs to.

        Raises:
            OSError: it is refused.
        """
        index = socket.if_nametoindex(device)
        family = _family(version)
        body = ROUTE.pack(family, 0, 0, 0, MAIN_TABLE, STATIC, UNIVERSE, UNICAST, 0)
        if gateway is not None:
            body += attribute(GATEWAY, ip_address(gateway).packed)
        body += attribute(DEVICE, struct.pack("=I", index))
        self._ask(NEW_ROUTE, body, ACKNOWLEDGE | CREATE)

    def pair(self, name: str, other: str, process: int) -> None:
        """Makes two devices: what goes into one comes out of the other.

        Args:
            name: of the one, here.
            other: of the other, in the namespace of a process.
            process: which.

        Raises:
            OSError: it is refused; FileExistsError: there is a device of that name.
        """
        nobody = LINK.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
        there = (
            nobody,
            attribute(NAME, other.encode() + b"\0"),
            attribute(NAMESPACE_OF, struct.pack("=I", process)),
        )
        data = attribute(DATA, [attribute(PEER, b"".join(there))])
        body = attribute(NAME, name.encode() + b"\0")
        body += attribute(ABOUT, [attribute(KIND, b"veth"), data])
        self._ask(NEW_LINK, nobody + body, ACKNOWLEDGE | CREATE | EXCLUSIVE)

    def delete(self, device: str) -> None:
        """Takes a device away, and its other end with it.

        Raises:
            OSError: it is refused, or there is none.
        """
        index = socket.if_nametoindex(device)
        self._ask(DELETE_LINK, LINK.pack(socket.AF_UNSPEC, 0, index, 0, 0))

    def route_to(self, address: str) -> tuple[int, int]:
        """The entry of the routing table by which packets to an address leave.

        Returns:
            The length of the entry's prefix, and the number of the device; 0 if it has several.

        Raises:
            OSError: there is none.
        """
        to = ip_address(address)
        body = ROUTE.pack(_family(to.version), to.max_prefixlen, 0, 0, 0, 0, 0, 0, ENTRY)
        answer = self._ask(GET_ROUTE, body + attribute(DESTINATION, to.packed), 0)
        _, length, *_ = ROUTE.unpack_from(answer)
        device = _attributes(answer[ROUTE.size :]).get(DEVICE, bytes(4))
        return length, struct.unpack("=I", device)[0]
