"""Netlink client that configures devices, addresses and routes of a network namespace.

The program `ip` is not installed on every machine, and starting a process for each change is
slower. Source: Linux' `rtnetlink(7)`, `netlink(7)`.
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
"""Attributes of a link; the last is the ID of a process in the link's target namespace."""
KIND, DATA, PEER = 1, 2, 1
ADDRESS, LOCAL = 1, 2
"""Attributes of an address (IFA_ADDRESS, IFA_LOCAL): both are set to the device's own address."""
DESTINATION, DEVICE, GATEWAY = 1, 4, 5
ENTRY = 0x2000
"""Flag RTM_F_FIB_MATCH: return the matching entry of the routing table, not the resolved route."""
NESTED = 0x8000
LINK = struct.Struct("=BxHiII")
ROUTE = struct.Struct("=BBBBBBBBI")
NO_DAD = 0x02
"""Flag of an address: unique by construction, so no duplicate address detection (RFC 4862)."""
MAIN_TABLE, STATIC, UNICAST = 254, 4, 1
UNIVERSE = 0
HEADER = struct.Struct("=IHHII")


def attribute(kind: int, value: bytes | Sequence[bytes]) -> bytes:
    if not isinstance(value, bytes):
        kind, value = kind | NESTED, b"".join(value)
    text = struct.pack("=HH", 4 + len(value), kind) + value
    return text + bytes(-len(text) % 4)


def refusal(answer: bytes) -> OSError | None:
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
    """Netlink socket for the calling process's network namespace."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def _ask(self, kind: int, body: bytes, flags: int = ACKNOWLEDGE) -> bytes:
        """Sends a request and returns the answer without its netlink header."""
        self._number += 1
        header = HEADER.pack(HEADER.size + len(body), kind, flags | REQUEST, self._number, 0)
        self._socket.send(header + body)
        answer = self._socket.recv(65_536)
        if (error := refusal(answer)) is not None:
            raise error
        return answer[HEADER.size :]

    def up(self, device: str, mtu: int | None = None) -> None:
        index = socket.if_nametoindex(device)
        body = LINK.pack(socket.AF_UNSPEC, 0, index, UP, UP)
        if mtu is not None:
            body += attribute(MTU, struct.pack("=I", mtu))
        self._ask(NEW_LINK, body)

    def address(self, device: str, interface: str) -> None:
        index = socket.if_nametoindex(device)
        found: IPv4Interface | IPv6Interface = ip_interface(interface)
        prefix = found.network.prefixlen
        body = struct.pack("=BBBBI", _family(found.version), prefix, NO_DAD, UNIVERSE, index)
        body += attribute(LOCAL, found.ip.packed) + attribute(ADDRESS, found.ip.packed)
        self._ask(NEW_ADDRESS, body, ACKNOWLEDGE | CREATE)

    def default_route(self, device: str, version: int, gateway: str | None = None) -> None:
        index = socket.if_nametoindex(device)
        family = _family(version)
        body = ROUTE.pack(family, 0, 0, 0, MAIN_TABLE, STATIC, UNIVERSE, UNICAST, 0)
        if gateway is not None:
            body += attribute(GATEWAY, ip_address(gateway).packed)
        body += attribute(DEVICE, struct.pack("=I", index))
        self._ask(NEW_ROUTE, body, ACKNOWLEDGE | CREATE)

    def pair(self, name: str, other: str, process: int) -> None:
        unspecified = LINK.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
        there = (
            unspecified,
            attribute(NAME, other.encode() + b"\0"),
            attribute(NAMESPACE_OF, struct.pack("=I", process)),
        )
        data = attribute(DATA, [attribute(PEER, b"".join(there))])
        body = attribute(NAME, name.encode() + b"\0")
        body += attribute(ABOUT, [attribute(KIND, b"veth"), data])
        self._ask(NEW_LINK, unspecified + body, ACKNOWLEDGE | CREATE | EXCLUSIVE)

    def delete(self, device: str) -> None:
        index = socket.if_nametoindex(device)
        self._ask(DELETE_LINK, LINK.pack(socket.AF_UNSPEC, 0, index, 0, 0))

    def route_to(self, address: str) -> tuple[int, int]:
        to = ip_address(address)
        body = ROUTE.pack(_family(to.version), to.max_prefixlen, 0, 0, 0, 0, 0, 0, ENTRY)
        answer = self._ask(GET_ROUTE, body + attribute(DESTINATION, to.packed), 0)
        _, length, *_ = ROUTE.unpack_from(answer)
        device = _attributes(answer[ROUTE.size :]).get(DEVICE, bytes(4))
        return length, struct.unpack("=I", device)[0]
